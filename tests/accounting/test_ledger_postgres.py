"""What only PostgreSQL does: servers that end and settings of others; and two servers with a command line."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

from discreet.accounting.amount import LOSS_UNITS, Amount
from discreet.errors import BudgetError, FolderError
from tests.accounting import crowds
from tests.accounting.places import PEOPLE, Place, Server, charge_of


def database(place: Place) -> str:
    return place.url.split("/")[3].split("?")[0]


def test_commits_stay_durable_and_isolated_whatever_the_role_has_set(served_place: Place, server: Server) -> None:
    name = database(served_place)
    for setting in ("synchronous_commit = off", "default_transaction_isolation = 'serializable'", "lock_timeout = 0"):
        server.execute(f"ALTER DATABASE {name} SET {setting}")
    ledger = served_place.with_people(1)
    with ledger._store.changing() as connection:
        found = [connection.exec_driver_sql(f"SHOW {one}").scalar() for one in ("synchronous_commit", "lock_timeout")]
        assert found == ["on", "30s"]
        assert connection.exec_driver_sql("SHOW transaction_isolation").scalar() == "read committed"
    with ledger._store.reading() as connection:
        assert connection.exec_driver_sql("SHOW transaction_isolation").scalar() == "repeatable read"


def test_a_turn_that_never_comes_is_refused_in_one_line(served_place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("discreet.accounting.store._BUSY_SECONDS", 1)
    one = served_place.with_people(1)
    two = served_place.open()
    with one._store.changing(), pytest.raises(FolderError) as error:
        two.spend(charge_of("0.1"))
    assert "\n" not in str(error.value)
    assert two.account(PEOPLE).spent == Amount()
    two.spend(charge_of("0.1"))


def test_a_server_that_ends_is_said_in_one_line_and_may_come_back(served_place: Place, server: Server) -> None:
    ledger = served_place.with_people(10)
    ledger.spend(charge_of(1))
    server.stop("immediate")
    try:
        for _ in range(2):
            with pytest.raises(FolderError) as error:
                ledger.spend(charge_of(1))
            assert "\n" not in str(error.value)
    finally:
        server.start()
    with contextlib.suppress(FolderError):  # what was open before the server ended may say so once
        ledger.account(PEOPLE)
    assert ledger.account(PEOPLE).spent == Amount(loss=LOSS_UNITS)
    ledger.spend(charge_of(1))
    assert ledger.verify() == ()


def test_two_servers_and_a_command_line_stay_exact(any_place: Place, tmp_path: Path) -> None:
    """Two processes that keep the ledger open, beside one that opens it anew for each question."""
    any_place.with_people(9).close()
    first, second = any_place.open(), any_place.open()
    granted = 0
    for turn in range(6):
        lines = crowds.run("spend_all", any_place, tmp_path / f"said{turn}", count=1) if turn % 3 == 0 else []
        granted += sum(line["what"] == "granted" for client in lines for line in client)
        for ledger in (first, second):
            with contextlib.suppress(BudgetError):
                ledger.spend(charge_of(1))
                granted += 1
    assert granted == 9
    for ledger in (first, second, any_place.open()):
        assert ledger.account(PEOPLE).left == Amount()
        assert ledger.verify() == ()


def test_a_cluster_of_ledgers_keeps_each_apart(served_place: Place, server: Server, tmp_path: Path) -> None:
    ledger = served_place.with_people(1)
    server.execute("CREATE DATABASE apart")
    with contextlib.closing(Place(url=server.url("apart"), heads=tmp_path / "apart")) as other:
        other.with_people(5).spend(charge_of(3))
        assert other.open().id != ledger.id
    assert ledger.account(PEOPLE).spent == Amount()
    with pytest.raises(BudgetError):
        ledger.spend(charge_of(3))
