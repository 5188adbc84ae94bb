"""How far one unit moves the vector of all cells, proven from plan and contract alone.

One unit's contribution is a vector over cells and numbers. With m = R·2^s the whole weight of a unit (a row: 1):

* Counts and mixtures: no entry is below 0 and all add up to at most m·C (C = 1, or (hi − lo)^d; whole mixtures too).
  Add-remove: ℓ1 ≤ m·C. Replace-one: two such vectors differ by at most m·C in one entry, by 2·m·C where there are more.
* Totals: entries of one sign or the other whose absolute values add up to at most m·V, V = max(|lo|, |hi|).
  Add-remove: ℓ1 ≤ m·V. Replace-one: over one cell m·(max(hi, 0) − min(lo, 0)), over more cells 2·m·V.
* A row under public joins is up to F rows: m = F, and what is said of units with more than one row holds of it.
* Persons: at most 2^s in a cell and min(G, c)·2^s over all c cells. Replace-one: min(2G, c)·2^s.

Squared ℓ2: add-remove the square of the ℓ1 bound; replace-one twice that over several entries, and for totals never
below the square of what one cell moves. Persons: the ℓ1 bound times 2^s.

Under replace-one a row that is surely there, whatever it holds, moves a total by hi − lo only. That is known of the
whole unit set alone: a filter, a group or a missing value lets a row leave.

Sums: the engine adds 64-bit terms in 128 bits, which no table of fewer than 2^63 rows overflows. The sum of
`rows_at_most` rows stays within ±2^61; beyond that many rows a number is clamped to ±2^61, which brings neighbours no
further apart.

Given:   the contract's bounds, unit and adjacency; a plan.
Promise: the vectors of neighbours differ by at most `l1` in sum and `l2_squared` in sum of squares, part by part.
Because: see above; every bound is that of the corners of a set that holds all contributions.
Tested:  test_neighbours_by_row, test_neighbours_by_person, test_planted_bugs_turn_red.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from discreet.data.contract import Contract
from discreet.errors import ArgumentError
from discreet.guarantee import Adjacency, number_text
from discreet.measure.groups import Axis, axis_of, cells
from discreet.measure.joins import JoinedContract, fan_out, keeps_rows
from discreet.measure.plan import Aggregate, Count, Mixture, Persons, Plan, Total, width
from discreet.measure.span import LARGEST, Span, require_answerable, span_of
from discreet.measure.weights import BITS_AT_MOST

__all__ = ["Moved", "PartProof", "Proof", "prove"]

# More rows than a table on one machine has. A contract that says max_rows gets finer weights.
_ROWS_WITHOUT_PROMISE = 1 << 33
_BITS_AT_LEAST = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """By how much neighbours differ, at most, in whole steps: in sum, and in sum of squares."""

    l1: int
    l2_squared: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PartProof:
    """One aggregate, the span of its value if it adds one up, and how far one unit moves its numbers."""

    aggregate: Aggregate
    span: Span | None
    moved: Moved


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """What a plan's noise rests on. Every step is a public fact or follows from one."""

    adjacency: Adjacency
    unit: str
    one_row: bool
    axes: tuple[Axis, ...]
    cells: int
    parts: tuple[PartProof, ...]
    limit: int
    bits: int
    rows_at_most: int
    steps: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """The proof as plain values, for receipts; whole numbers as text, since they pass 2^53."""
        return {
            "adjacency": self.adjacency.value,
            "unit": self.unit,
            "cells": self.cells,
            "parts": [
                {
                    "aggregate": type(part.aggregate).__name__.lower(),
                    "l1": str(part.moved.l1),
                    "l2_squared": str(part.moved.l2_squared),
                }
                for part in self.parts
            ],
            "weight_bits": self.bits,
            "rows_at_most": str(self.rows_at_most),
            "steps": list(self.steps),
        }


