"""An answer: released numbers as a table, each with its error, and what it cost.

1. `frame` is what a person works with, in the kind asked for. A number that can only lie in some range was moved there,
   and counts are whole numbers; that is post-processing and costs nothing.
2. `raw` holds the released numbers as they came, for whoever averages or models them: the moves of 1 are a bias.
3. `error` holds standard deviations, `interval()` 95 % intervals, `too_noisy` a flag where the standard deviation is
   above 0.3 of the number, from where on statistical offices warn of an estimate.
4. `estimand` says in words what was estimated, where bounding a person's rows makes it another number than SQL's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

from discreet.accounting.receipt import SignedReceipt
from discreet.check import probability
from discreet.data.contract import Contract
from discreet.data.frame import FrameKind, frame_like
from discreet.draw import Chart, Grid, GridColumn, Page, Panels
from discreet.draw.format import Kind, written
from discreet.measure.crowding import Share
from discreet.measure.span import span_of
from discreet.query.agreement import Agreement, agreement
from discreet.query.evaluation import Error, Evaluation
from discreet.query.labels import Shown
from discreet.query.question import Question
from discreet.query.script import Script
from discreet.query.statistic import Distinct, Mean, Persons, Present, Rows, Statistic, Sum
from discreet.query.term import Asked, asked

__all__ = ["Answer", "AnswerColumn", "Cost", "answered", "estimands"]

_NOISY_FROM = 0.3
_COVERED = Fraction(19, 20)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What an answer was charged, account by account, in words; `entry` of the ledger. `again`: it was paid before."""

    guarantee: str
    accounts: Mapping[str, str]
    entry: int | None = None
    again: bool = False

    def as_json(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "guarantee": self.guarantee,
            "accounts": dict(self.accounts),
            "entry": self.entry,
            "paid before": self.again,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerColumn:
    """One column: what is shown, what was released, and the error of each; `measured` is False for keys."""

    name: str
    measured: bool
    values: tuple[Shown, ...]
    raw: tuple[Shown, ...]
    errors: tuple[Error, ...]

    @property
    def too_noisy(self) -> tuple[bool | None, ...]:
        """Whether each number is too noisy to use; None for keys."""
        return tuple(map(_noisy, self.values, self.errors)) if self.measured else (None,) * len(self.values)


@dataclass(frozen=True, kw_only=True, eq=False)
class Answer:
    """The answer to one question. `dummy` says that its numbers are invented."""

    question: Question
    evaluation: Evaluation
    contract: Contract
    cost: Cost
    kind: FrameKind = FrameKind.PLAIN
    receipt: SignedReceipt | None = None
    certifiable: bool = True
    dummy: bool = False
    text: str | None = None
    script: Script | None = None
    # Of the units that the question reads, how many have more rows than count; where that was paid for.
    above: Share | None = None

    @cached_property
    def columns(self) -> tuple[AnswerColumn, ...]:
        """The columns, in the order of the SELECT."""
        return tuple(self._column(at) for at in range(len(self.question.outputs)))

    @property
    def charge(self) -> Cost:
        """What was charged."""
        return self.cost

    @property
    def frame(self) -> Any:
        """The answer, in the kind that was asked for."""
        return self._framed({column.name: column.values for column in self.columns})

    @property
    def raw(self) -> Any:
        """The released numbers before any was moved into its range or rounded."""
        return self._framed({column.name: column.raw for column in self.columns})

    @property
    def consistent(self) -> Any:
        """Where grouping sets must add up: the nearest numbers that do, in parts of a row; None where none need to."""
        agreed = self._agreement
        if agreed is None:
            return None
        return self._framed({one.name: agreed.values(one.term) for one in self.question.outputs})

    @property
    def consistent_error(self) -> Any:
        """Standard deviations of the sums and counts in `consistent`: never above those of what was released."""
        agreed = self._agreement
        if agreed is None:
            return None
        outputs = zip(self.columns, self.question.outputs, strict=True)
        return self._framed({one.name: _or_keys(one, agreed.errors(output.term)) for one, output in outputs})

    @cached_property
    def _agreement(self) -> Agreement | None:
        return agreement(self.evaluation)

    @property
    def error(self) -> Any:
        """Standard deviations; keys stay keys."""
        return self._framed({one.name: _or_keys(one, [e.deviation for e in one.errors]) for one in self.columns})

    @property
    def too_noisy(self) -> Any:
        """Flags; keys stay keys."""
        return self._framed({one.name: _or_keys(one, one.too_noisy) for one in self.columns})

    def interval(self, coverage: float | str | Fraction = _COVERED) -> Any:
        """Intervals that cover the exact numbers with that probability: two columns for each number, keys stay keys."""
        exact = probability("coverage", coverage)
        columns: dict[str, Sequence[Any]] = {}
        for at, one in enumerate(self.columns):
            if not one.measured:
                columns[one.name] = one.values
                continue
            errors = one.errors if exact == _COVERED else self._errors(at, exact)
            columns[f"{one.name} low"] = [error.low for error in errors]
            columns[f"{one.name} high"] = [error.high for error in errors]
        return self._framed(columns)

    @property
    def estimand(self) -> tuple[str, ...]:
        """What was estimated, in words."""
        return (*self.evaluation.estimand, *estimands(self.question, self.contract))

    @property
    def notes(self) -> tuple[str, ...]:
        """What is known of numbers and keys that were chosen privately, in words."""
        return self.evaluation.notes

    def sentences(self) -> tuple[str, ...]:
        """What a reader must know beside the numbers."""
        if self.dummy:
            return ("Invented numbers: nothing was read and nothing was charged.", *self.estimand)
        flagged = sum(flag is True for column in self.columns for flag in column.too_noisy)
        noisy = (f"Too noisy to use: {flagged} numbers, marked with *.",) if flagged else ()
        return (*noisy, *self.notes, *self.estimand, *self._above(), *self.payment())

    def payment(self) -> tuple[str, ...]:
        """What it cost, and under which guarantee."""
        paid = "Paid for before, given again for nothing" if self.cost.again else "Charged"
        charged = "; ".join(f"{account}: {amount}" for account, amount in self.cost.accounts.items())
        teaching = () if self.certifiable else ("Teaching only: drawn from seeded bits, so it protects nobody.",)
        return (
            *teaching,
            f"Guarantee: {self.cost.guarantee}.",
            f"{paid}: {charged}, as entry {self.cost.entry} of the ledger.",
        )

    def grid(self) -> Grid:
        """For people: each number with half its 95 % interval beside it; * marks what is too noisy to use."""
        columns: list[GridColumn] = []
        cells: list[list[Any]] = []
        for one in self.columns:
            columns.append(GridColumn(one.name, _written_as(one)))
            cells.append([_plain(value) for value in one.values])
            if one.measured:
                columns.append(GridColumn(f"± {one.name}"))
                cells.append(list(map(_plus_minus, one.errors, one.raw, one.too_noisy)))
        return Grid(self.question.table, tuple(columns), tuple(zip(*cells, strict=True)))

    def full_grid(self) -> Grid:
        """For machines: value, released number, standard deviation, interval and flag of each column."""
        columns: list[GridColumn] = []
        cells: list[Sequence[Any]] = []
        for one in self.columns:
            columns.append(GridColumn(one.name, _written_as(one)))
            cells.append([_plain(value) for value in one.values])
            if one.measured:
                columns += [GridColumn(f"{one.name} {what}", "number") for what in ("raw", "error", "low", "high")]
                columns.append(GridColumn(f"{one.name} too noisy"))
                errors = one.errors
                cells += [[_plain(value) for value in one.raw], [e.deviation for e in errors]]
                cells += [[e.low for e in errors], [e.high for e in errors], [_flag(flag) for flag in one.too_noisy]]
        return Grid(self.question.table, tuple(columns), tuple(zip(*cells, strict=True)))

    def as_json(self) -> dict[str, Any]:
        """Everything of the answer as plain values."""
        agreed, columns = self._agreement, [_column_json(column) for column in self.columns]
        if agreed is not None:
            for column, output in zip(columns, self.question.outputs, strict=True):
                if column["measured"]:
                    column["consistent"] = agreed.values(output.term)
        return {
            "table": self.question.table,
            "sql": self.text,
            "dummy": self.dummy,
            "columns": columns,
            "estimand": list(self.estimand),
            "notes": list(self.notes),
            "units above the limit": None if self.above is None else self.above.as_json(),
            "charge": self.cost.as_json(),
            "receipt": None if self.receipt is None else self.receipt.text(),
        }

    def save(self, into: str | Path) -> Path:
        """Write the answer; the ending names the form: csv, parquet, json, html, ipynb, py, yaml or receipt."""
        from discreet.query.export import save  # it writes answers, and so knows them

        return save(self, Path(into))

    def page(self) -> Page:
        """The answer as an offline page, with a chart."""
        from discreet.query.depiction import answer_page

        return answer_page(self)

    def chart(self) -> Chart | Panels | None:
        """Every number with its interval; None where there is nothing to draw, or far too much."""
        from discreet.query.depiction import answer_chart

        return answer_chart(self)

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        from discreet.query.depiction import answer_html

        return answer_html(self)

    def _above(self) -> tuple[str, ...]:
        if self.above is None:
            return ()
        share, unit = self.above, self.contract.unit
        rows = "1 row" if unit.rows == 1 else f"{unit.rows} rows"
        return (
            f"About {100 * share.value:.1f} % of {unit.person!r} have more than {rows} that the question reads "
            f"({100 * share.low:.1f} to {100 * share.high:.1f} % in 95 of 100 answers).",
        )

    def _column(self, at: int) -> AnswerColumn:
        output = self.question.outputs[at]
        raw = self.evaluation.shown(output.term)
        if not asked(output.term):
            keys = tuple(raw)
            return AnswerColumn(name=output.name, measured=False, values=keys, raw=keys, errors=self._errors(at))
        exact = self.evaluation.exact(output.term)
        released = raw if exact is None else exact
        return AnswerColumn(
            name=output.name,
            measured=True,
            values=tuple(self._moved(at, released)),
            raw=tuple(released),
            errors=self._errors(at),
        )

    def _errors(self, at: int, coverage: Fraction = _COVERED) -> tuple[Error, ...]:
        low, high, _ = self._range(at)
        found = self.evaluation.errors(self.question.outputs[at].term, coverage=coverage)
        if low is None and high is None:
            return tuple(found)
        return tuple(
            one
            if one.low is not None and one.high is not None and _lies(one.low, low, high) and _lies(one.high, low, high)
            else Error(one.deviation, _within(one.low, low, high), _within(one.high, low, high))
            for one in found
        )

    def _moved(self, at: int, values: Sequence[Any]) -> Iterator[Shown]:
        """The numbers in their range, and whole where they count something; labels as they are."""
        low, high, whole = self._range(at)
        for value in values:
            if isinstance(value, int | float):
                yield _within(round(value) if whole else value, low, high)
            else:
                yield value

    def _range(self, at: int) -> tuple[float | None, float | None, bool]:
        """Where an output must lie by public facts alone, and whether it counts; known of statistics themselves."""
        term = self.question.outputs[at].term
        if not isinstance(term, Asked):
            return None, None, False
        return _range(self.question.statistics[term.at], self.contract)

    def _framed(self, columns: Mapping[str, Sequence[Any]]) -> Any:
        return frame_like(self.kind, columns)


def answered(evaluation: Evaluation, contract: Contract, cost: Cost, **further: Any) -> Answer:
    """The answer of an evaluation."""
    return Answer(question=evaluation.question, evaluation=evaluation, contract=contract, cost=cost, **further)


def estimands(question: Question, contract: Contract) -> tuple[str, ...]:
    """What bounding makes of the question, in words, and what the contract's readers must know."""
    unit = contract.unit
    if unit.is_row:
        return contract.warnings
    per = f" per {unit.period}" if unit.period else ""
    found = []
    if any(not isinstance(one, Persons | Distinct) for one in question.statistics):
        rows = "1 row" if unit.rows == 1 else f"{unit.rows} rows"
        found.append(
            f"Each {unit.person!r}{per} counts with at most {rows} that the question reads: of one with more, every "
            f"row counts in part, so that they add up to {rows}."
        )
    if any(isinstance(one, Persons | Distinct) for one in question.statistics):
        groups = "1 group" if unit.groups == 1 else f"{unit.groups} groups"
        found.append(f"Each {unit.person!r}{per} counts in at most {groups}: one in more counts in each in part.")
    return (*found, f"Rows without {unit.person!r} are left out.", *contract.warnings)


def _range(statistic: Statistic, contract: Contract) -> tuple[float | None, float | None, bool]:
    match statistic:
        case Rows() | Present() | Persons() | Distinct():
            return 0, None, True
        case Sum(value):
            span = span_of(value, contract)
            return (0 if span.low >= 0 else None), (0 if span.high <= 0 else None), False
        case Mean(value):
            span = span_of(value, contract)
            return float(span.step * span.low), float(span.step * span.high), False
    return None, None, False


def _lies(value: float, low: float | None, high: float | None) -> bool:
    return (low is None or low <= value) and (high is None or value <= high)


def _within(value: float | None, low: float | None, high: float | None) -> Any:
    if value is None:
        return None
    if low is not None and value < low:
        return low
    return high if high is not None and value > high else value


def _noisy(value: Shown, error: Error) -> bool | None:
    if value is None:
        return True
    if error.deviation is None or not isinstance(value, int | float):
        return None
    return error.deviation > _NOISY_FROM * abs(value)


def _written_as(column: AnswerColumn) -> Kind:
    """How a column is written: whole numbers in groups of three, others to four digits, the rest as they are."""
    if not column.measured or not all(value is None or isinstance(value, int | float) for value in column.values):
        return "text"
    return "count" if all(value is None or isinstance(value, int) for value in column.values) else "number"


def _plain(value: Shown) -> str | int | float | None:
    return value if value is None or isinstance(value, str | int | float) else value.isoformat()


def _plus_minus(error: Error, value: Shown, noisy: bool | None) -> str:
    """Half the interval, or both halves where they differ."""
    mark = " *" if noisy else ""
    if error.low is None or error.high is None or not isinstance(value, int | float):
        return mark.strip()
    return f"{written('number', (error.high - error.low) / 2)}{mark}"


def _flag(flag: bool | None) -> str:
    return "" if flag is None else "yes" if flag else "no"


def _or_keys(column: AnswerColumn, errors: Sequence[Any]) -> Sequence[Any]:
    return errors if column.measured else column.values


def _column_json(column: AnswerColumn) -> dict[str, Any]:
    plain = {"name": column.name, "measured": column.measured, "values": [_plain(value) for value in column.values]}
    if not column.measured:
        return plain
    return {
        **plain,
        "raw": [_plain(value) for value in column.raw],
        "standard deviation": [error.deviation for error in column.errors],
        "low": [error.low for error in column.errors],
        "high": [error.high for error in column.errors],
        "too noisy": list(column.too_noisy),
    }
