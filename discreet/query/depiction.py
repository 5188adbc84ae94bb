"""An answer as people look at it: a chart with error bars, a page, and what a notebook shows.

Each measured column is one panel: the released number of every row, in its range, with its 95 % interval. Nothing is
drawn that the answer's table does not say.
"""

from __future__ import annotations

from collections.abc import Sequence

from discreet.draw import (
    Axis,
    Block,
    Callout,
    Chart,
    Code,
    Grid,
    Heading,
    Intervals,
    Page,
    Panels,
    Paragraph,
    Rule,
    to_svg,
)
from discreet.draw.lettering import escape
from discreet.draw.palette import Family
from discreet.query.answer import Answer, AnswerColumn

__all__ = ["answer_chart", "answer_html", "answer_page"]

_ROWS_AT_MOST = 60
_PANELS_AT_MOST = 6
_LABEL_AT_MOST = 40


def answer_chart(answer: Answer) -> Chart | Panels | None:
    """Every number with its interval; None where nothing can be drawn: no numbers, no rows, or far too many."""
    measured = [column for column in answer.columns if column.measured and _drawable(column)][:_PANELS_AT_MOST]
    if not measured or not 1 <= len(measured[0].values) <= _ROWS_AT_MOST:
        return None
    labels = _labels(answer.columns)
    charts = [_chart(answer, column, labels) for column in measured]
    if len(charts) == 1:
        return charts[0]
    return Panels(title=f"Answer from {answer.question.table}", charts=tuple(charts), columns=min(2, len(charts)))


def answer_html(answer: Answer) -> str:
    """What a notebook shows: the table, the chart, and what a reader must know."""
    chart = answer_chart(answer)
    words = "".join(f"<li>{escape(line)}</li>" for line in answer.sentences())
    picture = "" if chart is None else f"<div>{to_svg(chart)}</div>"
    return f'<div class="discreet-answer">{answer.grid().html()}{picture}<ul>{words}</ul></div>'


def answer_page(answer: Answer) -> Page:
    """The answer as one offline page."""
    chart, text = answer_chart(answer), answer.text
    first, *more = answer.sentences()
    promise = Callout("guarantee" if answer.certifiable else "warning", f"{answer.cost.guarantee}.")
    question: list[Block] = [] if text is None else [Heading("Question"), Code(text)]
    picture: list[Block] = [] if chart is None else [chart]
    full = answer.full_grid()
    return Page(
        title=f"Answer from {answer.question.table}",
        lead=first,
        blocks=(
            Callout("warning", "Invented numbers.") if answer.dummy else promise,
            *question,
            Heading("Answer"),
            answer.grid(),
            *picture,
            *(Paragraph(line) for line in more),
            Heading("As released"),
            Grid("Released numbers, standard deviations and intervals", full.columns, full.rows),
        ),
    )


def _drawable(column: AnswerColumn) -> bool:
    return any(error.low is not None for error in column.errors) and all(
        value is None or isinstance(value, int | float) for value in column.values
    )


def _labels(columns: Sequence[AnswerColumn]) -> tuple[str, ...]:
    """One label for each row, out of its keys; told apart by number where keys do not."""
    keys = [column.values for column in columns if not column.measured]
    rows = len(columns[0].values)
    if not keys:
        return ("all",) if rows == 1 else tuple(f"row {at + 1}" for at in range(rows))
    labels = [" · ".join("missing" if key[at] is None else str(key[at]) for key in keys) for at in range(rows)]
    cut = [label if len(label) <= _LABEL_AT_MOST else f"{label[: _LABEL_AT_MOST - 1]}…" for label in labels]
    return tuple(cut) if len(set(cut)) == rows else tuple(f"{at + 1}. {label}" for at, label in enumerate(cut))


def _chart(answer: Answer, column: AnswerColumn, labels: tuple[str, ...]) -> Chart:
    numbers = [value if isinstance(value, int | float) else None for value in column.values]
    family: Family = "plain" if answer.dummy or not answer.certifiable else "guarantee"
    mark = Intervals(
        at=labels,
        low=tuple(error.low for error in column.errors),
        mid=tuple(numbers),
        high=tuple(error.high for error in column.errors),
    )
    ends = [end for error in column.errors for end in (error.low, error.high) if end is not None]
    zero = (Rule(0, "x"),) if ends and min(ends) < 0 < max(ends) else ()
    return Chart(
        title=column.name,
        x=Axis(column.name),
        y=Axis("", scale="band", categories=labels),
        marks=(mark, *zero),
        caption=f"{column.name} with intervals that hold the exact number in 95 of 100 answers.",
        family=family,
    )