def prove(plan: Plan, contract: Contract) -> Proof:
    """The proof, or a refusal that names what the contract does not allow."""
    contract.require_declared()
    require_answerable((plan.aggregates, plan.by, plan.where), contract)
    axes = tuple(axis_of(group, contract) for group in plan.by)
    count = cells(axes)
    spans = tuple(_span(aggregate, contract) for aggregate in plan.aggregates)
    most = max(1, *map(_most, plan.aggregates, spans))
    persons, rows = Persons() in plan.aggregates, _rows_at_most(contract)
    _require_told_apart(contract, persons)
    limit = _limit(contract, count if persons else None)
    bounded = not contract.unit.is_row and not (persons and count <= contract.unit.groups)
    bits = _bits(rows * most) if bounded else _require_room(rows * most)
    unit = _UnitReach(weight=limit << bits, full=1 << bits, cells=count, adjacency=contract.adjacency)
    whole = not plan.by and plan.where is None and keeps_rows(contract)
    parts = tuple(
        PartProof(
            aggregate=aggregate,
            span=span,
            moved=_moved(aggregate, span, unit, _surely(aggregate, span, contract, whole)),
        )
        for aggregate, span in zip(plan.aggregates, spans, strict=True)
    )
    return Proof(
        adjacency=contract.adjacency,
        unit=str(contract.unit),
        one_row=contract.unit.is_row and fan_out(contract) == 1,
        axes=axes,
        cells=count,
        parts=parts,
        limit=limit,
        bits=bits,
        rows_at_most=rows,
        steps=(
            *_steps_of_unit(contract, persons=persons, limit=limit, bits=bits),
            *(step for part in parts for step in _steps_of_part(part)),
            f"no sum of up to {rows:,} rows passes 2^61; beyond, a number is clamped there",
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _UnitReach:
    """A unit's whole weight, its weight in one row or cell, and where that can lie."""

    weight: int
    full: int
    cells: int
    adjacency: Adjacency

    @property
    def replaces(self) -> bool:
        return self.adjacency is Adjacency.REPLACE_ONE


def _limit(contract: Contract, cells: int | None) -> int:
    """How many rows of a unit count or, of persons over so many cells, in how many cells it counts."""
    if cells is not None:
        return min(contract.unit.groups, cells)
    return fan_out(contract) if contract.unit.is_row else contract.unit.rows


def _require_told_apart(contract: Contract, persons: bool) -> None:
    if persons and contract.unit.is_row and fan_out(contract) > 1:
        raise ArgumentError(
            "aggregate",
            found="distinct rows of a join in which one row meets several",
            right="rows that have become several are not told apart",
            step="count the joined rows with COUNT(*), or ask the table without the join",
        )


def _span(aggregate: Aggregate, contract: Contract) -> Span | None:
    """The span of what is added up; a mixture needs one of some width."""
    if not isinstance(aggregate, Total | Mixture):
        return None
    span = span_of(aggregate.value, contract)
    if isinstance(aggregate, Mixture) and not span.width:
        raise ArgumentError(
            "aggregate", found="a value that cannot vary", right="its ends differ", step="count the rows instead"
        )
    return span


def _most(aggregate: Aggregate, span: Span | None) -> int:
    """The most that one row of weight 1 adds to the numbers of a cell, in absolute value and all together."""
    match aggregate, span:
        case Mixture(degree=degree), Span():
            return int(span.width**degree)
        case Total(), Span():
            return span.size
    return 1


def _surely(aggregate: Aggregate, span: Span | None, contract: Contract, whole: bool) -> bool:
    """Whether every unit is certain to be among what the aggregate adds up."""
    if not whole:
        return False
    if isinstance(aggregate, Persons):
        return True
    optional = span.optional if span is not None else isinstance(aggregate, Count) and aggregate.of is not None
    return contract.unit.is_row and not optional


def _moved(aggregate: Aggregate, span: Span | None, unit: _UnitReach, surely: bool) -> Moved:
    """The bounds of the module's text, for one aggregate."""
    if isinstance(aggregate, Persons):
        l1 = min(2 * unit.weight, unit.cells * unit.full) if unit.replaces else unit.weight
        moved = Moved(l1=l1, l2_squared=l1 * unit.full)
    elif isinstance(aggregate, Total) and span is not None:
        moved = _moved_total(span, unit, surely)
    else:
        most, entries = unit.weight * _most(aggregate, span), unit.cells * width(aggregate)
        apart = 2 if unit.replaces and entries > 1 else 1
        moved = Moved(l1=apart * most, l2_squared=apart * most**2)
    if not moved.l1 or (surely and unit.replaces and isinstance(aggregate, Count | Persons)):
        raise ArgumentError(
            "aggregate",
            found="a number that the contract makes public",
            right="it is known without asking, and noise on it would buy nothing",
            step="read it off the contract, or ask for less than the whole table",
        )
    return moved


def _moved_total(span: Span, unit: _UnitReach, surely: bool) -> Moved:
    size = unit.weight * span.size
    if not unit.replaces:
        return Moved(l1=size, l2_squared=size**2)
    one_cell = unit.weight * (span.width if surely else max(span.high, 0) - min(span.low, 0))
    if unit.cells == 1:
        return Moved(l1=one_cell, l2_squared=one_cell**2)
    return Moved(l1=2 * size, l2_squared=max(one_cell**2, 2 * size**2))


def _rows_at_most(contract: Contract) -> int:
    """How many rows the sums are proven for."""
    rows = contract.max_rows or _ROWS_WITHOUT_PROMISE
    return min(rows, contract.units * fan_out(contract)) if contract.units and contract.unit.is_row else rows


def _bits(largest: int) -> int:
    """The finest weights with which no sum can pass 2^61."""
    bits = min(BITS_AT_MOST, (LARGEST // largest).bit_length() - 1)
    if bits < _BITS_AT_LEAST:
        raise _no_room(f"weights of at least {_BITS_AT_LEAST} bits fit beside them")
    return bits


def _require_room(largest: int) -> int:
    """No weights, so long as no sum can pass 2^61."""
    if largest > LARGEST:
        raise _no_room("they fit")
    return 0


def _no_room(right: str) -> ArgumentError:
    return ArgumentError(
        "plan",
        found="sums that 64 bits may not hold",
        right=f"for every table that the contract allows {right}",
        step="declare max_rows, or coarser steps or narrower bounds",
    )


def _steps_of_unit(contract: Contract, *, persons: bool, limit: int, bits: int) -> tuple[str, ...]:
    relation = {
        Adjacency.ADD_REMOVE: "one of two neighbours has a unit that the other has not",
        Adjacency.REPLACE_ONE: "neighbours have as many units and differ in one, which may leave a filter or a group",
    }[contract.adjacency]
    first = f"the unit is {contract.unit}; {relation}", *_reasons(contract)
    if contract.unit.is_row:
        return first
    what = "cells" if persons else "rows"
    weighed = f"weights of 1/2^{bits}, cut towards 0, " if bits else ""
    return *first, f"{weighed}bound a unit to {limit} {what}; null persons drop"


def _reasons(contract: Contract) -> tuple[str, ...]:
    return contract.reasons if isinstance(contract, JoinedContract) else ()


def _steps_of_part(part: PartProof) -> tuple[str, ...]:
    name, moved = type(part.aggregate).__name__.lower(), part.moved
    moves = f"{name}: neighbours differ by at most {moved.l1} in sum and {moved.l2_squared} in sum of squares, in steps"
    if part.span is None:
        return (moves,)
    low, high = (number_text(part.span.step * end) for end in (part.span.low, part.span.high))
    return f"{name}: each value lies in [{low}, {high}] in steps of {number_text(part.span.step)}, or is missing", moves
