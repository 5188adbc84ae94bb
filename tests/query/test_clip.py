"""Sums and means that are clipped at a private quantile: only if asked for, right for what they say, and no dearer."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from discreet.accounting.events import price
from discreet.curator import Curator
from discreet.data.contract import Contract
from discreet.errors import ArgumentError
from discreet.measure.clipped import Clipped, ClippedSums, ladders_of
from discreet.measure.expression import Column
from discreet.measure.ranks import ChosenRanks
from discreet.query.design import design_of
from discreet.query.estimate import strategy_lines
from discreet.query.evaluation import evaluated
from discreet.query.parse import parse
from discreet.query.script import Script
from discreet.randomness import SeededBits

ROW, PERSON = "row", "{person: p, rows: 2, groups: 2}"
_CONTRACT = """
table: staff
population: people
unit: {unit}
max_rows: 100000
budget: {{{budget}}}
columns:
  p: {{type: text, role: direct identifier}}
  income: {{type: integer, low: 0, high: 1000000}}
  gain: {{type: decimal, step: 0.01, low: -1000, high: 1000, nulls: refuse}}
  debt: {{type: integer, low: -50000, high: -7}}
  born: {{type: integer, low: 1900, high: 2100}}
  old: {{type: boolean}}
  flag: {{type: integer, low: 0, high: 1}}
  g: {{type: category, keys: [a, b]}}
  t: {{type: text}}
