"""What was asked, with which budget, and which entry of which ledger paid for it: enough to have the answers again.

A script writes itself as YAML, which `discreet replay` reads, and as Python. Both ask the same questions with the same
budget; since they were paid for, they are answered from the ledger and nothing is spent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

from discreet.data.document import read_document, write_document
from discreet.errors import ArgumentError, ContractError

__all__ = ["Script", "require_script"]

_AMOUNTS = ("epsilon", "delta", "rho", "above", "rows")
_BUDGET = (*_AMOUNTS, "error", "clip", "analyst", "project")
_HEAD = "# Questions that were asked together. `discreet replay FILE` gives their answers again and spends nothing.\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """Questions in SQL and what they may spend, as text. `at` says which of them an answer is of; `entry` and `ledger`
    name the charge, if there was one."""

    questions: tuple[str, ...]
    at: int = 0
    epsilon: str | None = None
    delta: str | None = None
    rho: str | None = None
    above: str | None = None
    rows: str | None = None
    error: str | None = None
    clip: str | None = None
    analyst: str | None = None
    project: str | None = None
    entry: int | None = None
    ledger: str | None = None

    @property
    def budget(self) -> dict[str, str]:
        """What was said of the budget and who pays."""
        given = ((name, getattr(self, name)) for name in _BUDGET)
        return {name: value for name, value in given if value is not None}

    def yaml(self) -> str:
        """As a file that `discreet replay` reads."""
        amounts = {name: Fraction(value) if name in _AMOUNTS else value for name, value in self.budget.items()}
        entries: dict[str, Any] = {"ask": list(self.questions), **amounts}
        if self.entry is not None:
            entries["paid"] = {"entry": self.entry, "ledger": self.ledger}
        return _HEAD + write_document(entries)

    def python(self) -> str:
        """As Python that asks again."""
        texts = ",\n    ".join(map(repr, self.questions))
        budget = ", ".join(f"{name}={value!r}" for name, value in self.budget.items())
        return (
            '"""Questions that were asked together. Where they were paid for, running this spends nothing."""\n\n'
            "import discreet\n\n"
            'curator = discreet.Curator.find()  # from inside its folder; from elsewhere discreet.Curator("FOLDER")\n'
            f"questions = [\n    {texts},\n]\n"
            f"answers = curator.ask(*questions, {budget}).run()\n"
            f"answer = answers[{self.at}]\n"
            "print(answer.frame)\n"
            'print("\\n".join(answer.sentences()))\n'
        )

    @classmethod
    def parse(cls, text: str, *, where: str) -> Self:
        """The script in a YAML file."""
        tree = read_document(text, where=where).tree
        questions = tree.get("ask") if isinstance(tree, dict) else None
        if not isinstance(tree, dict) or not isinstance(questions, list):
            raise ContractError(
                where,
                found="no list of questions under `ask`",
                right="a replay is what `discreet ask … --save FILE.yaml` wrote",
                step="save an answer as YAML",
            )
        strange = [name for name in tree if name not in {"ask", "paid", *_BUDGET}]
        texts, paid = [one for one in questions if isinstance(one, str)], tree.get("paid") or {}
        if strange or len(texts) < len(questions) or not isinstance(paid, Mapping):
            found = f"an entry {strange[0][:60]!r}" if strange else "questions that are no text"
            raise ContractError(
                where, found=found, right=f"it has ask, {', '.join(_BUDGET)} and paid", step="save the answer anew"
            )
        budget = {name: tree[name] for name in _BUDGET if tree.get(name) is not None}
        if not all(isinstance(value, str) for value in budget.values()):
            raise ContractError(where, found="a budget of several parts", right="each is one number", step="write one")
        entry = paid.get("entry")
        given: dict[str, Any] = {
            **budget,
            "questions": tuple(texts),
            "entry": int(entry) if isinstance(entry, str) and entry.isascii() and entry.isdigit() else None,
            "ledger": paid.get("ledger") if isinstance(paid.get("ledger"), str) else None,
        }
        return cls(**given)


def require_script(script: Script | None) -> Script:
    """The script, or the refusal of what was built instead of written."""
    if script is None:
        raise ArgumentError(
            "form of the file",
            found="an answer to a question that was built, not written",
            right="questions in SQL can be asked again from a file",
            step="save the answer as .csv, .parquet, .json or .html",
        )
    return script
