"""Evaluation of copies: what they keep (utility), what they give away (risk), and both beside what to compare with.

1. Utility: models, pooled by the rule of the copies; propensity scores; one- and two-way tables.
2. Risk: re-identification by keys, guesses of sensitive columns, distance to the closest record.
3. Every score stands beside a baseline and, where it is an estimate, with an interval. `sentences` says it in words.

4. Models count the weights of a survey and take variances by its design, for the original as for the copies. Tables
   and classifiers count records: they compare the copies with this table, not with a population.
5. Cells that the table misses and every copy fills have nothing to be compared with. Models use what was filled; for
   all else they are taken as missing in the copies too. There a person's own row always matches and few others can, so
   that the risk is stated on the safe side.

It is the keeper's: it holds raw figures of the original. Copies are measured risk, not differential privacy: figures
hold for the intruder that is described and for no other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from discreet.check import known, one_of
from discreet.data.aligned import Aligned, align, as_lists
from discreet.errors import ArgumentError
from discreet.evaluation.filled import filled_columns, without_filled
from discreet.randomness import Generator, keyed_generator
from discreet.risk.attribute import Attribution, attribute_risk
from discreet.risk.nearest import Closeness, closest_records
from discreet.risk.reidentification import Reidentification, reidentify
from discreet.stats.combine import Rule
from discreet.stats.survey import Sampling
from discreet.synthesis.imputation.copies import Copies
from discreet.utility.marginals import Marginals, compare_marginals
from discreet.utility.models import Family, ModelComparison, compare_models
from discreet.utility.propensity import Propensity, propensity

__all__ = ["GUARANTEE", "Copies", "Evaluation", "evaluate"]

GUARANTEE = Copies.guarantee
# Frames alone do not say which of them complete the same cells, as the nested rule must know.
_RULES = tuple(rule for rule in Rule if rule is not Rule.NESTED)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Evaluation:
    """What copies of a table keep and give away. Confidential: it is the keeper's."""

    table: str
    method: str
    records: int
    copies: int
    changed: tuple[str, ...]
    kept: tuple[str, ...]
    rule: Rule
    sampling: Sampling
    models: tuple[ModelComparison, ...]
    propensities: tuple[Propensity, ...]
    marginals: Marginals
    reidentification: Reidentification
    attributes: tuple[Attribution, ...]
    closeness: Closeness
    notes: tuple[str, ...]

    def as_json(self) -> dict[str, object]:
        """Everything, as plain values."""
        return {
            "family": "measured risk",
            "guarantee": GUARANTEE,
            "table": self.table,
            "method": self.method,
            "records": self.records,
            "copies": self.copies,
            "changed": list(self.changed),
            "unchanged": list(self.kept),
            "rule": self.rule.value,
            "design": {part: name for part, name in asdict(self.sampling).items() if name},
            "utility": {
                "models": [one.as_json() for one in self.models],
                "propensity": [one.as_json() for one in self.propensities],
                "marginals": self.marginals.as_json(),
            },
            "risk": {
                "reidentification": self.reidentification.as_json(),
                "attributes": [one.as_json() for one in self.attributes],
                "closest_records": self.closeness.as_json(),
            },
            "sentences": list(self.sentences()),
            "notes": list(self.notes),
        }

    def sentences(self) -> tuple[str, ...]:
        """The findings in plain words: utility, then risk."""
        return (*self.utility_sentences(), *self.risk_sentences())

    def utility_sentences(self) -> tuple[str, ...]:
        """What the copies keep."""
        return (
            *(sentence for one in self.models for sentence in one.sentences()),
            *(one.sentence for one in self.propensities),
            *self.marginals.sentences(),
        )

    def risk_sentences(self) -> tuple[str, ...]:
        """What the copies give away."""
        return (
            *self.reidentification.sentences(),
            *(one.sentence for one in self.attributes),
            self.closeness.sentence,
        )


