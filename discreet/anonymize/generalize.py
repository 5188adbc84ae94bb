"""Generalisation: coarser values, so that nobody stands alone in a class of look-alike records.

    optimal    one level for each column, the same for all records; the best such choice, found and proven by a search
    local      each class goes down its hierarchies as far as the criteria let it
    mondrian   classes are cut along the values' order, halves of halves, whatever the hierarchy

1. Records are counted by distinct combination, and each column gets its ladder of levels (`hierarchy`).
2. The method gives every combination a level for each column; `optimal` may leave records out, up to a limit.
3. What is published is recoded; records left out are not published at all. Loss is measured (`loss`).

Missing is a value like any other, up to the coarsest level. Local recoding publishes groups beside parts of themselves
(`Government` beside `State-gov`), so who knows the method can rule some persons out of the coarser one; every person
still has a class of records that fulfils the criteria.

What it promises and what breaks it stands in `criteria`. Measured risk, not a guarantee.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.anonymize.criteria import Criteria
from discreet.anonymize.hierarchy import Hierarchy, Ladder
from discreet.anonymize.lattice import search
from discreet.anonymize.local import descend
from discreet.anonymize.loss import Loss, measure_loss
from discreet.anonymize.mondrian import cut
from discreet.anonymize.records import CodedColumn, Flags, Records, distinct_rows
from discreet.anonymize.roster import Roster
from discreet.check import one_of, some
from discreet.errors import ArgumentError

__all__ = ["METHODS", "Generalized", "generalize"]

METHODS = ("optimal", "local", "mondrian")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Generalized:
    """What a generalisation made: the records to publish, who was left out, and what it cost."""

    records: Records
    quasi: tuple[str, ...]
    method: str
    levels: tuple[int, ...] | None
    left_out: Flags
    loss: Loss
    classes: int
    searched: int = 0

    def __repr__(self) -> str:
        return f"<confidential records generalized by {self.method}>"

    def as_json(self) -> dict[str, object]:
        """The figures, for the keeper."""
        return {
            "method": self.method,
            "levels": None if self.levels is None else dict(zip(self.quasi, self.levels, strict=True)),
            "records": self.records.rows,
            "left_out": int(self.left_out.sum()),
            "classes": self.classes,
            **self.loss.as_json(),
        }


def generalize(
    records: Records,
    quasi: Sequence[str],
    criteria: Criteria,
    *,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    method: str = "optimal",
    limit: float = 0.0,
) -> Generalized:
    """Records whose classes fulfil the criteria; `limit` is the share that `optimal` may leave out.

    A column without a hierarchy keeps its values or loses them, and with `mondrian` its own order is used.
    """
    names = some("quasi", quasi, step="name the columns an outsider may know, each once")
    one_of("method", method, METHODS)
    if not 0 <= limit <= 1:
        raise ArgumentError("limit", found=f"{limit}", right="it is a share of records", step="give 0.05")
    if criteria.sensitive in names:
        raise ArgumentError(
            f"sensitive column {criteria.sensitive!r}",
            found="it is also among the quasi columns",
            right="an outsider either knows a column or wants to learn it",
            step="take it out of one of the two lists",
        )
    ladders = tuple(_ladder(records.column(name), (hierarchies or {}).get(name)) for name in names)
    sensitive = None if criteria.sensitive is None else records.column(criteria.sensitive)
    roster = Roster.of(ladders, sensitive)
    if method == "mondrian":
        return _by_ranges(records, names, roster, criteria)
    searched = 0
    if method == "optimal":
        best = search(roster, criteria, limit=limit)
        levels, out, searched = np.tile(best.levels, (len(roster.counts), 1)), best.left_out, best.evaluated
    else:
        levels, out = descend(roster, criteria), np.zeros(len(roster.counts), np.bool_)
    loss = measure_loss(roster, levels, out)
    row_out = out[roster.entry]
    kept = np.flatnonzero(~row_out)
    columns = [ladder.recoded(levels[roster.entry, place]).taken(kept) for place, ladder in enumerate(roster.ladders)]
    made = records.taken(kept).replaced(*columns)
    return Generalized(
        records=made,
        quasi=names,
        method=method,
        levels=tuple(int(level) for level in best.levels) if method == "optimal" else None,
        left_out=row_out,
        loss=loss,
        classes=_classes(made, names),
        searched=searched,
    )


def _by_ranges(records: Records, names: tuple[str, ...], roster: Roster, criteria: Criteria) -> Generalized:
    parts = cut(roster, criteria)
    columns, losses = zip(*(parts.recoded(place) for place in range(len(names))), strict=True)
    made = records.replaced(*(column.taken(roster.entry) for column in columns))
    weights = roster.counts / max(roster.counts.sum(), 1)
    loss = Loss(columns=names, shares=tuple(float(np.dot(weights, one)) for one in losses))
    return Generalized(
        records=made,
        quasi=names,
        method="mondrian",
        levels=None,
        left_out=np.zeros(records.rows, np.bool_),
        loss=loss,
        classes=_classes(made, names),
    )


def _ladder(column: CodedColumn, hierarchy: Hierarchy | None) -> Ladder:
    return (hierarchy or Hierarchy.flat(column)).ladder(column)


def _classes(records: Records, names: Sequence[str]) -> int:
    if not records.rows:
        return 0
    _, _, counts = distinct_rows([records.column(name).full_codes for name in names])
    return len(counts)
