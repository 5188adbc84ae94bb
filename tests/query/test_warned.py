"""What a contract's readers must know stands beside every estimate and answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.query.offices import contract, office

DAILY = "{person: who, rows: 2, groups: 2, period: month, date: born}"


@pytest.mark.requirement("2.29")
@pytest.mark.parametrize("unit", ["row", "{person: who, rows: 2, groups: 2}", DAILY])
def test_a_person_per_period_is_warned_of_wherever_numbers_are(tmp_path: Path, unit: str) -> None:
    held = office(tmp_path, under=contract(unit=unit))
    query = held.sql("SELECT COUNT(*) FROM people", epsilon="0.5")
    for sentences in (query.estimate().sentences(), query.dummy().sentences(), query.run().sentences()):
        warned = [one for one in sentences if "several months" in one and "add up" in one]
        assert len(warned) == (unit == DAILY), sentences
    held.ledger.close()


@pytest.mark.parametrize("source", ["drafted", "codebook"])
def test_what_was_drafted_is_named_wherever_numbers_are(tmp_path: Path, source: str) -> None:
    under = contract(
        unit=f"{{person: who, rows: 2, source: {source}}}", further="declaration: {by: k, reason: a codebook}"
    )
    held = office(tmp_path, under=under)
    query = held.sql("SELECT COUNT(*) FROM people", epsilon="0.5")
    for sentences in (query.estimate().sentences(), query.run().sentences()):
        assert ("Drafted from confidential data: the unit." in sentences) == (source == "drafted")
    held.ledger.close()
