"""Copies: what every way of imputing hands out, with the rule by which fits on them are pooled.

1. `frames` are of the caller's kind, one for each copy. With completions of missing cells (`nests`) the copies of one
   completion stand together.
2. `pool` takes one row of estimates for each copy and answers by the rule that belongs to how the copies were made.
3. Copies drawn with a seed can be drawn again, and with them the noise that hides the records: `publishable` is False.

What it does not promise: differential privacy. `guarantee` says so wherever copies are shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy.typing as npt

from discreet.errors import ArgumentError
from discreet.stats.combine import Pooled, Rule, combine
from discreet.stats.survey import Sampling
from discreet.utility.models import Family, fit_tables

__all__ = ["Copies"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Copies:
    """Copies of a table in which chosen columns are replaced."""

    guarantee: ClassVar[str] = "measured risk, not differential privacy"

    frames: tuple[Any, ...]
    method: str
    perturbed: tuple[str, ...]
    rule: Rule = Rule.PARTIAL
    nests: int | None = None
    sizes: tuple[int, int] | None = None
    seeded: bool = False
    sampling: Sampling = Sampling()  # noqa: RUF009  a frozen value
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        nested = self.rule is Rule.NESTED
        if not self.frames or nested != (self.nests is not None) or (nested and len(self.frames) % (self.nests or 1)):
            raise ArgumentError(
                "copies",
                found=f"{len(self.frames)} frames in {self.nests} completions",
                right="at least one, and equally many in each completion by the nested rule alone",
                step="make the same number of copies of each completion",
            )

    def __len__(self) -> int:
        return len(self.frames)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.frames)

    def __repr__(self) -> str:
        use = self.guarantee if self.publishable else f"test, do not publish; {self.guarantee}"
        return f"<{len(self)} copies by {self.method} of {', '.join(self.perturbed)}: {use}>"

    @property
    def publishable(self) -> bool:
        """Whether they may leave the house at all: not when a seed made them."""
        return not self.seeded

    def pool(
        self, estimates: npt.ArrayLike, variances: npt.ArrayLike, *, names: tuple[str, ...] | None = None
    ) -> Pooled:
        """One estimate for each coefficient out of one row of them a copy, by the rule of these copies."""
        return combine(estimates, variances, rule=self.rule, names=names, nests=self.nests, sizes=self.sizes)

    def fit(self, formula: str, *, family: Family = "ols", joined: Mapping[str, Sequence[Any]] | None = None) -> Pooled:
        """A model fitted to each copy and pooled by their rule; `joined` are columns that came later, row by row.

        Where the table has a design its weights count, and each variance is that of the design.
        """
        names, fits, _ = fit_tables(formula, self.frames, family, joined=joined, sampling=self.sampling)
        return self.pool([one.estimates for one in fits], [one.variances for one in fits], names=names)
