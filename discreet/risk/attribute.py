"""Attribute disclosure: what copies tell about a person's sensitive value to somebody who knows their keys.

1. The intruder finds the records of a copy that agree with the person on the keys, and guesses by drawing one of them:
   the guess is right with chance s⁺/s, where s⁺ of the s matches have the person's true value (within a tolerance for
   numbers). Without a match the guess is drawn from the whole copy.
2. `without_own` is the same with the row in the person's own place left out: what is learned about somebody who shares
   the keys and is not in the table. That is inference from people in general, not disclosure.
3. `added` is the difference: what a person's own row gives away. `marginal` is a guess that uses no key at all.

Figures are exact for these copies; the interval of `added` speaks of other copies made in the same way (Student's t
over the copies). What it does not promise: that the model the copies were drawn from has not learned from the person.
Reference: Elliot (2014), the correct attribution probability.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from discreet.data.aligned import align
from discreet.draw.format import written
from discreet.errors import ArgumentError
from discreet.risk.reidentification import matching_keys, matching_records, numbers_reach, require_rows
from discreet.stats.matching import Records, count_matches, own_matches
from discreet.stats.means import interval_of_mean

__all__ = ["Attribution", "attribute_risk"]

Floats: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribution:
    """How often a guess of one sensitive column is right, as means over persons and copies."""

    column: str
    keys: tuple[str, ...]
    with_own: float
    without_own: float
    marginal: float
    original: float
    interval: tuple[float, float] | None

    @property
    def added(self) -> float:
        """What the person's own row adds to the guess."""
        return self.with_own - self.without_own

    def as_json(self) -> dict[str, object]:
        """All figures."""
        return {
            "column": self.column,
            "keys": list(self.keys),
            "right_with_own_row": self.with_own,
            "right_without_own_row": self.without_own,
            "added_by_own_row": self.added,
            "interval_of_added": None if self.interval is None else list(self.interval),
            "right_without_keys": self.marginal,
            "right_from_original": self.original,
        }

    @property
    def sentence(self) -> str:
        """The finding in plain words."""
        return (
            f"Who knows {', '.join(self.keys)} guesses {self.column} right for {written('share', self.with_own)} of "
            f"the persons; for somebody whose row is not in the copy it would be "
            f"{written('share', self.without_own)}, without any key {written('share', self.marginal)}, from the "
            f"original {written('share', self.original)}."
        )


def attribute_risk(
    original: Any,
    copies: Sequence[Any],
    *,
    sensitive: str,
    keys: Sequence[str],
    tolerances: Mapping[str, float] | None = None,
    closeness: float = 0.0,
) -> Attribution:
    """How well copies let an intruder guess a sensitive column; a number counts as guessed within `closeness`."""
    chosen, within = matching_keys(keys, tolerances)
    if sensitive in chosen:
        raise ArgumentError(
            "sensitive", found=f"{sensitive!r}, which is a key", right="a key is known already", step="name another"
        )
    close = matching_keys([sensitive], {sensitive: closeness} if closeness else {})[1]
    names = [*chosen, sensitive]
    tables = align([original, *copies], names=names, categories=[one for one in names if one not in within | close])
    require_rows(tables.rows)
    reach = within | close
    both = numbers_reach(tables, reach)
    alone = [reach[one.name] for one in tables.variables if one.numeric and one.name != sensitive]
    parts = (names, chosen, (sensitive,))
    every = [tuple(matching_records(tables, table, within=part) for part in parts) for table in range(len(tables.rows))]
    of_value = [close[sensitive]] if close else []
    guesses = [_guess(every[0], copy, both, alone, of_value) for copy in every[1:]]
    with_own, without_own, marginal = np.mean(guesses, axis=0).tolist()
    return Attribution(
        column=sensitive,
        keys=chosen,
        with_own=with_own,
        without_own=without_own,
        marginal=marginal,
        original=_guess(every[0], every[0], both, alone, of_value)[0],
        interval=interval_of_mean([one[0] - one[1] for one in guesses]),
    )


def _guess(
    targets: tuple[Records, ...],
    copy: tuple[Records, ...],
    both: Sequence[float],
    alone: Sequence[float],
    of_value: Sequence[float],
) -> tuple[float, float, float]:
    """Chances of a right guess: with the own row, without it, and without keys."""
    right, found = count_matches(targets[0], copy[0], both), count_matches(targets[1], copy[1], alone)
    anywhere = count_matches(targets[2], copy[2], of_value) / len(copy[2])
    own_right, own = own_matches(targets[0], copy[0], both), own_matches(targets[1], copy[1], alone)
    with_own = _share(right.astype(float), found.astype(float), anywhere)
    without = _share((right - own_right).astype(float), (found - own).astype(float), anywhere)
    return float(with_own.mean()), float(without.mean()), float(anywhere.mean())


def _share(right: Floats, found: Floats, otherwise: Floats) -> Floats:
    return np.divide(right, found, out=otherwise.copy(), where=found > 0)
