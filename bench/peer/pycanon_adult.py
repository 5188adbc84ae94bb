"""Runs inside pycanon's own environment: k, l, entropy l and t of a CSV file, in CPU seconds.

python pycanon_adult.py FILE.csv SENSITIVE
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable

import pandas as pd
from pycanon import anonymity

REPEATS = 3


def best(step: Callable[[], object]) -> float:
    """The best of some repeats in CPU seconds."""
    spent = []
    for _ in range(REPEATS):
        start = time.process_time()
        step()
        spent.append(time.process_time() - start)
    return min(spent)


def main(path: str, sensitive: str) -> None:
    """Print the figures, and what was found, as one JSON object."""
    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    known = [name for name in table.columns if name != sensitive]
    figures = {
        "k": best(lambda: anonymity.k_anonymity(table, known)),
        "l": best(lambda: anonymity.l_diversity(table, known, [sensitive])),
        "t": best(lambda: anonymity.t_closeness(table, known, [sensitive])),
        "found_k": anonymity.k_anonymity(table, known),
        "found_t": anonymity.t_closeness(table, known, [sensitive]),
    }
    print(json.dumps(figures, default=float))


if __name__ == "__main__":
    main(*sys.argv[1:])
