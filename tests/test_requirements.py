"""Requirements are traceable: what is said to be proven has a test, and what a test proves is listed."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent
TOTAL = 229


def listed() -> dict[str, dict[str, object]]:
    """The list as written."""
    return tomllib.loads((HERE / "requirements.toml").read_text())


def marks(path: Path) -> Iterator[str]:
    """Ids in requirement marks of the test functions of one file."""
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, ast.FunctionDef | ast.ClassDef) or not node.name.lower().startswith("test"):
            continue
        for mark in node.decorator_list:
            if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "pytest.mark.requirement":
                yield from (str(ast.literal_eval(argument)) for argument in mark.args)


def marked() -> set[str]:
    """Every id some test function carries."""
    return {number for path in HERE.rglob("test_*.py") for number in marks(path)}


def test_list_is_whole() -> None:
    requirements = listed()
    assert len(requirements) == TOTAL
    for number, entry in requirements.items():
        assert set(entry) == {"title", "proven"}, number
        assert isinstance(entry["title"], str)
        assert len(entry["title"]) >= 8, number
        assert isinstance(entry["proven"], bool), number


def test_marks_are_listed() -> None:
    assert not marked() - set(listed())


def test_proven_has_a_test_and_the_other_way_round() -> None:
    proven = {number for number, entry in listed().items() if entry["proven"]}
    assert not proven - marked(), "said to be proven without a test"
    assert not marked() - proven, "a test proves it, the list does not say so"
