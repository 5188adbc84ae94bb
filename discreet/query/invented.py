"""What a part could have released, invented from public facts: the same shape, and nothing of the data.

Each cell gets a number of rows between 100 and 999 that a digest of the plan and the cell's place makes up, and each
value lies somewhere between its bounds. The same question always gets the same inventions.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from fractions import Fraction
from math import comb

import numpy as np

from discreet.measure.bounds import PartProof
from discreet.measure.clipped import Clipped, ClippedSums
from discreet.measure.distinct import DistinctCount
from discreet.measure.favourites import ChosenKeys, Favourites
from discreet.measure.found import Found, FoundKeys
from discreet.measure.intervals import CountedIntervals
from discreet.measure.noisy import Measurement, NoisyVector
from discreet.measure.part import Part, Released
from discreet.measure.places import CountedPlaces, Places
from discreet.measure.plan import Mixture, Total, width
from discreet.measure.ranks import ChosenRanks, Ranks
from discreet.mechanisms.noise import LIMIT
from discreet.mechanisms.tables import Integers

__all__ = ["invented"]

_ROWS = 100, 900
_PARTS = 97


def invented(parts: Sequence[Part]) -> tuple[Released, ...]:
    """Something of the shape of what each part releases."""
    return tuple(_invented(part) for part in parts)


def _invented(part: Part) -> Released:
    match part:
        case Clipped():
            ends = tuple(_of_ranks(ranks) for _, ranks in part.ends)
            return ClippedSums(clipped=part, ends=ends, sums=_vector(part.at(part.clips(ends))))
        case Ranks():
            return _of_ranks(part)
        case Favourites():
            cells = part.proof.cells // len(part.labels)
            return ChosenKeys(favourites=part, places=(tuple(range(part.count)),) * cells)
        case Found():
            keys = tuple(tuple(f"invented key {at}" for at in (1, 2, 3)) for _ in part.texts)
            contract, parts = part.over(keys)
            return FoundKeys(found=part, keys=keys, contract=contract, parts=tuple(map(_invented, parts)))
        case Places():
            return CountedPlaces(places=part, counts=_vector(part.measurement))
        case CountedIntervals():
            (finest,) = _vector(part.finest).integers
            return NoisyVector(measurement=part, integers=part.added(finest))
        case Measurement():
            return _vector(part)
    raise AssertionError(type(part))


def _of_ranks(part: Ranks) -> ChosenRanks:
    aims = part.quantiles or (Fraction(1 if part.end == "min" else 9, 10),)
    return ChosenRanks(ranks=part, places=(tuple(int(q * (part.places - 1)) for q in aims),) * part.proof.cells)


def _vector(part: Measurement) -> NoisyVector:
    digest = _digest(part.plan.as_json())
    rows = _ROWS[0] + digest[np.arange(part.proof.cells) % len(digest)] % _ROWS[1]
    rows = (rows + 37 * np.arange(part.proof.cells)) % _ROWS[1] + _ROWS[0]
    if isinstance(part, DistinctCount):
        rows = 1 + rows % part.values_proof.axes[-1].size
    return NoisyVector(
        measurement=part,
        integers=tuple(_numbers(one, rows, part.proof.bits, int(digest[0])) for one in part.proof.parts),
    )


def _digest(plain: object) -> Integers:
    text = json.dumps(plain, sort_keys=True).encode()
    return np.frombuffer(hashlib.blake2b(text).digest(), dtype="<u2").astype(np.int64)


def _numbers(part: PartProof, rows: Integers, bits: int, start: int) -> Integers:
    """An aggregate's numbers in every cell, for values at one place between the ends that shifts from cell to cell."""
    each = []
    for cell, count in enumerate(rows.tolist()):
        place = Fraction((start + 7 * cell) % _PARTS + 1, _PARTS + 1)
        each.append([_clamped(int(number * (count << bits))) for number in _of_one(part, place)])
    return np.array(each, dtype=np.int64).reshape(len(rows), width(part.aggregate))


def _of_one(part: PartProof, place: Fraction) -> list[Fraction]:
    """What one row of a value at that place adds to each number."""
    aggregate, span = part.aggregate, part.span
    if span is None:
        return [Fraction(1)]
    if isinstance(aggregate, Total):
        return [span.low + place * span.width]
    assert isinstance(aggregate, Mixture)
    degree, length = aggregate.degree, span.width
    sums = [comb(degree, j) * place**j * (1 - place) ** (degree - j) * length**degree for j in range(degree + 1)]
    return [*sums, Fraction(0)] if aggregate.whole else sums


def _clamped(number: int) -> int:
    return max(-LIMIT, min(LIMIT, number))
