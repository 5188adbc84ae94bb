"""What is made of statistics and keys: the SELECT list, HAVING and ORDER BY, as terms over what was released."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

from sqlglot import exp

from discreet.check import exact
from discreet.errors import InputError
from discreet.measure.expression import Constant
from discreet.measure.groups import Each
from discreet.query.sql.aggregates import AGGREGATES, has_aggregate, statistic_of
from discreet.query.sql.calendar import moment_of, word_of
from discreet.query.sql.keys import Sorted, is_numeric, sorted_by
from discreet.query.sql.rows import Rows
from discreet.query.sql.written import Written, folded, nearest, shown
from discreet.query.statistic import Most, Statistic
from discreet.query.term import Asked, Call, Choice, Key, Number, Operation, Sign, Term, Word

__all__ = ["Made", "Terms"]

Kind: TypeAlias = Literal["number", "truth", "text", "null"]


@dataclass(frozen=True, slots=True)
class Made:
    """A term, and what it is."""

    term: Term
    kind: Kind


@dataclass(slots=True)
class Terms:
    """Reads terms, and gathers the statistics that they ask for."""

    written: Written
    rows: Rows
    keys: tuple[Sorted, ...]
    statistics: list[Statistic] = field(default_factory=list)
    names: dict[str, Made] = field(default_factory=dict)
    # In ORDER BY a name of the SELECT list goes before a column's.
    names_first: bool = False
    # The name of a subquery that groups, whose columns are `names`.
    table: str = ""

    def term(self, node: exp.Expr) -> Made:
        """What a node means for what was released."""
        if isinstance(node, AGGREGATES):
            return self._asked(node)
        if isinstance(node, exp.Column):
            return self._named(node)
        if key := self._key(node):
            return key
        read = _READERS.get(type(node))
        if read is None:
            raise self.written.refused(
                node,
                found=f"{self.written.name_of(node)} of what was summed"
                if isinstance(node, exp.Func)
                else "a part of SQL that has no meaning here",
                right="aggregates are combined by arithmetic, comparisons, CASE and a few functions",
                step="leave it out, or write it inside the aggregate",
            )
        return read(self, node)

    def of_kind(self, node: exp.Expr, *kinds: Kind) -> Term:
        """A term of one of these kinds."""
        made = self.term(node)
        if made.kind not in (*kinds, "null"):
            raise self.written.refused(
                node,
                found=f"a {made.kind}",
                right=f"a {' or a '.join(kinds)} is wanted there",
                step="compare numbers with numbers and texts with texts",
            )
        return made.term

    def _asked(self, node: exp.Expr) -> Made:
        statistic = statistic_of(node, self.rows)
        if statistic not in self.statistics:
            self.statistics.append(statistic)
        text = isinstance(statistic, Most) and not isinstance(statistic.group, Each)
        return Made(Asked(self.statistics.index(statistic)), "text" if text else "number")

    def _named(self, node: exp.Column) -> Made:
        name, table = folded(node.name), node.args.get("table")
        alone = table is None or bool(self.table and folded(table.name) == folded(self.table))
        if alone and name in self.names and (self.names_first or not self.rows.names.has(name)):
            return self.names[name]
        if not self.rows.names.has(name) and alone and self.names:
            public = (*self.rows.names.public, *self.names)
            raise self.written.unknown(node, "column", node.name, public)
        self.rows.names.row(node)
        if key := self._key(node):
            return key
        raise self.written.refused(
            node,
            found=f"column {shown(node.name)}, neither summed nor a key",
            right="what is asked for is a statistic of many rows, or a key of GROUP BY",
            step=f"put it inside an aggregate, as in AVG({node.name}), or add GROUP BY {node.name}",
        )

    def _key(self, node: exp.Expr) -> Made | None:
        if not self.keys or has_aggregate(node) or not any(isinstance(part, exp.Column) for part in node.walk()):
            return None
        try:
            found = sorted_by(self.rows.row(node), self.rows.contract)
        except InputError:
            return None
        if found not in self.keys:
            return None
        at = self.keys.index(found)
        return Made(Key(at), "number" if is_numeric(found, self.rows.contract) else "text")


def _literal(terms: Terms, node: Any) -> Made:
    if node.is_string:
        return Made(Word(node.this), "text")
    with terms.written.at(node):
        return Made(Number(exact("number", node.this)), "number")


def _sign(sign: Sign) -> Callable[[Terms, Any], Made]:
    def read(terms: Terms, node: Any) -> Made:
        left, right = (terms.of_kind(part, "number", "truth") for part in (node.this, node.expression))
        return Made(Operation(sign, left, right), "number")

    return read


def _compared(sign: Sign) -> Callable[[Terms, Any], Made]:
    return lambda terms, node: _compare(terms, sign, node.this, node.expression)


def _compare(terms: Terms, sign: Sign, left: exp.Expr, right: exp.Expr) -> Made:
    one, other = terms.term(left), terms.term(right)
    if "null" in (one.kind, other.kind):
        raise terms.written.refused(
            right,
            found="a comparison with NULL, which is never true",
            right="what is missing is asked for by IS NULL",
            step="write IS NULL or IS NOT NULL",
        )
    if (one.kind == "text") != (other.kind == "text"):
        raise terms.written.refused(
            right,
            found=f"a {other.kind} beside a {one.kind}",
            right="numbers are compared with numbers and texts with texts",
            step="write numbers without quotes and texts in single quotes",
        )
    return Made(Operation(sign, one.term, other.term), "truth")


def _joined(sign: Sign) -> Callable[[Terms, Any], Made]:
    def read(terms: Terms, node: Any) -> Made:
        parts, ahead = list[Term](), [node]
        while ahead:
            one = ahead.pop()
            if type(one) is type(node):
                ahead += [one.expression, one.this]
            else:
                parts.append(terms.of_kind(one, "truth"))
        return Made(_balanced(sign, parts), "truth")

    return read


def _balanced(sign: Sign, parts: list[Term]) -> Term:
    """A tree of little depth, however many parts there are."""
    if len(parts) == 1:
        return parts[0]
    middle = len(parts) // 2
    return Operation(sign, _balanced(sign, parts[:middle]), _balanced(sign, parts[middle:]))


def _between(terms: Terms, node: Any) -> Made:
    low = _compare(terms, ">=", node.this, node.args["low"])
    return Made(Operation("and", low.term, _compare(terms, "<=", node.this, node.args["high"]).term), "truth")


def _in(terms: Terms, node: Any) -> Made:
    return Made(_balanced("or", [_compare(terms, "=", node.this, one).term for one in node.expressions]), "truth")


def _is(terms: Terms, node: Any) -> Made:
    if isinstance(node.expression, exp.Null):
        return Made(Call("missing", (terms.term(node.this).term,)), "truth")
    raise terms.written.refused(
        node, found="IS beside what is not NULL", right="IS NULL, IS NOT NULL", step="write the condition itself"
    )


def _function(name: str) -> Callable[[Terms, Any], Made]:
    return lambda terms, node: Made(Call(name, (terms.of_kind(node.this, "number", "truth"),)), "number")


def _pair(name: str) -> Callable[[Terms, Any], Made]:
    def read(terms: Terms, node: Any) -> Made:
        parts = tuple(terms.of_kind(part, "number", "truth") for part in (node.this, node.expression))
        return Made(Call(name, parts), "number")

    return read


def _several(name: str) -> Callable[[Terms, Any], Made]:
    def read(terms: Terms, node: Any) -> Made:
        parts = tuple(terms.of_kind(part, "number", "truth") for part in (node.this, *node.expressions))
        return Made(Call(name, parts), "number")

    return read


def _coalesced(terms: Terms, node: Any) -> Made:
    made = [terms.term(part) for part in (node.this, *node.expressions)]
    return Made(Call("coalesce", tuple(one.term for one in made)), _one_kind(terms, node, made))


def _rounded(terms: Terms, node: Any) -> Made:
    of, places = terms.of_kind(node.this, "number"), node.args.get("decimals")
    if places is None:
        return Made(Call("round", (of,)), "number")
    count = terms.rows.constant(places)
    if not -9 <= count <= 9 or count != int(count):
        raise terms.written.refused(
            places, found="places that are no whole number", right="-9 to 9 of them", step="write ROUND(AVG(x), 2)"
        )
    return Made(Call("round", (of, Number(count))), "number")


def _log(terms: Terms, node: Any) -> Made:
    base, of = node.this, node.args.get("expression")
    if of is None or not isinstance(base, exp.Literal) or base.name != "10":
        raise terms.written.refused(
            node, found="a logarithm to that base", right="LN, or LOG10", step="divide by the LN of the base"
        )
    return Made(Call("log10", (terms.of_kind(of, "number"),)), "number")


def _case(terms: Terms, node: Any) -> Made:
    branches = []
    for one in node.args["ifs"]:
        when = terms.of_kind(one.this, "truth") if node.this is None else _compare(terms, "=", node.this, one.this).term
        branches.append((when, terms.term(one.args["true"])))
    default = node.args.get("default")
    return _chosen(terms, node, branches, None if default is None else terms.term(default))


def _if(terms: Terms, node: Any) -> Made:
    otherwise = node.args.get("false")
    branch = terms.of_kind(node.this, "truth"), terms.term(node.args["true"])
    return _chosen(terms, node, [branch], None if otherwise is None else terms.term(otherwise))


def _chosen(terms: Terms, node: exp.Expr, branches: list[tuple[Term, Made]], otherwise: Made | None) -> Made:
    every = [then for _, then in branches] + ([] if otherwise is None else [otherwise])
    kind = _one_kind(terms, node, every)
    pairs = tuple((when, then.term) for when, then in branches)
    return Made(Choice(pairs, None if otherwise is None else otherwise.term), kind)


def _one_kind(terms: Terms, node: exp.Expr, made: list[Made]) -> Kind:
    kinds = {one.kind for one in made} - {"null"}
    if len(kinds) > 1:
        raise terms.written.refused(
            node,
            found=f"a {' beside a '.join(sorted(kinds))}",
            right="all of them are of one kind",
            step="give numbers only, or texts only",
        )
    return kinds.pop() if kinds else "null"


def _cast(terms: Terms, node: Any) -> Made:
    to = node.args["to"].this
    kind = to.value if isinstance(to, exp.DType) else str(to)
    if isinstance(node.this, exp.Literal) and node.this.is_string and kind in ("DATE", "TIMESTAMP", "TIMESTAMPNTZ"):
        with terms.written.at(node):
            found = moment_of(node.this.this, "date" if kind == "DATE" else "moment")
            assert isinstance(found.value, Constant)
            return Made(Word(word_of(found.value.number, found.kind)), "text")
    if kind in ("DOUBLE", "FLOAT"):
        return Made(terms.of_kind(node.this, "number", "truth"), "number")
    if kind in ("INT", "BIGINT"):
        return Made(Call("round", (terms.of_kind(node.this, "number", "truth"),)), "number")
    raise terms.written.refused(
        node,
        found=f"CAST as {shown(kind)}",
        right="numbers stay numbers",
        step=nearest(kind, ("DOUBLE", "INTEGER")),
    )


_READERS: Mapping[type[exp.Expr], Callable[[Terms, Any], Made]] = MappingProxyType(
    {
        exp.Literal: _literal,
        exp.Null: lambda _terms, _node: Made(Word(None), "null"),
        exp.Boolean: lambda _terms, node: Made(Number(Fraction(int(node.this))), "truth"),
        exp.Paren: lambda terms, node: terms.term(node.this),
        exp.Add: _sign("+"),
        exp.Sub: _sign("-"),
        exp.Mul: _sign("*"),
        exp.Div: _sign("/"),
        exp.Neg: _function("negative"),
        exp.EQ: _compared("="),
        exp.NEQ: _compared("<>"),
        exp.LT: _compared("<"),
        exp.LTE: _compared("<="),
        exp.GT: _compared(">"),
        exp.GTE: _compared(">="),
        exp.And: _joined("and"),
        exp.Or: _joined("or"),
        exp.Not: lambda terms, node: Made(Call("not", (terms.of_kind(node.this, "truth"),)), "truth"),
        exp.Between: _between,
        exp.In: _in,
        exp.Is: _is,
        exp.Abs: _function("abs"),
        exp.Round: _rounded,
        exp.Floor: _function("floor"),
        exp.Ceil: _function("ceil"),
        exp.Sqrt: _function("sqrt"),
        exp.Ln: _function("ln"),
        exp.Log: _log,
        exp.Exp: _function("exp"),
        exp.Pow: _pair("power"),
        exp.Nullif: _pair("nullif"),
        exp.Greatest: _several("greatest"),
        exp.Least: _several("least"),
        exp.Coalesce: _coalesced,
        exp.Case: _case,
        exp.If: _if,
        exp.Cast: _cast,
    }
)
