"""The block of seven, its published tables with changes, and a slow search that needs no solver."""

from __future__ import annotations

import copy
import statistics
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, product
from pathlib import Path
from typing import Any

import yaml

from discreet.attacks.reconstruction.published import Person, Publication
from discreet.attacks.reconstruction.reading import parse_publication
from discreet.randomness import keyed_generator

EXAMPLES = Path(__file__).parents[2] / "discreet" / "examples"
BLOCK = EXAMPLES / "block.yaml"
SEVEN: tuple[Person, ...] = (
    (8, "female", "black", "single"),
    (18, "male", "white", "single"),
    (24, "female", "white", "single"),
    (30, "male", "white", "married"),
    (36, "female", "black", "married"),
    (66, "female", "black", "married"),
    (84, "male", "black", "married"),
)
ROWS = ("1A", "2A", "2B", "2C", "2D", "3B", "4A")


def changed(change: Callable[[dict[str, Any]], None] | None = None, *, suppressed: str | None = "0..2") -> Publication:
    """The published tables, with what a suppressed cell may be, after a change of the document."""
    document = copy.deepcopy(yaml.safe_load(BLOCK.read_text()))
    document["people"] = 7
    document["suppressed"] = None if suppressed is None else {"sign": "D", "count": suppressed}
    if change is not None:
        change(document)
    return parse_publication(document)


def by_hand() -> set[tuple[Person, ...]]:
    """All blocks that agree with the seven printed rows, by plain enumeration: no solver, no cleverness."""
    found: set[tuple[Person, ...]] = set()
    mixes = [races for races in product("bw", repeat=7) if (races.count("b"), races[3:].count("b")) == (4, 3)]
    for men in _groups(3, 30, 132):
        for women in _groups(4, 30, 134):
            if sum(men) + sum(women) != 266 or statistics.median([*men, *women]) != 30:
                continue
            for races in mixes:
                if _races_agree(men, women, races):
                    found.update(_married(men, women, races))
    return found


def _groups(size: int, median: int, total: int) -> Iterator[tuple[int, ...]]:
    """Sorted ages of a group with that median and that sum."""
    if size == 3:
        yield from ((low, median, total - median - low) for low in range(median + 1) if total - median - low <= 125)
        return
    for low in range(median + 1):
        for second in range(low, median + 1):
            third = 2 * median - second
            last = total - low - second - third
            if third <= last <= 125:
                yield low, second, third, last


def _races_agree(men: Sequence[int], women: Sequence[int], races: Sequence[str]) -> bool:
    ages = (*men, *women)
    black = sorted(age for age, race in zip(ages, races, strict=True) if race == "b")
    white = sorted(age for age, race in zip(ages, races, strict=True) if race == "w")
    both = sorted(age for age, race in zip(women, races[3:], strict=True) if race == "b")
    sums = sum(black), sum(white), sum(both)
    return sums == (194, 72, 110) and (black[1] + black[2], white[1], both[1]) == (102, 24, 36)


def _married(men: Sequence[int], women: Sequence[int], races: Sequence[str]) -> Iterator[tuple[Person, ...]]:
    people = [(age, "male") for age in men] + [(age, "female") for age in women]
    for inside in combinations(range(7), 4):
        ages = sorted(people[at][0] for at in inside)
        if min(ages) < 15 or sum(ages) != 216 or ages[1] + ages[2] != 102 or ages[0] < 18:
            continue
        words = {"b": "black", "w": "white"}
        block = [(*people[at], words[races[at]], "married" if at in inside else "single") for at in range(7)]
        yield tuple(sorted(block))


def printed(size: int) -> tuple[Publication, list[Person]]:
    """People drawn with a fixed seed, and the tables printed of them."""
    generator = keyed_generator(5)
    ages, sexes, races = (generator.integers(0, end, size).tolist() for end in (96, 2, 2))
    people: list[Person] = [(age, "fm"[s], "bw"[r]) for age, s, r in zip(ages, sexes, races, strict=True)]
    columns = {"age": "0..125", "sex": ["f", "m"], "race": ["b", "w"]}
    return parse_publication({"columns": columns, "table": table_of(people)}), people


def table_of(people: Sequence[Person]) -> list[dict[str, Any]]:
    """Count, median and rounded mean of ages, by sex, by race and by both."""
    table = []
    for sex, race in product(("", "f", "m"), ("", "b", "w")):
        ages = sorted(int(age) for age, s, r in people if sex in ("", s) and race in ("", r))
        where = " and ".join(f"{name} = {value}" for name, value in (("sex", sex), ("race", race)) if value)
        numbers = {"count": len(ages), "median": statistics.median(ages), "mean": f"{statistics.mean(ages):.1f}"}
        table.append({"name": f"{sex}{race}" or "all", "where": where, **numbers})
    return table
