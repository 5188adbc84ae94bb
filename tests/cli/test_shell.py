"""The shell, typed into as a person does: through prompt_toolkit's own pipe, and on a terminal of its own."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from discreet.cli.completion import PublicNames
from discreet.cli.shell import Settings, history_file, open_shell
from discreet.curator import Curator
from discreet.data.contract import Contract
from discreet.errors import FileError

CONTRACT = """
table: visits
unit: {person: patient, rows: 5}
budget: {epsilon: 50}
columns:
  patient: {type: text, role: direct identifier}
  insurance: {type: text, role: direct identifier}
  age: {type: integer, low: 0, high: 100}
  sex: {type: category, keys: [female, male]}
  secret: {type: category, keys: [hush], role: hidden}
  city: {type: text}
"""


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Curator]:
    folder = tmp_path_factory.mktemp("shell")
    rows = [
        {"patient": f"p{n}", "insurance": "i", "age": n, "sex": "male", "secret": "hush", "city": "Bree"}
        for n in range(60)
    ]
    made = Curator(folder / "clinic", heads=folder / "heads")
    made.add(pl.DataFrame(rows), name="visits", contract=Contract.from_yaml(CONTRACT))
    made.add(pl.DataFrame({"x": [1]}), name="bare")
    yield made
    made.ledger.close()


@pytest.fixture(autouse=True)
def _history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCREET_HISTORY", str(tmp_path / "state" / "history"))


def typed(held: Curator, text: str, **settings: str) -> None:
    """Open a shell, type, and leave by Ctrl-D."""
    with create_pipe_input() as pipe, create_app_session(input=pipe, output=DummyOutput()):
        pipe.send_text(text.replace("\n", "\r") + "\x04")
        open_shell(held, Settings(**settings))  # type: ignore[arg-type]  # all of them are texts


def entries(held: Curator) -> int:
    return len(held.ledger.entries())


@pytest.mark.requirement("3.09")
@pytest.mark.requirement("4.10")
def test_sql_over_lines_is_asked_only_after_yes(held: Curator, capsys: pytest.CaptureFixture[str]) -> None:
    before = entries(held)
    typed(held, ".epsilon 0.5\nSELECT COUNT(*) AS n\nFROM visits;\nn\n")
    shown = capsys.readouterr()
    assert "Charges population 'visits' ε = 0.5" in shown.err
    assert "Nothing was asked" in shown.err
    assert entries(held) == before
    typed(held, "SELECT COUNT(*) AS n\n\nFROM visits;\ny\n", epsilon="0.5")
    shown = capsys.readouterr()
    assert "± n" in shown.out
    assert entries(held) > before
    typed(held, "SELECT COUNT(*) AS n\n\nFROM visits;\n", epsilon="0.5")
    assert "given again for nothing" in capsys.readouterr().err, "what was paid for is not asked about"


def test_yes_on_charges_without_asking_and_saves(
    held: Curator, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    typed(
        held,
        f".yes on\n.clip quantile\nSELECT SUM(age) AS s FROM visits;\n.save {tmp_path / 'a.csv'}\n.quit\n",
        epsilon="1",
    )
    assert "s raw" in (tmp_path / "a.csv").read_text()
    shown = capsys.readouterr().err
    assert "Saved" in shown
    assert "A question spends epsilon 1, clip quantile." in shown
    assert "a released quantile" in shown


def test_modes_are_free(held: Curator, capsys: pytest.CaptureFixture[str]) -> None:
    before = entries(held)
    ask = "SELECT AVG(age) AS a FROM visits;\n"
    typed(held, f".dummy\n{ask}.estimate\n{ask}.explain\n{ask}", epsilon="1")
    shown = capsys.readouterr()
    assert "Invented" in shown.err
    assert "expect an error" in shown.out
    assert "(taken)" in shown.out
    assert entries(held) == before


def test_commands_show_what_is_public(held: Curator, capsys: pytest.CaptureFixture[str]) -> None:
    typed(held, ".tables\n.columns visits\n.budget\n.help\nhelp\n")
    shown = capsys.readouterr()
    assert "visits" in shown.out
    for word in (
        ".clip quantile",
        "female, male",
        "0 to 100",
        "COUNT(DISTINCT",
        "population 'visits'",
        "ends with a semicolon",
    ):
        assert word in shown.out
    for word in ("secret", "hush", "insurance", "Bree", "bare"):
        assert word not in shown.out


def test_what_is_wrong_is_one_line_and_the_shell_goes_on(held: Curator, capsys: pytest.CaptureFixture[str]) -> None:
    before = entries(held)
    wrong = (
        "SELECT agee FROM visits;\n.nothing\n.columns a b\n.columns bare\n.yes perhaps\n.save\n.save x.csv\n"
        ".epsilon 1 2\n.epsilon lots\nSELECT COUNT(*) FROM visits;\n.epsilon 5000\nSELECT COUNT(*) FROM visits;\n"
        ".epsilon off\n;\n\nSELECT COUNT(*) FROM visits;\n.tables\n"
    )
    typed(held, wrong)
    shown = capsys.readouterr()
    assert shown.out.strip() == "visits"
    assert shown.err.count("Next: ") == 11
    assert "refused" in shown.err
    assert entries(held) == before


def test_a_charge_is_not_agreed_to_by_chance(held: Curator, capsys: pytest.CaptureFixture[str]) -> None:
    """Something else than y or n is not taken; Ctrl-C and Ctrl-D mean no; Ctrl-C drops what was half typed."""
    before = entries(held)
    typed(held, "SELECT COUNT(*) AS c FROM visits;\nperhaps\x03", epsilon="2")
    typed(held, "SELECT COUNT(*) AS c FROM visits;\n\x04", epsilon="2")
    typed(held, "SELECT COUNT(*) AS c FROM\x03", epsilon="2")
    assert entries(held) == before


def test_history_is_its_owners_only(held: Curator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "state" / "history"
    typed(held, ".tables\nSELECT x\nFROM y;\n")
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o077 == 0
    assert "+FROM y;" in path.read_text()
    path.chmod(0o644)
    typed(held, ".tables\n")
    assert path.stat().st_mode & 0o777 == 0o600
    kept = path.read_text()
    monkeypatch.setenv("DISCREET_HISTORY", "off")
    typed(held, ".budget\n")
    assert path.read_text() == kept
    monkeypatch.delenv("DISCREET_HISTORY")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert history_file() == tmp_path / "discreet" / "history"
    monkeypatch.setenv("DISCREET_HISTORY", str(path / "below"))
    with pytest.raises(FileError, match="DISCREET_HISTORY"):
        typed(held, "")


def offered(held: Curator, text: str) -> set[str]:
    names = PublicNames(held, [".tables", ".help"])
    return {one.text for one in names.get_completions(Document(text), CompleteEvent())}


def test_completion_knows_public_names_only(held: Curator) -> None:
    assert offered(held, "SELECT a") == {"age", "AND", "AS", "ASC", "AVG"}
    assert offered(held, "SELECT COUNT(*) FROM vis") == {"visits"}
    assert offered(held, "… WHERE sex = '") == {"female", "male"}
    assert offered(held, "… WHERE sex = 'female' AND pat") == {"patient"}
    assert offered(held, ".he") == {".help"}
    assert offered(held, ".columns ") == {"visits"}
    for hidden in ("sec", "hus", "ins", "Bre", "bar", "p1"):
        assert not offered(held, hidden)
        assert not offered(held, f"WHERE city = '{hidden}")


def test_on_a_terminal(held: Curator, tmp_path: Path) -> None:
    """The command itself, on a terminal: typed, completed by the tab key, asked, answered, left."""
    leader, follower = pty.openpty()
    heads = held.folder.parent / "heads"
    environment = {**os.environ, "TERM": "xterm", "DISCREET_HEADS": str(heads), "PROMPT_TOOLKIT_NO_CPR": "1"}
    command = [sys.executable, "-m", "discreet", "ask", "--epsilon", "0.75"]
    shell = subprocess.Popen(
        command, stdin=follower, stdout=follower, stderr=follower, cwd=held.folder, env=environment, close_fds=True
    )
    os.close(follower)
    try:
        _until(leader, "discreet>")
        os.write(leader, b"SELECT COUNT(*) AS many\rFROM vis\t")
        _until(leader, "its")  # the name is completed
        os.write(leader, b";\r")
        _until(leader, "[y/N]")
        os.write(leader, b"y\r")
        shown = _until(leader, "verify receipt")
        assert "± many" in shown
        os.write(leader, b".quit\r")
        assert shell.wait(timeout=120) == 0
    finally:
        shell.kill()
        os.close(leader)
    assert "+FROM visits;" in (tmp_path / "state" / "history").read_text()


def _until(terminal: int, words: str) -> str:
    """What the terminal shows until it shows these words."""
    shown, deadline = "", time.monotonic() + 180
    while words not in shown:
        assert time.monotonic() < deadline, f"{words!r} did not come: {shown[-400:]!r}"
        if select.select([terminal], [], [], 1)[0]:
            shown += os.read(terminal, 4096).decode(errors="replace")
    return shown
