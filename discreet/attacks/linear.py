"""Linear reconstruction: secret bits from many counts over subsets of people, however noisy each count.

1. The intruder picks random subsets of the n people and asks for each how many of them have the secret bit.
2. Decoder `squares`: x in [0, 1]^n at the least sum of squares |Ax − answers|², then rounded. Best for bounded and
   Gaussian noise. Decoder `deviations`: the same with the sum of distances, a linear program; best where few answers
   are grossly wrong and the others exact. Decoder of every subset: for small n, the bits whose counts over all 2^n
   subsets are nowhere further from the answers than the noise allows.
3. Success is the share of right bits beside that of always guessing the commoner bit.

The box problem min |Ax − b|² is solved by accelerated gradient steps (Nesterov; Beck and Teboulle 2009) on G = A'A. The
G of random subsets is large along (1, …, 1) and even elsewhere; measured by the metric c(I + τ11') it is even
everywhere, so that some twenty steps do, and none of them solves a system. A step counts only where the metric is seen
to bound G, and the steps end when the duality gap, which bounds what is left to gain, is small.

For Gaussian noise of standard deviation α√n and k subsets, plain least squares leaves a share Φ(−√(k/n − 1)/(4α)) of
wrong bits, whatever n is. Reference: Dinur and Nissim 2003; Dwork, McSherry and Talwar 2007 (linear programs).

Tested: test_box_squares_meet_their_optimality_conditions, test_box_squares_are_least_for_any_subsets,
test_error_against_noise_follows_the_closed_form.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from discreet.attacks.rate import Rate
from discreet.check import at_least, one_of
from discreet.errors import ArgumentError, MissingExtraError
from discreet.randomness import Generator
from discreet.stats.laws import normal_cdf

__all__ = [
    "Answer",
    "Decoder",
    "attack_counts",
    "box_least_squares",
    "decode_every_subset",
    "judge",
    "least_deviations",
    "random_subsets",
    "wrong_share",
]

Bits: TypeAlias = npt.NDArray[np.bool_]
Floats: TypeAlias = npt.NDArray[np.float64]
Answer: TypeAlias = Callable[[Bits], Floats]
Decoder: TypeAlias = Literal["squares", "deviations"]

_PEOPLE_AT_MOST, _ALL_SUBSETS_AT_MOST = 5000, 12
_STEPS_AT_MOST, _NEAR = 2000, 1e-7
_TURNS_AT_MOST, _LEVEL = 100, 1e-9
_WIDER, _ALONG = 1.3, 1.5


def attack_counts(
    answer: Answer,
    people: int,
    *,
    queries: int | None = None,
    decoder: Decoder = "squares",
    generator: Generator,
) -> Bits:
    """The secret bits as far as random subset counts tell; `answer` takes subsets, one a row, and gives a number each.

    Without `queries` four times as many as there are people.
    """
    at_least("people", people, 2)
    if people > _PEOPLE_AT_MOST:
        raise ArgumentError(
            "people", found=f"{people}", right=f"at most {_PEOPLE_AT_MOST}", step="attack a part of the people"
        )
    one_of("decoder", decoder, get_args(Decoder))
    subsets = random_subsets(people, 4 * people if queries is None else at_least("queries", queries, 1), generator)
    answers = _numbers(answer(subsets), len(subsets))
    guess = box_least_squares(subsets, answers) if decoder == "squares" else least_deviations(subsets, answers)
    return guess >= 0.5


def random_subsets(people: int, queries: int, generator: Generator) -> Bits:
    """Subsets that hold each person with chance one half, one a row."""
    return generator.integers(0, 2, (queries, people), dtype=np.int8).astype(bool)


def wrong_share(alpha: float, ratio: float) -> float:
    """The share of wrong bits that plain least squares leaves under Gaussian noise of α√n and k = ratio·n subsets."""
    if alpha == 0:
        return 0.0
    return float(normal_cdf(np.array(-math.sqrt(ratio - 1) / (4 * alpha))))


def box_least_squares(subsets: Bits, answers: Floats) -> Floats:
    """x in [0, 1]^n at the least |Ax − b|²."""
    matrix = subsets.astype(np.float32)  # sums of up to 2^24 ones are exact in it
    gram = (matrix.T @ matrix).astype(np.float64)
    # Beside what x = ½ answers, the answers are small: single precision is enough for their sums.
    beside = (np.asarray(answers, dtype=float) - matrix.sum(axis=1) / 2).astype(np.float32)
    return 0.5 + _least_around_zero(gram, (beside @ matrix).astype(np.float64), len(subsets))


def _least_around_zero(gram: Floats, target: Floats, queries: int) -> Floats:
    """x in [−½, ½]^n at the least ½x'Gx − t'x."""
    people = len(target)
    # All eigenvalues of a random Gram matrix but the one along (1, …, 1) lie below queries/4 · (1 + √(n/k))².
    scale = _WIDER * queries / 4 * (1 + math.sqrt(people / queries)) ** 2
    tie = _ALONG * queries / 4 / scale
    found = ahead = pulled = ahead_pulled = np.zeros(people)
    momentum = 1.0
    for _ in range(_STEPS_AT_MOST):
        slope = ahead_pulled - target
        while True:
            new = _stepped(ahead, ahead - slope / scale, tie)
            new_pulled = gram @ new
            way = new - ahead
            if way @ (new_pulled - ahead_pulled) <= scale * (way @ way + tie * way.sum() ** 2) * (1 + _LEVEL):
                break
            scale *= 2  # the metric did not bound G along this way
        gradient = new_pulled - target
        # No point of the box is lower than this one by more than the sum: the duality gap.
        if np.maximum(gradient * (new + 0.5), gradient * (new - 0.5)).sum() <= _NEAR * queries:
            return new
        if way @ (found - new) > 0:  # the way turned round: begin anew from here
            momentum = 1.0
        following = (1 + math.sqrt(1 + 4 * momentum**2)) / 2
        push = (momentum - 1) / following
        ahead, ahead_pulled = new + push * (new - found), new_pulled + push * (new_pulled - pulled)
        found, pulled, momentum = new, new_pulled, following
    return found


def _stepped(start: Floats, wish: Floats, tie: float) -> Floats:
    """The x in [−½, ½]^n with x = clip(wish − tie · r), where r is the sum of x − start.

    The sum falls in r, so that there is one; Newton's steps between two bounds find it.
    """
    base = float(start.sum())
    low, high = -len(start) / 2 - base, len(start) / 2 - base
    moved = min(max(0.0, low), high)
    point = start
    for _ in range(_TURNS_AT_MOST):
        free = wish - tie * moved
        point = np.clip(free, -0.5, 0.5)
        miss = float(point.sum()) - base - moved
        if abs(miss) < _LEVEL:
            break
        low, high = (moved, high) if miss > 0 else (low, moved)
        moved += miss / (1 + tie * np.count_nonzero(point == free))
        if not low <= moved <= high:
            moved = (low + high) / 2
    return point


def least_deviations(subsets: Bits, answers: Floats) -> Floats:
    """x in [0, 1]^n at the least Σ|Ax − b|, a linear program."""
    linprog, sparse = _linear_programs()
    queries, people = subsets.shape
    matrix = sparse.csr_matrix(subsets.astype(float))
    # Ax − b = over − under, both at least zero; their sum is least when one of each pair is zero.
    identity = sparse.identity(queries, format="csr")
    equal = sparse.hstack([matrix, -identity, identity], format="csr")
    cost = np.concatenate([np.zeros(people), np.ones(2 * queries)])
    bounds = [(0.0, 1.0)] * people + [(0.0, None)] * (2 * queries)
    solved = linprog(cost, A_eq=equal, b_eq=np.asarray(answers, float), bounds=bounds, method="highs-ipm")
    return np.asarray(solved.x[:people], dtype=float)


def decode_every_subset(answer: Answer, people: int) -> Bits:
    """The bits whose counts over all 2^n subsets are nearest to the answers, by the largest distance.

    If every answer errs by at most E, the true bits are within E, so what is found is too; two vectors of bits whose
    counts differ by at most 2E on every subset differ in at most 4E bits.
    Tested: test_all_subsets_leave_at_most_four_times_the_error
    """
    if not 1 <= people <= _ALL_SUBSETS_AT_MOST:
        raise ArgumentError(
            "people",
            found=f"{people}",
            right=f"all subsets are asked of 1 to {_ALL_SUBSETS_AT_MOST} people",
            step="ask random subsets",
        )
    every = (np.arange(1 << people)[:, None] >> np.arange(people) & 1).astype(bool)
    answers = _numbers(answer(every), len(every))
    counts = every.astype(np.int16) @ every.T.astype(np.int16)
    farthest = np.abs(counts - answers[:, None]).max(axis=0)
    return np.asarray(every[int(farthest.argmin())])


def judge(guess: Bits, truth: Bits) -> Rate:
    """The share of right bits, beside that of always guessing the commoner one."""
    commoner = max(float(truth.mean()), 1 - float(truth.mean()))
    return Rate(hits=int((guess == truth).sum()), tries=len(truth), baseline=commoner)


def _numbers(answers: Any, queries: int) -> Floats:
    numbers = np.asarray(answers, dtype=float)
    if numbers.shape != (queries,) or not np.isfinite(numbers).all():
        raise ArgumentError(
            "answer",
            found=f"numbers of shape {numbers.shape}, or not all finite",
            right=f"one number for each of {queries} subsets",
            step="return as many counts as there are rows",
        )
    return numbers


def _linear_programs() -> tuple[Any, Any]:
    try:
        from scipy import sparse
        from scipy.optimize import linprog
    except ImportError:
        raise MissingExtraError("linear programs", library="scipy", extra="attacks") from None
    return linprog, sparse
