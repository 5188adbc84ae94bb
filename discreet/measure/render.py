"""Values, texts and predicates as trees over a stored table's physical columns. Every function in them is total.

A value becomes a 64-bit whole number of its span's steps, or NULL where it is missing. Intermediate numbers stay within
what `span` proved, so that no addition or multiplication can fail; nothing is divided but by a constant above 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from sqlglot import exp

from discreet.data.column import DateColumn, DatetimeColumn
from discreet.data.contract import Contract
from discreet.data.steps import LARGEST_STEPS
from discreet.data.table import StorageType, StoredColumn, StoredTable
from discreet.errors import ContractError
from discreet.measure.expression import (
    And,
    Case,
    Clamped,
    Column,
    Compare,
    Constant,
    Like,
    Minus,
    Missing,
    Not,
    OneOf,
    Or,
    Plus,
    Predicate,
    Text,
    Times,
    Value,
)
from discreet.measure.span import Span, common_step, span_of

__all__ = ["Renderer", "clamp", "finite_steps", "is_there", "joined_to", "text_form", "whole"]

_COMPARISONS: dict[str, type[exp.Binary]] = {
    "<": exp.LT,
    "<=": exp.LTE,
    "=": exp.EQ,
    "<>": exp.NEQ,
    ">": exp.GT,
    ">=": exp.GTE,
}
_DATES = {DateColumn: ("DATE", "day"), DatetimeColumn: ("TIMESTAMP", "second")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Renderer:
    """Renders over one stored table under its contract."""

    table: StoredTable
    contract: Contract

    def value(self, value: Value) -> exp.Expr:
        """A value as a whole number of its span's steps."""
        match value:
            case Column(name):
                return self._column(name)
            case Constant(number):
                # Typed, since the engine would multiply two short literals in 32 bits.
                return exp.cast(whole((number > 0) - (number < 0)), "BIGINT")
            case Plus(left, right) | Minus(left, right):
                kind = exp.Add if isinstance(value, Plus) else exp.Sub
                step = common_step(span_of(left, self.contract).step, span_of(right, self.contract).step)
                return exp.Paren(this=kind(this=self._on(left, step), expression=self._on(right, step)))
            case Times(left, right):
                return exp.Paren(this=exp.Mul(this=self.value(left), expression=self.value(right)))
            case Clamped(inner):
                span = span_of(value, self.contract)
                return clamp(self.value(inner), span.low, span.high)
            case Case(branches, otherwise):
                step = span_of(value, self.contract).step
                return exp.Case(
                    ifs=[exp.If(this=self.predicate(when), true=self._on(then, step)) for when, then in branches],
                    default=None if otherwise is None else self._on(otherwise, step),
                )

    def text(self, text: Text) -> exp.Expr:
        """A column's text form."""
        return text_form(self.table.column(text.name))

    def predicate(self, predicate: Predicate) -> exp.Expr:
        """A predicate: true, false or NULL."""
        match predicate:
            case Compare(left, sign, right):
                step = common_step(span_of(left, self.contract).step, span_of(right, self.contract).step)
                return _COMPARISONS[sign](this=self._on(left, step), expression=self._on(right, step))
            case OneOf(text, texts):
                return exp.In(this=self.text(text), expressions=[exp.Literal.string(one) for one in texts])
            case Like(text, pattern):
                return exp.Like(this=self.text(text), expression=exp.Literal.string(pattern))
            case Missing(of):
                return exp.Is(this=exp.Paren(this=self.term(of)), expression=exp.Null())
            case And(parts):
                return _joined(exp.And, [self.predicate(part) for part in parts])
            case Or(parts):
                return _joined(exp.Or, [self.predicate(part) for part in parts])
            case Not(part):
                return exp.Not(this=exp.Paren(this=self.predicate(part)))

    def term(self, term: Value | Text) -> exp.Expr:
        """A value or a text."""
        return self.text(term) if isinstance(term, Text) else self.value(term)

    def stored(self, name: str) -> StoredColumn:
        """The column of that name, which must be kept in a form that its contract's type can be read from."""
        column, facts = self.table.column(name), self.contract.columns[name]
        dated = type(facts) in _DATES
        if column.type not in (StorageType.DATE, StorageType.DATETIME) if dated else column.steps is None:
            raise ContractError(
                f"column {name!r}",
                found=f"kept as {column.type} {'' if dated else 'without steps'}".strip(),
                right=f"the contract says {facts.type}",
                step="declare the contract for the table again",
            )
        return column

    def _column(self, name: str) -> exp.Expr:
        span = span_of(Column(name), self.contract)
        number = self._clamped(name, span)
        return number if span.optional else exp.Coalesce(this=number, expressions=[whole(span.low)])

    def _clamped(self, name: str, span: Span) -> exp.Expr:
        column = self.stored(name)
        if column.steps is None:
            kind, unit = _DATES[type(self.contract.columns[name])]
            start = exp.cast(exp.Literal.string("1970-01-01"), kind)
            number: exp.Expr = exp.DateDiff(
                this=exp.cast(exp.column(column.physical), kind), expression=start, unit=exp.Var(this=unit)
            )
            return clamp(number, span.low, span.high)
        number = exp.column(column.steps)
        if column.type is StorageType.DECIMAL:  # what is kept saturated counts as infinite, and so as missing
            return clamp(number, span.low, span.high, lost=LARGEST_STEPS)
        return clamp(number, span.low, span.high)

    def _on(self, value: Value, step: Fraction) -> exp.Expr:
        factor = int(span_of(value, self.contract).step / step)
        rendered = self.value(value)
        return rendered if factor == 1 else exp.Paren(this=exp.Mul(this=rendered, expression=whole(factor)))