def evaluate(
    original: Any,
    copies: Copies | Sequence[Any],
    *,
    model: str | Sequence[str] = (),
    family: Family = "ols",
    keys: Sequence[str] | None = None,
    tolerances: Mapping[str, float] | None = None,
    rule: Rule | str = Rule.PARTIAL,
    sensitive: Sequence[str] = (),
    groups: str | Sequence[Any] | None = None,
    holdout: Any | None = None,
    completions: Sequence[Any] = (),
    joined: Mapping[str, Sequence[Any]] | None = None,
    interactions: bool = False,
    sampling: Sampling | None = None,
    table: str = "the table",
    generator: Generator | None = None,
    progress: Callable[[str], None] | None = None,
) -> Evaluation:
    """Utility and risk of copies of a table: frames, pooled by `rule`, or `Copies`, which know their own.

    `keys` are what an intruder knows; by default the columns that the copies change. `sensitive` columns are guessed
    from the keys. `holdout` are records like the original's that the copies were not made from. `sampling` is the
    survey's design, which `Copies` bring with them.
    """
    tell, draw = progress or (lambda _: None), generator or keyed_generator()
    tell("reading")
    sides = _read(original, copies if isinstance(copies, Copies) else _plain(copies, rule), sampling)
    base, frames, chosen = sides.base, sides.compared, tuple(sides.changed if keys is None else keys)
    said = _key_notes(sides.tables, chosen, tolerances or {}, by_default=keys is None)
    tell("models")
    formulas = (model,) if isinstance(model, str) else tuple(model)
    models = tuple(_model(sides, formula, family, completions, joined) for formula in formulas)
    tell("propensity")
    scores = _propensities(base, frames, interactions, draw)
    tell("marginals")
    marginals = compare_marginals(base, frames)
    found = reidentify(base, frames, keys=chosen, tolerances=tolerances, groups=groups, progress=progress)
    tell("guesses and closest records")
    return Evaluation(
        table=table,
        method=sides.made.method,
        records=sides.tables.rows[0],
        copies=len(frames),
        changed=sides.changed,
        kept=tuple(name for name in sides.tables.names if name not in sides.changed),
        rule=sides.made.rule,
        sampling=sides.sampling,
        models=models,
        propensities=scores,
        marginals=marginals,
        reidentification=found,
        attributes=tuple(
            attribute_risk(base, frames, sensitive=name, keys=chosen, tolerances=tolerances) for name in sensitive
        ),
        closeness=closest_records(base, frames, holdout=holdout, generator=draw),
        notes=(*sides.made.notes, *sides.notes, *said),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class _Sides:
    """The original and its copies, read once; `compared` are the copies without the cells they fill."""

    made: Copies
    base: dict[str, list[Any]]
    frames: tuple[dict[str, list[Any]], ...]
    compared: tuple[dict[str, list[Any]], ...]
    tables: Aligned
    changed: tuple[str, ...]
    sampling: Sampling
    notes: tuple[str, ...]


def _read(original: Any, made: Copies, sampling: Sampling | None) -> _Sides:
    base, frames = as_lists(original), tuple(as_lists(frame) for frame in made)
    design = made.sampling if sampling is None else sampling
    for name in design.names:
        known("column", name, tuple(name for name in base if name in frames[0]), step="name a column of the design")
    filled = filled_columns(base, frames)
    compared = tuple(without_filled(base, frame, filled) for frame in frames) if filled else frames
    tables = align([base, *compared])
    changed = tuple(one.name for one in tables.variables if one.changed)
    if not changed:
        raise ArgumentError(
            "copies", found="nothing but the original's values", right="some column differs", step="give other files"
        )
    notes = []
    if filled:
        notes.append(
            f"the copies fill cells that the table misses, in {', '.join(filled)}: models use them; for all other "
            "figures they are taken as missing in the copies too"
        )
    if design.names:
        notes.append("models count the weights and the design of the survey, tables and classifiers count records")
    return _Sides(
        made=made,
        base=base,
        frames=frames,
        compared=compared,
        tables=tables,
        changed=changed,
        sampling=design,
        notes=tuple(notes),
    )


def _model(
    sides: _Sides,
    formula: str,
    family: Family,
    completions: Sequence[Any],
    joined: Mapping[str, Sequence[Any]] | None,
) -> ModelComparison:
    return compare_models(
        sides.base,
        sides.frames,
        formula=formula,
        family=family,
        rule=sides.made.rule,
        nests=sides.made.nests,
        sizes=sides.made.sizes,
        completions=completions,
        joined=joined,
        sampling=sides.sampling,
        astray="keep",
    )


def _plain(frames: Sequence[Any], rule: Rule | str) -> Copies:
    if not len(frames):
        raise ArgumentError("copies", found="none", right="one or more", step="give copies of the table")
    return Copies(frames=tuple(frames), method="not known", perturbed=(), rule=Rule(one_of("rule", rule, _RULES)))


def _propensities(
    base: Mapping[str, list[Any]], frames: Sequence[Any], interactions: bool, draw: Generator
) -> tuple[Propensity, ...]:
    kinds: list[tuple[Literal["logistic", "tree"], bool]] = [("logistic", False), ("tree", False)]
    if interactions:
        kinds.insert(1, ("logistic", True))
    return tuple(
        propensity(base, frames, classifier=kind, interactions=crossed, generator=draw) for kind, crossed in kinds
    )


def _key_notes(tables: Aligned, keys: Sequence[str], tolerances: Mapping[str, float], *, by_default: bool) -> list[str]:
    """What was decided about the keys, and where equality of numbers may flatter the copies."""
    notes = []
    if by_default:
        notes.append(f"the intruder is taken to know the columns that changed: {', '.join(keys)}")
    exact = [name for name in keys if name not in tolerances and tables.variable(name).numeric]
    if exact:
        notes.append(
            f"numbers of {', '.join(exact)} match only where they are equal; an intruder who allows for a distance "
            "finds more: give a tolerance"
        )
    return notes
