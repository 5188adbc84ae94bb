"""Consistency of augmented copies: rows keep their edit rules, numbers their bounds.

1. Numbers that were drawn are brought within their bounds, as the sequential methods do.
2. Rows that break a rule are drawn again, by the same law and the same masks, until they keep all of them: what comes
   out is the law given the rules.
3. Where a filled cell breaks a rule, the row's filled cells are taken from another draw of the posterior that keeps it,
   or, where none does, from a record of the table that fits.
4. Rows that no draw can mend are refused: a copy that breaks a rule is never handed out.

What it does not promise: that rules the masks nearly exclude are found soon.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.errors import CheckFailedError
from discreet.randomness import Generator
from discreet.synthesis.imputation.columns import Columns
from discreet.synthesis.imputation.plan import require_kept
from discreet.synthesis.imputation.rules import Rule, parse_rule

__all__ = ["Bounds", "RuleKeeper"]

Floats = npt.NDArray[np.float64]
Whole = npt.NDArray[np.int64]
Bounds = Mapping[str, tuple[float, float]]
# Only rows that break a rule are drawn again, so that many tries cost little where few rows need them.
_TRIES, _DONORS = 1_000, 200


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class RuleKeeper:
    """The rules and bounds of one table."""

    columns: Columns
    rules: tuple[Rule, ...]
    bounds: Bounds

    @classmethod
    def of(cls, columns: Columns, rules: Sequence[str], bounds: Bounds) -> RuleKeeper:
        """Read the rules; one that the table itself breaks is refused."""
        read = tuple(parse_rule(text) for text in rules)
        require_kept(columns, read)
        return cls(columns=columns, rules=read, bounds=bounds)

    def completed(self, fills: Sequence[Mapping[str, Floats]], generator: Generator) -> dict[str, Floats]:
        """The columns with missing cells, filled by the first of `fills`; by the next ones where a rule breaks."""
        original = {column.name: column.values for column in self.columns.columns}
        made = {name: original[name].copy() for name in fills[0]}
        broken = np.arange(self.columns.rows)
        for fill in fills:
            for name, values in fill.items():
                gone = np.isnan(original[name])
                whole = np.zeros(len(gone))
                whole[gone] = self._within(name, values)
                made[name][broken] = np.where(gone[broken], whole[broken], made[name][broken])
            broken = self._broken(original | made)
            if not len(broken):
                return made
        for _ in range(_DONORS):
            donors = (broken + generator.integers(1, self.columns.rows, len(broken))) % self.columns.rows
            for name, values in made.items():
                takes = np.isnan(original[name][broken]) & ~np.isnan(original[name][donors])
                values[broken] = np.where(takes, original[name][donors], values[broken])
            broken = self._broken(original | made)
            if not len(broken):
                return made
        raise _unmendable("cells that are missing cannot be filled so that all rules are kept")

    def kept(
        self, whole: Mapping[str, Floats], draw: Callable[[Whole | None], Mapping[str, Floats]]
    ) -> dict[str, Floats]:
        """New columns by `draw`, of which rows that break a rule are drawn again."""
        made = {name: self._within(name, values) for name, values in draw(None).items()}
        for _ in range(_TRIES):
            broken = self._broken({**whole, **made})
            if not len(broken):
                return made
            for name, values in draw(broken).items():
                made[name][broken] = self._within(name, values)
        if len(self._broken({**whole, **made})):
            raise _unmendable("rows for which no draw keeps all rules")
        return made

    def _within(self, name: str, values: Floats) -> Floats:
        column = self.columns.column(name)
        if not column.is_continuous:
            return values
        # As they will be published: a rule is to hold of the rounded number.
        rounded = np.round(values, column.digits)
        return np.clip(rounded, *self.bounds[name]) if name in self.bounds else rounded

    def _broken(self, values: Mapping[str, Floats]) -> Whole:
        found = np.zeros(self.columns.rows, dtype=bool)
        for rule in self.rules:
            found |= rule.broken(self.columns, values)
        return np.flatnonzero(found)


def _unmendable(found: str) -> CheckFailedError:
    return CheckFailedError(
        "rules",
        found=found,
        right="every row of every copy keeps them",
        step="perturb the other columns of the rules too, let more through the masks, or loosen the rules",
    )
