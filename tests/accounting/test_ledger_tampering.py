"""Whoever writes the database without key and head: every edit is detected or refused, and restoring is signed."""

from __future__ import annotations

import contextlib
import json
import random
import shutil
import sqlite3
from pathlib import Path

import pytest

from discreet.accounting.account import AccountKey, Kind
from discreet.accounting.amount import LOSS_UNITS, Amount
from discreet.accounting.chain import GENESIS, Head, HeadFile
from discreet.accounting.ledger import Ledger
from discreet.accounting.standing import CHECKPOINT_EVERY
from discreet.errors import ArgumentError, CheckFailedError, DiscreetError, FolderError
from tests.accounting.places import ANA, PEOPLE, SIGNER, Place, Server, charge_of, price_of


def filled(place: Place, answers: int = 6) -> Ledger:
    """A ledger with entries of each kind."""
    ledger = place.with_people(1000)
    ledger.open_account(ANA, "pure", price_of(500))
    for turn in range(answers):
        grant = ledger.spend(charge_of(1, plan=turn, analyst="ana", what={"query": f"count {turn}"}))
        if turn % 3 == 2:
            ledger.fail(grant)
        else:
            ledger.settle(grant, {"n": turn})
    ledger.set_limit(ANA, price_of(400), reason="less")
    ledger.note("outside the guarantee", {"population": "people", "what": "copies"})
    return ledger


