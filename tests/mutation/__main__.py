"""`python -m tests.mutation`: plant bugs, run the tests that should see them, say which were missed.

Exit code 0: enough were caught; 1: not enough, or one that is listed as equivalent was; 3: stopped before the end.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.mutation.report import SUFFICIENT, Report, Verdict
from tests.mutation.runner import MODULES, SEED, modules_named, run

JOURNAL = Path("build/mutation.jsonl")
UNFINISHED = 3


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("--count", type=int, default=200, help="how many mutants, spread over the modules' code lines")
    parser.add_argument("--module", nargs="+", metavar="NAME", help=f"modules of {MODULES}; all of them by default")
    parser.add_argument("--seed", type=int, default=SEED, help="the seed of the sample")
    parser.add_argument("--processes", type=int, choices=(1, 2), default=1)
    parser.add_argument("--journal", type=Path, default=JOURNAL, help="where outcomes are kept from run to run")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin no mutant after so long")
    parser.add_argument("--json", action="store_true", help="the report as JSON")
    given = parser.parse_args(arguments)
    report = run(
        modules_named(given.module),
        count=given.count,
        seed=given.seed,
        processes=given.processes,
        tell=tell,
        journal=given.journal,
        minutes=given.minutes,
    )
    shown = json.dumps(report.as_json(), indent=2, ensure_ascii=False) if given.json else report.text()
    sys.stdout.write(shown + "\n")
    if report.untried:
        return UNFINISHED
    return 0 if report.share >= SUFFICIENT and not report.false_claims else 1


def tell(report: Report, total: int) -> None:
    """One line for each mutant, on standard error, as the run goes on."""
    last = report.outcomes[-1]
    sign = {Verdict.KILLED: "killed", Verdict.SURVIVED: "SURVIVED", Verdict.EQUIVALENT: "equivalent"}[last.verdict]
    sys.stderr.write(f"{len(report.outcomes)}/{total} {sign} {last.seconds:.1f} s  {last.mutant}\n")


if __name__ == "__main__":
    sys.exit(main())
