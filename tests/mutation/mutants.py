"""Small bugs, planted one at a time in the text of a module.

A mutant replaces one piece of a module by another that a tired hand could have written: a comparison loosened or turned
round, a sign, an operator or a constant off by one, halved or doubled, a condition or a flag negated, a minimum for a
maximum, an argument returned in place of what is made of it, a guard or a check left out, a sensitivity factor dropped.

What carries no behaviour is left alone: docstrings, annotations, texts of errors and f-strings, `__all__`, decorators
(frozen, slots, the size of a cache), unions of types, and statements of what cannot happen (`assert`, `zip(strict=…)`).

A site is one piece of text that can be changed; it may have several mutants. A mutant is known by its module, function,
kind, and the text before and after, never by its line number.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

__all__ = ["Mutant", "code_lines", "mutants_of"]

_TEXT_AT_MOST = 100
_NOT_CODE = {"annotation", "returns", "decorator_list", "bases"}
_FACTOR = re.compile(r"sensitiv|reach|moved|changed|positives|share|scale|factor|epsilon|bound")
_ORDER: dict[type[ast.cmpop], tuple[tuple[str, type[ast.cmpop]], ...]] = {
    ast.Lt: (("comparison loosened", ast.LtE), ("comparison flipped", ast.GtE)),
    ast.LtE: (("comparison tightened", ast.Lt), ("comparison flipped", ast.Gt)),
    ast.Gt: (("comparison loosened", ast.GtE), ("comparison flipped", ast.LtE)),
    ast.GtE: (("comparison tightened", ast.Gt), ("comparison flipped", ast.Lt)),
    ast.Eq: (("comparison flipped", ast.NotEq),),
    ast.NotEq: (("comparison flipped", ast.Eq),),
    ast.Is: (("comparison flipped", ast.IsNot),),
    ast.IsNot: (("comparison flipped", ast.Is),),
    ast.In: (("comparison flipped", ast.NotIn),),
    ast.NotIn: (("comparison flipped", ast.In),),
}
_OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Div: ast.Mult,
    ast.Pow: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
}
_OTHER_NAME = {"min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum"}
_OTHER_NAME |= {"floor": "ceil", "ceil": "floor", "any": "all", "all": "any"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """One planted bug: where, what kind, the text around it before and after, and the module's whole text with it."""

    module: str
    function: str
    line: int
    site: int
    kind: str
    original: str
    becomes: str
    source: str

    @property
    def identity(self) -> tuple[str, str, str, str, str]:
        """What stays when lines move."""
        return self.module, self.function, self.kind, self.original, self.becomes

    def __str__(self) -> str:
        return f"{self.module}:{self.line} {self.function} ({self.kind}): {self.original}  →  {self.becomes}"


def mutants_of(module: str, source: str) -> list[Mutant]:
    """Every mutant of a module, in the order of its text."""
    return list(_Planter(module, source).plant())


def code_lines(source: str) -> int:
    """Lines that hold code: neither blank, nor comment, nor docstring."""
    tree = ast.parse(source)
    texts = {id(node.value) for node in ast.walk(tree) if _is_docstring(node) and isinstance(node, ast.Expr)}
    return len(
        {node.lineno for node in ast.walk(tree) if isinstance(node, ast.expr | ast.stmt) and id(node) not in texts}
        - {node.lineno for node in ast.walk(tree) if _is_docstring(node) and isinstance(node, ast.Expr)}
    )


def _is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


@dataclass(frozen=True, slots=True)
class _Place:
    """A node on the way down: what holds it, in which field, and at which index of a list."""

    node: ast.AST
    field: str
    index: int | None

    def put(self, holder: ast.AST, other: ast.AST) -> None:
        if self.index is None:
            setattr(holder, self.field, other)
        else:
            getattr(holder, self.field)[self.index] = other


