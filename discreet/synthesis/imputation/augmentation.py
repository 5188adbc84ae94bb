"""Data-augmented multiple imputation (DA-MI): copies drawn from a copula and from noisy masks of each record.

1. `fit_augmented` draws from the posterior of a Gaussian copula over all columns, mixed kinds and missing cells
   included. Masks play no part in it: they say nothing of dependence that the columns do not say.
2. `AugmentedFit.copies` draws masks of the chosen columns, then new records that agree with the open columns and the
   masks (`replicate`). Masks can be tuned again and again on one fit.
3. Without missing cells each copy has a posterior draw of its own, and the rule is `PARTIAL`. With missing cells each
   of m completions is a posterior draw with its filled cells and gives `each` copies, and the rule is `NESTED`. Open
   cells that were observed are the very ones of the table.
4. Every row of every copy keeps the rules it is given: rows that break one are drawn again under the same masks, which
   is the law given the rules. Filled cells that break one are taken from another draw of the posterior.
5. Masks are drawn afresh for every copy, or once (`fixed`). Fresh masks give intervals that hold what they say; an
   intruder who averages M copies then faces noise σ/√(KM), which the notes state. Fixed masks leave the intruder
   σ/√K, and intervals that cover about 1.5 points less than they say, since copies do not show the noise they share.

The randomness is keyed by the operating system and the key is thrown away: with it the masks, and so the values,
could be had back. A seed makes copies that can be drawn again: they are marked as a test, not to be published.
Reference: the source's DA-MI; Hoff 2007; Reiter 2003, 2004. What it does not promise: differential privacy, or any
bound on the risk. The risk is measured on the copies.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.check import at_least, known, some
from discreet.errors import ArgumentError
from discreet.randomness import Generator, keyed_generator
from discreet.stats.combine import Rule
from discreet.synthesis.imputation.coding import Coding, Sort, encode, repeats
from discreet.synthesis.imputation.columns import Columns
from discreet.synthesis.imputation.consistency import Bounds, RuleKeeper
from discreet.synthesis.imputation.copies import Copies
from discreet.synthesis.imputation.masks import KeepMask, Mask, NoiseMask, check_mask, default_mask
from discreet.synthesis.imputation.posterior import Posterior, Progress, Schedule, sample_posterior
from discreet.synthesis.imputation.replicate import Clue, draw_clue, replicate

__all__ = ["AugmentedFit", "Masks", "fit_augmented", "synthesize_augmented"]

Floats = npt.NDArray[np.float64]
Whole = npt.NDArray[np.int64]
Masks = Mapping[str, Mask | Sequence[Mask]]
METHOD = "dami"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class AugmentedFit:
    """A fitted copula over a table, from which copies are drawn under masks of choice."""

    columns: Columns
    codings: tuple[Coding, ...]
    posterior: Posterior
    edge: int
    seeded: bool
    notes: tuple[str, ...]

    @property
    def incomplete(self) -> bool:
        """Whether cells are missing, so that copies are nested in completions."""
        return any(column.missing.any() for column in self.columns.columns)

    def copies(
        self,
        *,
        perturb: Sequence[str],
        copies: int = 5,
        masks: Masks | None = None,
        groups: npt.ArrayLike | None = None,
        fixed: bool = False,
        each: int = 2,
        sweeps: int = 20,
        rules: Sequence[str] = (),
        bounds: Bounds | None = None,
        seed: int | None = None,
        progress: Progress | None = None,
    ) -> Copies:
        """Copies in which the columns of `perturb` are replaced.

        `masks` names a mask for a column, or one for each group of records (`groups`: 0, 1, … by record). With missing
        cells `each` copies are made of every completion, so that there may be a few more than `copies`. New numbers lie
        within `bounds`, and rows keep the `rules`.
        """
        chosen = some("perturb", tuple(perturb), step="name the columns to perturb")
        hidden = _hidden(self.columns, self.codings, chosen)
        by_group = _groups(groups, self.columns.rows)
        masked = {coding.column.name: _masks(coding, masks, by_group) for coding in hidden}
        for name in masks or {}:
            known("masked column", name, chosen, step="give masks to columns that are perturbed")
        keeper = RuleKeeper.of(self.columns, rules, bounds or {})
        nests = max(2, -(-at_least("copies", copies, 1) // at_least("each", each, 2))) if self.incomplete else None
        total = copies if nests is None else nests * each
        generator = keyed_generator(seed)
        clues = _clues(hidden, masked, by_group, generator)
        frames = []
        for number in range(total):
            at = self._place(number if nests is None else number // each, nests or total)
            if number and not fixed:
                clues = _clues(hidden, masked, by_group, generator)
            frames.append(self._frame(at, clues, keeper, sweeps, generator))
            if progress is not None:
                progress((number + 1) / total)
        notes = (*self.notes, *repeats(self.codings, chosen), *_mask_notes(masked, total, fixed=fixed))
        return Copies(
            frames=tuple(frames),
            method=METHOD,
            perturbed=tuple(name for name in chosen if name in masked),
            rule=Rule.PARTIAL if nests is None else Rule.NESTED,
            nests=nests,
            seeded=self.seeded or seed is not None,
            notes=notes,
        )

    def _place(self, at: int, wanted: int) -> int:
        """Draws as far from each other as there are; the same again only when more are wanted than were kept."""
        kept = len(self.posterior.draws)
        return at * kept // wanted if wanted <= kept else at % kept

    def _frame(self, at: int, clues: Mapping[str, Clue], keeper: RuleKeeper, sweeps: int, generator: Generator) -> Any:
        draws = self.posterior.draws
        draw = draws[at]
        filled = keeper.completed([one.filled for one in (*draws[at:], *draws[:at])], generator)
        whole = {column.name: column.values for column in self.columns.columns} | filled
        places = {one.column.name: one.nearest(whole[one.column.name]) for one in self.codings}

        def drawn(rows: Whole | None) -> dict[str, Floats]:
            return replicate(
                self.codings,
                draw,
                places,
                clues,
                sweeps=sweeps,
                edge=self.edge,
                generator=generator,
                rows=rows,
            )

        made = keeper.kept(whole, drawn)
        constant = {
            column.name: np.full(self.columns.rows, column.distinct[0])
            for column in self.columns.columns
            if column.missing.any() and column.name not in places
        }
        return self.columns.replaced({**constant, **filled, **made})


def fit_augmented(
    columns: Columns,
    *,
    perturb: Sequence[str] = (),
    draws: int = 20,
    schedule: Schedule | None = None,
    edge: int = 3,
    seed: int | None = None,
    progress: Progress | None = None,
    checkpoint: Path | str | None = None,
) -> AugmentedFit:
    """Draw from the posterior of the copula. `perturb` lets columns be refused early that could not be perturbed.

    Numbers are published no further out than the `edge`-th least and largest. An exception raised by `progress` (a
    share of the work done) breaks off; with a checkpoint the same call goes on from there.
    """
    at_least("edge", edge, 1)
    codings, notes = encode(columns, perturb)
    if not codings:
        raise ArgumentError(
            "table", found="no column that varies", right="there is one", step="give a table of columns that vary"
        )
    if perturb:
        _hidden(columns, codings, perturb)
    posterior = sample_posterior(
        codings,
        at_least("draws", draws, 1),
        schedule or Schedule(),
        keyed_generator(seed),
        seeded=seed is not None,
        edge=edge,
        progress=progress,
        checkpoint=None if checkpoint is None else Path(checkpoint),
    )
    return AugmentedFit(
        columns=columns,
        codings=codings,
        posterior=posterior,
        edge=edge,
        seeded=seed is not None,
        notes=(*notes, posterior.note),
    )


def synthesize_augmented(
    columns: Columns,
    *,
    perturb: Sequence[str],
    copies: int = 5,
    masks: Masks | None = None,
    groups: npt.ArrayLike | None = None,
    fixed: bool = False,
    each: int = 2,
    rules: Sequence[str] = (),
    bounds: Bounds | None = None,
    schedule: Schedule | None = None,
    edge: int = 3,
    seed: int | None = None,
    progress: Progress | None = None,
    checkpoint: Path | str | None = None,
) -> Copies:
    """Fit and make copies in one go; `AugmentedFit` says what each argument is."""
    fit = fit_augmented(
        columns,
        perturb=perturb,
        draws=at_least("copies", copies, 1),
        schedule=schedule,
        edge=edge,
        seed=seed,
        progress=None if progress is None else lambda share: progress(0.8 * share),
        checkpoint=checkpoint,
    )
    return fit.copies(
        perturb=perturb,
        copies=copies,
        masks=masks,
        groups=groups,
        fixed=fixed,
        each=each,
        rules=rules,
        bounds=bounds,
        seed=None if seed is None else seed + 1,
        progress=None if progress is None else lambda share: progress(0.8 + 0.2 * share),
    )


def _hidden(columns: Columns, codings: Sequence[Coding], chosen: Sequence[str]) -> list[Coding]:
    """The chosen columns that vary; a copy in which nothing is replaced would be the table."""
    for name in chosen:
        known("column", name, columns.names, step="name columns of the table")
    hidden = [coding for coding in codings if coding.column.name in chosen]
    if not hidden:
        raise ArgumentError(
            "perturb", found="columns without variation", right="some column varies", step="name one that does"
        )
    return hidden


def _groups(groups: npt.ArrayLike | None, rows: int) -> Whole:
    if groups is None:
        return np.zeros(rows, dtype=np.int64)
    found = np.asarray(groups)
    if found.shape != (rows,) or (found < 0).any() or (found % 1).any():
        raise ArgumentError(
            "groups", found="other than one whole number a record", right="0, 1, … for each record", step="give these"
        )
    return found.astype(np.int64)


def _masks(coding: Coding, masks: Masks | None, groups: Whole) -> tuple[Mask, ...]:
    """A mask for each group."""
    column = coding.column
    numeric = coding.sort is Sort.NUMBER
    given = (masks or {}).get(column.name, default_mask(column))
    count = int(groups.max()) + 1
    found = tuple(given) if isinstance(given, Sequence) else (given,) * count
    if len(found) < count:
        raise ArgumentError(
            f"masks of {column.name!r}",
            found=f"{len(found)} for {count} groups",
            right="one mask for each group, or one for all",
            step="give a mask for each group",
        )
    for mask in found:
        check_mask(column, mask, numeric=numeric)
    return found


def _clues(
    hidden: Sequence[Coding], masked: Mapping[str, Sequence[Mask]], groups: Whole, generator: Generator
) -> dict[str, Clue]:
    return {coding.column.name: draw_clue(coding, masked[coding.column.name], groups, generator) for coding in hidden}


def _mask_notes(masked: Mapping[str, Sequence[Mask]], copies: int, *, fixed: bool) -> tuple[str, ...]:
    notes = []
    if fixed:
        notes.append("masks were drawn once: intervals cover about 1.5 points less than they say")
    for name, masks in masked.items():
        for mask in dict.fromkeys(masks):
            if isinstance(mask, NoiseMask):
                left = mask.deviation / (1 if fixed else np.sqrt(copies))
                notes.append(
                    f"{name}: noise of {mask.deviation:.3g} standard deviations; who averages the masks of all copies "
                    f"faces {left:.3g}"
                )
            elif isinstance(mask, KeepMask):
                notes.append(f"{name}: some records keep their value")
    return tuple(notes)
