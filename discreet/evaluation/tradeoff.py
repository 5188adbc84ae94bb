"""Utility against risk: where copies stand between the original and a table that tells nothing."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from discreet.draw import Axis, Chart, Intervals, Points, Rule
from discreet.evaluation.copies import Evaluation
from discreet.utility.intervals import OTHER_STUDY_OVERLAP

__all__ = ["trade_off"]


def trade_off(found: Mapping[str, Evaluation]) -> Chart | None:
    """True-match risk against mean interval overlap for sets of copies of one table; none without a model.

    Each set is a mark at the risk from one copy, with a line to the risk from the average of its copies.
    """
    with_model = {label: one for label, one in found.items() if one.models}
    if not with_model:
        return None
    marks: list[Intervals | Points | Rule] = []
    for label, one in with_model.items():
        risk = one.reidentification
        low, high = sorted((risk.released.mean, risk.averaged.mean))
        marks.append(Intervals((_overlap(one),), (low,), (risk.released.mean,), (high,), label))
    first = next(iter(with_model.values()))
    marks.append(Points((1.0,), (first.reidentification.original.mean,), "the original itself"))
    marks.append(Rule(OTHER_STUDY_OVERLAP, "x", "another study"))
    return Chart(
        "Utility against risk",
        Axis("mean overlap of intervals with the original's", format="share"),
        Axis("share of persons whose record is found", format="share"),
        tuple(marks),
        "Right is useful, low is safe. The mark is the risk from one copy, the line leads to that from the average of "
        "all copies. Left of the rule an analysis of the copies is farther off than another study would be.",
        family="measured risk",
    )


def _overlap(one: Evaluation) -> float:
    return float(np.mean([model.overlap for model in one.models]))
