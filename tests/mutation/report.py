"""What came of each mutant, and what that says of the tests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from tests.mutation.mutants import Mutant

__all__ = ["SUFFICIENT", "Outcome", "Report", "Verdict"]

SUFFICIENT = 0.95


class Verdict(StrEnum):
    """Killed: a test failed, or none ended in time. Equivalent: survived, and is listed with the reason why it may."""

    KILLED = "killed"
    SURVIVED = "survived"
    EQUIVALENT = "equivalent"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One mutant's end. `by` is the test that failed, or how the run ended otherwise; `reason` says why none need."""

    mutant: Mutant
    verdict: Verdict
    by: str
    seconds: float
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """All outcomes of one run."""

    seed: int
    outcomes: Sequence[Outcome]
    untried: int = 0

    def of(self, verdict: Verdict) -> list[Outcome]:
        return [outcome for outcome in self.outcomes if outcome.verdict is verdict]

    @property
    def share(self) -> float:
        """Killed among those that a test could see."""
        killed, survived = len(self.of(Verdict.KILLED)), len(self.of(Verdict.SURVIVED))
        return killed / (killed + survived) if killed + survived else 1.0

    @property
    def false_claims(self) -> list[Outcome]:
        """Listed as equivalent, and yet killed."""
        return [outcome for outcome in self.of(Verdict.KILLED) if outcome.reason]

    def text(self) -> str:
        lines = [f"{'module':<20} killed survived equivalent"]
        found = Counter((outcome.mutant.module, outcome.verdict) for outcome in self.outcomes)
        for module in sorted({module for module, _ in found}):
            counts = [found[module, verdict] for verdict in Verdict]
            lines.append(f"{module:<20} {counts[0]:>6} {counts[1]:>8} {counts[2]:>10}")
        for verdict, title in ((Verdict.SURVIVED, "survived"), (Verdict.EQUIVALENT, "equivalent")):
            for outcome in self.of(verdict):
                lines.append(f"{title}: {outcome.mutant}" + (f"\n    {outcome.reason}" if outcome.reason else ""))
        lines += [f"listed as equivalent, and killed by {one.by}: {one.mutant}" for one in self.false_claims]
        totals = ", ".join(f"{len(self.of(verdict))} {verdict}" for verdict in Verdict)
        if self.untried:
            lines.append(f"{self.untried} not tried yet: the same command goes on with them")
        return "\n".join([*lines, f"seed {self.seed}: {totals}; {self.share:.1%} killed of those that count"])

    def as_json(self) -> dict[str, object]:
        return {
            "seed": self.seed,
            "killed": len(self.of(Verdict.KILLED)),
            "survived": len(self.of(Verdict.SURVIVED)),
            "equivalent": len(self.of(Verdict.EQUIVALENT)),
            "untried": self.untried,
            "share": round(self.share, 4),
            "mutants": [
                {
                    "module": one.mutant.module,
                    "function": one.mutant.function,
                    "line": one.mutant.line,
                    "kind": one.mutant.kind,
                    "original": one.mutant.original,
                    "becomes": one.mutant.becomes,
                    "verdict": str(one.verdict),
                    "by": one.by,
                    "reason": one.reason,
                    "seconds": round(one.seconds, 2),
                }
                for one in self.outcomes
            ],
        }
