"""The contract: the public facts about a table, declared by its keeper and never read off the data in silence.

    table: visits
    unit: {person: patient_id, rows: 5, groups: 3}      # or `unit: row`
    population: clinic patients                         # whose budget this is; the table's own if left out
    budget: {epsilon: 3, delta: 1e-9}
    columns:
      patient_id: {type: text, role: direct identifier}
      age: {type: integer, low: 0, high: 120, role: quasi-identifier, source: codebook}
      cost: {type: decimal, step: 0.01, low: 0, high: 20000, source: law}
      region: {type: category, keys: [north, south], role: quasi-identifier}
      visited: {type: date, low: 2020-01-01, high: 2020-12-31}
    joins: [{table: regions, column: region}]

A contract cannot exist wrong: whatever builds one gets the contract or one ContractError. One drafted from confidential
data says so until the keeper declares it, and names what was drafted for ever after.
"""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections.abc import Mapping
from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    Field,
    ModelWrapValidatorHandler,
    PlainSerializer,
    ValidationError,
    ValidationInfo,
    model_validator,
)

from discreet.data import column as kinds
from discreet.data.column import Column, DateColumn, DatetimeColumn, Role
from discreet.data.document import Document, read_document, text_of, write_document
from discreet.data.fact import Count, Exact, FactError, FactModel, Name, Source, Sourced, shown
from discreet.data.refusal import Models, contract_error
from discreet.data.unit import Unit
from discreet.errors import ContractError
from discreet.guarantee import Adjacency

__all__ = ["Budget", "Contract", "Declaration", "Join", "Status"]

_COLUMNS_AT_MOST = 20_000
_NEVER_RELEASED = (Role.DIRECT_IDENTIFIER, Role.HIDDEN)


class Status(StrEnum):
    """Whether the keeper stands by the contract."""

    DRAFTED = "drafted"
    DECLARED = "declared"


class Declaration(FactModel):
    """Who turned a draft into a contract, and why its drafted facts may be public."""

    by: Name = Field(description="who declares it")
    reason: Name = Field(description="why what was drafted from the data may be public")


class Budget(FactModel):
    """What may be spent in all: ε or ρ, and δ."""

    epsilon: Exact | None = Field(default=None, description="a number above 0, such as 3")
    rho: Exact | None = Field(default=None, description="a number above 0, such as 0.5")
    delta: Exact = Field(default=Fraction(0), description="a number from 0 up to but not including 1, such as 1e-9")

    @model_validator(mode="after")
    def _amounts_make_sense(self) -> Budget:
        if (self.epsilon is None) == (self.rho is None):
            given = "neither epsilon nor rho" if self.rho is None else "both epsilon and rho"
            raise FactError(given, "a budget is in one of the two", "give epsilon: 3, or rho: 0.5")
        for name, amount in (("epsilon", self.epsilon), ("rho", self.rho)):
            if amount is not None and amount <= 0:
                raise FactError(f"{name} {amount}", "a budget is above 0", f"give {name}: 3, or leave the budget out")
        if not 0 <= self.delta < 1:
            raise FactError(f"delta {self.delta}", "delta lies in [0, 1)", "give delta: 1e-9")
        return self


class Join(Sourced):
    """A public table that may be joined, and how many of its rows one row can meet."""

    table: Name = Field(description="the public table's name")
    column: Name = Field(description="this table's column the join is on")
    key: Name | None = Field(default=None, description="the public table's column, if it is named otherwise")
    fan_out: Count = Field(default=1, description="the most rows of the public table with one key, a whole number")


