"""Crashes at each step, full and read-only disks, failing syncs, forks: nothing is lost or given away."""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import stat
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from discreet.accounting import registry
from discreet.accounting.account import AccountKey, Kind
from discreet.accounting.amount import LOSS_UNITS, Amount
from discreet.accounting.chain import HeadFile
from discreet.accounting.ledger import Ledger
from discreet.accounting.store import Store
from discreet.errors import DiscreetError, FolderError
from tests.accounting import crowds
from tests.accounting.places import KEY, PEOPLE, SIGNER, Place, charge_of, price_of


@contextlib.contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Path]:
    """A file system of that size; where none can be mounted the test is skipped."""
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("a small disk: no file system can be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@contextlib.contextmanager
def read_only(disk: Path) -> Iterator[None]:
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    try:
        yield
    finally:
        subprocess.run(["mount", "-o", "remount,rw", str(disk)], check=True)


class Crash(BaseException):
    """Nothing catches it, as nothing catches a power cut."""


def crash_before(function: Callable[..., object]) -> Callable[..., object]:
    def crash(*_: object, **__: object) -> object:
        raise Crash

    return crash


def crash_after(function: Callable[..., object]) -> Callable[..., object]:
    def crash(*arguments: object, **named: object) -> object:
        function(*arguments, **named)
        raise Crash

    return crash


STEPS: dict[str, tuple[object, str, bool]] = {
    "the entry": (registry, "append", False),
    "the outcome": (registry, "close", False),
    "the look at the head": (HeadFile, "require_writable", False),
    "the head": (HeadFile, "advance", True),
    "the piece of the head": (HeadFile, "_write", True),
}
CHANGES: dict[str, Callable[[Ledger], object]] = {
    "spend": lambda ledger: ledger.spend(charge_of(1, plan=9)),
    "settle": lambda ledger: ledger.settle(ledger.spend(charge_of(1, plan=9)), {"n": 9}),
    "fail": lambda ledger: ledger.fail(ledger.spend(charge_of(1, plan=9))),
    "note": lambda ledger: ledger.note("remark", {}),
    "open": lambda ledger: ledger.open_account(AccountKey(Kind.PROJECT, "p"), "pure", price_of(1)),
    "limit": lambda ledger: ledger.set_limit(PEOPLE, price_of(9), reason="x"),
}


@pytest.mark.parametrize("when", [crash_before, crash_after])
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("change", CHANGES)
def test_a_crash_at_each_step_loses_no_charge(
    place: Place,
    monkeypatch: pytest.MonkeyPatch,
    change: str,
    step: str,
    when: Callable[[Callable[..., object]], Callable[..., object]],
) -> None:
    """What was not committed never was; what was, stays, and the ledger goes on by itself."""
    ledger = place.with_people(10)
    ledger.settle(ledger.spend(charge_of(1, plan=1)), {"n": 1})
    before = ledger.entries()
    owner, name, durable = STEPS[step]
    with monkeypatch.context() as patch, contextlib.suppress(Crash):
        patch.setattr(owner, name, when(getattr(owner, name)))
        CHANGES[change](ledger)
    for again in (ledger, place.open()):
        assert again.verify() == ()
        entries = again.entries()
        assert entries[: len(before)] == before
        assert len(entries) > len(before) or not durable
        charges = sum(entry.kind == "charge" for entry in entries)
        assert again.account(PEOPLE).spent == Amount(loss=charges * LOSS_UNITS)
        assert again.spend(charge_of(1, plan=1)).answer == {"n": 1}
        again.spend(charge_of(1))


def test_a_charge_fails_before_it_is_made_when_the_head_cannot_be_written(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = place.with_people(10)
    with monkeypatch.context() as patch:
        patch.setattr(os, "access", lambda *_: False)
        with pytest.raises(FolderError, match="head must be there to read and write"):
            ledger.spend(charge_of(1))
    assert ledger.account(PEOPLE).spent == Amount()
    ledger.spend(charge_of(1))


def fill(ledger: Ledger, settled: list[int]) -> None:
    """Spend and settle until that fails, and then spend until that fails."""
    try:
        for turn in itertools.count():
            ledger.settle(ledger.spend(charge_of("0.001", plan=turn)), {"text": "x" * 5000})
            settled.append(turn)
    except FolderError:
        for _ in itertools.count():
            ledger.spend(charge_of("0.001", what={"text": "x" * 500}))


def test_a_full_disk_refuses_and_space_lets_it_go_on(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "2m") as disk, contextlib.closing(Place.file(disk)) as place:
        ledger = place.with_people(1000)
        (disk / "ballast").write_bytes(bytes(1_000_000))
        settled: list[int] = []
        with pytest.raises(FolderError, match="look at disk space") as error:
            fill(ledger, settled)
        assert "\n" not in str(error.value)
        charges = len(ledger.entries(kind="charge"))
        assert len(settled) > 5
        assert len(ledger.entries(kind="answer")) == len(settled)
        assert ledger.account(PEOPLE).spent == Amount(loss=charges * LOSS_UNITS // 1000)
        (disk / "ballast").unlink()
        for again in (ledger, place.open()):
            again.settle(again.spend(charge_of("0.001")), {"n": 1})
            assert again.verify() == ()
        assert ledger.account(PEOPLE).spent == Amount(loss=(charges + 2) * LOSS_UNITS // 1000)


def test_a_disk_full_from_the_start_is_said_in_one_line(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "64k") as disk, contextlib.closing(Place.file(disk)) as place:
        with pytest.raises(FolderError) as error:
            place.with_people(1)
        assert "\n" not in str(error.value)


def test_a_read_only_disk_refuses_and_changes_nothing(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "4m") as disk, contextlib.closing(Place.file(disk)) as place:
        ledger = place.with_people(10)
        ledger.spend(charge_of(1))
        place.close()
        with read_only(disk), pytest.raises(FolderError) as error:
            place.open().spend(charge_of(1))
        place.close()
        assert "\n" not in str(error.value)
        again = place.open()
        again.spend(charge_of(1))
        assert again.account(PEOPLE).spent == Amount(loss=2 * LOSS_UNITS)
        assert again.verify() == ()


def test_heads_on_a_read_only_disk_refuse_before_charging(place: Place, tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "4m") as disk:
        apart = Place(url=place.url, heads=disk / "heads")
        with contextlib.closing(apart):
            ledger = apart.with_people(10)
            with read_only(disk), pytest.raises(FolderError, match="head must be there"):
                ledger.spend(charge_of(1))
            assert ledger.account(PEOPLE).spent == Amount()
            ledger.spend(charge_of(1))
            assert ledger.verify() == ()


def tracer() -> str:
    found = shutil.which("strace")
    works = (
        found and subprocess.run([found, "-o", os.devnull, "true"], capture_output=True, check=False).returncode == 0
    )
    if not found or not works:
        pytest.skip("strace is not here or may not trace")
    return found


def test_a_failing_sync_gives_no_answer(place: Place, tmp_path: Path) -> None:
    """From the 20th on, each sync fails: the client says so in one line, and each answer it gave has its charge."""
    place.with_people(10).close()
    under = tracer(), "-f", "-o", os.devnull, "-e", "inject=fsync,fdatasync:error=EIO:when=20+"
    (lines,) = crowds.run("answer_for_ever", place, tmp_path / "said", under=under, count=1)
    answers = {line["number"]: line["n"] for line in lines if line["what"] == "answer"}
    assert len(answers) > 3
    assert lines[-1]["what"] == "error"
    ledger = place.open()
    stored = {entry.content["charge"]: entry.content["answer"]["n"] for entry in ledger.entries(kind="answer")}
    assert answers.items() <= stored.items()
    charges = len(ledger.entries(kind="charge"))
    assert charges - len(answers) <= 1
    assert ledger.account(PEOPLE).spent == Amount(loss=charges * 1000)
    assert ledger.verify() == ()


def test_a_spend_and_its_answer_are_two_syncs(place: Place, tmp_path: Path) -> None:
    place.with_people(10).close()
    seen = tmp_path / "calls"
    under = tracer(), "-f", "-o", str(seen), "-e", "trace=fsync,fdatasync"
    (lines,) = crowds.run("answer_often", place, tmp_path / "said", under=under, count=1)
    assert sum(line["what"] == "answer" for line in lines) == 100
    syncs = sum("sync(" in line for line in seen.read_text().splitlines())
    assert 200 <= syncs <= 212  # the log's own beginning and checkpoint, and the end


def test_forked_processes_share_a_ledger_that_was_open(any_place: Place, tmp_path: Path) -> None:
    any_place.with_people(12).close()
    (lines,) = crowds.run("share", any_place, tmp_path / "said", count=1)
    assert sum(line["what"] == "granted" for line in lines) == 12
    assert sum(line["what"] == "refused" for line in lines) == 4
    ledger = any_place.open()
    assert ledger.account(PEOPLE).spent == Amount(loss=12 * LOSS_UNITS)
    assert ledger.verify() == ()


def test_a_child_forked_in_a_change_refuses(any_place: Place, tmp_path: Path) -> None:
    any_place.with_people(12).close()
    (lines,) = crowds.run("fork_in_a_change", any_place, tmp_path / "said", count=1)
    assert [line["what"] for line in lines] == ["error", "ask", "granted"]
    assert "forked in the middle of a change" in lines[0]["line"]
    ledger = any_place.open()
    assert ledger.account(PEOPLE).spent == Amount(loss=LOSS_UNITS)
    assert ledger.verify() == ()


def test_files_are_their_owners_alone(place: Place) -> None:
    old = os.umask(0)
    try:
        ledger = place.with_people(1)
        ledger.spend(charge_of("0.1"))
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in place.path.parent.rglob("*")}
    finally:
        os.umask(old)
    assert modes == {
        "ledger.db": 0o600,
        "ledger.db-wal": 0o600,
        "ledger.db-shm": 0o600,
        "heads": 0o700,
        f"{ledger.id}.json": 0o600,
    }


def test_a_file_open_to_others_is_refused(place: Place) -> None:
    place.with_people(1)
    place.close()
    place.path.chmod(0o640)
    with pytest.raises(FolderError, match="open to others"):
        place.open()


@pytest.mark.parametrize(
    "url",
    [
        "",
        "no url",
        "sqlite://",
        "sqlite:///:memory:",
        "sqlite:///file:x?mode=memory&uri=true",
        "mysql://host/x",
        "sqlite:////nowhere/at/all.db",
        "sqlite:////",
    ],
)
def test_what_cannot_hold_a_ledger_is_refused_in_one_line(tmp_path: Path, url: str) -> None:
    with pytest.raises(DiscreetError) as error:
        Ledger(url, key=KEY, signer=SIGNER, heads=tmp_path)
    assert "\n" not in str(error.value)
    assert not any(tmp_path.iterdir())


def test_a_server_that_is_not_there_is_said_without_its_password(tmp_path: Path) -> None:
    pytest.importorskip("psycopg", reason="PostgreSQL: psycopg is not installed")
    with pytest.raises(FolderError) as error:
        Ledger(f"postgresql://me:secret@/db?host={tmp_path}", key=KEY, signer=SIGNER, heads=tmp_path)
    assert "secret" not in str(error.value)
    assert error.value.__cause__ is None


def test_a_name_drawn_twice_for_a_ledger_that_has_rows_is_refused(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Taking the name out of the database must not get it a fresh head."""
    ledger = place.with_people(1)
    with ledger._store.changing() as connection:
        connection.exec_driver_sql("DELETE FROM ledger")
    place.close()
    with pytest.raises(FolderError, match="not the one it was given"):
        place.open()
    assert len(list(place.heads.iterdir())) == 1


def test_a_log_that_was_left_behind_is_read(place: Place, tmp_path: Path) -> None:
    """After a power cut the log holds what the file does not yet."""
    ledger = place.with_people(10)
    ledger.spend(charge_of(1))
    other = tmp_path / "other"
    other.mkdir()
    for path in place.path.parent.glob("ledger.db*"):
        if not path.name.endswith("-shm"):
            shutil.copy(path, other / path.name)
    with contextlib.closing(Place(url=Place.file(other).url, heads=place.heads)) as copy:
        assert copy.open().account(PEOPLE).spent == Amount(loss=LOSS_UNITS)
        assert copy.open().verify() == ()


def test_closing_leaves_one_file(place: Place) -> None:
    place.with_people(10)
    place.close()
    assert sorted(path.name for path in place.path.parent.iterdir()) == ["heads", "ledger.db"]


def test_a_store_that_was_closed_opens_again(any_place: Place) -> None:
    ledger = any_place.with_people(10)
    ledger.close()
    ledger.spend(charge_of(1))
    assert isinstance(ledger._store, Store)
    assert ledger.verify() == ()
