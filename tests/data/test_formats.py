"""Each foreign format carries what it can hold there and back, and every other fact is named as lost."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from discreet.data.column import Bounds, NullRule
from discreet.data.contract import Contract, Status
from discreet.data.fact import Source
from discreet.data.formats import croissant, csvw, smartnoise
from discreet.data.formats.conversion import Conversion, bounds_with_step
from discreet.errors import DiscreetError
from discreet.guarantee import Adjacency
from tests.data.test_contract import VISITS

WRITERS: dict[str, Callable[[Contract], Conversion]] = {
    "smartnoise": smartnoise.write,
    "csvw": csvw.write,
    "croissant": croissant.write,
}
READERS: dict[str, Callable[[str], Conversion]] = {
    "smartnoise": smartnoise.read,
    "csvw": csvw.read,
    "croissant": croissant.read,
}


@pytest.mark.parametrize("format_name", WRITERS)
def test_what_a_format_holds_survives_and_the_rest_is_named(format_name: str) -> None:
    contract = Contract.from_yaml(VISITS)
    written = WRITERS[format_name](contract)
    again = READERS[format_name](written.text).contract
    assert again.table == contract.table
    assert list(again.columns) == list(contract.columns)
    assert (again.unit.person, again.unit.rows) == ("patient_id", 5)
    assert again.columns["age"].bounds == contract.columns["age"].bounds
    assert again.columns["cost"].bounds == contract.columns["cost"].bounds
    always = {"population is not carried", "budget is not carried", "public joins are not carried"}
    always |= {"column 'patient_id': role is not carried", "column 'region': one_per_unit is not carried"}
    lost = set(written.lost)
    if format_name == "smartnoise":
        assert {"column 'region': type category becomes text", "unit: groups is not carried"} <= lost
        always -= {"column 'region': one_per_unit is not carried"}
    else:
        assert again.columns["region"].public_keys == ("north", "south")
        assert again.unit.groups == 3
        assert not any("groups" in sentence or "low" in sentence or "keys" in sentence for sentence in lost)
        assert again.columns["visited"] == contract.columns["visited"].model_copy(update={"source": Source.DRAFTED})
    assert always <= lost
    assert ("column 'cost': nulls is not carried" in lost) == (format_name == "croissant")


@pytest.mark.parametrize("format_name", READERS)
def test_what_is_read_is_a_draft(format_name: str) -> None:
    text = WRITERS[format_name](Contract.from_yaml(VISITS)).text
    contract = READERS[format_name](text).contract
    assert contract.status is Status.DRAFTED
    assert all(column.source is Source.DRAFTED for column in contract.columns.values())
    assert contract.unit.source is Source.DRAFTED


@pytest.mark.parametrize("format_name", ["smartnoise", "csvw"])
def test_a_public_number_of_rows_survives(format_name: str) -> None:
    contract = Contract.from_yaml(
        "table: t\nunit: row\nadjacency: replace-one\nunits: 48842\nmax_rows: 50000\ncolumns: {a: {type: integer}}\n"
    )
    written = WRITERS[format_name](contract)
    again = READERS[format_name](written.text).contract
    if format_name == "csvw":
        assert (again.adjacency, again.units, again.max_rows) == (Adjacency.REPLACE_ONE, 48842, 50000)
        assert not any("units" in sentence for sentence in written.lost)
    else:
        assert (again.adjacency, again.units) == (Adjacency.REPLACE_ONE, 48842)
        assert "max_rows is not carried" in written.lost


def test_smartnoise_metadata_of_others_is_read() -> None:
    text = """
    Database:
      PUMS:
        PUMS:
          rows: 1000
          max_ids: 4
          clamp_counts: true
          pid: {type: int, private_id: True}
          age: {type: int, lower: 0, upper: 100.0}
          income: {type: float, lower: -0.125, upper: 5e5, nullable: false}
          sex: {type: string, cardinality: 2}
          seen: {type: datetime}
          married: {type: boolean}
    """
    conversion = smartnoise.read(text)
    contract = conversion.contract
    assert (contract.table, contract.unit.person, contract.unit.rows) == ("PUMS", "pid", 4)
    assert contract.columns["age"].bounds == Bounds(low=Fraction(0), high=Fraction(100), step=Fraction(1))
    income = contract.columns["income"]
    assert income.bounds == Bounds(low=Fraction(-1, 8), high=Fraction(500_000), step=Fraction(1, 1000))
    assert income.nulls is NullRule.REFUSE
    assert [column.type for column in contract.columns.values()][3:] == ["text", "datetime", "boolean"]
    assert conversion.lost == ("rows is not carried", "clamp_counts is not carried")


def test_csvw_metadata_of_others_is_read() -> None:
    tree = {
        "@context": ["http://www.w3.org/ns/csvw", "csvw-eo-context.jsonld"],
        "@type": "Table",
        "privacyUnit": "penguin_id",
        "maxContributions": 3,
        "maxLength": 344,
        "publicLength": 344,
        "tableSchema": {
            "columns": [
                {"name": "species", "datatype": "string", "required": True, "keyValues": ["A", "G"],
                 "exhaustiveKeys": True, "maxGroupsPerUnit": 2, "partitions": [{"predicate": {"partitionValue": "A"}}]},
                {"name": "bill", "datatype": "double", "minimum": 32.1, "maximum": 59.6, "nullableProportion": 0.3},
                {"name": "mass", "datatype": "positiveInteger", "minimum": 2700.0, "maximum": 6300.0},
                {"name": "seen", "datatype": {"base": "date", "minimum": "2025-01-02", "maximum": "2025-12-30"}},
                {"name": "open", "datatype": "string", "keyValues": ["x"], "exhaustiveKeys": False},
                {"name": "penguin_id", "datatype": "string", "privacyId": True},
            ]
        },
    }  # fmt: skip
    conversion = csvw.read(json.dumps(tree), table="penguins")
    contract = conversion.contract
    assert (contract.unit.person, contract.unit.rows, contract.unit.groups) == ("penguin_id", 3, 2)
    assert (contract.adjacency, contract.max_rows) == (Adjacency.ADD_REMOVE, 344)
    assert contract.columns["species"].public_keys == ("A", "G")
    assert contract.columns["species"].nulls is NullRule.REFUSE
    assert contract.columns["bill"].bounds == Bounds(
        low=Fraction(321, 10), high=Fraction(298, 5), step=Fraction(1, 100)
    )
    assert [column.type for column in contract.columns.values()][2:] == ["integer", "date", "text", "text"]
    assert conversion.lost == (
        "column 'species': partitions is not carried",
        "column 'bill': nullableProportion is not carried",
    )


def test_croissant_is_what_others_expect() -> None:
    tree = json.loads(croissant.write(Contract.from_yaml(VISITS)).text)
    assert tree["conformsTo"] == "http://mlcommons.org/croissant/1.1"
    assert tree["@type"] == "sc:Dataset"
    table = next(entry for entry in tree["recordSet"] if entry["@id"] == "visits")
    fields = {field["@id"]: field for field in table["field"]}
    assert fields["visits/age"]["dataType"] == "sc:Integer"
    assert {entry["equivalentProperty"]: entry["value"] for entry in fields["visits/age"]["annotation"]} == {
        "sc:minValue": 0,
        "sc:maxValue": 120,
    }
    assert {entry["@type"] for entry in tree["recordSet"]} == {"cr:RecordSet"}
    identifiers = [entry["@id"] for entry in tree["recordSet"]] + list(fields)
    assert len(identifiers) == len(set(identifiers))
    known = set(tree["@context"]) | {"@context", "@type", "name", "description"}
    assert set(tree) <= known


def test_smartnoise_text_is_plain_yaml() -> None:
    tree = yaml.safe_load(smartnoise.write(Contract.from_yaml(VISITS)).text)
    table = tree[""][""]["visits"]
    assert table["row_privacy"] is False
    assert table["max_ids"] == 5
    assert table["patient_id"] == {"type": "string", "nullable": True, "private_id": True}
    assert table["cost"] == {"type": "float", "nullable": False, "lower": 0, "upper": 20000}


BAD: dict[str, tuple[Callable[[str], Conversion], str, str]] = {
    "no JSON": (csvw.read, "{", "not JSON"),
    "deep JSON": (csvw.read, "[" * 100_000, "not JSON"),
    "a list": (csvw.read, "[]", "entries are wanted"),
    "an entry twice": (csvw.read, '{"a": 1, "a": 2}', "given twice"),
    "huge": (csvw.read, " " * (9 << 20), "characters"),
    "no schema": (csvw.read, "{}", "tableSchema"),
    "no columns": (csvw.read, '{"tableSchema": {}}', "a list is wanted"),
    "no name": (csvw.read, '{"tableSchema": {"columns": [{}]}}', "without a name"),
    "no table name": (csvw.read, '{"tableSchema": {"columns": [{"name": "a"}]}}', "a name of 1 to"),
    "an exploding bound": (
        csvw.read,
        '{"url": "t", "tableSchema": {"columns": [{"name": "a", "datatype": "double",'
        ' "minimum": 0, "maximum": 1e999999999999}]}}',
        "column 'a', high",
    ),
    "a person without rows": (
        csvw.read,
        '{"url": "t", "privacyUnit": "a", "tableSchema": {"columns": [{"name": "a"}]}}',
        "a person without rows",
    ),
    "no YAML": (smartnoise.read, "{", "not YAML"),
    "an empty file": (smartnoise.read, "", "entries are wanted"),
    "no tables": (smartnoise.read, "a: {}", "0 tables"),
    "two tables": (smartnoise.read, "a: {b: {c: {x: {type: int}}, d: {x: {type: int}}}}", "name one of c, d"),
    "two persons": (
        smartnoise.read,
        "a: {b: {c: {x: {type: int, private_id: true}, y: {type: int, private_id: true}}}}",
        "2 columns with private_id",
    ),
    "a bound alone": (smartnoise.read, "a: {b: {c: {x: {type: int, lower: 1}}}}", "low alone"),
    "no record set": (croissant.read, "{}", "recordSet"),
    "two record sets": (croissant.read, '{"recordSet": [{"@id": "a"}, {"@id": "b"}]}', "name one of a, b"),
    "no field": (croissant.read, '{"recordSet": [{"@id": "a"}]}', "a list is wanted"),
    "an empty field": (croissant.read, '{"recordSet": [{"@id": "a", "field": [{}]}]}', "a name of 1 to"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_wrong_file_gets_one_helpful_line(case: str) -> None:
    reader, text, words = BAD[case]
    with pytest.raises(DiscreetError) as caught:
        reader(text)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "pydantic" not in str(caught.value)


def test_a_setting_is_no_name_for_a_unit() -> None:
    contract = Contract.from_yaml("table: t\nunit: {person: rows, rows: 1}\ncolumns: {rows: {type: text}}\n")
    with pytest.raises(DiscreetError, match="takes that name for a setting"):
        smartnoise.write(contract)


def test_one_table_of_several_is_read_by_name() -> None:
    text = "a: {b: {c: {x: {type: int}}, d: {y: {type: int}}}}"
    assert list(smartnoise.read(text, table="d").contract.columns) == ["y"]
    sets = [{"@id": name, "field": [{"@id": f"{name}/x", "dataType": "sc:Text"}]} for name in ("a", "b")]
    assert list(croissant.read(json.dumps({"recordSet": sets}), table="b").contract.columns) == ["x"]


_steps = st.integers(1, 50 * 10**6).map(lambda millionths: Fraction(millionths, 10**6))


_texts = st.text("ab\"' \\é\n:{}/", min_size=1)


@st.composite
def _contracts(draw: st.DrawFn) -> Contract:
    def bounded(kind: str, step: Fraction) -> dict[str, Any]:
        low, high = sorted(draw(st.tuples(st.integers(-(10**9), 10**9), st.integers(-(10**9), 10**9))))
        return {"type": kind, "low": low * step, "high": high * step}

    step = draw(_steps)
    columns = {
        "person": {"type": "text"},
        "i": bounded("integer", Fraction(1)),
        "d": {**bounded("decimal", step), "step": step, "nulls": draw(st.sampled_from(NullRule))},
        "k": {
            "type": "category",
            "keys": draw(st.lists(st.text("ab\"' \\é\n:{}", min_size=1), min_size=1, unique=True)),
        },
        "b": {"type": "boolean"},
        "t": {"type": "date", "low": "0001-01-01", "high": draw(st.dates()).isoformat()},
    }
    unit = draw(st.sampled_from(["row", {"person": "person", "rows": 4, "groups": 2}]))
    return Contract.model_validate(
        {"table": draw(st.text("a b/é", min_size=1)).strip() or "t", "unit": unit, "columns": columns}
    )


@pytest.mark.parametrize("format_name", WRITERS)
@given(contract=_contracts())
def test_every_contract_is_written_and_read(format_name: str, contract: Contract) -> None:
    written = WRITERS[format_name](contract)
    again = READERS[format_name](written.text).contract
    assert again.unit.person == contract.unit.person
    assert again.columns["i"].bounds == contract.columns["i"].bounds
    before, after = contract.columns["d"].bounds, again.columns["d"].bounds
    assert before is not None
    assert after is not None
    assert after.low <= before.low + after.step
    assert before.high - after.step <= after.high
    assert ("column 'd': step is not carried" in written.lost) == (before.step != after.step)
    if format_name != "smartnoise":
        assert again.columns["k"].public_keys == contract.columns["k"].public_keys


@pytest.mark.parametrize("format_name", WRITERS)
def test_a_third_is_rounded_outward_by_less_than_a_step(format_name: str) -> None:
    facts = {"type": "decimal", "step": "1/3", "low": "-1/3", "high": "1/3"}
    contract = Contract.model_validate({"table": "t", "unit": "row", "columns": {"d": facts}})
    bounds = READERS[format_name](WRITERS[format_name](contract).text).contract.columns["d"].bounds
    assert bounds is not None
    assert -Fraction(1, 3) - bounds.step < bounds.low < -Fraction(1, 3) < Fraction(1, 3) < bounds.high
    assert bounds.high < Fraction(1, 3) + bounds.step


def test_bounds_without_a_step_get_one_they_lie_on() -> None:
    assert bounds_with_step("0", "1") == {"step": Fraction(1, 100), "low": 0, "high": 1}
    assert bounds_with_step("0.0005", "1")["step"] == Fraction(1, 10_000)
    assert bounds_with_step(None, None) == {"step": Fraction(1, 100), "low": None, "high": None}
    outward = bounds_with_step("1e-12", "1")
    assert (outward["low"], outward["high"], outward["step"]) == (0, 1, Fraction(1, 10**9))
