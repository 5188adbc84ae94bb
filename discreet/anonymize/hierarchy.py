"""Hierarchies: how the values of a column become coarser, level by level, up to one group that holds everything.

A hierarchy is public: it is a keeper's choice and names what could occur, not what does. It comes

* from a CSV as ARX writes it: one line for each value, `39;35-39;30-39;*`, the value first, the coarsest last;
* from YAML: `intervals: {low: 0, high: 99, widths: [5, 10, 20]}`, or a `tree:` of groups down to lists of values;
* from nothing: the value, then everything (`Hierarchy.flat`).

Level 0 is the value itself; each group of a level lies inside one group of the next. The last level is one group; where
a file ends with several it is added. A missing value stays missing until the last level.

What it does not promise: that groups of a public hierarchy hide anybody. How many records share a group is for the
criteria to say.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from discreet.anonymize.records import CodedColumn, Codes, Vector
from discreet.check import exact, some
from discreet.errors import ArgumentError, FileError

__all__ = ["EVERYTHING", "Hierarchy", "Ladder", "as_text", "read_hierarchies"]

EVERYTHING = "*"
_LEAVES_AT_MOST = 100_000
_DELIMITERS = ";,\t|"


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """The rungs of each value of one column: itself, its group, the group's group, …, everything."""

    column: str
    rows: tuple[tuple[str, ...], ...]

    def __post_init__(self) -> None:
        where = f"hierarchy of {self.column!r}"
        some(f"values of the {where}", [row[0] for row in self.rows], step="write one line for each value, each once")
        odd = next((place for place, row in enumerate(self.rows) if len(row) != len(self.rows[0])), None)
        if odd is not None:
            levels = f"{len(self.rows[0])} levels in the first, {len(self.rows[odd])} in number {odd + 1}"
            raise _broken(where, f"lines of different lengths: {levels}", "every value has the same number of levels")
        rows = self.rows
        if len({row[-1] for row in rows}) > 1:
            rows = tuple((*row, EVERYTHING) for row in rows)
            object.__setattr__(self, "rows", rows)
        for level in range(1, len(rows[0]) - 1):
            parents: dict[str, str] = {}
            for row in rows:
                if parents.setdefault(row[level], row[level + 1]) != row[level + 1]:
                    right = "each group lies inside one group of the next level"
                    raise _broken(where, f"a group of level {level} that is split at level {level + 1}", right)

    @property
    def levels(self) -> int:
        """How many levels there are, the value's own among them."""
        return len(self.rows[0])

    @classmethod
    def flat(cls, column: CodedColumn) -> Hierarchy:
        """Only the value and everything, for a column without a hierarchy of its own."""
        return cls(column.name, tuple((as_text(value), EVERYTHING) for value in column.values) or (("", EVERYTHING),))

    @classmethod
    def from_csv(cls, column: str, path: Path) -> Hierarchy:
        """A CSV as ARX writes it, without a header; fields parted by ; or , or | or a tab."""
        text = _read(path).removeprefix("\ufeff")
        first = text.partition("\n")[0]
        delimiter = max(_DELIMITERS, key=first.count)
        rows = tuple(tuple(row) for row in csv.reader(text.splitlines(), delimiter=delimiter) if row)
        if not rows or len(rows[0]) < 2:
            raise _broken(str(path), "no levels", "each line holds a value and its groups, parted by ;")
        return cls(column, rows)

    @classmethod
    def from_yaml(cls, column: str, path: Path) -> Hierarchy:
        """A YAML file with `intervals` or a `tree`."""
        try:
            content = yaml.safe_load(_read(path))
        except yaml.YAMLError:
            content = None
        if isinstance(content, dict) and isinstance(content.get("intervals"), dict):
            return cls.intervals(column, **_interval_arguments(path, content["intervals"]))
        if isinstance(content, dict) and content.get("tree"):
            return cls.tree(column, content["tree"])
        raise _broken(str(path), "neither intervals nor a tree", "a YAML hierarchy has one of both")

    @classmethod
    def intervals(cls, column: str, *, low: int, high: int, widths: Sequence[int]) -> Hierarchy:
        """Whole numbers from low to high, in intervals of these widths, each a multiple of the one before."""
        where = f"hierarchy of {column!r}"
        steps = (1, *widths)
        if any(wide % narrow or wide <= narrow for narrow, wide in zip(steps, widths, strict=False)):
            raise _broken(where, "widths that do not fit into each other", "each width is a multiple of the one before")
        if not low < high or high - low >= _LEAVES_AT_MOST:
            raise _broken(where, "a range that is empty or too wide", f"low is below high, {_LEAVES_AT_MOST} at most")
        return cls(
            column,
            tuple(
                (str(value), *(_interval(value, low, high, width) for width in widths), EVERYTHING)
                for value in range(low, high + 1)
            ),
        )

    @classmethod
    def tree(cls, column: str, tree: Mapping[str, Any] | Sequence[Any]) -> Hierarchy:
        """Groups in groups down to lists of values; a shorter branch repeats its lowest group."""
        paths = list(_paths(tree, ()))
        depth = max(map(len, paths), default=0)
        rows = []
        for path in paths:
            lowest = path[-2] if len(path) > 1 else path[-1]
            rows.append((path[-1], *[lowest] * (depth - len(path)), *reversed(path[:-1]), EVERYTHING))
        return cls(column, tuple(rows))

    def as_csv(self) -> str:
        """The lines of a CSV that `from_csv` reads back."""
        buffer = io.StringIO()
        csv.writer(buffer, delimiter=";", lineterminator="\n").writerows(self.rows)
        return buffer.getvalue()

    def require_covers(self, column: CodedColumn) -> None:
        """Refuse a column with a value that the hierarchy does not know."""
        known_values = {row[0] for row in self.rows}
        unknown = sum(as_text(value) not in known_values for value in column.values)
        if unknown:
            raise ArgumentError(
                f"hierarchy of {self.column!r}",
                found=f"{unknown} distinct values of column {column.name!r} are not in it",
                right="a hierarchy has a line for every value of its column",
                step="add the missing lines, or correct the values",
            )

    def ladder(self, column: CodedColumn) -> Ladder:
        """The levels over the codes of a column, missing as one more value where it occurs."""
        self.require_covers(column)
        leaf = {row[0]: place for place, row in enumerate(self.rows)}
        rows = list(self.rows)
        at = [leaf[as_text(value)] for value in column.values]
        if column.missing.any():
            at.append(len(rows))
            rows.append(("", *[""] * (self.levels - 2), self.rows[0][-1]))
        groups, labels, shares = [], [], []
        for level in range(self.levels):
            names, inverse = np.unique(np.array([row[level] for row in rows], dtype=object), return_inverse=True)
            groups.append(inverse.reshape(-1)[at].astype(np.int64))
            labels.append(tuple(str(name) for name in names))
            shares.append(np.bincount(inverse.reshape(-1)) / len(rows))
        return Ladder(column=column, leaves=len(rows), groups=tuple(groups), labels=tuple(labels), shares=tuple(shares))


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Ladder:
    """A hierarchy laid on a column: for each level the group of each code, the groups' names, and their shares.

    A share is the part of the hierarchy's values that a group holds. The loss of a group is its share, scaled so that a
    single value loses 0 and everything 1.
    """

    column: CodedColumn
    leaves: int
    groups: tuple[Codes, ...]
    labels: tuple[tuple[str, ...], ...]
    shares: tuple[Vector, ...]

    @property
    def top(self) -> int:
        """The coarsest level."""
        return len(self.groups) - 1

    def losses(self, level: int) -> Vector:
        """The loss of each group of a level, from 0 to 1."""
        if self.leaves == 1:
            return np.zeros(len(self.shares[level]))
        return (self.shares[level] * self.leaves - 1) / (self.leaves - 1)

    def recoded(self, levels: Codes) -> CodedColumn:
        """The column with each row's value on the level given for that row; untouched where all stay at level 0."""
        if not levels.any():
            return self.column
        names = sorted({label for level in np.unique(levels) for label in self.labels[level]} - {""})
        place = {label: code for code, label in enumerate(names)} | {"": -1}
        codes = np.empty(len(levels), np.int64)
        for level in np.unique(levels):
            rows = levels == level
            translated = np.array([place[label] for label in self.labels[level]], np.int64)
            codes[rows] = translated[self.groups[level][self.column.full_codes[rows]]]
        return CodedColumn(name=self.column.name, values=tuple(names), codes=codes)


