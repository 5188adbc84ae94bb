"""Privacy bugs that other tools published, each asked of us in SQL. The name of a test names what it is about.

Found in their issues and in papers: where a bug was one of noise, of a mechanism or of the ledger's own arithmetic, its
test stands with these (`tests/mechanisms`, `tests/accounting`); here is what shows through a question.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from discreet.accounting.events import Noise, price
from discreet.asking import Query
from discreet.budget import population_of
from discreet.curator import Curator
from discreet.data.contract import Contract
from discreet.data.engines.duckdb import DuckDBEngine
from discreet.errors import ArgumentError, BudgetError, ContractError, NoResultError
from discreet.measure.favourites import Favourites
from discreet.measure.noisy import Measurement
from discreet.measure.part import Part
from discreet.measure.ranks import Ranks
from discreet.randomness import SeededBits

# Each makes curators of its own, which takes most of the time.
pytestmark = pytest.mark.slow
FACTS = """
table: t
unit: {unit}
max_rows: 1000
budget: {{epsilon: {epsilon}, delta: 0.01}}
columns:
  p: {{type: text, role: direct identifier}}
  x: {{type: decimal, step: 0.5, low: {low}, high: 100, nulls: {nulls}}}
  f: {{type: decimal, step: 0.001, low: 0, high: 1}}
  k: {{type: integer, low: -1000000000, high: 1000000000}}
  g: {{type: category, keys: [a, b, c], nulls: {nulls_of_keys}}}
  s: {{type: text}}
  u: {{type: integer}}
