"""Read a table's profile inside its engine. Keeper only: everything it returns is raw.

For each column the engine groups by value once, and everything is counted over those groups:

1. how many values there are, how many of them stand in one row only, in fewer than five, and in how many rows the most
   frequent one stands: so that identifiers, keys and rare keys are told apart;
2. for texts and whole numbers, in how many rows the value has one of the forms of `data.pattern`;
3. the ends, the longest text, the most decimal places;
4. the first few distinct values, for keys and for checks of digits.

Every expression is total: it has a value for every input, so that no content can make it fail. It promises no privacy.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from discreet.data.engines.base import Engine
from discreet.data.pattern import PATTERNS, Pattern, PatternKind
from discreet.data.profile import RARE_BELOW, ColumnProfile, Profile
from discreet.data.table import StorageType, StoredColumn, StoredTable
from discreet.risk.presence import is_there, sum_where

__all__ = ["profile"]

_TEXTS_AT_MOST = 500
_MANY_PLACES = 30


def profile(engine: Engine, table: StoredTable) -> Profile:
    """What every column of a table holds.

    Given:   an engine that holds the table.
    Promise: nothing of a value is printed; the figures are exact and raw.
    Because: it is for the keeper, who may see the table itself.
    Tested:  test_a_profile_counts_what_python_counts, test_a_profile_prints_nothing.
    """
    ((rows,),) = engine.integers(exp.select(exp.Count(this=exp.Star())).from_(table.name))
    assert rows is not None
    return Profile(rows=rows, columns=tuple(_column(engine, table, column, rows) for column in table.columns))


def _column(engine: Engine, table: StoredTable, column: StoredColumn, rows: int) -> ColumnProfile:
    patterns = _patterns(column.type)
    groups = _groups(table, column)
    counts = _counts(column.type, patterns)
    (figures,) = engine.integers(exp.select(*counts).from_(groups))
    present, distinct, single, rare, largest, places, longest, *forms = (figure or 0 for figure in figures)
    ((low, high),) = engine.texts(_ends(column.type, groups)).reveal(to="keeper")
    return ColumnProfile(
        name=column.name,
        type=column.type,
        missing=rows - present,
        distinct=distinct,
        single=single,
        rare=rare,
        largest=largest,
        low=low,
        high=high,
        places=places,
        longest=longest,
        texts=_texts(engine, groups) if patterns else (),
        forms={pattern.name: count for pattern, count in zip(patterns, forms, strict=True) if count},
    )


def _patterns(kind: StorageType) -> tuple[Pattern, ...]:
    if kind is StorageType.TEXT:
        return PATTERNS
    if kind is StorageType.INTEGER:
        return tuple(pattern for pattern in PATTERNS if pattern.kind is PatternKind.NATIONAL_NUMBER)
    return ()


def _groups(table: StoredTable, column: StoredColumn) -> exp.Subquery:
    """One row for each value that is not missing, with the number of rows it stands in."""
    value = exp.column(column.physical)
    groups = exp.select(value.as_("v"), exp.Count(this=exp.Star()).as_("n")).from_(table.name)
    return groups.where(is_there(column)).group_by(value).subquery("g")


def _counts(kind: StorageType, patterns: Sequence[Pattern]) -> list[exp.Expression]:
    n, text = exp.column("n"), exp.cast(exp.column("v"), "text")
    zero = exp.Literal.number(0)
    return [
        exp.Sum(this=n),
        exp.Count(this=exp.Star()),
        sum_where(n <= 1, "1"),
        sum_where(n < RARE_BELOW, "1"),
        exp.Max(this=n),
        exp.Max(this=_places(text)) if kind is StorageType.DECIMAL else zero,
        exp.Max(this=exp.Length(this=text)) if kind is StorageType.TEXT else zero,
        *(sum_where(_has_form(text, pattern), n) for pattern in patterns),
    ]


def _ends(kind: StorageType, groups: exp.Subquery) -> exp.Select:
    value: exp.Expression = exp.column("v")
    if kind in (StorageType.TEXT, StorageType.BOOLEAN):
        value = exp.Null()
    ends = (exp.cast(end(this=value), "text").as_(name) for end, name in ((exp.Min, "low"), (exp.Max, "high")))
    return exp.select(*ends).from_(groups)


def _texts(engine: Engine, groups: exp.Subquery) -> tuple[str, ...]:
    select = exp.select(exp.cast(exp.column("v"), "text").as_("t")).from_(groups).order_by("t").limit(_TEXTS_AT_MOST)
    return tuple(value for (value,) in engine.texts(select).reveal(to="keeper") if value is not None)


def _has_form(text: exp.Expression, pattern: Pattern) -> exp.Expression:
    return exp.RegexpLike(this=text.copy(), expression=exp.Literal.string(f"^({pattern.regex})$"))


def _places(text: exp.Expression) -> exp.Expression:
    """Decimal places as written: none for 3.0, many for a number written with an exponent."""
    dot = exp.StrPosition(this=text.copy(), substr=exp.Literal.string("."))
    exponent = exp.StrPosition(this=text.copy(), substr=exp.Literal.string("e"))
    places = exp.Length(this=text.copy()) - dot
    whole = text.copy().like("%.0")
    return exp.case().when(whole, "0").when(exponent > 0, str(_MANY_PLACES)).when(dot > 0, places).else_("0")
