"""What goes between the child process and the readers it runs: a task, a table on its way, a refusal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from discreet.data.readers.incoming import Reading
from discreet.data.readers.limits import Limits

__all__ = ["ForeignTable", "Refused", "Task"]


class Refused(Exception):  # noqa: N818  a verdict, not a fault of the program
    """The file is refused: where in it, what was found, what is right, what to do."""

    def __init__(self, at: str, found: str, right: str, step: str) -> None:
        super().__init__(found)
        self.parts = (at, found, right, step)


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What the parent asks for."""

    format: str
    path: str
    out: str
    sheet: str | None
    labels: bool
    nulls: tuple[str, ...]
    size: int
    limits: Limits


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignTable:
    """A table on its way through: batches of Arrow columns, and what is known of them before the first."""

    names: Sequence[str]
    readings: Sequence[Reading]
    schema: Any
    batches: Iterator[Any]
    notes: list[str] = field(default_factory=list)
