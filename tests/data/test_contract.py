"""A contract reads as it is written, says the same when written back, and names what was drafted for ever."""

from __future__ import annotations

import datetime
import json
import random
import unicodedata
from fractions import Fraction
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from discreet.data.column import Bounds, NullRule, Role
from discreet.data.contract import Budget, Contract, Status
from discreet.data.fact import FactError, Source, decimal_text
from discreet.errors import ContractError, FileError
from discreet.guarantee import Adjacency

VISITS = """
table: visits
unit: {person: patient_id, rows: 5, groups: 3}
population: clinic patients
budget: {epsilon: 3, delta: 1e-9}
columns:
  patient_id: {type: text, role: direct identifier}
  age: {type: integer, low: 0, high: 120, role: quasi-identifier, source: codebook}
  cost: {type: decimal, step: 0.01, low: 0, high: 20000, nulls: refuse, source: law}
  region: {type: category, keys: [north, south], role: quasi-identifier, one_per_unit: true}
  visited: {type: date, low: 2020-01-01, high: 2020-12-31}
  diagnosis: {type: text, role: sensitive}
  remark: {type: text, role: hidden}
joins: [{table: regions, column: region, fan_out: 2}]
"""


def test_a_file_says_what_it_says() -> None:
    contract = Contract.from_yaml(VISITS)
    assert (contract.table, contract.whose, contract.status) == ("visits", "clinic patients", Status.DECLARED)
    assert contract.adjacency is Adjacency.ADD_REMOVE
    assert contract.budget == Budget(epsilon=Fraction(3), delta=Fraction(1, 10**9))
    assert (contract.unit.person, contract.unit.rows, contract.unit.groups) == ("patient_id", 5, 3)
    cost = contract.columns["cost"]
    assert cost.bounds == Bounds(low=Fraction(0), high=Fraction(20000), step=Fraction(1, 100))
    assert cost.bounds.steps == (0, 2_000_000)
    assert cost.nulls is NullRule.REFUSE
    assert cost.source is Source.LAW
    assert contract.columns["region"].public_keys == ("north", "south")
    assert contract.columns["region"].one_per_unit
    visited = contract.columns["visited"]
    assert visited.type == "date"
    assert visited.high == datetime.date(2020, 12, 31)
    assert contract.joins[0].fan_out == 2
    assert dict(contract.steps()) == {"age": 1, "cost": Fraction(1, 100)}


@pytest.mark.requirement("0.03")
def test_roles_decide_what_may_be_released() -> None:
    contract = Contract.from_yaml(VISITS)
    assert contract.with_role(Role.DIRECT_IDENTIFIER) == ("patient_id",)
    assert contract.with_role(Role.QUASI_IDENTIFIER) == ("age", "region")
    assert contract.with_role(Role.SENSITIVE) == ("diagnosis",)
    assert contract.with_role(Role.OTHER) == ("cost", "visited")
    assert contract.released == ("age", "cost", "region", "visited", "diagnosis")


def test_scalars_are_text_until_their_field_says_otherwise() -> None:
    contract = Contract.from_yaml(
        "table: t\nunit: row\ncolumns:\n"
        "  answer: {type: category, keys: [no, yes, on, 01, 1, 1e3, 'null', '']}\n"
        "  share: {type: decimal, step: 0.1, low: -0.3, high: 0.7}\n"
        "  third: {type: decimal, step: 1/3, low: 0, high: 2/3}\n"
    )
    assert contract.columns["answer"].public_keys == ("no", "yes", "on", "01", "1", "1e3", "null", "")
    assert contract.columns["share"].bounds == Bounds(low=Fraction(-3, 10), high=Fraction(7, 10), step=Fraction(1, 10))
    assert contract.steps()["third"] == Fraction(1, 3)
    assert Contract.from_yaml(contract.to_yaml()) == contract


