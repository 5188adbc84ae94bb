"""What an engine accepts from the layers above: one generated SELECT, made of known parts, over known tables.

The engine renders the tree itself, with every identifier quoted, so no text of a user reaches it. Before that, the
tree is walked once and refused unless

1. its root is one SELECT or one set operation;
2. every node is of a class named here, and every function without a class of its own is named here;
3. every table in it is one the engine holds, under the engine's full name for it, or a common table expression of the
   same tree;
4. every raw string in it is a quoted name, a literal or a keyword, so that none can smuggle SQL through the renderer.

What it does not promise: that the SELECT is private. It may well read exact values; that is what it is for. Which
questions may be asked at all is decided by the layers above, from the contract.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Collection, Iterator
from enum import Enum

from sqlglot import exp

from discreet.check import known
from discreet.errors import ArgumentError

__all__ = ["rendered", "source"]

_PARTS = {
    "shape": "Select Union Except Intersect Subquery With CTE From Join Where Group Having Qualify Order Ordered Limit "
    "Offset Distinct Values Tuple Paren Alias TableAlias Table Column Identifier Star Literal Null Boolean Cube Rollup "
    "GroupingSets Window WindowSpec Filter WithinGroup",
    "logic": "And Or Not EQ NEQ LT LTE GT GTE Is NullSafeEQ NullSafeNEQ Between In Like ILike Escape Exists "
    "Case If Coalesce Nullif",
    "arithmetic": "Add Sub Mul Div IntDiv Mod Neg Abs Sign Floor Ceil Round Greatest Least BitwiseAnd BitwiseOr "
    "BitwiseXor BitwiseNot BitwiseLeftShift BitwiseRightShift IsNan IsInf",
    "types and dates": "Cast TryCast DataType DataTypeParam Var Extract DateTrunc TimestampTrunc DateDiff Interval",
    "text": "Length Lower Upper Trim Substring Left Right StrPosition Contains StartsWith Concat DPipe "
    "RegexpLike RegexpFullMatch MD5",
    "lists of texts": "Split Explode",
    "aggregates": "Count CountIf Sum Min Max Avg AnyValue LogicalAnd LogicalOr PercentileDisc",
    "windows": "RowNumber Rank DenseRank Lag Lead",
    "named functions": "Anonymous",
}
_NODES = frozenset(name for names in _PARTS.values() for name in names.split())
_FUNCTIONS = frozenset({"hash", "epoch", "epoch_us", "generate_subscripts", "grouping", "md5_number", "strlen"})
_TABLE_PARTS = frozenset({"this", "db", "alias"})
_SOURCES = (exp.Table, exp.Subquery, exp.Values)
_QUERIES = (exp.Select, exp.SetOperation, exp.Values)
# One word alone: two could already be "x FROM" some view of the engine.
_KEYWORD = re.compile(r"([A-Za-z_]\w*)?|CURRENT ROW", re.ASCII)
# Outside its scope the name of a common table expression would fall through to the engine's own views.
_OWN_NAME = re.compile(r"(?!duckdb|pragma|sqlite|pg_)[a-z]\w*", re.ASCII)
# The trees that were rendered last, with their texts: a question is checked before it is charged and read after that.
_LATELY: deque[tuple[exp.Query, str, frozenset[str], str]] = deque(maxlen=16)
_NUMBER = re.compile(r"\d+(\.\d+)?(e[+-]?\d+)?", re.IGNORECASE)


def rendered(select: exp.Query, *, dialect: str, tables: Collection[str]) -> str:
    """The SQL text of one generated SELECT, after the checks above.

    A tree that was rendered lately, over no other tables, gives the text that was checked then.
    """
    for known_select, known_dialect, known_tables, text in tuple(_LATELY):
        if known_select is select and known_dialect == dialect and known_tables <= set(tables):
            return text
    text = _checked(select, dialect=dialect, tables=tables)
    _LATELY.append((select, dialect, frozenset(tables), text))
    return text


def _checked(select: exp.Query, *, dialect: str, tables: Collection[str]) -> str:
    if not isinstance(select, exp.Select | exp.SetOperation):
        raise _refusal(f"a {type(select).__name__}", "it must be one SELECT or one set operation")
    names = {*tables, *map(_own_name, select.find_all(exp.CTE))}
    for node in select.walk():
        _check(node, names)
    return select.sql(dialect=dialect, identify=True, comments=False)


def source(name: str) -> exp.Table:
    """A table under the engine's name for it: of one store its own name, of several the store's name and its own."""
    store, _, table = name.rpartition(".")
    return exp.table_(table, db=store or None, quoted=True)


def _check(node: exp.Expr, tables: Collection[str]) -> None:
    for broken, found, right in _RULES:
        if broken(node):
            raise _refusal(found.format(kind=type(node).__name__), right)
    if isinstance(node, exp.Table):
        name = f"{node.db}.{node.name}" if node.args.get("db") else node.name
        known("table", name, sorted(tables), step="name a table the engine holds")


def _own_name(part: exp.CTE) -> str:
    if not _OWN_NAME.fullmatch(part.alias):
        raise _refusal("a common table expression of an odd name", "it needs a plain name, none of the engine's own")
    return part.alias


def _is_no_plain_table(node: exp.Expr) -> bool:
    if isinstance(node, exp.From | exp.Join):
        return not isinstance(node.this, _SOURCES)
    if isinstance(node, exp.Subquery | exp.CTE):
        return not isinstance(node.this, _QUERIES)
    if not isinstance(node, exp.Table):
        return False
    parts = {part for part, value in node.args.items() if value}
    names = [node.args[part] for part in ("this", "db") if part in parts]
    return not all(isinstance(name, exp.Identifier) for name in names) or not parts <= _TABLE_PARTS


def _goes_by_position(node: exp.Expr) -> bool:
    if isinstance(node, exp.Join):
        return bool(node.args.get("method"))
    if isinstance(node, exp.Distinct):
        return bool(node.args.get("on"))
    return isinstance(node, exp.Column) and node.name.lower() == "rowid"


def _leaves(node: exp.Expr) -> Iterator[object]:
    """What hangs on a node and is not itself a node."""
    for value in node.args.values():
        for part in value if isinstance(value, list) else [value]:
            if not isinstance(part, exp.Expression):
                yield part


def _is_harmless(node: exp.Expr, leaf: object) -> bool:
    if leaf is None or isinstance(leaf, bool | Enum):
        return True
    if not isinstance(leaf, str):
        return False
    if isinstance(node, exp.Literal):
        return node.is_string or _NUMBER.fullmatch(leaf) is not None
    if isinstance(node, exp.Identifier):
        return True
    return _KEYWORD.fullmatch(leaf) is not None


def _refusal(found: str, right: str) -> ArgumentError:
    return ArgumentError("the generated SELECT", found=found, right=right, step="generate it from a plan")


# What breaks a rule, what is then said to be found, and what would be right; asked of every node, in this order.
_RULES: tuple[tuple[Callable[[exp.Expr], bool], str, str], ...] = (
    (
        lambda node: type(node).__name__ not in _NODES,
        "a part of the kind {kind}",
        "only the parts that generated queries need are let through",
    ),
    (
        lambda node: isinstance(node, exp.Anonymous) and node.name.lower() not in _FUNCTIONS,
        "a function that is not on the list",
        "only functions known by name are let through",
    ),
    (_is_no_plain_table, "a source that is not a plain table", "a SELECT reads tables by their name alone"),
    (_goes_by_position, "rows told apart by their position", "only their content may decide"),
    (
        lambda node: isinstance(node, exp.With) and bool(node.args.get("recursive")),
        "a recursive query",
        "it could run for ever",
    ),
    (
        lambda node: not all(_is_harmless(node, leaf) for leaf in _leaves(node)),
        "raw text in a part of the kind {kind}",
        "it may hold quoted names, literals and keywords only",
    ),
)
