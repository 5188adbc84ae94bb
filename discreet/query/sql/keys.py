"""Keys: what GROUP BY, COUNT(DISTINCT …) and MODE sort rows by, as groups with public cells.

1. A category, a boolean, a number on its grid or a date has the cells its contract says; what is missing follows the
   contract's rule.
2. A step function has a cell for each word; so has a CASE, where NULL is a word like any other.
3. A condition has the cells false and true. What is missing makes a third one where a column's rule says `nulls: key`.
4. A text without public keys has to be found first, at a price in δ.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from discreet.data.column import NullRule
from discreet.data.contract import Contract
from discreet.errors import ArgumentError
from discreet.measure.expression import (
    Case,
    Column,
    Constant,
    Missing,
    Not,
    OneOf,
    Predicate,
    Text,
    Value,
    column_names,
)
from discreet.measure.groups import Bins, Categories, Each, Group, axis_of
from discreet.measure.span import span_of
from discreet.query.question import GroupKey
from discreet.query.sql.calendar import word_of
from discreet.query.sql.typed import (
    Cases,
    Kind,
    Person,
    Quantity,
    Row,
    Steps,
    Truth,
    Word,
    Wording,
    described,
    truth_value,
)

__all__ = ["Sorted", "countable", "group_key", "is_numeric", "sorted_by"]

_WORDS_AT_MOST = 20_000


@dataclass(frozen=True, slots=True)
class Sorted:
    """Cells, and the words for them; or the text that they are to be found in."""

    group: Group | None = None
    text: Text | None = None
    words: tuple[Word, ...] | None = None


def group_key(name: str, key: Sorted) -> GroupKey:
    """The key of a question."""
    return GroupKey(name=name, group=key.group, text=key.text, words=key.words)


def is_numeric(key: Sorted, contract: Contract) -> bool:
    """Whether the key is a number in the answer."""
    if key.words is not None:
        return not any(isinstance(word, str) for word in key.words)
    if not isinstance(key.group, Each):
        return False
    value = key.group.value
    return not isinstance(value, Column) or contract.steps().get(value.name) is not None


def sorted_by(row: Row, contract: Contract) -> Sorted:
    """The cells of a row."""
    match row:
        case Wording(text, keys):
            return Sorted(text=text) if keys is None else Sorted(group=Categories(text))
        case Quantity(Constant()):
            pass
        case Quantity(value, kind):
            return _each(value, kind, contract)
        case Truth(predicate):
            return _truths(predicate, contract)
        case Steps():
            return _steps(row, contract)
        case Cases(code, words):
            return Sorted(group=Each(code), words=words)
        case Person(name):
            raise ArgumentError(
                "expression",
                found=f"column {name!r}, which tells persons apart",
                right="no group is as small as one person",
                step="group by another column; count persons by COUNT(DISTINCT …)",
            )
    raise ArgumentError(
        "expression",
        found=described(row, contract),
        right="a key tells rows apart",
        step="name a column, or its place in the SELECT list",
    )


def countable(row: Row, contract: Contract, where: Predicate | None) -> Group:
    """The cells of which COUNT(DISTINCT …) counts those that have a row: never the one for what is missing."""
    found = sorted_by(row, contract)
    if found.group is None:
        raise ArgumentError(
            f"column {_column_of(found)!r}",
            found="no public keys",
            right="different values are counted among public ones",
            step="declare it as a category with its keys; persons are counted by COUNT(DISTINCT the person's column)",
        )
    axis = axis_of(found.group, contract)
    if where is None and not axis.missing and (found.words is None or None not in found.words):
        return found.group
    match found.group:
        case Categories(text):
            labels = [label for label in axis.labels if isinstance(label, str)]
            code: Value = Case(tuple((OneOf(text, (key,)), Constant(Fraction(at))) for at, key in enumerate(labels)))
        case Each(value):
            code = row.known if isinstance(row, Cases) else value
        case Bins(value, edges):
            code = Steps(value, edges, tuple(Fraction(at) for at in range(len(edges) - 1))).numbered(
                [Fraction(at) for at in range(len(edges) - 1)]
            )
    # An expression, even one that changes nothing, has no cell for what is missing.
    return Each(Case(((where, code),))) if where is not None else Each(_unnamed(code))


def _each(value: Value, kind: Kind, contract: Contract) -> Sorted:
    group = Each(value)
    axis = axis_of(group, contract)
    if not isinstance(value, Column) and _may_be_a_key(value, contract):
        span = span_of(value, contract)
        numbers = tuple(label for label in axis.labels if isinstance(label, Fraction))
        empty = Constant(span.step * (span.high + 1))
        filled = Case(((Missing(value), empty),), value)
        _require_few(axis.size)
        return Sorted(group=Each(filled), words=(*numbers, None))
    if kind == "number" or isinstance(value, Column):
        return Sorted(group=group)
    _require_few(axis.size)
    words = tuple(word_of(label, kind) if isinstance(label, Fraction) else None for label in axis.labels)
    return Sorted(group=group, words=words)


def _truths(predicate: Predicate, contract: Contract) -> Sorted:
    if _may_be_a_key(predicate, contract):
        code = truth_value(predicate, otherwise=Constant(Fraction(2)))
        return Sorted(group=Each(code), words=("false", "true", None))
    return Sorted(group=Each(truth_value(predicate)), words=("false", "true"))


def _steps(row: Steps, contract: Contract) -> Sorted:
    words = tuple(dict.fromkeys(row.words))
    if len(words) == len(row.words) and (isinstance(row.of, Column) or not _may_be_a_key(row.of, contract)):
        group: Group = Bins(row.of, row.edges)
        if row.dated and isinstance(row.of, Column):  # an interval of dates is called by its first one
            return Sorted(group=group)
        return Sorted(group=group, words=(*words, None) if axis_of(group, contract).missing else words)
    code = row.numbered([Fraction(words.index(word)) for word in row.words])
    if _may_be_a_key(row.of, contract):
        filled = Case(((Missing(row.of), Constant(Fraction(len(words)))),), code)
        return Sorted(group=Each(filled), words=(*words, None))
    return Sorted(group=Each(code), words=words)


def _may_be_a_key(part: Value | Predicate, contract: Contract) -> bool:
    """Whether what is missing is a key of its own."""
    return any(contract.columns[name].nulls is NullRule.KEY for name in column_names(part))


def _unnamed(code: Value) -> Value:
    return Case(((Not(Missing(code)), code),)) if isinstance(code, Column) else code


def _column_of(key: Sorted) -> str:
    return key.text.name if key.text is not None else ""


def _require_few(count: int) -> None:
    if count > _WORDS_AT_MOST:
        raise ArgumentError(
            "expression",
            found=f"{count:,} keys",
            right=f"dates and expressions have at most {_WORDS_AT_MOST:,}",
            step="group by date_trunc, or declare narrower bounds",
        )
