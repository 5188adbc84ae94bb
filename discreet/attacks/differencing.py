"""Differencing: two harmless counts whose difference is one person.

* `subtract`: who knows all parts of a sum but one knows the last (n − 1 colluders, or one who reveals herself).
* `guess_who`: yes-or-no questions about what is known of a person shrink the number of candidates; once it is one, one
  more question tells the secret.
* `difference`: for each target the count of a group with the secret, less the same without the target's last known
  value. Both groups may be large, so that suppressing small counts does not help. Success is the share of secrets
  guessed right beside that of always guessing the commoner one.

Reference: Denning, Denning and Schwartz 1979 (trackers). `detector` finds such pairs in a log of questions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from discreet.attacks.condition import Clause, Condition, Value, write_clause
from discreet.attacks.keepers import Keeper
from discreet.attacks.rate import RATE_COLUMNS, Rate, rates_chart
from discreet.draw.chart import Axis, Bars, Chart
from discreet.draw.grid import Grid, GridColumn
from discreet.errors import ArgumentError

__all__ = ["Differencing", "GuessWho", "difference", "guess_who", "subtract"]


def subtract(total: float, known: Sequence[float]) -> float:
    """The last part of a sum, when all the others are known: S − Σ known."""
    return total - sum(known)


@dataclass(frozen=True, slots=True, kw_only=True)
class GuessWho:
    """The questions asked about one person, the answers, and what the last question told."""

    steps: tuple[tuple[str, float | None], ...]
    secret: str
    with_secret: float | None

    @property
    def singled_out(self) -> bool:
        """Whether the answers say that a single person is left."""
        return self.steps[-1][1] == 1

    @property
    def disclosed(self) -> bool | None:
        """Whether that person has the secret, as far as the answers say; None where they do not."""
        if not self.singled_out or self.with_secret not in (0, 1):
            return None
        return self.with_secret == 1

    def sentences(self) -> tuple[str, ...]:
        """What came out, in words."""
        asked = len(self.steps)
        lead = f"After {asked} questions {_told(self.steps[-1][1])} left."
        if self.disclosed is None:
            return lead, "What the answers say of the secret settles nothing."
        verdict = "has" if self.disclosed else "does not have"
        return lead, f"One more question tells that this person {verdict} the secret ({self.secret})."

    def charts(self) -> tuple[Chart, ...]:
        """The candidates left after each question."""
        names = tuple(f"{place}. {text}" for place, (text, _) in enumerate(self.steps))
        return (
            Chart(
                "Guess who: candidates left",
                Axis("people left", format="count"),
                Axis("question", scale="band", categories=names),
                (Bars(tuple(count for _, count in self.steps), names),),
                "Each question keeps only those for whom the answer is that of the person looked for.",
            ),
        )

    def grids(self) -> tuple[Grid, ...]:
        """Each question with its answer."""
        rows = (*self.steps, (f"… and {self.secret}", self.with_secret))
        return (Grid("Questions and answers", (GridColumn("question"), GridColumn("answer", "number")), rows),)

    def as_json(self) -> dict[str, object]:
        """Everything, as plain values."""
        return {
            "attack": "guess who",
            "steps": [{"question": text, "answer": count} for text, count in self.steps],
            "secret": self.secret,
            "with_secret": self.with_secret,
            "disclosed": self.disclosed,
        }


def guess_who(count: Keeper, target: Mapping[str, Value], secret: Condition) -> GuessWho:
    """Ask for one known value of the target more at each step, until a single person is left, then for the secret."""
    if not target:
        raise ArgumentError("target", found="nothing known", right="something is known", step="give column: value")
    clause: Clause = ()
    steps = [("everyone", count(()))]
    for column, value in target.items():
        clause = (*clause, Condition(column, "=", (value,)))
        steps.append((str(clause[-1]), count(clause)))
        if steps[-1][1] == 1:
            break
    return GuessWho(steps=tuple(steps), secret=str(secret), with_secret=count((*clause, secret)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Differencing:
    """How many secrets two counts each told, and what was asked about the first target."""

    rate: Rate
    refused: int
    example: tuple[str, str]

    def sentences(self) -> tuple[str, ...]:
        """What came out, in words."""
        refused = f" {self.refused} questions were refused." if self.refused else ""
        return (
            f"Two counts about each person: {self.rate}.{refused}",
            f"Such as: how many are in ({self.example[0]}), and in ({self.example[1]})?",
        )

    def charts(self) -> tuple[Chart, ...]:
        """The rate beside chance."""
        return (rates_chart("Secrets guessed from two counts", {"differencing": self.rate}, "One target a try."),)

    def grids(self) -> tuple[Grid, ...]:
        """The rate."""
        return (Grid("Secrets guessed from two counts", RATE_COLUMNS, (self.rate.cells,)),)

    def as_json(self) -> dict[str, object]:
        """Everything, as plain values."""
        return {
            "attack": "differencing",
            "refused": self.refused,
            "example": list(self.example),
            **self.rate.as_json(),
        }


def difference(
    count: Keeper, targets: Sequence[Mapping[str, Value]], secret: Condition, *, truth: Sequence[bool]
) -> Differencing:
    """Guess the secret of each target from two counts. The truth only judges the guesses."""
    if len(targets) != len(truth) or not targets:
        raise ArgumentError(
            "targets",
            found=f"{len(targets)} targets and {len(truth)} truths",
            right="one truth for each of some targets",
            step="give them in the same order",
        )
    commoner = 2 * sum(truth) > len(truth)
    hits = refused = 0
    for target, true in zip(targets, truth, strict=True):
        wide, narrow = _pair(target, secret)
        answers = count(wide), count(narrow)
        refused += sum(answer is None for answer in answers)
        first, second = answers
        guess = commoner if first is None or second is None else first - second >= 0.5
        hits += guess == true
    share = sum(truth) / len(truth)
    rate = Rate(hits=hits, tries=len(truth), baseline=max(share, 1 - share))
    first_pair = _pair(targets[0], secret)
    return Differencing(rate=rate, refused=refused, example=(write_clause(first_pair[0]), write_clause(first_pair[1])))


def _pair(target: Mapping[str, Value], secret: Condition) -> tuple[Clause, Clause]:
    """A group with the secret that holds the target, and the same group without those who share the last value."""
    *known, (column, value) = target.items()
    group = tuple(Condition(name, "=", (one,)) for name, one in known)
    return (*group, secret), (*group, Condition(column, "!=", (value,)), secret)


def _told(count: float | None) -> str:
    if count is None:
        return "it is refused to say how many people are"
    return "one person is" if count == 1 else f"{count:g} people are"
