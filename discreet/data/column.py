"""One column's public facts, one class for each type. `type` tells them apart, in a file as in Python."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache
from typing import Annotated, Any, ClassVar, Literal, TypeAlias

from pydantic import BeforeValidator, Field, model_validator

from discreet.data.fact import Day, Exact, FactError, Moment, Sourced, proper_name, shown

__all__ = [
    "BooleanColumn",
    "Bounds",
    "CategoryColumn",
    "Column",
    "DateColumn",
    "DatetimeColumn",
    "DecimalColumn",
    "IntegerColumn",
    "NullRule",
    "Role",
    "TextColumn",
]

_KEYS_AT_MOST = 100_000
_STEPS_AT_MOST = 1 << 62


class Role(StrEnum):
    """What a column could do to the persons in it.

    A direct identifier names one and is never released; quasi-identifiers name one together, by what others know;
    a sensitive value is what must not be learned. Weight, stratum, cluster and household say how rows were drawn and
    belong together. What is hidden can never be asked about at all.
    """

    DIRECT_IDENTIFIER = "direct identifier"
    QUASI_IDENTIFIER = "quasi-identifier"
    SENSITIVE = "sensitive"
    WEIGHT = "weight"
    STRATUM = "stratum"
    CLUSTER = "cluster"
    HOUSEHOLD = "household"
    OTHER = "other"
    HIDDEN = "hidden"


class NullRule(StrEnum):
    """What a missing value counts as. NaN and infinities are missing values and follow the same rule."""

    DROP = "drop"
    KEY = "key"
    REFUSE = "refuse"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """The closed interval values are clamped to, and the step both ends are multiples of."""

    low: Fraction
    high: Fraction
    step: Fraction

    def __post_init__(self) -> None:
        if self.step <= 0:
            raise FactError(f"step {self.step}", "a step is above 0", "give the least difference of two values")
        if self.low > self.high:
            raise FactError(f"low {self.low} above high {self.high}", "low is at most high", "swap or correct them")
        for name, end in (("low", self.low), ("high", self.high)):
            if end % self.step:
                raise FactError(
                    f"{name} {end} is no multiple of the step {self.step}",
                    "both bounds lie on the grid of the step",
                    f"round {name} outward to a multiple of {self.step}",
                )
            if abs(end / self.step) > _STEPS_AT_MOST:
                raise FactError(
                    f"{name} lies more than 2^62 steps from 0",
                    "values are kept as 64-bit integers of steps",
                    "give a coarser step or nearer bounds",
                )

    @property
    def steps(self) -> tuple[int, int]:
        """Both ends as whole numbers of steps."""
        return int(self.low / self.step), int(self.high / self.step)


@lru_cache(maxsize=1024)
def _bounds(low: Fraction, high: Fraction, step: Fraction) -> Bounds:
    """Every proof asks for them again; a refusal is not kept."""
    return Bounds(low=low, high=high, step=step)


class _ColumnFacts(Sourced):
    """What every column declares."""

    role: Role = Field(default=Role.OTHER, description="what the column could do to the persons in it")
    nulls: NullRule = Field(default=NullRule.DROP, description="what null, NaN and infinities count as")
    one_per_unit: bool = Field(
        default=False, description="true if all rows of one unit hold the same value, as a birth year does"
    )

    @property
    def bounds(self) -> Bounds | None:
        """What numeric values are clamped to, if the contract bounds them."""
        return None

    @property
    def public_keys(self) -> tuple[str, ...] | None:
        """Every value there can be, as text, if the contract lists them."""
        return None


class _NumericColumn(_ColumnFacts):
    """Numbers on the grid of a step."""

    low: Exact | None = Field(default=None, description="the least value a unit could have, a multiple of the step")
    high: Exact | None = Field(default=None, description="the largest value a unit could have, a multiple of the step")
    grid: ClassVar[Fraction] = Fraction(1)

    @property
    def _step(self) -> Fraction:
        return self.grid

    @property
    def bounds(self) -> Bounds | None:
        """What values are clamped to, if the contract bounds them."""
        if self.low is None or self.high is None:
            return None
        return _bounds(self.low, self.high, self._step)

    @model_validator(mode="after")
    def _bounds_hold_together(self) -> _NumericColumn:
        _require_both(self.low, self.high)
        bounds = self.bounds
        if self.role is Role.WEIGHT and bounds is not None and bounds.low < 0:
            raise FactError(f"a weight with low {bounds.low}", "weights are at least 0", "give low: 0 or above")
        return self


class IntegerColumn(_NumericColumn):
    """Whole numbers."""

    type: Literal["integer"]


class DecimalColumn(_NumericColumn):
    """Numbers with a fixed least difference, such as cents."""

    type: Literal["decimal"]
    step: Exact = Field(description="the least difference of two values, such as 0.01")

    @property
    def _step(self) -> Fraction:
        return self.step

    @model_validator(mode="after")
    def _step_is_positive(self) -> DecimalColumn:
        Bounds(low=Fraction(0), high=Fraction(0), step=self.step)
        return self


class _UnweightedColumn(_ColumnFacts):
    """Columns that hold no numbers."""

    @model_validator(mode="after")
    def _weights_are_numbers(self) -> _UnweightedColumn:
        if self.role is Role.WEIGHT:
            raise FactError("a weight that is not a number", "weights are integer or decimal", "correct type or role")
        return self


def _key(value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if value == "":
        return ""
    if value is None or not isinstance(value, str):
        raise FactError(
            f"{shown(value)} as a key", "keys are text", 'quote it, as in "true"; for missing values say nulls: key'
        )
    return proper_name(value) if value.strip() else value


Key: TypeAlias = Annotated[str, BeforeValidator(_key)]


class CategoryColumn(_UnweightedColumn):
    """One of a public list of values, compared with the text form of what the table holds."""

    type: Literal["category"]
    keys: tuple[Key, ...] = Field(description="a list of every value there can be, in the order to show them")

    @property
    def public_keys(self) -> tuple[str, ...]:
        """The keys, in the order they are to be shown."""
        return self.keys

    @model_validator(mode="after")
    def _keys_are_a_set(self) -> CategoryColumn:
        if not 1 <= len(self.keys) <= _KEYS_AT_MOST:
            raise FactError(
                f"{len(self.keys):,} keys", f"a category has 1 to {_KEYS_AT_MOST:,}", "list them, or say type: text"
            )
        seen: set[str] = set()
        for key in self.keys:
            if key in seen:
                raise FactError(f"the key {shown(key)} twice", "each key stands once", "remove one of the two")
            seen.add(key)
        return self


class BooleanColumn(_UnweightedColumn):
    """True or false."""

    type: Literal["boolean"]

    @property
    def public_keys(self) -> tuple[str, ...]:
        """Both values, as text."""
        return ("false", "true")


class DateColumn(_UnweightedColumn):
    """Days."""

    type: Literal["date"]
    low: Day | None = Field(default=None, description="the first day there could be, such as 2020-01-01")
    high: Day | None = Field(default=None, description="the last day there could be, such as 2020-12-31")

    @model_validator(mode="after")
    def _days_in_order(self) -> DateColumn:
        _require_in_order(self.low, self.high)
        return self


class DatetimeColumn(_UnweightedColumn):
    """Moments, in the table's own clock and whole seconds."""

    type: Literal["datetime"]
    low: Moment | None = Field(default=None, description="the first moment there could be, as 2020-01-01T00:00:00")
    high: Moment | None = Field(default=None, description="the last moment there could be, as 2020-12-31T23:59:59")

    @model_validator(mode="after")
    def _moments_in_order(self) -> DatetimeColumn:
        _require_in_order(self.low, self.high)
        return self


class TextColumn(_UnweightedColumn):
    """Anything; it can be counted and, if it names the unit, tell units apart."""

    type: Literal["text"]


def _require_both(low: object, high: object) -> None:
    if (low is None) != (high is None):
        raise FactError(
            f"{'high' if low is None else 'low'} alone", "one bound proves nothing", "give both low and high, or none"
        )


def _require_in_order(low: datetime.date | None, high: datetime.date | None) -> None:
    _require_both(low, high)
    if low is not None and high is not None and low > high:
        raise FactError(f"low {low} after high {high}", "low is at most high", "swap or correct them")


Column: TypeAlias = Annotated[
    IntegerColumn | DecimalColumn | CategoryColumn | BooleanColumn | DateColumn | DatetimeColumn | TextColumn,
    Field(discriminator="type"),
]
