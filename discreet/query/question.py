"""A question: what one SELECT asks of one table and its joins, as frozen data. No SQL text is left in it, and no data.

1. `where` keeps rows, `by` sorts them into cells, `statistics` are wanted in every cell.
2. `outputs` are terms over statistics and keys, one column each; HAVING, ORDER BY and LIMIT act on what was released.
3. With `sets`, each grouping set is a table of its own cells, as GROUPING SETS, ROLLUP and CUBE write them.

Keys are public (`group`) unless the contract does not list them: then `text` names the column whose keys are to be
found first, at a price in ε and δ.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from discreet.check import at_least
from discreet.errors import ArgumentError
from discreet.measure.expression import Predicate, Text
from discreet.measure.groups import Group
from discreet.measure.joins import Join
from discreet.query.statistic import Statistic
from discreet.query.term import Term

__all__ = ["GroupKey", "Options", "Order", "Output", "Question"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupKey:
    """One key of GROUP BY: its column's name in the answer, and its public cells, or the text they are found in.

    `words` replace the labels of the cells, in their order: those of a CASE that names its branches, or the first days
    of months. They are texts, or numbers where the key is one; None is NULL.
    """

    name: str
    group: Group | None = None
    text: Text | None = None
    words: tuple[str | Fraction | None, ...] | None = None

    def __post_init__(self) -> None:
        if (self.group is None) == (self.text is None):
            raise ArgumentError(
                "key", found="neither cells nor a text, or both", right="one of them", step="give group or text"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """One column of the answer."""

    name: str
    term: Term


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """One entry of ORDER BY."""

    term: Term
    descending: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What the text itself says of the budget, as it was written; None where it says nothing."""

    epsilon: str | None = None
    delta: str | None = None
    rho: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked of one table and what it is joined with, whose columns are named `<name of the join>.<column>`."""

    table: str
    joins: tuple[Join, ...] = ()
    statistics: tuple[Statistic, ...]
    outputs: tuple[Output, ...]
    by: tuple[GroupKey, ...] = ()
    sets: tuple[tuple[int, ...], ...] | None = None
    where: Predicate | None = None
    having: Term | None = None
    order: tuple[Order, ...] = ()
    limit: int | None = None
    offset: int = 0
    options: Options = field(default_factory=Options)

    def __post_init__(self) -> None:
        at_least("offset", self.offset, 0)
        if self.limit is not None:
            at_least("limit", self.limit, 0)
        if not self.outputs or not self.statistics:
            raise ArgumentError(
                "question", found="nothing that is measured", right="it asks for a statistic", step="ask for COUNT(*)"
            )
