"""Posterior draws: convergence told, work broken off and taken up again, and checkpoints that keep to themselves."""

from __future__ import annotations

import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet.errors import ArgumentError, FileError
from discreet.synthesis.imputation.augmentation import fit_augmented, synthesize_augmented
from discreet.synthesis.imputation.columns import Columns, read_columns
from discreet.synthesis.imputation.posterior import Schedule
from tests.synthesis.imputation.survey import holed, survey

SCHEDULE = Schedule(chains=2, burn=40, thin=10)


class Broken(Exception):
    """What a user's progress callback raises to break off."""


def stop_at(share: float) -> Callable[[float], None]:
    def progress(done: float) -> None:
        if done >= share:
            raise Broken

    return progress


@pytest.fixture
def columns() -> Columns:
    random = np.random.default_rng(4)
    table = holed(survey(150, random), 0.1, random)
    table["kind"] = random.choice(["a", "b", "c"], 150).tolist()
    return read_columns(table, kinds={"education": [0.0, 1.0, 2.0]})


@pytest.mark.parametrize("share", [0.2, 0.5, 0.8])
def test_work_taken_up_again_ends_as_if_never_broken_off(columns: Columns, tmp_path: Path, share: float) -> None:
    """With a seed the copies are the very same: chains, kept draws and the place in the randomness are carried over."""
    asked: dict[str, Any] = {"perturb": ["age", "kind"], "copies": 4, "schedule": SCHEDULE, "seed": 11}
    whole = synthesize_augmented(columns, **asked)
    place = tmp_path / "work"
    with pytest.raises(Broken):
        synthesize_augmented(columns, **asked, checkpoint=place, progress=stop_at(share * 0.8))
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    seen: list[float] = []
    again = synthesize_augmented(columns, **asked, checkpoint=place, progress=seen.append)
    assert seen[0] > share * 0.8 - 0.2
    assert seen == sorted(seen)
    assert seen[-1] == pytest.approx(1)
    assert again.frames == whole.frames
    assert not place.exists()
    assert not list(tmp_path.iterdir())


def test_without_a_seed_no_key_is_written(columns: Columns, tmp_path: Path) -> None:
    place = tmp_path / "work"
    with pytest.raises(Broken):
        fit_augmented(columns, draws=4, schedule=SCHEDULE, checkpoint=place, progress=stop_at(0.5))
    with np.load(place) as kept:
        assert "generator" not in kept.files
    fit = fit_augmented(columns, draws=4, schedule=SCHEDULE, checkpoint=place)
    assert len(fit.posterior.draws) == 4


def test_a_checkpoint_of_other_work_is_refused(columns: Columns, tmp_path: Path) -> None:
    place = tmp_path / "work"
    with pytest.raises(Broken):
        fit_augmented(columns, draws=4, schedule=SCHEDULE, checkpoint=place, progress=stop_at(0.5))
    other = read_columns({"age": [1.5, 2.5, 9.0] * 5, "sex": [0, 1, 1] * 5})
    for table, draws in ((other, 4), (columns, 6)):
        with pytest.raises(FileError, match="other data or settings"):
            fit_augmented(table, draws=draws, schedule=SCHEDULE, checkpoint=place)
    place.write_bytes(b"PK\x03\x04 no checkpoint")
    with pytest.raises(FileError, match="no checkpoint"):
        fit_augmented(columns, draws=4, schedule=SCHEDULE, checkpoint=place)


def test_chains_say_whether_they_agree(columns: Columns) -> None:
    short = fit_augmented(columns, draws=2, schedule=Schedule(chains=2, burn=0, thin=4), seed=1)
    assert not short.posterior.converged
    assert "do not agree yet" in short.notes[-1]
    table = read_columns({"x": np.random.default_rng(1).normal(size=300).tolist(), "z": [0, 1, 1] * 100})
    long = fit_augmented(table, draws=4, schedule=Schedule(chains=2, burn=200, thin=200), seed=1)
    assert long.posterior.converged
    assert "chains agree" in long.notes[-1]
    # Two draws are kept of 8 sweeps, but the chains are judged by the latter half of the burn-in too.
    few = fit_augmented(table, draws=2, schedule=Schedule(chains=2, burn=1000, thin=4), seed=1)
    assert few.posterior.converged
    single = fit_augmented(read_columns({"x": [0, 1, 1] * 9}), draws=2, schedule=SCHEDULE)
    assert single.posterior.rhat == 1.0


def test_what_is_shipped_burns_in_as_long_as_the_literature_asks() -> None:
    """Unbalanced columns mix slowly: after 60 sweeps coefficients are off by .4 of their error, after 400 by .27."""
    assert Schedule().burn >= 1000
    assert Schedule().chains >= 2


def test_schedules_that_make_no_sense_are_refused() -> None:
    for wrong in ({"chains": 0}, {"burn": -1}, {"thin": 1}):
        with pytest.raises(ArgumentError):
            Schedule(**wrong)
