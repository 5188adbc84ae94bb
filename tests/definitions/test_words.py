"""What the words mean, and what the product does for each of the two rights."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import discreet
from discreet.attacks.promises.certified import NoisyCount
from discreet.mechanisms.response import Response
from discreet.randomness import SeededBits

CONTRACT = """\
table: visits
unit: {person: patient, rows: 1}
budget: {epsilon: 1}
columns:
  patient: {type: text, role: direct identifier}
  age: {type: integer, low: 0, high: 120, source: codebook}
  note: {type: text, role: hidden}
"""


@pytest.mark.requirement("2.02")
def test_privacy_is_not_to_be_observed() -> None:
    """Who knows everybody else tells with an advantage of at most (e^ε − 1)/(e^ε + 1) whether you are there."""
    for odds in (2, 3, 5):
        assert NoisyCount.for_odds(odds).known_attacks().holds
        assert NoisyCount.for_odds(odds).any_intruder().holds


@pytest.mark.requirement("2.02")
def test_information_privacy_is_a_say_in_collection_and_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    said = Response.of(1).answers(np.ones(2000, dtype=np.int64), SeededBits(1), teaching=True)
    assert 0.2 < float((said == 0).mean()) < 0.35, "what leaves the respondent's device may always be a lie"
    Path("visits.csv").write_text("patient,age,note\np1,31,a\np2,45,b\np3,52,c\n")
    Path("visits.yaml").write_text(CONTRACT)
    curator = discreet.Curator("clinic")
    curator.add("visits.csv", contract="visits.yaml")
    for column in ("patient", "note"):
        with pytest.raises(discreet.DiscreetError):
            curator.sql(f"SELECT {column}, COUNT(*) FROM visits GROUP BY {column}", epsilon=1)
    assert "note" not in curator.rows("visits").column_names
    curator.forget("visits", "p2")
    assert curator.rows("visits").to_pydict()["age"] == [31, 52]
    assert curator.ledger.entries(kind="person forgotten")
