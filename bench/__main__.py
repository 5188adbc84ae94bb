"""`python -m bench [GROUP…] [--json]`: measure the groups, all of them without a name.

For people a table for each group; with --json one list of objects with the keys task, ours, raw, peer, ratio and unit.
A peer takes part when it has its environment (`make bench-peers` builds them).
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence

from bench.record import Record, grid
from bench.registry import group, groups
from discreet.errors import DiscreetError

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; 2 for a group that does not exist."""
    parser = argparse.ArgumentParser(prog="python -m bench", description="Figures side by side, all of one run.")
    parser.add_argument("group", nargs="*", help=f"one of {', '.join(groups())}")
    parser.add_argument("--json", action="store_true", help="a list of records for machines")
    chosen = parser.parse_args(arguments)
    try:
        makers = {name: group(name) for name in chosen.group or groups()}
    except DiscreetError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    found: list[Record] = []
    for name, maker in makers.items():
        records = []
        for record in maker():
            print(f"{name}: {record.task}", file=sys.stderr)
            records.append(record)
        found += records
        if not chosen.json:
            print(grid(name, records).text(), end="\n\n")
    if chosen.json:
        print(json.dumps([record.as_json() for record in found], indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
