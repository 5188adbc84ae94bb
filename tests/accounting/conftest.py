"""Ledgers for tests: `place` on SQLite, `any_place` on both stores, `server` for what only PostgreSQL does."""

from __future__ import annotations

import contextlib
import itertools
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.accounting.places import Place, Server, memory_folder, missing_server, running_server

_COUNT = itertools.count(1)


@pytest.fixture
def place() -> Iterator[Place]:
    """A place for a ledger in a file, in memory where there is such a folder: durability is not what most ask for."""
    with memory_folder() as folder, contextlib.closing(Place.file(folder)) as place:
        yield place


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """One PostgreSQL server for all tests."""
    missing = missing_server()
    if missing:
        pytest.skip(missing)
    try:
        with running_server() as server:
            yield server
    except subprocess.CalledProcessError as error:
        pytest.skip(f"PostgreSQL: {Path(error.cmd[0]).name} does not run here")


@pytest.fixture
def served_place(server: Server, tmp_path: Path) -> Iterator[Place]:
    """A place for a ledger on PostgreSQL: a new database on the server, with heads in a folder."""
    name = f"ledger{next(_COUNT)}"
    server.execute(f"CREATE DATABASE {name}")
    with contextlib.closing(Place(url=server.url(name), heads=tmp_path / "heads")) as place:
        yield place


@pytest.fixture(params=["place", "served_place"], ids=["sqlite", "postgresql"])
def any_place(request: pytest.FixtureRequest) -> Place:
    """A place for a ledger, on each store in turn."""
    place: Place = request.getfixturevalue(request.param)
    return place
