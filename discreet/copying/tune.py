"""Tuning: one noise for all masks is turned, utility and risk are measured, and what is asked for is searched.

1. The copula is fitted once; every noise draws its masks and copies from the same fit.
2. Utility is the mean overlap of intervals of the models; risk the share of persons that an intruder with the keys
   finds, from one copy or from the average of all, whichever finds more.
3. Beside it stand the methods that have nothing to tune: no mask, trees, regressions.
4. `risk_below` is answered by the least noise that keeps it, `overlap_above` by the most. The very copies that measured
   what was asked for are kept: their figures are theirs. Others of the same noise may lie on the other side.

What it does not promise: that a mask which was right for this intruder and these models is right for others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from discreet.check import at_least, probability, some
from discreet.copying.kept import HeldCopies, keep_copies
from discreet.copying.make import Masking, Prepared, given_masks, prepare, without_households
from discreet.data.aligned import as_lists
from discreet.draw import Page, written
from discreet.errors import CheckFailedError
from discreet.evaluation.filled import filled_columns, without_filled
from discreet.evaluation.tuning import Flat, Frontier, Solution, Yardstick, risk_below, trace, utility_above
from discreet.evaluation.tuning_report import tuning_page
from discreet.holdings import Holdings, Progress
from discreet.risk.reidentification import reidentify
from discreet.synthesis.imputation.augmentation import AugmentedFit, fit_augmented
from discreet.synthesis.imputation.copies import Copies
from discreet.synthesis.imputation.masks import NoMask
from discreet.synthesis.imputation.models import Method
from discreet.synthesis.imputation.plan import Settings
from discreet.synthesis.imputation.posterior import Schedule
from discreet.synthesis.imputation.sequential import synthesize
from discreet.utility.models import Family, compare_models

__all__ = ["Tuned", "Wishes", "tune_copies"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """What is measured while masks are turned, and what is to come out.

    `keys` are what the intruder knows (those perturbed, unless said), `noises` and `copies` are tried one by one;
    `steps` halve the range in which the noise of what is asked for lies; with `beside` methods without masks are
    measured too.
    """

    models: Sequence[str] = ()
    family: Family = "ols"
    keys: Sequence[str] | None = None
    tolerances: Mapping[str, float] = field(default_factory=dict)
    noises: Sequence[float] = (0.1, 0.25, 0.5, 1.0, 2.0)
    copies: Sequence[int] = (3, 20)
    risk_below: float | None = None
    overlap_above: float | None = None
    steps: int = 8
    beside: bool = True
    schedule: Schedule | None = None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Tuned:
    """The frontier, and the copies that were asked for with what they measured. Raw figures: for the keeper's eyes."""

    table: str
    frontier: Frontier
    original: float
    noise: float | None
    copies: HeldCopies | None
    overlap: float | None
    risk: float | None
    notes: tuple[str, ...]

    def sentences(self) -> tuple[str, ...]:
        """The findings in plain words."""
        masked = [one for one in self.frontier.figures if one.noise is not None]
        narrow, wide = (pick(masked, key=lambda one: one.noise or 0) for pick in (min, max))
        said = [
            f"From noise {written('number', narrow.noise)} to {written('number', wide.noise)} the overlap of intervals "
            f"goes from {written('share', narrow.utility)} to {written('share', wide.utility)}, and the share of "
            f"persons found from {written('share', narrow.risk)} to {written('share', wide.risk)}; in the original it "
            f"is {written('share', self.original)}."
        ]
        if self.copies is not None:
            said.append(
                f"Noise {written('number', self.noise)} gives what was asked for: {len(self.copies)} copies, which "
                f"overlap by {written('share', self.overlap)} and give away {written('share', self.risk)} of "
                "the persons."
            )
        return tuple(said)

    def page(self) -> Page:
        """The report: charts, figures, sentences."""
        return tuning_page(self.table, self.frontier, self.sentences(), self.notes)

    def as_json(self) -> dict[str, object]:
        """Everything, as plain values."""
        figures = self.frontier.figures
        return {
            "family": "measured risk",
            "guarantee": Copies.guarantee,
            "table": self.table,
            "original_risk": self.original,
            "figures": [
                {"method": f.method, "noise": f.noise, "copies": f.copies, "overlap": f.utility, "risk": f.risk}
                for f in figures
            ],
            "noise": self.noise,
            "release": None if self.copies is None else self.copies.release,
            "overlap": self.overlap,
            "risk": self.risk,
            "sentences": list(self.sentences()),
            "notes": list(self.notes),
        }


