"""A black-box audit: a lower bound on ε that holds whatever the mechanism claims.

Terms. A sampler draws outputs of the mechanism on one table, as many as asked, one row an output. An event is a set
of outputs: at most a threshold, at least a threshold, or exactly one value, of one feature. A feature is one
coordinate, or the projection on the direction in which the two samples differ.

0. Draw from the mechanism twice in the same way. Outputs that vary and are the same both times come from a seed: the
   noise of such a mechanism can be known, whatever its law.
1. Draw from the mechanism on two neighbouring tables.
2. On one half of the draws look for the event and the direction that tell the tables apart best.
3. On the other half count that one event. With probability at least `confidence`, both Clopper–Pearson bounds hold, and
   then ε is at least ln((lower bound here − δ) / upper bound there).

The held-out half tests one event, so nothing has to be paid for the search. Whoever audits several mechanisms, or one
on several pairs of tables, says so by `family`: then all of them together raise a false alarm with probability at most
1 − confidence. Reference: Gilbert and McMillan 2018; Ding et al. 2018; Clopper and Pearson 1934.

What it does not promise: finding nothing proves nothing. Only a certificate or a proof bounds ε from above.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from discreet.check import at_least, exact
from discreet.errors import ArgumentError
from discreet.guarantee import ApproxDP, PureDP, number_text
from discreet.stats.shares import least_share, most_share

__all__ = ["Audit", "Event", "Sampler", "audit", "event_counts"]

Outputs = npt.NDArray[np.generic]
Sampler = Callable[[int], npt.ArrayLike]
_THRESHOLDS = 64
_ATOMS = 64
_COMMON = 20  # a value seen less often than this is not worth an event of its own
_TWICE = 1000  # draws of each of the two runs that are compared
_KINDS = ("at most", "at least", "exactly")


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """A set of outputs: those whose feature is at most, at least or exactly a value."""

    direction: tuple[float, ...]
    kind: str
    value: float

    def holds(self, outputs: Outputs) -> npt.NDArray[np.bool_]:
        """Which of the outputs lie in the event."""
        compare = {"exactly": np.equal, "at most": np.less_equal, "at least": np.greater_equal}[self.kind]
        return np.asarray(compare(_project(outputs, self.direction), self.value), dtype=np.bool_)


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """What an audit found: with that confidence, ε is at least `epsilon`; `repeats` if the draws come from a seed."""

    claimed: ApproxDP
    epsilon: float
    event: Event
    hits: tuple[int, int]
    draws: int
    confidence: float
    family: int = 1
    repeats: bool = False

    @property
    def violated(self) -> bool:
        """Whether the claim is refuted."""
        return self.repeats or self.epsilon > float(self.claimed.epsilon)

    def sentence(self) -> str:
        """The finding in plain words."""
        if self.repeats:
            return (
                "The claim is refuted: two runs gave the very same draws, so that who knows the seed knows the noise."
            )
        verdict = "The claim is refuted" if self.violated else "Nothing speaks against the claim"
        together = f" for all {self.family} audits together" if self.family > 1 else ""
        return (
            f"{verdict}: with confidence {100 * self.confidence:.6g} %{together}, ε is at least {self.epsilon:.4g}; "
            f"claimed is {number_text(self.claimed.epsilon)}. The event was hit {self.hits[0]} times of {self.draws} "
            f"on one table and {self.hits[1]} times on its neighbour."
        )


def audit(
    first: Sampler,
    second: Sampler,
    claimed: PureDP | ApproxDP,
    *,
    draws: int = 100_000,
    confidence: float = 1 - 1e-4,
    family: int = 1,
) -> Audit:
    """Bound ε from below for a mechanism given as one sampler a table, on two neighbouring tables.

    Given: samplers whose draws are independent; `family` audits that share the confidence.
    Promise: with probability at least `confidence`, none of the family refutes a claim that holds.
    Because: each audit tests one event on draws that did not choose it, with 1/family of the error (Bonferroni).
    Tested: tests/evaluation/test_audit.py::test_family_of_audits_keeps_its_level
    """
    at_least("draws", draws, 1000)
    error = (1 - exact("confidence", confidence)) / at_least("family", family, 1)
    if not 0 < error < 1:
        raise ArgumentError(
            "confidence", found=f"{confidence}", right="it must lie in (0, 1)", step="give confidence=0.9999"
        )
    promise = claimed.as_approx() if isinstance(claimed, PureDP) else claimed
    samples = _outputs(first, draws), _outputs(second, draws)
    half = draws // 2
    swapped, event = _best_event(samples[0][:half], samples[1][:half], promise.delta, float(error))
    here, there = (samples[1], samples[0]) if swapped else samples
    held_out = draws - half
    hits = int(event.holds(here[half:]).sum()), int(event.holds(there[half:]).sum())
    return Audit(
        claimed=promise,
        epsilon=event_counts(*hits, held_out, float(promise.delta), float(error)),
        event=event,
        hits=hits,
        draws=held_out,
        confidence=confidence,
        family=family,
        repeats=_repeats(first, float(error)),
    )


def _repeats(sampler: Sampler, error: float) -> bool:
    """Whether the sampler gives again what it gave before, though its outputs vary too much for that to be chance.

    Independent draws agree everywhere with probability (Σ p²)^n, for the chances p of the single outputs.
    """
    once, again = _outputs(sampler, _TWICE), _outputs(sampler, _TWICE)
    _, counts = np.unique(once, axis=0, return_counts=True)
    alike = float(((counts / _TWICE) ** 2).sum())
    return _TWICE * math.log(alike) < math.log(error) and bool(np.array_equal(once, again))


def event_counts(here: int, there: int, draws: int, delta: float, error: float) -> float:
    """The lower bound on ε that an event's counts on two tables prove, except with probability `error`."""
    lower = least_share(here, draws, error / 2) - delta
    return max(0.0, math.log(lower / most_share(there, draws, error / 2))) if lower > 0 else 0.0


