"""Cells that a table misses and its copies fill: there is nothing to compare them with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["filled_columns", "without_filled"]


def filled_columns(base: Mapping[str, list[Any]], frames: Sequence[Mapping[str, list[Any]]]) -> tuple[str, ...]:
    """Columns that miss cells in the table and in no copy."""
    return tuple(
        name
        for name, values in base.items()
        if any(_is_gone(value) for value in values)
        and all(name in one and len(one[name]) == len(values) for one in frames)
        and not any(_is_gone(value) for one in frames for value in one[name])
    )


def without_filled(
    base: Mapping[str, list[Any]], frame: Mapping[str, list[Any]], filled: Sequence[str]
) -> dict[str, list[Any]]:
    """A copy without the cells that the table misses in these columns."""
    cut = {
        name: [None if _is_gone(old) else new for old, new in zip(base[name], frame[name], strict=True)]
        for name in filled
    }
    return {**frame, **cut}


def _is_gone(value: Any) -> bool:
    return value is None or value != value
