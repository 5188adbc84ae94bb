"""Risk groups: records told apart by how many others look like them, and masked by the group they are in.

1. On all keys two records match when they agree on every level and lie within a tolerance on every number. A record
   is of *low* risk when at least `least` others match it; of *medium* risk when at least `least` others agree on the
   levels but fewer are near on the numbers; of *high* risk otherwise.
2. `synthesize_by_risk`: the copula is fitted with the group as one more ordered column, which is not published, and
   each group has masks of its own (`graded_masks`): the rarer a record, the less is let through.
3. To compare with, `synthesize_selective` replaces the keys of groups at risk without a mask and keeps all others
   (after Little, Liu and Raghunathan 2004), and `synthesize_weighted` fits regressions in which each record weighs 1
   − 1/s, for the s records that match it, itself included (after Hu, Savitsky and Williams 2021): unique records do
   not speak.

What it does not promise: that a record of a low group is safe, or that masking one record leaves the others' risk as
it was. A record that is hidden better may uncover its neighbour: measure the risk of the copies.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.check import at_least, some
from discreet.errors import ArgumentError
from discreet.randomness import keyed_generator
from discreet.stats.combine import Rule
from discreet.stats.matching import Records, count_matches
from discreet.synthesis.imputation.augmentation import Masks, fit_augmented
from discreet.synthesis.imputation.columns import Column, Columns, Kind
from discreet.synthesis.imputation.copies import Copies
from discreet.synthesis.imputation.masks import KeepMask, LevelMask, Mask, NoiseMask, NoMask
from discreet.synthesis.imputation.models import Method, fit_column
from discreet.synthesis.imputation.plan import Settings, plan
from discreet.synthesis.imputation.posterior import Progress, Schedule

__all__ = [
    "RiskGroup",
    "RiskGroups",
    "graded_masks",
    "risk_groups",
    "synthesize_by_risk",
    "synthesize_selective",
    "synthesize_weighted",
]

Floats = npt.NDArray[np.float64]
Whole = npt.NDArray[np.int64]
_GROUP = "(risk group)"


class RiskGroup(IntEnum):
    """How many others look like a record."""

    LOW = 0
    MEDIUM = 1
    HIGH = 2


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class RiskGroups:
    """The group of every record, and how many records match it on all keys, itself included. It does not print."""

    codes: Whole
    matches: Whole

    @property
    def sizes(self) -> dict[RiskGroup, int]:
        """Records in each group."""
        return {group: int((self.codes == group).sum()) for group in RiskGroup}


def risk_groups(
    columns: Columns, quasi: Sequence[str], *, within: Mapping[str, float] | None = None, least: int = 5
) -> RiskGroups:
    """Sort records into low, medium and high risk. `within` is the tolerance of each number among the keys."""
    keys = [columns.column(name) for name in some("quasi", tuple(quasi), step="name the keys an intruder knows")]
    at_least("least", least, 1)
    numbers = [column for column in keys if column.is_continuous]
    reach = dict(within or {})
    if set(reach) != {column.name for column in numbers}:
        raise ArgumentError(
            "within",
            found=f"tolerances for {', '.join(sorted(reach)) or 'no column'}",
            right=f"one for each number among the keys: {', '.join(column.name for column in numbers) or 'none'}",
            step="say how near two numbers must be to look the same",
        )
    cells = np.zeros(columns.rows, dtype=np.int64)
    for column in keys:
        if not column.is_continuous:
            _, cells = np.unique(cells * (len(column.levels) + 1) + column.codes, return_inverse=True)
    alike = np.bincount(cells)[cells]
    records = Records(codes=cells, numbers=tuple(column.values for column in numbers))
    near = count_matches(records, records, [reach[column.name] for column in numbers])
    codes = np.where(near - 1 >= least, RiskGroup.LOW, np.where(alike - 1 >= least, RiskGroup.MEDIUM, RiskGroup.HIGH))
    return RiskGroups(codes=codes.astype(np.int64), matches=near)


def graded_masks(
    columns: Columns,
    perturb: Sequence[str],
    *,
    spreads: tuple[float, float, float] = (0.25, 1.0, 2.0),
    keeps: tuple[float, float, float] = (0.9, 0.7, 0.6),
) -> dict[str, tuple[Mask, ...]]:
    """A mask for low, medium and high risk: noise in standard deviations on numbers, chances to stay for levels."""
    masks: dict[str, tuple[Mask, ...]] = {}
    for name in perturb:
        number = columns.column(name).is_number
        masks[name] = tuple(NoiseMask(one) for one in spreads) if number else tuple(LevelMask(keep=k) for k in keeps)
    return masks


def synthesize_by_risk(
    columns: Columns,
    groups: RiskGroups,
    *,
    perturb: Sequence[str],
    copies: int = 5,
    masks: Masks | None = None,
    schedule: Schedule | None = None,
    edge: int = 3,
    seed: int | None = None,
    progress: Progress | None = None,
    checkpoint: Path | None = None,
    **options: Any,
) -> Copies:
    """Copies by data augmentation, given the groups and with masks for each. `options` go to `AugmentedFit.copies`.

    Columns without a word in `masks` have graded ones (`graded_masks`).
    """
    known = Column(
        name=_GROUP,
        kind=Kind.ORDINAL,
        values=groups.codes.astype(np.float64),
        levels=tuple(group for group in RiskGroup),
    )
    wider = Columns(columns=(*columns.columns, known), source=columns.source)
    fit = fit_augmented(
        wider,
        perturb=perturb,
        draws=copies,
        schedule=schedule,
        edge=edge,
        seed=seed,
        progress=progress,
        checkpoint=checkpoint,
    )
    return fit.copies(
        perturb=perturb,
        copies=copies,
        masks={**graded_masks(columns, perturb), **(masks or {})},
        groups=groups.codes,
        seed=None if seed is None else seed + 1,
        **options,
    )


def synthesize_selective(
    columns: Columns,
    groups: RiskGroups,
    *,
    perturb: Sequence[str],
    at_risk: Sequence[RiskGroup] = (RiskGroup.MEDIUM, RiskGroup.HIGH),
    **options: Any,
) -> Copies:
    """Replace the keys of the groups at risk by plain imputation and keep those of all others."""
    masks = tuple(NoMask() if group in at_risk else KeepMask() for group in RiskGroup)
    made = synthesize_by_risk(columns, groups, perturb=perturb, masks=dict.fromkeys(perturb, masks), **options)
    return replace(made, method="selective")


def synthesize_weighted(
    columns: Columns,
    groups: RiskGroups,
    *,
    perturb: Sequence[str],
    copies: int = 5,
    seed: int | None = None,
) -> Copies:
    """Replace the keys of all records by regressions, in turn, in which a record weighs 1 − 1/s."""
    if any(column.missing.any() for column in columns.columns):
        raise ArgumentError(
            "table", found="missing cells", right="this way needs every cell", step="use data augmentation"
        )
    weights = 1 - 1 / np.maximum(groups.matches, 1)
    if not weights.any():
        raise ArgumentError(
            "quasi", found="no record that another one matches", right="some match", step="widen the tolerances"
        )
    agreed = plan(columns, Settings(perturb=perturb, method=Method.NORMLOGIT, copies=copies))
    generator, rows = keyed_generator(seed), np.arange(columns.rows)
    models = [
        fit_column(step.column, step.given, rows, method=Method.NORMLOGIT, weights=weights) for step in agreed.steps
    ]
    drawn = tuple(step.column for step in agreed.steps)
    frames = []
    for _ in range(copies):
        values = {column.name: column.values for column in columns.columns}
        for column, model in zip(drawn, models, strict=True):
            made = model.drawn(generator, proper=True).simulate(values, rows, generator)
            values[column.name] = np.round(made, column.digits) if column.is_continuous else made
        frames.append(columns.replaced({column.name: values[column.name] for column in drawn}))
    return Copies(
        frames=tuple(frames),
        method="risk-weighted",
        perturbed=tuple(column.name for column in drawn),
        rule=Rule.PARTIAL,
        seeded=seed is not None,
        notes=(*agreed.notes, *(note for model in models for note in model.notes)),
    )
