"""The text of a query, and errors that say where in it something stands."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.errors import ErrorLevel, SqlglotError

from discreet.errors import ArgumentError, InputError, UnknownNameError

__all__ = ["Written", "folded", "nearest", "shown", "text_of"]

_ASCII_LOWER = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")
_SHOWN_AT_MOST = 60
_COMPARED_AT_MOST = 2_000
_LISTED_AT_MOST = 8
# What layers below call the whole of what they were given.
_NO_PLACE = frozenset({"plan", "aggregate", "aggregates", "expression", "question"})


def folded(name: str) -> str:
    """The name as DuckDB compares it: ASCII letters without case, everything else as it is."""
    return name.translate(_ASCII_LOWER)


def shown(text: str) -> str:
    """A piece of what was written, in quotes and of bearable length."""
    line = " ".join(text.split())
    return repr(line if len(line) <= _SHOWN_AT_MOST else line[: _SHOWN_AT_MOST - 1] + "…")


def nearest(name: str, names: Sequence[str]) -> str:
    """The public names most like the one that was written, or what there is."""
    compared = {folded(one): one for one in names[:_COMPARED_AT_MOST]}
    near = difflib.get_close_matches(folded(name[:_SHOWN_AT_MOST]), compared, n=3, cutoff=0.6)
    if near:
        return f"did you mean {', '.join(compared[one] for one in near)}"
    listed = ", ".join(names[:_LISTED_AT_MOST])
    more = len(names) - _LISTED_AT_MOST
    return f"there is {listed or 'none'}" + (f" and {more:,} more" if more > 0 else "")


def text_of(node: exp.Expr) -> str:
    """An expression as the name of a column."""
    try:
        text = node.sql(dialect="duckdb", comments=False, unsupported_level=ErrorLevel.IGNORE)
    except (SqlglotError, RecursionError):
        return "expression"
    return text[:_SHOWN_AT_MOST]


@dataclass(frozen=True, slots=True)
class Written:
    """One query as it was written."""

    text: str

    def line_and_column(self, start: int) -> str:
        """Where an offset lies, as people count."""
        line = self.text.count("\n", 0, start) + 1
        return f"query, line {line}, column {start - self.text.rfind(chr(10), 0, start)}"

    def where(self, node: exp.Expr | None) -> str:
        """Where the first sign of a node stands that the tree remembers, or that of what it is part of."""
        while node is not None:
            starts = [part.meta["start"] for part in node.walk() if "start" in part.meta]
            if starts:
                return self.line_and_column(min(starts))
            node = node.parent
        return "query"

    def name_of(self, function: exp.Expr) -> str:
        """A function's name as it was written."""
        meta = function.meta
        if "start" in meta:
            return self.text[meta["start"] : meta["end"] + 1].upper()[:_SHOWN_AT_MOST]
        return function.key.upper()

    def refused(self, node: exp.Expr | None, *, found: str, right: str, step: str) -> ArgumentError:
        """The error for something that is not answered."""
        return ArgumentError(self.where(node), found=found, right=right, step=step)

    def unknown(self, node: exp.Expr | None, kind: str, name: str, names: Sequence[str]) -> UnknownNameError:
        """The error for a name that is not there, with the public ones nearest to it."""
        return UnknownNameError(
            self.where(node),
            found=f"there is no {kind} {shown(name)}",
            right=nearest(name, names),
            step=f"name one of the {kind}s that are public",
        )

    @contextmanager
    def at(self, node: exp.Expr | None) -> Iterator[None]:
        """Whatever is refused inside is refused at that node."""
        try:
            yield
        except InputError as error:
            if error.where.startswith("query"):
                raise
            here = self.where(node)
            where = here if error.where in _NO_PLACE else f"{here}, {error.where}"
            raise type(error)(where, found=error.found, right=error.right, step=error.step) from None
