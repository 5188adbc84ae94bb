"""Group `risk`: individual risk and special uniques of Adult, and matching a million records with a copy.

Figures of sdcMicro 5.8.1 are earlier ones, not run again: indivRisk .08 CPU s and a sum of risks of 6219.045 with every
weight 10; suda2 on the first 5,000 records .04 CPU s and 3,687 records with a special unique. scipy's KD-tree runs
beside ours. Counts of 50 targets are compared with trying every record; a wrong one stops the run.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
from scipy.spatial import cKDTree

from bench.measure import fastest, side_by_side
from bench.record import Record
from discreet.randomness import keyed_generator
from discreet.risk.frequencies import count_frequencies
from discreet.risk.individual import benedetti_franconi
from discreet.risk.special import find_special_uniques
from discreet.stats.matching import Floats, Records, Whole, count_matches, own_matches
from tests.risk.stored import stored_file

__all__ = ["records"]

_ADULT = Path(__file__).parent.parent / "tests" / "data" / "adult.parquet"
_QUASI = ("age", "workclass", "education_num", "marital_status", "occupation", "race", "sex", "native_country")
_ROWS = 1_000_000
_BAR = 2.0


def records() -> Iterator[Record]:
    """One record after the other."""
    yield from _adult()
    yield from _matching()


def _adult() -> Iterator[Record]:
    source = f"read_parquet('{_ADULT}')"
    with stored_file(source, _QUASI) as (engine, table):
        classes = count_frequencies(engine, table, _QUASI)
        counted = fastest(lambda: count_frequencies(engine, table, _QUASI))
    with stored_file(f"(SELECT * FROM {source} LIMIT 5000)", _QUASI) as (engine, table):
        few = count_frequencies(engine, table, _QUASI)
    outside = classes.scaled(10 * classes.records)
    risk = float(classes.sizes @ benedetti_franconi(classes.sizes, outside, approximate=True))
    exact = float(classes.sizes @ benedetti_franconi(classes.sizes, outside))
    scored = fastest(lambda: benedetti_franconi(classes.sizes, outside))
    of = "Adult 48,842 × 8"
    for task, ours, known in (
        ("classes", len(classes.sizes), 27_118),
        ("unique records", classes.unique, 20_593),
        ("sum of individual risks, by sdcMicro's approximation", round(risk, 3), 6219.045),
        ("special uniques of the first 5,000 records", find_special_uniques(few).records, 3_687),
    ):
        if ours != known:
            raise SystemExit("the risks of Adult are not those that are known: the figures of this run mean nothing")
        yield Record(task=f"{of}: {task}", ours=ours, noted=known, bar=known, barred="ours", unit="count")
    yield Record(task=f"{of}: sum of individual risks, exact", ours=exact, unit="count")
    yield Record(task=f"{of}: individual risk", ours=counted + scored, noted=0.08, unit="CPU s")
    special = fastest(lambda: find_special_uniques(classes), repeats=2)
    yield Record(task=f"{of}: SUDA2, sets of up to 7 columns", ours=special, bar=5, barred="ours", unit="CPU s")
    special = fastest(lambda: find_special_uniques(few))
    yield Record(task="Adult 5,000 × 8: SUDA2, sets of up to 7 columns", ours=special, noted=0.04, unit="CPU s")


def _matching() -> Iterator[Record]:
    generator = keyed_generator(1)
    targets = _table(generator.normal(50, 15, _ROWS), generator.gamma(2, 5, _ROWS))
    copy = _table(*(column + generator.normal(0, 1, _ROWS) for column in targets.numbers))
    narrow, wide = (0.05, 0.05), (2.0, 1.0)
    ours, peer = side_by_side(
        partial(_risk, targets, copy, narrow), partial(_kd_tree, targets, copy, narrow), repeats=2
    )
    of = "1 M records × 2 continuous keys, one copy"
    yield Record(task=f"{of}: narrow windows", ours=ours, peer=peer, unit="CPU s", bar=_BAR, barred="ours")
    whole = _table(*(np.round(column) for column in targets.numbers))
    for task, one, other in (("wide windows", targets, copy), ("wide windows, whole numbers", whole, whole)):
        (ours,) = side_by_side(partial(_risk, one, other, wide), repeats=2)
        yield Record(task=f"{of}: {task}", ours=ours, unit="CPU s", bar=_BAR, barred="ours")


def _table(*numbers: Floats) -> Records:
    return Records(codes=np.zeros(len(numbers[0]), dtype=np.int64), numbers=numbers)


def _risk(targets: Records, copy: Records, tolerances: tuple[float, float]) -> Whole:
    """Everything the risk of each record needs of one copy: the number of matches and its own."""
    counts = count_matches(targets, copy, tolerances)
    own_matches(targets, copy, tolerances)
    for place in range(0, _ROWS, _ROWS // 50):
        fits = [
            np.abs(there - wanted[place]) <= tolerance
            for wanted, there, tolerance in zip(targets.numbers, copy.numbers, tolerances, strict=True)
        ]
        if counts[place] != np.count_nonzero(fits[0] & fits[1]):
            raise SystemExit("a count of matches is wrong: the figures of this run mean nothing")
    return counts


def _kd_tree(targets: Records, copy: Records, tolerances: tuple[float, float]) -> object:
    tree = cKDTree(np.column_stack([column / one for column, one in zip(copy.numbers, tolerances, strict=True)]))
    asked = np.column_stack([column / one for column, one in zip(targets.numbers, tolerances, strict=True)])
    return tree.query_ball_point(asked, 1.0, p=np.inf, return_length=True)
