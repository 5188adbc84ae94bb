"""Adult as an original, a control and other people, and releases of it: a copy, strangers, columns torn apart."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import duckdb

from discreet.randomness import keyed_generator

Table = dict[str, list[object]]
ADULT = Path(__file__).parents[1] / "data" / "adult.parquet"


@dataclass(frozen=True)
class People:
    original: Table
    control: Table
    strangers: Table

    @property
    def torn(self) -> Table:
        """The original's columns, each shuffled on its own: no row is anybody's."""
        generator = keyed_generator(9)
        return {
            name: [values[at] for at in generator.permutation(len(values))] for name, values in self.original.items()
        }


@cache
def adult(size: int = 3000) -> People:
    """Three parts of Adult that share nobody."""
    with duckdb.connect() as connection:
        held = connection.execute("SELECT * FROM read_parquet($1)", [str(ADULT)])
        names = [one[0] for one in held.description or ()]
        rows = held.fetchall()
    order = keyed_generator(3).permutation(len(rows))
    parts = [
        {name: [rows[at][place] for at in order[start : start + size]] for place, name in enumerate(names)}
        for start in (0, size, 2 * size)
    ]
    return People(*parts)
