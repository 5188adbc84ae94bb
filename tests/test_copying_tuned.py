"""Tuning through the curator and the command: the frontier is measured and drawn, what is asked for is kept."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from discreet.cli.main import main
from discreet.copying import held_copies
from discreet.curator import Curator
from discreet.errors import ArgumentError, CheckFailedError
from discreet.synthesis.imputation.columns import read_columns
from discreet.synthesis.imputation.masks import LevelMask, NoiseMask, mask_of
from discreet.synthesis.imputation.posterior import Schedule

RANDOM = np.random.default_rng(5)
N = 200
AGE = RANDOM.integers(18, 80, N)
SEX = RANDOM.choice(["f", "m"], N)
SCORE = np.round(0.03 * (AGE - 50) + 0.5 * (SEX == "f") + RANDOM.normal(size=N), 2)
QUICK = Schedule(chains=1, burn=60, thin=10)


@pytest.fixture(scope="module")
def curator(tmp_path_factory: pytest.TempPathFactory) -> Curator:
    held = Curator.create(tmp_path_factory.mktemp("desk") / "c")
    held.add(pd.DataFrame({"age": AGE, "sex": SEX, "score": SCORE}), name="people")
    return held


def test_one_noise_gives_each_column_its_mask() -> None:
    """The chance that one of two levels stays is Φ(1/2σ), the closed form of a signal one step apart."""
    columns = read_columns({"n": [0.5, 1.5, 2.5], "two": [0, 1, 1], "three": ["a", "b", "c"]})
    assert mask_of(columns.column("n"), 0.3) == NoiseMask(0.3)
    for noise in (0.05, 0.25, 1.0, 4.0, 1e6):
        two, three = (mask_of(columns.column(name), noise) for name in ("two", "three"))
        assert isinstance(two, LevelMask)
        assert isinstance(three, LevelMask)
        assert two.keep == pytest.approx(0.5 * (1 + math.erf(1 / (2 * noise) / math.sqrt(2))))
        assert three.keep - 1 / 3 == pytest.approx((two.keep - 0.5) * 4 / 3)
    with pytest.raises(ArgumentError):
        mask_of(columns.column("n"), 0)


@pytest.mark.slow
@pytest.mark.requirement("0.20", "0.21")
def test_a_risk_asked_for_is_met_by_the_copies_that_are_kept(curator: Curator) -> None:
    found = curator.tune(
        "people",
        perturb=["age", "sex"],
        models=["score ~ age + sex"],
        tolerances={"age": 1},
        noises=(0.1, 2.0),
        copies=(2, 3),
        risk_below=0.05,
        schedule=QUICK,
        steps=3,
    )
    risk = {(one.method, one.noise, one.copies): one.risk for one in found.frontier.figures}
    overlap = {(one.method, one.noise, one.copies): one.utility for one in found.frontier.figures}
    assert {method for method, _, _ in risk} == {"masks", "no mask", "CART", "norm+logit"}
    for count in (2, 3):
        assert risk["masks", 0.1, count] > 2 * risk["masks", 2.0, count]
        assert overlap["masks", 0.1, count] > 0.9
    assert found.original > risk["masks", 2.0, 3]
    assert found.copies is not None
    assert found.risk is not None
    assert found.risk <= 0.05
    assert held_copies(curator)[-1] == found.copies.release
    assert found.copies.publishable
    # What was kept is what was measured.
    told = curator.evaluate(
        "people", found.copies, model="score ~ age + sex", tolerances={"age": 1}, keys=["age", "sex"]
    )
    seen = told.reidentification
    assert max(seen.released.mean, seen.averaged.mean) == pytest.approx(found.risk)
    assert told.models[0].overlap == pytest.approx(found.overlap)
    html = found.page().html()
    assert "NOT DIFFERENTIAL PRIVACY" in html
    assert html.count("<svg") >= 2 * 5  # two panels each for utility and risk, and one against the other
    assert not curator.unfinished("people").exists()


def test_wishes_that_no_mask_grants_are_refused_and_nothing_is_kept(curator: Curator) -> None:
    before = held_copies(curator)
    asked: dict[str, Any] = {
        "perturb": ["age"],
        "models": ["score ~ age"],
        "noises": (0.2,),
        "copies": (2,),
        "beside": False,
        "schedule": QUICK,
        "steps": 1,
    }
    beyond: tuple[dict[str, Any], ...] = ({"risk_below": 0.0}, {"overlap_above": 0.9999999})
    for wishes in beyond:
        with pytest.raises(CheckFailedError):
            curator.tune("people", **asked, **wishes)
    refused: tuple[dict[str, Any], ...] = (
        {"models": []},
        {"copies": (1,)},
        {"risk_below": 2.0},
        {"noises": (-1.0,)},
    )
    for wrong in refused:
        with pytest.raises(ArgumentError):
            curator.tune("people", **{**asked, **wrong})
    assert held_copies(curator) == before


def test_the_command_prints_and_writes_the_frontier(
    curator: Curator, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["tune", "people", "--perturb", "age", "--model", "score ~ age", "--tolerance", "age=1", "--alone"]
    words += ["--noise", "0.05,3", "--copies", "2", "--risk-below", "0.5", "--curator", str(curator.folder)]
    page = tmp_path / "tuned.html"
    assert main([*words, "--json", "--html", str(page)]) == 0
    shown = capsys.readouterr()
    assert "MEASURED RISK, NOT DIFFERENTIAL PRIVACY" in shown.err
    told = json.loads(shown.out)
    assert told["risk"] <= 0.5
    assert told["release"] in held_copies(curator)
    assert [one["noise"] for one in told["figures"]] == [3, 0.05]
    assert len(page.read_text()) < 1_000_000
    assert page.stat().st_mode & 0o777 == 0o600
    assert main([*words, "--tolerance", "age"]) == 2
    assert "--tolerance" in capsys.readouterr().err
