"""Group `attacks`: what intruders reach, and how fast, beside figures of risk research from an earlier measurement.

Ground truths are checked first: the block of seven has one solution, the closed forms hold. A wrong one stops the run.
"""

from __future__ import annotations

import math
import resource
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from importlib.resources import as_file, files

import numpy as np

from bench.measure import cpu_seconds, fastest
from bench.record import Record
from discreet.attacks.linear import attack_counts, wrong_share
from discreet.attacks.linkage import PLANS, Knowledge, attack_ratings
from discreet.attacks.noise_curve import ALPHAS, measure_noise, noisy_answer
from discreet.attacks.ratings import invented_ratings, ratings_of
from discreet.attacks.reconstruction.reading import read_publication
from discreet.attacks.reconstruction.solve import solve_block
from discreet.attacks.tracing import exact_means, expected_power, trace_invented
from discreet.demonstration import four_ways
from discreet.randomness import keyed_generator
from tests.attacks.blocks import printed, table_of

__all__ = ["records"]

_CPU, _SHARE = "CPU s", "share"
# Measured on a public set of the same shape, at an eccentricity of 1.5: matched right, and wrong.
_LINKED = dict(
    zip(
        PLANS,
        (
            (0.393, 0.0),
            (0.765, 0.0),
            (0.968, 0.0),
            (0.472, 0.052),
            (0.372, 0.003),
            (0.130, 0.117),
            (0.938, 0.005),
            (0.968, 0.0),
            (0.115, 0.0),
        ),
        strict=True,
    )
)
_SETS_DIFFER = 1 / 280  # the variance of a share p from invented set to invented set, over p(1 − p), at most
# Box least squares, 4n counts, uniform noise, n = 1000: share of wrong bits.
_WRONG = {0.1: 0.0, 0.2: 0.003, 0.3: 0.011, 0.5: 0.049, 0.75: 0.123, 1.0: 0.203, 2.0: 0.327, 4.0: 0.415}
_GIBIBYTE = 1 << 20  # of the kilobytes that the kernel counts


def records() -> Iterator[Record]:
    """One record after the other."""
    yield from _blocks()
    yield from _linear()
    yield from _tracing()
    yield from _linkage()
    yield from _large()
    yield from _four_ways()


def _blocks() -> Iterator[Record]:
    with as_file(files("discreet.examples") / "block.yaml") as path:
        published = read_publication(path)
    solved = solve_block(published)
    _require(solved.unique and len(solved.certain) == 7)
    spent = fastest(partial(solve_block, published))
    yield Record(task="block of seven: every solution, and that it is the only one", ours=spent, noted=0.035, unit=_CPU)
    yield Record(task="block of seven: solutions", ours=len(solved.blocks), bar=1, barred="ours", unit="blocks")
    fifty, truth = printed(50)
    start = cpu_seconds()
    solved = solve_block(fifty, most=1, seconds=600)
    spent = cpu_seconds() - start
    _require(table_of(solved.blocks[0]) == table_of(truth))
    of = "block of 50 people, 9 printed rows: a block that prints the same numbers, and who is certain"
    yield Record(task=of, ours=spent, unit=_CPU)


def _linear() -> Iterator[Record]:
    people = 1000
    truth = keyed_generator(1).integers(0, 2, people).astype(bool)
    for alpha in (0.3, 1.0):
        answer = noisy_answer(truth, alpha * math.sqrt(people), "uniform", keyed_generator(2))
        decode = partial(attack_counts, answer, people, generator=keyed_generator(3))
        of = f"linear reconstruction, n = 1,000, k = 4n, uniform noise of {alpha:g}·√n"
        yield Record(task=of, ours=fastest(decode, repeats=2), noted=1.4, bar=1, barred="ours", unit=_CPU)
    curve = measure_noise(people=people, kind="uniform", trials=2, generator=keyed_generator(4))
    for alpha, wrong in zip(ALPHAS, curve.wrong, strict=True):
        # Four standard errors of 2,000 bits, and of the 1,000 behind the noted figure, above it.
        bar = _WRONG[alpha] + 4 * math.sqrt(max(_WRONG[alpha], 1e-3) * (1 - _WRONG[alpha]) * (1 / 2000 + 1 / 1000))
        of = f"wrong bits, n = 1,000, k = 4n, uniform noise of {alpha:g}·√n"
        yield Record(task=of, ours=wrong, noted=_WRONG[alpha], bar=round(bar, 4), barred="ours", unit=_SHARE)
    gaussian = measure_noise(people=300, kind="gaussian", trials=4, generator=keyed_generator(5))
    for alpha, wrong in zip(ALPHAS, gaussian.wrong, strict=True):
        closed = wrong_share(alpha, 4)
        bar = closed + 3 * math.sqrt(closed * (1 - closed) / 1200) + 1e-9
        of = f"wrong bits, n = 300, k = 4n, Gaussian noise of {alpha:g}·√n, and the closed form"
        yield Record(task=of, ours=wrong, noted=round(closed, 4), bar=round(bar, 4), barred="ours", unit=_SHARE)