def text_form(column: StoredColumn) -> exp.Expr:
    """What a column holds as text; NaN and the infinities have none."""
    raw = exp.column(column.physical)
    if column.type is StorageType.TEXT:
        return raw
    form = exp.cast(raw, "VARCHAR")
    if column.type is not StorageType.DECIMAL:
        return form
    finite = exp.Not(this=exp.Paren(this=exp.or_(exp.IsNan(this=raw.copy()), exp.IsInf(this=raw.copy()))))
    return exp.Case(ifs=[exp.If(this=finite, true=form)])


def finite_steps(raw: exp.Expr, step: Fraction, *, largest: int) -> exp.Expr:
    """A raw number in whole steps, cut off at ±largest before anything is multiplied; NULL where it is not finite."""
    number = exp.cast(raw, "DOUBLE")
    end = exp.cast(exp.Literal.number(repr(float(largest * step))), "DOUBLE")
    finite = exp.Not(this=exp.Paren(this=exp.or_(exp.IsNan(this=number.copy()), exp.IsInf(this=number.copy()))))
    within = exp.Case(
        ifs=[
            exp.If(this=exp.GTE(this=number.copy(), expression=end.copy()), true=whole(largest)),
            exp.If(this=exp.LTE(this=number.copy(), expression=exp.Neg(this=end.copy())), true=whole(-largest)),
        ],
        default=exp.cast(
            exp.Mul(this=number.copy(), expression=exp.cast(exp.Literal.number(repr(float(1 / step))), "DOUBLE")),
            "BIGINT",
        ),
    )
    return exp.Case(ifs=[exp.If(this=finite, true=within)])


def whole(number: int) -> exp.Expr:
    """A whole number."""
    literal = exp.Literal.number(abs(number))
    return exp.Paren(this=exp.Neg(this=literal)) if number < 0 else literal


def clamp(number: exp.Expr, low: int, high: int, *, lost: int | None = None) -> exp.Expr:
    """The number between two bounds; one at `lost` or farther from 0 is missing. What is missing stays so.

    In this form, unlike with least and greatest, an engine that knows the ends of a column need not compare its rows.
    """
    branches = [
        exp.If(this=exp.LT(this=number.copy(), expression=whole(low)), true=whole(low)),
        exp.If(this=exp.GT(this=number.copy(), expression=whole(high)), true=whole(high)),
    ]
    if lost is not None:
        ends = (
            exp.LTE(this=number.copy(), expression=whole(-lost)),
            exp.GTE(this=number.copy(), expression=whole(lost)),
        )
        branches = [exp.If(this=end, true=exp.Null()) for end in ends] + branches
    return exp.Case(ifs=branches, default=number.copy())


def joined_to(select: exp.Select, source: exp.Expr, condition: exp.Expr, *, left: bool = False) -> exp.Select:
    """The SELECT with one more source, made without reading SQL text."""
    kind = {"side": "LEFT"} if left else {"kind": "INNER"}
    select.append("joins", exp.Join(this=source, on=condition, **kind))
    return select


def is_there(term: exp.Expr) -> exp.Expr:
    """Whether the term has a value."""
    return exp.Not(this=exp.Is(this=exp.Paren(this=term.copy()), expression=exp.Null()))


def _joined(kind: type[exp.And | exp.Or], parts: Sequence[exp.Expr]) -> exp.Expr:
    """A balanced tree, so that many parts do not make a deep one."""
    if len(parts) == 1:
        return exp.Paren(this=parts[0])
    middle = len(parts) // 2
    return exp.Paren(this=kind(this=_joined(kind, parts[:middle]), expression=_joined(kind, parts[middle:])))
