"""Edit rules: what they read, what they refuse, and a twin that goes through rows one by one in plain Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import ArgumentError, UnknownNameError
from discreet.synthesis.imputation.columns import read_columns
from discreet.synthesis.imputation.rules import parse_rule

TABLE: dict[str, list[Any]] = {
    "married": ["yes", "no", None, "yes", "no", "yes"],
    "age": [12.5, 44.0, 15.0, 71.25, None, 15.0],
    "kids": [0, 3, 1, None, 2, 0],
    "home": ["own", "rent", "own", "rent", "other", None],
    "first home": ["rent", "rent", "own", "own", "boat", "own"],
    "grade": ["low", "mid", "high", "low", "mid", "high"],
    "limit": [13.0, 40.0, 15.0, 99.5, 3.0, None],
}
COLUMNS = read_columns(TABLE, kinds={"grade": ["low", "mid", "high"]})
VALUES = {column.name: column.values for column in COLUMNS.columns}


def broken(text: str) -> list[int]:
    return [int(row) for row in np.flatnonzero(parse_rule(text).broken(COLUMNS, VALUES))]


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("married requires age >= 15", [0]),
        ("Age >= 15".lower(), [0]),
        ("not married requires kids = 2", [1]),
        ("home == 'own' requires kids < 1 or age > 20", [2]),
        ("home in ('own', \"rent\") requires age < 40 and not kids == 0", [0, 1, 3]),
        ("age is missing requires home == 'other'", []),
        ("home is missing requires age is missing", [5]),
        ("home is not missing", [5]),
        ("home == `first home`", [0, 3, 4]),
        ("age <= limit", [1]),
        ("grade >= 'mid' requires age > 44", [1, 2, 5]),
        ("(married requires age) == 3", None),
        ("kids != 1.0 and -1 <= kids", None),
        ("kids != -1 and (kids >= 0 or age > 1e2)", []),
    ],
)
def test_rules_are_read_and_break_where_they_should(text: str, rows: list[int] | None) -> None:
    if rows is None:
        with pytest.raises(ArgumentError):
            broken(text)
    else:
        assert broken(text) == rows


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x" * 2000,
        "age >=",
        "age >= 15 kids",
        "__import__('os').system('true')",
        "age.__class__ == 1",
        "age >= (lambda: 1)()",
        "age; kids",
        "'age' == age",
        "home in ()",
        "home in ('own'",
        "age is 3",
        "(" * 60 + "age > 1" + ")" * 60,
        "age >= 'old'",
        "home == 3",
        "home > 'own'",
        "home == 'castle'",
        "home",
        "age",
        "home == age",
        "requires age > 3",
        "married requires",
    ],
)
def test_anything_else_is_refused_without_a_value_of_the_table(text: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        broken(text)
    assert "rent" not in str(caught.value)


def test_a_column_that_is_not_there_is_named() -> None:
    with pytest.raises(UnknownNameError, match="agee"):
        broken("agee > 3")


Truth = bool | None
Piece = tuple[str, Callable[[int], Truth]]


def _atom(name: str, sign: str, value: float) -> Piece:
    signs: dict[str, Callable[[float, float], bool]] = {
        "<": lambda a, b: a < b,
        ">=": lambda a, b: a >= b,
        "==": lambda a, b: a == b,
    }

    def found(row: int) -> Truth:
        cell = TABLE[name][row]
        return None if cell is None else signs[sign](cell, value)

    return f"{name} {sign} {value}", found


def _not(piece: Piece) -> Piece:
    def found(row: int) -> Truth:
        inner = piece[1](row)
        return None if inner is None else not inner

    return f"not ({piece[0]})", found


def _both(pair: tuple[Piece, Piece, bool]) -> Piece:
    left, right, every = pair

    def found(row: int) -> Truth:
        sides = [left[1](row), right[1](row)]
        if every:
            return False if False in sides else None if None in sides else True
        return True if True in sides else None if None in sides else False

    return f"({left[0]}) {'and' if every else 'or'} ({right[0]})", found


ATOMS = st.builds(
    _atom,
    st.sampled_from(["age", "kids", "limit"]),
    st.sampled_from(["<", ">=", "=="]),
    st.sampled_from([0, 2, 15, 44]),
)
PIECES = st.recursive(
    ATOMS,
    lambda inner: st.one_of(st.builds(_not, inner), st.builds(_both, st.tuples(inner, inner, st.booleans()))),
    max_leaves=6,
)


@given(PIECES, PIECES)
def test_rules_break_where_a_reader_going_row_by_row_says(condition: Piece, needed: Piece) -> None:
    expected = [row for row in range(6) if condition[1](row) is True and needed[1](row) is False]
    assert broken(f"{condition[0]} requires {needed[0]}") == expected
