"""The engines the suite runs over."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.engines.stages import STAGES, DuckDBStage, Stage


@pytest.fixture(params=sorted(STAGES))
def stage(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stage]:
    """One engine after the other; one that is not there is skipped by name and reason."""
    made = STAGES[request.param]
    if isinstance(made, str):
        pytest.skip(f"{request.param}: {made}")
    with ExitStack() as opened:
        yield made(tmp_path, opened)


@pytest.fixture
def duckdb_stage(tmp_path: Path) -> Iterator[DuckDBStage]:
    """DuckDB alone, for what only it has."""
    with ExitStack() as opened:
        yield DuckDBStage(tmp_path, opened)