def test_python_numbers_count_as_they_print() -> None:
    contract = Contract.model_validate(
        {"table": "t", "unit": "row", "columns": {"x": {"type": "decimal", "step": 0.1, "low": 0, "high": 0.3}}}
    )
    assert contract.columns["x"].bounds == Bounds(low=Fraction(0), high=Fraction(3, 10), step=Fraction(1, 10))


def test_nothing_in_a_contract_can_be_changed() -> None:
    contract = Contract.from_yaml(VISITS)
    with pytest.raises(Exception, match="frozen"):
        contract.table = "other"
    with pytest.raises(TypeError):
        contract.columns["new"] = contract.columns["age"]  # type: ignore[index]  # the mapping is read-only


def test_bounds_cannot_exist_wrong() -> None:
    for low, high, step in ((2, 1, 1), (0, 1, 0), (0, 5, 2), (0, 2**63, 1)):
        with pytest.raises(FactError):
            Bounds(low=Fraction(low), high=Fraction(high), step=Fraction(step))


def test_a_contract_is_read_from_its_file(tmp_path: Path) -> None:
    file = tmp_path / "visits.yaml"
    file.write_text("\ufeff" + VISITS, encoding="utf-8")
    assert Contract.read(file) == Contract.from_yaml(VISITS)
    (tmp_path / "latin.yaml").write_bytes("table: caf\xe9".encode("latin-1"))
    for name, words in (("latin.yaml", "not UTF-8"), ("none.yaml", "no such file"), (".", "directory")):
        with pytest.raises(FileError, match=words):
            Contract.read(tmp_path / name)


def test_the_hash_is_of_the_content() -> None:
    contract = Contract.from_yaml(VISITS)
    columns = list(contract.columns)
    random.Random(1).shuffle(columns)
    reordered = Contract.model_validate(
        {**_fields(contract), "columns": {name: contract.columns[name] for name in columns}}
    )
    assert contract.content_hash() == Contract.from_yaml(contract.to_yaml()).content_hash()
    assert contract.content_hash() == reordered.content_hash()
    assert contract.content_hash() == Contract.from_yaml(VISITS.replace("0.01", "1e-2")).content_hash()
    assert contract.content_hash() != Contract.from_yaml(VISITS.replace("high: 120", "high: 121")).content_hash()
    assert (
        contract.content_hash() != Contract.from_yaml(VISITS.replace("[north, south]", "[south, north]")).content_hash()
    )
    assert len({contract, reordered}) == 1


@pytest.mark.requirement("2.29")
def test_a_person_per_day_is_warned_of() -> None:
    text = VISITS.replace(
        "{person: patient_id, rows: 5, groups: 3}", "{person: patient_id, period: day, date: visited, rows: 1}"
    )
    (warning,) = Contract.from_yaml(text).warnings
    assert "person per day" in warning
    assert "add up" in warning
    assert Contract.from_yaml(VISITS).warnings == ()
    assert str(Contract.from_yaml(VISITS).unit) == "one 'patient_id', at most 5 rows and 3 groups"


def test_a_draft_carries_no_guarantee_and_never_forgets() -> None:
    text = VISITS.replace("source: codebook", "source: drafted") + "status: drafted\n"
    draft = Contract.from_yaml(text)
    with pytest.raises(ContractError, match="a draft"):
        draft.require_declared()
    contract = draft.declared(by="M. Curie", reason="bounds are those of the questionnaire")
    contract.require_declared()
    assert contract.drafted == draft.drafted == ("column 'age'",)
    assert contract.warnings == ("Drafted from confidential data: column 'age'.",)
    assert Contract.from_yaml(contract.to_yaml()) == contract
    assert contract.declaration is not None
    assert contract.declaration.by == "M. Curie"