class _Planter:
    """Walks down one module, keeping the way it came, and plants at each node what fits there."""

    def __init__(self, module: str, source: str) -> None:
        self._module, self._tree = module, ast.parse(source)
        self._lines = [line.encode() for line in source.splitlines(keepends=True)]
        self._way: list[_Place] = []
        self._names: list[str] = []
        self._first: list[str] = []
        self._site = 0

    def plant(self) -> Iterator[Mutant]:
        yield from self._below(self._tree)

    def _below(self, node: ast.AST) -> Iterator[Mutant]:
        for field, value in ast.iter_fields(node):
            if field in _NOT_CODE:
                continue
            several = isinstance(value, list)
            for index, part in enumerate(value if several else [value]):
                if isinstance(part, ast.AST) and not _silent(part):
                    yield from self._at(_Place(part, field, index if several else None))

    def _at(self, place: _Place) -> Iterator[Mutant]:
        node = place.node
        self._way.append(place)
        named = isinstance(node, ast.FunctionDef | ast.ClassDef)
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            self._names.append(node.name)
        if isinstance(node, ast.FunctionDef):
            arguments = [one.arg for one in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
            self._first.append(next((name for name in arguments if name not in {"self", "cls"}), ""))
        self._site += 1
        for kind, other in (*self._statements(node), *_expressions(node)):
            yield self._planted(kind, node, other)
        yield from self._below(node)
        if isinstance(node, ast.FunctionDef):
            self._first.pop()
        if named:
            self._names.pop()
        self._way.pop()

    def _statements(self, node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
        leaving = ast.Return | ast.Raise | ast.Continue | ast.Break
        if isinstance(node, ast.If) and not node.orelse and isinstance(node.body[-1], leaving) and not self._elif(node):
            yield "guard dropped", ast.Pass()
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            yield "statement dropped", ast.Pass()
        argument = self._first[-1] if self._first else ""
        if isinstance(node, ast.Return) and node.value and argument and ast.unparse(node.value) != argument:
            yield "argument returned", ast.Return(value=ast.Name(id=argument, ctx=ast.Load()))

    def _elif(self, node: ast.If) -> bool:
        return self._lines[node.lineno - 1][node.col_offset :].startswith(b"elif")

    def _planted(self, kind: str, node: ast.AST, other: ast.AST) -> Mutant:
        original, becomes = self._around(other)
        assert isinstance(node, ast.expr | ast.stmt)
        return Mutant(
            module=self._module,
            function=".".join(self._names) or "<module>",
            line=node.lineno,
            site=self._site,
            kind=kind,
            original=original,
            becomes=becomes,
            source=self._spliced(node, other),
        )

    def _around(self, other: ast.AST) -> tuple[str, str]:
        """The text of the widest piece around the node that is still short, before and after."""
        at = len(self._way) - 1
        while at > 0:
            outer = self._way[at - 1].node
            if not isinstance(outer, ast.expr | ast.keyword | ast.comprehension | ast.Return | ast.Assign):
                break
            if len(ast.unparse(outer)) > _TEXT_AT_MOST:
                break
            at -= 1
        shown, last = self._way[at].node, self._way[-1]
        original = ast.unparse(shown)
        if at == len(self._way) - 1:
            return _short(original), _short(ast.unparse(other))
        holder = self._way[-2].node
        last.put(holder, other)
        becomes = ast.unparse(shown)
        last.put(holder, last.node)
        return _short(original), _short(becomes)

    def _spliced(self, node: ast.expr | ast.stmt, other: ast.AST) -> str:
        text = ast.unparse(other)
        new = (f"({text})" if isinstance(node, ast.expr) else text).encode()
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        first, last = node.lineno - 1, node.end_lineno - 1
        before = b"".join(self._lines[:first]) + self._lines[first][: node.col_offset]
        after = self._lines[last][node.end_col_offset :] + b"".join(self._lines[last + 1 :])
        return (before + new + after).decode()


def _silent(node: ast.AST) -> bool:
    """What carries no behaviour that a test of the mechanism should see."""
    if isinstance(node, ast.Raise | ast.JoinedStr | ast.Assert | ast.Import | ast.ImportFrom) or _is_docstring(node):
        return True
    if isinstance(node, ast.keyword) and node.arg == "strict":
        return True
    if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("Error"):
        return True
    if isinstance(node, ast.Assign) and any(ast.unparse(target) == "__all__" for target in node.targets):
        return True
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return all(part[:1].isupper() for part in re.split(r"\W+", ast.unparse(node)) if part)
    return False


def _expressions(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    kinds: dict[type[ast.AST], Callable[..., Iterator[tuple[str, ast.AST]]]] = {
        ast.Compare: _compared,
        ast.BinOp: _calculated,
        ast.AugAssign: _augmented,
        ast.BoolOp: _joined,
        ast.UnaryOp: _unary,
        ast.Constant: _constant,
        ast.Name: _renamed,
        ast.Attribute: _renamed,
        ast.IfExp: _conditional,
    }
    if type(node) in kinds:
        yield from kinds[type(node)](node)


def _compared(node: ast.Compare) -> Iterator[tuple[str, ast.AST]]:
    for at, sign in enumerate(node.ops):
        for kind, other in _ORDER[type(sign)]:
            signs = [*node.ops[:at], other(), *node.ops[at + 1 :]]
            yield kind, ast.Compare(left=node.left, ops=signs, comparators=node.comparators)


def _calculated(node: ast.BinOp) -> Iterator[tuple[str, ast.AST]]:
    if type(node.op) in _OPERATORS:
        yield "operator swapped", ast.BinOp(left=node.left, op=_OPERATORS[type(node.op)](), right=node.right)
    if isinstance(node.op, ast.Mult | ast.Div | ast.FloorDiv) and _FACTOR.search(ast.unparse(node.right)):
        yield "factor dropped", node.left
    if isinstance(node.op, ast.Mult) and _FACTOR.search(ast.unparse(node.left)):
        yield "factor dropped", node.right


def _augmented(node: ast.AugAssign) -> Iterator[tuple[str, ast.AST]]:
    if type(node.op) in _OPERATORS:
        yield (
            "operator swapped",
            ast.AugAssign(target=node.target, op=_OPERATORS[type(node.op)](), value=node.value),
        )


def _joined(node: ast.BoolOp) -> Iterator[tuple[str, ast.AST]]:
    other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    yield "and/or swapped", ast.BoolOp(op=other, values=node.values)


def _unary(node: ast.UnaryOp) -> Iterator[tuple[str, ast.AST]]:
    if isinstance(node.op, ast.Not):
        yield "not dropped", node.operand
    elif isinstance(node.op, ast.USub):
        yield "sign dropped", node.operand
    elif isinstance(node.op, ast.Invert):
        yield "complement dropped", node.operand


def _constant(node: ast.Constant) -> Iterator[tuple[str, ast.AST]]:
    value = node.value
    if isinstance(value, bool):
        yield "flag negated", ast.Constant(value=not value)
    elif isinstance(value, int):
        yield "constant + 1", ast.Constant(value=value + 1)
        yield "constant − 1", _whole(value - 1)
        if value > 3:
            yield "constant halved", ast.Constant(value=value // 2)
            yield "constant doubled", ast.Constant(value=value * 2)
    elif value == 0.0 and isinstance(value, float):
        yield "constant + 1", ast.Constant(value=1.0)
    elif isinstance(value, float):
        yield "constant halved", ast.Constant(value=value / 2)
        yield "constant doubled", ast.Constant(value=value * 2)


def _whole(value: int) -> ast.expr:
    return ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=-value)) if value < 0 else ast.Constant(value=value)


def _renamed(node: ast.Name | ast.Attribute) -> Iterator[tuple[str, ast.AST]]:
    if not isinstance(node.ctx, ast.Load):
        return
    if isinstance(node, ast.Name) and node.id in _OTHER_NAME:
        yield "min/max swapped", ast.Name(id=_OTHER_NAME[node.id], ctx=ast.Load())
    elif isinstance(node, ast.Attribute) and ast.unparse(node.value) in {"np", "math"} and node.attr in _OTHER_NAME:
        yield "min/max swapped", ast.Attribute(value=node.value, attr=_OTHER_NAME[node.attr], ctx=ast.Load())


def _conditional(node: ast.IfExp) -> Iterator[tuple[str, ast.AST]]:
    yield "condition negated", ast.IfExp(test=node.test, body=node.orelse, orelse=node.body)


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 2 * _TEXT_AT_MOST else f"{line[: 2 * _TEXT_AT_MOST]} …"
