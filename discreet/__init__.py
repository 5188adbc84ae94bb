"""Publish what a confidential table can teach without telling on anyone in it.

    import discreet
    curator = discreet.Curator("clinic")
    curator.add("visits.parquet")
    curator.assess("visits", quasi=["age", "sex", "zip"])

Importing this package loads nothing heavy: each name below is fetched from its module when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from discreet.curator import Curator
    from discreet.data.contract import Contract
    from discreet.errors import DiscreetError
    from discreet.guarantee import ZCDP, Adjacency, ApproxDP, PureDP

__all__ = ["Adjacency", "ApproxDP", "Contract", "Curator", "DiscreetError", "PureDP", "ZCDP"]  # noqa: RUF022  # plain order

__version__ = "0.1.0"

_HOMES = {
    "Adjacency": "discreet.guarantee",
    "ApproxDP": "discreet.guarantee",
    "Contract": "discreet.data.contract",
    "Curator": "discreet.curator",
    "DiscreetError": "discreet.errors",
    "PureDP": "discreet.guarantee",
    "ZCDP": "discreet.guarantee",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"discreet has no {name!r}; it has {', '.join(__all__)}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
