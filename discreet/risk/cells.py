"""Cells: how often each sensitive value occurs in each class, as a generated SELECT over physical names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from discreet.check import some
from discreet.data.table import StoredColumn, StoredTable
from discreet.errors import ArgumentError

__all__ = ["Cells", "alike", "counts", "reading"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cells:
    """The cells of one sensitive column over the classes of quasi columns."""

    table: str
    quasi: tuple[StoredColumn, ...]
    sensitive: StoredColumn

    @classmethod
    def of(cls, table: StoredTable, quasi: Sequence[str], sensitive: str) -> Cells:
        """The cells of named columns; a column is either known to an outsider or sensitive."""
        columns = some("quasi", quasi, step="name the columns an outsider may know, each once")
        if sensitive in columns:
            raise ArgumentError(
                f"sensitive column {sensitive!r}",
                found="it is also among the quasi columns",
                right="an outsider either knows a column or wants to learn it",
                step="take it out of one of the two lists",
            )
        return cls(table=table.name, quasi=tuple(map(table.column, columns)), sensitive=table.column(sensitive))

    @property
    def keys(self) -> tuple[str, ...]:
        """The physical names of the quasi columns."""
        return tuple(column.physical for column in self.quasi)

    @property
    def value(self) -> exp.Column:
        """The sensitive column."""
        return exp.column(self.sensitive.physical)

    def tables(self) -> dict[str, exp.Query]:
        """Four tables to read from, each made of those above it.

        cells    the quasi columns, the sensitive column, n
        classes  the quasi columns, their number `id`, the `size` and the number l of distinct values
        levels   the sensitive column and how often it occurs, `total`
        whole    the number of `records`, in one row
        """
        keys = [exp.column(name) for name in self.keys]
        columns = [*keys, self.value]
        totals = ("ROW_NUMBER() OVER () AS id", "CAST(SUM(n) AS BIGINT) AS size", "COUNT(*) AS l")
        return {
            "cells": exp.select(*columns, "COUNT(*) AS n").from_(exp.table_(self.table)).group_by(*columns),
            "classes": exp.select(*keys, *totals).from_("cells").group_by(*keys),
            "levels": exp.select(self.value, "CAST(SUM(n) AS BIGINT) AS total").from_("cells").group_by(self.value),
            "whole": exp.select("CAST(SUM(total) AS BIGINT) AS records").from_("levels"),
        }


def reading(select: exp.Query, tables: Mapping[str, exp.Query]) -> exp.Query:
    """The SELECT with named tables to read from, each made once."""
    for name, table in tables.items():
        select = select.with_(name, as_=table, materialized=True, copy=False)
    return select


def alike(columns: Iterable[str], left: str, right: str) -> exp.Expr:
    """The condition that two tables agree on columns, where missing agrees with missing."""
    return exp.and_(
        *(exp.NullSafeEQ(this=exp.column(name, left), expression=exp.column(name, right)) for name in columns)
    )


def counts(row: Sequence[int | None]) -> tuple[int, ...]:
    """A row of counts; the sum of no records is 0."""
    return tuple(value or 0 for value in row)
