"""The groups of benchmarks: every module beside this one that has a function `records`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from pkgutil import iter_modules

import bench
from bench.record import Record
from discreet.check import known

__all__ = ["group", "groups"]

_MACHINERY = frozenset({"__main__", "measure", "office", "peers", "record", "registry", "tables"})


def groups() -> tuple[str, ...]:
    """The names of all groups."""
    found = (module.name for module in iter_modules(bench.__path__) if not module.ispkg)
    return tuple(sorted(name for name in found if name not in _MACHINERY))


def group(name: str) -> Callable[[], Iterator[Record]]:
    """What yields the records of a group, one by one."""
    known("group", name, groups(), step="name one of the groups, or none for all")
    records: Callable[[], Iterator[Record]] = import_module(f"bench.{name}").records
    return records