class Contract(Sourced):
    """The public facts about one table."""

    table: Name = Field(description="the table's name")
    unit: Unit = Field(description="whom one neighbour step protects: `row`, or {person: <column>, rows: 5, groups: 3}")
    adjacency: Adjacency = Field(
        default=Adjacency.ADD_REMOVE, description="add-remove (how many units there are is private) or replace-one"
    )
    units: Count | None = Field(
        default=None, description="how many units the table has, public under replace-one; a whole number above 0"
    )
    max_rows: Count | None = Field(default=None, description="more rows than the table could ever have")
    population: Name | None = Field(default=None, description="the set of persons the budget belongs to")
    budget: Budget | None = Field(default=None, description="what may be spent in all, as {epsilon: 3, delta: 1e-9}")
    status: Status = Field(default=Status.DECLARED, description="drafted until the keeper declares it")
    declaration: Declaration | None = Field(default=None, description="who declared a draft and why, as {by:, reason:}")
    columns: Annotated[Mapping[Name, Column], AfterValidator(MappingProxyType), PlainSerializer(dict)] = Field(
        description="entries `name: {type: integer, low: 0, high: 120}`, one for each column"
    )
    joins: tuple[Join, ...] = Field(
        default=(), description="a list of public tables, [{table: regions, column: region}]"
    )

    @model_validator(mode="wrap")
    @classmethod
    def _refused_in_our_words(cls, given: Any, build: ModelWrapValidatorHandler[Self], info: ValidationInfo) -> Self:
        """Pydantic's own text, which quotes what it was given at any length, never gets out."""
        origin = info.context if isinstance(info.context, Document) else None
        try:
            contract = build(given)
            contract._require_facts_to_agree()
        except ValidationError as error:
            raise contract_error(error, _MODELS, origin) from None
        except FactError as error:
            where = origin.where if origin else "contract"
            raise ContractError(where, found=error.found, right=error.right, step=error.step) from None
        return contract

    def _require_facts_to_agree(self) -> None:
        _require_distinct_names(tuple(self.columns))
        _require_unit_columns(self)
        _require_public_number(self)
        _require_joinable(self)
        if self.status is Status.DECLARED and self.drafted and self.declaration is None:
            raise FactError(
                f"declared, though {self.drafted[0]} was drafted from the data",
                "drafted facts are public only once somebody declares them and says why",
                "say status: drafted, or add declaration: {by: <who>, reason: <why>}",
            )

    @classmethod
    def from_yaml(cls, text: str, *, where: str = "contract") -> Self:
        """The contract a file holds. `where` names the file in messages."""
        document = read_document(text, where=where)
        if not isinstance(document.tree, dict):
            kind = "nothing" if document.tree is None else "text" if isinstance(document.tree, str) else "a list"
            raise ContractError(
                where, found=kind, right="a contract has entries", step="start with `table:`, `unit:` and `columns:`"
            )
        return cls.model_validate(document.tree, context=document)

    @classmethod
    def read(cls, file: Path) -> Self:
        """The contract in a YAML file."""
        return cls.from_yaml(text_of(file), where=file.name)

    def to_yaml(self) -> str:
        """The shortest file that says the same; from_yaml reads it back as an equal contract."""
        return write_document(_short(self))

    @classmethod
    def editor_schema(cls) -> dict[str, Any]:
        """A JSON schema by which an editor completes and checks a contract's file."""
        schema = cls.model_json_schema()
        schema["properties"]["unit"] = {
            "description": schema["properties"]["unit"]["description"],
            "anyOf": [{"const": "row"}, {"$ref": "#/$defs/Unit"}],
        }
        return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": "Discreet contract"}

    def content_hash(self) -> str:
        """A SHA-256 of what is said, whatever way it is written and in whatever order the columns stand."""
        plain = json.dumps(self.model_dump(mode="json"), sort_keys=True, ensure_ascii=True, separators=(",", ":"))
        return hashlib.sha256(plain.encode("ascii")).hexdigest()

    def __hash__(self) -> int:
        return hash(self.content_hash())

    @property
    def whose(self) -> str:
        """The population whose budget this table draws on: its own unless it shares one."""
        return self.population or self.table

    @property
    def drafted(self) -> tuple[str, ...]:
        """What was read off confidential data, by name. Declaring does not make it less so."""
        facts: list[tuple[str, Sourced]] = [("the table's size", self), ("the unit", self.unit)]
        facts += [(f"column {name!r}", column) for name, column in self.columns.items()]
        facts += [(f"the join with {join.table!r}", join) for join in self.joins]
        return tuple(name for name, fact in facts if fact.source is Source.DRAFTED)

    def steps(self) -> Mapping[str, Fraction]:
        """The step of every bounded numeric column: those that are also kept as whole numbers of steps."""
        bounded = ((name, column.bounds) for name, column in self.columns.items())
        return MappingProxyType({name: bounds.step for name, bounds in bounded if bounds is not None})

    @property
    def released(self) -> tuple[str, ...]:
        """The columns a release may hold: direct identifiers are dropped, hidden columns do not exist."""
        return tuple(name for name, column in self.columns.items() if column.role not in _NEVER_RELEASED)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader of anything released under this contract must know."""
        if not self.drafted:
            return self.unit.warnings
        facts = ", ".join(self.drafted[:5]) + (f" and {len(self.drafted) - 5} more" if len(self.drafted) > 5 else "")
        return (*self.unit.warnings, f"Drafted from confidential data: {facts}.")

    def with_role(self, role: Role) -> tuple[str, ...]:
        """The columns of one role, in the contract's order."""
        return tuple(name for name, column in self.columns.items() if column.role is role)

    def require_declared(self) -> None:
        """Refuse a draft: nothing under a guarantee runs on facts nobody stands by."""
        if self.status is not Status.DECLARED:
            raise ContractError(
                f"contract of {self.table!r}",
                found="a draft",
                right="only a declared contract carries a guarantee",
                step="replace what the data gave away, then discreet contract declare FILE --by NAME --reason WHY",
            )

    def with_budget(self, *, epsilon: Fraction, delta: Fraction = Fraction(0)) -> Self:
        """The same facts with that budget for their population."""
        facts = {name: getattr(self, name) for name in type(self).model_fields}
        return type(self)(**{**facts, "budget": {"epsilon": epsilon, "delta": delta}})

    def with_column(self, name: str, facts: Mapping[str, Any]) -> Self:
        """The same facts but for these of one column."""
        column = self.columns[name]
        changed = {field: getattr(column, field) for field in type(column).model_fields} | dict(facts)
        kept = {field: getattr(self, field) for field in type(self).model_fields}
        return type(self)(**{**kept, "columns": {**self.columns, name: changed}})

    def declared(self, *, by: str, reason: str) -> Self:
        """The same facts, declared. What was drafted keeps saying so."""
        facts = {name: getattr(self, name) for name in type(self).model_fields}
        return type(self)(**{**facts, "status": Status.DECLARED, "declaration": {"by": by, "reason": reason}})


