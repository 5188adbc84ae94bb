"""What all tests share: hypothesis and entropy that repeat, no deadlines, and heads of ledgers kept aside."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from discreet import randomness
from tests.entropy import Entropy

settings.register_profile("discreet", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("discreet")
_ENTROPY = Entropy()


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--fresh`: quick tests draw from the operating system too."""
    parser.addoption("--fresh", action="store_true", help="draw from the operating system in quick tests too")


def pytest_configure() -> None:
    """The product's door to entropy leads to the tests' own, which leads on to the operating system where it should."""
    randomness._entropy = _ENTROPY


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """A quick test draws the same bits on every run: noise turns none of them red that was green before."""
    if item.config.getoption("--fresh") or item.get_closest_marker("slow") or item.get_closest_marker("fresh"):
        _ENTROPY.fresh()
    else:
        _ENTROPY.repeat(item.nodeid)


@pytest.fixture(autouse=True)
def _heads_aside(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No test writes the head of a ledger into the state folder of whoever runs it."""
    place = tmp_path_factory.getbasetemp() / "heads"
    monkeypatch.setenv("DISCREET_HEADS", str(place))
    return place
