"""The ways to measure the primitives of a question: which aggregates to sum, and how each primitive is read off them.

    apart       one aggregate for each primitive
    centred     the same around the middle of the value's bounds, which halves what one unit moves
    mixed       one mixture for all of a value's primitives, so that one budget serves them all
    whole       a mixture that also counts the rows without the value, so that COUNT(*) comes with it
    known       what the contract makes public costs nothing and has no error

Every primitive is a linear combination of the noisy numbers of its aggregates, plus a public constant.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from discreet.data.contract import Contract
from discreet.guarantee import Adjacency
from discreet.measure.expression import Constant, Minus, Text, Times, Value
from discreet.measure.plan import Aggregate, Count, Mixture, Total, endpoints, moments
from discreet.measure.span import Span, span_of
from discreet.query.recipe import Kind, Primitive

__all__ = ["Combination", "Reading", "Way", "settled", "ways"]

_WAYS_AT_MOST = 16
_ROWS = Primitive("rows")


@dataclass(frozen=True, slots=True)
class Reading:
    """One reading of an aggregate, times a factor; or, with `weights`, a sum of its numbers, each times its own."""

    aggregate: Aggregate
    name: str
    factor: Fraction = Fraction(1)
    weights: tuple[Fraction, ...] | None = None


@dataclass(frozen=True, slots=True)
class Combination:
    """A sum of readings and a public constant."""

    readings: tuple[Reading, ...] = ()
    constant: Fraction = Fraction(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """How all sums of a question are read; `name` says in words what is done."""

    name: str
    sources: Mapping[Primitive, Combination]

    @property
    def aggregates(self) -> tuple[Aggregate, ...]:
        """What is summed, each once, in order."""
        used = (reading.aggregate for source in self.sources.values() for reading in source.readings)
        return tuple(dict.fromkeys(used))


def settled(primitive: Primitive, contract: Contract) -> Primitive:
    """A count of a value that is never missing is the count of all rows: the same filter, null rule and weights."""
    if primitive.kind == "present" and primitive.of is not None and not isinstance(primitive.of, Text):
        return primitive if span_of(primitive.of, contract).optional else _ROWS
    return primitive


def ways(primitives: Sequence[Primitive], contract: Contract, *, whole_table: bool) -> tuple[Way, ...]:
    """Every way worth comparing, for settled primitives other than persons. `whole_table`: no filter and no group."""
    wanted = tuple(dict.fromkeys(primitives))
    fixed = _known(wanted, contract, whole_table)
    families = [
        tuple(_of_value(value, kinds, span_of(value, contract), rows=_ROWS in wanted and _ROWS not in fixed))
        for value, kinds in _by_value(wanted).items()
    ]
    others = {
        primitive: Combination((Reading(Count(primitive.of), "count"),))
        for primitive in wanted
        if primitive not in fixed and (primitive.kind == "rows" or isinstance(primitive.of, Text))
    }
    return tuple(_joined(choice, wanted, others, fixed) for choice in _choices(families))


def _known(wanted: Sequence[Primitive], contract: Contract, whole_table: bool) -> dict[Primitive, Combination]:
    public = contract.adjacency is Adjacency.REPLACE_ONE and contract.unit.is_row and whole_table
    if _ROWS not in wanted or not public or contract.units is None:
        return {}
    return {_ROWS: Combination(constant=Fraction(contract.units))}


def _by_value(wanted: Sequence[Primitive]) -> dict[Value, list[Kind]]:
    families: dict[Value, list[Kind]] = {}
    for primitive in wanted:
        if primitive.of is not None and not isinstance(primitive.of, Text):
            families.setdefault(primitive.of, []).append(primitive.kind)
    return families


def _of_value(value: Value, kinds: Sequence[Kind], span: Span, *, rows: bool) -> Iterator[tuple[str, _Sources]]:
    """The ways for the primitives of one value, the plainest first. `rows` says that all rows are counted too."""
    counted = Primitive("present", value) if span.optional else _ROWS
    yield "apart", {Primitive(kind, value): _apart(value, kind) for kind in kinds}
    middle = span.step * ((span.low + span.high) // 2)
    if middle and set(kinds) & {"sum", "square"}:
        yield "centred", _centred(value, kinds, middle, counted)
    if not span.width or (len(kinds) < 2 and not rows):
        return
    plain = moments(value) if "square" in kinds else endpoints(value)
    mixed = {Primitive(kind, value): _mixed(plain, kind) for kind in kinds}
    if not span.optional:
        yield "mixed", mixed | {_ROWS: _mixed(plain, "present")}
        return
    yield "mixed", mixed
    if rows:
        every = Mixture(value, plain.degree, whole=True)
        mixed = {Primitive(kind, value): _mixed(every, kind) for kind in kinds}
        yield "mixed with all rows", mixed | {_ROWS: _mixed(every, "rows")}


_Sources = dict[Primitive, Combination]
_READINGS: dict[Kind, str] = {"rows": "rows", "present": "count", "sum": "sum", "square": "sum of squares"}


def _apart(value: Value, kind: Kind) -> Combination:
    if kind == "present":
        return Combination((Reading(Count(value), "count"),))
    return Combination((Reading(Total(value if kind == "sum" else Times(value, value)), "sum"),))


def _mixed(aggregate: Mixture, kind: Kind) -> Combination:
    return Combination((Reading(aggregate, _READINGS[kind]),))


def _centred(value: Value, kinds: Sequence[Kind], middle: Fraction, counted: Primitive) -> _Sources:
    """Σx = Σ(x − c) + c·n, and Σx² = Σ(x − c)² + 2c·Σ(x − c) + c²·n."""
    moved = Minus(value, Constant(middle))
    count = Count() if counted == _ROWS else Count(value)
    first = Reading(Total(moved), "sum")
    found: _Sources = {counted: Combination((Reading(count, "count"),))}
    found[Primitive("sum", value)] = Combination((first, Reading(count, "count", middle)))
    if "square" in kinds:
        square = Reading(Total(Times(moved, moved)), "sum")
        found[Primitive("square", value)] = Combination(
            (square, Reading(first.aggregate, "sum", 2 * middle), Reading(count, "count", middle**2))
        )
    return found


def _choices(
    families: Sequence[tuple[tuple[str, _Sources], ...]],
) -> Iterator[tuple[tuple[str, _Sources], ...]]:
    """One way for each value: all combinations where these are few, else the same kind of way for all."""
    count = 1
    for family in families:
        count *= len(family)
    if count <= _WAYS_AT_MOST:
        yield from product(*families)
        return
    names = dict.fromkeys(name for family in families for name, _ in family)
    for name in names:
        yield tuple(next((way for way in family if way[0] == name), family[0]) for family in families)


def _joined(
    choice: Sequence[tuple[str, _Sources]], wanted: Sequence[Primitive], others: _Sources, fixed: _Sources
) -> Way:
    """The sources of all primitives; all rows come from the first value whose way counts them, if any does."""
    found = dict(fixed)
    for _, sources in choice:
        for primitive, source in sources.items():
            found.setdefault(primitive, source)
    for primitive, source in others.items():
        found.setdefault(primitive, source)
    name = ", ".join(dict.fromkeys(name for name, _ in choice)) or ("counted" if others else "known")
    return Way(name=name, sources={primitive: found[primitive] for primitive in wanted if primitive in found})
