"""Published tables in a small language: what a person's record holds, which numbers were printed, which rules hold.

    title: Statistics of a block
    columns:
      age: 0..125                      # a whole number between bounds
      sex: [female, male]              # one of a few words
    suppressed: {sign: D, count: 0..2} # what a suppressed count may be; without it nothing is known of it
    rules:
      - {name: the married are 15 or over, rule: "status = married -> age >= 15"}
    table:
      - {name: 1A, where: everyone, count: 7, median: 30, mean: 38}
      - {name: 3A, where: "status = single and age >= 18", count: D, median: D, mean: D}

A number may also be an interval, `37.5..38.5`. A mean is taken to be rounded to the most decimals that any mean of the
table is printed with; medians and counts are exact. Medians and means speak of the column `measure`, by default the
only one of whole numbers. `people` says how many there are where no row counts everyone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias

from discreet.attacks.condition import Clause, Value, write_clause
from discreet.check import known
from discreet.errors import ArgumentError

__all__ = ["Attribute", "Person", "Publication", "Rule", "Span", "Statistic"]

Person: TypeAlias = tuple[Value, ...]
_PEOPLE_AT_MOST = 500


@dataclass(frozen=True, slots=True)
class Span:
    """All numbers between two ends, both included."""

    low: Fraction
    high: Fraction

    @property
    def exact(self) -> bool:
        """Whether it is a single number."""
        return self.low == self.high

    def __str__(self) -> str:
        return _decimal(self.low) if self.exact else f"{_decimal(self.low)}..{_decimal(self.high)}"


@dataclass(frozen=True, slots=True)
class Attribute:
    """What a column may hold: whole numbers between bounds, or words."""

    name: str
    low: int = 0
    high: int = 0
    levels: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """How many values there are."""
        return len(self.levels) or self.high - self.low + 1

    def code(self, value: Value, where: str) -> int:
        """The whole number that stands for a value."""
        if self.levels:
            known(f"{where}: value of {self.name}", str(value), self.levels, step="take a word of the column")
            return self.levels.index(str(value))
        if isinstance(value, str) or value != int(value):
            raise ArgumentError(
                where, found=f"{value!r} for {self.name}", right="it is a whole number", step="correct the value"
            )
        return int(value)

    def value(self, code: int) -> Value:
        """The value a whole number stands for."""
        return self.levels[code] if self.levels else code


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistic:
    """One row of a published table: a group, and what was printed of it. None is what nothing is known of."""

    name: str
    where: Clause
    count: Span | None = None
    median: Span | None = None
    mean: Span | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A fact about every single person: whoever is in `when` is in `then`."""

    name: str
    when: Clause
    then: Clause


@dataclass(frozen=True, slots=True, kw_only=True)
class Publication:
    """Everything that is public about a block of people."""

    title: str
    columns: tuple[Attribute, ...]
    table: tuple[Statistic, ...]
    rules: tuple[Rule, ...] = ()
    people: int
    measure: str | None = None

    def __post_init__(self) -> None:
        if not 1 <= self.people <= _PEOPLE_AT_MOST:
            raise ArgumentError(
                self.title,
                found=f"{self.people} people",
                right=f"a block has between 1 and {_PEOPLE_AT_MOST}",
                step="take the tables of a smaller area",
            )
        for row in self.table:
            if (row.median or row.mean) and self.measure is None:
                raise ArgumentError(
                    f"{self.title}, row {row.name}",
                    found="a median or a mean, and no single column of whole numbers",
                    right="they speak of one column",
                    step="name it under measure",
                )
            if row.median and not (row.count and row.count.exact):
                raise ArgumentError(
                    f"{self.title}, row {row.name}",
                    found="a median without an exact count",
                    right="where the middle lies depends on the count",
                    step="give the count, or leave the median out",
                )
        for clause in (*(row.where for row in self.table), *(part for r in self.rules for part in (r.when, r.then))):
            for condition in clause:
                self.column(condition.column)

    def column(self, name: str) -> Attribute:
        """The column of that name."""
        names = tuple(column.name for column in self.columns)
        return self.columns[names.index(known("column", name, names, step="name a column of the block"))]

    def with_rows(self, names: tuple[str, ...]) -> Publication:
        """The same with these rows of the table alone. The number of people stays public."""
        for name in names:
            known("row", name, tuple(row.name for row in self.table), step="name a row of the table")
        return replace(self, table=tuple(row for row in self.table if row.name in names))

    def without_row(self, name: str) -> Publication:
        """The same without one row."""
        return self.with_rows(tuple(row.name for row in self.table if row.name != name))

    def equations(self) -> tuple[str, ...]:
        """What each row says about the unknown records, as equations in words."""
        lines = [f"{self.people} people; " + "; ".join(map(_domain, self.columns))]
        for row in self.table:
            of = write_clause(row.where)
            if row.count:
                lines.append(f"{row.name}: #({of}) = {row.count}")
            if row.mean and row.count and row.count.exact:
                low, high = row.mean.low * row.count.low, row.mean.high * row.count.low
                total = Span(Fraction(-(-low // 1)), Fraction(high // 1))
                lines.append(f"{row.name}: Σ {self.measure} ({of}) = {total}")
            if row.median:
                lines.append(f"{row.name}: middle {self.measure} ({of}) = {row.median}")
        return (*lines, *(f"{write_clause(one.when)} → {write_clause(one.then)}" for one in self.rules))

    def allows(self, person: Person) -> bool:
        """Whether a record keeps to the columns and the rules."""
        record = dict(zip((column.name for column in self.columns), person, strict=True))
        return all(
            not all(one.holds(record[one.column]) for one in rule.when)
            or all(one.holds(record[one.column]) for one in rule.then)
            for rule in self.rules
        )


def _domain(column: Attribute) -> str:
    return f"{column.name} in " + (" | ".join(column.levels) if column.levels else f"{column.low}..{column.high}")


def _decimal(number: Fraction) -> str:
    return str(number.numerator) if number.denominator == 1 else f"{float(number):g}"
