"""The sources' examples of queries and their sensitivity, asked in SQL of a curator."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from discreet.accounting.events import Noise
from discreet.asking import Query
from discreet.budget import population_of
from discreet.curator import Curator
from discreet.data.contract import Contract
from discreet.errors import BudgetError
from discreet.measure.bounds import Proof
from discreet.measure.noisy import Measurement
from discreet.mechanisms.noise import LaplaceNoise

SIX: dict[str, list[Any]] = {
    "city": ["New York", "New York", "Los Angeles", "Madrid", "San Diego", "St. Louis"],
    "age": [18, 21, 33, 41, 29, 38],
    "gender": ["M", "F", "other", "M", "F", "M"],
}
SIX_FACTS = """
  city: {type: text}
  age: {type: integer, low: 0, high: 100, nulls: refuse}
  gender: {type: category, keys: [F, M, other]}
"""
NAMES, OWED = ["Alice", "Bob", "Charlie", "Xander"], [2_800_798.0, 7_000.0, 1.56, 0.0]
DEBTS: dict[str, list[Any]] = {"name": NAMES, "debt": OWED}
DEBT_FACTS = """
  name: {type: text}
  debt: {type: decimal, step: 0.01, low: 0, high: 10000000, nulls: refuse}
"""


def held(
    folder: Path, rows: Mapping[str, Any], facts: str, *, units: int | None = None, epsilon: int = 999_999
) -> Curator:
    """A curator with these rows as table d; under replace-one where the number of units is given."""
    public = "" if units is None else f"adjacency: replace-one\nunits: {units}\n"
    text = (
        f"table: d\nunit: row\nmax_rows: 1000000\n{public}budget: {{epsilon: {epsilon}, delta: 0.01}}\ncolumns:{facts}"
    )
    made = Curator(folder / f"office {units}", heads=folder / "heads")
    made.add(pl.DataFrame(dict(rows)), name="d", contract=Contract.from_yaml(text))
    return made


def proof_of(query: Query) -> Proof:
    return part_of(query).proof


def part_of(query: Query) -> Measurement:
    (part,) = query.batch.design.parts
    assert isinstance(part, Measurement)
    return part


def only(query: Query) -> Any:
    """The one number of an answer, as it was released."""
    ((value,),) = (column.raw for column in query.run().columns)
    return value


@pytest.mark.requirement("2.26")
def test_count_of_six_in_sql(tmp_path: Path) -> None:
    """Men above 18 among the six: 2, and with less epsilon 2 and noise of scale 1/ε."""
    curator = held(tmp_path, SIX, SIX_FACTS)
    text = "SELECT COUNT(*) FROM d WHERE gender = 'M' AND age > 18"
    assert only(curator.sql(text, epsilon=1000)) == 2
    event = curator.sql(text, epsilon="0.1").batch.design.event
    assert event == Noise(law="laplace", move=Fraction(1), scale=Fraction(10), scalar=True)


@pytest.mark.requirement("2.31")
@pytest.mark.parametrize("units", [None, 6])
def test_a_count_moves_by_one(tmp_path: Path, units: int | None) -> None:
    query = held(tmp_path, SIX, SIX_FACTS, units=units).sql(
        "SELECT COUNT(*) FROM d WHERE gender = 'M' AND age > 18", epsilon=1
    )
    assert proof_of(query).parts[0].moved.l1 == 1


@pytest.mark.requirement("2.32")
def test_mean_age_of_six_moves_by_a_sixth_of_a_hundred(tmp_path: Path) -> None:
    curator = held(tmp_path, SIX, SIX_FACTS, units=6)
    query = curator.sql("SELECT AVG(age) FROM d", epsilon=900_000)
    assert Fraction(proof_of(query).parts[0].moved.l1, 6) == Fraction(100, 6)
    assert only(query) == pytest.approx(30.0, abs=0.01)


@pytest.mark.requirement("2.45")
def test_mean_age_of_ten_thousand(tmp_path: Path) -> None:
    """Scale .02 for the mean at ε = .5, and an interval of ± .06."""
    rows = {"city": ["x"] * 10_000, "age": [at % 101 for at in range(10_000)], "gender": ["F"] * 10_000}
    query = held(tmp_path, rows, SIX_FACTS, units=10_000).sql("SELECT AVG(age) AS a FROM d", epsilon="0.5")
    event = query.batch.design.event
    assert isinstance(event, Noise)
    assert event.scale / 10_000 == Fraction(2, 100)
    answer = query.run()
    ((low,), (high,)) = (answer.interval()[name] for name in ("a low", "a high"))
    assert (high - low) / 2 == pytest.approx(0.02 * math.log(20), rel=0.03)


@pytest.mark.requirement("0.55")
def test_mean_of_shares(tmp_path: Path) -> None:
    """Values in [0, 1], n public: the mean moves by 1/n, and its noise has scale 1/(nε)."""
    n, facts = 500, "\n  x: {type: decimal, step: 0.001, low: 0, high: 1, nulls: refuse}\n"
    query = held(tmp_path, {"x": [at / n for at in range(n)]}, facts, units=n).sql("SELECT AVG(x) FROM d", epsilon=2)
    part = part_of(query)
    assert Fraction(part.proof.parts[0].moved.l1, 1000 * n) == Fraction(1, n)
    (column,) = query.run().columns
    assert column.errors[0].deviation == pytest.approx(math.sqrt(2) / (n * 2), rel=0.05)


@pytest.mark.requirement("3.30")
def test_sensitivities_that_were_asked_for(tmp_path: Path) -> None:
    """Sum and mean of shares, k of them, and three histograms, under both adjacencies."""
    facts = "\n  x: {type: integer, low: 0, high: 1, nulls: refuse}\n" + "".join(
        f"  {name}: {{type: category, keys: [{', '.join(keys)}]}}\n"
        for name, keys in {
            "grade": "abcdf",
            "zip": ("z1", "z2", "z3"),
            "race": ("r1", "r2"),
            "sex": ("f", "m"),
            "hospital": ("h1", "h2", "h3", "h4"),
        }.items()
    )
    rows = {"x": [0, 1], "grade": ["a", "b"], "zip": ["z1", "z2"], "race": ["r1", "r2"], "sex": ["f", "m"]}
    rows |= {"hospital": ["h1", "h4"]}
    added, replaced = held(tmp_path, rows, facts), held(tmp_path, rows, facts, units=2)

    def moved(curator: Curator, text: str) -> int:
        return sum(part.moved.l1 for part in proof_of(curator.sql(text, epsilon=1)).parts)

    assert moved(added, "SELECT SUM(x) FROM d") == 1
    assert Fraction(moved(replaced, "SELECT AVG(x) FROM d"), 2) == Fraction(1, 2)
    for k in (2, 3, 5):
        some = ", ".join(f"SUM(CASE WHEN x >= 0 THEN x END) + {at} AS s{at}" for at in range(k))
        # k equal queries are one sum; k different ones move by k together.
        assert moved(added, f"SELECT {some} FROM d") == 1
        others = ", ".join(f"COUNT(*) FILTER (WHERE grade = '{'abcdf'[at]}')" for at in range(k))
        assert moved(added, f"SELECT {others} FROM d") == k
    for keys in ("grade", "zip, race, sex", "hospital"):
        text = f"SELECT {keys}, COUNT(*) FROM d GROUP BY {keys}"
        assert (moved(added, text), moved(replaced, text)) == (1, 2)


@pytest.mark.requirement("1.36")
def test_noisy_histogram_has_the_stated_density(tmp_path: Path) -> None:
    """Counts plus noise of scale 2/ε each: the chance of a whole histogram falls with ε/2 times the first norm."""
    epsilon = Fraction(1, 2)
    query = held(tmp_path, SIX, SIX_FACTS, units=6).sql(
        "SELECT gender, COUNT(*) FROM d GROUP BY gender", epsilon=epsilon
    )
    part = part_of(query)
    (noise,) = part.noises
    assert part.event == Noise(law="laplace", move=Fraction(2), scale=2 / epsilon)

    def chance(*errors: int) -> float:
        return math.prod(float(noise.chance(error)[0]) for error in errors)

    for errors in ((0, 0, 0), (3, -1, 0), (-7, 2, 11)):
        norm = sum(map(abs, errors))
        assert chance(*errors) == pytest.approx(math.tanh(epsilon / 4) ** 3 * math.exp(-epsilon / 2 * norm), rel=1e-9)
    # On the whole numbers tanh(ε/4) stands where the continuous density has ε/4.
    assert math.tanh(epsilon / 4) == pytest.approx(epsilon / 4, rel=0.01)


@pytest.mark.requirement("2.42")
def test_a_named_persons_count(tmp_path: Path) -> None:
    """Exact, the count of one name tells; with noise of scale 10 the best guess is right in .524 of cases."""
    names = [f"Person {at}" for at in range(99)] + ["Karrie Trusslove"]
    rows = {"name": names, "target": ["<=50K", ">50K"] * 49 + [">50K", "<=50K"]}
    facts = "\n  name: {type: text}\n  target: {type: category, keys: ['<=50K', '>50K']}\n"
    exact = [target for name, target in zip(names, rows["target"], strict=True) if name == "Karrie Trusslove"]
    assert exact.count("<=50K") == 1
    query = held(tmp_path, rows, facts).sql(
        "SELECT COUNT(*) AS n FROM d WHERE name = 'Karrie Trusslove' AND target = '<=50K'", epsilon="0.1"
    )
    assert query.batch.design.event == Noise(law="laplace", move=Fraction(1), scale=Fraction(10), scalar=True)
    (noise,) = part_of(query).noises
    # Above .5 means 1 or more: P(1 + Z ≥ 1) of whole numbers beside P(1 + Z > .5) of the continuous law.
    assert float(noise.tail(0)[0]) == pytest.approx(1 - math.exp(-0.05) / 2, abs=0.001)
    assert 1 - math.exp(-0.05) / 2 == pytest.approx(0.524, abs=0.0005)
    answer = query.run()
    (column,) = answer.columns
    assert column.errors[0].low is not None
    assert column.errors[0].high is not None
    assert column.too_noisy == (True,) or abs(column.raw[0]) > 40  # type: ignore[arg-type]  # a number
    assert noise.interval(Fraction(19, 20)) > 10  # so that the printed draw, .004, tells nothing


@pytest.mark.requirement("3.09")
def test_the_curator_answers_one_question_after_the_other(tmp_path: Path) -> None:
    """Each question is chosen after the answers before it; together they never spend more than the budget; questions
    that are fixed beforehand go together in one charge. The adversary is whoever reads the answers: they add up."""
    curator = held(tmp_path, SIX, SIX_FACTS, epsilon=3)
    low, high = 0, 100
    for _ in range(4):
        middle = (low + high) // 2
        found = only(curator.sql(f"SELECT COUNT(*) FROM d WHERE age < {middle}", epsilon="0.5"))
        low, high = (middle, high) if found < 3 else (low, middle)
    account = curator.ledger.account(population_of(curator.contract("d")))  # type: ignore[arg-type]  # it has one
    assert account.spent.loss == 4 * 500_000_000
    fixed = curator.ask("SELECT COUNT(*) FROM d", "SELECT gender, COUNT(*) FROM d GROUP BY gender", epsilon="0.6").run()
    assert [len(answer.columns[0].values) for answer in fixed] == [1, 3]
    assert fixed[0].charge.entry == fixed[1].charge.entry
    with pytest.raises(BudgetError, match=r"left ε = 0\.4"):
        curator.sql("SELECT AVG(age) FROM d", epsilon="0.5").run()
    curator.sql("SELECT AVG(age) FROM d", epsilon="0.4").run()


@pytest.mark.requirement("4.10")
@pytest.mark.parametrize("b", [Fraction(1), Fraction(4), Fraction(20)])
def test_the_trusted_curator_reports_count_plus_noise(tmp_path: Path, b: Fraction) -> None:
    """Noise of scale b on a count: between neighbours no answer is more than exp(1/b) times as likely."""
    query = held(tmp_path, SIX, SIX_FACTS).sql("SELECT COUNT(*) FROM d WHERE age > 20", epsilon=1 / b)
    part = part_of(query)
    (noise,) = part.noises
    assert part.event == Noise(law="laplace", move=Fraction(1), scale=b, scalar=True)
    ratios = [float(noise.chance(k)[0] / noise.chance(k + 1)[1]) for k in range(-60, 60)]
    assert max(ratios) == pytest.approx(math.exp(1 / b))
    assert min(ratios) == pytest.approx(math.exp(-1 / b))
    assert query.run().receipt is not None


@pytest.mark.requirement("4.15")
@pytest.mark.requirement("4.20")
@pytest.mark.requirement("4.21")
def test_the_sum_of_debts_takes_noise_for_the_declared_bound(tmp_path: Path) -> None:
    """2,807,799.56 in all; what the bank may lend a person bounds what one moves, whoever is in the table."""
    curator = held(tmp_path, DEBTS, DEBT_FACTS)
    query = curator.sql("SELECT SUM(debt) AS total FROM d", epsilon=500_000)
    assert only(query) == pytest.approx(2_807_799.56, abs=600)
    assert proof_of(query).parts[0].moved.l1 * Fraction(1, 100) == 10_000_000
    part = part_of(curator.sql("SELECT SUM(debt) FROM d", epsilon=1))
    (noise,) = part.noises
    assert part.event == Noise(law="laplace", move=Fraction(10**9), scale=Fraction(10**9), scalar=True)
    # Of the four persons none moves the sum by more than the bound, whatever the others owe.
    assert isinstance(noise, LaplaceNoise)
    for person in OWED:
        assert float(noise.scale) / 100 >= person


@pytest.mark.requirement("4.16")
@pytest.mark.requirement("4.17")
@pytest.mark.requirement("4.18")
@pytest.mark.requirement("4.19")
def test_noise_for_the_persons_in_the_table_is_not_to_be_had(tmp_path: Path) -> None:
    """Scale 1/ε would tell Alice by 2,800,798 ε, one for Alice's debt a person of 10⁷ by 3.57 ε; the noise is the same
    in each of these tables, since it follows from the contract."""
    tables = [OWED, OWED[1:], [0.0, 0.0, 0.0, 1e7]]
    events = set()
    for at, debts in enumerate(tables):
        rows = {"name": [f"p{n}" for n in range(len(debts))], "debt": debts}
        events.add(
            held(tmp_path / str(at), rows, DEBT_FACTS).sql("SELECT SUM(debt) FROM d", epsilon=1).batch.design.event
        )
    (event,) = events
    assert isinstance(event, Noise)
    scale = event.scale / 100
    moved = {"A": Fraction(2_800_798), "B": Fraction(7_000), "C": Fraction(156, 100), "X": Fraction(0)}
    assert sum(tables[0]) - sum(tables[1]) == pytest.approx(float(moved["A"]))
    assert float(sum(Fraction(str(debt)) for debt in tables[1])) == 7001.56
    assert moved["A"] == 2_800_798  # over scale 1: the log ratio at scale 1/ε, in ε
    assert float(10**7 / moved["A"]) == pytest.approx(3.57, abs=0.001)
    assert all(move / scale <= 1 for move in (*moved.values(), Fraction(10**7)))
