"""The whole assessment: what it says, and what it answers to odd tables and bad arguments."""

from __future__ import annotations

import datetime
import json

import pytest

from discreet.draw.chart import Chart
from discreet.errors import ArgumentError, UnknownNameError
from discreet.risk.classes import Classes
from discreet.risk.combinations import widest
from discreet.risk.diversity import measure_diversity
from discreet.risk.uniqueness import Uniqueness, assess
from tests.risk.stored import stored

PEOPLE: dict[str, list[object]] = {
    "age": [34, 34, 34, 51, 51, 70],
    "sex": ["f", "f", "m", "m", "m", "f"],
    "town": ["Őr", "Őr", "名", "名", "a\nb", "'; DROP TABLE rows; --"],
    "illness": ["flu", "flu", "flu", "asthma", "flu", "none"],
}


def assessed(**options: object) -> Uniqueness:
    with stored(PEOPLE) as (engine, table):
        return assess(engine, table, ["age", "sex"], sensitive=["illness"], **options)  # type: ignore[arg-type]


def test_everything_at_once() -> None:
    heard: list[str] = []
    found = assessed(progress=heard.append)
    assert found.classes.sizes == ((1, 2), (2, 2))
    assert [step.unique for step in found.growth] == [1, 2]
    assert [(one.columns, one.unique, one.minimal) for one in found.combinations.riskiest] == [
        (("age", "sex"), 2, 1),
        (("age",), 1, 1),
        (("sex",), 0, 0),
    ]
    assert found.combinations.by_size == ((1, 1), (2, 1))
    assert found.diversity[0].distinct_l == 1
    assert found.diversity[0].spread == ((1, 3, 4), (2, 1, 2))
    assert heard == ["growth", "combinations", "diversity of illness"]


def test_json_is_plain_and_agrees() -> None:
    found = assessed()
    read = json.loads(json.dumps(found.as_json()))
    assert read["records"] == 6
    assert (read["unique"], read["k"], read["below"]) == (2, 1, {"2": 2, "3": 6, "5": 6, "10": 6})
    assert read["unique_share"] == pytest.approx(1 / 3)
    assert [step["quasi"] for step in read["growth"]] == [["age"], ["age", "sex"]]
    assert read["diversity"][0]["given_away"] == 4


def test_grids_and_charts_hold_the_figures() -> None:
    found = assessed()
    summary, growth, sizes, combinations, special, diversity = found.grids()
    assert list(summary.rows[2]) == ["unique records", 2, 2 / 6]
    assert [row[2] for row in growth.rows] == [1, 2]
    assert [row[:3] for row in sizes.rows] == [("1", 2, 2), ("2", 2, 4)]
    assert combinations.rows[0][:2] == ("age × sex", 2)
    assert special.rows[-1][:2] == ("one needs sex", 1)
    assert diversity.rows[0][:2] == ("illness", 1)
    curve, bars, riskiest = found.charts()
    assert isinstance(curve, Chart)
    assert curve.marks[0].y == (pytest.approx(1 / 6), pytest.approx(1 / 3))  # type: ignore[union-attr]
    assert bars.marks[0].y == (2, 4)  # type: ignore[union-attr]
    assert riskiest.marks[0].y == ("age × sex", "age", "sex")  # type: ignore[union-attr]


def test_sentences_name_figure_and_baseline() -> None:
    unique, small, worst, special, given_away, far, caveat = assessed().sentences()
    assert "2 of 6 records (33.3" in unique
    assert "On age alone it is 16.7" in unique
    assert "6 of 6 records" in small
    assert "age and sex single out the most" in worst
    assert "2 of 6 records" in special
    assert special.count("2 or fewer") == 1, "sets of up to 2 are said once"
    assert "4 of 6 records" in given_away
    assert "right for 66.7" in given_away
    assert "83.3" in far
    assert "population" in caveat


def test_empty_table() -> None:
    with stored({"a": [], "b": []}) as opened:
        found = assess(*opened, ["a"], sensitive=["b"])
    assert (found.classes.records, found.classes.count, found.classes.k, found.classes.unique_share) == (
        0,
        0,
        None,
        0.0,
    )
    one = found.diversity[0]
    assert (one.distinct_l, one.entropy_l, one.t_equal, one.t_ordered, one.values) == (None, None, None, None, 0)
    assert found.charts() == ()
    assert found.sentences() == ("The table holds no records, so nobody can stand out in it.",)
    assert all(grid.text() for grid in found.grids())
    assert json.dumps(found.as_json())


def test_one_row_is_unique_and_gives_itself_away() -> None:
    with stored({"a": [1], "b": [2.5]}) as opened:
        found = assess(*opened, ["a"], sensitive=["b"])
    assert (found.classes.unique, found.classes.k, found.combinations.special) == (1, 1, 1)
    assert (found.diversity[0].given_away, found.diversity[0].t_equal, found.diversity[0].t_ordered) == (1, 0.0, 0.0)


