"""Ratings of items by people, each with a day: kept by item, so that an intruder's clue touches its item's raters only.

`invented_ratings` makes data of the shape of a public film-rating set (943 people, 1,682 items, about 100,000 ratings,
seven months): few items with very many raters and many with few, few people with very many ratings, most of a person's
ratings on one day or a few days. The people are invented; no rating of anybody is shipped.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.check import at_least
from discreet.errors import ArgumentError
from discreet.randomness import Generator

__all__ = ["Ratings", "invented_ratings", "ratings_of"]

Whole = npt.NDArray[np.int32]
_LEAST_RATINGS = 20
_SITTING = 3.0
_CHUNK_CELLS = 4_000_000


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Ratings:
    """Who rated which item how and when, in the order of items; `starts` says where each item begins."""

    people: int
    items: int
    starts: npt.NDArray[np.int64]
    person: Whole
    rating: npt.NDArray[np.float32]
    day: Whole

    def __repr__(self) -> str:
        return f"<ratings: {self.people} people, {self.items} items, {len(self.person)} ratings>"

    @property
    def support(self) -> npt.NDArray[np.int64]:
        """How many people rated each item."""
        return np.diff(self.starts)

    @property
    def item(self) -> Whole:
        """The item of each rating."""
        return np.repeat(np.arange(self.items, dtype=np.int32), self.support)

    def by_person(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """The places of all ratings in order of persons, and where each person begins."""
        order = np.argsort(self.person, kind="stable")
        counts = np.bincount(self.person, minlength=self.people)
        return order, np.concatenate([[0], np.cumsum(counts)])


def ratings_of(person: npt.ArrayLike, item: npt.ArrayLike, rating: npt.ArrayLike, day: npt.ArrayLike) -> Ratings:
    """Ratings from four columns of equal length; people and items are numbered from 0 on."""
    who, what = np.asarray(person, dtype=np.int32), np.asarray(item, dtype=np.int32)
    stars, when = np.asarray(rating, dtype=np.float32), np.asarray(day, dtype=np.int32)
    if not len(who) or len({len(who), len(what), len(stars), len(when)}) != 1 or min(who.min(), what.min()) < 0:
        raise ArgumentError(
            "ratings",
            found="no ratings, columns of different lengths, or negative numbers of people or items",
            right="four columns of one length",
            step="number people and items from 0 on",
        )
    order = np.argsort(what, kind="stable")
    items = int(what.max()) + 1
    starts = np.concatenate([[0], np.cumsum(np.bincount(what, minlength=items))])
    return Ratings(
        people=int(who.max()) + 1,
        items=items,
        starts=starts,
        person=who[order],
        rating=stars[order],
        day=when[order],
    )


def invented_ratings(
    generator: Generator, *, people: int = 943, items: int = 1682, mean: float = 110.0, days: int = 215
) -> Ratings:
    """People and items with long tails, tastes that steer who rates what, and sittings of one day or a few."""
    at_least("people", people, 2)
    at_least("items", items, 2 * _LEAST_RATINGS)
    # Log-normal counts above the least: half the people have well below the mean.
    extra = generator.lognormal(0.0, 1.0, people)
    counts = np.minimum(_LEAST_RATINGS + extra * (mean - _LEAST_RATINGS) / extra.mean(), 0.4 * items).astype(np.int64)
    fame = generator.normal(0.0, 1.5, items)
    tastes, kinds = generator.normal(0, 0.7, (people, 8)), generator.normal(0, 0.7, (items, 8))
    person, item = _chosen(generator, counts, fame, tastes, kinds)
    liked = 3.4 + generator.normal(0, 0.5, items)[item] + generator.normal(0, 0.4, people)[person]
    liked += 0.25 * np.einsum("ij,ij->i", tastes[person], kinds[item])
    rating = np.clip(np.rint(liked + generator.normal(0, 0.9, len(person))), 1, 5)
    first = generator.integers(0, days, people)
    later = np.where(generator.random(len(person)) < 0.8, 0.0, generator.exponential(_SITTING, len(person)))
    day = np.minimum(first[person] + later.astype(np.int64), days - 1)
    return ratings_of(person, item, rating, day)


def _chosen(
    generator: Generator,
    counts: npt.NDArray[np.int64],
    fame: npt.NDArray[np.float64],
    tastes: npt.NDArray[np.float64],
    kinds: npt.NDArray[np.float64],
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """For each person so many different items, drawn without return with weights e^(fame + taste): Gumbel's largest."""
    people, items = len(counts), len(fame)
    step = max(1, _CHUNK_CELLS // items)
    who, what = [], []
    for start in range(0, people, step):
        rows = slice(start, min(start + step, people))
        pull = fame + tastes[rows] @ kinds.T + generator.gumbel(size=(rows.stop - start, items))
        order = np.argsort(-pull, axis=1)
        taken = np.arange(items) < counts[rows, None]
        who.append(np.repeat(np.arange(start, rows.stop), counts[rows]))
        what.append(order[taken])
    return np.concatenate(who), np.concatenate(what)
