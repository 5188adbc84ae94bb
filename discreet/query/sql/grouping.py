"""GROUP BY: which keys, and which sets of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations, product

from sqlglot import exp

from discreet.measure.groups import axis_of, cells
from discreet.query.sql.aggregates import has_aggregate
from discreet.query.sql.keys import Sorted, sorted_by
from discreet.query.sql.rows import Rows, whole_number
from discreet.query.sql.written import Written, folded, text_of

__all__ = ["Grouping", "grouping_of"]

_SETS_AT_MOST = 64
Sets = list[tuple[int, ...]]


@dataclass(slots=True)
class Grouping:
    """The keys, how each is called and where it is written, and the sets of their places if there are several."""

    keys: list[Sorted] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    sets: tuple[tuple[int, ...], ...] | None = None


def grouping_of(select: exp.Select, rows: Rows) -> Grouping:
    """The keys of a SELECT."""
    group, reader = select.args.get("group"), _Reader(rows, select.expressions)
    if group is None:
        return reader.grouping
    entries = [one for one in select.expressions if not has_aggregate(one)] if group.args.get("all") else None
    if entries is not None:
        for one in entries:
            reader.place(one)
        _require_few(reader.grouping, group, rows)
        return reader.grouping
    parts = [reader.sets(entry) for entry in group.expressions]
    sets = _multiplied(parts, group, rows.written)
    everything = tuple(range(len(reader.grouping.keys)))
    if sets != [everything]:
        reader.grouping.sets = tuple(sets)
    _require_few(reader.grouping, group, rows)
    return reader.grouping


@dataclass(slots=True)
class _Reader:
    rows: Rows
    outputs: Sequence[exp.Expr]
    grouping: Grouping = field(default_factory=Grouping)

    def sets(self, entry: exp.Expr) -> Sets:
        """The sets of keys that one entry of GROUP BY stands for."""
        match entry:
            case exp.Rollup():
                parts = [self.together(one) for one in entry.expressions]
                return [_union(parts[:count]) for count in range(len(parts), -1, -1)]
            case exp.Cube():
                parts = [self.together(one) for one in entry.expressions]
                sizes = range(len(parts), -1, -1)
                return [_union(chosen) for size in sizes for chosen in combinations(parts, size)]
            case exp.GroupingSets():
                return [chosen for one in entry.expressions for chosen in self.nested(one)]
        return [self.together(entry)]

    def nested(self, entry: exp.Expr) -> Sets:
        """The sets of one entry of GROUPING SETS."""
        return self.sets(entry)

    def together(self, entry: exp.Expr) -> tuple[int, ...]:
        """The keys of an entry that stand or fall together."""
        if isinstance(entry, exp.Tuple):
            return _union([self.together(one) for one in entry.expressions])
        return (self.place(entry),)

    def place(self, entry: exp.Expr) -> int:
        """The place of a key, which is added unless it is there."""
        node, name = self.meant(entry)
        if has_aggregate(node):
            raise self.rows.written.refused(
                entry,
                found="an aggregate as a key",
                right="keys are made of the values of one row",
                step="write the condition on it in HAVING",
            )
        with self.rows.written.at(entry):
            key = sorted_by(self.rows.row(node), self.rows.contract)
            if key.group is not None:
                axis_of(key.group, self.rows.contract)
        if key not in self.grouping.keys:
            self.grouping.keys.append(key)
            self.grouping.names.append(name)
        return self.grouping.keys.index(key)

    def meant(self, entry: exp.Expr) -> tuple[exp.Expr, str]:
        """The expression that an entry stands for, which may be a place or a name of the SELECT list."""
        while isinstance(entry, exp.Paren):
            entry = entry.this
        if isinstance(entry, exp.Literal) and not entry.is_string:
            number = whole_number(entry, self.rows.written, "a place in the SELECT list")
            if not 1 <= number <= len(self.outputs):
                raise self.rows.written.refused(
                    entry,
                    found=f"place {number} of {len(self.outputs)}",
                    right="a number in GROUP BY is a place in the SELECT list",
                    step="name the column",
                )
            return self.meant(self.outputs[number - 1])
        if isinstance(entry, exp.Alias):
            return entry.this, entry.alias
        if isinstance(entry, exp.Column):
            named = [
                one for one in self.outputs if isinstance(one, exp.Alias) and folded(one.alias) == folded(entry.name)
            ]
            if named and entry.args.get("table") is None and not self.rows.names.has(entry.name):
                return named[0].this, named[0].alias
            return entry, self.rows.names.title(entry.name)
        for one in self.outputs:
            if isinstance(one, exp.Alias) and one.this == entry:
                return entry, one.alias
        return entry, text_of(entry)


def _union(parts: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    return tuple(sorted({at for part in parts for at in part}))


def _multiplied(parts: Sequence[Sets], group: exp.Expr, written: Written) -> Sets:
    """The sets of several entries: each set of one with each set of the others."""
    count = 1
    for part in parts:
        count *= len(part)
    if count > _SETS_AT_MOST:
        raise written.refused(
            group,
            found=f"{count:,} sets of keys",
            right=f"at most {_SETS_AT_MOST} are answered at once",
            step="name the sets that are needed, in GROUPING SETS",
        )
    return list(dict.fromkeys(_union(chosen) for chosen in product(*parts)))


def _require_few(grouping: Grouping, group: exp.Expr, rows: Rows) -> None:
    """Refuse more cells than a plan may have."""
    every = tuple(range(len(grouping.keys)))
    for chosen in grouping.sets or (every,):
        groups = [grouping.keys[at].group for at in chosen]
        with rows.written.at(group):
            cells([axis_of(one, rows.contract) for one in groups if one is not None])
