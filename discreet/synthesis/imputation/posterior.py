"""Draws from the posterior of the copula: correlations, cuts and values for missing cells, with their convergence.

1. Chains of Gibbs sweeps (`stats.copula`), each from its own random start: a burn-in, then a draw kept after every
   `thin` sweeps, in turn from all chains.
2. Cuts and stretches of a column without missing cells that is a number are the normal scores of its shares. Those of
   all others are read off the latents of the draw, over their standard deviation: they carry the uncertainty of
   shares, and stay right where cells are missing by what other columns say.
3. Missing cells are filled with what their latents stand for.
4. R̂ and the effective draws of all correlations between columns are taken over every sweep after half of the burn-in:
   chains that agree from there on agree in what is kept, also where few draws are. Those among the latents of one
   choice are left out: the data hardly tell them, and hardly need them.

With a checkpoint the state is written when the work is broken off, and now and then. It holds latents of every
record: confidential, readable by its owner only, deleted when the chains are done. Without a seed the key of the
randomness is not in it: the work goes on with a fresh one. What it does not promise: that an R̂ near 1 means enough
sweeps; one far from 1 is a sign of too few.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from discreet.check import at_least
from discreet.randomness import Generator
from discreet.stats.convergence import effective_draws, split_rhat
from discreet.stats.copula import Ends, Gibbs, Latent
from discreet.synthesis.imputation.checkpoint import Checkpoint
from discreet.synthesis.imputation.coding import Coding, Sort

__all__ = ["Draw", "Posterior", "Progress", "Schedule", "sample_posterior"]

Floats = npt.NDArray[np.float64]
Arrays = dict[str, npt.NDArray[np.generic]]
Progress: TypeAlias = Callable[[float], object]
_SAVE_SECONDS = 30.0
_AGREE, _ENOUGH = 1.05, 100
_EVERY = 25


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """Chains, sweeps thrown away at the start of each, and sweeps from one kept draw of a chain to the next."""

    chains: int = 2
    burn: int = 1000
    thin: int = 50

    def __post_init__(self) -> None:
        at_least("chains", self.chains, 1)
        at_least("burn", self.burn, 0)
        at_least("thin", self.thin, 4)

    @property
    def watched(self) -> int:
        """The sweeps of each chain before those by which its agreement with the others is judged."""
        return self.burn // 2

    def draws(self, wanted: int) -> int:
        """Kept draws of each chain, for so many in all."""
        return -(-wanted // self.chains)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Draw:
    """One draw: the covariance of the latents (variance 1 but in a choice), the means of choices, for each column the
    ends of its levels (None for a choice), and values for its missing cells."""

    covariance: Floats
    means: Floats
    ends: tuple[Ends | None, ...]
    filled: Mapping[str, Floats]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Posterior:
    """Kept draws, and how well the chains agree: the worst R̂ and the least effective draws of any correlation."""

    draws: tuple[Draw, ...]
    rhat: float
    effective: float

    @property
    def converged(self) -> bool:
        """R̂ at most 1.05 and at least 100 effective draws for every correlation."""
        return self.rhat <= _AGREE and self.effective >= _ENOUGH

    @property
    def note(self) -> str:
        """A sentence on the agreement."""
        figures = f"R̂ is at most {self.rhat:.3f}, effective draws are at least {self.effective:.0f}"
        if self.converged:
            return f"chains agree: {figures}"
        return f"chains do not agree yet: {figures}; give a longer burn-in and more sweeps between draws"


def sample_posterior(
    codings: Sequence[Coding],
    draws: int,
    schedule: Schedule,
    generator: Generator,
    *,
    seeded: bool,
    edge: int,
    progress: Progress | None = None,
    checkpoint: Path | None = None,
) -> Posterior:
    """Run the chains, or go on where a checkpoint of the same work broke off. An exception of `progress` breaks off."""
    chains = [_Chain(codings, schedule, generator, edge) for _ in range(schedule.chains)]
    store = Checkpoint(checkpoint, _fingerprint(codings, schedule, draws, edge, seeded=seeded))
    found = store.load()
    for at, chain in enumerate(chains):
        chain.unpack(found, f"{at}/")
    if seeded and "generator" in found:
        generator.bit_generator.state = json.loads(str(found["generator"]), object_hook=_numbers)

    def keep() -> None:
        if checkpoint is not None:
            arrays = {name: part for at, one in enumerate(chains) for name, part in one.pack(f"{at}/").items()}
            if seeded:
                arrays["generator"] = np.array(json.dumps(generator.bit_generator.state, default=_plain))
            store.save(arrays)

    try:
        _run(chains, schedule.draws(draws), progress, keep)
    except BaseException:
        keep()
        raise
    store.delete()
    in_turn = [one for group in zip(*(chain.kept for chain in chains), strict=True) for one in group][:draws]
    trace = np.stack([chain.trace for chain in chains])
    if not trace.shape[2]:
        return Posterior(draws=tuple(in_turn), rhat=1.0, effective=float(trace.shape[0] * trace.shape[1]))
    worst, least = float(split_rhat(trace).max()), float(effective_draws(trace).min())
    return Posterior(draws=tuple(in_turn), rhat=worst, effective=least)


def _run(chains: Sequence[_Chain], draws: int, progress: Progress | None, keep: Callable[[], None]) -> None:
    whole = sum(chain.length(draws) for chain in chains)
    saved = time.monotonic()
    for chain in chains:
        while chain.done < chain.length(draws):
            chain.step()
            if chain.done % _EVERY == 0 or chain.done == chain.length(draws):
                if progress is not None:
                    progress(sum(one.done for one in chains) / whole)
                if time.monotonic() - saved > _SAVE_SECONDS:
                    keep()
                    saved = time.monotonic()


class _Chain:
    """One chain: its state, the draws it has kept and the correlations of its sweeps."""

    def __init__(self, codings: Sequence[Coding], schedule: Schedule, generator: Generator, edge: int) -> None:
        self._codings, self._schedule, self._edge = codings, schedule, edge
        self._gibbs = Gibbs([coding.latent for coding in codings], generator)
        owner = np.repeat(np.arange(len(codings)), [one.places.stop - one.places.start for one in codings])
        self._between = np.nonzero(owner[:, None] < owner[None, :])
        self._scores: dict[int, Ends] = {
            at: column.scores()
            for at, (coding, column) in enumerate(zip(codings, self._gibbs.columns, strict=True))
            if isinstance(column, Latent) and coding.sort is Sort.NUMBER and not coding.column.missing.any()
        }
        self.done = 0
        self.kept: list[Draw] = []
        self._trace: list[Floats] = []

    @property
    def trace(self) -> Floats:
        """Correlations, a line a sweep after half of the burn-in."""
        return np.stack(self._trace)

    def length(self, draws: int) -> int:
        """Sweeps in all."""
        return self._schedule.burn + self._schedule.thin * draws

    def step(self) -> None:
        """One sweep, with what is kept of it."""
        self._gibbs.sweep()
        if self.done >= self._schedule.watched:
            self._trace.append(self._gibbs.correlation[self._between])
        after = self.done + 1 - self._schedule.burn
        if after > 0 and after % self._schedule.thin == 0:
            self.kept.append(self._draw())
        # Counted last: who is interrupted on the way finds more than was counted, and `_whole` cuts it off.
        self.done += 1

    def _whole(self) -> None:
        """Drop what a sweep that was interrupted left beyond those that are counted."""
        del self._trace[max(self.done - self._schedule.watched, 0) :]
        del self.kept[max(self.done - self._schedule.burn, 0) // self._schedule.thin :]

    def pack(self, prefix: str) -> Arrays:
        """The chain as arrays."""
        self._whole()
        packed: Arrays = {
            f"{prefix}done": np.array(self.done),
            f"{prefix}latents": self._gibbs.latents,
            f"{prefix}covariance": self._gibbs.covariance,
            f"{prefix}means": self._gibbs.means,
        }
        if self._trace:
            packed[f"{prefix}trace"] = self.trace
        for at, draw in enumerate(self.kept):
            packed[f"{prefix}{at}/covariance"] = draw.covariance
            packed[f"{prefix}{at}/means"] = draw.means
            for place, ends in enumerate(draw.ends):
                if ends is not None and place not in self._scores:
                    packed[f"{prefix}{at}/ends/{place}"] = np.stack([ends.bottoms, ends.tops])
            for name, values in draw.filled.items():
                packed[f"{prefix}{at}/filled/{name}"] = values
        return packed

    def unpack(self, arrays: Arrays, prefix: str) -> None:
        """Go on from these arrays, if they speak of this chain."""
        if f"{prefix}done" not in arrays:
            return
        self.done = int(arrays[f"{prefix}done"])
        self._gibbs.restore(*(_floats(arrays[f"{prefix}{name}"]) for name in ("latents", "covariance", "means")))
        self._trace = list(_floats(arrays.get(f"{prefix}trace", np.zeros(0))))
        at = 0
        while f"{prefix}{at}/covariance" in arrays:
            own, start = f"{prefix}{at}/", f"{prefix}{at}/filled/"
            ends = [self._scores.get(place) for place in range(len(self._codings))]
            for place in range(len(ends)):
                if f"{own}ends/{place}" in arrays:
                    ends[place] = Ends(*_floats(arrays[f"{own}ends/{place}"]))
            filled = {name[len(start) :]: _floats(part) for name, part in arrays.items() if name.startswith(start)}
            covariance, means = _floats(arrays[f"{own}covariance"]), _floats(arrays[f"{own}means"])
            self.kept.append(Draw(covariance=covariance, means=means, ends=tuple(ends), filled=filled))
            at += 1

    def _draw(self) -> Draw:
        gibbs, scales = self._gibbs, self._gibbs.scales.copy()
        for coding in self._codings:
            if coding.sort is Sort.CHOICE:
                scales[coding.places] = 1.0
        ends: list[Ends | None] = []
        filled: dict[str, Floats] = {}
        for at, (coding, column) in enumerate(zip(self._codings, gibbs.columns, strict=True)):
            mine = None
            if isinstance(column, Latent):
                mine = self._scores.get(at) or column.ends(gibbs.latents[coding.first], float(scales[coding.first]))
            ends.append(mine)
            gone = np.flatnonzero(coding.column.missing)
            if len(gone):
                latents = gibbs.latents[coding.places][:, gone] / scales[coding.places, None]
                filled[coding.column.name] = coding.decode(latents, mine, gibbs.means[coding.places], self._edge)
        covariance = gibbs.covariance / np.outer(scales, scales)
        return Draw(covariance=covariance, means=gibbs.means.copy(), ends=tuple(ends), filled=filled)


def _fingerprint(codings: Sequence[Coding], schedule: Schedule, draws: int, edge: int, *, seeded: bool) -> str:
    made = hashlib.sha256(f"{schedule} {draws} {edge} {seeded}".encode())
    for coding in codings:
        made.update(f"{coding.column.name!r} {coding.sort.value}".encode())
        made.update(coding.column.values.tobytes())
    return made.hexdigest()


def _floats(array: npt.NDArray[np.generic]) -> Floats:
    return np.asarray(array, dtype=np.float64)


def _plain(value: object) -> object:
    """Arrays of a generator's state as lists of whole numbers that say so."""
    if isinstance(value, np.ndarray):
        return {"numbers": [int(one) for one in value]}
    return int(value)  # type: ignore[call-overload]


def _numbers(value: dict[str, object]) -> object:
    return np.array(value["numbers"], dtype=np.uint64) if set(value) == {"numbers"} else value
