"""Plans: the steps that protect a table, as a file that can be read, changed and run again.

    table: visits
    hierarchies: hierarchies          # a folder beside the plan, one file for each column
    steps:
      - top_code: {column: cost, bound: 400}
      - generalize: {quasi: [age, sex, zip], k: 5, limit: 0.05}

A `Protection` holds the records and applies one step after the other. The records of every step are kept, so that a
step can be undone and done again; the original is never changed. A plan replays on the same table: steps without
chance give the same records, and steps with chance draw anew, since a seed would be a key to what they did.

What it does not promise: that the steps of a plan add up to anything. A later step can undo what an earlier one
promised (noise on a generalised column makes new classes); the report measures what is there at the end.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from discreet.anonymize.criteria import Criteria
from discreet.anonymize.generalize import generalize
from discreet.anonymize.hierarchy import Hierarchy, read_hierarchies
from discreet.anonymize.microaggregate import microaggregate
from discreet.anonymize.perturb import add_noise, bottom_code, pram, top_code
from discreet.anonymize.records import Codes, Records
from discreet.anonymize.suppress import suppress
from discreet.anonymize.swap import rank_swap, record_swap
from discreet.check import known, some
from discreet.errors import ArgumentError, FileError

__all__ = ["STEPS", "Plan", "Protection", "Step"]

Hierarchies = Mapping[str, Hierarchy]
_FOLDER = "hierarchies"


@dataclass(frozen=True, slots=True)
class Step:
    """One step: its verb and its arguments, as a plan file has them."""

    verb: str
    arguments: Mapping[str, Any]

    def __post_init__(self) -> None:
        known("step", self.verb, tuple(STEPS), step="name one of the steps")
        asked = inspect.signature(STEPS[self.verb]).parameters.values()
        allowed = {one.name: one.default is one.empty for one in asked if one.kind is one.KEYWORD_ONLY}
        for name in self.arguments:
            known(f"argument of {self.verb}", name, sorted(allowed), step="name one of these")
        missing = [name for name, needed in allowed.items() if needed and name not in self.arguments]
        if missing:
            raise ArgumentError(
                f"step {self.verb}",
                found=f"no {missing[0]}",
                right=f"it needs {', '.join(name for name, needed in allowed.items() if needed)}",
                step=f"give {missing[0]}",
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The steps for a table, and the hierarchies they use."""

    table: str
    steps: tuple[Step, ...]
    hierarchies: Hierarchies = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> Plan:
        """The plan in a YAML file; the hierarchies lie in the folder it names, beside it."""
        try:
            content = yaml.safe_load(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, yaml.YAMLError):
            content = None
        if not isinstance(content, dict) or not isinstance(content.get("steps"), list):
            raise _broken(path, "no list of steps")
        steps = []
        for place, entry in enumerate(content["steps"], start=1):
            if not isinstance(entry, dict) or len(entry) != 1:
                raise _broken(path, f"step {place} is not one verb with its arguments")
            ((verb, arguments),) = entry.items()
            if not isinstance(arguments or {}, dict):
                raise _broken(path, f"the arguments of step {place} have no names")
            steps.append(Step(str(verb), arguments or {}))
        columns = {name for step in steps for name in _columns(step)}
        named = content.get("hierarchies")
        trees = {} if named is None else read_hierarchies(path.parent / str(named), sorted(columns))
        return cls(table=str(content.get("table", "")), steps=tuple(steps), hierarchies=trees)

    def files(self) -> dict[Path, bytes]:
        """The plan file, and one CSV for each hierarchy, as they lie in one folder."""
        content: dict[str, Any] = {"table": self.table}
        if self.hierarchies:
            content["hierarchies"] = _FOLDER
        content["steps"] = [{step.verb: dict(step.arguments)} for step in self.steps]
        text = yaml.safe_dump(content, sort_keys=False, allow_unicode=True)
        made = {Path("plan.yaml"): text.encode()}
        for name, tree in self.hierarchies.items():
            made[Path(_FOLDER, f"{name}.csv")] = tree.as_csv().encode()
        return made


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class _State:
    """The records after a step, which of the first rows they are, and what the step said of itself."""

    records: Records
    rows: Codes
    step: Step | None = None
    figures: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Protection:
    """Records on their way to being published: every state since the original, and those undone."""

    table: str
    hierarchies: Hierarchies
    states: tuple[_State, ...]
    undone: tuple[_State, ...] = ()

    def __repr__(self) -> str:
        return f"<confidential protection of {self.table}: {len(self.states) - 1} steps>"

    @classmethod
    def begin(cls, records: Records, *, table: str = "", hierarchies: Hierarchies | None = None) -> Protection:
        """Nothing done yet."""
        first = _State(records=records, rows=np.arange(records.rows))
        return cls(table=table, hierarchies=dict(hierarchies or {}), states=(first,))

    @property
    def original(self) -> Records:
        """The records before any step. They are never changed."""
        return self.states[0].records

    @property
    def records(self) -> Records:
        """The records after all steps."""
        return self.states[-1].records

    @property
    def rows(self) -> Codes:
        """Which of the original's rows the records are."""
        return self.states[-1].rows

    @property
    def plan(self) -> Plan:
        """The steps that stand."""
        steps = tuple(state.step for state in self.states if state.step is not None)
        used = {name for step in steps if step.verb == "generalize" for name in _columns(step)}
        trees = {name: tree for name, tree in self.hierarchies.items() if name in used}
        return Plan(table=self.table, steps=steps, hierarchies=trees)

    @property
    def figures(self) -> tuple[Mapping[str, object], ...]:
        """What each step said of itself, for the keeper."""
        return tuple(state.figures for state in self.states[1:])

    @property
    def quasi(self) -> tuple[str, ...]:
        """The columns that steps took for known outside."""
        named = [name for state in self.states if state.step for name in state.step.arguments.get("quasi", ())]
        return tuple(dict.fromkeys(named))

    def apply(self, verb: str, **arguments: Any) -> Protection:
        """One step more; what was undone is forgotten."""
        step = Step(verb, arguments)
        records, kept, figures = STEPS[verb](self.records, self.hierarchies, **arguments)
        rows = self.rows if kept is None else self.rows[kept]
        state = _State(records=records, rows=rows, step=step, figures=figures)
        return replace(self, states=(*self.states, state), undone=())

    def run(self, plan: Plan) -> Protection:
        """All steps of a plan."""
        held = replace(self, hierarchies={**self.hierarchies, **plan.hierarchies})
        for step in plan.steps:
            held = held.apply(step.verb, **step.arguments)
        return held

    def undo(self) -> Protection:
        """Without the last step."""
        if len(self.states) == 1:
            raise _nothing("undo", "no step")
        return replace(self, states=self.states[:-1], undone=(*self.undone, self.states[-1]))

    def redo(self) -> Protection:
        """With the step that was undone last, and what it drew."""
        if not self.undone:
            raise _nothing("redo", "no step that was undone")
        return replace(self, states=(*self.states, self.undone[-1]), undone=self.undone[:-1])


