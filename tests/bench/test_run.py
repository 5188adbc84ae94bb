"""The benchmark's command, its stopwatch, its groups and its peers; no figure is asserted, only how they are taken."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench import __main__ as command
from bench import peers
from bench.measure import cpu_seconds, fastest, side_by_side
from bench.peers import Peer
from bench.record import Record
from bench.registry import group, groups

BURN = "sum(range(10**6))"


def lines() -> Iterator[Record]:
    yield Record(task="one", ours=1.0, raw=2.0, unit="CPU s")
    yield Record(task="two", ours=1.0, unit="draws/s", bar=5.0, barred="ours")


@pytest.fixture
def one_group(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "group", lambda name: lines)
    monkeypatch.setattr(command, "groups", lambda: ("small",))


@pytest.mark.usefixtures("one_group")
def test_json_is_one_list_on_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--json"]) == 0
    printed = capsys.readouterr()
    records = json.loads(printed.out)
    assert [list(record) for record in records] == [["task", "ours", "raw", "peer", "ratio", "unit"]] * 2
    assert [record["ratio"] for record in records] == [0.5, None]
    assert "small: one" in printed.err


@pytest.mark.usefixtures("one_group")
def test_people_get_a_table_for_each_group(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["small"]) == 0
    printed = capsys.readouterr().out
    assert "Benchmark small" in printed
    assert "MISSED" in printed


def test_unknown_group_is_refused_before_measuring(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["uniquenes"]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "did you mean uniqueness" in printed.err


def test_every_group_yields_records() -> None:
    assert "uniqueness" in groups()
    assert not {"measure", "record", "registry", "peers", "tables"} & set(groups())
    assert all(callable(group(name)) for name in groups())


def test_stopwatch_warms_up_and_takes_the_best() -> None:
    ticks = iter([0.0, 9.0, 10.0, 13.0, 20.0, 22.0, 30.0, 34.0])
    calls: list[int] = []
    assert fastest(lambda: calls.append(1), repeats=3, clock=lambda: next(ticks)) == 2.0
    assert len(calls) == 4


def test_steps_take_turns() -> None:
    calls: list[str] = []
    side_by_side(lambda: calls.append("a"), lambda: calls.append("b"), repeats=2)
    assert calls == ["a", "b"] * 3


def test_cpu_seconds_count_the_children_too() -> None:
    before = cpu_seconds()
    subprocess.run([sys.executable, "-c", BURN], check=True)
    assert cpu_seconds() > before


def test_peer_without_environment_gives_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peers, "_FOLDER", tmp_path)
    absent = Peer(name="absent", requirement=str(tmp_path / "absent.whl"), script="absent.py")
    assert absent.figures() == {}
    assert not absent.install()
    assert not absent.ready
    assert list(tmp_path.iterdir()) == []


def test_peer_that_cannot_be_installed_is_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Peer, "install", lambda self: False)
    monkeypatch.setattr(command, "groups", tuple)
    assert peers.main([]) == 0
    assert "pycanon==1.3.5 cannot be installed here" in capsys.readouterr().err
