"""Copies a curator makes: read through its engine, kept in its folder, published with a note that receipts name."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import statsmodels.api as sm

from discreet.accounting.outside import OUTSIDE
from discreet.cli.main import main
from discreet.copying import Masking, held_copies
from discreet.curator import Curator
from discreet.errors import ArgumentError, CheckFailedError, ContractError, FileError, UnknownNameError
from discreet.stats.combine import Rule
from discreet.stats.survey import Sampling
from discreet.synthesis.imputation.plan import Settings
from discreet.synthesis.imputation.posterior import Schedule

RANDOM = np.random.default_rng(21)
N = 300
AGE = RANDOM.integers(0, 90, N)
TABLE: dict[str, list[Any]] = {
    "name": [f"person {row}" for row in range(N)],
    "age": AGE.tolist(),
    "married": np.where((AGE > 15) & (RANDOM.random(N) < 0.5), "yes", "no").tolist(),
    "cost": np.round(50 + AGE + RANDOM.normal(0, 20, N), 2).tolist(),
    "weight": RANDOM.uniform(1, 2, N).round(3).tolist(),
    "seen": [f"2020-01-{1 + row % 28:02d}" for row in range(N)],
}
CONTRACT = """
table: visits
unit: row
population: patients
columns:
  name: {type: text, role: direct identifier}
  age: {type: integer, low: 0, high: 80}
  married: {type: category, keys: ["no", "yes"]}
  cost: {type: decimal, step: 0.01, low: 0, high: 1000}
  weight: {type: decimal, step: 0.001, low: 0, high: 10, role: weight}
  seen: {type: date}
