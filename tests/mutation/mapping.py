"""Which test files see a module: those named for it, those that import it, those that reach it through others.

Read off the imports, so that a new test file or module needs no entry anywhere.
"""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

__all__ = ["TEST_FOLDERS", "test_files"]

TEST_FOLDERS = ("tests/mechanisms", "tests/statistical")
_PACKAGE = "discreet.mechanisms"


def test_files(root: Path, module: str) -> list[str]:
    """The test files that run a module of the mechanisms, the closest first."""
    found: list[tuple[int, int, str]] = []
    for folder in TEST_FOLDERS:
        for path in sorted((root / folder).glob("test_*.py")):
            named = _imported(path)
            reached = _closure(root, named)
            if module in reached:
                distance = 0 if path.stem.removeprefix("test_") == module else 1 if module in named else 2
                found.append((distance, len(reached), str(path.relative_to(root))))
    return [path for _, _, path in sorted(found)]


def _closure(root: Path, modules: frozenset[str]) -> set[str]:
    """The modules, and all they import in turn."""
    reached: set[str] = set()
    ahead = set(modules)
    while ahead:
        module = ahead.pop()
        reached.add(module)
        path = root / _PACKAGE.replace(".", "/") / f"{module}.py"
        ahead |= _imported(path) - reached
    return reached


@cache
def _imported(path: Path) -> frozenset[str]:
    """The modules of the mechanisms that a file imports by name."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module == _PACKAGE:
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith(f"{_PACKAGE}."):
            names.add((node.module or "").removeprefix(f"{_PACKAGE}."))
        elif isinstance(node, ast.Import):
            names |= {
                alias.name.removeprefix(f"{_PACKAGE}.") for alias in node.names if alias.name.startswith(f"{_PACKAGE}.")
            }
    return frozenset(names)