def tune_copies(
    holdings: Holdings,
    table: str,
    perturb: Sequence[str],
    wishes: Wishes,
    *,
    rules: Sequence[str] = (),
    progress: Progress | None = None,
) -> Tuned:
    """Measure the frontier, and make what is asked for."""
    some("models", tuple(wishes.models), step='give the analyses that count, such as model "y ~ age"')
    counts = [at_least("copies", count, 2) for count in some("copies", tuple(wishes.copies), step="give 3 and 20")]
    for name in ("risk_below", "overlap_above"):
        limit = getattr(wishes, name)
        if limit is not None:
            probability(name, limit)
    settings = Settings(perturb=tuple(perturb), method="dami", copies=max(counts), rules=rules)
    ready = prepare(holdings, table, settings)
    seen = without_households(ready.columns, ready.settings)
    tell = progress or (lambda _: None)
    fit = fit_augmented(
        seen,
        perturb=tuple(perturb),
        draws=max(counts),
        schedule=wishes.schedule,
        progress=lambda share: tell(f"fitting {share:.0%}"),
        checkpoint=holdings.unfinished(table),
    )
    ruler = _Ruler.of(ready, wishes)
    makers = _Makers(fit=fit, ready=ready, tell=tell)
    frontier = trace(
        makers.masked,
        wishes.noises,
        utility=("overlap of intervals", ruler.overlap),
        risk=("persons found", ruler.risk),
        copies=counts,
        flat=makers.flat() if wishes.beside else {},
    )
    solved = _solved(makers, ruler, wishes, max(counts))
    held, overlap, risk, noise = None, None, None, None
    if solved is not None:
        noise = solved.noise
        overlap, risk = ruler.overlap(solved.copies), ruler.risk(solved.copies)
        note = f"masks of one noise, {noise:.4g}, found by search along the frontier of utility and risk"
        final = replace(solved.copies, sampling=ready.settings.sampling, notes=(*solved.copies.notes, note))
        held = keep_copies(holdings, table, ready.version, final)
    return Tuned(
        table=table,
        frontier=frontier,
        original=ruler.original,
        noise=noise,
        copies=held,
        overlap=overlap,
        risk=risk,
        notes=fit.notes,
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Makers:
    """Copies of one table by noise, and by the methods that have none."""

    fit: AugmentedFit
    ready: Prepared
    tell: Progress

    def masked(self, noise: float, copies: int) -> Copies:
        """By data augmentation under masks of this noise, from the one fit."""
        self.tell(f"noise {noise:.3g}, {copies} copies")
        perturb = tuple(self.ready.settings.perturb or ())
        masks = given_masks(self.fit.columns, perturb, Masking(noise=noise), None)
        return self._augmented(copies, masks)

    def flat(self) -> Mapping[str, Flat]:
        """Methods without masks, by name."""
        return {"no mask": self._unmasked, "CART": self._by(Method.CART), "norm+logit": self._by(Method.NORMLOGIT)}

    def _unmasked(self, copies: int) -> Copies:
        self.tell(f"no mask, {copies} copies")
        return self._augmented(copies, dict.fromkeys(self.ready.settings.perturb or (), NoMask()))

    def _augmented(self, copies: int, masks: Mapping[str, Any]) -> Copies:
        settings = self.ready.settings
        return self.fit.copies(
            perturb=tuple(settings.perturb or ()),
            copies=copies,
            masks=masks,
            rules=settings.rules,
            bounds=settings.bounds,
        )

    def _by(self, method: Method) -> Callable[[int], Copies]:
        def make(copies: int) -> Copies:
            self.tell(f"{method.value}, {copies} copies")
            return synthesize(self.ready.columns, replace(self.ready.settings, method=method, copies=copies))

        return make


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class _Ruler:
    """Measures copies of one table."""

    base: dict[str, list[Any]]
    ready: Prepared
    wishes: Wishes
    keys: tuple[str, ...]
    original: float

    @classmethod
    def of(cls, ready: Prepared, wishes: Wishes) -> _Ruler:
        """A ruler for this table; the risk of the table itself is what copies are compared with."""
        base = as_lists(ready.columns.source)
        keys = tuple(wishes.keys if wishes.keys is not None else ready.settings.perturb or ())
        itself = reidentify(base, [base], keys=keys, tolerances=wishes.tolerances).original.mean
        return cls(base=base, ready=ready, wishes=wishes, keys=keys, original=itself)

    def overlap(self, copies: Copies) -> float:
        """The mean overlap of intervals over the models."""
        found = [
            compare_models(
                self.base,
                copies.frames,
                formula=formula,
                family=self.wishes.family,
                rule=copies.rule,
                nests=copies.nests,
                sizes=copies.sizes,
                sampling=self.ready.settings.sampling,
                astray="keep",
            ).overlap
            for formula in self.wishes.models
        ]
        return sum(found) / len(found)

    def risk(self, copies: Copies) -> float:
        """The share of persons found, from one copy or from the average of all."""
        frames = [as_lists(frame) for frame in copies]
        filled = filled_columns(self.base, frames)
        seen = [without_filled(self.base, frame, filled) for frame in frames]
        found = reidentify(self.base, seen, keys=self.keys, tolerances=self.wishes.tolerances)
        return max(found.released.mean, found.averaged.mean)


def _solved(makers: _Makers, ruler: _Ruler, wishes: Wishes, copies: int) -> Solution | None:
    """The noise that gives what is asked for; None where nothing is."""
    search: dict[str, Any] = {
        "copies": copies,
        "between": (min(wishes.noises) / 4, max(wishes.noises) * 4),
        "steps": wishes.steps,
    }
    if wishes.risk_below is not None:
        found = risk_below(makers.masked, ruler.risk, wishes.risk_below, **search)
        return _useful(found, ruler.overlap, wishes)
    if wishes.overlap_above is not None:
        return utility_above(makers.masked, ruler.overlap, wishes.overlap_above, **search)
    return None


def _useful(found: Solution, overlap: Yardstick, wishes: Wishes) -> Solution:
    """Both wishes at once: the least noise that is safe enough is also the most useful one."""
    if wishes.overlap_above is not None and overlap(found.copies) < wishes.overlap_above:
        raise CheckFailedError(
            "tuning",
            found="no noise that gives both what is asked of the risk and what is asked of the overlap",
            right="the least noise that is safe enough is useful enough",
            step="loosen one of the two, perturb other columns, or make more copies",
        )
    return found
