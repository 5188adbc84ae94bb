"""k-anonymity and the other methods for records, against the properties: each check runs an attack.

The hospital tables are bundled teaching data; the other numbers are invented. Draws are keyed by fixed numbers, as they
hide nobody.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files

import numpy as np

from discreet.anonymize.criteria import Criteria
from discreet.anonymize.generalize import generalize
from discreet.anonymize.microaggregate import microaggregate
from discreet.anonymize.perturb import add_noise, pram, top_code
from discreet.anonymize.records import CodedColumn, Records
from discreet.anonymize.suppress import found_by_elimination, suppress
from discreet.anonymize.swap import record_swap
from discreet.attacks.composition import candidates, compose, homogeneous
from discreet.attacks.promises.evidence import Evidence
from discreet.draw.format import written
from discreet.randomness import keyed_generator

__all__ = [
    "all_of_one_illness",
    "cut_out",
    "eliminated",
    "family_in_one_class",
    "grouped_twice",
    "known_others",
    "largest_stays",
    "noise_averaged",
    "noise_of_a_group",
    "pram_outvoted",
    "promise_of_nothing",
    "ranks_stay",
    "swaps_outvoted",
    "total_beside_top_code",
    "two_hospitals",
    "unswapped_columns",
]

_QUASI = ("zip_code", "age", "nationality")
_ALICE = {"zip_code": 13012, "age": 28}
_RELEASES = 25


@cache
def _hospital(name: str) -> Mapping[str, Sequence[object]]:
    text = (files("discreet.examples") / f"hospital_{name}.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(text.splitlines()))
    return {column: [row[column] for row in rows] for column in rows[0]}


def _smallest(table: Mapping[str, Sequence[object]]) -> int:
    return min(Counter(zip(*(table[name] for name in _QUASI), strict=True)).values())


def two_hospitals() -> Evidence:
    """A k-anonymous table from each of two hospitals, and a person who was in both."""
    tables = [_hospital("a"), _hospital("b")]
    found = compose(tables, _ALICE, "condition")
    ks = " and ".join(str(_smallest(table)) for table in tables)
    return Evidence(
        False if found.disclosed else None, f"two tables with k = {ks} leave one illness for a person in both"
    )


def all_of_one_illness() -> Evidence:
    """A class whose records share the secret."""
    told = homogeneous(_hospital("a"), _QUASI, "condition")
    share = f"{len(told)} class of a table with k = {_smallest(_hospital('a'))} has a single illness"
    return Evidence(False if told else None, f"{share}: whoever is in it has it for certain")


def known_others() -> Evidence:
    """An intruder who knows the other people of a class."""
    held = candidates(_hospital("a"), _ALICE, "condition")
    left = [value for value in held if sum(held.values()) - held[value] == sum(held.values()) - 1]
    told = f"who knows the other {sum(held.values()) - 1} people of a class learns the last one's illness for certain"
    return Evidence(False if left else None, told)


def cut_out() -> Evidence:
    """What anybody may make of a published table: one record of each class."""
    table = _hospital("a")
    keys = list(zip(*(table[name] for name in _QUASI), strict=True))
    kept = [keys.index(key) for key in dict.fromkeys(keys)]
    cut = {name: [values[at] for at in kept] for name, values in table.items()}
    broken = _smallest(cut) < _smallest(table)
    told = f"one record of each class, which anybody can cut out of a table with k = {_smallest(table)}, has k = "
    return Evidence(False if broken else None, f"{told}{_smallest(cut)}")


def family_in_one_class() -> Evidence:
    """Four people of one family, with one illness, in a table that is generalised to k = 4."""
    people = Records.of(
        {"age": [31, 32, 33, 34, 61, 62, 63, 64], "illness": ["flu", "flu", "flu", "flu", "a", "b", "c", "d"]}
    )
    made = generalize(people, ["age"], Criteria(k=4), method="mondrian").records.as_lists()
    told = homogeneous(made, ["age"], "illness")
    return Evidence(
        False if told else None, "k = 4 counts people: a family of four is one class, and tells its illness"
    )


def promise_of_nothing() -> Evidence:
    """The chance of a right guess in the worst class, for tables of k = 4 and of k = 6."""
    worst, beyond = [], False
    for name in ("a", "b"):
        table = _hospital(name)
        classes: dict[tuple[object, ...], Counter[object]] = {}
        for *key, value in zip(*(table[column] for column in (*_QUASI, "condition")), strict=True):
            classes.setdefault(tuple(key), Counter())[value] += 1
        share = max(max(held.values()) / held.total() for held in classes.values())
        worst.append(f"k = {_smallest(table)}: {written('share', share)}")
        beyond |= share > 1 / _smallest(table)
    return Evidence(
        False if beyond else None,
        f"what a class lets an intruder guess follows from the data, not from k ({', '.join(worst)})",
    )


def eliminated() -> Evidence:
    """Who is left when everybody else is seen elsewhere."""
    people = Records.of({"age": [30, 30, 30, 30, 90], "sex": ["f"] * 5})
    made = suppress(people, ["age", "sex"], k=3, reading="fits")
    found = int(found_by_elimination(people, made.records, ["age", "sex"]).sum())
    told = f"with the usual reading of k = 3 {found} of 5 people is found by elimination"
    return Evidence(False if found else None, told)


def total_beside_top_code() -> Evidence:
    """Top-coded records beside the true total of the same column."""
    incomes = [*range(20, 60), 900]
    coded = top_code(CodedColumn.of("income", incomes), 60).column.listed()
    back = 60 + sum(incomes) - sum(coded)
    return Evidence(False if back == 900 else None, f"the published total brings the cut income back: {back} of 900")


def noise_averaged() -> Evidence:
    """Noise drawn anew for each release."""
    column, draw = CodedColumn.of("x", np.linspace(0, 100, 400).tolist()), keyed_generator(3)
    made = np.array([add_noise(column, 0.5, generator=draw).column.numbers for _ in range(_RELEASES)])
    one, all_ = (float(np.abs(made[:many].mean(axis=0) - column.numbers).mean()) for many in (1, _RELEASES))
    told = f"{_RELEASES} releases, averaged, are {all_:.1f} off the true values where one is {one:.1f} off"
    return Evidence(False if all_ < one / 3 else None, told)


def largest_stays() -> Evidence:
    """One value far from the others."""
    values = [*range(50)] * 8 + [900]
    found = 0
    for seed in range(20):
        noisy = add_noise(CodedColumn.of("income", values), 0.1, generator=keyed_generator(seed)).column.numbers
        found += int(np.argmax(noisy)) == 400
    return Evidence(False if found >= 19 else None, f"the largest of 401 values is found in {found} of 20 releases")


def noise_of_a_group() -> Evidence:
    """The mean of a group that is known to belong together."""
    values, draw = np.concatenate([np.full(100, 80.0), np.linspace(0, 60, 300)]), keyed_generator(5)
    noisy = add_noise(CodedColumn.of("x", values.tolist()), 0.5, generator=draw).column.numbers
    alone = float(np.abs(noisy[:100] - 80).mean())
    together = abs(float(noisy[:100].mean()) - 80)
    told = f"a hundred people of one value: each is {alone:.1f} off, their mean {together:.1f}"
    return Evidence(False if together < alone / 3 else None, told)


def pram_outvoted() -> Evidence:
    """Values changed by chance anew for each release."""
    column, draw = CodedColumn.of("x", ["a", "b", "c"] * 100), keyed_generator(6)
    made = [pram(column, 0.6, is_invariant=False, generator=draw).column.codes for _ in range(_RELEASES)]
    voted = np.array([np.bincount(votes, minlength=3).argmax() for votes in np.stack(made, axis=1)])
    right = float((voted == column.codes).mean())
    told = f"the commonest of {_RELEASES} published values is the true one for {written('share', right)} of the people"
    return Evidence(False if right > 0.9 else None, f"{told}, where one release keeps {written('share', 0.6)}")


def ranks_stay() -> Evidence:
    """Who knows the order of people by a column, after microaggregation."""
    values = keyed_generator(7).permutation(60).astype(float)
    made = microaggregate(Records.of({"x": values.tolist()}), ["x"], k=3, grouping="fixed").column("x").numbers
    pairs = [(at, other) for at in range(60) for other in range(60) if values[at] < values[other]]
    kept = sum(made[at] <= made[other] for at, other in pairs) / len(pairs)
    told = f"{written('share', kept)} of all pairs of people keep their order"
    return Evidence(False if kept == 1 else None, told)


def grouped_twice() -> Evidence:
    """The means of groups of three and of groups of four, as equations."""
    values = np.sort(keyed_generator(8).normal(50, 20, 12).round(2))
    rows, known = [], []
    for k in (3, 4):
        made = microaggregate(Records.of({"x": values.tolist()}), ["x"], k=k, grouping="fixed").column("x").numbers
        for mean in np.unique(made):
            inside = made == mean
            rows.append(inside.astype(float))
            known.append(float(mean) * float(inside.sum()))
    before, after = np.linalg.matrix_rank(np.array(rows[:4])), np.linalg.matrix_rank(np.array(rows))
    cells = np.linalg.pinv(np.array(rows))
    exact = int((np.abs(np.diag(cells @ np.array(rows)) - 1) < 1e-9).sum())
    told = (
        f"means of groups of 3 and of groups of 4 are {after} equations about 12 values where one release has {before}"
    )
    return Evidence(False if exact else None, f"{told}; {exact} values follow exactly")


def swaps_outvoted() -> Evidence:
    """Regions swapped anew for each release."""
    draw = keyed_generator(9)
    people = {
        "town": draw.integers(0, 6, 300).tolist(),
        "age": draw.integers(0, 4, 300).tolist(),
        "size": draw.integers(1, 3, 300).tolist(),
    }
    records = Records.of(people)
    made = [
        record_swap(records, ["town"], risk=["age"], similar=["size"], rate=0.4, generator=draw)
        .records.column("town")
        .codes
        for _ in range(_RELEASES)
    ]
    true = records.column("town").codes
    voted = np.array([np.bincount(votes, minlength=6).argmax() for votes in np.stack(made, axis=1)])
    once, often = float((made[0] == true).mean()), float((voted == true).mean())
    told = f"one release keeps the region of {written('share', once)}, the commonest of {_RELEASES} is true for"
    return Evidence(False if often > once else None, f"{told} {written('share', often)}")


def unswapped_columns() -> Evidence:
    """The columns that were not swapped."""
    draw = keyed_generator(10)
    people = {
        "town": draw.integers(0, 6, 200).tolist(),
        "age": draw.integers(20, 90, 200).tolist(),
        "size": draw.integers(1, 3, 200).tolist(),
    }
    made = record_swap(Records.of(people), ["town"], risk=["age"], similar=["size"], generator=draw)
    seen = Counter(people["age"])
    unique = [at for at, age in enumerate(people["age"]) if seen[age] == 1]
    ages = made.records.column("age").listed()
    found = sum(ages.index(people["age"][at]) == at for at in unique)
    told = f"{found} of {len(unique)} people who are alone by age are found as before; only the region may be another's"
    return Evidence(False if unique and found == len(unique) else None, told)
