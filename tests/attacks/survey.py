"""The bundled small tables as records, column by column."""

from __future__ import annotations

import csv

from discreet.attacks.condition import read_value
from tests.attacks.blocks import EXAMPLES

Table = dict[str, list[object]]


def example(name: str, *, plain: bool = False) -> Table:
    """A bundled CSV file; cells become numbers where they are, unless they are wanted plain."""
    with (EXAMPLES / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {column: [row[column] if plain else read_value(row[column]) for row in rows] for column in rows[0]}