"""
PERSON = "{person: p, rows: 2, groups: 1}"
Row = dict[str, Any]
PLAIN: Row = {"p": "ann", "x": 40.0, "f": 0.5, "k": 1, "g": "a", "s": "some", "u": 3}
SCHEMA = {
    "p": pl.String,
    "x": pl.Float64,
    "f": pl.Float32,
    "k": pl.Int64,
    "g": pl.String,
    "s": pl.String,
    "u": pl.Int64,
}


def row(**given: Any) -> Row:
    return {**PLAIN, **given}


@pytest.fixture
def held(tmp_path: Path) -> Iterator[Callable[..., Curator]]:
    """Makes curators of a table t with these rows."""
    made: list[Curator] = []

    def hold(
        rows: Sequence[Row],
        *,
        unit: str = "row",
        epsilon: int = 999_999,
        low: int = 0,
        nulls: str = "drop",
        nulls_of_keys: str = "drop",
        further: str = "",
    ) -> Curator:
        folder = tmp_path / str(len(made))
        text = FACTS.format(unit=unit, epsilon=epsilon, low=low, nulls=nulls, nulls_of_keys=nulls_of_keys) + further
        frame = pl.DataFrame([[one[name] for name in SCHEMA] for one in rows], schema=SCHEMA, orient="row")
        curator = Curator(folder / "office", heads=folder / "heads")
        curator.add(frame, name="t", contract=Contract.from_yaml(text))
        made.append(curator)
        return curator

    yield hold
    for one in made:
        one.ledger.close()


def exact(curator: Curator, text: str, epsilon: int = 300_000) -> Any:
    """The one number of a question with so much ε that hardly any noise is left."""
    ((value,),) = (column.raw for column in curator.sql(text, epsilon=epsilon).run().columns)
    return value


def parts_of(query: Query) -> tuple[Part, ...]:
    return query.batch.design.parts


def moved(query: Query) -> Fraction:
    """By how much one unit moves the one sum of a question, as declared."""
    (part,) = parts_of(query)
    assert isinstance(part, Measurement)
    (one,) = part.proof.parts
    assert one.span is not None
    return one.moved.l1 * one.span.step / (1 << part.proof.bits)


def spent(curator: Curator) -> int:
    agreed = curator.contract("t")
    assert agreed is not None
    return curator.ledger.account(population_of(agreed)).spent.loss


def test_smartnoise_317_without_bounds_there_is_a_refusal_and_not_an_answer_without_noise(held: Any) -> None:
    curator = held([PLAIN])
    for text in ("SUM(u)", "AVG(u)", "MEDIAN(u)", "MAX(u)", "SUM(u * x)", "SUM(CASE WHEN u > 3 THEN 1 ELSE 0 END)"):
        with pytest.raises(ArgumentError, match="no bounds"):
            curator.sql(f"SELECT {text} FROM t", epsilon=1).run()
    assert spent(curator) == 0


def test_smartnoise_201_values_are_clamped_last_inside_the_sum(held: Any) -> None:
    """What an expression makes of clamped values keeps its own ends: none is clamped before and widened after."""
    curator = held([row(x=1e9, k=2**62)])
    assert exact(curator, "SELECT SUM(x * 2 + 7) FROM t") == pytest.approx(207, abs=0.1)
    assert moved(curator.sql("SELECT SUM(x * 2 + 7) FROM t", epsilon=1)) == 207
    assert exact(curator, "SELECT SUM(CASE WHEN k > 0 THEN x END) FROM t") == pytest.approx(100, abs=0.1)


def test_smartnoise_622_what_is_summed_is_what_was_clamped(held: Any) -> None:
    """Products as in a covariance: of the clamped values, not of those in the table."""
    curator = held([row(x=1e6, f=2.0), row(x=-1e6, f=-3.0), row(x=50.0, f=0.5)])
    assert exact(curator, "SELECT SUM(x * f) FROM t") == pytest.approx(100 * 1 + 0 + 25, abs=0.1)


def test_smartnoise_356_a_mean_does_not_take_its_noise_from_the_rows_there_are(held: Any) -> None:
    """diffprivlib too: noise of a mean that falls with n tells n. Ours has one scale, whatever the table holds."""
    scales = set()
    for rows in (1, 10, 1000):
        (part,) = parts_of(held([PLAIN] * rows).sql("SELECT AVG(x) FROM t", epsilon=1))
        assert isinstance(part, Measurement)
        scales.add(part.noises)
    assert len(scales) == 1


def test_diffprivlib_104_the_bound_is_that_of_the_end_farther_from_zero(held: Any) -> None:
    curator = held([PLAIN], low=-300)
    assert moved(curator.sql("SELECT SUM(x) FROM t WHERE g = 'a'", epsilon=1)) == 300
    assert moved(curator.sql("SELECT SUM(-x) FROM t", epsilon=1)) == 300


def test_opendp_314_halves_are_cut_towards_no_neighbour(held: Any) -> None:
    """Whole division of a sum would move by more than half of what the sum moves; ours divides by multiplying steps."""
    curator = held([row(x=float(at)) for at in range(7)])
    assert moved(curator.sql("SELECT SUM(x / 2) FROM t", epsilon=1)) == 50
    assert exact(curator, "SELECT SUM(x / 2) FROM t") == pytest.approx(10.5, abs=0.01)


def test_opendp_2923_rounding_again_and_again_moves_nothing(held: Any) -> None:
    """Values off the grid are rounded once, each by itself; a middle that is taken away is on the grid."""
    rows = [row(x=value) for value in (0.24999999, 33.3333333, 66.6666667, 99.7500001)]
    with_all, without = held(rows), held(rows[:-1])
    for text in ("SELECT SUM(x) FROM t", "SELECT SUM(x - 49.5) FROM t", "SELECT SUM((x - 50) / 3) FROM t"):
        apart = abs(float(exact(with_all, text)) - float(exact(without, text)))
        assert apart <= moved(with_all.sql(text, epsilon=1)) + Fraction(1, 100)


def test_opendp_2935_and_2939_what_is_missing_is_never_a_value_nor_free(held: Any) -> None:
    """NaN is neither 0 nor a key that shows through, and counting what is there costs like any count."""
    rows = [row(x=float("nan")), row(x=float("inf")), row(x=None), row(x=10.0)]
    curator = held(rows)
    assert exact(curator, "SELECT SUM(x) FROM t") == pytest.approx(10, abs=0.01)
    assert exact(curator, "SELECT COUNT(x) FROM t") == 1
    before = spent(curator)
    curator.sql("SELECT COUNT(x) FROM t WHERE g = 'b'", epsilon="0.5").run()
    assert spent(curator) - before == 500_000_000


def test_diffprivlib_one_nan_does_not_make_the_answer_nan(held: Any) -> None:
    curator = held([row(x=float("nan")), row(x=20.0), row(x=40.0)])
    for text in ("AVG(x)", "SUM(x)", "VARIANCE(x)", "MEDIAN(x)", "MAX(x)", "CORR(x, f)"):
        value = curator.sql(f"SELECT {text} AS a FROM t", epsilon=1000).run().frame["a"][0]
        assert value is None or math.isfinite(value)


def test_opendp_2944_keys_are_compared_by_their_text_not_by_codes_of_this_table(held: Any) -> None:
    """A key that only one table has shifts no other key."""
    many = held([row(g="a"), row(g="b"), row(g="b"), row(g="foreign")])
    few = held([row(g="b"), row(g="b")])
    text = "SELECT g, COUNT(*) AS n FROM t GROUP BY g"
    assert many.sql(text, epsilon=300_000).run(kind="plain").frame == {"g": ["a", "b", "c"], "n": [1, 2, 0]}
    assert few.sql(text, epsilon=300_000).run(kind="plain").frame == {"g": ["a", "b", "c"], "n": [0, 2, 0]}


def test_opendp_2941_single_precision_is_read_once_and_bounded_after_that(held: Any) -> None:
    """A column of 32-bit floats: .1 of them lies off the grid, and above 1 a hair."""
    curator = held([row(f=0.1), row(f=1.0000001), row(f=float("nan"))])
    assert exact(curator, "SELECT SUM(f) FROM t") == pytest.approx(1.1, abs=0.001)
    assert moved(curator.sql("SELECT SUM(f) FROM t", epsilon=1)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "SELECT SUM(x) AS a FROM (SELECT s AS p, x FROM t)",
        "SELECT SUM(x) AS a FROM (SELECT k AS p, x, s FROM t WHERE k < 9) AS v",
        "WITH v(p, x) AS (SELECT s, x FROM t) SELECT SUM(x) AS a FROM v",
        "SELECT SUM(x2) AS a FROM t AS v(s, x2)",
    ],
)
def test_opendp_2949_a_column_redefined_does_not_move_who_is_bounded(held: Any, text: str) -> None:
    """Whatever is called by the name of the person column, persons are told apart by that column itself."""
    curator = held([row(s=f"s{at}", k=at) for at in range(1, 8)], unit=PERSON)
    try:
        value = curator.sql(text, epsilon=300_000).run().frame["a"][0]
    except ArgumentError:
        assert spent(curator) == 0
        return
    assert value <= 2 * 100 + 1


def test_google_pr_84_a_person_in_every_group_counts_in_as_few_as_declared(held: Any) -> None:
    """Distinct persons by key: an outlier user in all groups counts G in all, not once in each."""
    curator = held([row(g=key) for key in ("a", "b", "c")] * 9, unit="{person: p, rows: 9, groups: 2}")
    answer = curator.sql("SELECT g, COUNT(DISTINCT p) AS n FROM t GROUP BY g", epsilon=300_000).run()
    assert sum(float(value) for value in answer.columns[1].raw) == pytest.approx(2, abs=0.01)


def test_opendp_truncation_keeps_as_much_as_is_paid_for(held: Any) -> None:
    """It kept 2 of 3 groups while noise was for 3, and the first ones in the order of their names."""
    curator = held([row(g=key) for key in ("a", "b", "c")], unit="{person: p, rows: 3, groups: 3}")
    answer = curator.sql("SELECT g, COUNT(*) AS n FROM t GROUP BY g", epsilon=300_000).run()
    assert list(answer.frame["n"]) == [1, 1, 1]


def test_smartnoise_censoring_is_not_the_analysts_to_switch_off(held: Any) -> None:
    """A city of one person stays hidden, and no option of the text shows it."""
    curator = held([row(p=f"p{at}", s="large") for at in range(200)] + [row(p="one", s="hamlet")], unit=PERSON)
    answer = curator.sql("SELECT s, COUNT(*) AS n FROM t GROUP BY s", epsilon=4, delta="1e-9").run()
    assert list(answer.frame["s"]) == ["large"]
    with pytest.raises(ArgumentError, match="delta"):
        curator.sql("SELECT s, COUNT(*) FROM t GROUP BY s", epsilon=1).run()
    with pytest.raises(ArgumentError, match="censor_dims"):
        curator.sql("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (censor_dims = 0) COUNT(*) FROM t", epsilon=1).run()


def test_smartnoise_every_listed_cell_is_there_so_that_none_tells_by_being_away(held: Any) -> None:
    curator = held([PLAIN])
    answer = curator.sql("SELECT g, x, COUNT(*) AS n FROM t GROUP BY g, x", epsilon=1).run()
    assert len(answer.frame["n"]) == 3 * 201


def test_smartnoise_error_oracle_arithmetic_that_overflows_for_one_person_is_refused_or_total(held: Any) -> None:
    """WHERE ABS(CASE WHEN … THEN 0 ELSE 1 END - 9223372036854775807 - 1) > 0 raised for who matched, free of charge."""
    oracle = "ABS(CASE WHEN {} THEN 0 ELSE 1 END - 9223372036854775807 - 1) > 0"
    curator = held([PLAIN])
    outcomes = set()
    for who in ("s = 'some' AND k > 0", "s = 'nobody' AND k > 0"):
        with pytest.raises(ArgumentError) as refused:
            curator.sql(f"SELECT COUNT(*) FROM t WHERE {oracle.format(who)}", epsilon=1).run()
        outcomes.add(str(refused.value).replace(who, ""))
    assert len(outcomes) == 1
    assert spent(curator) == 0


def test_smartnoise_a_failing_engine_costs_the_whole_price_and_says_nothing(
    held: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> Any:
        raise RuntimeError("some value 40.0 of ann")

    monkeypatch.setattr(DuckDBEngine, "integers", fails)
    curator = held([PLAIN])
    with pytest.raises(NoResultError) as refused:
        curator.sql("SELECT SUM(x) FROM t", epsilon="0.5").run()
    assert "40" not in str(refused.value)
    assert refused.value.__cause__ is None
    assert spent(curator) == 500_000_000


def test_smartnoise_one_question_costs_what_was_given_however_much_it_asks(held: Any) -> None:
    """COUNT and AVG at ε = 1 spent 3 there, and its odometer said more than was spent (621)."""
    curator = held([PLAIN])
    curator.sql("SELECT COUNT(*), AVG(x), SUM(k), MEDIAN(x), MODE(g) FROM t", epsilon=1).run()
    assert 0 <= 10**9 - spent(curator) <= 1
    for _ in range(3):
        curator.sql("SELECT COUNT(*) FROM t WHERE k > 3", epsilon="0.25").run()
    assert 0 <= 10**9 + 250_000_000 - spent(curator) <= 2  # the same question again is free


def test_smartnoise_repeats_of_one_count_are_one_answer_and_one_charge(held: Any) -> None:
    """Averaged, 200 answers told the count; here rewriting the text changes nothing either."""
    curator = held([PLAIN] * 20, epsilon=1)
    texts = ("SELECT COUNT(*) FROM t WHERE k > 0 AND x < 50", "select  count(*) from t v where 50 > v.x and 0 < v.k")
    found = {curator.sql(text, epsilon="0.6").run().columns[0].raw for _ in range(15) for text in texts}
    assert len(found) == 1
    with pytest.raises(BudgetError):
        curator.sql("SELECT COUNT(*) FROM t WHERE k > 1", epsilon="0.6").run()


def test_opendp_2945_and_2911_parts_add_up_to_the_charge(held: Any) -> None:
    curator = held([PLAIN])
    query = curator.sql("SELECT g, COUNT(*), SUM(x), MEDIAN(x), COUNT(DISTINCT f) FROM t GROUP BY g", epsilon="0.7")
    each = [price(part.event, "pure").loss for part in parts_of(query)]
    assert len(each) >= 3
    assert sum(each) == price(query.batch.design.event, "pure").loss <= Fraction("0.7")


def test_lomas_310_nothing_costs_nothing(held: Any) -> None:
    """Length was public everywhere, so that counting cost 0. What is not public costs; what is public is not sold."""
    private = held([PLAIN])
    for text in ("SELECT COUNT(*) FROM t", "SELECT COUNT(*) FROM t WHERE TRUE", "SELECT COUNT(*) FROM t WHERE 1 = 1"):
        query = private.sql(text, epsilon="0.5")
        assert price(query.batch.design.event, "pure").loss > 0
        query.run()
    public = held([PLAIN], further="adjacency: replace-one\nunits: 1\n")
    with pytest.raises(ArgumentError, match="public"):
        public.sql("SELECT COUNT(*) FROM t", epsilon=1).run()
    assert price(public.sql("SELECT COUNT(*) FROM t WHERE g = 'a'", epsilon=1).batch.design.event, "pure").loss > 0


@pytest.mark.parametrize("epsilon", ["0", "-1", "-0.0", "1e-400", "nan", "inf", "1e-13"])
def test_opacus_585_and_openmed_2457_odd_budgets_never_buy_less_noise(held: Any, epsilon: str) -> None:
    """No or negative ε, or one that vanishes in rounding, is refused or noised for it, and is never free."""
    curator = held([PLAIN])
    try:
        query = curator.sql("SELECT COUNT(*) FROM t", epsilon=epsilon)
        (part,) = parts_of(query)
    except ArgumentError:
        return
    assert isinstance(part, Measurement)
    assert part.noises[0].standard_deviation > 10**12
    query.run()
    assert spent(curator) >= 1  # rounded up to what the ledger counts in


def test_opendp_2789_the_last_digit_does_not_refuse_what_fits(held: Any) -> None:
    curator = held([PLAIN], epsilon=3)
    for at, epsilon in enumerate((0.1, 0.2, 0.7, 0.3, 0.7, 1.0)):
        curator.sql(f"SELECT COUNT(*) FROM t WHERE k > {at}", epsilon=epsilon).run()
    assert spent(curator) == 3 * 10**9


def test_diffprivlib_edges_and_bounds_are_never_read_off_the_data(held: Any) -> None:
    """Edges of bins are those of the contract or of the text, whatever the table holds."""
    rows = ([row(x=3.0), row(x=77.5)], [row(x=40.5)], [row(x=None)])
    text = "SELECT WIDTH_BUCKET(x, 0, 100, 4) AS b, COUNT(*) AS n FROM t GROUP BY 1"
    assert len({str(held(some).sql(text, epsilon=1).run().frame["b"]) for some in rows}) == 1


def test_diffprivlib_seeds_are_for_teaching_and_say_so(held: Any) -> None:
    curator = held([PLAIN])
    with pytest.raises(ArgumentError, match="repeated"):
        curator.sql("SELECT COUNT(*) FROM t", epsilon=1).run(bits=SeededBits(7))
    assert spent(curator) == 0
    assert not curator.sql("SELECT COUNT(*) FROM t", epsilon=1).run(bits=SeededBits(7), teaching=True).certifiable


def test_diffprivlib_and_smartnoise_where_nobody_is_the_answer_has_its_shape(held: Any) -> None:
    curator = held([PLAIN])
    text = "SELECT g, COUNT(*) AS n, AVG(x) AS a, MEDIAN(x) AS m, MODE(g) AS o FROM t WHERE {} GROUP BY g"
    shapes = {
        tuple((one.name, len(one.values)) for one in curator.sql(text.format(where), epsilon=1).run().columns)
        for where in ("k = 1", "k = 2", "FALSE")
    }
    assert len(shapes) == 1


def test_google_pr_405_nan_does_not_pass_the_clamp(held: Any) -> None:
    for nulls, wanted in (("drop", 0), ("refuse", 3 * 20)):
        rows = [row(x=value) for value in (float("nan"), None, float("-inf"))]
        curator = held(rows, low=20, nulls=nulls)
        assert exact(curator, "SELECT SUM(x) FROM t") == pytest.approx(wanted, abs=0.01)
        assert exact(curator, "SELECT SUM(COALESCE(x, 30)) FROM t") == pytest.approx(wanted or 90, abs=0.01)


def test_mironov_released_numbers_lie_on_a_grid_that_no_data_choose(held: Any) -> None:
    """Every noisy number is a whole number of public steps, in value and in what an answer shows."""
    for rows in ([row(x=33.3333), row(x=0.1)], [row(x=99.9)]):
        answer = held(rows).sql("SELECT SUM(x) AS a, SUM(f) AS b, COUNT(*) AS n FROM t", epsilon="0.1").run()
        for (
            column
        ) in answer.columns:  # all rows are read off sums of steps, as multiples of 1 over how many steps there are
            assert (Fraction(str(column.raw[0])) * 200 * 1000).denominator == 1


def test_casacuberta_sums_do_not_hang_on_the_order_of_rows(held: Any) -> None:
    """With floats 1e16 + 1 − 1e16 depends on the order (`test_exact_numbers_do_not_hang_on_the_order_of_rows`); a bound
    that 64 bits may not hold is refused by itself."""
    rows = [row(k=10**9, x=0.5), row(k=-(10**9), x=99.5), row(k=1, x=33.5)]
    assert exact(held(rows), "SELECT SUM(x) FROM t") == exact(held(rows[::-1]), "SELECT SUM(x) FROM t") == 133.5
    with pytest.raises(ArgumentError, match="64 bits"):
        held(rows).sql("SELECT SUM(k * k * k) FROM t", epsilon=1).run()


def test_casacuberta_whole_numbers_at_the_ends_of_64_bits_do_not_wrap(held: Any) -> None:
    rows = [row(k=2**63 - 1), row(k=-(2**63)), row(k=2**63 - 1)]
    assert exact(held(rows), "SELECT SUM(k) FROM t") == pytest.approx(10**9, rel=1e-3)
    assert exact(held(rows), "SELECT SUM(ABS(k)) FROM t") == pytest.approx(3 * 10**9, rel=1e-3)


def test_pysyft_6914_less_noise_is_not_had_for_less(held: Any) -> None:
    """Half the ε: twice the noise; and noise never falls when the charge does."""
    curator = held([PLAIN])
    scales = []
    for epsilon in ("2", "1", "0.5"):
        event = curator.sql("SELECT SUM(x) FROM t", epsilon=epsilon).batch.design.event
        assert isinstance(event, Noise)
        scales.append(event.scale)
    assert scales == [100, 200, 400]


def test_opendp_postprocessors_what_comes_after_the_noise_runs_no_code_of_the_analyst(held: Any) -> None:
    curator = held([PLAIN])
    for term in ("read_text('/etc/passwd')", "(SELECT MAX(x) FROM t)", "getenv('HOME')", "list_transform([1], a -> a)"):
        with pytest.raises(ArgumentError):
            curator.sql(f"SELECT COUNT(*) + LENGTH({term}) FROM t", epsilon=1).run()
    assert spent(curator) == 0


def test_pipeline_dp_rows_and_groups_of_a_person_hold_together(held: Any) -> None:
    """5 rows in all and 3 groups at once: nobody counts with more than either."""
    unit = "{person: p, rows: 5, groups: 3}"
    curator = held([row(g=key) for key in ("a", "b", "c")] * 40, unit=unit)
    answer = curator.sql("SELECT g, COUNT(*) AS n FROM t GROUP BY g", epsilon=300_000).run()
    assert sum(float(value) for value in answer.columns[1].raw) == pytest.approx(5, abs=0.01)


def test_diffprivlib_choices_of_keys_have_the_noise_of_their_price(held: Any) -> None:
    """The utility of a sum is bounded by the contract, not by the largest sum in the table."""
    for text in ("SELECT ARG_MAX(g, SUM(x)) FROM t", "SELECT MODE(g) FROM t", "SELECT MEDIAN(x) FROM t"):
        (part,) = parts_of(held([PLAIN]).sql(text, epsilon=1))
        assert isinstance(part, Favourites | Ranks)
        assert price(part.event, "pure").loss == 1


def test_a_draft_read_off_the_data_answers_nothing(held: Any) -> None:
    """Bounds that came from the data are no public facts."""
    curator = held([PLAIN])
    agreed = curator.contract("t")
    assert agreed is not None
    drafted = Contract.from_yaml(agreed.to_yaml() + "status: drafted\n")
    with pytest.raises(ContractError, match="draft"):
        _declared_and_asked(curator, drafted)


def _declared_and_asked(curator: Curator, facts: Contract) -> None:
    curator.declare(facts)
    curator.sql("SELECT COUNT(*) FROM t", epsilon=1).run()
