"""The wheel is whole: what `pip install discreet` brings is typed, has its data, and runs without any extra."""

from __future__ import annotations

import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
BUILD = "import sys; from hatchling.build import build_wheel; print(build_wheel(sys.argv[1]))"
# The core alone: everything an extra brings is hidden.
CORE = """
import sys
for name in ("scipy", "sklearn", "formulaic", "pyarrow", "openpyxl", "pyreadstat", "dp_accounting", "typst",
             "ortools", "psycopg", "pandas", "polars", "opendp", "statsmodels"):
    sys.modules[name] = None
import discreet
from discreet.cli.main import main
assert discreet.__file__.startswith(sys.argv[1]), discreet.__file__
sys.exit(main(["demo", "--once", "--folder", sys.argv[2]]))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[zipfile.ZipFile]:
    folder = tmp_path_factory.mktemp("wheel")
    built = subprocess.run(
        [sys.executable, "-c", BUILD, str(folder)], cwd=ROOT, capture_output=True, text=True, check=True
    )
    with zipfile.ZipFile(folder / built.stdout.split()[-1]) as opened:
        yield opened


def test_it_is_typed_and_holds_the_product_alone(wheel: zipfile.ZipFile) -> None:
    names = set(wheel.namelist())
    assert {"discreet/py.typed", "discreet/examples/census_excerpt.csv.gz", "discreet/examples/census.yaml"} <= names
    sources = {str(path.relative_to(ROOT)) for path in (ROOT / "discreet").rglob("*.py")}
    assert sources <= names
    assert {name.split("/")[0].split("-")[0] for name in names} == {"discreet"}
    (commands,) = (name for name in names if name.endswith("entry_points.txt"))
    assert "discreet = discreet.cli.main:main" in wheel.read(commands).decode()


def test_every_extra_is_offered_and_all_holds_all(wheel: zipfile.ZipFile) -> None:
    (path,) = (name for name in wheel.namelist() if name.endswith("METADATA"))
    lines = wheel.read(path).decode().splitlines()
    assert "License-Expression: Apache-2.0" in lines
    offered = {line.split(": ")[1] for line in lines if line.startswith("Provides-Extra: ")}
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert offered == set(declared)
    assert {"files", "synthesis", "attacks", "postgres", "all"} <= offered
    (everything,) = declared["all"]
    assert set(everything.removeprefix("discreet[").removesuffix("]").split(",")) == offered - {"all"}


@pytest.mark.slow
def test_the_demonstration_runs_from_it_without_any_extra(wheel: zipfile.ZipFile, tmp_path: Path) -> None:
    wheel.extractall(tmp_path / "site")
    ran = subprocess.run(
        [sys.executable, "-c", CORE, str(tmp_path / "site"), str(tmp_path / "demo")],
        env={"PYTHONPATH": str(tmp_path / "site"), "HOME": str(tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert Path(ran.stdout.strip().splitlines()[-1].removeprefix("Report: ")).is_file()
