"""Commands that run at once on one folder: budgets stay exact, refusals are one line, changes take turns."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import discreet
from discreet.accounting.account import AccountKey, Kind
from discreet.accounting.amount import LOSS_UNITS, Amount
from discreet.cli.main import main
from discreet.errors import BudgetError
from discreet.folder import Folder
from tests.accounting.places import Server, missing_server, running_server

CONTRACT = """
table: visits
unit: {person: patient, rows: 2}
columns:
  patient: {type: text, role: direct identifier}
  age: {type: integer, low: 0, high: 120}
"""
CAP = 5
PEOPLE = AccountKey(Kind.POPULATION, "visits")


@pytest.fixture
def heads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCREET_HEADS", str(tmp_path / "heads"))


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest) -> Iterator[str | None]:
    """Where the ledger is kept: in the folder, or on a server of its own."""
    if request.param == "sqlite":
        yield None
        return
    missing = missing_server()
    if missing:
        pytest.skip(missing)
    with running_server() as server:
        yield _database(server)


def _database(server: Server) -> str:
    server.execute("CREATE DATABASE shared")
    return server.url("shared")


def clinic(tmp_path: Path, address: str | None = None) -> Path:
    (tmp_path / "visits.csv").write_text("patient,age\np1,3\np2,4\np2,5\n")
    (tmp_path / "visits.yaml").write_text(CONTRACT)
    place = tmp_path / "clinic"
    assert main(["init", str(place), *([] if address is None else ["--ledger", address])]) == 0
    words = ["--contract", str(tmp_path / "visits.yaml"), "--epsilon", str(CAP)]
    added = started(place, "add", str(tmp_path / "visits.csv"), *words)
    added.communicate()  # a process of its own gives back what it opened
    assert added.returncode == 0
    return place


def started(place: Path, *words: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "discreet", *words, "--curator", str(place)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dict(os.environ))


@pytest.mark.slow
@pytest.mark.usefixtures("heads")
def test_two_servers_and_commands_spend_exactly_the_cap(tmp_path: Path, address: str | None) -> None:
    """Two curators that stay open, as servers do, beside four commands: each asks what nobody has asked before."""
    place = clinic(tmp_path, address)
    texts = [f"SELECT COUNT(*) AS n FROM visits WHERE age >= {age}" for age in range(1, 9)]
    commands = [started(place, "ask", text, "--epsilon", "1", "--json") for text in texts[:4]]
    granted = 0
    servers = [discreet.Curator.open(place) for _ in range(2)]
    for server, text in zip(servers * 2, texts[4:], strict=True):
        try:
            server.sql(text, epsilon=1).run()
            granted += 1
        except BudgetError:
            pass
        time.sleep(0.5)
    for command in commands:
        out, said = command.communicate(timeout=300)
        assert command.returncode in (0, 3), said
        granted += command.returncode == 0
        if command.returncode == 3:
            assert out == ""
            assert "spent ε = 5, asked ε = 1, left ε = 0" in said
            assert len(said.strip().splitlines()) == 1
    assert granted == CAP
    for server in servers:
        ledger = server.ledger
        assert ledger.account(PEOPLE).spent == Amount(loss=CAP * LOSS_UNITS)
        assert len(ledger.entries(kind="answer")) == CAP
        assert ledger.verify() == ()
        ledger.close()


@pytest.mark.usefixtures("heads")
def test_a_folder_that_is_being_changed_says_so_and_answers_go_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Who waits for another change is told within seconds; asking needs no such turn."""
    place = clinic(tmp_path)
    (tmp_path / "more.csv").write_text("age\n1\n")
    capsys.readouterr()
    with Folder.open(place).changing():
        assert main(["add", str(tmp_path / "more.csv"), "--curator", str(place)]) == 2
        assert "another process is changing it" in capsys.readouterr().err
        words = ["ask", "SELECT COUNT(*) AS n FROM visits", "--epsilon", "1", "--curator", str(place)]
        assert main([*words, "--estimate"]) == 0
    assert main(words) == 0


@pytest.mark.usefixtures("heads")
@pytest.mark.parametrize("gone", ["heads", "key", "signing", "ledger.db"])
def test_what_is_missing_is_named_and_nothing_is_answered(
    tmp_path: Path, gone: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The head, the folder's key, the private key, the database: without one of them there is a line and no answer."""
    place = clinic(tmp_path)
    words = ["ask", "SELECT COUNT(*) AS n FROM visits", "--epsilon", "1", "--curator", str(place), "--json"]
    assert main(words) == 0
    found = {"heads": tmp_path / "heads", "signing": place / "signing"}.get(gone, place)
    pattern = {"heads": "*.json", "signing": "*.pem"}.get(gone, f"{gone}*")
    for path in found.glob(pattern):
        path.rename(tmp_path / f"kept-{path.name}")
    capsys.readouterr()
    assert main(["ask", "SELECT COUNT(*) AS n FROM visits WHERE age > 4", *words[2:]]) in (1, 2)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert len(shown.err.strip().splitlines()) == 1
    for path in found.glob(pattern):
        path.unlink()  # what was begun in its place
    for path in tmp_path.glob("kept-*"):
        path.rename(found / path.name.removeprefix("kept-"))
    (account,) = discreet.Curator.open(place).ledger.accounts()
    assert account.spent == Amount(loss=LOSS_UNITS)


def test_a_ledger_elsewhere_must_be_a_server(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for address in ("sqlite:///x.db", f"postgresql://me:secret@/db?host={tmp_path}"):
        assert main(["init", str(tmp_path / "clinic"), "--ledger", address]) == 2
        shown = capsys.readouterr().err
        assert len(shown.strip().splitlines()) == 1
        assert "secret" not in shown
    assert not (tmp_path / "clinic").exists()
