"""What is refused: always by a DiscreetError, before anything is spent."""

from __future__ import annotations

import contextlib
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import DiscreetError
from discreet.measure.expression import plain
from tests.query.places import question, refusal

_WORDS = """
SELECT FROM WHERE GROUP BY HAVING ORDER LIMIT COUNT ( ) ( ) , * + - / = < > AND OR NOT IN BETWEEN LIKE IS NULL
CASE WHEN THEN ELSE END visits age cost region 'north' 1 0.5 SUM AVG MEDIAN WITH AS x UNION JOIN ON USING OVER ;
-- /* */ " ' [ ] { } : :: ? $1 @ DISTINCT ROLLUP CUBE INTERVAL DATE '2020-01-01' FILTER EXISTS PIVOT COPY
"""


@settings(max_examples=150, deadline=None)
@given(st.one_of(st.text(max_size=300), st.lists(st.sampled_from(_WORDS.split()), max_size=60).map(" ".join)))
def test_no_text_raises_anything_else(text: str) -> None:
    for written in (text, f"SELECT {text}", f"SELECT COUNT(*) FROM visits WHERE {text}"):
        with contextlib.suppress(DiscreetError):
            question(written)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT COUNT(*) FROM visits; DROP TABLE visits",
        "SELECT COUNT(*) FROM read_csv('x')",
        "SELECT COUNT(*) FROM visits UNION SELECT 1",
        "SELECT SUM(cost) OVER () FROM visits",
        "COPY visits TO 'x'",
    ],
)
def test_escapes_are_refused(text: str) -> None:
    assert refusal(text).exit_code == 2


def test_literals_stay_literals() -> None:
    asked = question("SELECT COUNT(*) FROM visits WHERE remark = 'a''); DROP TABLE x; --'")
    assert json.dumps(plain(asked.where)).count("DROP") == 1
