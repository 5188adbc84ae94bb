"""The checks can fail: faults planted in a copy of the project turn them red."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PARTS = (
    "discreet",
    "tests",
    "bench",
    "docs",
    "pyproject.toml",
    "README.md",
    "requirements.lock",
    "Makefile",
    "environment.sh",
)
pytestmark = pytest.mark.slow


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    for part in PARTS:
        source = ROOT / part
        if source.is_dir():
            shutil.copytree(source, tmp_path / part, ignore=shutil.ignore_patterns("__pycache__", ".peers", "data"))
        else:
            shutil.copy(source, tmp_path / part)
    shutil.copytree(ROOT / "discreet" / "data", tmp_path / "discreet" / "data", dirs_exist_ok=True)
    return tmp_path


def outcome(folder: Path, *command: str) -> tuple[int, str]:
    """Run a check in the copy, which stands before the installed package."""
    path = {**os.environ, "PYTHONPATH": str(folder), "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=path, check=False)
    return ended.returncode, ended.stdout + ended.stderr


def layers(folder: Path) -> tuple[int, str]:
    return outcome(folder, "lint-imports", "--no-cache")


def run_pytest(folder: Path, *which: str) -> tuple[int, str]:
    return outcome(folder, sys.executable, "-m", "pytest", "-x", "-o", "filterwarnings=default", *which)


def test_make_check_runs_what_turns_red_here(copy: Path) -> None:
    """Each command below is one of `make check`, and make stops at the first that fails."""
    code, said = outcome(copy, "make", "--dry-run", "--always-make", "check")
    assert code == 0, said
    for part in ("ruff check", "ruff format --check", "-m mypy", "lint-imports", "tests/test_layout.py",
                 "tests/test_docs.py", "tests/test_requirements.py"):  # fmt: skip
        assert part in said, part
    assert not re.search(r"^\s*-\S|\|\| *true", (copy / "Makefile").read_text().split("check:")[1], re.MULTILINE)


def test_the_copy_is_green(copy: Path) -> None:
    assert layers(copy)[0] == 0
    code, said = run_pytest(
        copy, "tests/test_layout.py", "tests/test_docs.py", "-k", "short or reference or documented"
    )
    assert code == 0, said


def test_upward_import_turns_red(copy: Path) -> None:
    module = copy / "discreet" / "data" / "table.py"
    module.write_text(module.read_text() + "\nfrom discreet.curator import Curator as _Curator\n")
    code, said = layers(copy)
    assert code != 0
    assert "discreet.curator" in said


def test_stray_module_turns_red(copy: Path) -> None:
    (copy / "discreet" / "helpers.py").write_text('"""Nothing in particular."""\n')
    code, said = layers(copy)
    assert code != 0
    assert "helpers" in said


def test_row_in_the_privacy_core_turns_red(copy: Path) -> None:
    module = copy / "discreet" / "mechanisms" / "decay.py"
    module.write_text(module.read_text() + "\nimport duckdb as _duckdb\n")
    code, said = layers(copy)
    assert code != 0
    assert "never sees a row" in said


def test_long_file_turns_red(copy: Path) -> None:
    module = copy / "discreet" / "check.py"
    lines = module.read_text().splitlines()
    module.write_text("\n".join(lines + ["# more"] * (501 - len(lines))) + "\n")
    code, said = run_pytest(copy, "tests/test_layout.py", "-k", "short")
    assert code != 0
    assert "check.py" in said


def test_undocumented_command_turns_red(copy: Path) -> None:
    module = copy / "discreet" / "cli" / "app.py"
    module.write_text(
        module.read_text().replace("app.add_typer", 'app.command("newthing")(tables.init)\napp.add_typer', 1)
    )
    code, said = run_pytest(copy, "tests/test_docs.py", "-k", "reference or documented")
    assert code != 0
    assert "commands.md" in said or "newthing" in said
