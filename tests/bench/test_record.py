"""A benchmark's line: its six keys, its ratio, its bar."""

from __future__ import annotations

import json

import pytest

from bench.record import Record, grid


def test_six_keys_and_the_ratio_to_the_raw_engine() -> None:
    record = Record(task="count", ours=3.0, raw=2.0, peer=12.0, unit="CPU s", bar=1.2)
    assert json.loads(json.dumps(record.as_json())) == {
        "task": "count",
        "ours": 3.0,
        "raw": 2.0,
        "peer": 12.0,
        "ratio": 1.5,
        "unit": "CPU s",
    }


def test_ratio_falls_back_to_the_peer_and_then_to_nothing() -> None:
    assert Record(task="t", ours=3.0, peer=12.0, unit="CPU s").ratio == 0.25
    assert Record(task="t", ours=3.0, unit="CPU s").ratio is None


def test_a_figure_noted_earlier_stays_out_of_the_run() -> None:
    record = Record(task="t", ours=3.0, unit="CPU s", noted=7.2)
    assert record.as_json()["peer"] is None
    assert record.ratio is None
    (row,) = grid("g", [record]).rows
    assert row[5] == 7.2
    assert row[7] == "peer not re-run"


@pytest.mark.parametrize(
    ("ours", "raw", "barred", "unit", "bar", "reached"),
    [
        (1.2, 1.0, "ratio", "CPU s", 1.2, True),
        (1.3, 1.0, "ratio", "CPU s", 1.2, False),
        (1.3, 1.0, "ours", "CPU s", 2.0, True),
        (2.1e7, None, "ours", "draws/s", 2e7, True),
        (1.9e7, None, "ours", "draws/s", 2e7, False),
        (1.0, None, "ratio", "CPU s", 1.2, None),
        (1.0, 1.0, "ratio", "CPU s", None, None),
    ],
)
def test_bar(ours: float, raw: float | None, barred: str, unit: str, bar: float | None, reached: bool | None) -> None:
    record = Record(task="t", ours=ours, raw=raw, unit=unit, bar=bar, barred="ours" if barred == "ours" else "ratio")
    assert record.reached is reached
    shown = grid("g", [record]).rows[0][4]
    assert (shown is None) == (bar is None)
    if reached is not None:
        assert ("held" if reached else "MISSED") in str(shown)