"""
MEAN = "SELECT AVG(income) AS m FROM staff"
ROWS = 10_000


def agreed(unit: str = ROW, budget: str = "epsilon: 1000, delta: 0.1") -> Contract:
    return Contract.from_yaml(_CONTRACT.format(unit=unit, budget=budget))


def frame(rows: int = ROWS, seed: int = 1) -> pl.DataFrame:
    """Log-normal incomes far below the bound, as incomes are."""
    draw = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "p": [f"p{at // 2}" for at in range(rows)],
            "income": draw.lognormal(10.3, 0.8, rows).clip(0, 1e6).astype(int),
            "gain": draw.normal(0, 3, rows).round(2),
            "debt": -7 - draw.exponential(100, rows).clip(0, 40_000).astype(int),
            "born": draw.integers(1950, 2000, rows),
            "old": draw.integers(0, 2, rows) == 1,
            "flag": draw.integers(0, 2, rows),
            "g": draw.choice(["a", "b"], rows),
            "t": draw.choice(["one", "two"], rows),
        }
    )


def office(folder: Path, under: Contract, rows: pl.DataFrame) -> Curator:
    held = Curator(folder / "office", heads=folder / "heads")
    held.add(rows, name="staff", contract=under)
    return held


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Curator]:
    made = office(tmp_path_factory.mktemp("held"), agreed(), frame())
    yield made
    made.ledger.close()


def test_the_clipped_way_is_listed_by_a_formula_and_taken_only_if_asked_for(held: Curator) -> None:
    def lines(**further: Any) -> Sequence[Any]:
        return strategy_lines(held.sql(MEAN, epsilon="0.1", **further).batch.design)

    plain, clipped = lines(), lines(clip="quantile")
    assert plain[-1].strategy == clipped[0].strategy == "clipped at a quantile that is released, laplace noise"
    assert plain[-1].error == clipped[0].error == "14.4 / n × the width of the clip"
    assert [line.taken for line in plain] == [True, *[False] * (len(plain) - 1)]
    assert [line.taken for line in clipped] == [True, *[False] * (len(clipped) - 1)]
    assert {line.strategy for line in plain} == {line.strategy for line in clipped}
    # 1.25 of the noise that the bound would need: a fifth of the budget is spent before.
    assert float(plain[0].error.split()[0]) * 1.25 == pytest.approx(14.4e6, rel=0.01)
    beside = strategy_lines(held.sql("SELECT AVG(income), VARIANCE(income) FROM staff", epsilon=1).batch.design)
    assert not any("clipped" in line.strategy for line in beside)


@pytest.mark.parametrize("unit", [ROW, PERSON])
@pytest.mark.parametrize("budget", ["epsilon: 1000, delta: 0.1", "rho: 1000, delta: 0.1"])
def test_the_charge_is_the_same_whatever_the_data(tmp_path: Path, unit: str, budget: str) -> None:
    """Nothing known, everybody at the bound: one estimate, one charge, and ends that differ."""
    tables = [
        frame(1).with_columns(income=pl.lit(None, pl.Int64)),
        frame(200).with_columns(income=pl.lit(10**6), gain=pl.lit(-1000.0)),
    ]
    text = "SELECT g, AVG(income) AS m, COUNT(*) AS n, SUM(gain) AS s FROM staff GROUP BY g"
    given: dict[str, str] = {"epsilon": "5"} if "epsilon" in budget else {"rho": "5"}
    found = []
    for at, rows in enumerate(tables):
        made = office(tmp_path / str(at), agreed(unit, budget), rows)
        asked = made.sql(text, clip="quantile", **given)
        said = asked.estimate()
        answer = asked.run(bits=SeededBits(1), teaching=True)
        spent = [str(account.spent) for account in made.ledger.accounts()]
        assert [line.charged for line in said.accounts] == list(answer.charge.accounts.values())
        assert answer.frame.columns == asked.dummy().frame.columns == ["g", "m", "n", "s"]
        assert len(answer.frame) == len(asked.dummy().frame) == 2
        found.append((spent, said.accounts, asked.batch.event, answer.estimand))
        made.ledger.close()
    assert found[0][:3] == found[1][:3]
    assert found[0][3] != found[1][3]


def test_with_little_noise_it_is_the_sum_of_clipped_values(tmp_path: Path) -> None:
    """Against plain Python: the rung of the second highest value, and the sums of what is moved there."""
    rows = frame(300)
    made = office(tmp_path, agreed(budget="epsilon: 1000000"), rows)
    query = made.sql(
        "SELECT g, SUM(income) AS i, SUM(gain) AS s, SUM(debt) AS d, AVG(born) AS b FROM staff GROUP BY g",
        epsilon=10**6,
        clip="quantile",
    )
    answer = query.run(bits=SeededBits(3), teaching=True)
    steps = [int(one * 10**power) for power in range(8) for one in (1, 1.5, 2, 3, 5, 7) if one * 10**power % 1 == 0]

    def end(distances: Sequence[int], reach: int) -> int:
        second = sorted(distances)[-2]
        return min(reach, next(step for step in steps if step >= second))

    ends = {
        "income": (0, end(rows["income"].to_list(), 10**6)),
        "gain": tuple(
            sign * end([round(max(0.0, sign * one) * 100) for one in rows["gain"]], 10**5) / 100 for sign in (-1, 1)
        ),
        "debt": (-7 - end([-7 - one for one in rows["debt"]], 50_000 - 7), -7),
        "born": (1900, 1900 + end([one - 1900 for one in rows["born"]], 200)),
    }
    for name, (low, high) in ends.items():
        assert any(f"{name} " in line for line in answer.estimand), name
        rows = rows.with_columns(pl.col(name).clip(low, high))
    truth = rows.group_by("g").agg(
        i=pl.col("income").sum(), s=pl.col("gain").sum(), d=pl.col("debt").sum(), b=pl.col("born").mean()
    )
    for name in "isdb":
        assert answer.frame[name].to_list() == pytest.approx(truth.sort("g")[name].to_list(), rel=1e-4), name


@pytest.mark.slow
@pytest.mark.parametrize("budget", [{"epsilon": "0.1"}, {"epsilon": "0.1", "delta": "1e-6"}], ids=str)
def test_intervals_hold_the_clipped_mean(held: Curator, budget: dict[str, str]) -> None:
    incomes, batch = frame()["income"].to_numpy(), held.sql(MEAN, clip="quantile", **budget).batch
    covered = 0
    design, question = batch.design, batch.questions[0]
    with held.lent(batch.tables) as (engine, tables):
        for seed in range(40):
            through = [one.release(engine, tables["staff"], SeededBits(seed), teaching=True) for one in design.charged]
            found = design.each(through)
            (sums,) = found
            assert isinstance(sums, ClippedSums)
            truth = np.minimum(incomes, float(sums.clips[Column("income")].high)).mean()
            (error,) = evaluated(question, design, found).errors(question.outputs[0].term)
            assert error.low is not None
            assert error.high is not None
            covered += error.low <= truth <= error.high
    # Of 40 intervals that cover 95 in 100, fewer than 29 hold in one of 10⁶.
    assert covered >= 29


def test_the_answer_names_what_is_estimated(held: Curator) -> None:
    query = held.sql(MEAN, clip="quantile", epsilon="0.1")
    answer = query.run(bits=SeededBits(2), teaching=True)
    (before,), (line,) = query.estimate().estimand, answer.estimand
    assert before.startswith("Values of income above an end that is found first, a released quantile,")
    assert query.dummy().estimand[0].startswith("Values of income above 200000, a released quantile,")
    assert line.startswith("Values of income above ")
    assert line.endswith("answer and interval are those of the clipped values.")
    assert line in answer.sentences()
    assert line in answer.as_json()["estimand"]


@pytest.mark.parametrize("draws", [18, pytest.param(120, marks=pytest.mark.slow)])
def test_where_bounds_are_wide_and_epsilon_small_it_errs_less(held: Curator, draws: int) -> None:
    """10,000 incomes under a bound of a million at ε = 0.1, where the noise of the bound itself is 1414 in the mean. At
    ε = 1 there is next to nothing to gain."""
    incomes = frame()["income"].to_numpy()
    text = "SELECT SUM(income) AS s FROM staff"

    def error(epsilon: str, draws: int) -> float:
        batch = held.sql(text, epsilon=epsilon, clip="quantile").batch
        (part,) = batch.charged
        assert isinstance(part, Clipped)
        squares = []
        with held.lent(batch.tables) as (engine, tables):
            for seed in range(draws):
                found = part.release(engine, tables["staff"], SeededBits(seed), teaching=True)
                squares.append((float(found.sums.values("sum")[0]) - float(incomes.sum())) ** 2)
        return math.sqrt(float(np.mean(squares))) / ROWS

    bound = math.sqrt(2) * 1e6 / ROWS  # over ε
    assert bound / 0.1 == pytest.approx(1414, rel=1e-3)
    assert error("0.1", draws) < 1086
    assert error("1", draws // 3) < 1.5 * bound


def test_a_saved_script_asks_for_the_clip_again(held: Curator, tmp_path: Path) -> None:
    answer = held.sql(MEAN, epsilon="0.3", clip="quantile").run()
    left = [str(account.spent) for account in held.ledger.accounts()]
    saved = answer.save(tmp_path / "mean.yaml")
    assert Script.parse(saved.read_text(), where="mean.yaml").budget == {"epsilon": "0.3", "clip": "quantile"}
    (again,) = held.replay(saved)
    assert again.raw == answer.raw if isinstance(again.raw, dict) else again.raw.equals(answer.raw)
    assert again.estimand == answer.estimand
    assert again.cost.again
    assert [str(account.spent) for account in held.ledger.accounts()] == left
    assert "clip='quantile'" in answer.save(tmp_path / "mean.py").read_text()


REFUSED: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("SELECT COUNT(*) FROM staff", {}, "no SUM or AVG of a value whose bounds leave room"),
    ("SELECT g, COUNT(income), MEDIAN(income) FROM staff GROUP BY g", {}, "leave clip out"),
    ("SELECT SUM(flag), AVG(CASE WHEN old THEN 1 ELSE 0 END) FROM staff", {}, "bounds leave room"),
    ("SELECT AVG(income), VARIANCE(income) FROM staff", {}, "VARIANCE(income) in a question of its own"),
    ("SELECT AVG(income), CORR(income, gain) FROM staff", {}, "CORR(income, gain) in a question of its own"),
    ("SELECT g, old, AVG(income) FROM staff GROUP BY ROLLUP (g, old)", {}, "each grouping in a question of its own"),
    ("SELECT t, AVG(income) FROM staff GROUP BY t", {"delta": "1e-6"}, "declare 't' as a category"),
    (MEAN, {"clip": "median"}, "there is 'quantile'"),
    (MEAN, {"epsilon": None, "error": 5, "rows": 1000}, "give an epsilon instead of the error"),
)


@pytest.mark.parametrize(("text", "further", "says"), REFUSED)
def test_a_clip_that_makes_no_sense_is_refused_before_anything_is_spent(
    held: Curator, text: str, further: dict[str, Any], says: str
) -> None:
    before = [str(account.spent) for account in held.ledger.accounts()]
    with pytest.raises(ArgumentError) as caught:
        held.sql(text, **{"epsilon": 1, "clip": "quantile", **further}).run()
    assert says in str(caught.value)
    assert "clip: " in str(caught.value)
    assert [str(account.spent) for account in held.ledger.accounts()] == before


def test_counts_and_chosen_statistics_may_stand_beside(held: Curator) -> None:
    query = held.ask(
        "SELECT g, AVG(income) AS m, COUNT(*) AS n, MEDIAN(income) AS q FROM staff GROUP BY g",
        "SELECT MODE(g) AS k, COUNT(DISTINCT g) AS d FROM staff WHERE old",
        epsilon=4,
        clip="quantile",
    )
    mean, mode = query.run(bits=SeededBits(5), teaching=True)
    truth = frame().group_by("g").agg(pl.len(), pl.col("income").median()).sort("g")
    assert mean.frame["n"].to_list() == pytest.approx(truth["len"].to_list(), abs=200)
    assert mean.frame["q"].to_list() == pytest.approx(truth["income"].to_list(), rel=0.1)
    assert mode.estimand == ()
    assert len(mean.estimand) == 1


def test_rungs_run_from_zero_or_the_nearer_bound_to_each_end() -> None:
    under = agreed()

    def rungs(name: str) -> list[tuple[str, list[float]]]:
        return [(one.side, [float(rung) for rung in one.rungs]) for one in ladders_of(Column(name), under)]

    assert rungs("flag") == []
    years = [1901, 1902, 1903, 1905, 1907, 1910, 1915, 1920, 1930, 1950, 1970, 2000, 2050, 2100]
    assert rungs("born") == [("high", years)]
    ((side, down),) = rungs("debt")
    assert (side, down[:3], down[-2:]) == ("low", [-8, -9, -10], [-30_007, -50_000])
    (low, negative), (high, positive) = rungs("gain")
    assert (low, high) == ("low", "high")
    assert negative == [-one for one in positive]
    assert (positive[0], positive[-1]) == (0.01, 1000)


@pytest.mark.parametrize("unit", [ROW, PERSON])
@pytest.mark.parametrize("budget", [{"epsilon": "1"}, {"epsilon": "1e-11"}, {"epsilon": "1e-13"}], ids=str)
def test_what_was_not_refused_before_the_charge_is_not_refused_at_any_clip(unit: str, budget: dict[str, Any]) -> None:
    """Otherwise a missing result would tell which ends were chosen. Noise as wide as it can be is refused at once."""
    under, done = agreed(unit), 0
    for text in ("SELECT SUM(gain) FROM staff", "SELECT g, AVG(income), COUNT(*), COUNT(t) FROM staff GROUP BY g"):
        try:
            (part,) = design_of([parse(text, lambda _: under)], under, "pure", clip="quantile", **budget).parts
        except ArgumentError:
            continue
        assert isinstance(part, Clipped)
        every = [sorted({*range(0, ends.places, 5), ends.places - 1}) for _, ends in part.ends]
        for places in itertools.product(*every):
            pairs = zip(part.ends, places, strict=True)
            part.at(part.clips([ChosenRanks(ranks=ends, places=((at,),)) for (_, ends), at in pairs]))
            done += 1
    assert done > 40 or budget["epsilon"] != "1"


def test_a_sum_that_costs_more_than_was_charged_is_refused() -> None:
    under = agreed()
    (part,) = design_of([parse(MEAN, lambda _: under)], under, "pure", epsilon=1, clip="quantile").parts
    assert isinstance(part, Clipped)
    with pytest.raises(ArgumentError, match="cost more than they are charged"):
        replace(part, epsilon=Fraction(79, 100))
    with pytest.raises(ArgumentError, match="cost more than they are charged"):
        replace(part, epsilon=None, rho=Fraction(1, 4))
    assert price(part.event, "pure").loss == 1
    assert price(part.event, "zcdp").loss == Fraction(4, 5) ** 2 / 2 + Fraction(1, 5) ** 2 / 8
    assert json.loads(json.dumps(part.as_json()))["off"] == [5]