"""


@pytest.fixture
def curator(tmp_path: Path) -> Curator:
    held = Curator.create(tmp_path / "clinic")
    pd.DataFrame(TABLE).to_csv(tmp_path / "visits.csv", index=False)
    (tmp_path / "visits.yaml").write_text(CONTRACT)
    held.add(tmp_path / "visits.csv", contract=tmp_path / "visits.yaml", epsilon=1)
    return held


def test_copies_are_drawn_from_what_the_contract_lets_out_and_are_kept(curator: Curator) -> None:
    rules = ["married requires age >= 16"]
    copies = curator.copies("visits", perturb=["age", "cost"], copies=3, rules=rules)
    assert copies.release == "visits-copies-1"
    assert (copies.rule, copies.perturbed, len(copies)) == (Rule.PARTIAL, ("age", "cost"), 3)
    for made in copies:
        assert made.column_names == ["age", "married", "cost", "weight", "seen"]  # no name
        plain = made.to_pydict()
        assert plain["married"] == TABLE["married"]
        assert plain["weight"] == TABLE["weight"]
        assert [str(day) for day in plain["seen"]] == TABLE["seen"]
        assert max(plain["age"]) == 80  # the contract's bound
        assert all(age >= 16 for age, married in zip(plain["age"], plain["married"], strict=True) if married == "yes")
    assert copies.notes == ("age: cells of the table beyond its bounds are brought there in the copies",)
    again = curator.made_copies("visits-copies-1")
    assert all(one.equals(other) for one, other in zip(again, copies, strict=True))
    assert (again.notes, again.rule, again.method) == (copies.notes, copies.rule, copies.method)
    assert curator.copies("visits", perturb=["age"], copies=2).release == "visits-copies-2"
    assert held_copies(curator) == ("visits-copies-1", "visits-copies-2")
    place = curator.folder / "releases" / "visits-copies-1"
    assert all(path.stat().st_mode & 0o077 == 0 for path in (place, *place.iterdir()))


def test_copies_have_no_epsilon(curator: Curator) -> None:
    with pytest.raises(ArgumentError, match="measured risk, not differential privacy"):
        curator.copies("visits", perturb=["age"], epsilon=1)
    assert not held_copies(curator)


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_copies_come_back_as_the_kind_the_table_came_in(tmp_path: Path, kind: str) -> None:
    curator = Curator.create(tmp_path / "c")
    columns = {name: TABLE[name] for name in ("age", "married", "cost")}
    curator.add(pd.DataFrame(columns) if kind == "pandas" else pl.DataFrame(columns), name="t")
    (copy,) = curator.copies("t", copies=1, perturb=["cost"])
    assert isinstance(copy, pd.DataFrame if kind == "pandas" else pl.DataFrame)


def test_everything_is_replaced_but_design_and_dates_are_refused(curator: Curator, tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="'seen'"):
        curator.copies("visits", copies=2)
    with pytest.raises(ArgumentError, match="design"):
        curator.copies("visits", perturb=["weight"], copies=2)
    two = CONTRACT.replace(
        "{type: decimal, step: 0.01, low: 0, high: 1000}", "{type: decimal, step: 0.01, role: weight}"
    )
    curator.declare(curator.read_contract(_file(tmp_path, two)))
    with pytest.raises(ContractError, match="2 columns of the role weight"):
        curator.copies("visits", perturb=["age"], copies=2)


def _file(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "other.yaml"
    path.write_text(text)
    return path


def test_publishing_notes_it_before_a_file_is_written(curator: Curator, tmp_path: Path) -> None:
    release = curator.copies("visits", perturb=["age"], copies=2).release
    before = curator.ledger.entries(kind=OUTSIDE)
    taken = tmp_path / "taken"
    taken.mkdir()
    (taken / "file").write_text("")
    with pytest.raises(FileError):
        curator.publish_copies(release, taken)
    assert curator.ledger.entries(kind=OUTSIDE) == before == ()
    found = curator.publish_copies(release, tmp_path / "out", form="parquet")
    assert "copy-02.parquet" in found.files
    assert curator.ledger.outside("patients") == (f"2 copies of visits, {release}",)


def test_nothing_is_written_where_the_ledger_cannot_note_it(
    curator: Curator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = curator.copies("visits", perturb=["age"], copies=2).release

    def refuse(*_: object) -> int:
        raise CheckFailedError("ledger", found="no", right="yes", step="none")

    monkeypatch.setattr(type(curator.ledger), "note", refuse)
    with pytest.raises(CheckFailedError):
        curator.publish_copies(release, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_seeded_copies_are_not_published(curator: Curator, tmp_path: Path) -> None:
    one, two = (curator.copies("visits", perturb=["age"], copies=2, seed=3) for _ in range(2))
    assert [frame.to_pydict() for frame in one] == [frame.to_pydict() for frame in two]
    assert "do not publish" in repr(curator.made_copies(one.release))
    with pytest.raises(CheckFailedError, match="seed"):
        curator.publish_copies(one.release, tmp_path / "out")
    assert not curator.ledger.outside("patients")


def test_fits_are_pooled_and_stand_beside_the_original(curator: Curator) -> None:
    copies = curator.copies("visits", perturb=["cost"], copies=5)
    later = (2 * AGE + RANDOM.normal(0, 1, N)).tolist()
    pooled = copies.fit("later ~ age + cost", joined={"later": later})
    assert pooled.names == ("Intercept", "age", "cost")
    assert pooled.estimate[1] == pytest.approx(2, abs=0.05)
    beside = copies.compare("cost ~ age", family="ols")
    # The contract has a weight: it counts, and the variance is the design's, for the original as for the copies.
    cost, heavy = np.array(TABLE["cost"]), np.array(TABLE["weight"])
    slope = np.polyfit(AGE, cost, 1, w=np.sqrt(heavy))[0]
    assert beside.coefficients[1].original[1] == pytest.approx(slope)
    x = np.column_stack([np.ones(N), AGE])
    oracle = sm.WLS(cost, x, weights=heavy).fit(cov_type="HC0").bse[1] * np.sqrt(N / (N - 1))
    assert beside.coefficients[1].standard_error == pytest.approx(oracle)
    assert curator.made_copies(copies.release).sampling == copies.sampling == Sampling(weight="weight")
    assert beside.overlap > 0.3


def test_copies_of_a_version_that_is_gone_are_not_set_beside_another(curator: Curator, tmp_path: Path) -> None:
    copies = curator.copies("visits", perturb=["age"], copies=2)
    curator.refresh("visits", tmp_path / "visits.csv")
    with pytest.raises(CheckFailedError, match="version 2"):
        copies.compare("cost ~ age")
    assert copies.fit("cost ~ age").copies == 2


def test_half_made_copies_are_not_there(curator: Curator) -> None:
    release = curator.copies("visits", perturb=["age"], copies=2).release
    (curator.folder / "releases" / release / "record.json").unlink()
    with pytest.raises(UnknownNameError):
        curator.made_copies(release)
    assert curator.copies("visits", perturb=["age"], copies=2).release == "visits-copies-2"


def test_the_command_makes_exports_and_publishes(
    curator: Curator, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = ["--curator", str(curator.folder)]
    words = ["copies", "visits", "--perturb", "age,cost", "--copies", "2", "--rule", "married requires age >= 16"]
    assert main([*words, "--out", str(tmp_path / "o"), "--format", "spss", *where]) == 0
    said = capsys.readouterr()
    assert said.out == "visits-copies-1\n"
    assert "MEASURED RISK, NOT DIFFERENTIAL PRIVACY" in said.err
    assert sorted(path.name for path in (tmp_path / "o").iterdir())[1] == "copy-01.sav"
    assert not curator.ledger.outside("patients")
    assert main(["publish-copies", "visits-copies-1", "--out", str(tmp_path / "p"), *where]) == 0
    published = capsys.readouterr().err
    assert "outside the guarantee" in published
    assert "MEASURED RISK, NOT DIFFERENTIAL PRIVACY" in published
    assert curator.ledger.outside("patients")
    assert main(["copies", "visits", "--epsilon", "1", *where]) == 2
    assert "measured risk" in capsys.readouterr().err
    record = json.loads((curator.folder / "releases" / "visits-copies-1" / "record.json").read_text())
    assert record["rule"] == "partial"


def test_settings_reach_the_synthesis(curator: Curator) -> None:
    settings = Settings(proper=False, smooth=False, order=["cost", "age"])
    copies = curator.copies("visits", perturb=["age", "cost"], copies=1, settings=settings, method="cart")
    assert copies.perturbed == ("cost", "age")
    assert set(copies.frames[0]["cost"].to_pylist()) <= set(TABLE["cost"])


QUICK = Schedule(chains=1, burn=60, thin=10)


def test_the_command_runs_chains_as_long_as_asked_and_says_how_they_agree(
    curator: Curator, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["copies", "visits", "--method", "dami", "--perturb", "age", "--copies", "2", "--curator"]
    effective = []
    for sweeps in ("30,4", "600,4"):
        assert main([*words, str(curator.folder), "--sweeps", sweeps]) == 0
        said = capsys.readouterr().err
        effective.append(float(said.split("effective draws are at least ")[1].split(";")[0].split(".")[0]))
    assert effective[0] < effective[1]
    for wrong, says in (
        ("30", "two whole numbers"),
        ("30,4,4", "two whole numbers"),
        ("x,4", "--sweeps"),
        ("30,1", "thin"),
    ):
        assert main([*words, str(curator.folder), "--sweeps", wrong]) == 2
        assert says in capsys.readouterr().err


def test_dami_takes_masks_and_refuses_what_it_does_not_look_at(curator: Curator) -> None:
    masking = Masking(masks={"age": 0.001}, schedule=QUICK)
    close = curator.copies("visits", method="dami", perturb=["age", "married"], copies=2, masks=masking)
    assert (close.method, close.rule) == ("dami", Rule.PARTIAL)
    assert np.abs(np.array(close.frames[0]["age"].to_pylist()) - np.minimum(AGE, 80)).mean() < 2
    assert max(close.frames[0]["age"].to_pylist()) <= 80  # the contract's bound
    assert close.frames[0]["cost"].to_pylist() == TABLE["cost"]
    for wrong in ({"perturb": None}, {"perturb": ["weight"]}, {"settings": Settings(proper=False)}):
        with pytest.raises(ArgumentError):
            curator.copies("visits", **{"method": "dami", "perturb": ["age"], "copies": 2, **wrong})  # type: ignore[arg-type]
    for method, masks, says in (
        ("cart", {"age": 1.0}, "nothing to mask"),
        ("dami", {"age": (1.0, 2.0)}, "several for one column"),
        ("selective", {}, "treats records by their risk"),
    ):
        with pytest.raises(ArgumentError, match=says):
            curator.copies("visits", perturb=["age"], copies=2, method=method, masks=masks)


def test_records_are_masked_by_their_risk_or_by_the_ways_to_compare_with(curator: Curator) -> None:
    masking = Masking(quasi=["age", "married"], within={"age": 1}, least=4, schedule=QUICK, masks={"age": (0.01, 1, 3)})
    targeted = curator.copies("visits", method="dami", perturb=["age"], copies=2, masks=masking)
    away = np.abs(np.array(targeted.frames[0]["age"].to_pylist()) - np.minimum(AGE, 80))
    assert (away <= 3).mean() > 0.2  # the common ones
    assert (away > 10).mean() > 0.1  # the rare ones
    for method in ("selective", "weighted"):
        keys = replace(masking, masks={})
        made = curator.copies("visits", method=method, perturb=["age"], copies=2, masks=keys)
        assert made.method in ("selective", "risk-weighted")
        assert made.sampling == Sampling(weight="weight")


def test_households_are_not_torn_apart(tmp_path: Path) -> None:
    house = np.repeat(np.arange(40), 3)
    rent = RANDOM.integers(300, 900, 40)[house]
    columns = {
        "house": [f"h{one}" for one in house],
        "rent": rent.tolist(),
        "age": RANDOM.integers(1, 90, 120).tolist(),
    }
    held = Curator.create(tmp_path / "homes")
    held.add(pd.DataFrame(columns), name="homes")
    asked = Settings(sampling=Sampling(household="house"))
    with pytest.raises(ArgumentError, match="tear households apart"):
        held.copies("homes", method="dami", perturb=["rent"], copies=2, settings=asked)
    own = held.copies("homes", method="dami", perturb=["age"], copies=2, settings=asked, masks=Masking(schedule=QUICK))
    assert own.frames[0]["rent"].tolist() == rent.tolist()
    rents = np.array(held.copies("homes", perturb=["rent"], copies=1, settings=asked).frames[0]["rent"])
    assert np.array_equal(rents, rents[::3][house])


def test_a_run_broken_off_is_taken_up_again_and_leaves_nothing(curator: Curator, tmp_path: Path) -> None:
    """Cancelled half-way: what waits is its owner's alone, is used by the same call, and goes when rows change."""
    asked: dict[str, Any] = {"method": "dami", "perturb": ["age"], "copies": 2, "masks": Masking(schedule=QUICK)}

    def cancel(phase: str) -> None:
        if int(phase.rstrip("%")) >= 30:
            raise KeyboardInterrupt

    def broken_off() -> Path:
        with pytest.raises(KeyboardInterrupt):
            curator.copies("visits", **asked, progress=cancel)
        return curator.unfinished("visits")

    place = broken_off()
    assert place.stat().st_mode & 0o777 == 0o600
    assert not held_copies(curator)
    seen: list[str] = []
    assert len(curator.copies("visits", **asked, progress=seen.append)) == 2
    assert int(seen[0].rstrip("%")) >= 30
    assert not place.exists()
    broken_off()
    with pytest.raises(FileError, match="other data or settings"):
        curator.copies("visits", **{**asked, "copies": 6})
    anew = Masking(schedule=QUICK, restart=True)
    assert len(curator.copies("visits", **{**asked, "copies": 6, "masks": anew})) == 6
    broken_off()
    curator.refresh("visits", tmp_path / "visits.csv")
    assert not place.exists()


def test_copies_are_evaluated_beside_their_own_version_with_the_design(curator: Curator, tmp_path: Path) -> None:
    copies = curator.copies("visits", perturb=["cost"], copies=3)
    found = curator.evaluate("visits", copies, model="cost ~ age", tolerances={"cost": 5})
    assert found.sampling == Sampling(weight="weight")
    beside = copies.compare("cost ~ age")
    assert found.models[0].coefficients == beside.coefficients
    frames = [frame.to_pydict() for frame in copies]
    assert curator.evaluate("visits", frames, model="cost ~ age").models[0].coefficients == beside.coefficients
    curator.refresh("visits", tmp_path / "visits.csv")
    with pytest.raises(CheckFailedError, match="version 2"):
        curator.evaluate("visits", copies)
