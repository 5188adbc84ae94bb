"""Answers as files: each form holds what was released, and scripts give it again for nothing."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import nbformat
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from discreet.curator import Curator
from discreet.data.contract import Contract
from discreet.draw import Chart, Panels
from discreet.errors import ArgumentError, ContractError, FileError
from discreet.evaluation.receipts import check_receipt
from discreet.query.answer import Answer
from discreet.query.export import FORMS
from discreet.query.script import Script
from discreet.query.statistic import Rows
from tests.query.offices import contract, office, question

SQL = "SELECT region, COUNT(*) AS n, AVG(cost) AS m FROM people WHERE town LIKE '%r%' GROUP BY region"
PERSON = "{person: who, rows: 2, groups: 2}"


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Curator]:
    made = office(tmp_path_factory.mktemp("saving"), under=contract(unit=PERSON))
    yield made
    made.ledger.close()


@pytest.fixture(scope="module")
def answer(held: Curator) -> Answer:
    return held.sql(SQL, epsilon="2.5", delta="1e-6", above="1/2").run()


def test_every_form_is_written_once(answer: Answer, tmp_path: Path) -> None:
    for form in FORMS:
        into = answer.save(tmp_path / f"answer{form}")
        assert into.stat().st_size > 50
        with pytest.raises(FileError, match="there already"):
            answer.save(into)
    for wrong in ("answer.xlsx", "answer", "nowhere/answer.csv"):
        with pytest.raises((ArgumentError, FileError)):
            answer.save(tmp_path / wrong)


def test_tables_hold_values_released_numbers_and_errors(answer: Answer, tmp_path: Path) -> None:
    names = [
        "region",
        *(f"{n}{what}" for n in ("n", "m") for what in ("", " raw", " error", " low", " high", " too noisy")),
    ]
    frame = pl.read_parquet(answer.save(tmp_path / "a.parquet"))
    assert frame.columns == names
    assert frame["n raw"].to_list() == pytest.approx(list(answer.columns[1].raw))
    assert frame["m high"].to_list() == pytest.approx([error.high for error in answer.columns[2].errors])
    assert frame["n too noisy"].dtype == pl.Boolean
    with answer.save(tmp_path / "a.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == names
    assert [float(row["n raw"]) for row in rows] == list(answer.columns[1].raw)
    assert json.loads(answer.save(tmp_path / "a.json").read_text()) == json.loads(json.dumps(answer.as_json()))


def test_notebooks_are_notebooks(answer: Answer, tmp_path: Path) -> None:
    book = nbformat.reads(answer.save(tmp_path / "a.ipynb").read_text(), as_version=4)  # type: ignore[no-untyped-call]
    nbformat.validate(book)
    assert SQL in book.cells[0].source
    assert "<svg" in book.cells[1].outputs[0].data["text/html"]
    compile(book.cells[1].source, "cell", "exec")


def test_scripts_give_the_answer_again_for_nothing(
    held: Curator, answer: Answer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = [account.spent for account in held.ledger.accounts()]
    (again,) = held.replay(answer.save(tmp_path / "a.yaml"))
    assert again.cost.again
    assert again.as_json()["columns"] == answer.as_json()["columns"]
    assert again.above == answer.above is not None
    monkeypatch.chdir(held.folder)
    monkeypatch.setenv("DISCREET_HEADS", str(held.folder.parent / "heads"))
    exec(compile(answer.save(tmp_path / "a.py").read_text(), "script", "exec"), {})
    assert "given again for nothing" in capsys.readouterr().out
    assert [account.spent for account in held.ledger.accounts()] == before


def test_a_replay_never_spends(held: Curator, tmp_path: Path) -> None:
    (tmp_path / "new.yaml").write_text(Script(questions=("SELECT COUNT(*) FROM people",), epsilon="0.7").yaml())
    before = len(held.ledger.entries())
    with pytest.raises(ArgumentError, match="nobody paid"):
        held.replay(tmp_path / "new.yaml")
    assert len(held.ledger.entries()) == before


@pytest.mark.parametrize(
    "text",
    ["", "[]", "ask: 3", "ask: [{a: b}]", "ask: [SELECT 1]\nseed: 3", "ask: [x]\nepsilon: [1]", "ask: [x]\npaid: 3"],
)
def test_what_is_no_script_is_refused(text: str) -> None:
    with pytest.raises(ContractError, match=r"a\.yaml"):
        Script.parse(text, where="a.yaml")


def test_scripts_come_back_as_they_were() -> None:
    texts = ("SELECT 'a: \"b\"\n# no comment' FROM t", "SELECT 2;", "null")
    written = Script(questions=texts, epsilon="1/3", delta="0.000001", analyst="ann", entry=7, ledger="ab")
    assert Script.parse(written.yaml(), where="a.yaml") == written


def test_receipts_are_checked_as_saved(held: Curator, answer: Answer, tmp_path: Path) -> None:
    verdict = check_receipt(answer.save(tmp_path / "a.receipt"), held.keyring)
    assert verdict.holds


def test_what_was_not_asked_in_words_or_not_charged(held: Curator, tmp_path: Path) -> None:
    built = held.ask(question(Rows()), epsilon=1).run()[0]
    with pytest.raises(ArgumentError, match="built"):
        built.save(tmp_path / "built.yaml")
    assert built.save(tmp_path / "built.csv").exists()
    dummy = held.sql(SQL, epsilon=1).dummy()
    with pytest.raises(ArgumentError, match="receipt"):
        dummy.save(tmp_path / "dummy.receipt")
    assert "Invented" in dummy.save(tmp_path / "dummy.html").read_text()


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.seen.append(tag)


def test_notebooks_show_table_chart_and_words(answer: Answer) -> None:
    shown, tags = answer._repr_html_(), _Tags()
    tags.feed(shown)
    assert {"table", "svg", "li"} <= set(tags.seen)
    assert not {"script", "link", "img", "iframe"} & set(tags.seen)
    assert "as entry" in shown


def test_charts_say_what_the_table_says(held: Curator, answer: Answer) -> None:
    panels = answer.chart()
    assert isinstance(panels, Panels)
    first = panels.charts[0].marks[0]
    assert first.at == ("east", "north", "south")  # type: ignore[union-attr]  # it is the intervals
    assert first.mid == answer.columns[1].values  # type: ignore[union-attr]
    assert panels.charts[0].family == "guarantee"
    one = held.sql("SELECT COUNT(*) AS n FROM people", epsilon=1).dummy().chart()
    assert isinstance(one, Chart)
    assert one.family == "plain"
    many = held.sql("SELECT age, COUNT(*) FROM people GROUP BY age", epsilon=1).dummy()
    assert many.chart() is None, "101 rows are no chart"
    assert "<svg" not in many._repr_html_()


def test_answers_come_in_the_callers_kind(held: Curator, tmp_path: Path) -> None:
    frame = pl.DataFrame({"x": [1, 2, 3] * 9})
    agreed = "table: t\nunit: row\nbudget: {epsilon: 9}\ncolumns: {x: {type: integer, low: 0, high: 9}}\n"
    made = Curator(tmp_path / "kinds", heads=tmp_path / "heads")
    given = {"polars": frame, "pandas": frame.to_pandas(), "pyarrow": frame.to_arrow()}
    kinds = {"polars": pl.DataFrame, "pandas": pd.DataFrame, "pyarrow": pa.Table}
    for name, one in given.items():
        under = Contract.from_yaml(agreed.replace("table: t", f"table: {name}\npopulation: all"))
        made.add(one, name=name, contract=under)
        asked = made.sql(f"SELECT COUNT(*) AS n FROM {name}", epsilon="0.5")
        assert isinstance(asked.dummy().frame, kinds[name])
        assert isinstance(asked.run().error, kinds[name])
    assert isinstance(made.sql("SELECT COUNT(*) AS n FROM polars", epsilon="0.5").run(kind="pandas").raw, pd.DataFrame)
    assert isinstance(held.sql("SELECT COUNT(*) AS n FROM people", epsilon="0.5").dummy().frame, dict)
