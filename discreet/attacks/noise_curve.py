"""Noise curve: the share of secret bits that linear reconstruction gets wrong, against the noise of each answer.

Each point asks k = ratio·n random subset counts of fresh secret bits, adds noise of size α√n, and decodes. An error of
one half is chance. The error does not depend on n, only on α and the ratio: that is why many accurate answers about
anybody are a disclosure about everybody. Under Laplace noise, ε per query and ε in all are k apart.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np

from discreet.attacks.linear import Bits, Decoder, Floats, attack_counts, judge, wrong_share
from discreet.attacks.rate import RATE_COLUMNS, Rate
from discreet.check import at_least, one_of, some
from discreet.draw.chart import Axis, Chart, Line, Points, Rule
from discreet.draw.format import written
from discreet.draw.grid import Grid, GridColumn
from discreet.mechanisms.noise import LaplaceNoise, release
from discreet.randomness import Bits as Entropy
from discreet.randomness import Generator

__all__ = ["NoiseCurve", "NoiseKind", "laplace_answer", "measure_noise", "noisy_answer"]

NoiseKind: TypeAlias = Literal["uniform", "gaussian"]
ALPHAS = (0.1, 0.2, 0.3, 0.5, 0.75, 1.0, 2.0, 4.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseCurve:
    """One rate of right bits for each size of noise."""

    people: int
    ratio: int
    kind: NoiseKind
    decoder: Decoder
    alphas: tuple[float, ...]
    rates: tuple[Rate, ...]

    @property
    def wrong(self) -> tuple[float, ...]:
        """The share of wrong bits at each noise."""
        return tuple(1 - rate.share for rate in self.rates)

    def sentences(self) -> tuple[str, ...]:
        """What came out, most telling first."""
        lost = [alpha for alpha, rate in zip(self.alphas, self.rates, strict=True) if rate.share >= 0.95]
        broken = [alpha for alpha, rate in zip(self.alphas, self.rates, strict=True) if rate.beats_chance]
        most = max(lost, default=0.0)
        return (
            f"{self.people:,} people, {self.ratio * self.people:,} random subset counts: with noise of up to "
            f"{most:g}·√n on each answer at least 95 % of the secret bits are found."
            if lost
            else f"{self.people:,} people, {self.ratio * self.people:,} random subset counts: no tried noise leaves "
            "95 % of the secret bits to be found.",
            f"Up to {max(broken, default=0.0):g}·√n the bits found are more than guessing explains.",
        )

    def charts(self) -> tuple[Chart, ...]:
        """Wrong bits against noise, with the closed form and with chance."""
        fine = tuple(round(self.alphas[0] * (self.alphas[-1] / self.alphas[0]) ** (step / 60), 6) for step in range(61))
        formula = Line(fine, tuple(wrong_share(alpha, self.ratio) for alpha in fine), "closed form, Gaussian noise")
        return (
            Chart(
                f"Wrong bits against noise, {self.ratio}n counts",
                Axis("noise of each answer, in √n", scale="log"),
                Axis("share of bits wrong", format="share", domain=(0.0, 0.55)),
                (formula, Points(self.alphas, self.wrong, f"{self.kind} noise, measured"), Rule(0.5, "y", "chance")),
                f"Random subset counts of {self.people:,} people, decoded by least {self.decoder}. Noise well below √n "
                "on each answer hides nothing.",
            ),
        )

    def grids(self) -> tuple[Grid, ...]:
        """One row for each noise."""
        columns = (GridColumn("noise in √n", "number"), GridColumn("wrong", "share"), *RATE_COLUMNS)
        rows = tuple((alpha, 1 - rate.share, *rate.cells) for alpha, rate in zip(self.alphas, self.rates, strict=True))
        note = f"{self.kind} noise; success is a right bit, chance the commoner one."
        return (Grid("Secret bits found", columns, rows, note=note),)

    def as_json(self) -> dict[str, object]:
        """Everything, as plain values."""
        return {
            "attack": "linear reconstruction",
            "people": self.people,
            "queries": self.ratio * self.people,
            "noise": self.kind,
            "decoder": self.decoder,
            "points": [
                {"alpha": alpha, "wrong": 1 - rate.share, **rate.as_json()}
                for alpha, rate in zip(self.alphas, self.rates, strict=True)
            ],
        }


def measure_noise(
    *,
    people: int = 300,
    ratio: int = 4,
    kind: NoiseKind = "uniform",
    decoder: Decoder = "squares",
    alphas: Sequence[float] = ALPHAS,
    trials: int = 2,
    generator: Generator,
    progress: Callable[[str], None] | None = None,
) -> NoiseCurve:
    """The curve over invented people whose secret bits are fair coins."""
    at_least("trials", trials, 1)
    at_least("ratio", ratio, 2)
    one_of("kind", kind, get_args(NoiseKind))
    sizes, tell = tuple(sorted(some("alphas", alphas, step="give noises such as 0.1, 1"))), progress or (lambda _: None)
    rates = []
    for alpha in sizes:
        tell(f"noise of {written('number', alpha)}·√n")
        hits = 0
        for _ in range(trials):
            truth = generator.integers(0, 2, people).astype(bool)
            answer = noisy_answer(truth, alpha * math.sqrt(people), kind, generator)
            guess = attack_counts(answer, people, queries=ratio * people, decoder=decoder, generator=generator)
            hits += judge(guess, truth).hits
        rates.append(Rate(hits=hits, tries=trials * people, baseline=0.5))
    return NoiseCurve(people=people, ratio=ratio, kind=kind, decoder=decoder, alphas=sizes, rates=tuple(rates))


def noisy_answer(truth: Bits, size: float, kind: NoiseKind, generator: Generator) -> Callable[[Bits], Floats]:
    """A keeper who answers subset counts with simulated noise: uniform within ±size, or Gaussian of that deviation."""

    def answer(subsets: Bits) -> Floats:
        count = len(subsets)
        noise = generator.normal(0, size, count) if kind == "gaussian" else generator.uniform(-size, size, count)
        return np.asarray(subsets @ truth.astype(float) + noise)

    return answer


def laplace_answer(
    truth: Bits, *, epsilon: float, total: bool, bits: Entropy, teaching: bool = False
) -> Callable[[Bits], Floats]:
    """A keeper under differential privacy: ε for all queries together, or ε anew for each of them.

    Given: neighbours differ in one person's bit; a subset count then moves by at most 1.
    Promise: all answers together are ε-differentially private with `total`, and kε without it.
    Because: the ℓ1 sensitivity of k counts is at most k.
    Tested: test_total_budget_leaves_chance_and_budget_per_query_does_not
    """

    def answer(subsets: Bits) -> Floats:
        moves = len(subsets) if total else 1
        noise = LaplaceNoise.for_guarantee(sensitivity=moves, epsilon=epsilon)
        counts = (subsets @ truth.astype(np.int64)).astype(np.int64)
        return release(counts, noise, bits, teaching=teaching).value.astype(float)

    return answer
