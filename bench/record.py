"""A record: one line of a benchmark, all of whose figures were taken in the same run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from discreet.draw.grid import Grid, GridColumn

__all__ = ["Record", "grid"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A task, our figure, that of the raw engine and that of a peer.

    `bar` is what must be reached, in the task's own unit or as the ratio to the raw engine. `noted` is a peer's figure
    from an earlier measurement, shown to people when the peer did not run; it never enters a ratio.
    """

    task: str
    ours: float
    unit: str
    raw: float | None = None
    peer: float | None = None
    bar: float | None = None
    barred: Literal["ours", "ratio"] = "ratio"
    noted: float | None = None

    @property
    def ratio(self) -> float | None:
        """Ours over the raw engine's, or over the peer's where there is no raw engine."""
        other = self.raw if self.raw is not None else self.peer
        return self.ours / other if other else None

    @property
    def reached(self) -> bool | None:
        """Whether the bar holds; None without one. More is better per second, less is better otherwise."""
        figure = self.ours if self.barred == "ours" else self.ratio
        if self.bar is None or figure is None:
            return None
        return figure >= self.bar if self.unit.endswith("/s") else figure <= self.bar

    def as_json(self) -> dict[str, str | float | None]:
        """The six keys of a machine's record."""
        return {
            "task": self.task,
            "ours": self.ours,
            "raw": self.raw,
            "peer": self.peer,
            "ratio": self.ratio,
            "unit": self.unit,
        }


def grid(group: str, records: Sequence[Record]) -> Grid:
    """The records of a group as a table for people."""
    columns = (
        GridColumn("task"),
        GridColumn("ours", "number"),
        GridColumn("raw", "number"),
        GridColumn("ratio", "number"),
        GridColumn("bar"),
        GridColumn("peer", "number"),
        GridColumn("unit"),
        GridColumn("remark"),
    )
    rows = tuple(
        (one.task, one.ours, one.raw, one.ratio, _bar(one), one.peer or one.noted, one.unit, _remark(one))
        for one in records
    )
    return Grid(f"Benchmark {group}", columns, rows)


def _bar(record: Record) -> str | None:
    if record.bar is None:
        return None
    sign = "≥" if record.unit.endswith("/s") else "≤"
    return f"{record.barred} {sign} {record.bar:g}, " + ("held" if record.reached else "MISSED")


def _remark(record: Record) -> str | None:
    return "peer not re-run" if record.peer is None and record.noted is not None else None
