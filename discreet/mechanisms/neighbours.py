"""All neighbours on a small finite domain, as ordered pairs.

A table is an ascending tuple of records, since no mechanism looks at their order. Sizes begin at 0 where the relation
allows it: division by nothing, the maximum of nothing and an empty group are where promises break first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations_with_replacement, permutations, product

__all__ = ["Pair", "Table", "added_or_removed", "any_two", "moved_between", "moved_scores", "replaced", "tables"]

Table = tuple[int, ...]
Pair = tuple[Table, Table]


def tables(domain: Iterable[int], size: int) -> list[Table]:
    """Every table of that size."""
    return list(combinations_with_replacement(sorted(domain), size))


def replaced(domain: Sequence[int], sizes: Iterable[int]) -> Iterator[Pair]:
    """Pairs of tables of equal size that differ in one record."""
    for size in sizes:
        for rest in tables(domain, size - 1) if size else ():
            for gone, come in permutations(domain, 2):
                yield tuple(sorted((*rest, gone))), tuple(sorted((*rest, come)))


def added_or_removed(domain: Sequence[int], largest: int) -> Iterator[Pair]:
    """Pairs of which one has one record more, from the empty table on; both orders."""
    for size in range(largest):
        for one in tables(domain, size):
            for extra in domain:
                other = tuple(sorted((*one, extra)))
                yield one, other
                yield other, one


def any_two(truths: int) -> Iterator[Pair]:
    """The local model: any two truths of one person are neighbours."""
    yield from (((one,), (other,)) for one, other in permutations(range(truths), 2))


def moved_scores(levels: int, candidates: int, *, one_way: bool = False) -> Iterator[Pair]:
    """Vectors of scores from 0 to levels − 1 and all that one person makes of them: each score moves by at most 1.

    If `one_way`, all that move move the same way, as counts do.
    """
    for one in product(range(levels), repeat=candidates):
        for moves in product((0, 1) if one_way else (-1, 0, 1), repeat=candidates):
            other = tuple(score + move for score, move in zip(one, moves, strict=True))
            if other != one:
                yield one, other
                yield other, one


def moved_between(highest: int, keys: int) -> Iterator[Pair]:
    """Counts per key between which one person moves from a key to another, which may vanish and appear by it."""
    for rest in product(range(highest), repeat=keys):
        for left, right in permutations(range(keys), 2):
            yield _with_one(rest, left), _with_one(rest, right)


def _with_one(counts: Table, key: int) -> Table:
    return (*counts[:key], counts[key] + 1, *counts[key + 1 :])
