r"""From what arrives to what is stored: for every column the first rule that holds in all of its rows.

Text (text files, and number cells of Excel), rules in order; a value must be written as the rule says to the sign:

1. integer: as an integer within 64 bits prints. No sign but a leading minus, no leading zero, no spaces.
2. decimal: digits with a point, an exponent or neither, no leading zero, at most 15 digits before the point; also
   nan and inf, which stay what they are. Kept as the nearest binary64; a value that would become infinite or zero
   fails the rule.
3. boolean: true or false, True or False, TRUE or FALSE.
4. date: YYYY-MM-DD, years 0001 to 9999.
5. datetime: YYYY-MM-DD, T or a space, hh:mm with or without seconds and at most 6 digits of their fraction.
6. datetime with an offset (Z or ±hh:mm) in every value: kept in UTC.
7. else text, as it stands: "01301", 25-digit numbers, mixed columns, year 0. A column without any value is text.

Typed columns keep their type: integers of at most 64 bits as integer, wider ones if every value fits and else as text;
floats and decimals as decimal (whole part below 10¹⁵, else text); dates and times outside the years 1 to 9999 or finer
than a microsecond as text; times with a zone in UTC. Nested and binary columns are refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from discreet.data.quoting import literal
from discreet.data.readers.incoming import Reading
from discreet.data.table import StorageType

__all__ = ["Rule", "rules_for"]

_WIDE = "numbers wider than 64 bits or with more digits than a number holds exactly are kept as text"
_UNTYPED = "values that look like numbers, but are written in another way, are kept as text"
_FINE = "dates or times outside the years 1 to 9999 or finer than a microsecond are kept as text"
_UTC = "times with a zone are kept in UTC"

_NUMBER = r"-?((0|[1-9][0-9]{0,14})(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?"
_SPECIAL = "[-+]?(?i:nan|inf|infinity)"
_ZERO = "-?[0.]*([eE].*)?"
_CLOCK = r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?"
_OFFSET = "(Z|[-+][0-9]{2}:[0-9]{2})"
_NUMBERLIKE = r"\s*[-+]?[0-9][0-9_]*([.,][0-9]+)*([eE][-+]?[0-9]+)?\s*"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """If `holds` in every row that has a value, the column is kept as `type`, by `value`.

    `$c` stands for the column and `$v` for `value` of it. An empty `holds` always holds.
    """

    type: StorageType
    value: str
    holds: str = ""
    note: str = ""

    @property
    def stored_as(self) -> str:
        """The type of the stored column in DuckDB."""
        return _STORED[self.type]


_STORED = {
    StorageType.INTEGER: "BIGINT",
    StorageType.DECIMAL: "DOUBLE",
    StorageType.BOOLEAN: "BOOLEAN",
    StorageType.DATE: "DATE",
    StorageType.DATETIME: "TIMESTAMP",
    StorageType.TEXT: "VARCHAR",
}


def _matches(pattern: str) -> str:
    return f"regexp_full_match($c, {literal(pattern)})"


_IN_YEARS = "year($v) BETWEEN 1 AND 9999"
_KEPT = Rule(type=StorageType.TEXT, value="CAST($c AS VARCHAR)")
_AS_INTEGER = Rule(type=StorageType.INTEGER, value="TRY_CAST($c AS BIGINT)", holds="CAST($v AS VARCHAR) = $c")
_AS_DECIMAL = Rule(
    type=StorageType.DECIMAL,
    value="TRY_CAST($c AS DOUBLE)",
    # CASE looks at the rare forms only where they stand; AND and OR would match every pattern on every value.
    holds=f"CASE WHEN NOT {_matches(_NUMBER)} THEN {_matches(_SPECIAL)} AND $v IS NOT NULL "
    f"WHEN $v = 0 THEN {_matches(_ZERO)} ELSE isfinite($v) END",
)
_AS_BOOLEAN = Rule(
    type=StorageType.BOOLEAN, value="TRY_CAST($c AS BOOLEAN)", holds=_matches("true|false|True|False|TRUE|FALSE")
)
_AS_DATE = Rule(
    type=StorageType.DATE,
    value="TRY_CAST($c AS DATE)",
    holds=f"length($c) = 10 AND CAST($v AS VARCHAR) = $c AND {_IN_YEARS}",
)
_AS_DATETIME = Rule(
    type=StorageType.DATETIME, value="TRY_CAST($c AS TIMESTAMP)", holds=f"{_matches(_CLOCK)} AND {_IN_YEARS}"
)
# The cast to TIMESTAMP drops an offset without a word; the cast to TIMESTAMPTZ heeds it.
_AS_UTC = Rule(
    type=StorageType.DATETIME,
    value="make_timestamp(epoch_us(TRY_CAST($c AS TIMESTAMPTZ)))",
    holds=f"{_matches(_CLOCK + _OFFSET)} AND {_IN_YEARS}",
    note=_UTC,
)
_TEXT_RULES = (
    _AS_INTEGER,
    _AS_DECIMAL,
    _AS_BOOLEAN,
    _AS_DATE,
    _AS_DATETIME,
    _AS_UTC,
    Rule(type=StorageType.TEXT, value="$c", holds=_matches(_NUMBERLIKE), note=_UNTYPED),
    Rule(type=StorageType.TEXT, value="$c"),
)
_TAGGED_RULES = (
    *(
        Rule(
            type=rule.type,
            value=rule.value.replace("$c", cell),
            holds=f"starts_with($c, '{tag}') AND (" + rule.holds.replace("$c", cell) + f") AND {also}",
        )
        for tag, rule, cell, also in (
            ("n", _AS_INTEGER, "substr($c, 2)", "true"),
            ("n", _AS_DECIMAL, "substr($c, 2)", "true"),
            ("b", _AS_BOOLEAN, "substr($c, 2)", "true"),
            ("d", _AS_DATE, "substr($c, 2)", "true"),
            # A spreadsheet knows no dates, only moments: those at midnight throughout are dates.
            ("t", _AS_DATE, "substr($c, 2, 10)", "ends_with($c, ' 00:00:00')"),
            ("t", _AS_DATETIME, "substr($c, 2)", "true"),
        )
    ),
    Rule(type=StorageType.TEXT, value="substr($c, 2)"),
)
_WHOLE_RULES = (
    Rule(
        type=StorageType.INTEGER,
        value="TRY_CAST($c AS BIGINT)",
        holds="$c = trunc($c) AND abs($c) <= 9007199254740992",
    ),
    Rule(type=StorageType.DECIMAL, value="CAST($c AS DOUBLE)"),
)
_WIDE_RULES = (
    Rule(type=StorageType.INTEGER, value="TRY_CAST($c AS BIGINT)", holds="$v IS NOT NULL"),
    Rule(type=StorageType.TEXT, value="CAST($c AS VARCHAR)", note=_WIDE),
)


def _moment(type_: StorageType, value: str, note: str = "", exact: str = "true") -> tuple[Rule, ...]:
    holds = f"isfinite($c) AND {exact} AND {_IN_YEARS}"
    kept = Rule(type=StorageType.TEXT, value="CAST($c AS VARCHAR)", note=_FINE)
    return (Rule(type=type_, value=value, holds=holds, note=note), kept)


_TYPED_RULES: tuple[tuple[str, tuple[Rule, ...]], ...] = (
    ("(TINY|SMALL|BIG)INT|INTEGER|U(TINY|SMALL)INT|UINTEGER",
     (Rule(type=StorageType.INTEGER, value="CAST($c AS BIGINT)"),)),
    (r"UBIGINT|U?HUGEINT|BIGNUM|DECIMAL\(\d+,0\)", _WIDE_RULES),
    ("FLOAT|DOUBLE", (Rule(type=StorageType.DECIMAL, value="CAST($c AS DOUBLE)"),)),
    (r"DECIMAL\(.*\)", (
        Rule(type=StorageType.DECIMAL, value="CAST($c AS DOUBLE)", holds="abs($c) < 1000000000000000"),
        Rule(type=StorageType.TEXT, value="CAST($c AS VARCHAR)", note=_WIDE),
    )),
    ("BOOLEAN", (Rule(type=StorageType.BOOLEAN, value="$c"),)),
    ("DATE", _moment(StorageType.DATE, "$c")),
    ("TIMESTAMP WITH TIME ZONE", _moment(StorageType.DATETIME, "make_timestamp(epoch_us($c))", _UTC)),
    ("TIMESTAMP_NS", _moment(StorageType.DATETIME, "CAST($c AS TIMESTAMP)", exact="epoch_ns($c) % 1000 = 0")),
    ("TIMESTAMP(_S|_MS)?", _moment(StorageType.DATETIME, "CAST($c AS TIMESTAMP)")),
    (r'VARCHAR|JSON|UUID|TIME(_NS)?|ENUM\(.*\)|"NULL"', (_KEPT,)),
)  # fmt: skip


def rules_for(reading: Reading, type_: str) -> tuple[Rule, ...]:
    """The rules of a column that arrives so, in order; none if its type is not read."""
    if reading is Reading.NATIVE:
        found = (rules for pattern, rules in _TYPED_RULES if re.fullmatch(pattern, type_, re.DOTALL))
        return next(found, ())
    return {Reading.TEXT: _TEXT_RULES, Reading.TAGGED: _TAGGED_RULES, Reading.WHOLE: _WHOLE_RULES}[reading]
