"""A small contract to ask of, and questions parsed under it."""

from __future__ import annotations

from discreet.data.contract import Contract
from discreet.errors import DiscreetError, UnknownNameError
from discreet.query.parse import parse
from discreet.query.question import Question

__all__ = ["CONTRACT", "contract_of", "question", "refusal"]

CONTRACT = Contract.from_yaml(
    """
table: visits
unit: {person: patient, rows: 5, groups: 3}
max_rows: 100000
columns:
  patient: {type: text, role: direct identifier}
  name: {type: text, role: direct identifier}
  age: {type: integer, low: 0, high: 120}
  cost: {type: decimal, step: 0.01, low: 0, high: 1000}
  score: {type: decimal, step: 0.5, low: -5, high: 5, nulls: key}
  region: {type: category, keys: [north, south, east]}
  sex: {type: category, keys: [1, 2], nulls: key}
  insured: {type: boolean}
  visited: {type: date, low: 2020-01-01, high: 2021-12-31}
  seen: {type: datetime, low: 2020-01-01T00:00:00, high: 2020-12-31T23:59:59}
  born: {type: date}
  remark: {type: text}
  weight: {type: integer, low: 1, high: 9, role: weight, nulls: refuse}
  length: {type: integer}
  secret: {type: integer, low: 0, high: 1, role: hidden}
"""
)


def contract_of(name: str) -> Contract:
    """The contract of the one table there is."""
    if name.lower() != "visits":
        raise UnknownNameError("table", found="no such name", right="there is visits", step="name visits")
    return CONTRACT


def question(text: str) -> Question:
    """What the text asks."""
    return parse(text, contract_of)


def refusal(text: str) -> DiscreetError:
    """The error that refuses the text."""
    try:
        asked = parse(text, contract_of)
    except DiscreetError as error:
        return error
    raise AssertionError(f"{text!r} was read as {asked}")
