"""Conditions in one form: whatever order they were written in, equal conditions become equal data.

Conditions that are joined are sorted and stand once; a constant stands on the right; a list of values is sorted. So a
question that is asked again in other words is recognised and not paid for twice.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any

from discreet.data.contract import Contract
from discreet.errors import ArgumentError
from discreet.measure.expression import (
    And,
    Compare,
    Constant,
    Missing,
    Not,
    OneOf,
    Or,
    Predicate,
    Sign,
    Times,
    plain,
)
from discreet.query.sql.calendar import iso, moment_of, word_of
from discreet.query.sql.typed import (
    FALSE,
    Cases,
    Fixed,
    Person,
    Quantity,
    Row,
    Steps,
    Truth,
    Word,
    Wording,
    counted_only,
    described,
    quantity,
    truth_value,
)
from discreet.query.sql.written import nearest, shown

__all__ = ["aligned", "all_of", "among", "any_of", "compared", "missing", "negated"]

_TURNED: dict[Sign, Sign] = {"<": ">", "<=": ">=", "=": "=", "<>": "<>", ">": "<", ">=": "<="}
_HOLDS: dict[Sign, Callable[[Any, Any], bool]] = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    "=": lambda a, b: a == b,
    "<>": lambda a, b: a != b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}
_DAY = Constant(Fraction(86_400))


def all_of(parts: Iterable[Predicate]) -> Predicate:
    """All of the conditions, which are at least one."""
    ordered = _ordered(part for whole in parts for part in (whole.parts if isinstance(whole, And) else (whole,)))
    return ordered[0] if len(ordered) == 1 else And(ordered)


def any_of(parts: Iterable[Predicate]) -> Predicate:
    """Any of the conditions, which are at least one."""
    ordered = _ordered(part for whole in parts for part in (whole.parts if isinstance(whole, Or) else (whole,)))
    return ordered[0] if len(ordered) == 1 else Or(ordered)


def negated(predicate: Predicate) -> Predicate:
    """The contrary; a double one is none."""
    return predicate.part if isinstance(predicate, Not) else Not(predicate)


def missing(row: Row, contract: Contract) -> Predicate:
    """Whether there is nothing."""
    match row:
        case Person():
            raise counted_only(row)
        case Wording(text):
            return Missing(text)
        case Truth(predicate):
            return Missing(truth_value(predicate))
        case Steps(of=of):
            return Missing(of)
        case Cases():
            return Missing(row.known)
        case Fixed(what):
            return negated(FALSE) if what is None else FALSE
    return Missing(quantity(row, contract).value)


def compared(left: Row, sign: Sign, right: Row, contract: Contract) -> Predicate:
    """One row compared with another; a constant goes to the right."""
    if _is_constant(left) and not _is_constant(right):
        return compared(right, _TURNED[sign], left, contract)
    for row in (left, right):
        if isinstance(row, Person):
            raise counted_only(row)
        if row == Fixed(None):
            raise ArgumentError(
                "expression",
                found="a comparison with NULL, which is never true",
                right="what is missing is asked for by IS NULL",
                step="write IS NULL or IS NOT NULL",
            )
    match left, right:
        case Wording(), Fixed(bool() as what) if left.boolean:
            return _one_of(left, [str(what).lower()], sign=sign)
        case Wording(), Fixed(str() as text):
            return _one_of(left, [text], sign=sign)
        case Wording(), Quantity(Constant(number), "number") if left.keys is not None:
            return _one_of(left, [_number_text(number)], sign=sign)
        case Steps(), Quantity(Constant(number), "number"):
            return _within(left, lambda word: isinstance(word, Fraction) and _HOLDS[sign](word, number))
        case Steps(dated=True), (Fixed(str()) | Quantity(Constant(), "date" | "moment")):
            date = iso(_date_text(right))
            return _within(left, lambda word: isinstance(word, str) and _HOLDS[sign](iso(word), date))
        case ((Steps() | Cases()), Fixed(str() as text)) if sign in ("=", "<>") and _is_worded(left):
            return _coded(left, text, sign)
        case Truth(), (Truth() | Fixed(bool())):
            return Compare(quantity(left, contract).value, sign, quantity(right, contract).value)
    one, other = aligned(left, right, contract)
    return Compare(one.value, sign, other.value)


def among(row: Row, options: Sequence[Row], contract: Contract) -> Predicate:
    """The row is one of several constants."""
    if isinstance(row, Wording):
        texts = [_text_among(row, option, contract) for option in options]
        return _one_of(row, texts)
    if isinstance(row, Steps) and all(isinstance(one, Quantity) and one.kind == "number" for one in options):
        numbers = {one.value.number for one in options if isinstance(one, Quantity) and isinstance(one.value, Constant)}
        return _within(row, lambda word: word in numbers)
    return any_of(compared(row, "=", option, contract) for option in options)


def aligned(left: Row, right: Row, contract: Contract) -> tuple[Quantity, Quantity]:
    """Two quantities of one kind: a text beside a date is a date, a date beside a moment is its midnight."""
    one, other = _beside(left, right, contract), _beside(right, left, contract)
    if one.kind == other.kind:
        return one, other
    if {one.kind, other.kind} == {"date", "moment"}:
        return _as_moment(one), _as_moment(other)
    raise ArgumentError(
        "expression",
        found=f"{described(left, contract)}, beside {described(right, contract)}",
        right="numbers go with numbers and dates with dates",
        step="write a date as DATE '2020-12-31', a number without quotes",
    )


def _beside(row: Row, other: Row, contract: Contract) -> Quantity:
    if isinstance(row, Fixed) and isinstance(row.what, str):
        kind = other.kind if isinstance(other, Quantity) else "number"
        if kind != "number":
            return moment_of(row.what, kind)
        raise ArgumentError(
            "expression",
            found=f"{described(other, contract)}, beside the text {shown(row.what)}",
            right="numbers are written without quotes, and texts are compared with texts",
            step="remove the quotes, or name a column of texts",
        )
    return quantity(row, contract)


def _as_moment(one: Quantity) -> Quantity:
    if one.kind == "moment":
        return one
    if isinstance(one.value, Constant):
        return Quantity(Constant(one.value.number * _DAY.number), "moment")
    return Quantity(Times(one.value, _DAY), "moment")


def _one_of(row: Wording, texts: Sequence[str], *, sign: Sign = "=") -> Predicate:
    if sign not in ("=", "<>"):
        raise ArgumentError(
            f"column {row.text.name!r}",
            found=f"texts compared by {sign}",
            right="texts are equal or not",
            step="use =, <>, IN or LIKE",
        )
    if row.keys is not None:
        for text in texts:
            if text not in row.keys:
                raise ArgumentError(
                    f"column {row.text.name!r}",
                    found=f"there is no key {shown(text)}",
                    right=nearest(text, row.keys),
                    step="name keys as the contract lists them",
                )
    found = OneOf(row.text, tuple(sorted(set(texts))))
    return found if sign == "=" else Not(found)


def _date_text(row: Row) -> str:
    if isinstance(row, Fixed) and isinstance(row.what, str):
        row = moment_of(row.what, "moment")
    assert isinstance(row, Quantity)
    assert isinstance(row.value, Constant)
    return word_of(row.value.number, row.kind)


def _text_among(row: Wording, option: Row, contract: Contract) -> str:
    match option:
        case Fixed(str() as text):
            return text
        case Fixed(bool() as what) if row.boolean:
            return str(what).lower()
        case Quantity(Constant(number), "number") if row.keys is not None:
            return _number_text(number)
    raise ArgumentError(
        f"column {row.text.name!r}",
        found=f"{described(option, contract)} in the list",
        right="a list for texts holds texts as they are written",
        step="write 'texts' in single quotes; for NULL add OR … IS NULL",
    )


def _within(steps: Steps, holds: Callable[[Word], bool]) -> Predicate:
    """The quantity lies in one of the intervals whose word fits; neither where it is missing."""
    last = len(steps.words) - 1
    runs: list[list[int]] = []
    for at in (at for at, word in enumerate(steps.words) if holds(word)):
        if runs and runs[-1][1] == at - 1:
            runs[-1][1] = at
        else:
            runs.append([at, at])
    if not runs:
        return Compare(steps.of, "<", Constant(steps.edges[0]))
    parts = []
    for first, final in runs:
        ends: list[Predicate] = (
            [Compare(steps.of, ">=", Constant(steps.edges[first]))] if first or final == last else []
        )
        ends += [Compare(steps.of, "<", Constant(steps.edges[final + 1]))] if final != last else []
        parts.append(all_of(ends))
    return any_of(parts)


def _coded(row: Steps | Cases, text: str, sign: Sign) -> Predicate:
    if text not in row.words:
        raise ArgumentError(
            "expression",
            found=f"no branch gives the text {shown(text)}",
            right=nearest(text, [word for word in row.words if isinstance(word, str)]),
            step="name one of the texts that the expression gives",
        )
    if isinstance(row, Steps):
        found = _within(row, lambda word: word == text)
        return found if sign == "=" else Not(found)
    return Compare(row.known, sign, Constant(Fraction(row.words.index(text))))


def _is_worded(row: Steps | Cases) -> bool:
    return any(isinstance(word, str) for word in row.words)


def _is_constant(row: Row) -> bool:
    return isinstance(row, Fixed) or (isinstance(row, Quantity) and isinstance(row.value, Constant))


def _number_text(number: Fraction) -> str:
    return str(number) if number.denominator == 1 else repr(float(number))


def _ordered(parts: Iterable[Predicate]) -> tuple[Predicate, ...]:
    every = dict.fromkeys(parts)
    return tuple(sorted(every, key=lambda part: json.dumps(plain(part), ensure_ascii=True)))
