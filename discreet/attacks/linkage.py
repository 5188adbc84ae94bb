"""Linkage by noisy matching: who in an anonymous table of ratings is the person of whom a few ratings are known?

1. A clue is an item, and perhaps a rating and a day, all of them possibly a little wrong, some altogether.
2. Every person's score is Σ w_i (e^(−|rating difference|/1.5) + e^(−|days apart|/30)) over the clues whose item they
   rated. The weight w_i = 1/ln(raters of i) makes rare items count more.
3. Eccentricity: the best score must stand off the second best by at least φ standard deviations of all scores;
   otherwise the intruder abstains. That is what keeps wrong matches rare.

Success is a match that is right, beside 1/n for naming somebody at random.
Reference: Narayanan and Shmatikov 2008 (the scoreboard with weights and eccentricity); Sweeney 2002 (named public
lists). What it does not promise: safety when it fails. An intruder with more clues or better scores may succeed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.attacks.rate import RATE_COLUMNS, Rate, rates_chart
from discreet.attacks.ratings import Ratings
from discreet.check import at_least
from discreet.draw.chart import Chart
from discreet.draw.grid import Grid, GridColumn
from discreet.errors import ArgumentError
from discreet.randomness import Generator

__all__ = ["PLANS", "Clue", "Knowledge", "Linkage", "Match", "attack_ratings", "clues_about", "match"]

ECCENTRICITY = 1.5
_RATING_SCALE, _DAY_SCALE = 1.5, 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Clue:
    """What is known of one rating; None is what is not known."""

    item: int
    rating: float | None = None
    day: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """The best person, and how far the best score stands off the second, in standard deviations of all scores."""

    person: int
    eccentricity: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Knowledge:
    """What an intruder knows of a target: how many ratings, how exactly, how many of them wrong, how rare."""

    ratings: int
    wrong: int = 0
    rating_error: int | None = 0
    day_error: int | None = None
    outside_top: int = 0

    def __str__(self) -> str:
        """The plan in words."""
        parts = [f"{self.ratings} " + ("items alone" if self.rating_error is None else "ratings")]
        parts += [f"±{self.rating_error}"] if self.rating_error else []
        parts += [f"{self.wrong} wrong"] if self.wrong else []
        parts += [f"outside the top {self.outside_top}"] if self.outside_top else []
        parts.append("no dates" if self.day_error is None else f"dates ±{self.day_error}")
        return ", ".join(parts)


PLANS = (
    Knowledge(ratings=2, day_error=3),
    Knowledge(ratings=4, day_error=3),
    Knowledge(ratings=8, day_error=3),
    Knowledge(ratings=8, rating_error=1, wrong=2, day_error=14),
    Knowledge(ratings=8, rating_error=1),
    Knowledge(ratings=8, rating_error=1, wrong=2),
    Knowledge(ratings=8, rating_error=1, outside_top=500),
    Knowledge(ratings=4, outside_top=500),
    Knowledge(ratings=8, rating_error=None),
)


def match(ratings: Ratings, clues: Sequence[Clue]) -> Match:
    """The person whose ratings fit the clues best."""
    scores = np.zeros(ratings.people)
    for clue in clues:
        if not 0 <= clue.item < ratings.items:
            continue  # an item that nobody in the table rated says nothing
        held = slice(int(ratings.starts[clue.item]), int(ratings.starts[clue.item + 1]))
        raters = ratings.person[held]
        if not len(raters):
            continue
        near = np.zeros(len(raters))
        if clue.rating is not None:
            near += np.exp(-np.abs(ratings.rating[held] - clue.rating) / _RATING_SCALE)
        if clue.day is not None:
            near += np.exp(-np.abs(ratings.day[held] - clue.day) / _DAY_SCALE)
        if clue.rating is None and clue.day is None:
            near += 1.0
        scores[raters] += near / np.log(max(len(raters), 2))
    best = int(scores.argmax())
    second = float(np.partition(scores, -2)[-2])
    spread = float(scores.std())
    return Match(person=best, eccentricity=(float(scores[best]) - second) / spread if spread else 0.0)


def clues_about(
    ratings: Ratings, own: npt.NDArray[np.int64], knowledge: Knowledge, common: npt.NDArray[np.bool_], draw: Generator
) -> list[Clue] | None:
    """Clues as the plan says, about the person with these ratings; None for a person with too few of them."""
    items = np.searchsorted(ratings.starts, own, side="right") - 1
    eligible = own[~common[items]] if knowledge.outside_top else own
    if len(eligible) < knowledge.ratings:
        return None
    places = draw.choice(eligible, knowledge.ratings, replace=False)
    strange = set(range(knowledge.wrong))
    clues = []
    for at, place in enumerate(places):
        item = int(np.searchsorted(ratings.starts, place, side="right") - 1)
        rating, day = float(ratings.rating[place]), int(ratings.day[place])
        if at in strange:  # an item, a rating and a day of anybody
            place = int(draw.integers(len(ratings.person)))
            item = int(np.searchsorted(ratings.starts, place, side="right") - 1)
            rating, day = float(ratings.rating[place]), int(ratings.day[place])
        error, late = knowledge.rating_error, knowledge.day_error
        clues.append(
            Clue(
                item=item,
                rating=None if error is None else rating + int(draw.integers(-error, error + 1)),
                day=None if late is None else day + int(draw.integers(-late, late + 1)),
            )
        )
    return clues


@dataclass(frozen=True, slots=True, kw_only=True)
class Linked:
    """One plan: how often the best was right, and how often a match was made, right and wrong."""

    knowledge: Knowledge
    best: Rate
    right: Rate
    wrong: int

    @property
    def abstained(self) -> int:
        """How often no match was made."""
        return self.right.tries - self.right.hits - self.wrong


@dataclass(frozen=True, slots=True, kw_only=True)
class Linkage:
    """How well each plan of an intruder links."""

    people: int
    ratings: int
    eccentricity: float
    plans: tuple[Linked, ...]

    def sentences(self) -> tuple[str, ...]:
        """The strongest plan first."""
        strongest = max(self.plans, key=lambda one: one.right.share)
        return (
            f"Who knows {strongest.knowledge} of a person finds the record: {strongest.right}.",
            f"Such an intruder names a wrong record in {strongest.wrong} of {strongest.right.tries} tries and abstains "
            f"in {strongest.abstained}, among {self.people:,} people with {self.ratings:,} ratings.",
        )

    def charts(self) -> tuple[Chart, ...]:
        """Right matches of each plan beside chance."""
        rates = {str(one.knowledge): one.right for one in self.plans}
        caption = f"Matches that are right; the intruder abstains below an eccentricity of {self.eccentricity:g}."
        return (rates_chart("People found by a few of their ratings", rates, caption),)

    def grids(self) -> tuple[Grid, ...]:
        """One row for each plan."""
        columns = (
            GridColumn("known"),
            GridColumn("best is right", "share"),
            GridColumn("matched wrong", "share"),
            GridColumn("abstained", "share"),
            *RATE_COLUMNS,
        )
        rows = tuple(
            (
                str(one.knowledge),
                one.best.share,
                one.wrong / one.right.tries,
                one.abstained / one.right.tries,
                *one.right.cells,
            )
            for one in self.plans
        )
        return (Grid("Linkage by ratings", columns, rows, note="A success is a match that is made and right."),)

    def as_json(self) -> dict[str, object]:
        """Everything, as plain values."""
        return {
            "attack": "linkage by ratings",
            "people": self.people,
            "ratings": self.ratings,
            "eccentricity": self.eccentricity,
            "plans": [
                {
                    "known": str(one.knowledge),
                    "best": one.best.as_json(),
                    "right": one.right.as_json(),
                    "wrong": one.wrong,
                    "abstained": one.abstained,
                }
                for one in self.plans
            ],
        }


def attack_ratings(
    released: Ratings,
    *,
    known_from: Ratings | None = None,
    plans: Sequence[Knowledge] = PLANS,
    targets: int = 200,
    eccentricity: float = ECCENTRICITY,
    generator: Generator,
    progress: Callable[[str], None] | None = None,
) -> Linkage:
    """Link targets by what is known of them from `known_from`, by default the released ratings themselves.

    Person p of `known_from` is person p of the release: that only judges the matches.
    """
    at_least("targets", targets, 1)
    source, tell = known_from or released, progress or (lambda _: None)
    order, begins = source.by_person()
    found = []
    for knowledge in plans:
        tell(str(knowledge))
        common = np.zeros(source.items, dtype=bool)
        common[np.argsort(-source.support, kind="stable")[: knowledge.outside_top]] = True
        tries = best = right = wrong = 0
        for person in generator.permutation(source.people):
            own = order[begins[person] : begins[person + 1]]
            clues = clues_about(source, own, knowledge, common, generator)
            if clues is None:
                continue
            one = match(released, clues)
            itself = one.person == int(person)
            tries, best = tries + 1, best + itself
            if one.eccentricity >= eccentricity:
                right, wrong = right + itself, wrong + (not itself)
            if tries == targets:
                break
        if not tries:
            raise ArgumentError(
                "ratings", found="nobody with enough of them", right=f"the plan needs {knowledge}", step="know fewer"
            )
        baseline = 1 / released.people
        found.append(
            Linked(
                knowledge=knowledge,
                best=Rate(hits=best, tries=tries, baseline=baseline),
                right=Rate(hits=right, tries=tries, baseline=baseline),
                wrong=wrong,
            )
        )
    return Linkage(people=released.people, ratings=len(released.person), eccentricity=eccentricity, plans=tuple(found))
