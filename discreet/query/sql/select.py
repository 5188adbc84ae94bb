"""A SELECT as a question in the making; and a SELECT over one that groups, which only changes what is shown of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from discreet.measure.expression import Predicate
from discreet.query.question import GroupKey, Options, Order, Output, Question
from discreet.query.sql.aggregates import has_aggregate
from discreet.query.sql.compare import all_of
from discreet.query.sql.grouping import Grouping, grouping_of
from discreet.query.sql.keys import group_key
from discreet.query.sql.names import Names
from discreet.query.sql.relation import Inner, Place, Relation, inner_select, is_grouped, relation_of
from discreet.query.sql.rows import Rows, whole_number
from discreet.query.sql.terms import Made, Terms
from discreet.query.sql.written import Written, folded, shown, text_of
from discreet.query.statistic import Most, Statistic, Sum
from discreet.query.statistic import Rows as AllRows
from discreet.query.term import Asked, Key, Operation, Term

__all__ = ["Draft", "draft_of"]


@dataclass(slots=True, kw_only=True)
class Draft:
    """What a SELECT asks, clause by clause."""

    relation: Relation
    statistics: list[Statistic]
    grouping: Grouping
    where: Predicate | None
    outputs: list[tuple[str, Made]] = field(default_factory=list)
    having: Term | None = None
    order: tuple[Order, ...] = ()
    limit: int | None = None
    offset: int = 0

    def question(self, options: Options) -> Question:
        """The question, with all that was gathered and is still asked for."""
        return Question(
            table=self.relation.base.table,
            joins=self.relation.joins,
            statistics=tuple(self.statistics),
            outputs=tuple(Output(name=name, term=made.term) for name, made in self.outputs),
            by=self.keys,
            sets=self.grouping.sets,
            where=self.where,
            having=self.having,
            order=self.order,
            limit=self.limit,
            offset=self.offset,
            options=options,
        )

    @property
    def keys(self) -> tuple[GroupKey, ...]:
        """The keys, each by its name."""
        pairs = zip(self.grouping.names, self.grouping.keys, strict=True)
        return tuple(group_key(name, key) for name, key in pairs)


def draft_of(select: exp.Select, place: Place) -> Draft:
    """What a SELECT asks. `place` is where it stands, with the names of its own WITH."""
    inner = inner_select(select, place)
    if inner is not None and _groups(inner):
        return _over(draft_of(inner.select, inner.place), select, inner)
    written = place.written
    relation = relation_of(select, place)
    rows = Rows(written, relation.contract, relation.names)
    where = list(relation.where)
    if select.args.get("where"):
        where.append(rows.predicate(select.args["where"].this))
    grouping = grouping_of(select, rows)
    terms = Terms(written, rows, tuple(grouping.keys))
    draft = Draft(
        relation=relation, statistics=terms.statistics, grouping=grouping, where=all_of(where) if where else None
    )
    draft.outputs = _outputs(select, terms)
    draft.having = terms.of_kind(select.args["having"].this, "truth") if select.args.get("having") else None
    draft.order = _order(select, terms, draft.outputs)
    draft.limit, draft.offset = _count(select, "limit", written), _count(select, "offset", written) or 0
    if not draft.statistics:
        raise written.refused(
            select,
            found="nothing that is counted or summed",
            right="a query asks for statistics of many rows",
            step="ask for COUNT(*), or AVG(column)",
        )
    return draft


def _groups(inner: Inner | None) -> bool:
    """Whether a SELECT groups, or reads from one that does, at any depth."""
    while inner is not None and not is_grouped(inner.select):
        inner = inner_select(inner.select, inner.place)
    return inner is not None


def _over(draft: Draft, select: exp.Select, inner: Inner) -> Draft:
    """The draft as a SELECT over it shows it."""
    written = inner.place.written
    if select.args.get("joins"):
        raise written.refused(
            select.args["joins"][0],
            found="a join with what was summed",
            right="tables are joined before they are summed",
            step="join inside the subquery",
        )
    named = _named(draft, inner)
    nothing = Rows(written, draft.relation.contract, Names(written, ()))
    terms = Terms(written, nothing, (), draft.statistics, named, table=inner.name)
    if len(select.expressions) == 1 and (most := _most(draft, select, terms)):
        return most
    if is_grouped(select) or (select.args.get("order") and has_aggregate(select.args["order"])):
        raise written.refused(
            select,
            found="an aggregate of aggregates",
            right="what was summed is combined by arithmetic, filtered and ordered",
            step="aggregate once, or write ARG_MAX(key, total) over one GROUP BY",
        )
    if draft.limit is not None and any(select.args.get(name) for name in ("where", "order", "limit", "offset")):
        raise written.refused(
            inner.select.args["limit"],
            found="LIMIT within a subquery that is filtered, ordered or cut again",
            right="LIMIT comes last",
            step="move LIMIT to the end of the query",
        )
    draft.outputs = _outputs(select, terms)
    if select.args.get("where"):
        kept = terms.of_kind(select.args["where"].this, "truth")
        draft.having = kept if draft.having is None else Operation("and", draft.having, kept)
    if select.args.get("order"):
        draft.order = _order(select, terms, draft.outputs)
    if draft.limit is None:
        draft.limit, draft.offset = _count(select, "limit", written), _count(select, "offset", written) or 0
    return draft


def _named(draft: Draft, inner: Inner) -> dict[str, Made]:
    """What the columns of a subquery mean, by their folded names."""
    names = [name for name, _ in draft.outputs]
    if len(inner.columns) > len(names):
        raise inner.place.written.refused(
            inner.columns[-1],
            found=f"{len(inner.columns)} names for {len(names)} columns",
            right="each column has one name",
            step="remove names",
        )
    names[: len(inner.columns)] = [column.name for column in inner.columns]
    return {folded(name): made for name, (_, made) in zip(names, draft.outputs, strict=True)}


def _most(draft: Draft, select: exp.Select, terms: Terms) -> Draft | None:
    """ARG_MAX over one GROUP BY: the key with the most rows or the largest sum, chosen instead of summed."""
    node = select.expressions[0]
    name, function = (node.alias, node.this) if isinstance(node, exp.Alias) else (text_of(node), node)
    if not isinstance(function, exp.ArgMax | exp.ArgMin):
        return None
    key, by, count = terms.term(function.this), terms.term(function.expression), function.args.get("count")
    statistic = draft.statistics[by.term.at] if isinstance(by.term, Asked) else None
    plain = len(draft.grouping.keys) == 1 and draft.grouping.sets is None and draft.having is None
    clauses = any(select.args.get(clause) for clause in ("where", "group", "having"))
    group = draft.grouping.keys[0].group if plain else None
    if clauses or group is None or key.term != Key(0) or not isinstance(statistic, AllRows | Sum) or draft.limit:
        raise terms.written.refused(
            function,
            found="a choice that is not that of a key by its rows or its sum",
            right="one public key is chosen by COUNT(*) or SUM of all its rows",
            step="write SELECT ARG_MAX(key, total) FROM (SELECT key, SUM(x) AS total FROM … GROUP BY key)",
        )
    number = 1 if count is None else whole_number(count, terms.written, "a number of keys")
    largest = isinstance(function, exp.ArgMax)
    chosen = Most(group, number, statistic.value if isinstance(statistic, Sum) else None, largest)
    return Draft(
        relation=draft.relation,
        statistics=[chosen],
        grouping=Grouping(),
        where=draft.where,
        outputs=[(name, Made(Asked(0), key.kind))],
        limit=_count(select, "limit", terms.written),
    )


def _outputs(select: exp.Select, terms: Terms) -> list[tuple[str, Made]]:
    """The columns of the answer; each name once."""
    found: dict[str, tuple[str, Made]] = {}
    for node in select.expressions:
        inner, alias = (node.this, node.alias) if isinstance(node, exp.Alias) else (node, "")
        if isinstance(inner, exp.Star) and terms.names and not terms.rows.names.parts:
            found |= {name: (name, made) for name, made in terms.names.items() if name not in found}
            continue
        if isinstance(inner, exp.Star):
            raise terms.written.refused(
                node,
                found="all columns at once",
                right="rows are never shown; a query asks for statistics of them",
                step="ask for COUNT(*), or name columns inside aggregates",
            )
        made = terms.term(inner)
        if alias and folded(alias) in found:
            raise terms.written.refused(
                node, found=f"two columns {shown(alias)}", right="each name stands once", step="rename one of them"
            )
        title = alias or _title(inner, terms)
        number = 1
        while folded(name := title if number == 1 else f"{title}_{number}") in found:
            number += 1
        found[folded(name)] = name, made
        if terms.rows.names.parts:
            terms.names.setdefault(folded(name), made)
    return list(found.values())


def _title(node: exp.Expr, terms: Terms) -> str:
    return terms.rows.names.title(node.name) if isinstance(node, exp.Column) else text_of(node)


def _order(select: exp.Select, terms: Terms, outputs: Sequence[tuple[str, Made]]) -> tuple[Order, ...]:
    order = select.args.get("order")
    shown_first = Terms(
        terms.written,
        terms.rows,
        terms.keys,
        terms.statistics,
        {**terms.names, **{folded(name): made for name, made in outputs}},
        names_first=True,
        table=terms.table,
    )
    found: list[Order] = []
    for node in order.expressions if order is not None else ():
        inner, descending = node.this, bool(node.args.get("desc"))
        if isinstance(inner, exp.Var) and inner.name.upper() == "ALL":
            found += [Order(term=made.term, descending=descending) for _, made in outputs]
        elif isinstance(inner, exp.Literal) and not inner.is_string:
            place = whole_number(inner, terms.written, "a place in the SELECT list")
            if not 1 <= place <= len(outputs):
                raise terms.written.refused(
                    inner,
                    found=f"place {place} of {len(outputs)}",
                    right="a number in ORDER BY is a place in the SELECT list",
                    step="name the column",
                )
            found.append(Order(term=outputs[place - 1][1].term, descending=descending))
        else:
            found.append(Order(term=shown_first.term(inner).term, descending=descending))
    return tuple(found)


def _count(select: exp.Select, clause: str, written: Written) -> int | None:
    node = select.args.get(clause)
    return None if node is None else whole_number(node.expression, written, f"a number of rows in {clause.upper()}")
