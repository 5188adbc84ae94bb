"""Keys that nobody listed: found first, then measured over, under one charge.

1. For each text, the units that have it are counted; a unit with more texts than its limit of groups counts in none.
2. A text is shown with the largest chance that ε and δ allow for its number of units (`PartitionSelection`). What is
   shown is sorted, so that its order tells nothing.
3. What is wanted in the cells of these keys is measured with noise that was fixed before any key was known: as for more
   keys than one unit can reach, where a unit moves the most.

Given:   parts that were priced over more cells than one unit can be in; an ε and a δ for each text.
Promise: the keys are (ε, δ)-DP, and what is measured over them costs what its parts cost.
Because: one unit has at most G of the texts that it counts in, which is what the selection was built for; given the
         keys, which are released, the parts read a vector over public cells, that one unit moves no further than it
         does over any cells.
Tested:  test_found_keys_are_those_that_many_have, test_selection_is_private_and_as_generous_as_it_may_be,
         test_noise_is_fixed_before_keys_are_known.

What it does not promise: rare keys. A key that few have is mostly hidden; rows without the text are in no cell.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import prod
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np

from discreet.accounting.events import Approximate, Event, Together, to_json
from discreet.data.column import CategoryColumn, NullRule
from discreet.data.contract import Contract
from discreet.data.engines.base import Engine
from discreet.data.engines.statement import rendered
from discreet.data.table import StoredTable
from discreet.errors import ArgumentError
from discreet.measure.bounds import Proof, prove
from discreet.measure.compile import holders
from discreet.measure.distinct import DistinctCount
from discreet.measure.expression import Predicate, Text
from discreet.measure.favourites import ChosenKeys, Favourites
from discreet.measure.groups import Axis, Categories, Group, axis_of
from discreet.measure.joins import fan_out, table_names
from discreet.measure.noisy import Measurement, NoisyVector
from discreet.measure.part import Released
from discreet.measure.plan import Count, Plan, width
from discreet.measure.ranks import ChosenRanks, Ranks
from discreet.mechanisms.partition import PartitionSelection
from discreet.randomness import Bits, require_fresh

__all__ = ["Found", "FoundKeys", "Within", "prepare_found", "unlisted"]

Within: TypeAlias = Measurement | Ranks | Favourites
_CELLS_AT_MOST = 1 << 18


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Texts whose keys are found, and the parts that are measured over them."""

    texts: tuple[Text, ...]
    by: tuple[Group, ...]
    plan: Plan
    contract: Contract
    proof: Proof
    epsilon: Fraction
    delta: Fraction
    selection: PartitionSelection
    parts: tuple[Within, ...]

    @property
    def limit(self) -> int:
        """How many texts of one column a unit may have to count in any."""
        return 1 if self.contract.unit.is_row else self.contract.unit.groups

    @property
    def event(self) -> Event:
        """The price of each text's keys, and of what is measured."""
        each = Approximate(epsilon=self.epsilon, delta=self.delta)
        return Together(events=(*(each for _ in self.texts), *(part.event for part in self.parts)))

    def as_json(self) -> dict[str, Any]:
        """What is charged and why, as public plain values."""
        return {
            "found": {
                "texts": [text.name for text in self.texts],
                "epsilon": str(self.epsilon),
                "delta": str(self.delta),
                "limit": self.limit,
            },
            "parts": [part.as_json() for part in self.parts],
            "event": to_json(self.event),
        }

    def require_readable(self, engine: Engine, table: StoredTable) -> None:
        """Compile and check the SELECTs."""
        for text in self.texts:
            select = holders(self.plan, self.contract, table, self.proof, text, self.limit)
            rendered(select, dialect=engine.dialect, tables=table_names(table))
        for part in self.parts:
            part.require_readable(engine, table)

    def release(self, engine: Engine, table: StoredTable, bits: Bits, *, teaching: bool = False) -> FoundKeys:
        """Find keys, then measure over them."""
        require_fresh(bits, teaching=teaching)
        keys = tuple(self._shown(engine, table, text, bits, teaching) for text in self.texts)
        contract, parts = self.over(keys)
        measured = tuple(
            _nothing(part) if not part.proof.cells else part.release(engine, table, bits, teaching=teaching)
            for part in parts
        )
        return FoundKeys(found=self, keys=keys, contract=contract, parts=measured)

    def restored(self, stored: Mapping[str, Any]) -> FoundKeys:
        """What `FoundKeys.as_json` wrote."""
        keys = tuple(tuple(each) for each in stored["keys"])
        contract, parts = self.over(keys)
        pairs = zip(parts, stored["parts"], strict=True)
        measured = tuple(part.restored(one) if part.proof.cells else _nothing(part) for part, one in pairs)
        return FoundKeys(found=self, keys=keys, contract=contract, parts=measured)

    def over(self, keys: Sequence[Sequence[str]]) -> tuple[Contract, tuple[Within, ...]]:
        """The contract with these keys, and the parts over them, at the same price and with the same noise."""
        listed = dict(zip((text.name for text in self.texts), keys, strict=True))
        contract = unlisted(self.contract, listed)
        axes = tuple(_axis(group, contract, listed) for group in self.by)
        moved = []
        for part in self.parts:
            proof = dataclasses.replace(part.proof, axes=axes, cells=prod(axis.size for axis in axes))
            if isinstance(part, Measurement) and not isinstance(part, DistinctCount):
                moved.append(dataclasses.replace(part, contract=contract, proof=proof))
            else:
                moved.append(part.over(contract, proof))  # type: ignore[arg-type]  # one of those that have it
        return contract, tuple(moved)

    def _shown(self, engine: Engine, table: StoredTable, text: Text, bits: Bits, teaching: bool) -> tuple[str, ...]:
        select = holders(self.plan, self.contract, table, self.proof, text, self.limit)
        rows = engine.texts(select).reveal(to="mechanism")
        keep = partial(self.selection.keep, bits=bits, teaching=teaching)
        shown = sorted(key for key, count in rows if key is not None and keep(int(count or 0)))
        # More cells than can be measured are cut by a rule that looks at what was released alone.
        others = prod(axis_of(group, self.parts[0].contract).size for group in self.by if not _is(group, text))
        return tuple(shown[: max(1, _CELLS_AT_MOST // max(1, others))])


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundKeys:
    """The keys that were found, and what was measured over them."""

    found: Found
    keys: tuple[tuple[str, ...], ...]
    contract: Contract
    parts: tuple[Released, ...]

    def as_json(self) -> dict[str, Any]:
        """Keys and released values as plain ones."""
        return {"keys": [list(each) for each in self.keys], "parts": [part.as_json() for part in self.parts]}


def prepare_found(
    texts: Sequence[Text],
    contract: Contract,
    parts: Sequence[Within],
    *,
    epsilon: Fraction,
    delta: Fraction,
    by: tuple[Group, ...],
    where: Predicate | None = None,
) -> Found:
    """Keys of texts, found for ε and δ each, and parts over an `unlisted` contract that are measured over them."""
    if not delta:
        raise ArgumentError(
            "delta",
            found=f"none, though nobody listed the keys of {texts[0].name!r}",
            right="to find keys takes a δ, the chance that one which a single person has is shown",
            step=f"give delta=1e-6, or declare {texts[0].name!r} as a category with its keys",
        )
    if contract.unit.is_row and fan_out(contract) > 1:
        raise ArgumentError(
            f"column {texts[0].name!r}",
            found="keys to be found in a join in which one row meets several",
            right="a unit that is one row can only have one key",
            step="group by a listed key, or ask without the join",
        )
    plan = Plan(aggregates=(Count(),), where=where)
    keys = 1 if contract.unit.is_row else contract.unit.groups
    selection = PartitionSelection.of(epsilon, delta, keys=keys, adjacency=contract.adjacency)
    selection.probability(1)  # refused here if so little shows nothing
    return Found(
        texts=tuple(texts),
        by=by,
        plan=plan,
        contract=contract,
        proof=prove(Plan(aggregates=(Count(Text(texts[0].name)),), where=where), contract),
        epsilon=epsilon,
        delta=delta,
        selection=selection,
        parts=tuple(parts),
    )


def unlisted(contract: Contract, keys: Mapping[str, Sequence[str]] | Sequence[str]) -> Contract:
    """The contract with keys for these columns; with made-up ones, more than one unit can reach, where none are given.

    Nothing is checked: found keys are whatever the data hold, and no check of them may fail.
    """
    many = [f"key {at}" for at in range(2 * contract.unit.groups + 2)]
    listed = keys if isinstance(keys, Mapping) else dict.fromkeys(keys, many)
    columns = dict(contract.columns)
    for name, found in listed.items():
        facts = contract.columns[name]
        columns[name] = CategoryColumn.model_construct(
            type="category", keys=tuple(found), role=facts.role, nulls=NullRule.DROP, one_per_unit=facts.one_per_unit
        )
    return contract.model_copy(update={"columns": MappingProxyType(columns)})


def _axis(group: Group, contract: Contract, listed: Mapping[str, Sequence[str]]) -> Axis:
    if isinstance(group, Categories) and group.text.name in listed:
        return Axis(labels=tuple(listed[group.text.name]), missing=False)
    return axis_of(group, contract)


def _is(group: Group, text: Text) -> bool:
    return isinstance(group, Categories) and group.text == text


def _nothing(part: Within) -> Released:
    """What a part releases over no cells at all."""
    if isinstance(part, Ranks):
        return ChosenRanks(ranks=part, places=())
    if isinstance(part, Favourites):
        return ChosenKeys(favourites=part, places=())
    shapes = (np.zeros((0, width(one.aggregate)), dtype=np.int64) for one in part.proof.parts)
    return NoisyVector(measurement=part, integers=tuple(shapes))
