"""What every public fact shares: where it comes from, numbers without rounding, and a complaint that says what to do.

A fact is public because somebody says so: a law, a codebook, another published table, an answer that was paid for, or
the keeper who declares it. What was read off the confidential data is `drafted`, and stays marked until it is replaced.
"""

from __future__ import annotations

import datetime
import re
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from typing import Annotated, Any

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    ValidationInfo,
    WithJsonSchema,
    field_validator,
)

__all__ = [
    "Count",
    "Day",
    "Exact",
    "FactError",
    "FactModel",
    "Moment",
    "Name",
    "Source",
    "Sourced",
    "decimal_text",
    "exact_number",
    "proper_name",
    "shown",
]

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?")
_RATIO = re.compile(r"[+-]?\d+/0*[1-9]\d*")
_LONGEST_NUMBER = 80
_LONGEST_NAME = 200


class FactError(ValueError):
    """What is wrong with one fact, before it is known which file and line it stands on."""

    def __init__(self, found: str, right: str, step: str) -> None:
        self.found, self.right, self.step = found, right, step
        super().__init__(f"{found}; {right}. Next: {step}")


class Source(StrEnum):
    """Where a public fact comes from."""

    LAW = "law"
    CODEBOOK = "codebook"
    PUBLIC_TABLE = "public table"
    PAID_FOR = "paid for"
    DRAFTED = "drafted"
    DECLARED = "declared"


class FactModel(BaseModel):
    """A frozen group of facts with no room for entries nobody knows."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True)


class Sourced(FactModel):
    """Facts that say where they come from."""

    source: Source = Field(default=Source.DECLARED, description="where the facts come from")
    receipt: str | None = Field(default=None, description="the receipt of the release a `paid for` fact was read from")
    note: str | None = Field(default=None, max_length=500, description="a public remark of at most 500 characters")

    @field_validator("receipt")
    @classmethod
    def _paid_facts_have_receipts(cls, receipt: str | None, others: ValidationInfo) -> str | None:
        source = others.data.get("source")
        if source is not None and (source is Source.PAID_FOR) != (receipt is not None):
            raise FactError(
                f"source: {source} {'with' if receipt else 'without'} a receipt",
                "a fact has a receipt exactly when it is `paid for`",
                "give `source: paid for, receipt: <its id>`, or another source and no receipt",
            )
        return receipt


def exact_number(value: Any) -> Fraction:
    """The exact value of a number or of its text; a float counts as the decimal it prints as."""
    if isinstance(value, int | float | Decimal | Fraction) and not isinstance(value, bool):
        value = repr(value) if isinstance(value, float) else str(value)
    text = value.strip() if isinstance(value, str) else ""
    if len(text) > _LONGEST_NUMBER or not (_NUMBER.fullmatch(text) or _RATIO.fullmatch(text)):
        raise FactError(f"{shown(value)}", "a number such as 120, 0.01 or 1/3 is wanted", "give a plain finite number")
    return Fraction(text)


def _count(value: Any) -> int:
    number = exact_number(value)
    if number.denominator != 1:
        raise FactError(f"{shown(value)}", "a whole number is wanted", "leave the decimals away")
    return number.numerator


def _day(value: Any) -> datetime.date:
    try:
        if type(value) is datetime.date:
            return value
        return datetime.date.fromisoformat(value)
    except (TypeError, ValueError):
        raise FactError(shown(value), "a date such as 2020-12-31 is wanted", "give year-month-day") from None


def _moment(value: Any) -> datetime.datetime:
    try:
        moment = value if isinstance(value, datetime.datetime) else datetime.datetime.fromisoformat(value)
    except (TypeError, ValueError):
        moment = None
    if moment is None or moment.tzinfo is not None or moment.microsecond:
        raise FactError(
            shown(value),
            "a date and time such as 2020-12-31T23:59:59 is wanted, in the table's own clock and whole seconds",
            "give it without a time zone",
        )
    return moment


def proper_name(value: Any) -> str:
    """A name that a file, an engine and a terminal can all carry."""
    if not isinstance(value, str) or not value.strip() or len(value) > _LONGEST_NAME:
        raise FactError(
            shown(value), f"a name of 1 to {_LONGEST_NAME} characters is wanted", "give the name as its file spells it"
        )
    if any("\ud800" <= sign <= "\udfff" or sign == "\0" for sign in value):
        raise FactError("a name with broken characters", "names are text that UTF-8 can hold", "rename it in the file")
    return value


def decimal_text(number: Fraction) -> str:
    """A decimal where the number has a finite one, else numerator/denominator."""
    twos, fives, rest = 0, 0, number.denominator
    while rest % 2 == 0:
        twos, rest = twos + 1, rest // 2
    while rest % 5 == 0:
        fives, rest = fives + 1, rest // 5
    if rest != 1:
        return f"{number.numerator}/{number.denominator}"
    places = max(twos, fives)
    digits = str(abs(number.numerator) * 10**places // number.denominator).rjust(places + 1, "0")
    whole, part = (digits[:-places], digits[-places:]) if places else (digits, "")
    return ("-" if number < 0 else "") + whole + (f".{part}" if part else "")


def shown(value: Any) -> str:
    """A given value as a message may show it: short, on one line, and never the content of something large."""
    if value is None:
        return "nothing"
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list | tuple | set):
        return "a list"
    text = value if isinstance(value, str) else str(value)
    return repr(text if len(text) <= 40 else f"{text[:37]}...")


_NUMBER_SCHEMA = WithJsonSchema({"anyOf": [{"type": "number"}, {"type": "string", "pattern": r"^[-+]?[\d.eE/+-]+$"}]})
Exact = Annotated[
    Fraction, BeforeValidator(exact_number), PlainSerializer(decimal_text, when_used="json"), _NUMBER_SCHEMA
]
Count = Annotated[int, Field(ge=1), BeforeValidator(_count)]
Day = Annotated[datetime.date, BeforeValidator(_day), WithJsonSchema({"type": "string", "format": "date"})]
Moment = Annotated[datetime.datetime, BeforeValidator(_moment), WithJsonSchema({"type": "string"})]
Name = Annotated[str, BeforeValidator(proper_name), WithJsonSchema({"type": "string", "minLength": 1})]