def test_constant_column_singles_out_nobody() -> None:
    with stored({"a": ["x"] * 7, "b": [1, 1, 1, 1, 2, 2, None]}) as opened:
        found = assess(*opened, ["a"], sensitive=["b"])
    assert (found.classes.k, found.classes.unique, found.combinations.special) == (7, 0, 0)
    assert (found.diversity[0].distinct_l, found.diversity[0].t_equal, found.diversity[0].t_ordered) == (3, 0.0, 0.0)


def test_names_and_values_of_any_script() -> None:
    strange: dict[str, list[object]] = {
        "'; --": ["\N{GREEK SMALL LETTER ALPHA}", "", None],
        'a"b\n': ["\U0001f600", "\u202e", "\x01"],
    }
    with stored(strange) as opened:
        found = assess(*opened, list(strange))
    assert found.classes.unique == 3
    assert "\n" not in found.grids()[0].text().splitlines()[0]
    with stored(PEOPLE) as opened:
        assert assess(*opened, ["town"]).classes.sizes == ((1, 2), (2, 2))


def test_dates_have_an_order() -> None:
    days = [datetime.date(2020, 1, day) for day in (1, 2, 3, 3)]
    with stored({"a": [1, 1, 2, 2], "day": days}) as opened:
        found = measure_diversity(*opened, ["a"], "day")
    assert found.t_equal == pytest.approx(0.5)
    assert found.t_ordered == pytest.approx((1 / 4 + 1 / 2) / 2)


def test_entropy_and_order_can_be_left_out() -> None:
    with stored({"a": [1, 1], "b": [1, 2]}) as opened:
        found = measure_diversity(*opened, ["a"], "b", entropy=False, order=False)
    assert (found.distinct_l, found.entropy_l, found.t_ordered) == (2, None, None)


@pytest.mark.parametrize(
    ("quasi", "options", "kind", "words"),
    [
        (["agee"], {}, UnknownNameError, "did you mean age"),
        (["age"], {"sensitive": ["illnes"]}, UnknownNameError, "did you mean illness"),
        (["age", "age"], {}, ArgumentError, "quasi: the same entry twice"),
        ([], {}, ArgumentError, "quasi: nothing"),
        (["age"], {"sensitive": ["age"]}, ArgumentError, "also among the quasi columns"),
        (["age"], {"sensitive": ["sex", "sex"]}, ArgumentError, "sensitive: the same entry twice"),
        (["age"], {"thresholds": []}, ArgumentError, "thresholds: nothing"),
        (["age"], {"thresholds": [1]}, ArgumentError, "at least 2"),
        (["age"], {"special_size": 0}, ArgumentError, "special_size"),
    ],
)
def test_bad_arguments_are_named(
    quasi: list[str], options: dict[str, object], kind: type[Exception], words: str
) -> None:
    heard: list[str] = []
    with stored(PEOPLE) as (engine, table), pytest.raises(kind, match=words):
        assess(engine, table, quasi, progress=heard.append, **options)  # type: ignore[arg-type]
    assert heard == []


def test_too_many_combinations_are_refused_before_reading() -> None:
    wide: dict[str, list[object]] = {f"column {at}": [1] for at in range(40)}
    heard: list[str] = []
    with stored(wide) as opened, pytest.raises(ArgumentError, match="40 columns are 10,700; up to 1,000 sets"):
        assess(*opened, list(wide), special_size=3, progress=heard.append)
    assert heard == []


@pytest.mark.parametrize(("columns", "largest"), [(2, 2), (18, 3), (19, 2), (44, 2), (45, 1), (62, 1)])
def test_without_a_size_as_many_columns_as_are_cheap(columns: int, largest: int) -> None:
    assert widest([f"column {at}" for at in range(columns)]) == largest


@pytest.mark.parametrize(("classes", "largest"), [(1_000_000, 3), (2_500_000, 2), (10_000_000, 1)])
def test_many_classes_are_laid_beside_fewer_sets(classes: int, largest: int) -> None:
    assert widest([f"column {at}" for at in range(4)], classes) == largest


def test_more_columns_than_are_searched_are_refused() -> None:
    with pytest.raises(ArgumentError, match="up to 62 columns"):
        widest([f"column {at}" for at in range(63)])


@pytest.mark.parametrize("sizes", [((2, 1), (1, 1)), ((1, 1), (1, 2)), ((0, 1),), ((1, 0),)])
def test_impossible_classes_do_not_exist(sizes: tuple[tuple[int, int], ...]) -> None:
    with pytest.raises(ValueError, match="sizes"):
        Classes(quasi=("a",), sizes=sizes)
