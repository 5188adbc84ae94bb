"""Turns what pydantic found into one ContractError that names file, line, column and field in our own words.

Pydantic says where (a path) and what kind; what is right comes from the field's own description, so that the editor's
hint, the reference and the error message are one text. A FactError brings its own words.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any, TypeAlias

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from discreet.data.document import Document
from discreet.data.fact import FactError, shown
from discreet.errors import ContractError

__all__ = ["contract_error"]

Models: TypeAlias = Mapping[str, type[BaseModel]]


def contract_error(error: ValidationError, models: Models, origin: Document | None) -> ContractError:
    """The first thing wrong, said so that it can be put right. `models` are the models by their place in a contract."""
    problems = error.errors(include_url=False)
    first = min(problems, key=lambda problem: problem["type"] != "extra_forbidden")
    path = tuple(first["loc"])
    model, steps = _model_at(path, models)
    found, right, step = _words(first, model, steps[-1] if steps else "")
    if len(problems) > 1:
        found += f" (the first of {len(problems)} problems)"
    return ContractError(_where(steps, origin), found=found, right=right, step=step)


def _model_at(path: tuple[str | int, ...], models: Models) -> tuple[type[BaseModel], tuple[str | int, ...]]:
    """The model a path ends in, and the path as it stands in the file: without the tag pydantic adds for a type."""
    if len(path) > 2 and path[0] == "columns" and path[2] in models:
        return models[str(path[2])], (*path[:2], *path[3:])
    return models.get(str(path[0]) if len(path) > 1 else "", models[""]), path


def _where(steps: tuple[str | int, ...], origin: Document | None) -> str:
    place = origin.place(steps) if origin else "contract"
    if steps[:1] == ("columns",) and len(steps) > 1:
        steps = (f"column {steps[1]!r}", *steps[2:])
    elif len(steps) > 1 and isinstance(steps[1], int):
        steps = (f"{steps[0]} {steps[1] + 1}", *steps[2:])
    return ", ".join([place, *(f"entry {step + 1}" if isinstance(step, int) else step for step in steps)])


def _words(problem: ErrorDetails, model: type[BaseModel], name: str | int) -> tuple[str, str, str]:
    kind, given, context = problem["type"], problem["input"], problem.get("ctx", {})
    complaint = context.get("error")
    if isinstance(complaint, FactError):
        return complaint.found, complaint.right, complaint.step
    if kind == "extra_forbidden":
        return _unknown(str(name), model)
    if kind == "missing":
        return "it is missing", f"{name} is {_described(model, name)}", f"add the entry `{name}:`"
    if kind in ("union_tag_invalid", "union_tag_not_found"):
        types = context.get("expected_tags") or ", ".join(f"{n!r}" for n in _TYPES)
        found = f"type {shown(context['tag'])}" if "tag" in context else "no type"
        return found, f"a column's type is one of {types}", "give the column one of these types"
    if kind == "enum":
        return shown(given), f"it is one of {context.get('expected')}", f"write {_nearest(given, context)}"
    return shown(given), f"{name} is {_described(model, name)}", "correct the entry"


def _unknown(name: str, model: type[BaseModel]) -> tuple[str, str, str]:
    near = difflib.get_close_matches(name, list(model.model_fields), n=1, cutoff=0.6)
    known = ", ".join(model.model_fields)
    step = f"perhaps {near[0]!r} was meant" if near else "remove it or choose one of these"
    return f"nothing is called {shown(name)} here", f"there is {known}", step


def _described(model: type[BaseModel], name: str | int) -> str:
    field = model.model_fields.get(str(name))
    return (field.description if field else None) or "as the reference describes"


def _nearest(given: Any, context: Mapping[str, Any]) -> str:
    choices = [choice.strip("'") for choice in str(context.get("expected", "")).replace(" or ", ", ").split(", ")]
    near = difflib.get_close_matches(str(given), choices, n=1, cutoff=0.6)
    return near[0] if near else "one of these"


_TYPES = ("integer", "decimal", "category", "boolean", "date", "datetime", "text")
