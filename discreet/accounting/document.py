"""Signed documents: JSON with a single spelling, and the words a signature stands under.

A signature covers bytes, so a document must have one spelling only: names sorted, no white space, ASCII, whole numbers,
no name twice. Whatever has a fraction is written as exact text. What is signed begins with what it is, so that no
signature under one kind of document fits another. The spelling is that of the ledger's chain.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from discreet.accounting.chain import canonical
from discreet.errors import ArgumentError, CheckFailedError

__all__ = ["SIZE_AT_MOST", "Facts", "message", "parse", "time_text"]

SIZE_AT_MOST = 1 << 20
_TIME = "%Y-%m-%dT%H:%M:%SZ"


@dataclass(frozen=True, slots=True)
class Facts:
    """Plain public values that cannot change any more: an object of JSON, kept in its one spelling."""

    text: str

    def __post_init__(self) -> None:
        parse("facts", self.text)

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Facts:
        """From texts, whole numbers, truth values, None, lists and mappings of them."""
        try:
            return cls(canonical(dict(values)))
        except (ArgumentError, CheckFailedError):
            raise ArgumentError(
                "facts",
                found="a value or name that has no single spelling",
                right="they are texts, whole numbers, truth values, None, lists and mappings",
                step="write a fraction as text, such as '1/3'",
            ) from None

    def values(self) -> dict[str, Any]:
        """A copy of the values."""
        return parse("facts", self.text)


def message(kind: str, content: object) -> bytes:
    """What is signed for a document of that kind."""
    return canonical([f"discreet {kind}", content]).encode()


def parse(what: str, text: str) -> dict[str, Any]:
    """The object that a text spells, or an error when it is spelled in another way than the one there is."""
    if len(text) > SIZE_AT_MOST:
        raise _misspelled(what, f"more than {SIZE_AT_MOST} signs")
    try:
        value = json.loads(text, parse_float=_refused, parse_constant=_refused)
        same = canonical(value) == text
    except (ArgumentError, ValueError, RecursionError):
        raise _misspelled(what, "not JSON, a name twice, or a number that is not whole") from None
    if not isinstance(value, dict):
        raise _misspelled(what, "not an object of JSON")
    if not same:
        raise _misspelled(what, "another spelling of JSON than the one that is signed")
    return value


def time_text(moment: datetime.datetime | str) -> str:
    """A moment in UTC to the second, as text that sorts by time; such a text is checked and comes back as it is."""
    try:
        if isinstance(moment, str):
            if datetime.datetime.strptime(moment, _TIME).strftime(_TIME) == moment:
                return moment
        elif moment.tzinfo is not None and moment.year >= 1000:
            return moment.astimezone(datetime.UTC).strftime(_TIME)
    except ValueError:
        pass
    raise ArgumentError(
        "time", found="no moment in UTC", right="it is written 2026-03-01T12:00:00Z", step="give it with its time zone"
    )


def _refused(_: str) -> NoReturn:
    raise ValueError("not a whole number")


def _misspelled(what: str, found: str) -> CheckFailedError:
    return CheckFailedError(
        what, found=found, right="it is read in its one spelling only", step="take the file as it was published"
    )
