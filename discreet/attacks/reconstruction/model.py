"""The equations of published tables for a constraint solver (OR-tools CP-SAT).

1. Each person has one variable for each column of whole numbers and one switch for each word of the others.
2. Persons stand in one fixed order, words before numbers, so that a block is found once and not in every permutation.
3. A count is the number of persons in its group. A mean bounds the sum of their numbers. A median says of the group how
   many are below and above: with an odd count at most half each; with an even one the two in the middle are variables.
4. Every auxiliary variable follows from the persons, so that solutions of the model are blocks one to one.
"""

from __future__ import annotations

from fractions import Fraction
from functools import reduce
from itertools import pairwise
from typing import Any

from discreet.attacks.condition import Clause, Condition
from discreet.attacks.reconstruction.published import Attribute, Person, Publication, Span, Statistic
from discreet.errors import ArgumentError, MissingExtraError

__all__ = ["BlockModel", "solver_library"]


def solver_library() -> Any:
    """CP-SAT, or a word about the extra that brings it."""
    try:
        from ortools.sat.python import cp_model
    except ImportError:
        raise MissingExtraError("reconstruction", library="ortools", extra="attacks") from None
    return cp_model


class BlockModel:
    """The unknown persons of a publication, and the solver's model of what is known of them."""

    def __init__(self, publication: Publication) -> None:
        self.publication = publication
        self.model: Any = solver_library().CpModel()
        self._true = self.model.new_constant(1)
        self._literals: dict[tuple[int, str, str, int], Any] = {}
        self.persons = [{column.name: self._cell(column) for column in publication.columns} for _ in self._indices]
        self._order()
        for rule in publication.rules:
            for index in self._indices:
                self.model.add_implication(self.member(index, rule.when), self.member(index, rule.then))

    @property
    def _indices(self) -> range:
        return range(self.publication.people)

    def require_table(self) -> None:
        """Demand everything that was printed."""
        for row in self.publication.table:
            self.require(row)

    def require(self, row: Statistic) -> None:
        """Demand what one row says."""
        members = self.members(row.where)
        if row.count:
            self._within(sum(members), row.count)
        if row.mean:
            total, count = self.total(members), sum(members)
            scale = row.mean.low.denominator * row.mean.high.denominator
            self.model.add(scale * total >= int(row.mean.low * scale) * count)
            self.model.add(scale * total <= int(row.mean.high * scale) * count)
        if row.median and row.count and row.count.low:
            lower, upper = self.middle(members, int(row.count.low))
            self._within(lower + upper, Span(2 * row.median.low, 2 * row.median.high))

    def members(self, clause: Clause) -> list[Any]:
        """One switch for each person: whether they are in the group."""
        return [self.member(index, clause) for index in self._indices]

    def member(self, index: int, clause: Clause) -> Any:
        """Whether one person is in a group."""
        return self._all([self._holds(index, one) for one in clause])

    def total(self, members: list[Any]) -> Any:
        """The sum of the measured column over a group."""
        parts = []
        for index, inside in enumerate(members):
            number = self._number(index)
            if inside is self._true:
                parts.append(number)
                continue
            column = self._measured()
            part = self.model.new_int_var(min(0, column.low), max(0, column.high), "")
            self.model.add(part == number).only_enforce_if(inside)
            self.model.add(part == 0).only_enforce_if(~inside)
            parts.append(part)
        return sum(parts)

    def middle(self, members: list[Any], count: int) -> tuple[Any, Any]:
        """The two numbers in the middle of a group of that many; one and the same where the count is odd."""
        lower = self._ranked(members, (count + 1) // 2)
        return lower, lower if count % 2 else self._ranked(members, count // 2 + 1)

    def middle_of_any(self, members: list[Any]) -> tuple[Any, Any]:
        """The same of a group of unknown count; both are 0 in an empty one."""
        count = self.model.new_int_var(0, len(members), "")
        self.model.add(count == sum(members))
        some = self._compared(count, 1)
        ranks = [self.model.new_int_var(0, len(members) + 1, "") for _ in range(2)]
        self.model.add_division_equality(ranks[0], count + 1, 2)
        self.model.add_division_equality(ranks[1], count + 2, 2)
        lower, upper = (self._ranked(members, rank, some) for rank in ranks)
        for number in (lower, upper):
            self.model.add(number == 0).only_enforce_if(~some)
        return lower, upper

    def near(self, expression: Any, target: int, width: int) -> None:
        """Demand that an expression is no further than that from a number."""
        self._within(expression, Span(Fraction(target - width), Fraction(target + width)))

    def equal(self, index: int, person: Person) -> Any:
        """Whether one person has exactly this record."""
        columns = self.publication.columns
        return self._all(
            [self._holds(index, Condition(c.name, "=", (value,))) for c, value in zip(columns, person, strict=True)]
        )

    def at_most(self, person: Person, count: int) -> None:
        """Demand that no more than so many persons have this record."""
        self.model.add(sum(self.equal(index, person) for index in self._indices) <= count)

    def read(self, value_of: Any) -> tuple[Person, ...]:
        """The block of a solution, its persons in order of their numbers first."""
        block = []
        for cells in self.persons:
            person = []
            for column in self.publication.columns:
                cell = cells[column.name]
                code = next(at for at, one in enumerate(cell) if value_of(one)) if column.levels else value_of(cell)
                person.append(column.value(int(code)))
            block.append(tuple(person))
        return tuple(sorted(block, key=lambda person: tuple(map(_sortable, person))))

    def _cell(self, column: Attribute) -> Any:
        if not column.levels:
            return self.model.new_int_var(column.low, column.high, "")
        if column.size == 2:
            second = self.model.new_bool_var("")
            return [~second, second]
        switches = [self.model.new_bool_var("") for _ in column.levels]
        self.model.add_exactly_one(switches)
        return switches

    def _order(self) -> None:
        keys = []
        columns = sorted(self.publication.columns, key=lambda column: not column.levels)
        for cells in self.persons:
            key: Any = 0
            for column in columns:
                cell = cells[column.name]
                code = sum(at * one for at, one in enumerate(cell)) if column.levels else cell - column.low
                key = key * column.size + code
            keys.append(key)
        if reduce(lambda size, column: size * column.size, columns, 1) > 1 << 50:
            raise ArgumentError(
                self.publication.title,
                found="columns with too many combinations of values",
                right="there are at most 2^50",
                step="leave out columns that no statistic speaks of",
            )
        for one, other in pairwise(keys):
            self.model.add(one <= other)

    def _holds(self, index: int, one: Condition) -> Any:
        column = self.publication.column(one.column)
        where = f"{self.publication.title}: {one}"
        codes = [column.code(value, where) for value in one.values]
        if column.levels:
            if one.sign not in ("=", "!=", "in"):
                raise ArgumentError(
                    where, found="an order of words", right="words are equal or not", step="use = or !="
                )
            inside = self._any([self.persons[index][column.name][code] for code in codes])
            return ~inside if one.sign == "!=" else inside
        first = codes[0]
        if one.sign in (">=", ">"):
            return self._reaches(index, column, first + (one.sign == ">"))
        if one.sign in ("<", "<="):
            return ~self._reaches(index, column, first + (one.sign == "<="))
        inside = self._any(
            [self._all([self._reaches(index, column, code), ~self._reaches(index, column, code + 1)]) for code in codes]
        )
        return ~inside if one.sign == "!=" else inside

    def _reaches(self, index: int, column: Attribute, bound: int) -> Any:
        """Whether a person's number is at least that."""
        if bound <= column.low or bound > column.high:
            return self._true if bound <= column.low else ~self._true
        key = (index, column.name, ">=", bound)
        if key not in self._literals:
            self._literals[key] = self._compared(self.persons[index][column.name], bound)
        return self._literals[key]

    def _compared(self, number: Any, bound: Any) -> Any:
        """A switch for number >= bound."""
        switch = self.model.new_bool_var("")
        self.model.add(number >= bound).only_enforce_if(switch)
        self.model.add(number < bound).only_enforce_if(~switch)
        return switch

    def _all(self, literals: list[Any]) -> Any:
        if len(literals) < 2:
            return literals[0] if literals else self._true
        both = self.model.new_bool_var("")
        self.model.add_bool_and(literals).only_enforce_if(both)
        self.model.add_bool_or([~one for one in literals] + [both])
        return both

    def _any(self, literals: list[Any]) -> Any:
        return literals[0] if len(literals) == 1 else ~self._all([~one for one in literals])

    def _ranked(self, members: list[Any], rank: Any, some: Any = None) -> Any:
        """The number of that rank within a group: fewer than rank are below it, at least rank are not above it."""
        column = self._measured()
        value = self.model.new_int_var(min(0, column.low), max(0, column.high), "")
        above = self.model.new_int_var(min(0, column.low), max(0, column.high) + 1, "")
        self.model.add(above == value + 1)
        below, upto = [], []
        for index, inside in enumerate(members):
            number = self._number(index)
            below.append(self._all([inside, ~self._compared(number, value)]))
            upto.append(self._all([inside, ~self._compared(number, above)]))
        condition = self._true if some is None else some
        self.model.add(sum(below) <= rank - 1).only_enforce_if(condition)
        self.model.add(sum(upto) >= rank).only_enforce_if(condition)
        return value

    def _measured(self) -> Attribute:
        return self.publication.column(self.publication.measure or "")

    def _number(self, index: int) -> Any:
        return self.persons[index][self._measured().name]

    def _within(self, expression: Any, span: Span) -> None:
        self.model.add(expression >= -int(-span.low // 1))
        self.model.add(expression <= int(span.high // 1))


def _sortable(value: object) -> tuple[int, Fraction | str]:
    return (0, Fraction(value)) if isinstance(value, int) else (1, str(value))