def read_hierarchies(folder: Path, columns: Iterable[str]) -> dict[str, Hierarchy]:
    """The hierarchies of those columns that have one in a folder: age.csv, age.yaml or anything_age.csv."""
    if not folder.is_dir():
        raise FileError(
            str(folder), found="no such folder", right="it holds one hierarchy a file", step="name the folder"
        )
    files = [path for path in sorted(folder.iterdir()) if path.suffix.lower() in {".csv", ".yaml", ".yml"}]
    found = {}
    for column in columns:
        wanted = _plain(column)
        fitting = [path for path in files if _plain(path.stem) == wanted]
        fitting = fitting or [path for path in files if _plain(path.stem).endswith(f"_{wanted}")]
        if len(fitting) > 1:
            raise _broken(str(folder), f"several files for column {column!r}", "a column has one hierarchy")
        for path in fitting:
            read = Hierarchy.from_csv if path.suffix.lower() == ".csv" else Hierarchy.from_yaml
            found[column] = read(column, path)
    return found


def _plain(name: str) -> str:
    return re.sub(r"\W|_", "_", name.casefold())


def as_text(value: Any) -> str:
    """A value as a hierarchy's file writes it; 39.0 is 39."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def _interval(value: int, low: int, high: int, width: int) -> str:
    start = low + (value - low) // width * width
    return f"{start}-{min(start + width - 1, high)}"


def _interval_arguments(path: Path, content: Mapping[str, Any]) -> dict[str, Any]:
    try:
        low, high = exact("low", content["low"]), exact("high", content["high"])
        widths = [exact("width", width) for width in content["widths"]]
    except (KeyError, TypeError):
        raise _broken(str(path), "no low, high or widths", "intervals: {low: 0, high: 99, widths: [5, 10]}") from None
    if any(number.denominator != 1 for number in (low, high, *widths)):
        raise _broken(str(path), "a fraction", "intervals are of whole numbers")
    return {"low": int(low), "high": int(high), "widths": [int(width) for width in widths]}


def _paths(tree: Any, above: tuple[str, ...]) -> Iterable[tuple[str, ...]]:
    if isinstance(tree, Mapping):
        for name, below in tree.items():
            yield from _paths(below, (*above, as_text(name)))
    else:
        for value in tree if isinstance(tree, list | tuple) else [tree]:
            yield (*above, as_text(value))


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise FileError(
            str(path), found="it cannot be read", right="a hierarchy is a UTF-8 text", step="correct the file"
        ) from None


def _broken(where: str, found: str, right: str) -> FileError:
    return FileError(where, found=found, right=right, step="correct the hierarchy")
