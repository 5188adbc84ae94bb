"""One person's rows bounded inside the engine, by weights instead of a choice of rows.

1. A person with up to R rows has the weight 2^s on each; one with m > R rows has ⌊R·2^s/m⌋ on each, by whole division.
2. Whole weights times whole values are added up, and nothing is rounded again; the total is in steps of 2^(−s).
3. Rows count after the filter; a row whose person (or period) is missing is left out, and so is a row that contributes
   to no aggregate. A row outside all cells keeps its share of its person's weight.

The estimand: Σ over persons p of Σ over p's rows of w_p·v / 2^s with w_p as in 1. It is, but for the whole division,
what the mean over all ways to keep R of each person's rows would be, without the variance of choosing. The division
leaves out less than 2^(−s) of a row for each of a person's rows, and a person of more than R·2^s rows counts nothing.

Given:   one person's m rows.
Promise: their weights add up to at most R·2^s.
Because: m·2^s ≤ R·2^s if m ≤ R, and m·⌊R·2^s/m⌋ ≤ R·2^s otherwise. Rounding to the nearest would break it: 5.03 rows of
         weight for 119,861 rows at R = 5 and s = 20.
Tested:  test_weights_of_a_person_never_pass_the_limit, test_rounding_to_nearest_turns_red.

Distinct persons are bounded the same way: one who is in g > G cells has ⌊G·2^s/g⌋ in each of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

__all__ = ["BITS_AT_MOST", "change_of_row", "heavy_units", "whole_weight"]

BITS_AT_MOST = 20


def whole_weight(rows: int, limit: int, bits: int) -> int:
    """The weight of each of a person's rows: what the engine computes, in plain integers."""
    return 1 << bits if rows <= limit else (limit << bits) // rows


def heavy_units(source: str, unit: Sequence[str], limit: int, bits: int) -> exp.Select:
    """The units with more rows than the limit, and the weight of each of their rows."""
    rows = exp.Count(this=exp.Star())
    weight = exp.IntDiv(this=exp.Literal.number(limit << bits), expression=rows)
    columns = [exp.column(name) for name in unit]
    return (
        exp.select(*columns, exp.alias_(weight, "weight"))
        .from_(exp.table_(source), copy=False)
        .group_by(*columns, copy=False)
        .having(exp.GT(this=rows.copy(), expression=exp.Literal.number(limit)), copy=False)
    )


def change_of_row(bits: int) -> exp.Expr:
    """By how much the weight of a row of a heavy unit differs from the whole one: never above 0."""
    return exp.Paren(this=exp.Sub(this=exp.column("weight", "heavy"), expression=exp.Literal.number(1 << bits)))
