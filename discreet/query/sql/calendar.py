"""Dates: what a text says of one, what an interval adds to one, and the steps in which parts of one change.

A date counts days since 1970-01-01, a moment seconds since then. A part such as the month is a word for each interval
between the column's public ends; that is why dates need bounds in the contract before they can be grouped.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator
from fractions import Fraction
from math import floor

from discreet.data.contract import Contract
from discreet.errors import ArgumentError
from discreet.measure.expression import Constant
from discreet.measure.span import span_of
from discreet.query.sql.typed import Kind, Quantity, Steps, Word, described
from discreet.query.sql.written import nearest, shown

__all__ = ["iso", "later", "moment_of", "part_of", "truncated", "word_of"]

_EPOCH = datetime.datetime(1970, 1, 1)
_DAY = 86_400
_STEPS_AT_MOST = 10_000
_UNITS = ("second", "minute", "hour", "day", "week", "month", "quarter", "year")
_PARTS: dict[str, tuple[str, Callable[[datetime.datetime], int]]] = {
    "year": ("year", lambda moment: moment.year),
    "quarter": ("quarter", lambda moment: (moment.month + 2) // 3),
    "month": ("month", lambda moment: moment.month),
    "week": ("week", lambda moment: moment.isocalendar().week),
    "day": ("day", lambda moment: moment.day),
    "dayofweek": ("day", lambda moment: moment.isoweekday() % 7),
    "isodow": ("day", lambda moment: moment.isoweekday()),
    "dayofyear": ("day", lambda moment: moment.timetuple().tm_yday),
    "hour": ("hour", lambda moment: moment.hour),
    "minute": ("minute", lambda moment: moment.minute),
}
_ALSO = {"dow": "dayofweek", "weekday": "dayofweek", "doy": "dayofyear"}


def moment_of(text: str, kind: Kind) -> Quantity:
    """The date or moment that a text writes."""
    try:
        if kind == "date":
            return Quantity(
                Constant(Fraction((datetime.date.fromisoformat(text.strip()) - _EPOCH.date()).days)), "date"
            )
        moment = datetime.datetime.fromisoformat(text.strip())
    except ValueError:
        raise ArgumentError(
            "expression",
            found=f"the text {shown(text)}, which is no {kind}",
            right="dates are written '2020-12-31', moments '2020-12-31 23:59:59'",
            step="write it so",
        ) from None
    if moment.tzinfo is not None:
        raise ArgumentError(
            "expression",
            found=f"the text {shown(text)}, which has a time zone",
            right="moments are in the table's own clock",
            step="leave the zone out",
        )
    since = moment - _EPOCH
    seconds = Fraction(since.days * _DAY + since.seconds) + Fraction(since.microseconds, 10**6)
    return Quantity(Constant(seconds), "moment")


def later(date: Quantity, count: int, unit: str) -> Quantity:
    """A date so many units later, or earlier."""
    days = {"day": 1, "week": 7}.get(unit)
    if isinstance(date.value, Constant):
        return _constant_later(date.value.number, date.kind, count, unit)
    raise ArgumentError(
        "expression",
        found=f"{described(date, None)}, and {count} {unit}s" if days is None else described(date, None),
        right="an interval is added to a date that is written out",
        step="move it to the other side, as in d < DATE '2020-12-31' - INTERVAL 1 MONTH",
    )


def truncated(of: Quantity, unit: str, contract: Contract) -> Steps:
    """The first day or moment of the unit that it lies in."""
    _require_known(unit, _UNITS)
    whole = unit not in ("second", "minute", "hour")
    return _steps(of, unit, lambda moment: moment.date().isoformat() if whole else str(moment), contract, dated=True)


def part_of(of: Quantity, part: str, contract: Contract) -> Steps:
    """A part of it as a number."""
    name = _ALSO.get(part, part)
    _require_known(name, tuple(_PARTS))
    unit, read = _PARTS[name]
    return _steps(of, unit, lambda moment: Fraction(read(moment)), contract)


def word_of(number: Fraction, kind: Kind) -> str:
    """A date or moment as text."""
    moment = _at(number, kind)
    return moment.date().isoformat() if kind == "date" else str(moment)


def iso(text: str) -> str:
    """A date or moment as a text that sorts as it does, to the second."""
    return text if len(text) > len("2020-12-31") else f"{text} 00:00:00"


def _steps(
    of: Quantity, unit: str, word: Callable[[datetime.datetime], Word], contract: Contract, *, dated: bool = False
) -> Steps:
    if of.kind == "number":
        raise ArgumentError(
            "expression",
            found=described(of, contract),
            right="parts are taken of dates and moments",
            step="name a column of dates",
        )
    span = span_of(of.value, contract)
    low, high = span.step * span.low, span.step * span.high
    edges: list[Fraction] = []
    words: list[Word] = []
    for start in _starts(_at(low, of.kind), _at(high, of.kind), unit):
        if len(edges) == _STEPS_AT_MOST:
            raise ArgumentError(
                "expression",
                found=f"{described(of, contract)}, with more than {_STEPS_AT_MOST:,} {unit}s",
                right="the contract's low and high say which there can be",
                step="declare narrower ones, or take a longer unit",
            )
        edges.append(_number(start, of.kind))
        words.append(word(start))
    return Steps.joined(of.value, [*edges, high + span.step], words, dated=dated)


def _starts(first: datetime.datetime, last: datetime.datetime, unit: str) -> Iterator[datetime.datetime]:
    start = _floor(first, unit)
    while start <= last:
        yield start
        try:
            start = _next(start, unit)
        except (OverflowError, ValueError):  # beyond the year 9999
            return


def _floor(moment: datetime.datetime, unit: str) -> datetime.datetime:
    midnight = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    match unit:
        case "second":
            return moment.replace(microsecond=0)
        case "minute":
            return moment.replace(second=0, microsecond=0)
        case "hour":
            return moment.replace(minute=0, second=0, microsecond=0)
        case "week":
            return midnight - datetime.timedelta(days=min(moment.weekday(), (midnight - datetime.datetime.min).days))
        case "month":
            return midnight.replace(day=1)
        case "quarter":
            return midnight.replace(month=moment.month - (moment.month - 1) % 3, day=1)
        case "year":
            return midnight.replace(month=1, day=1)
    return midnight


def _next(start: datetime.datetime, unit: str) -> datetime.datetime:
    if unit in ("month", "quarter", "year"):
        months = {"month": 1, "quarter": 3, "year": 12}[unit]
        return _months_later(start, months)
    return start + datetime.timedelta(**{f"{unit}s": 1})


def _months_later(moment: datetime.datetime, months: int) -> datetime.datetime:
    """The same day of another month, or that month's last one."""
    years, month = divmod(moment.year * 12 + moment.month - 1 + months, 12)
    first = moment.replace(year=years, month=month + 1, day=1)
    following = (first.replace(day=28) + datetime.timedelta(days=4)).replace(day=1)
    return first.replace(day=min(moment.day, (following - datetime.timedelta(days=1)).day))


