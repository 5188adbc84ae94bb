"""Small curators' offices to ask: one table of people, its contract, and brute-force truths."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from discreet.curator import Curator
from discreet.data.contract import Contract
from discreet.measure.expression import Column, Text
from discreet.measure.groups import Categories
from discreet.query.question import GroupKey, Output, Question
from discreet.query.statistic import Statistic
from discreet.query.term import Asked, Key

__all__ = ["AGE", "BY_REGION", "PEOPLE", "contract", "frame_of", "office", "question"]

AGE, BY_REGION = Column("age"), GroupKey(name="region", group=Categories(Text("region")))
_CONTRACT = """
table: people
unit: {unit}
{further}
budget: {{{budget}}}
columns:
  who: {{type: text, role: direct identifier}}
  region: {{type: category, keys: [east, north, south]}}
  sex: {{type: category, keys: [f, m], nulls: key}}
  age: {{type: integer, low: 0, high: 100}}
  cost: {{type: decimal, step: 0.5, low: -10, high: 90}}
  town: {{type: text}}
  born: {{type: date, low: 1990-01-01, high: 1999-12-31}}
"""
# 40 rows of 16 persons; ages 20 to 59.
PEOPLE: tuple[dict[str, Any], ...] = tuple(
    {
        "who": f"p{at % 16}",
        "region": ("east", "north", "south")[at % 3],
        "sex": ("f", "m", None)[at % 7 % 3],
        "age": 20 + at,
        "cost": at / 2 - 4,
        "town": ("arle", "bree", "caen", "dorn")[at % 13 % 4],
        "born": None if at % 10 == 9 else f"199{at % 10}-06-15",
    }
    for at in range(40)
)


def contract(*, unit: str = "row", budget: str = "epsilon: 1000, delta: 0.01", further: str = "") -> Contract:
    """The contract of the people."""
    return Contract.from_yaml(_CONTRACT.format(unit=unit, budget=budget, further=further))


def office(folder: Path, rows: Sequence[dict[str, Any]] = PEOPLE, *, under: Contract | None = None) -> Curator:
    """A curator with a table of these rows."""
    held = Curator(folder / "office", heads=folder / "heads")
    frame = pl.DataFrame(list(rows), schema_overrides={"born": pl.String}).with_columns(pl.col("born").str.to_date())
    frame.write_parquet(folder / "people.parquet")  # a file has no kind of frame, so that answers are plain
    held.add(folder / "people.parquet", contract=under or contract())
    return held


def frame_of(rows: Sequence[dict[str, Any]]) -> pl.DataFrame:
    """Rows as a frame, typed by all of them."""
    return pl.DataFrame(list(rows), infer_schema_length=None)


def question(*statistics: Statistic, by: Sequence[GroupKey] = (), **further: Any) -> Question:
    """A question for keys and statistics, each in a column of its own."""
    keys = [Output(name=key.name, term=Key(at)) for at, key in enumerate(by)]
    asked = [Output(name=f"s{at}", term=Asked(at)) for at in range(len(statistics))]
    given = {"outputs": (*keys, *asked), **further}
    return Question(table="people", statistics=statistics, by=tuple(by), **given)
