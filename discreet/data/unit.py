"""The unit of privacy: whom one neighbour step protects.

* A row. Right only where each person has one row; `check_contract` counts whether that holds.
* A person: all rows that hold one value of the person column, up to a limit on rows and on groups.
* A person per period: all rows of one person within one day, week, month or year. What the data say about a person
  over several periods is protected by the several periods' epsilon added up, so it is a weaker promise than it sounds.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from pydantic import Field, model_validator

from discreet.data.fact import Count, FactError, Name, Sourced, shown

__all__ = ["Period", "Unit"]


class Period(StrEnum):
    """How long one unit of a person per period lasts."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    YEAR = "year"


class Unit(Sourced):
    """Whom one neighbour step protects. Without a person it is a row."""

    person: Name | None = Field(default=None, description="the column that tells persons apart")
    rows: Count = Field(default=1, description="the most rows of one person that count, a whole number above 0")
    groups: Count = Field(default=1, description="the most groups of one query that one person counts in; at most rows")
    period: Period | None = Field(default=None, description="protect a person per day, week, month or year only")
    date: Name | None = Field(default=None, description="the date column the period is taken from")

    @model_validator(mode="before")
    @classmethod
    def _filled_in(cls, given: Any) -> Any:
        """`unit: row`, and as many groups as rows where only rows are said."""
        if given == "row":
            return {}
        if not isinstance(given, dict):
            raise FactError(
                shown(given),
                "a unit is `row` or a person with limits",
                "give `unit: row` or `unit: {person: <column>, rows: 5, groups: 3}`",
            )
        if given.get("person") is not None and "rows" not in given:
            raise FactError(
                "a person without rows",
                "how many rows of one person count must be said",
                "give rows: 5, or whatever limit fits; `discreet contract check` shows what a limit would cut off",
            )
        return given if "groups" in given or "rows" not in given else {**given, "groups": given["rows"]}

    @model_validator(mode="after")
    def _limits_fit_the_kind(self) -> Unit:
        if self.person is None and (self.rows, self.period, self.date) != (1, None, None):
            raise FactError("limits without a person", "a row is one row", "name the person column, or say `unit: row`")
        if self.groups > self.rows:
            raise FactError(
                f"groups {self.groups} above rows {self.rows}",
                "a person with that many rows cannot be in more groups",
                f"give groups: {self.rows} or fewer",
            )
        if (self.period is None) != (self.date is None):
            raise FactError(
                "a period without a date" if self.period else "a date without a period",
                "a person per period needs both",
                "give period: day and date: <column>, or neither",
            )
        return self

    @property
    def is_row(self) -> bool:
        """Whether each row stands for itself."""
        return self.person is None

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader of a guarantee for this unit must know."""
        if self.period is None:
            return ()
        several = f"several {self.period}s"
        warning = (
            f"The unit is a person per {self.period}: what {several} tell of one person together is not hidden by "
            f"one epsilon. Over k {self.period}s their epsilons add up to k times as much."
        )
        return (warning,)

    def __str__(self) -> str:
        if self.is_row:
            return "one row"
        per = f" per {self.period} of {self.date!r}" if self.period else ""
        return f"one {self.person!r}{per}, at most {self.rows} rows and {self.groups} groups"
