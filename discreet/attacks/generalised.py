"""Attacks on generalised records: what coarse cells tell of the people in the table, and of people who are not in it.

The nearest record says nothing where cells stand for many values, so these attacks ask which records may be a
person's (`cover`). As everywhere, the same guesses are made about people of the same kind whom the release was not made
from, and only the excess over these counts (`excess`).

1. Membership: a person is accused of being in the table when some record covers what is known of her.
2. Inference: the guess of a secret is the commonest value among the records that cover her. In a class of one value
   (homogeneity) it is certain, however large the class is; without such a record it is the release's commonest value.

What it does not promise: safety where there is no excess. Another release may single out what this one hides.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.attacks.cover import Cover, Flags, Meanings, Whole
from discreet.attacks.excess import Excess
from discreet.attacks.keepers import Records
from discreet.attacks.membership import Microdata
from discreet.check import at_least, known, some
from discreet.randomness import Generator

__all__ = ["attack_generalised"]


def attack_generalised(
    released: Records,
    original: Records,
    control: Records,
    columns: Sequence[str],
    *,
    secret: str | None = None,
    meanings: Meanings | None = None,
    guesses: int = 500,
    generator: Generator,
) -> Microdata:
    """Both attacks by the columns an intruder knows; inference where a secret column is named."""
    wanted = some("columns", columns, step="name the columns that both have")
    cover = Cover.of(released, wanted, meanings)
    records = len(released[wanted[0]])
    count = min(at_least("guesses", guesses, 1), len(original[wanted[0]]), len(control[wanted[0]]))
    asked = [generator.permutation(len(table[wanted[0]]))[:count] for table in (original, control)]
    values, codes = np.zeros(0, dtype=object), np.zeros(records, np.int64)
    if secret is not None:
        for table in (released, original, control):
            known("column", secret, tuple(table), step="name a column of release, table and control")
        values, codes = np.unique(np.array(list(map(str, released[secret]))), return_inverse=True)
    found = [
        _guesses(table, cover, places, codes.ravel()) for table, places in zip((original, control), asked, strict=True)
    ]
    excess = {"membership": _excess(found[0][0], found[1][0])}
    if secret is not None:
        right = []
        for (_, guess), table, places in zip(found, (original, control), asked, strict=True):
            right.append(values[guess] == np.array([str(table[secret][at]) for at in places]))
        excess[f"inference of {secret}"] = _excess(*right)
    return Microdata(rows=records, found=excess)


def _guesses(table: Records, cover: Cover, asked: Whole, codes: Whole) -> tuple[Flags, Whole]:
    """For each asked person: whether a record covers her, and the code of the commonest secret among those that do."""
    counts = np.zeros((len(cover.classes), int(codes.max(initial=0)) + 1))
    np.add.at(counts, (cover.place, codes), 1)
    covered, guess = np.zeros(len(asked), bool), np.full(len(asked), int(counts.sum(axis=0).argmax()))
    for rows, inside in cover.inside(table, asked):
        covered[rows] = inside.any(axis=1)
        guess[rows] = np.where(covered[rows], (inside.astype(np.float64) @ counts).argmax(axis=1), guess[rows])
    return covered, guess


def _excess(inside: Flags, outside: Flags) -> Excess:
    return Excess(hits=int(inside.sum()), control_hits=int(outside.sum()), tries=len(inside))
