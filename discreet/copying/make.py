"""Copies drawn from a stored table: by trees and regressions in turn, or by data augmentation under masks.

1. The rows come through the table's engine; contract, bounds and the survey's design come with them.
2. `cart`, `normlogit` and `parametric` take `Settings`. `dami` takes a `Masking`: masks by column, or one noise for
   all, for everybody or by risk group. `selective` and `weighted` are two ways to compare with: they need risk groups.
3. A long run by `dami` that is broken off waits beside the table, readable by its owner only, and is taken up again by
   the same call. It is deleted when the copies are made, when the table changes, or by `restart`.
4. With households a column that is the same within each is drawn once for each by the sequential methods; `dami` draws
   by record, and refuses it.

Copies have no ε, and none is taken: a call with one is refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from discreet.check import one_of
from discreet.copying.kept import HeldCopies, keep_copies
from discreet.errors import ArgumentError
from discreet.holdings import Holdings, Progress
from discreet.synthesis.imputation.augmentation import synthesize_augmented
from discreet.synthesis.imputation.columns import Column, Columns
from discreet.synthesis.imputation.copies import Copies
from discreet.synthesis.imputation.masks import LevelMask, Mask, NoiseMask, mask_of
from discreet.synthesis.imputation.models import Method
from discreet.synthesis.imputation.plan import Settings, households_of, is_shared
from discreet.synthesis.imputation.posterior import Schedule
from discreet.synthesis.imputation.sequential import synthesize
from discreet.synthesis.imputation.stored import bounds_of, read_stored, sampling_of
from discreet.synthesis.imputation.subgroups import (
    RiskGroups,
    risk_groups,
    synthesize_by_risk,
    synthesize_selective,
    synthesize_weighted,
)

__all__ = ["GivenMasks", "Masking", "Prepared", "given_masks", "make_copies", "prepare", "without_households"]

GivenMask: TypeAlias = Mask | float
GivenMasks: TypeAlias = Mapping[str, GivenMask | Sequence[GivenMask]]
_BY_RECORD = ("dami", "selective", "weighted")
_OF_SEQUENCES = ("methods", "order", "proper", "smooth", "least", "missing")


@dataclass(frozen=True, slots=True, kw_only=True)
class Masking:
    """How data augmentation hides: masks by column, or `noise` for all; `fixed` draws them once for all copies.

    With `quasi`, the keys of an intruder, and `within`, how near numbers among them look the same, records are put into
    three risk groups (`least` look-alikes make a record common), and a column may have a mask for each.
    """

    masks: GivenMasks = field(default_factory=dict)
    noise: float | None = None
    fixed: bool = False
    quasi: Sequence[str] = ()
    within: Mapping[str, float] = field(default_factory=dict)
    least: int = 5
    schedule: Schedule | None = None
    restart: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Prepared:
    """A stored table as columns, with the settings its contract completes, and its version."""

    columns: Columns
    settings: Settings
    version: int


def prepare(holdings: Holdings, table: str, settings: Settings) -> Prepared:
    """Read a table for copies."""
    contract, record = holdings.contract(table), holdings.record(table)
    with holdings.opened(table) as (engine, stored):
        columns = read_stored(engine, stored, contract, perturb=settings.perturb)
    bounds = {name: ends for name, ends in bounds_of(contract).items() if name in columns.names}
    design = settings.sampling if settings.sampling.names else sampling_of(contract)
    asked = replace(settings, sampling=design, bounds={**bounds, **settings.bounds})
    return Prepared(columns=columns, settings=asked, version=record.version)


def make_copies(
    holdings: Holdings,
    table: str,
    settings: Settings,
    *,
    masking: Masking | None = None,
    seed: int | None = None,
    epsilon: object = None,
    progress: Progress | None = None,
) -> HeldCopies:
    """Draw copies of a table and keep them."""
    if epsilon is not None:
        raise ArgumentError(
            "epsilon",
            found="a budget for copies",
            right="copies by multiple imputation are measured risk, not differential privacy: no ε describes them",
            step="leave epsilon out; ask questions of the table for answers under a guarantee",
        )
    method = one_of("method", str(settings.method), (*Method, *_BY_RECORD))
    if masking is not None and method not in _BY_RECORD:
        raise ArgumentError(
            "masks",
            found=f"some for the method {method}",
            right="nothing of a record's own values reaches a tree or a regression, so there is nothing to mask",
            step="leave them out, or say method='dami'",
        )
    ready = prepare(holdings, table, settings)
    if method in _BY_RECORD:
        made = _by_record(holdings, table, ready, masking or Masking(), seed, progress)
        copies = replace(made, sampling=ready.settings.sampling)
    else:
        copies = synthesize(ready.columns, ready.settings, seed=seed, progress=progress)
    return keep_copies(holdings, table, ready.version, copies)


def _by_record(
    holdings: Holdings, table: str, ready: Prepared, masking: Masking, seed: int | None, progress: Progress | None
) -> Copies:
    """By data augmentation, or by one of the ways to compare it with."""
    settings = ready.settings
    method, perturb = str(settings.method), tuple(settings.perturb or ())
    seen = without_households(ready.columns, settings)
    groups = None
    if masking.quasi:
        groups = risk_groups(seen, masking.quasi, within=masking.within, least=masking.least)
    elif method != "dami":
        raise ArgumentError(
            "quasi", found="none", right=f"{method} treats records by their risk", step="name the keys of an intruder"
        )
    if method == "weighted" and groups is not None:
        if settings.rules or masking.masks or masking.noise:
            raise ArgumentError("rules and masks", found="some", right="weighted takes none", step="say method='dami'")
        return synthesize_weighted(seen, groups, perturb=perturb, copies=settings.copies, seed=seed)
    checkpoint = holdings.unfinished(table)
    if masking.restart:
        checkpoint.unlink(missing_ok=True)
    options: dict[str, Any] = {
        "perturb": perturb,
        "copies": settings.copies,
        "fixed": masking.fixed,
        "rules": settings.rules,
        "bounds": settings.bounds,
        "schedule": masking.schedule,
        "seed": seed,
        "progress": None if progress is None else lambda share: progress(f"{share:.0%}"),
        "checkpoint": checkpoint,
    }
    if method == "selective" and groups is not None:
        return synthesize_selective(seen, groups, **options)
    masks = given_masks(seen, perturb, masking, groups)
    if groups is not None:
        return synthesize_by_risk(seen, groups, masks=masks or None, **options)
    return synthesize_augmented(seen, masks=masks, **options)


def without_households(columns: Columns, settings: Settings) -> Columns:
    """The columns data augmentation looks at: all but those that say who belongs together. It refuses the rest."""
    design, perturb = settings.sampling, tuple(settings.perturb or ())
    odd = next((name for name in _OF_SEQUENCES if getattr(settings, name) != getattr(Settings(), name)), None)
    refused = {
        "perturb": ("nothing", f"{settings.method} is told which columns to replace") if not perturb else None,
        "columns": ("one of the survey's design", "it stays as it is") if {*perturb} & {*design.names} else None,
        f"setting {odd}": ("another one than usual", f"{settings.method} draws all columns at once") if odd else None,
    }
    for where, wrong in refused.items():
        if wrong is not None:
            raise ArgumentError(where, found=wrong[0], right=wrong[1], step="correct it, or say method='cart'")
    households = households_of(columns, design.household)
    if households is not None:
        for name in perturb:
            if is_shared(columns.column(name), households):
                raise ArgumentError(
                    f"column {name!r}",
                    found="one value in each household",
                    right=f"{settings.method} draws record by record, which would tear households apart",
                    step="leave it as it is, or say method='cart', which draws it once for each household",
                )
    told = (design.cluster, design.household)
    return replace(columns, columns=tuple(one for one in columns.columns if one.name not in told))


def given_masks(
    columns: Columns, perturb: Sequence[str], masking: Masking, groups: RiskGroups | None
) -> dict[str, Mask | tuple[Mask, ...]]:
    """The masks that were asked for, those of one noise first; with groups, nothing for columns without a word."""
    masks: dict[str, Mask | tuple[Mask, ...]] = {}
    if masking.noise is not None:
        masks |= {name: mask_of(columns.column(name), masking.noise) for name in perturb}
    for name, given in masking.masks.items():
        column = columns.column(name)
        masks[name] = (
            tuple(_mask(column, one) for one in given) if isinstance(given, Sequence) else _mask(column, given)
        )
    if groups is None and any(isinstance(mask, tuple) for mask in masks.values()):
        raise ArgumentError(
            "masks", found="several for one column", right="one, unless there are risk groups", step="name the keys"
        )
    return masks


def _mask(column: Column, mask: GivenMask) -> Mask:
    """A number stands for noise of so many standard deviations, or for the chance that a level stays."""
    if not isinstance(mask, float | int):
        return mask
    return NoiseMask(float(mask)) if column.is_number else LevelMask(keep=float(mask))
