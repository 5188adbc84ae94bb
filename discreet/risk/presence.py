"""Which stored values are there at all (neither null, nor NaN, nor infinite), and sums over some of them."""

from __future__ import annotations

from sqlglot import exp

from discreet.data.table import StorageType, StoredColumn

__all__ = ["is_there", "sum_where"]

_LARGEST_FLOAT = "1.7976931348623157e308"


def is_there(column: StoredColumn) -> exp.Condition:
    """True where the column holds a value, false where it is null, NaN or infinite; never null itself."""
    value = exp.column(column.physical)
    present: exp.Condition = exp.not_(exp.Is(this=value, expression=exp.Null()))
    if column.type is not StorageType.DECIMAL:
        return present
    # engines differ on whether NaN equals itself, but all of them sort it above every finite number
    return exp.and_(present, exp.Abs(this=value.copy()) <= exp.Literal.number(_LARGEST_FLOAT))


def sum_where(condition: exp.Expr, amount: str | exp.Expr) -> exp.Sum:
    """The sum of an amount over the rows where a condition holds."""
    return exp.Sum(this=exp.case().when(condition, amount).else_("0"))