def _may_exceed(here: int, there: int, draws: int, delta: float, best: float) -> bool:
    """Whether counts taken for the chances themselves, which the bounds never pass, prove more than the best so far."""
    above = here / draws - delta
    return best < 0 or (above > 0 and (there == 0 or math.log(above * draws / there) > best))


def _outputs(sampler: Sampler, draws: int) -> Outputs:
    """The sampler's outputs as a table, one row a draw."""
    outputs = np.asarray(sampler(draws))
    if len(outputs) != draws or outputs.dtype.kind not in "iufb":
        raise ArgumentError(
            "sampler",
            found=f"{len(outputs)} outputs of kind {outputs.dtype}",
            right=f"it must give {draws} numbers, or rows of numbers",
            step="return one number or one row for each draw",
        )
    return outputs.reshape(draws, -1)


def _project(outputs: Outputs, direction: tuple[float, ...]) -> npt.NDArray[np.float64]:
    return np.asarray(np.asarray(outputs, dtype=np.float64) @ np.asarray(direction), dtype=np.float64)


def _best_event(first: Outputs, second: Outputs, delta: Fraction, error: float) -> tuple[bool, Event]:
    """The event with the largest provable ε on these draws, and whether the tables change places for it."""
    best, chosen = -1.0, (False, Event(direction=(1.0,) * first.shape[1], kind="at most", value=0.0))
    for direction in _directions(first, second):
        ours, theirs = _project(first, direction), _project(second, direction)
        for kind, value, here, there in _candidates(ours, theirs):
            for swapped, counts in ((False, (here, there)), (True, (there, here))):
                if not _may_exceed(*counts, len(ours), float(delta), best):
                    continue
                score = event_counts(*counts, len(ours), float(delta), error)
                if score > best:
                    best, chosen = score, (swapped, Event(direction=direction, kind=kind, value=value))
    return chosen


def _directions(first: Outputs, second: Outputs) -> Iterator[tuple[float, ...]]:
    """Each coordinate alone, and for several of them the direction in which the samples' means differ."""
    width = first.shape[1]
    for position in range(width):
        yield tuple(float(position == other) for other in range(width))
    if width > 1:
        scale = np.maximum(np.std(np.asarray(first, dtype=np.float64), axis=0), 1e-12)
        shift = (np.asarray(second, dtype=np.float64).mean(axis=0) - first.astype(np.float64).mean(axis=0)) / scale**2
        norm = float(np.linalg.norm(shift))
        if norm > 0:
            yield tuple(float(part) for part in shift / norm)


def _candidates(
    ours: npt.NDArray[np.float64], theirs: npt.NDArray[np.float64]
) -> Iterator[tuple[str, float, int, int]]:
    """Events of one feature with their counts on both samples."""
    both = np.concatenate([ours, theirs])
    ranks = np.unique(np.quantile(both, np.linspace(0, 1, _THRESHOLDS), method="inverted_cdf"))
    sorted_ours, sorted_theirs = np.sort(ours), np.sort(theirs)
    for value in ranks:
        low = tuple(int(np.searchsorted(one, value, side="right")) for one in (sorted_ours, sorted_theirs))
        yield _KINDS[0], float(value), low[0], low[1]
        high = tuple(len(one) - int(np.searchsorted(one, value, side="left")) for one in (sorted_ours, sorted_theirs))
        yield _KINDS[1], float(value), high[0], high[1]
    values, counts = np.unique(both, return_counts=True)
    common = np.argsort(counts)[::-1][:_ATOMS]
    for value in values[common[counts[common] >= _COMMON]]:
        yield _KINDS[2], float(value), int((ours == value).sum()), int((theirs == value).sum())