def _constant_later(number: Fraction, kind: Kind, count: int, unit: str) -> Quantity:
    moment = _at(number, kind)
    try:
        if unit in ("month", "quarter", "year"):
            moment = _months_later(moment, count * {"month": 1, "quarter": 3, "year": 12}[unit])
        else:
            moment += datetime.timedelta(**{f"{unit}s": count})
    except (OverflowError, ValueError):
        raise ArgumentError(
            "expression",
            found="a date beyond all dates",
            right="years run from 1 to 9999",
            step="take another interval",
        ) from None
    finer = kind == "date" and moment.time() != datetime.time.min
    return Quantity(Constant(_number(moment, "moment" if finer else kind)), "moment" if finer else kind)


def _at(number: Fraction, kind: Kind) -> datetime.datetime:
    seconds = number * (_DAY if kind == "date" else 1)
    return _EPOCH + datetime.timedelta(seconds=floor(seconds), microseconds=int((seconds % 1) * 10**6))


def _number(moment: datetime.datetime, kind: Kind) -> Fraction:
    since = moment - _EPOCH
    seconds = Fraction(since.days * _DAY + since.seconds) + Fraction(since.microseconds, 10**6)
    return seconds / _DAY if kind == "date" else seconds


def _require_known(unit: str, units: tuple[str, ...]) -> None:
    if unit not in units:
        raise ArgumentError(
            "expression",
            found=f"the part {shown(unit)} of a date",
            right=nearest(unit, units),
            step=f"take one of {', '.join(units)}",
        )
