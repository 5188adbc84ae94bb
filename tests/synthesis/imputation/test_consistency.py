"""Augmented copies keep edit rules and bounds, whether cells are missing or not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from discreet.errors import ArgumentError, CheckFailedError
from discreet.randomness import keyed_generator
from discreet.synthesis.imputation.augmentation import fit_augmented, synthesize_augmented
from discreet.synthesis.imputation.columns import Columns, read_columns
from discreet.synthesis.imputation.consistency import RuleKeeper
from discreet.synthesis.imputation.masks import NoMask
from discreet.synthesis.imputation.posterior import Schedule

QUICK = Schedule(chains=1, burn=80, thin=10)
RULE = "married requires age >= 15"


def families(share: float = 0.0) -> Columns:
    random = np.random.default_rng(7)
    age = random.integers(0, 80, 400)
    married = (age >= 15) & (random.random(400) < 0.6)
    table: dict[str, list[Any]] = {"age": age.tolist(), "married": np.where(married, "yes", "no").tolist()}
    for name, values in table.items():
        table[name] = [None if random.random() < share else value for value in values]
    table["income"] = (20 * age + random.normal(0, 100, 400)).round().tolist()
    return read_columns(table, kinds={"age": "continuous"})


def broken(frame: Any) -> int:
    return sum(age < 15 and married == "yes" for age, married in zip(frame["age"], frame["married"], strict=True))


@pytest.mark.parametrize("perturb", [["age"], ["age", "married"], ["married"]])
@pytest.mark.parametrize("share", [0.0, 0.2])
def test_rules_hold_in_every_augmented_copy(perturb: list[str], share: float) -> None:
    columns = families(share)
    masks = dict.fromkeys(perturb, NoMask())
    fit = fit_augmented(columns, draws=4, schedule=QUICK)
    free = fit.copies(perturb=perturb, copies=4, masks=masks)
    bound = fit.copies(perturb=perturb, copies=4, masks=masks, rules=[RULE], bounds={"age": (5, 70)})
    assert sum(map(broken, free)) > 0  # the copula knows nothing of the rule
    assert sum(map(broken, bound)) == 0
    assert all(None not in frame["age"] for frame in bound)
    if "age" in perturb:
        assert {min(min(frame["age"]) for frame in bound), max(max(frame["age"]) for frame in bound)} <= {5, 70}
    for frame in bound:
        stays = next(iter({"age", "married"} - set(perturb)), "income")
        there = ~columns.column(stays).missing
        kept = [new == old for new, old, seen in zip(frame[stays], columns.source[stays], there, strict=True) if seen]
        assert all(kept)


def test_redrawn_rows_have_the_law_given_the_rule() -> None:
    """A coin and the sign of a number, both fair and independent: given the rule three of four pairs are left."""
    random = np.random.default_rng(3)
    columns = read_columns({"a": random.normal(0, 1, 8000).round(3).tolist(), "b": [0, 1] * 4000})
    rules = RuleKeeper.of(read_columns({"a": [1.0, 2.5], "b": [0, 1]}), ["b requires a > 0"], {}).rules
    keeper = RuleKeeper(columns=columns, rules=rules, bounds={})
    whole = {column.name: column.values for column in columns.columns}

    def draw(rows: np.ndarray | None) -> dict[str, np.ndarray]:
        size = columns.rows if rows is None else len(rows)
        return {"a": random.standard_normal(size).round(3), "b": random.integers(0, 2, size).astype(float)}

    made = keeper.kept(whole, draw)
    assert np.mean(made["b"]) == pytest.approx(1 / 3, abs=0.025)
    assert np.mean(made["a"] > 0) == pytest.approx(2 / 3, abs=0.025)


def test_rules_that_cannot_be_kept_are_refused() -> None:
    columns = families()
    with pytest.raises(ArgumentError, match="break it"):
        synthesize_augmented(columns, perturb=["age"], copies=1, schedule=QUICK, rules=["age > 40"])
    keeper = RuleKeeper.of(columns, [RULE], {})
    whole = {column.name: column.values for column in columns.columns}
    with pytest.raises(CheckFailedError, match="no draw keeps"):
        keeper.kept(whole, lambda rows: {"age": np.zeros(columns.rows if rows is None else len(rows))})


def test_filled_cells_that_break_a_rule_come_from_another_draw_or_record() -> None:
    columns = read_columns({"age": [10, 30, 12, 50], "married": [None, "yes", "no", "no"]}, kinds={"age": "continuous"})
    keeper = RuleKeeper.of(columns, [RULE], {})
    yes, no = ({"married": np.array([code])} for code in (1.0, 0.0))
    assert keeper.completed([yes, no], keyed_generator(1))["married"].tolist() == [0, 1, 0, 0]
    assert keeper.completed([yes], keyed_generator(1))["married"].tolist() == [0, 1, 0, 0]
    never = read_columns({"age": [10, 30, 31, 50], "married": [None, "yes", "yes", "no"]}, kinds={"age": "continuous"})
    strict = RuleKeeper.of(never, ["age < 20 requires married is missing"], {})
    with pytest.raises(CheckFailedError, match="cannot be filled"):
        strict.completed([no], keyed_generator(1))
