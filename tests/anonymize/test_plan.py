"""Plans and their effect: steps undone, replayed from files, and what the report counts."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from discreet.anonymize.hierarchy import Hierarchy
from discreet.anonymize.plan import STEPS, Plan, Protection
from discreet.anonymize.records import Records
from discreet.anonymize.report import measure_effect
from discreet.draw.chart import Bars
from discreet.errors import DiscreetError
from tests.anonymize.tables import invented

SIZES = {"a": 6, "b": 4, "s": 3}
TREES = {"a": Hierarchy.intervals("a", low=0, high=5, widths=[2, 4])}
ARGUMENTS: dict[str, dict[str, Any]] = {
    "generalize": {"quasi": ["a", "b"], "k": 4, "limit": 0.2},
    "suppress": {"quasi": ["a", "b"], "k": 3},
    "top_code": {"column": "a", "bound": 3},
    "bottom_code": {"column": "a", "bound": 1},
    "noise": {"column": "a", "share": 2.0},
    "pram": {"column": "b", "keep": 0.5},
    "microaggregate": {"columns": ["a", "b"], "k": 4},
    "rank_swap": {"column": "a", "window": 0.3},
    "record_swap": {"regions": ["a"], "risk": ["b"], "similar": ["s"], "rate": 0.3},
    "drop": {"columns": ["s"]},
}


def begun(seed: int = 1) -> Protection:
    return Protection.begin(invented(seed, 80, SIZES), table="people", hierarchies=TREES)


@pytest.mark.parametrize("verb", sorted(STEPS))
def test_every_step_changes_a_copy_and_is_undone(verb: str) -> None:
    first = begun()
    before = first.original.as_lists()
    made = first.apply(verb, **ARGUMENTS[verb])
    assert made.records.as_lists() != before
    assert made.original.as_lists() == before == made.undo().records.as_lists()
    assert made.undo().redo().records.as_lists() == made.records.as_lists()
    assert made.undo().plan.steps == ()
    assert made.records.rows == len(made.rows)


def test_undo_and_redo_keep_their_order() -> None:
    two = begun().apply("top_code", column="a", bound=3).apply("suppress", quasi=["a", "b"], k=3)
    assert [step.verb for step in two.plan.steps] == ["top_code", "suppress"]
    back = two.undo().undo()
    assert back.redo().plan.steps[0].verb == "top_code"
    assert [step.verb for step in back.redo().redo().plan.steps] == ["top_code", "suppress"]
    other = back.redo().apply("drop", columns=["s"])
    with pytest.raises(DiscreetError, match="no step that was undone"):
        other.redo()
    with pytest.raises(DiscreetError, match="undo: no step"):
        begun().undo()


def test_a_plan_file_replays_the_same_records(tmp_path: Path) -> None:
    made = begun().apply("top_code", column="b", bound=2).apply("generalize", **ARGUMENTS["generalize"])
    for path, content in made.plan.files().items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_bytes(content)
    plan = Plan.read(tmp_path / "plan.yaml")
    assert plan.table == "people"
    assert plan.steps == made.plan.steps
    assert plan.hierarchies == made.plan.hierarchies == TREES
    again = Protection.begin(made.original, table="people").run(plan)
    assert again.records.as_lists() == made.records.as_lists()
    assert again.figures == made.figures


def test_a_plan_draws_chance_anew() -> None:
    plan = begun().apply("noise", column="a", share=5.0).plan
    assert begun().run(plan).records.as_lists() != begun().run(plan).records.as_lists()


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("table: x", "no list of steps"),
        ("steps: [suppress]", "step 1 is not one verb"),
        ("steps: [{suppress: 3}]", "arguments of step 1"),
        ("steps: [{vanish: {}}]", "step 'vanish'"),
        ("steps: [{suppress: {k: 3}}]", "no quasi"),
        ("steps: [{suppress: {quasi: [a], seed: 1}}]", "argument of suppress 'seed'"),
        ("steps: [", "no list of steps"),
    ],
)
def test_broken_plans_are_refused(tmp_path: Path, text: str, wrong: str) -> None:
    (tmp_path / "plan.yaml").write_text(text)
    with pytest.raises(DiscreetError, match=wrong):
        Plan.read(tmp_path / "plan.yaml")


def test_effect_counts_what_is_there() -> None:
    made = begun().apply("generalize", **ARGUMENTS["generalize"])
    found = measure_effect(made)
    assert found.quasi == ("a", "b")
    for exposure, records in ((found.before, made.original), (found.after, made.records)):
        classes = Counter(zip(records.column("a").listed(), records.column("b").listed(), strict=True))
        assert exposure.records == records.rows == sum(classes.values())
        assert exposure.classes == len(classes)
        assert exposure.smallest == min(classes.values())
        assert exposure.unique == sum(size for size in classes.values() if size == 1)
        assert exposure.hits == pytest.approx(sum(1 / size * size for size in classes.values()) / records.rows)
        assert sum(exposure.bands) == records.rows
    assert found.after.smallest >= 4
    kept = made.original.taken(made.rows)
    for row in found.costs:
        pairs = zip(kept.column(str(row[0])).listed(), made.records.column(str(row[0])).listed(), strict=True)
        assert row[1] == pytest.approx(sum(one != other for one, other in pairs) / made.records.rows)
    assert "left out" in found.sentences()[2]
    risk, cost = found.grids()
    assert [row[1:] for row in risk.rows[:2]] == [(80, made.records.rows), (found.before.classes, found.after.classes)]
    assert len(cost.rows) == 3
    sizes, shares = found.charts()
    assert isinstance(sizes.marks[0], Bars)
    assert sizes.marks[0].y == found.before.bands
    assert shares.marks[0].places("y", False)
    page = found.page().html()
    assert "generalize" in page
    assert "measured" in page.lower()
    assert found.as_json()["family"] == "measured risk"


def test_effect_warns_of_columns_that_tell_all_apart() -> None:
    records = Records.of({"a": [1, 1, 2, 2], "name": ["w", "x", "y", "z"], "s": [1, 1, 1, 2]})
    made = Protection.begin(records).apply("suppress", quasi=["a"], k=2)
    assert "a value of its own in name:" in measure_effect(made).sentences()[-1]
    assert len(measure_effect(made.apply("drop", columns=["name"])).sentences()) == 3


def test_effect_needs_columns() -> None:
    made = begun().apply("drop", columns=["s"])
    with pytest.raises(DiscreetError, match="quasi"):
        measure_effect(made)
    assert measure_effect(made, ["a"]).quasi == ("a",)


@pytest.mark.requirement("0.04")
def test_every_family_has_a_method_and_names_its_kind() -> None:
    """Synthetic data and differential privacy are the two families of their own; the older methods are all steps here.

    k-anonymity by generalising and suppressing, swapping, top- and bottom-coding are run; federated learning moves
    computation and is no protection of a release, so it is named in the guide and not offered.
    """
    named = {"generalize", "suppress", "rank_swap", "record_swap", "top_code", "bottom_code"}
    assert named <= set(STEPS)
    guide = (Path(__file__).parents[2] / "docs" / "guides" / "protect.md").read_text()
    for word in (
        "synthetic data",
        "differential privacy",
        "k-anonymity",
        "swapping",
        "op- and bottom-coding",
        "ederated",
    ):
        assert word in guide
    effect = measure_effect(begun().apply("suppress", quasi=["a", "b"], k=2))
    assert all(chart.family == "measured risk" for chart in effect.charts())


def test_records_of_nothing_have_no_exposure() -> None:
    made = Protection.begin(Records.of({"a": [1, 2], "s": [1, 1]})).apply("generalize", quasi=["a"], k=2, limit=1.0)
    assert measure_effect(made).after.records in (0, 2)
