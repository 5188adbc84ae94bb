"""The labels of cells as an answer shows them, and as terms compute with them.

A category is its key; a step of a number is that number; of a date or a time, that day or moment. An interval is
written with its ends, and one of a date column is named by its first day, as date_trunc does. Missing is None.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from datetime import date
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from discreet.data.column import DateColumn, DatetimeColumn
from discreet.data.contract import Contract
from discreet.guarantee import number_text
from discreet.measure.expression import Column
from discreet.measure.groups import Bins, Categories, Group, Label, Magnitudes
from discreet.query.question import GroupKey
from discreet.query.term import Numbers

__all__ = ["Shown", "as_numbers", "shown_labels", "shown_value"]

Shown: TypeAlias = str | int | float | date | datetime.datetime | None
_EPOCH = datetime.datetime(1970, 1, 1)


def shown_labels(key: GroupKey, labels: Sequence[Label], contract: Contract) -> list[Shown]:
    """The labels of one key's cells, in order."""
    if key.words is not None and labels:
        words = [shown_value(word, None) if isinstance(word, Fraction) else word for word in key.words]
        return [*words, *([None] * (len(labels) - len(words)))]
    last = max((at for at, label in enumerate(labels) if label is not None), default=0)
    return [_shown(key.group, label, contract, closed=at == last) for at, label in enumerate(labels)]


def shown_value(number: Fraction, column: object) -> Shown:
    """A number of steps from a column's own origin, as people write it."""
    if isinstance(column, DateColumn):
        return (_EPOCH + datetime.timedelta(days=int(number))).date()
    if isinstance(column, DatetimeColumn):
        return _EPOCH + datetime.timedelta(seconds=int(number))
    return int(number) if number.denominator == 1 else float(number)


def as_numbers(labels: Sequence[Shown]) -> Numbers:
    """Labels as an array for terms: numbers where all are, else texts; missing is NaN or None."""
    numbers = [np.nan if label is None else float(label) for label in labels if not isinstance(label, str | date)]
    if len(numbers) == len(labels):
        return np.array(numbers)
    array = np.empty(len(labels), dtype=object)
    for at, label in enumerate(labels):
        array[at] = label if label is None or isinstance(label, str) else str(label)
    return array


def _shown(group: Group | None, label: Label, contract: Contract, *, closed: bool) -> Shown:
    if label is None or isinstance(label, str):
        return label
    value = None if group is None or isinstance(group, Categories | Magnitudes) else group.value
    column = contract.columns[value.name] if isinstance(value, Column) else None
    if isinstance(label, Fraction):
        return shown_value(label, column)
    low, high = label
    if isinstance(group, Bins) and isinstance(column, DateColumn | DatetimeColumn):
        return shown_value(low, column)
    return f"[{number_text(low)}, {number_text(high)}{']' if closed else ')'}"