def run(place: Place, *statements: str) -> None:
    with contextlib.closing(sqlite3.connect(place.path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


def copy(place: Place, target: Path) -> None:
    """A copy as a careful keeper takes it: of all that was committed."""
    source, other = sqlite3.connect(place.path), sqlite3.connect(target)
    with contextlib.closing(source), contextlib.closing(other):
        source.backup(other)


def put_back(place: Place, kept: Path) -> None:
    place.close()
    for name in ("-wal", "-shm"):
        Path(f"{place.path}{name}").unlink(missing_ok=True)
    shutil.copyfile(kept, place.path)


_LAST = "FROM entries ORDER BY number DESC LIMIT 1"
EDITS = {
    "an amount": "UPDATE entries SET body = replace(body, '1000000000', '1') WHERE number = 3",
    "an answer": """UPDATE entries SET body = replace(body, '"n":0', '"n":9') WHERE number = 4""",
    "a body without sense": "UPDATE entries SET body = '{{{' WHERE number = 5",
    "a body too deep": "UPDATE entries SET body = printf('%.*c', 200000, '[') WHERE number = 5",
    "a body of bytes": "UPDATE entries SET body = x'ff00' WHERE number = 5",
    "a body that is no text": "UPDATE entries SET body = CAST(x'ff' AS TEXT) WHERE number = 5",
    "a time": "UPDATE entries SET at = replace(at, '2030', '2031') WHERE number = 6",
    "a kind": "UPDATE entries SET kind = 'note' WHERE number = 3",
    "a kind and a time": "UPDATE entries SET at = at || ' ', kind = ltrim(kind) WHERE number = 7",
    "a digest": "UPDATE entries SET digest = substr(digest, 2) || substr(digest, 1, 1) WHERE number = 8",
    "a digest that is a number": "UPDATE entries SET digest = 7 WHERE number = 8",
    "a row taken out": "DELETE FROM entries WHERE number = 5",
    "the first row taken out": "DELETE FROM entries WHERE number = 1",
    "the last row taken out": "DELETE FROM entries WHERE number = (SELECT max(number) FROM entries)",
    "all rows taken out": "DELETE FROM entries",
    "a row put in": "INSERT INTO entries SELECT number + 1, at, kind, digest, body " + _LAST,
    "a row put far away": "INSERT INTO entries SELECT ~(1 << 63), at, kind, digest, body FROM entries WHERE number = 3",
    "a row put in front": "INSERT INTO entries SELECT 0, at, kind, digest, body FROM entries WHERE number = 1",
    # The second half of the swap is what every edit below is followed by.
    "two rows swapped": "UPDATE entries SET number = number - 8 WHERE number IN (3, 5)",
    "a standing put in": """INSERT INTO entries SELECT number + 1, at, 'standing', digest, '{"accounts":[]}' """
    + _LAST,
    "an outcome for another payer": "UPDATE outcomes SET payer = 'population people' WHERE charge = 3",
    "an outcome for another plan": "UPDATE outcomes SET plan = '" + f"{77:064x}" + "' WHERE charge = 3",
    "an outcome of another charge": "UPDATE outcomes SET entry = 6 WHERE charge = 3",
    "an outcome taken out": "DELETE FROM outcomes WHERE charge = 3",
    "an outcome put in": "INSERT INTO outcomes VALUES (99, 4, NULL, NULL)",
    "a table taken out": "DROP TABLE outcomes",
    "another name": "UPDATE ledger SET id = '" + "ab" * 16 + "'",
    "a name that leads elsewhere": "UPDATE ledger SET id = '../../../etc/passwd'",
    "no name": "DELETE FROM ledger",
    "two names": "INSERT INTO ledger VALUES ('" + "ab" * 16 + "')",
    "a later form": "UPDATE alembic_version SET version_num = '9999'",
}


@pytest.mark.parametrize("name", EDITS)
def test_every_edit_is_detected(place: Place, name: str) -> None:
    """Told by `verify`, or the ledger does not open; always in one line of its own words, without a value."""
    filled(place).close()
    run(place, EDITS[name], "UPDATE entries SET number = -number WHERE number IN (-3, -5)")
    try:
        lines = place.open().verify()
    except DiscreetError as error:
        lines = (str(error),)
    assert lines
    assert all("\n" not in line and "count" not in line for line in lines)


@pytest.mark.parametrize("name", [name for name in EDITS if "outcome" not in name and name != "a table taken out"])
def test_an_edited_history_spends_nothing(place: Place, name: str) -> None:
    """Refused at once, since what was edited lies behind the last checkpoint."""
    filled(place).close()
    run(place, EDITS[name], "UPDATE entries SET number = -number WHERE number IN (-3, -5)")
    with pytest.raises((CheckFailedError, FolderError)):
        place.open().spend(charge_of(1))


def test_an_answer_is_not_passed_on_to_who_has_not_paid(place: Place) -> None:
    filled(place).close()
    run(place, EDITS["an outcome for another payer"])
    with pytest.raises(CheckFailedError, match="not what was written"):
        place.open().spend(charge_of(1, plan=0))
    run(place, "UPDATE outcomes SET payer = 'analyst ana', plan = '" + f"{77:064x}" + "' WHERE charge = 3")
    with pytest.raises(CheckFailedError, match="not what was written"):
        place.open().spend(charge_of(1, plan=77, analyst="ana"))


def test_an_edit_before_the_last_checkpoint_is_found_by_verify_and_changes_no_account(place: Place) -> None:
    ledger = place.with_people(1000)
    for _ in range(CHECKPOINT_EVERY + 5):
        ledger.spend(charge_of(1))
    spent = ledger.account(PEOPLE).spent
    ledger.close()
    run(place, EDITS["an amount"])
    again = place.open()
    assert again.verify() == ("entry 3 is not what was written behind entry 2",)
    assert again.account(PEOPLE).spent == spent
    again.spend(charge_of(1))
    assert again.account(PEOPLE).spent == spent + Amount(loss=LOSS_UNITS)


@pytest.mark.parametrize("number", [2, 3])
def test_an_answer_edited_before_the_last_checkpoint_is_not_given(place: Place, number: int) -> None:
    ledger = place.with_people(1000)
    ledger.settle(ledger.spend(charge_of(1, plan=7)), {"n": 1})
    for _ in range(CHECKPOINT_EVERY):
        ledger.spend(charge_of(1))
    run(place, f"UPDATE entries SET at = replace(at, '2030', '2031') WHERE number = {number}")
    with pytest.raises(CheckFailedError, match=f"entry {number} is not what was written"):
        ledger.spend(charge_of(1, plan=7))


def test_an_older_copy_with_a_running_process_spends_nothing(place: Place) -> None:
    """A process that knows the accounts by heart does not go on with a chain that has lost its end."""
    ledger = filled(place)
    run(place, "CREATE TABLE kept AS SELECT * FROM entries")
    ledger.spend(charge_of(1))
    run(place, "DELETE FROM entries WHERE number NOT IN (SELECT number FROM kept)")
    with pytest.raises(CheckFailedError, match="not the one its head was signed for"):
        ledger.spend(charge_of(1))
    place.open().restore({PEOPLE: price_of(1)}, reason="the end was lost")
    ledger.spend(charge_of(1))
    assert ledger.account(PEOPLE) == place.open().account(PEOPLE)


def test_older_copy_spends_nothing(place: Place, tmp_path: Path) -> None:
    ledger = filled(place)
    copy(place, tmp_path / "older.db")
    spent = ledger.account(PEOPLE).spent
    ledger.settle(ledger.spend(charge_of(3, plan=50)), {"n": 50})
    last = len(ledger.entries())
    put_back(place, tmp_path / "older.db")
    older = place.open()
    for write in (
        lambda: older.spend(charge_of(1)),
        lambda: older.set_limit(PEOPLE, price_of(9), reason="x"),
        lambda: older.note("remark", {}),
        lambda: older.open_account(AccountKey(Kind.PROJECT, "p"), "pure", price_of(1)),
    ):
        with pytest.raises(CheckFailedError, match="not the one its head was signed for"):
            write()
    assert older.verify() == (f"the head was signed for another history, at entry {last}",)
    older.restore({PEOPLE: price_of(3)}, reason="disk failed; at most 3 was asked since")
    assert older.verify() == ()
    assert older.account(PEOPLE).spent == spent + Amount(loss=3 * LOSS_UNITS)
    gap = older.entries()[-1]
    assert (gap.kind, gap.number) == ("gap", last + 1)
    assert older.spend(charge_of(1, plan=50)).answer is None
    assert place.open().verify() == ()


def test_restore_is_refused_without_reason_or_with_a_population_left_out(place: Place) -> None:
    ledger = filled(place)
    before = len(ledger.entries())
    with pytest.raises(ArgumentError, match="--reason"):
        ledger.restore({PEOPLE: price_of(0)}, reason=" ")
    with pytest.raises(ArgumentError, match="nothing for the population 'people'"):
        ledger.restore({ANA: price_of(1)}, reason="x")
    with pytest.raises(ArgumentError, match="less than nothing"):
        ledger.restore({PEOPLE: price_of(-1)}, reason="x")
    with pytest.raises(DiscreetError, match="no such account"):
        ledger.restore({PEOPLE: price_of(0), AccountKey(Kind.ANALYST, "eve"): price_of(0)}, reason="x")
    assert len(ledger.entries()) == before
    assert ledger.verify() == ()


def damage_head(place: Place, how: str) -> None:
    path = next(place.heads.iterdir())
    if how == "missing":
        path.unlink()
    elif how == "another ledger's":
        HeadFile(path, SIGNER).replace(Head(ledger="ab" * 16, number=0, digest=GENESIS))
    elif how == "edited":
        path.write_text(path.read_text().replace('"number":', '"number":1'))
    else:
        path.write_bytes({"empty": b"", "noise": b"\xff" * 1024}[how])


@pytest.mark.parametrize("how", ["missing", "empty", "noise", "edited", "another ledger's"])
def test_a_head_that_is_lost_closes_the_ledger_until_restored(any_place: Place, how: str) -> None:
    ledger = filled(any_place)
    spent = ledger.account(PEOPLE).spent
    damage_head(any_place, how)
    again = any_place.open()
    with pytest.raises((CheckFailedError, FolderError)) as error:
        again.spend(charge_of(1))
    assert "restore" in str(error.value)
    assert again.verify()
    again.restore({PEOPLE: price_of("0.5")}, reason="the disk with the heads is lost")
    assert again.verify() == ()
    assert again.account(PEOPLE).spent == spent + Amount(loss=LOSS_UNITS // 2)
    again.spend(charge_of(1))
    assert any_place.open().verify() == ()


@pytest.mark.parametrize(
    "name", ["an amount", "a body without sense", "a body of bytes", "a row taken out", "a row put in"]
)
def test_a_broken_history_goes_on_behind_a_signed_gap(place: Place, name: str) -> None:
    """What is authentic still counts; what was broken stays told for ever."""
    ledger = filled(place)
    total = ledger.account(PEOPLE).spent.loss
    ledger.close()
    run(place, EDITS[name])
    broken = place.open()
    told = broken.verify()
    broken.restore({PEOPLE: price_of(1)}, reason="one entry is broken")
    broken.spend(charge_of(2))
    assert total - LOSS_UNITS + LOSS_UNITS * 3 <= broken.account(PEOPLE).spent.loss <= total + LOSS_UNITS * 3
    assert set(broken.verify()) == {line for line in told if "head" not in line}
    assert [entry.content["unread"] for entry in broken.entries(kind="gap")] == [
        len([line for line in told if "written" in line])
    ]


def test_a_crash_while_restoring_can_be_repeated(place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = filled(place)
    copy(place, tmp_path / "older.db")
    ledger.spend(charge_of(1))
    put_back(place, tmp_path / "older.db")
    older = place.open()
    with monkeypatch.context() as patch:
        patch.setattr(HeadFile, "replace", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt()))
        with pytest.raises(KeyboardInterrupt):
            older.restore({PEOPLE: price_of(1)}, reason="first try")
    with pytest.raises(CheckFailedError):
        place.open().spend(charge_of(1))
    place.open().restore({PEOPLE: price_of(0)}, reason="second try")
    assert place.open().verify() == ()


def test_another_key_or_a_ledger_put_in_its_place_is_told(place: Place, tmp_path: Path) -> None:
    filled(place).close()
    stranger = place.open(key=b"?" * 32)
    assert stranger.verify()
    with pytest.raises(CheckFailedError):
        stranger.spend(charge_of(1))
    other = Place.file(tmp_path)
    with contextlib.closing(other):
        filled(other).close()
        run(
            place,
            f"ATTACH '{other.path}' AS other",
            "DELETE FROM entries",
            "INSERT INTO entries SELECT * FROM other.entries",
        )
    assert place.open().verify()
    with pytest.raises(CheckFailedError):
        place.open().spend(charge_of(1))


def test_a_ledger_taken_away_does_not_begin_anew(place: Place, tmp_path: Path) -> None:
    """Whoever can write the database can take all of it away: that must not bring the budget back."""
    ledger = filled(place)
    last = ledger.entries()[-1].number
    copy(place, tmp_path / "kept.db")
    place.close()
    for path in place.path.parent.glob("ledger.db*"):
        path.unlink()
    for _ in range(2):
        with pytest.raises(CheckFailedError, match=f"signed for {last} entries of this folder") as error:
            place.open()
        assert "\n" not in str(error.value)
    put_back(place, tmp_path / "kept.db")
    assert place.open().verify() == ()
    place.close()
    place.path.unlink()
    next(place.heads.iterdir()).unlink()  # what the keeper does who means it
    assert place.open().accounts() == ()


def test_a_crash_before_the_first_entry_begins_again(place: Place) -> None:
    """A head that was signed for nothing stands in nobody's way."""
    place.open().close()
    place.path.unlink()
    ledger = place.with_people(1)
    ledger.spend(charge_of(1))
    assert len(ledger.entries(kind="charge")) == 1
    assert ledger.verify() == ()


def test_tables_dropped_on_postgresql_do_not_begin_anew(served_place: Place, server: Server) -> None:
    filled(served_place).close()
    database = served_place.url.split("/")[3].split("?")[0]
    server.execute("DROP TABLE entries, outcomes, ledger, alembic_version", database)
    with pytest.raises(CheckFailedError, match="a budget does not come back"):
        served_place.open()


def rows(path: Path) -> list[tuple[object, ...]]:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.text_factory = bytes
        names = "ledger", "entries", "outcomes", "alembic_version"
        return [row for name in names for row in connection.execute(f"SELECT *, rowid FROM {name}").fetchall()]


@pytest.mark.parametrize("flips", [100, pytest.param(1500, marks=pytest.mark.slow)])
def test_every_bit_flip_that_changes_a_row_is_detected_or_refused(place: Place, flips: int) -> None:
    """Random flips over the whole file: each is told, or every row is what it was."""
    filled(place, answers=20).close()
    whole, before, chance = place.path.read_bytes(), rows(place.path), random.Random(flips)
    counts = {"told": 0, "harmless": 0}
    for _ in range(flips):
        flipped = bytearray(whole)
        flipped[chance.randrange(len(flipped))] ^= 1 << chance.randrange(8)
        place.path.write_bytes(flipped)
        try:
            told = bool(place.open().verify())
        except DiscreetError as error:
            told = "\n" not in str(error)
        place.close()
        for name in ("-wal", "-shm"):
            Path(f"{place.path}{name}").unlink(missing_ok=True)
        if not told:
            place.path.write_bytes(flipped)
            assert rows(place.path) == before
        counts["told" if told else "harmless"] += 1
    assert counts["told"] > flips // 10
    assert counts["harmless"] > 0


def test_damaged_pages_are_told_in_one_line(place: Place) -> None:
    filled(place, answers=60).close()
    whole = place.path.read_bytes()
    place.path.write_bytes(whole[: len(whole) // 2] + b"\x5a" * 4096 + whole[len(whole) // 2 + 4096 :])
    lines = place.open().verify()
    assert "pages of the database are damaged" in lines
    place.close()
    place.path.write_bytes(whole[: len(whole) - 4096 * 3])
    with pytest.raises(FolderError, match="cannot be read or written"):
        place.open()


def test_a_schema_of_broken_bytes_is_refused_in_one_line(place: Place) -> None:
    """SQLite quotes the schema that it cannot read, and its driver cannot read the quotation."""
    filled(place).close()
    whole = place.path.read_bytes()
    assert b"CREATE TABLE entries" in whole
    place.path.write_bytes(whole.replace(b"CREATE TABLE entries", b"CREATE \xa0ABLE entries"))
    with pytest.raises(FolderError, match="cannot be read or written") as error:
        place.open()
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("content", [b"no database at all", b"SQLite format 3\x00" + b"\x00" * 4080, b"\x00" * 8192])
def test_a_file_that_is_no_ledger_is_refused_in_one_line(place: Place, content: bytes) -> None:
    place.path.write_bytes(content)
    place.path.chmod(0o600)
    with pytest.raises(FolderError) as error:
        place.open()
    assert "\n" not in str(error.value)


def test_edits_on_postgresql_are_detected(served_place: Place, server: Server) -> None:
    filled(served_place).close()
    database = served_place.url.split("/")[3].split("?")[0]
    server.execute("UPDATE entries SET body = replace(body, '1000000000', '1') WHERE number = 3", database)
    ledger = served_place.open()
    assert ledger.verify() == ("entry 3 is not what was written behind entry 2",)
    with pytest.raises(CheckFailedError, match="entry 3"):
        ledger.spend(charge_of(1))


def test_a_broken_database_of_many_entries_is_told_in_few_lines(place: Place) -> None:
    filled(place, answers=40).close()
    run(place, "UPDATE entries SET body = body || ' '")
    lines = place.open().verify()
    assert len(lines) == 51
    assert lines[-1].startswith("and ")


def test_history_is_read_as_it_was_written(place: Place) -> None:
    ledger = filled(place)
    with contextlib.closing(sqlite3.connect(place.path)) as connection:
        stored = connection.execute("SELECT body FROM entries ORDER BY number").fetchall()
    assert [entry.content for entry in ledger.entries()] == [json.loads(body) for (body,) in stored]
