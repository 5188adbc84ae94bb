"""Household risk: to find one member is to find them all.

A household's risk is the chance that at least one of its members is found, 1 − Π(1 − r) over the members' own risks, if
they are found independently; each member then bears it. A record without a household bears its own risk.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sqlglot import exp

from discreet.check import some
from discreet.data.engines.base import Engine
from discreet.data.table import StoredTable
from discreet.errors import ArgumentError
from discreet.risk.cells import alike, reading
from discreet.risk.classes import group_records
from discreet.risk.frequencies import Floats, Wholes, in_order

__all__ = ["household_risks", "members"]


def members(engine: Engine, table: StoredTable, quasi: Sequence[str], household: str) -> tuple[Wholes, Wholes]:
    """For each record the place of its class, in the order of `count_frequencies`, and its household; −1 for none."""
    columns = some("quasi", quasi, step="name the columns an outsider may know, each once")
    if household in columns:
        raise ArgumentError(
            f"household column {household!r}",
            found="it is also among the quasi columns",
            right="the household ties records together and is not itself known",
            step="take it out of one of the two",
        )
    physical = [table.column(name).physical for name in columns]
    order = exp.Order(expressions=[exp.Ordered(this=exp.column(table.column(household).physical, "held"))])
    numbered = exp.Window(this=exp.RowNumber(), order=exp.Order(expressions=in_order(physical)))
    ties = exp.Case(
        ifs=[exp.If(this=_there(table, household), true=exp.Window(this=exp.DenseRank(), order=order))],
        default=exp.Literal.number(0),
    )
    tables = {
        "classes": group_records(table, columns),
        "numbered": exp.select(*physical, exp.alias_(numbered, "id")).from_("classes"),
    }
    select = exp.select(exp.column("id", "numbered"), ties).from_(exp.alias_(exp.table_(table.name), "held"))
    select = select.join("numbered", on=alike(physical, "held", "numbered"))
    rows = np.array(engine.integers(reading(select, tables)), dtype=np.int64).reshape(-1, 2)
    return rows[:, 0] - 1, rows[:, 1] - 1


def household_risks(risks: Floats, classes: Wholes, households: Wholes) -> tuple[Floats, Wholes]:
    """The risk of each record, from the risks of the classes, and how many records its household has."""
    own, together = risks[classes], np.ones(len(classes), dtype=np.int64)
    tied = households >= 0
    _, at, sizes = np.unique(households[tied], return_inverse=True, return_counts=True)
    with np.errstate(divide="ignore"):
        unfound = np.bincount(at.ravel(), weights=np.log1p(-own[tied]))  # ln of nobody being found
    own[tied], together[tied] = -np.expm1(unfound)[at.ravel()], sizes[at.ravel()]
    return own, together


def _there(table: StoredTable, household: str) -> exp.Expr:
    return exp.Not(this=exp.Is(this=exp.column(table.column(household).physical, "held"), expression=exp.Null()))