def _tracing() -> Iterator[Record]:
    """Ten traces of 200 people for each number of attributes: how many standard errors off the closed form."""
    for ratio in (0.25, 1, 4, 10):
        attributes = round(200 * ratio)
        shares, expected = [], []
        for seed in range(10):
            found = trace_invented(
                exact_means, people=200, attributes=attributes, outsiders=4000, generator=keyed_generator(seed)
            )
            shares.append(found.found[0.05].share)
            expected.append(expected_power(found.frequencies, 200, 0.05))
        closed = float(np.mean(expected))
        error = max(float(np.std(shares, ddof=1)) / math.sqrt(10), math.sqrt(closed * (1 - closed) / 2000))
        of = f"tracing in means, {attributes:,} attributes of 200 people"
        yield Record(task=f"{of}: found at 5 %", ours=float(np.mean(shares)), noted=round(closed, 4), unit=_SHARE)
        off = abs(float(np.mean(shares)) - closed) / error
        yield Record(task=f"{of}: off the closed form", ours=off, bar=3, barred="ours", unit="standard errors")


def _linkage() -> Iterator[Record]:
    """Everybody in four invented sets, beside the 400 people of one public set behind the noted figures."""
    people = 943
    sets = [invented_ratings(keyed_generator(seed), people=people) for seed in range(4)]
    found = [
        attack_ratings(one, targets=people, generator=keyed_generator(7 + seed)).plans for seed, one in enumerate(sets)
    ]
    of = f"linkage among {people} people, 100,000 invented ratings"
    for plans in zip(*found, strict=True):
        plan, tries = plans[0].knowledge, sum(one.right.tries for one in plans)
        right, wrong = sum(one.right.hits for one in plans) / tries, sum(one.wrong for one in plans) / tries
        noted_right, noted_wrong = _LINKED[plan]
        for task, ours, noted in (
            ("not matched right", 1 - right, 1 - noted_right),
            ("matched wrong", wrong, noted_wrong),
        ):
            # Four standard errors: of these tries, of the noted ones, and of four sets that differ.
            error = math.sqrt(max(noted * (1 - noted), 1e-3) * (1 / tries + 1 / 400 + _SETS_DIFFER / len(sets)))
            bar = round(noted + 4 * error, 4)
            yield Record(
                task=f"{of}, {plan}: {task}", ours=ours, noted=round(noted, 4), bar=bar, barred="ours", unit=_SHARE
            )
    attack = partial(attack_ratings, sets[0], targets=400, generator=keyed_generator(8))
    yield Record(task=f"{of}: nine plans, 400 targets each", ours=fastest(attack, repeats=1), noted=11, unit=_CPU)


def _large() -> Iterator[Record]:
    """In a process of its own, whose memory is the kernel's count."""
    command = [sys.executable, "-c", "from bench.attacks import large; large()"]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    right, spent, gibibytes = map(float, printed.split())
    of = "linkage among 100,000 people, 10 M invented ratings, 8 known"
    yield Record(task=f"{of}: matched right", ours=right, unit=_SHARE)
    yield Record(task=f"{of}: one person", ours=spent, unit=_CPU)
    yield Record(task=f"{of}: memory", ours=gibibytes, bar=4, barred="ours", unit="GiB")


def large() -> None:
    """Print the share of right matches, CPU seconds a person and gibibytes at most, of 10 M ratings."""
    generator, people, items, count, targets = keyed_generator(5), 100_000, 17_000, 10_000_000, 40
    fame = generator.zipf(1.3, 2 * count) % items
    pairs = np.unique(generator.integers(0, people, 2 * count) * items + fame)
    pairs = generator.permutation(pairs)[:count]
    days = generator.integers(0, 2000, len(pairs))
    ratings = ratings_of(pairs // items, pairs % items, generator.integers(1, 6, len(pairs)), days)
    del pairs, days, fame
    start = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    plans = [Knowledge(ratings=8, day_error=3)]
    found = attack_ratings(ratings, plans=plans, targets=targets, generator=keyed_generator(6))
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(found.plans[0].right.share, (used.ru_utime - start) / targets, used.ru_maxrss / _GIBIBYTE)


def _four_ways() -> Iterator[Record]:
    found = four_ways()
    _require(len(found.broken) == 4 and not found.broken_with_noise)
    for name in found.plain:
        of = f"24 students by {name}: secrets guessed right"
        yield Record(task=of, ours=found.plain[name].share, unit=_SHARE)
        yield Record(task=f"{of}, ε = 1 for all four", ours=found.private[name].share, unit=_SHARE)
    yield Record(task="24 students attacked in eight ways", ours=fastest(four_ways, repeats=2), unit=_CPU)


def _require(right: bool) -> None:
    if not right:
        raise SystemExit("a measured answer is wrong: the figures of this run mean nothing")
