"""From SQL text to a question, in which none of the text is left.

1. `sql.scan` makes one syntax tree of the text, within limits of size and depth.
2. `sql.allow` refuses every node, and every argument of a node, that is not on its list.
3. What stands after FROM reduces to rows of one table: names, and conditions that keep a row (`sql.relation`).
4. WHERE, GROUP BY and aggregates are read over those rows, typed by the contract; the rest, over what is released.

Whatever is refused is refused here, by the text and the contracts alone, with its line and column.

Given:   a text; contracts by the name of their table.
Promise: a question of values, groups and statistics that the contract can make sense of, or an `InputError`; no text
         of the query reaches a plan but as a constant, a pattern or a key that was compared with public facts.
Because: every class of the question holds names of columns, exact numbers and bounded texts only; names are taken from
         the contract, not from the text.
Tested:  test_no_text_raises_anything_else, test_escapes_are_refused, test_literals_stay_literals.
"""

from __future__ import annotations

from collections.abc import Callable

from discreet.data.contract import Contract
from discreet.query.question import Question
from discreet.query.sql.allow import require_allowed
from discreet.query.sql.relation import Place
from discreet.query.sql.scan import scan
from discreet.query.sql.select import draft_of

__all__ = ["parse"]


def parse(text: str, contract_of: Callable[[str], Contract]) -> Question:
    """The question that a SELECT asks. `contract_of` gives a table's contract, or raises UnknownNameError."""
    select, options, written = scan(text)
    require_allowed(select, written)
    return draft_of(select, Place(written, contract_of).within(select)).question(options)
