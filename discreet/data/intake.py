"""From what a reader hands over to the table of a store.

1. The first rows of the source rule out types: a rule that fails in one of them fails for good.
2. The table is made by the first rule left for each column, and the making stops at the first value that breaks it.
3. Only then are all rules left held against all rows, and the table is made once more by those that held.

So the types are those of all rows, whatever the first ones look like; the first ones only save time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import duckdb

from discreet.data.quoting import literal
from discreet.data.readers.incoming import Incoming, Reading
from discreet.data.readers.options import ReadOptions
from discreet.data.readers.rules import Rule, rules_for
from discreet.data.store import DISK_FAULTS, StoreDraft, stepped_columns, twin_columns
from discreet.data.table import StoredColumn
from discreet.errors import FileError

__all__ = ["take_in"]

_SAMPLE_ROWS = 2048
_COLUMNS_AT_ONCE = 32
_BROKEN = "a value breaks the rule of its column"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Column:
    """A column on its way in: its SQL in the source, and the rules that may still hold."""

    name: str
    physical: str
    source: str
    rules: tuple[Rule, ...]
    inferred: bool
    seen: bool = False

    @property
    def plausible(self) -> bool:
        """Whether the first rule left is worth a try: a column of nulls so far may yet be anything."""
        return self.seen or not self.inferred


def take_in(
    draft: StoreDraft, incoming: Incoming, options: ReadOptions, steps: Mapping[int, Fraction], *, where: str
) -> tuple[tuple[StoredColumn, ...], tuple[str, ...]]:
    """Make the table `rows` in the draft; returns its columns, and notes on how they were kept."""
    try:
        connection = draft.connect(len(incoming.names), beside=incoming.beside)
        columns = _sampled(connection, incoming, _columns(connection, incoming, options, where))
        if not all(column.plausible for column in columns) or not _made(connection, incoming, columns, steps):
            columns = _settled(connection, incoming, columns)
            connection = draft.connect(len(incoming.names), beside=incoming.beside)
            if not _made(connection, incoming, columns, steps):
                raise _unreadable(where)
        ((counted,),) = connection.execute("SELECT count(*) FROM rows").fetchall()
    except duckdb.OutOfMemoryException:
        raise FileError(
            where,
            found="more memory is needed than the limit allows",
            right="a table fits in pieces of some thousand rows",
            step="raise the limit: --limit memory=BYTES",
        ) from None
    except DISK_FAULTS:
        raise FileError(
            where,
            found="it cannot be read to its end, or the disk has no room for its table",
            right="the source must be whole and the disk needs room",
            step="free some space, or export the source again",
        ) from None
    except duckdb.Error:
        raise _unreadable(where) from None
    if incoming.rows is not None and counted != incoming.rows:
        raise _unreadable(where)
    if not counted:
        raise FileError(where, found="no rows", right="a table has rows", step="check the source")
    notes = [f"column {column.name!r}: {column.rules[0].note}" for column in columns if column.rules[0].note]
    return _kept(columns, steps), (*incoming.notes, *notes)


def _kept(columns: Sequence[_Column], steps: Mapping[int, Fraction]) -> tuple[StoredColumn, ...]:
    types = [column.rules[0].type for column in columns]
    return stepped_columns([column.name for column in columns], types, steps)


def _columns(
    connection: duckdb.DuckDBPyConnection, incoming: Incoming, options: ReadOptions, where: str
) -> list[_Column]:
    described = connection.execute(f"DESCRIBE SELECT * FROM {_aliased(incoming)}").fetchall()
    columns = []
    for position, (name, reading) in enumerate(zip(incoming.names, incoming.readings, strict=True)):
        type_ = str(described[position][1])
        rules = rules_for(reading, type_)
        if not rules:
            raise FileError(
                f"{where}, column {name!r}",
                found=f"values of type {type_.split('(')[0].lower()}",
                right="a column holds numbers, booleans, dates, times or text, one value a row",
                step="flatten the column or leave it out",
            )
        physical = f"c{position}"
        columns.append(
            _Column(
                name=name,
                physical=physical,
                source=_cleaned(physical, reading, type_, options),
                rules=rules,
                inferred=reading in (Reading.TEXT, Reading.TAGGED),
            )
        )
    return columns


def _cleaned(physical: str, reading: Reading, type_: str, options: ReadOptions) -> str:
    """The column, with the options' tokens as null where it holds text, and trimmed text that is empty."""
    if reading is Reading.WHOLE or (reading is Reading.NATIVE and type_ != "VARCHAR"):
        return physical
    tag = "s" if reading is Reading.TAGGED else ""
    nulls = [literal(tag + token) for token in options.nulls]
    if reading is Reading.TEXT and options.trim:
        physical = f"trim({physical})"
        nulls.append("''")
    return f"CASE WHEN {physical} IN ({', '.join(nulls)}) THEN NULL ELSE {physical} END" if nulls else physical


