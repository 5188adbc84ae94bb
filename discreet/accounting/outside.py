"""What was published of a population outside the guarantee: a note in the ledger that later receipts name first.

A measured-risk output (copies, anonymised tables) has no ε, so no accountant can add it up. It is written into the
ledger as a note that costs nothing, and every later receipt of that population shows it on its first line.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from discreet.errors import ArgumentError

__all__ = ["OUTSIDE", "Notes", "named_outside", "noted", "outside_note"]

OUTSIDE = "outside the guarantee"
Notes = Mapping[str, tuple[str, ...]]
_SIGNS = 300


def outside_note(population: str, what: str) -> Mapping[str, str]:
    """The content of a note of kind `OUTSIDE`."""
    for name, text in (("population", population), ("what was published", what)):
        if not text.strip() or not text.isprintable() or len(text) > _SIGNS:
            raise ArgumentError(
                name,
                found="nothing that prints on a line",
                right=f"receipts name it on their first line, in 1 to {_SIGNS} signs",
                step="say it shortly, such as '20 copies of visits'",
            )
    return {"population": population, "what": what}


def noted(notes: Notes, content: Mapping[str, Any]) -> Notes:
    """The notes of each population with one more: each once, oldest first."""
    population, what = content["population"], content["what"]
    return {**notes, population: tuple(dict.fromkeys((*notes.get(population, ()), what)))}


def named_outside(notes: Notes, population: str, others: Iterable[str]) -> tuple[str, ...]:
    """What a receipt names: the notes of its population, then those of others whose rows it read, each with whose."""
    return (*notes.get(population, ()), *(f"{what}, of {other}" for other in others for what in notes.get(other, ())))
