"""Every way Discreet can say no, on one screen.

    DiscreetError
    ├── InputError              what was given cannot be used                      exit 2
    │   ├── ArgumentError         an argument or option
    │   ├── UnknownNameError      a table, column or account that does not exist
    │   ├── FileError             a file that cannot be read for what it is
    │   ├── ContractError         a contract that contradicts itself or its table
    │   ├── FolderError           a curator's folder: absent, foreign, or in use
    │   └── MissingExtraError     a library of an optional extra is not installed
    ├── CheckFailedError        a check or a verification did not hold             exit 1
    ├── BudgetError             the budget refuses                                 exit 3
    ├── NoResultError           charged, and without a result                      exit 4
    ├── EngineError             an engine failed; says nothing of the data         exit 4
    └── EntropyError            the operating system gave no usable random bits    exit 4

A message has four parts, printed on one line: where it went wrong, what was found there, what would be right,
and the next step. None of them ever holds a data value: names, positions and public facts only.
"""

from __future__ import annotations

from typing import ClassVar

__all__ = [
    "ArgumentError",
    "BudgetError",
    "CheckFailedError",
    "ContractError",
    "DiscreetError",
    "EngineError",
    "EntropyError",
    "FileError",
    "FolderError",
    "InputError",
    "MissingExtraError",
    "NoResultError",
    "UnknownNameError",
]


class DiscreetError(Exception):
    """The root of all that Discreet raises on purpose."""

    exit_code: ClassVar[int] = 2

    def __init__(self, where: str, *, found: str, right: str, step: str) -> None:
        self.where, self.found, self.right, self.step = (_one_line(part) for part in (where, found, right, step))
        super().__init__(f"{self.where}: {self.found}; {self.right}. Next: {self.step}")


class InputError(DiscreetError):
    """What was given cannot be used; nothing was read or written because of it."""


class ArgumentError(InputError):
    """An argument or option is outside what it may be."""


class UnknownNameError(InputError):
    """A name that is not there."""


class FileError(InputError):
    """A file that cannot be read for what it claims to be."""


class ContractError(InputError):
    """A contract that contradicts itself or the table it speaks of."""


class FolderError(InputError):
    """A curator's folder that is absent, foreign, in use or open to others."""


class MissingExtraError(InputError):
    """A library of an optional extra is not installed."""

    def __init__(self, where: str, *, library: str, extra: str) -> None:
        self.library, self.extra = library, extra
        super().__init__(
            where,
            found=f"the library {library} is not installed",
            right=f"it comes with the extra [{extra}]",
            step=f"pip install 'discreet[{extra}]'",
        )


class CheckFailedError(DiscreetError):
    """A check or a verification did not hold."""

    exit_code = 1


class BudgetError(DiscreetError):
    """The budget refuses; nothing was charged."""

    exit_code = 3


class NoResultError(DiscreetError):
    """The charge stands and there is no result."""

    exit_code = 4


class EngineError(DiscreetError):
    """An engine failed. The engine's own words are dropped: they may quote data."""

    exit_code = 4


class EntropyError(DiscreetError):
    """The operating system gave no usable random bits, so nothing is drawn at all."""

    exit_code = 4


def _one_line(text: str) -> str:
    """Names come from files and may hold anything: control characters would break the line or the terminal."""
    return "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in text)