Made = tuple[Records, Codes | None, Mapping[str, object]]


def _generalize(
    records: Records,
    trees: Hierarchies,
    *,
    quasi: list[str],
    k: int = 1,
    l: int | None = None,  # noqa: E741  the literature's letter
    entropy_l: float | None = None,
    t: float | None = None,
    sensitive: str | None = None,
    ordered: bool = False,
    method: str = "optimal",
    limit: float = 0.0,
) -> Made:
    asked = Criteria(k=k, l=l, entropy_l=entropy_l, t=t, sensitive=sensitive, ordered=ordered)
    made = generalize(records, quasi, asked, hierarchies=trees, method=method, limit=limit)
    return made.records, np.flatnonzero(~made.left_out), made.as_json()


def _suppress(
    records: Records,
    _: Hierarchies,
    *,
    quasi: list[str],
    k: int = 3,
    weights: Mapping[str, float] | None = None,
    reading: str = "alike",
) -> Made:
    made = suppress(records, quasi, k=k, weights=weights, reading=reading)
    return made.records, None, made.as_json()


def _top_code(records: Records, _: Hierarchies, *, column: str, bound: float | None = None, least: int = 20) -> Made:
    made = top_code(records.column(column), bound, least=least)
    return records.replaced(made.column), None, {"changed": int(made.changed.sum())}


def _bottom_code(records: Records, _: Hierarchies, *, column: str, bound: float | None = None, least: int = 20) -> Made:
    made = bottom_code(records.column(column), bound, least=least)
    return records.replaced(made.column), None, {"changed": int(made.changed.sum())}


def _noise(records: Records, _: Hierarchies, *, column: str, share: float = 0.1) -> Made:
    made = add_noise(records.column(column), share)
    return records.replaced(made.column), None, {"changed": int(made.changed.sum())}


def _pram(records: Records, _: Hierarchies, *, column: str, keep: float = 0.8, is_invariant: bool = True) -> Made:
    made = pram(records.column(column), keep, is_invariant=is_invariant)
    return records.replaced(made.column), None, {"changed": int(made.changed.sum())}


def _microaggregate(
    records: Records, _: Hierarchies, *, columns: list[str], k: int = 3, grouping: str = "mdav"
) -> Made:
    return microaggregate(records, columns, k=k, grouping=grouping), None, {}


def _rank_swap(records: Records, _: Hierarchies, *, column: str, window: float = 0.05) -> Made:
    return records.replaced(rank_swap(records.column(column), window)), None, {}


def _record_swap(
    records: Records,
    _: Hierarchies,
    *,
    regions: list[str],
    risk: list[str],
    similar: list[str],
    k: int = 3,
    rate: float = 0.0,
) -> Made:
    made = record_swap(records, regions, risk=risk, similar=similar, k=k, rate=rate)
    told = {"moved": made.moved, "at_risk": made.at_risk, "without_partner": made.alone}
    return made.records, None, {name: int(flags.sum()) for name, flags in told.items()}


def _drop(records: Records, _: Hierarchies, *, columns: list[str]) -> Made:
    gone = some("columns", columns, step="name the columns to leave out")
    for name in gone:
        records.column(name)
    return Records(columns=tuple(one for one in records.columns if one.name not in gone)), None, {}


STEPS: Mapping[str, Callable[..., Made]] = {
    "generalize": _generalize,
    "suppress": _suppress,
    "top_code": _top_code,
    "bottom_code": _bottom_code,
    "noise": _noise,
    "pram": _pram,
    "microaggregate": _microaggregate,
    "rank_swap": _rank_swap,
    "record_swap": _record_swap,
    "drop": _drop,
}


def _columns(step: Step) -> tuple[str, ...]:
    return tuple(map(str, step.arguments.get("quasi", ())))


def _broken(path: Path, found: str) -> FileError:
    return FileError(str(path), found=found, right="a plan has `table:` and a list `steps:`", step="correct the plan")


def _nothing(verb: str, found: str) -> ArgumentError:
    return ArgumentError(verb, found=found, right="there is one", step="apply a step first")
