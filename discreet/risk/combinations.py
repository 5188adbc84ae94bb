"""Combinations: which few columns single a record out.

1. The engine forms the classes of all quasi columns and numbers the values of each column (missing is a value).
2. It lays every class beside every set of up to `largest` columns and groups by the set and the numbers of its columns:
   one grouping for all sets. A group of one record is a record that is unique on the set.
3. What is unique on a set is unique on every larger set (the apriori rule), so a unique record's set is minimal when no
   set of one column less singles it out: a special unique (Elliot, Manning and Ford 2002). The fewer columns it takes,
   the easier the record is found.

Only counts for each set, size and column come out. The work grows with classes × sets; more than 1,000 sets, or more
than 62 columns, are refused before anything is read.

What it does not promise: privacy; all counts are exact and confidential. A record without a special unique up to
`largest` may still be unique on more columns.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb

from sqlglot import exp

from discreet.check import at_least, some
from discreet.data.engines.base import Engine
from discreet.data.table import StoredTable
from discreet.errors import ArgumentError
from discreet.risk.cells import counts, reading
from discreet.risk.classes import group_records, share

__all__ = ["Combination", "Combinations", "count_combinations", "require_few", "widest"]

_MOST_SETS = 1_000
_MOST_PAIRS = 30_000_000  # of a class and a set: each takes memory while the engine groups them
_MOST_COLUMNS = 62
_UNIQUE, _MINIMAL, _SMALLEST, _COLUMN = range(4)


@dataclass(frozen=True, slots=True, kw_only=True)
class Combination:
    """A set of columns, the records unique on it, and those that no part of it singles out."""

    columns: tuple[str, ...]
    unique: int
    minimal: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Combinations:
    """Every set of up to `largest` columns, riskiest first, and the records with a special unique among them.

    `by_size` lists (columns in a record's smallest special unique, records), `by_column` (column, records with a
    special unique that needs it). Confidential.
    """

    records: int
    largest: int
    riskiest: tuple[Combination, ...]
    by_size: tuple[tuple[int, int], ...]
    by_column: tuple[tuple[str, int], ...]

    @property
    def special(self) -> int:
        """Records with a special unique of up to `largest` columns."""
        return sum(records for _, records in self.by_size)

    @property
    def special_share(self) -> float:
        """Their share."""
        return share(self.special, self.records)


def count_combinations(
    engine: Engine, table: StoredTable, quasi: Sequence[str], *, records: int, largest: int = 3
) -> Combinations:
    """Unique and special unique records on every small set of columns. Confidential: exact numbers for the keeper."""
    columns = some("quasi", quasi, step="name the columns an outsider may know, each once")
    largest = require_few(columns, largest)
    sets = _chosen(len(columns), largest)
    found: dict[int, dict[int, int]] = {_UNIQUE: {}, _MINIMAL: {}, _SMALLEST: {}, _COLUMN: {}}
    for part, key, count in map(counts, engine.integers(_search(table, columns, largest))):
        found[part][key] = count
    sized = [
        Combination(
            columns=tuple(columns[place] for place in places),
            unique=found[_UNIQUE].get(key, 0),
            minimal=found[_MINIMAL].get(key, 0),
        )
        for key, places in sets.items()
    ]
    return Combinations(
        records=records,
        largest=largest,
        riskiest=tuple(sorted(sized, key=lambda one: (-one.unique, len(one.columns)))),
        by_size=tuple((size, found[_SMALLEST].get(size, 0)) for size in range(1, largest + 1)),
        by_column=tuple((name, found[_COLUMN].get(1 << place, 0)) for place, name in enumerate(columns)),
    )


def require_few(columns: Sequence[str], largest: int) -> int:
    """The size of the largest sets to search, or a refusal when there would be too many of them."""
    wide = len(columns)
    largest = min(at_least("special_size", largest, 1), wide)
    if _sets(wide, largest) > _MOST_SETS or wide > _MOST_COLUMNS:
        raise ArgumentError(
            "special_size",
            found=f"sets of up to {largest} of {wide} columns are {_sets(wide, largest):,}",
            right=f"up to {_MOST_SETS:,} sets of up to {_MOST_COLUMNS} columns are searched",
            step="give a smaller special_size or fewer quasi columns",
        )
    return largest


def widest(columns: Sequence[str], classes: int = 0) -> int:
    """The size of the largest sets, up to 3, that are few enough, and few enough beside that many classes."""
    most = min(_MOST_SETS, _MOST_PAIRS // max(classes, 1))
    fitting = (size for size in (3, 2) if _sets(len(columns), size) <= most)
    return require_few(columns, next(fitting, 1))


def _sets(wide: int, largest: int) -> int:
    return sum(comb(wide, size) for size in range(1, largest + 1))


def _chosen(wide: int, largest: int) -> dict[int, tuple[int, ...]]:
    """Every set of columns by the bits of its places."""
    return {
        sum(1 << place for place in places): places
        for size in range(1, largest + 1)
        for places in combinations(range(wide), size)
    }


@functools.lru_cache(maxsize=8)
def _search(table: StoredTable, columns: tuple[str, ...], largest: int) -> exp.Query:
    """The counts of unique and of special unique records for each set, size and column, as numbered rows.

    It is built once, since the same columns are asked again.
    """
    physical = [table.column(name).physical for name in columns]
    slots = [f"slot{place}" for place in range(largest)]
    rows = [(key, len(places), *_slotted(places, largest)) for key, places in _chosen(len(columns), largest).items()]
    bits = [(1 << place,) for place in range(len(columns))]
    larger = (
        exp.select("uniques.chosen + bits.bit AS chosen", "uniques.id")
        .from_("uniques")
        .join("bits", on="(uniques.chosen & bits.bit) = 0")
        .where(f"uniques.width < {largest}")
    )
    special = (
        exp.select("uniques.*")
        .from_("uniques")
        .join("larger", on="larger.chosen = uniques.chosen AND larger.id = uniques.id", join_type="LEFT")
        .where("larger.id IS NULL")
    )
    tables: dict[str, exp.Query] = {
        "classes": group_records(table, columns),
        "coded": exp.select("size", "ROW_NUMBER() OVER () AS id", *map(_code, physical)).from_("classes"),
        "sets": exp.select("*").from_(exp.values(rows, alias="sets", columns=["chosen", "width", *slots])),
        "bits": exp.select("*").from_(exp.values(bits, alias="bits", columns=["bit"])),
        "uniques": _uniques(physical, slots),
        "larger": larger,
        "special": special,
        "smallest": exp.select("MIN(width) AS width").from_("special").group_by("id"),
    }
    parts = (
        exp.select(f"{_UNIQUE} AS part", "chosen AS at", "COUNT(*) AS records").from_("uniques").group_by("chosen"),
        exp.select(f"{_MINIMAL}", "chosen", "COUNT(*)").from_("special").group_by("chosen"),
        exp.select(f"{_SMALLEST}", "width", "COUNT(*)").from_("smallest").group_by("width"),
        exp.select(f"{_COLUMN}", "bits.bit", "COUNT(DISTINCT special.id)")
        .from_("special")
        .join("bits", on="(special.chosen & bits.bit) > 0")
        .group_by("bits.bit"),
    )
    return reading(exp.union(*parts, distinct=False), tables)


def _slotted(places: tuple[int, ...], largest: int) -> tuple[int, ...]:
    """The set's columns counted from 1, and 0 where it has none left."""
    return tuple(place + 1 for place in places) + (0,) * (largest - len(places))


def _code(physical: str) -> exp.Expr:
    """The number of a column's value among its values."""
    order = exp.Order(expressions=[exp.Ordered(this=exp.column(physical))])
    return exp.alias_(exp.Window(this=exp.DenseRank(), order=order), physical)


def _uniques(physical: Sequence[str], slots: Sequence[str]) -> exp.Select:
    """One row for each record that is unique on a set: the set, its width, and the number of the record's class."""
    picked = [
        exp.Case(
            this=exp.column(slot),
            ifs=[
                exp.If(this=exp.Literal.number(place), true=exp.column(name))
                for place, name in enumerate(physical, start=1)
            ],
        )
        for slot in slots
    ]
    return (
        exp.select("chosen", "width", "MIN(id) AS id")
        .from_("coded")
        .join("sets", join_type="CROSS")
        .group_by("chosen", "width", *picked)
        .having("SUM(size) = 1")
    )
