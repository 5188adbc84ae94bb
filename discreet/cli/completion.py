"""Completion in the shell: words of SQL, and names that contracts make public. Never anything of the data.

Tables under a contract, their columns that may be asked about, and inside quotes the keys that contracts list. Hidden
columns and direct identifiers are not offered.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from discreet.curator import Curator
from discreet.query.public import public_columns, public_keys

__all__ = ["PublicNames"]

_WORDS = [
    "SELECT",
    "FROM",
    "WHERE",
    "GROUP",
    "BY",
    "HAVING",
    "ORDER",
    "LIMIT",
    "AND",
    "OR",
    "NOT",
    "IN",
    "BETWEEN",
    "LIKE",
    "IS",
    "NULL",
    "CASE",
    "WHEN",
    "THEN",
    "ELSE",
    "END",
    "AS",
    "JOIN",
    "USING",
    "ON",
    "DISTINCT",
    "COUNT",
    "SUM",
    "AVG",
    "MEDIAN",
    "STDDEV",
    "VARIANCE",
    "CORR",
    "QUANTILE_CONT",
    "MIN",
    "MAX",
    "MODE",
    "ROLLUP",
    "CUBE",
    "DESC",
    "ASC",
    "width_bucket",
    "date_trunc",
]
_OFFERED_AT_MOST = 200


class PublicNames(Completer):
    """Offers words, tables and columns; inside quotes, keys; after a dot at the start, commands."""

    def __init__(self, held: Curator, commands: Sequence[str]) -> None:
        agreed = {name: held.contract(name) for name in held.tables}
        contracts = {name: contract for name, contract in agreed.items() if contract is not None}
        self._commands = tuple(commands)
        self._tables = tuple(contracts)
        self._columns = tuple(dict.fromkeys(name for one in contracts.values() for name in public_columns(one)))
        self._keys = tuple(dict.fromkeys(key for one in contracts.values() for key in public_keys(one)))

    def get_completions(self, document: Document, _event: CompleteEvent) -> Iterator[Completion]:
        """What may stand here, as far as it begins like what was typed."""
        before = document.text_before_cursor
        if before.count("'") % 2:
            written = before[before.rindex("'") + 1 :]
            yield from _offered(written, self._keys)
        elif before.lstrip().startswith("."):
            _, space, written = before.lstrip().rpartition(" ")
            yield from _offered(written, self._tables if space else self._commands)
        else:
            yield from _offered(_last_word(before), (*self._columns, *self._tables, *_WORDS))


def _offered(written: str, names: Iterable[str]) -> Iterator[Completion]:
    folded = written.lower()
    near = [name for name in names if name.lower().startswith(folded)]
    for name in near[:_OFFERED_AT_MOST]:
        yield Completion(name, start_position=-len(written))


def _last_word(before: str) -> str:
    at = len(before)
    while at and (before[at - 1].isalnum() or before[at - 1] == "_"):
        at -= 1
    return before[at:]
