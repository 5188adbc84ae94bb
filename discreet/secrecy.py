"""What is confidential does not print; what leaves says that it was released.

The keeper's raw values travel inside `Confidential`. It has no useful text form, cannot be pickled or copied into a
log by accident, and is opened only by a call that names who opens it, so that `grep reveal` lists every place
where raw data are looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, NoReturn, TypeVar

__all__ = ["Confidential"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Confidential(Generic[T]):
    """A raw value, for the keeper's eyes only."""

    _value: T

    def reveal(self, *, to: str) -> T:
        """The raw value. `to` names the reader: "keeper", "engine", "mechanism"."""
        if to not in _READERS:
            raise ValueError(f"to={to!r} is not one of {', '.join(_READERS)}")
        return self._value

    def __repr__(self) -> str:
        return "<confidential>"

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return repr(self)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a confidential value is not pickled: it would leave its process in clear")


_READERS = ("keeper", "engine", "mechanism")