def _sampled(connection: duckdb.DuckDBPyConnection, incoming: Incoming, columns: Sequence[_Column]) -> list[_Column]:
    """The columns with the rules that hold in the first rows."""
    connection.execute(f"CREATE TEMP TABLE sample AS SELECT * FROM {_aliased(incoming)} LIMIT {_SAMPLE_ROWS}")
    left = _ruled_out(connection, "sample", columns)
    connection.execute("DROP TABLE sample")
    return left


def _settled(connection: duckdb.DuckDBPyConnection, incoming: Incoming, columns: Sequence[_Column]) -> list[_Column]:
    """The columns with the rules that hold in all rows. A column of text without a value is text."""
    left = _ruled_out(connection, _aliased(incoming), columns)
    return [
        column if column.seen or not column.inferred else replace(column, rules=column.rules[-1:]) for column in left
    ]


def _ruled_out(connection: duckdb.DuckDBPyConnection, relation: str, columns: Sequence[_Column]) -> list[_Column]:
    """The columns with the rules that hold in every row of the relation, some columns at a time: planning a query
    takes the square of its length."""
    left: list[_Column] = []
    for start in range(0, len(columns), _COLUMNS_AT_ONCE):
        some = columns[start : start + _COLUMNS_AT_ONCE]
        values = [
            f"{_filled(rule.value, column.physical)} AS {column.physical}v{number}"
            for column in some
            for number, rule in enumerate(column.rules)
            if "$v" in rule.holds
        ]
        verdicts = [verdict for column in some for verdict in _verdicts(column)]
        source = ", ".join(f"{column.source} AS {column.physical}" for column in some)
        select = f"SELECT {', '.join(verdicts)} FROM (SELECT {', '.join(['*', *values])} FROM "
        (answer,) = connection.execute(f"{select} (SELECT {source} FROM {relation}))").fetchall()
        found = iter(answer)
        for column in some:
            seen = bool(next(found))
            rules = tuple(rule for rule in column.rules if not rule.holds or next(found))
            left.append(replace(column, rules=rules, seen=seen))
    return left


def _verdicts(column: _Column) -> list[str]:
    """Whether the column has values, and whether each rule that may fail holds, as SQL aggregates."""
    return [
        f"count({column.physical}) > 0",
        *(
            f"coalesce(bool_and({_held(rule, column.physical, f'{column.physical}v{number}')}), true)"
            for number, rule in enumerate(column.rules)
            if rule.holds
        ),
    ]


def _made(
    connection: duckdb.DuckDBPyConnection,
    incoming: Incoming,
    columns: Sequence[_Column],
    steps: Mapping[int, Fraction],
) -> bool:
    """Make the table by the first rule of each column; False if a value breaks one."""
    twins = twin_columns(_kept(columns, steps), steps)
    inner = [f"{column.source} AS {column.physical}" for column in columns]
    values = [f"{_filled(column.rules[0].value, column.physical)} AS v{column.physical}" for column in columns]
    outer = [_guarded(column) for column in columns]
    select = (
        f"SELECT {', '.join(outer)} FROM (SELECT {', '.join(['*', *values])} FROM "
        f"(SELECT {', '.join(inner)} FROM {_aliased(incoming)}))"
    )
    try:
        connection.execute(f"CREATE TABLE rows AS SELECT {', '.join(['*', *twins])} FROM ({select})")
    except duckdb.Error as error:
        if _BROKEN in str(error):
            return False
        raise
    return True


def _guarded(column: _Column) -> str:
    rule, physical = column.rules[0], column.physical
    value = f"v{physical}"
    if rule.holds:
        value = f"CASE WHEN {_held(rule, physical, value)} THEN {value} ELSE error({literal(_BROKEN)}) END"
    return f"CAST({value} AS {rule.stored_as}) AS {physical}"


def _held(rule: Rule, column: str, value: str) -> str:
    return f"({column} IS NULL OR coalesce({_filled(rule.holds, column, value)}, false))"


def _filled(template: str, column: str, value: str = "") -> str:
    return template.replace("$c", column).replace("$v", value)


def _aliased(incoming: Incoming) -> str:
    """The source with generated column names, whatever its own are."""
    names = ", ".join(f"c{position}" for position in range(len(incoming.names)))
    return f"{incoming.relation} AS source({names})"


def _unreadable(where: str) -> FileError:
    return FileError(
        where,
        found="content that contradicts itself or its format",
        right="it must be readable to its end, with every row",
        step="export it again from where it comes from",
    )
