"""What all tests share: one hypothesis profile, repeatable and without deadlines, and heads of ledgers kept aside."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("discreet", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("discreet")


@pytest.fixture(autouse=True)
def _heads_aside(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No test writes the head of a ledger into the state folder of whoever runs it."""
    place = tmp_path_factory.getbasetemp() / "heads"
    monkeypatch.setenv("DISCREET_HEADS", str(place))
    return place