def test_the_schema_accepts_what_the_contract_accepts() -> None:
    schema = Contract.editor_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    for text in (VISITS, "table: t\nunit: row\ncolumns:\n  a: {type: boolean}\n"):
        assert not list(validator.iter_errors(_as_json(text)))
    for wrong in ("rows: 0", "groups: 3, colour: red"):
        assert list(validator.iter_errors(_as_json(VISITS.replace("groups: 3", wrong).replace("rows: 5, ", ""))))
    descriptions = [field.description for field in Contract.model_fields.values()]
    assert all(descriptions)


def _as_json(text: str) -> Any:
    return json.loads(json.dumps(yaml.safe_load(text), default=str))


def _fields(contract: Contract) -> dict[str, Any]:
    return {name: getattr(contract, name) for name in Contract.model_fields}


_names = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=12).filter(
    lambda name: bool(name.strip())
)
_numbers = st.fractions(min_value=-(10**6), max_value=10**6, max_denominator=10**4)
_steps = st.fractions(min_value=Fraction(1, 1000), max_value=50, max_denominator=1000)
_common = {
    "nulls": st.sampled_from(NullRule),
    "one_per_unit": st.booleans(),
    "role": st.sampled_from([Role.OTHER, Role.SENSITIVE, Role.HIDDEN, Role.QUASI_IDENTIFIER]),
    "note": st.none() | _names,
}


@st.composite
def _bounded(draw: st.DrawFn) -> dict[str, Any]:
    step = draw(_steps)
    ends = sorted(draw(st.tuples(st.integers(-(10**9), 10**9), st.integers(-(10**9), 10**9))))
    return {"type": "decimal", "step": step, "low": ends[0] * step, "high": ends[1] * step}


_columns = st.one_of(
    _bounded(),
    st.fixed_dictionaries({"type": st.just("integer"), **_common}),
    st.fixed_dictionaries(
        {
            "type": st.just("category"),
            "keys": st.lists(_names | st.just(""), min_size=1, max_size=5, unique=True),
            **_common,
        }
    ),
    st.fixed_dictionaries(
        {"type": st.just("date"), "low": st.just(datetime.date(1, 1, 1)), "high": st.dates(), **_common}
    ),
    st.fixed_dictionaries(
        {
            "type": st.just("datetime"),
            "low": st.just(datetime.datetime(1, 1, 1)),
            "high": st.datetimes().map(lambda moment: moment.replace(microsecond=0)),
        }
    ),
    st.fixed_dictionaries({"type": st.sampled_from(["text", "boolean"]), **_common}),
)


@pytest.mark.parametrize(("rows", "groups"), [(1, 1), (2, 1), (2, 2), (5, 1), (5, 2), (5, 5)])
def test_the_limits_of_a_person_are_written_and_read(rows: int, groups: int) -> None:
    text = VISITS.replace("rows: 5, groups: 3", f"rows: {rows}, groups: {groups}")
    contract = Contract.from_yaml(text)
    assert (contract.unit.rows, contract.unit.groups) == (rows, groups)
    assert Contract.from_yaml(contract.to_yaml()) == contract


def _folded(name: str) -> str:
    return unicodedata.normalize("NFKC", name).casefold()


@given(
    table=_names,
    names=st.lists(_names, min_size=1, max_size=4, unique_by=_folded),
    kinds=st.lists(_columns, min_size=4, max_size=4),
    population=st.none() | _names,
    epsilon=st.none() | _steps,
)
def test_written_and_read_again_it_is_the_same(
    table: str, names: list[str], kinds: list[dict[str, Any]], population: str | None, epsilon: Fraction | None
) -> None:
    contract = Contract.model_validate(
        {
            "table": table,
            "unit": "row",
            "population": population,
            "columns": dict(zip(names, kinds, strict=False)),
            "budget": None if epsilon is None else {"epsilon": epsilon},
        }
    )
    again = Contract.from_yaml(contract.to_yaml())
    assert again == contract
    assert list(again.columns) == list(contract.columns)
    assert again.content_hash() == contract.content_hash()


@given(_numbers)
def test_numbers_are_written_exactly(number: Fraction) -> None:
    assert Fraction(decimal_text(number)) == number
