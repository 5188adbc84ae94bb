"""How a command ends when somebody ends it, or when its output goes nowhere: one line, nothing half-done."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from discreet.cli.main import main

# A command that stops itself while a table is stored, as DuckDB answers an interrupt: with an error of its own.
_STOPPED = """
import os, signal, sys
import discreet.holdings
from discreet.cli.main import main
# Whoever runs the tests may ignore it, and children inherit that.
signal.signal(signal.SIGHUP, signal.SIG_IGN if sys.argv[2] == "ignored" else signal.SIG_DFL)
load = discreet.holdings.load
def stopped(source, into, **rest):
    into.with_name("half").write_text("secret")
    try:
        os.kill(os.getpid(), int(sys.argv[1]))
    except KeyboardInterrupt:
        if sys.argv[3:]:
            raise
        raise RuntimeError("Query interrupted: the value 918273645") from None
    into.with_name("half").unlink()
    return load(source, into, **rest)
discreet.holdings.load = stopped
sys.exit(main(["add", "visits.csv", "--curator", "clinic"]))
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "visits.csv").write_text("age,sex\n" + "30,f\n31,m\n" * 40)
    monkeypatch.chdir(tmp_path)
    assert main(["init", "clinic"]) == 0
    return tmp_path


def run(script: str, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", script, *words], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("way", [[], ["plainly"]])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_stopping_leaves_nothing_and_says_so_in_a_line(place: Path, number: signal.Signals, way: list[str]) -> None:
    ended = run(_STOPPED, str(int(number)), "heard", *way)
    assert (ended.returncode, ended.stdout, ended.stderr) == (128 + number, "", "interrupted\n")
    assert list((place / "clinic" / "tables").iterdir()) == []


def test_what_nohup_ignores_stays_ignored(place: Path) -> None:
    assert run(_STOPPED, str(int(signal.SIGHUP)), "ignored").returncode == 0
    assert [path.name for path in (place / "clinic" / "tables").iterdir()] == ["visits"]


def test_an_interrupt_while_everything_is_loaded_is_one_line() -> None:
    hasty = (
        "import builtins, sys; from discreet.cli.main import main; real = builtins.__import__\n"
        "def late(name, *rest):\n"
        "    if name == 'typer': raise KeyboardInterrupt\n"
        "    return real(name, *rest)\n"
        "builtins.__import__ = late; sys.exit(main(['assess', 'x']))"
    )
    ended = run(hasty)
    assert (ended.returncode, ended.stderr) == (130, "interrupted\n")


@pytest.mark.parametrize("form", [[], ["--json"], ["--csv"]])
def test_a_reader_who_has_seen_enough_is_no_fault(place: Path, form: list[str]) -> None:
    main(["add", "visits.csv", "--curator", "clinic"])
    command = ["assess", "visits", "--quasi", "age,sex", "--curator", "clinic", *form]
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as closed:
        ended = subprocess.run(
            [sys.executable, "-m", "discreet", *command], stdout=closed, stderr=subprocess.PIPE, text=True, check=False
        )
    assert ended.returncode == 0
    assert "rror" not in ended.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no device that is always full")
@pytest.mark.parametrize("words", [["--version"], ["assess", "visits", "--quasi", "age", "--curator", "clinic"]])
def test_output_that_cannot_be_written_is_said(place: Path, words: list[str]) -> None:
    main(["add", "visits.csv", "--curator", "clinic"])
    with Path("/dev/full").open("wb") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "discreet", *words], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert ended.returncode == 2
    assert ended.stderr.splitlines()[-1].startswith("discreet: no space left on device;")
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize("words", [[], ["contract"], ["explain"]])
def test_a_group_alone_prints_what_it_holds(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 0
    shown = capsys.readouterr()
    assert "Commands:" in shown.out
    assert shown.err == ""
