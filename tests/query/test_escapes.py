"""Nothing that is written to get around the reader of SQL is executed: the engine sees SELECTs of ours, or none."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import duckdb
import pytest

from discreet.accounting.amount import Amount
from discreet.budget import population_of
from discreet.curator import Curator
from discreet.data.contract import Contract
from discreet.data.engines import duckdb as engine
from discreet.errors import DiscreetError
from tests.engines.attempts import STOPPED_BY_ALLOW_LIST_ALONE, STOPPED_BY_WALLS, listed
from tests.query.escapes import ESCAPES, HARMLESS
from tests.query.offices import frame_of
from tests.query.test_partial import FACTS, MEMBER, OTHERS

# Beside quoted names of ours and literals, all that may stand in what an engine is asked.
_SQL = """
with as not materialized select from where group by having case when then else end is null and or in between like union
all inner left join on coalesce nullif cast bigint varchar text date timestamp hugeint double count sum max least
greatest isnan isinf string_split str_split unnest generate_subscripts distinct date_diff datediff date_trunc true false
"""
_WORDS = frozenset(_SQL.split())
_NAMES = re.compile(
    r"(c|r|u|v|a|j)\d+|j\d+_c\d+|s\d+|c\d+_steps|keys\d*|g|l|n|key|code|every|one|own|weight|nothing|rows|t\d+|"
    r"read|picked|summed|heavy|met|seen|held|counted|joined|stored|public"
)


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Curator]:
    place = tmp_path_factory.mktemp("office")
    made = Curator(place / "office", heads=place / "heads")
    hidden = "  h: {type: integer, low: 0, high: 1, role: hidden}\n"
    rows = [{**row, "h": at % 2} for at, row in enumerate([*OTHERS, MEMBER])]
    made.add(frame_of(rows), name="t", contract=Contract.from_yaml(FACTS.format(unit="row") + hidden))
    yield made
    made.ledger.close()


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every statement that reaches DuckDB, as it is."""
    texts: list[str] = []
    fetch = engine._fetch

    def noted(cursor: duckdb.DuckDBPyConnection, text: str, *further: Any) -> Any:
        texts.append(text)
        return fetch(cursor, text, *further)

    monkeypatch.setattr(engine, "_fetch", noted)
    return texts


def spent(held: Curator) -> Amount:
    agreed = held.contract("t")
    assert agreed is not None
    return held.ledger.account(population_of(agreed)).spent


def foreign(text: str) -> set[str]:
    """The words of a statement that are neither SQL that plans are made of, nor names of ours, nor in a literal."""
    bare = re.sub(r"'(?:[^']|'')*'", " ", text)
    names = set(re.findall(r'"((?:[^"]|"")*)"', bare))
    words = set(re.findall(r"[^\W\d]\w*", re.sub(r'"(?:[^"]|"")*"', " ", bare)))
    return {name for name in names if not _NAMES.fullmatch(name)} | {
        word for word in words if word.lower() not in _WORDS and not _NAMES.fullmatch(word)
    }


def test_there_are_enough() -> None:
    assert len(set(ESCAPES)) >= 264
    assert len({*ESCAPES, *(text for _, text in listed(STOPPED_BY_WALLS))}) > 400


def test_escapes_reach_no_engine(held: Curator, asked: list[str]) -> None:
    """Refused by text and contract alone: nothing is executed, and nothing is charged."""
    asked.clear()
    before = spent(held)
    attempts = [text for _, text in listed({**STOPPED_BY_WALLS, **STOPPED_BY_ALLOW_LIST_ALONE})]
    for text in (*ESCAPES, *attempts, *(attempt.replace("rows", "t") for attempt in attempts)):
        with pytest.raises(DiscreetError) as refused:
            held.sql(text, epsilon="0.5", delta="1e-6").run()
        assert refused.value.exit_code == 2, text
        assert "member" in text or "member" not in str(refused.value), text
    assert asked == []
    assert spent(held) == before


def test_odd_text_stays_a_literal(held: Curator, asked: list[str]) -> None:
    """What is a question is answered by a SELECT of ours, where the odd text is a literal or does not stand at all."""
    for number, text in enumerate(HARMLESS, start=1):
        asked.clear()
        assert held.sql(text, epsilon=number).run().columns  # another ε each time, so that none was paid for before
        (statement,) = (one for one in asked if "duckdb_columns()" not in one)
        assert foreign(statement) == set(), statement


def test_a_smuggled_word_turns_red() -> None:
    ours = """SELECT COUNT(*) AS "a0" FROM "rows" WHERE "c1" = 'DROP TABLE ''x'''"""
    assert foreign(ours) == set()
    assert foreign(ours + " OR ERROR('x')") == {"ERROR"}
    assert foreign(ours.replace('"c1"', '"secret"')) == {"secret"}


def test_statements_differ_by_literals_alone(held: Curator, asked: list[str]) -> None:
    """The same question about another text is the same statement but for that literal."""
    odd = "x'); DROP TABLE rows; --"
    seen = []
    for text in ("plain", odd.replace("'", "''")):
        asked.clear()
        held.sql(f"SELECT g, SUM(x) FROM t WHERE s = '{text}' GROUP BY g", epsilon="0.5").run()
        seen.append([one for one in asked if "duckdb_columns()" not in one])
    plain, smuggled = seen
    assert [one.replace("'plain'", "?") for one in plain] == [
        one.replace("'" + odd.replace("'", "''") + "'", "?") for one in smuggled
    ]
