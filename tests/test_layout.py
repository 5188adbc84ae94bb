"""The layout holds itself: lengths, names, the public list, claims that name their tests, nothing of a machine."""

from __future__ import annotations

import ast
import functools
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import discreet
from discreet import errors

ROOT = Path(__file__).parent.parent
SOURCES = sorted(
    path
    for part in ("discreet", "tests", "bench")
    for path in (ROOT / part).rglob("*.py")
    if ".peers" not in path.parts
)
PRODUCT = [path for path in SOURCES if (ROOT / "discreet") in path.parents]
FILE_LINES = 500
FUNCTION_LINES = 60
ROOT_NAMES = 25
EMPTY_NAMES = {"utils", "util", "helpers", "helper", "common", "misc", "manager", "managers"}
TEXT = {".py", ".md", ".toml", ".yaml", ".yml", ".sh", ".lock", ".txt", ".csv", ".json", ".html", ".cff", ""}


def label(path: Path) -> str:
    return str(path.relative_to(ROOT))


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


@pytest.mark.parametrize("path", SOURCES, ids=label)
def test_file_is_short_and_named_for_what_it_holds(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= FILE_LINES
    assert path.stem not in EMPTY_NAMES


@pytest.mark.parametrize("path", SOURCES, ids=label)
def test_functions_are_short(path: Path) -> None:
    long = {node.name: (node.end_lineno or 0) - node.lineno + 1 for node in functions(path)}
    assert not {name: lines for name, lines in long.items() if lines > FUNCTION_LINES}


@pytest.mark.parametrize("path", PRODUCT, ids=label)
def test_module_and_public_functions_say_what_they_do(path: Path) -> None:
    tree = ast.parse(path.read_text())
    assert ast.get_docstring(tree), "the module says nothing of itself"
    public = [
        node for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_")
    ]
    for node in list(public):
        if isinstance(node, ast.ClassDef):
            public += [
                part for part in node.body if isinstance(part, ast.FunctionDef) and not part.name.startswith("_")
            ]
    overloads = {node.name for node in public if any("overload" in ast.unparse(mark) for mark in node.decorator_list)}
    assert not [node.name for node in public if not ast.get_docstring(node) and node.name not in overloads]


def test_every_folder_has_its_package_file() -> None:
    folders = {path.parent for path in SOURCES}
    assert not [label(folder) for folder in folders if not (folder / "__init__.py").exists()]


def test_root_is_small_sorted_and_real() -> None:
    assert len(discreet.__all__) <= ROOT_NAMES
    assert list(discreet.__all__) == sorted(discreet.__all__)
    assert not [name for name in discreet.__all__ if not hasattr(discreet, name)]


def test_error_tree_on_top_is_the_tree_of_classes() -> None:
    drawn = re.findall(r"(\w+Error)\b", (errors.__doc__ or "").split("A message")[0])
    assert sorted(drawn) == sorted(errors.__all__)
    depth = {
        line.split("──")[-1].split()[0]: line.index(line.split("──")[-1].split()[0])
        for line in (errors.__doc__ or "").splitlines()
        if "──" in line
    }
    for name in errors.__all__:
        kind = getattr(errors, name)
        assert (kind.__base__ is errors.InputError) == (depth.get(name, 0) > depth["InputError"]), name


@pytest.mark.parametrize("path", PRODUCT, ids=label)
def test_claims_name_tests_that_exist(path: Path) -> None:
    """A `Tested:` line in a docstring names test functions; each of them is there."""
    named = {
        name
        for line in re.findall(
            r"Tested:((?:.|\n)*?)(?:\n\s*\n|\"\"\"|\n\s*(?:Given|Promise|Because):)", path.read_text()
        )
        for name in re.findall(r"\btest_\w+", line)
    }
    assert not named - existing_tests()


def test_every_mechanism_makes_its_four_statements() -> None:
    """Whatever public function of the mechanisms is handed random bits says Given, Promise, Because and Tested itself,
    or the class it belongs to does."""
    silent = []
    for path in sorted((ROOT / "discreet" / "mechanisms").glob("*.py")):
        tree = ast.parse(path.read_text())
        holders = {id(part): node for node in ast.walk(tree) if isinstance(node, ast.ClassDef) for part in node.body}
        for node in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
            arguments = {argument.arg for argument in (*node.args.args, *node.args.kwonlyargs)}
            overloads = any(ast.unparse(one) == "overload" for one in node.decorator_list)
            if "bits" not in arguments or node.name.startswith("_") or overloads:
                continue
            said = (ast.get_docstring(node) or "") + (
                ast.get_docstring(holders[id(node)]) or "" if id(node) in holders else ""
            )
            if not all(f"{word}:" in said for word in ("Given", "Promise", "Because", "Tested")):
                silent.append(f"{path.stem}.{node.name}")
    assert not silent


@functools.cache
def existing_tests() -> set[str]:
    names: set[str] = set()
    for path in (ROOT / "tests").rglob("*.py"):
        names |= {path.stem, *re.findall(r"def (test_\w+)", path.read_text())}
    return names


def tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False).stdout.split(
        "\n"
    )
    return [ROOT / name for name in listed if name and (ROOT / name).suffix in TEXT and (ROOT / name).is_file()]


def test_nothing_of_a_machine_is_written_down() -> None:
    """No home or work folder, no package registry's host; the lock file carries names, versions and hashes alone."""
    machine = re.compile(r"(?<![\w.])/(?:home|root|Users|work)/\w|\b(?:files\.pythonhosted|pypi|registry\.npmjs)\.\w+")
    found = [
        label(path) for path in tracked() if path != Path(__file__) and machine.search(path.read_text(errors="ignore"))
    ]
    assert not found
    assert "--index" not in (ROOT / "requirements.lock").read_text()


def test_importing_the_package_loads_no_engine() -> None:
    """`import discreet` stays light: what is heavy is loaded when it is first used."""
    heavy = "duckdb", "numpy", "pydantic", "sqlglot", "typer", "sqlalchemy", "scipy", "sklearn"
    code = f"import sys, discreet; print([name for name in {heavy!r} if name in sys.modules])"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown.strip() == "[]"