_MODELS: Models = {
    "": Contract,
    "unit": Unit,
    "budget": Budget,
    "joins": Join,
    "declaration": Declaration,
    "integer": kinds.IntegerColumn,
    "decimal": kinds.DecimalColumn,
    "category": kinds.CategoryColumn,
    "boolean": kinds.BooleanColumn,
    "date": kinds.DateColumn,
    "datetime": kinds.DatetimeColumn,
    "text": kinds.TextColumn,
}


def _require_distinct_names(names: tuple[str, ...]) -> None:
    if not 1 <= len(names) <= _COLUMNS_AT_MOST:
        raise FactError(
            f"{len(names):,} columns", f"a contract has 1 to {_COLUMNS_AT_MOST:,}", "list the columns that are needed"
        )
    seen: dict[str, str] = {}
    for name in names:
        folded = unicodedata.normalize("NFKC", name).casefold()
        if folded in seen:
            raise FactError(
                f"columns {shown(seen[folded])} and {shown(name)}",
                "names differ by more than upper and lower case",
                "rename one of them in the table",
            )
        seen[folded] = name


def _require_unit_columns(contract: Contract) -> None:
    unit = contract.unit
    for name, use in ((unit.person, "tell persons apart"), (unit.date, "give the unit's period")):
        if name is not None and name not in contract.columns:
            raise FactError(
                f"unit column {shown(name)} is not among the columns",
                f"the column to {use} has an entry like any other",
                f"add it under columns, or name one of {', '.join(map(shown, list(contract.columns)[:8]))}",
            )
    if unit.date is not None and not isinstance(contract.columns[unit.date], DateColumn | DatetimeColumn):
        raise FactError(
            f"unit date {shown(unit.date)} has type {contract.columns[unit.date].type}",
            "a period is taken from a date or datetime",
            "name a column of that type",
        )


def _require_public_number(contract: Contract) -> None:
    if contract.adjacency is Adjacency.REPLACE_ONE and contract.units is None:
        raise FactError(
            "replace-one without units",
            "under replace-one the number of units is a public fact",
            "give units: <how many>, or say adjacency: add-remove",
        )
    if contract.adjacency is Adjacency.ADD_REMOVE and contract.units is not None:
        raise FactError(
            "units under add-remove",
            "under add-remove the number of units is private",
            "remove units, or say adjacency: replace-one",
        )
    if contract.units and contract.max_rows and contract.max_rows < contract.units:
        raise FactError(
            f"max_rows {contract.max_rows} below units {contract.units}",
            "each unit has a row",
            "give a max_rows that the table could never exceed",
        )


def _require_joinable(contract: Contract) -> None:
    seen: set[tuple[str, str]] = set()
    for join in contract.joins:
        if join.column not in contract.columns:
            raise FactError(
                f"join column {shown(join.column)} is not among the columns",
                "a join is on a column of this table",
                f"name one of {', '.join(map(shown, list(contract.columns)[:8]))}",
            )
        if join.table == contract.table or (join.table, join.column) in seen:
            twice = "with the table itself" if join.table == contract.table else "given twice"
            raise FactError(
                f"a join {twice}: {shown(join.table)}", "joins are with other, public tables, once each", "remove it"
            )
        seen.add((join.table, join.column))


_COLUMN_ORDER = ("type", "step", "low", "high", "keys", "nulls", "one_per_unit", "role", "source", "receipt", "note")
_TABLE_LAST = ("columns", "joins")


def _short(model: BaseModel) -> dict[str, Any]:
    """The entries of a model that differ from their defaults, in the order a person reads them."""
    names = list(type(model).model_fields)
    names.sort(key=lambda name: (name in _TABLE_LAST, name in Sourced.model_fields))
    if "type" in names:
        names.sort(key=_COLUMN_ORDER.index)
    # Reading fills in a person's limits from each other, so both of them are always written.
    limits = ("rows", "groups") if isinstance(model, Unit) and not model.is_row else ()
    entries: dict[str, Any] = {}
    for name in names:
        value, field = getattr(model, name), type(model).model_fields[name]
        if field.is_required() or name in limits or value != field.default:
            entries[name] = _plain(value)
    return entries


def _plain(value: Any) -> Any:
    if isinstance(value, Unit) and value == Unit.model_validate("row"):
        return "row"
    if isinstance(value, BaseModel):
        return _short(value)
    if isinstance(value, StrEnum):
        return value.value
    if isinstance(value, Mapping):
        return {name: _plain(entry) for name, entry in value.items()}
    return [_plain(entry) for entry in value] if isinstance(value, tuple) else value
