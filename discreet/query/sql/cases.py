"""CASE and COALESCE: choices between branches, as numbers, as words, or as conditions."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from discreet.data.contract import Contract
from discreet.errors import ArgumentError
from discreet.measure.expression import Case, Compare, Constant, OneOf, Predicate, Value
from discreet.query.sql.compare import missing, negated
from discreet.query.sql.typed import (
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
    nothing,
    quantity,
)

__all__ = ["case_of", "coalesced_words", "worded"]

Branch = tuple[Predicate, Row]


def case_of(branches: Sequence[Branch], otherwise: Row, contract: Contract) -> Row:
    """The row of the first branch whose condition is true, else `otherwise`."""
    results = [*(then for _, then in branches), otherwise]
    given = [one for one in results if one != Fixed(None)]
    if not given:
        raise ArgumentError(
            "expression", found="a CASE that gives nothing but NULL", right="it gives something", step="write THEN 1"
        )
    if all(map(_is_condition, given)) and not all(isinstance(one, Wording) for one in given):
        chosen = _numbers(branches, otherwise, contract)
        return Truth(Compare(chosen.value, "=", Constant(Fraction(1))))
    if any(map(_is_text, given)):
        return _words(branches, otherwise, contract)
    numbers = _numbers(branches, otherwise, contract)
    if numbers.kind == "number" and all(map(_is_finite, given)):
        coded = _words(branches, otherwise, contract)
        return Cases(coded.code, coded.words, numbers.value)
    return numbers


def coalesced_words(parts: Sequence[Row], contract: Contract) -> Row:
    """The first text that is there."""
    branches = [(negated(missing(part, contract)), part) for part in parts[:-1]]
    return _words(branches, parts[-1], contract)


def worded(row: Row, contract: Contract) -> Cases:
    """A row as a choice between words."""
    match row:
        case Cases():
            return row
        case Fixed(str() as text):
            return Cases(Constant(Fraction(0)), (text,))
        case Fixed(None):
            return Cases(Constant(Fraction(0)), (None,))
        case Quantity(Constant(number), "number"):
            return Cases(Constant(Fraction(0)), (number,))
        case Wording(text, keys) if keys is not None:
            branches = tuple((OneOf(text, (key,)), Constant(Fraction(at))) for at, key in enumerate(keys))
            return Cases(Case(branches), keys)
        case Steps():
            words = tuple(dict.fromkeys(row.words))
            return Cases(row.numbered([Fraction(words.index(word)) for word in row.words]), words)
    if isinstance(row, Person):
        raise counted_only(row)
    raise ArgumentError(
        "expression",
        found=described(row, contract),
        right="here stand texts, or columns whose keys the contract lists",
        step="write the texts out, or declare the column as a category with its keys",
    )


def _words(branches: Sequence[Branch], otherwise: Row, contract: Contract) -> Cases:
    """The codes of all branches, over the words that any of them gives; NULL is the last of them."""
    coded = [(when, worded(then, contract)) for when, then in branches]
    last = worded(otherwise, contract)
    every = list(dict.fromkeys(word for one in [*(then for _, then in coded), last] for word in one.words))
    every = [word for word in every if word is not None] + [None] * (None in every)
    code = Case(tuple((when, _recoded(then, every)) for when, then in coded), _recoded(last, every))
    return Cases(code, tuple(every))


def _recoded(one: Cases, every: Sequence[Word]) -> Value:
    """The code of one choice by the words of all."""
    if isinstance(one.code, Constant):
        return Constant(Fraction(every.index(one.words[int(one.code.number)])))
    places = [every.index(word) for word in one.words]
    if places == list(range(len(places))):
        return one.code
    pairs = ((Compare(one.code, "=", Constant(Fraction(at))), Constant(Fraction(to))) for at, to in enumerate(places))
    return Case(tuple(pairs))


def _numbers(branches: Sequence[Branch], otherwise: Row, contract: Contract) -> Quantity:
    given = [quantity(one, contract) for one in [*(then for _, then in branches), otherwise] if one != Fixed(None)]
    if len({one.kind for one in given}) > 1:
        raise ArgumentError(
            "expression",
            found="branches that are numbers beside branches that are dates",
            right="all branches of a CASE are of one kind",
            step="write dates as DATE '2020-12-31'",
        )
    empty = nothing([one.value for one in given], contract)
    made = [(when, empty if then == Fixed(None) else quantity(then, contract).value) for when, then in branches]
    last = None if otherwise == Fixed(None) else quantity(otherwise, contract).value
    return Quantity(Case(tuple(made), last), given[0].kind)


def _is_condition(row: Row) -> bool:
    match row:
        case Truth() | Wording(boolean=True) | Fixed(bool()):
            return True
    return False


def _is_text(row: Row) -> bool:
    match row:
        case Wording() | Fixed(str()):
            return True
        case Cases(words=words) | Steps(words=words):
            return any(isinstance(word, str) for word in words)
    return False


def _is_finite(row: Row) -> bool:
    return isinstance(row, Cases) or (isinstance(row, Quantity) and isinstance(row.value, Constant))
