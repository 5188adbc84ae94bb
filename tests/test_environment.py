"""The environment's script: what it says where a Python will not do, and what it builds where one does.

Everything is real but small: a lock of one wheel that is made here, found through pip's own configuration.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
BACKEND = """
import zipfile
def build_editable(into, config_settings=None, metadata_directory=None):
    name = "project-1-py3-none-any.whl"
    with zipfile.ZipFile(into + "/" + name, "w") as wheel:
        wheel.writestr("project_is_in.py", "")
        wheel.writestr("project-1.dist-info/METADATA", "Metadata-Version: 2.1\\nName: project\\nVersion: 1\\n")
        wheel.writestr("project-1.dist-info/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr("project-1.dist-info/RECORD", "")
    return name
"""
# A Python as Debian ships it without python3-venv: `-m venv` fails unless pip is left out.
WITHOUT_ENSUREPIP = """#!/bin/sh
case "$*" in *--without-pip*) ;; "-m venv"*) exit 1 ;; esac
exec {python} "$@"
"""
WITHOUT_PIP = """#!/bin/sh
case "$*" in *--without-pip*) ;; "-m venv"*|"-m pip"*) exit 1 ;; esac
exec {python} "$@"
"""


def plain_python() -> str:
    """The Python beneath the environment that runs the tests."""
    return str(Path(getattr(sys, "_base_executable", sys.executable)).resolve())


def build(folder: Path, python: Path | str, **further: str) -> subprocess.CompletedProcess[str]:
    """Run the script in a folder, where pip finds its wheels in `wheels` and nowhere else."""
    offline = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(folder / "wheels"), "PIP_CONFIG_FILE": os.devnull}
    return subprocess.run(
        ["/bin/sh", str(ROOT / "environment.sh"), "made"],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "HOME": str(folder), "PYTHON": str(python), **offline, **further},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project of one module and a lock of one wheel."""
    (tmp_path / "wheels").mkdir()
    wheel = tmp_path / "wheels" / "tiny-1-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("tiny.py", "x = 1\n")
        archive.writestr("tiny-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: tiny\nVersion: 1\n")
        archive.writestr("tiny-1.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr("tiny-1.dist-info/RECORD", "")
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    (tmp_path / "requirements.lock").write_text(f"tiny==1 \\\n    --hash=sha256:{digest}\n")
    (tmp_path / "pyproject.toml").write_text(
        '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
        '[project]\nname = "project"\nversion = "1"\n'
    )
    (tmp_path / "backend.py").write_text(BACKEND)
    return tmp_path


def shim(folder: Path, text: str) -> Path:
    """A Python that lacks something."""
    path = folder / "python-shim"
    path.write_text(text.format(python=plain_python()))
    path.chmod(0o755)
    return path


def test_without_a_suitable_python_one_line_says_what_to_install(tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "sh").symlink_to("/bin/sh")
    said = build(tmp_path, tmp_path / "no-such-python", PATH=str(tools))
    assert (said.returncode, said.stdout) == (2, "")
    assert len(said.stderr.splitlines()) == 1
    assert "Python 3.11 or newer" in said.stderr
    assert "Next: install one" in said.stderr


def test_without_pip_one_line_says_what_to_install(project: Path) -> None:
    said = build(project, shim(project, WITHOUT_PIP))
    assert (said.returncode, said.stdout) == (2, "")
    assert len(said.stderr.splitlines()) == 1
    assert "apt install python3-venv python3-pip" in said.stderr


@pytest.mark.slow
@pytest.mark.parametrize("lacks", ["nothing", "ensurepip"])
def test_what_the_lock_names_is_installed(project: Path, lacks: str) -> None:
    python = plain_python() if lacks == "nothing" else shim(project, WITHOUT_ENSUREPIP)
    said = build(project, python)
    assert said.returncode == 0, said.stderr
    made = subprocess.run(
        [project / "made" / "bin" / "python", "-c", "import tiny, project_is_in; print(tiny.x)"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert made.stdout == "1\n"


@pytest.mark.slow
def test_a_wheel_of_another_hash_is_not_installed(project: Path) -> None:
    with zipfile.ZipFile(project / "wheels" / "tiny-1-py3-none-any.whl", "a") as archive:
        archive.writestr("more.py", "")
    said = build(project, plain_python())
    assert said.returncode != 0
    assert "HASH" in said.stderr.upper()
    ran = subprocess.run([project / "made" / "bin" / "python", "-c", "import tiny"], capture_output=True, check=False)
    assert ran.returncode != 0


def test_the_lock_holds_names_versions_and_hashes_alone() -> None:
    lines = (ROOT / "requirements.lock").read_text().splitlines()
    pinned = [line for line in lines if not line.startswith(" ")]
    assert all("==" in line and line.endswith("\\") for line in pinned)
    assert all(line.strip().startswith("--hash=sha256:") for line in lines if line.startswith(" "))
    assert not [line for line in lines if "://" in line or line.lstrip().startswith(("-i", "--index", "-f", "--find"))]
