"""A wanted error instead of a budget: the least each piece has to spend so that its intervals are narrow enough.

1. Wanted is half the width of the 95 % interval around a column of the answer, one for all or one by name.
2. The error of a piece falls with its loss in a known way: Laplace noise with 1/ε, Gaussian noise with 1/√ρ. So its
   loss follows from the error at a loss of 1. Noise on whole numbers is checked by its exact law and given more where
   that is needed.
3. A mean, a variance and the like err less the more rows there are, which nobody knows before asking: they take the
   number of rows that the asker supposes in a cell, or that the contract makes public.
4. Beside an ε, wanted errors say how it is spread: in proportion to what each piece would need.

Only contract, question and what is wanted are used; no engine is asked.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias

from discreet.check import positive
from discreet.data.contract import Contract
from discreet.errors import ArgumentError
from discreet.measure.noisy import Measurement
from discreet.query.allowance import Allowance, Exact
from discreet.query.piece import Candidate, Piece, settled_recipe
from discreet.query.question import Question
from discreet.query.statistic import Statistic
from discreet.query.sums import Sums
from discreet.query.term import Asked
from discreet.query.words import statistic_text

__all__ = ["Wanted", "WantedErrors", "losses_for", "text_of_errors", "wanted_of"]

WantedErrors: TypeAlias = Exact | Mapping[str, Exact]
_COVERED = Fraction(19, 20)
# Half the 95 % interval over the standard deviation, of Laplace and of normal noise; of sums of Laplace, in between.
_WIDE = {"laplace": math.log(20) / math.sqrt(2), "gaussian": 1.96}
# What is said of several noisy numbers comes from draws, which may say a little more.
_SAID = 1.02
_MORE, _FINENESS, _TRIES = Fraction(102, 100), 10**9, 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Half the width of the interval that is wanted of each statistic, and the rows to suppose in a cell."""

    errors: Mapping[Statistic, Fraction]
    rows: Fraction | None = None


def wanted_of(
    questions: Sequence[Question], contract: Contract, errors: WantedErrors, rows: Exact | None = None
) -> Wanted:
    """What is wanted of each statistic of the questions, or a refusal that names the column without it."""
    columns = {
        output.name: question.statistics[output.term.at]
        for question in questions
        for output in question.outputs
        if isinstance(output.term, Asked)
    }
    given = {name: positive(f"error of {name!r}", error) for name, error in _by_name(errors, tuple(columns)).items()}
    unknown = next((name for name in given if name not in columns), None)
    if unknown is not None:
        raise ArgumentError(
            "error",
            found=f"one for {unknown!r}, which is no column that is a statistic by itself",
            right=f"those are {', '.join(map(repr, columns)) or 'none'}",
            step="ask for the statistics in columns of their own",
        )
    found: dict[Statistic, Fraction] = {}
    for name, error in given.items():
        found[columns[name]] = min(error, found.get(columns[name], error))
    missing = next((one for question in questions for one in question.statistics if one not in found), None)
    if missing is not None:
        raise ArgumentError(
            "error",
            found=f"none for {statistic_text(missing)}",
            right="each statistic that is measured has one",
            step="ask for it in a column of its own, and name its error",
        )
    supposed = None if rows is None else positive("rows", rows)
    if supposed is None and contract.units is not None and contract.unit.is_row:
        alone = all(not question.by and question.where is None and not question.joins for question in questions)
        supposed = Fraction(contract.units) if alone else None
    return Wanted(errors=found, rows=supposed)


def losses_for(pieces: Sequence[Piece], law: Allowance, wanted: Wanted, contract: Contract) -> tuple[Fraction, ...]:
    """What each piece has to spend under one law of noise: ε for Laplace, ρ for Gaussian."""
    return tuple(_loss(piece, law, wanted, contract) for piece in pieces)


def text_of_errors(errors: WantedErrors) -> str:
    """Errors as text, from which `wanted_of` reads them again: a number, or a JSON object of them."""
    if isinstance(errors, Mapping):
        return json.dumps({name: str(positive(f"error of {name!r}", error)) for name, error in errors.items()})
    return errors if isinstance(errors, str) else str(positive("error", errors))


def _by_name(errors: WantedErrors, names: Sequence[str]) -> Mapping[str, Exact]:
    if isinstance(errors, str) and errors.lstrip().startswith("{"):
        try:
            errors = {str(name): str(error) for name, error in json.loads(errors).items()}
        except (ValueError, RecursionError):
            raise ArgumentError(
                "error", found="a text that is no number and no JSON object", right='5, or {"n": 5}', step="write it so"
            ) from None
    return errors if isinstance(errors, Mapping) else dict.fromkeys(names, errors)


def _loss(piece: Piece, law: Allowance, wanted: Wanted, contract: Contract) -> Fraction:
    candidates = piece.candidates(replace(law, loss=Fraction(1)))
    loss = min(_at_first(piece, candidate, law, wanted) for candidate in candidates)
    for _ in range(_TRIES):
        loss = Fraction(math.ceil(loss * _FINENESS), _FINENESS)
        if _narrow(piece, piece.candidates(replace(law, loss=loss))[0], wanted, contract):
            return loss
        loss *= _MORE
    raise ArgumentError(
        "error", found="less than any noise allows", right="an error that noise can keep to", step="want a larger one"
    )


def _at_first(piece: Piece, candidate: Candidate, law: Allowance, wanted: Wanted) -> Fraction:
    """The loss at which a candidate errs as little as wanted, but for whole numbers."""
    needed = Fraction(0)
    for statistic, expected in zip(piece.statistics, candidate.expected, strict=True):
        if expected.unit:
            raise ArgumentError(
                "error",
                found=f"one wanted of {statistic_text(statistic)}, which is chosen, not summed",
                right="errors are wanted of counts, sums and what is made of them",
                step="ask for it by itself, with an ε",
            )
        if expected.per_row and wanted.rows is None:
            raise ArgumentError(
                "error",
                found=f"one wanted of {statistic_text(statistic)}, whose error depends on how many rows there are",
                right=f"it is {expected.text()} at a loss of 1 in a cell of n rows",
                step="say how many rows to suppose in a cell, as in rows=1000",
            )
        deviation = expected.at(float(wanted.rows or 1))
        ratio = Fraction(_WIDE[law.law] * deviation) / wanted.errors[statistic]
        needed = max(needed, ratio if law.law == "laplace" else ratio**2)
    return needed


def _narrow(piece: Piece, candidate: Candidate, wanted: Wanted, contract: Contract) -> bool:
    """Whether every interval is as narrow as wanted: by the exact law where one noisy number is behind a statistic."""
    part = candidate.build()
    for statistic, expected in zip(piece.statistics, candidate.expected, strict=True):
        half = _SAID * _WIDE[candidate.allowance.law] * expected.at(float(wanted.rows or 1))
        recipe = settled_recipe(statistic, contract)
        if isinstance(part, Measurement) and recipe is not None and recipe.linear:
            sums = Sums(measurements=(part,), sources=candidate.sources, sizes=())
            exact = sums.half_width(recipe.needs[0], _COVERED)
            half = half if exact is None else exact
        if half > wanted.errors[statistic]:
            return False
    return True
