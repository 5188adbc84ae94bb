"""Column names as a source has them: text of any script, and never two that look the same.

A message about a name gives its position alone: in a file without a header the names are data.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence

from discreet.data.readers.limits import Limits
from discreet.errors import FileError

__all__ = ["checked_names"]

_LONGEST = 255
# Controls, surrogates, unassigned and line breaks; and signs that are invisible or turn the line around. The
# zero-width joiner stays: names in several scripts, and emojis, are made with it.
_REFUSED_CATEGORIES = ("Cc", "Cs", "Cn", "Zl", "Zp")
_REFUSED = frozenset("\u200b\u200e\u200f\u2060\ufeff\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def checked_names(names: Iterable[object], *, where: str, limits: Limits) -> tuple[str, ...]:
    """The names, stripped; refused if one is empty, unfit, or equal to another up to case and Unicode form."""
    given = list(names)
    if not given:
        raise _refused(where, "no columns", "a table needs at least one")
    if len(given) > limits.columns:
        step = "leave some out, or raise the limit: --limit columns=N"
        raise _refused(where, f"{len(given)} columns", f"at most {limits.columns} are read", step)
    kept = [_checked(name, f"{where}, column {position}") for position, name in enumerate(given, start=1)]
    _check_distinct(kept, where)
    return tuple(kept)


def _checked(name: object, where: str) -> str:
    if not isinstance(name, str):
        raise _refused(where, "a name that is not text", "column names are text")
    stripped = name.strip()
    if not stripped:
        raise _refused(where, "an empty name", "every column has a name")
    if any(unicodedata.category(sign) in _REFUSED_CATEGORIES or sign in _REFUSED for sign in stripped):
        raise _refused(where, "a name with control or invisible signs", "names are one line of visible text")
    if len(stripped) > _LONGEST:
        raise _refused(where, f"a name of {len(stripped)} signs", f"at most {_LONGEST} are read")
    return stripped


def _check_distinct(names: Sequence[str], where: str) -> None:
    seen: dict[str, int] = {}
    for position, name in enumerate(names, start=1):
        key = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
        if key in seen:
            raise _refused(
                f"{where}, columns {seen[key]} and {position}",
                "the same name",
                "names must differ in more than case, spaces and Unicode form",
            )
        seen[key] = position


def _refused(where: str, found: str, right: str, step: str = "correct the names in the source") -> FileError:
    return FileError(where, found=found, right=right, step=step)
