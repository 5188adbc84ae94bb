"""Outcomes written down one by one, so that a run which was stopped goes on where it was.

A line holds one outcome and a mark: a digest of the mechanisms as they were with the mutant in place, and of the tests
that decided it. A killed mutant was decided by the file of the test that failed, every other one by all its tests. A
line whose mark is another today, because code or tests changed, is passed over, and its mutant is tried again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path

from tests.mutation.mutants import Mutant
from tests.mutation.report import Outcome, Verdict

__all__ = ["Journal"]


class Journal:
    """The outcomes found so far, in a file of one JSON object a line; without a file they are forgotten."""

    def __init__(self, path: Path | None, folder: Path, modules: str) -> None:
        self._path, self._folder = path, folder
        # Read at once: later a mutant may stand in one of them.
        self._texts = {one.stem: one.read_text() for one in sorted((folder / modules).glob("*.py"))}
        self._lines: dict[str, dict[str, str]] = {}
        if path is not None and path.exists():
            for line in path.read_text().splitlines():
                entry = json.loads(line)
                self._lines[entry["mutant"]] = entry

    def known(self, mutant: Mutant, tests: Iterable[str], reason: str) -> Outcome | None:
        """What came of a mutant earlier, if all that decided it is as it was."""
        entry = self._lines.get(_name(mutant))
        if entry is None or entry["mark"] != self._mark(mutant, tests, entry["by"]):
            return None
        killed = entry["verdict"] == Verdict.KILLED
        return Outcome(
            mutant=mutant,
            verdict=Verdict.KILLED if killed else Verdict.EQUIVALENT if reason else Verdict.SURVIVED,
            by=entry["by"],
            seconds=float(entry["seconds"]),
            reason=reason,
        )

    def add(self, outcome: Outcome, tests: Iterable[str]) -> None:
        """Write an outcome down at once."""
        entry = {
            "mutant": _name(outcome.mutant),
            "verdict": str(outcome.verdict),
            "by": outcome.by,
            "seconds": f"{outcome.seconds:.2f}",
            "mark": self._mark(outcome.mutant, tests, outcome.by),
        }
        self._lines[entry["mutant"]] = entry
        if self._path is not None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("a") as journal:
                journal.write(json.dumps(entry, ensure_ascii=False) + "\n")

    def _mark(self, mutant: Mutant, tests: Iterable[str], by: str) -> str:
        decided = [by.partition("::")[0]] if "::" in by else sorted(tests)
        digest = hashlib.sha256()
        for module, text in self._texts.items():
            digest.update((mutant.source if module == mutant.module else text).encode() + b"\0")
        for file in decided:
            digest.update((self._folder / file).read_bytes() + b"\0")
        return digest.hexdigest()


def _name(mutant: Mutant) -> str:
    """The mutant among all of its module: lines move, and one text may stand twice."""
    return json.dumps([*mutant.identity, mutant.site], ensure_ascii=False)
