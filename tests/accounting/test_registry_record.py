"""The record of the OpenDP registry: valid by its schema, complete at tier 3, never promising more than the receipt."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from discreet.accounting.events import Approximate
from discreet.accounting.receipt import Receipt, Verdict, sign, verify
from discreet.accounting.registry_record import Deployment, as_yaml, registry_record
from discreet.errors import ArgumentError, CheckFailedError
from discreet.guarantee import ZCDP, Adjacency, ApproxDP, Guarantee, PureDP
from tests.accounting.receipts import KEY, RECEIPT, RING, changed

SCHEMA = yaml.safe_load((Path(__file__).parent.parent / "data" / "registry-schema.yaml").read_text())
DEPLOYMENT = Deployment(
    name="Visits by region, 2026: counts",
    curators=("Clinic of Examples",),
    intended_use="Planning of services.",
    product="Summary statistics",
    region="Exampleland",
    description="Counts of visits by region.",
    sector="Healthcare",
    data_domain="All sets of visits that the contract allows.",
    actors="The keeper sees the visits; everybody sees the counts.",
    preprocessing="None.",
    access="two members of staff.",
    justification="The error was judged small enough for planning.",
    authors=("A. Keeper",),
    sources="https://example.org/visits",
    more_releases="No other release is planned.",
)


def good(receipt: Receipt) -> Verdict:
    return verify(sign(receipt, KEY).text(), RING)


def validated(record: dict[str, Any]) -> None:
    jsonschema.Draft202012Validator(SCHEMA, format_checker=jsonschema.FormatChecker(["date"])).validate(record)


def leaves(schema: dict[str, Any], record: Any) -> Iterator[tuple[str, Any]]:
    """Every field that the schema knows, with what the record holds there."""
    for name, part in schema["properties"].items():
        held = record.get(name) if isinstance(record, dict) else None
        yield from leaves(part, held) if "properties" in part else [(name, held)]


def test_record_validates_and_leaves_no_field_empty() -> None:
    record = yaml.safe_load(as_yaml(registry_record(good(RECEIPT), DEPLOYMENT)))
    assert record == registry_record(good(RECEIPT), DEPLOYMENT)
    validated(record)
    filled = dict(leaves(SCHEMA, record))
    assert len(filled) > 30
    assert {name for name, held in filled.items() if held in (None, "", [])} == {"delta", "rho"}
    assert record["tier"] == 3
    assert record["status"] == "Draft"
    assert record["url_slug"] == "visits-by-region-2026-counts-01234567"
    assert filled["publication_date"] == "2026-04-01"


def test_the_schema_is_strict() -> None:
    """What validates could fail: each of these does."""
    record = registry_record(good(RECEIPT), DEPLOYMENT)
    for broken in ({**record, "more": 1}, {**record, "tier": 4}, {k: v for k, v in record.items() if k != "status"}):
        with pytest.raises(jsonschema.ValidationError):
            validated(broken)
    record["deployment"]["basic"]["publication_date"] = "April"
    with pytest.raises(jsonschema.ValidationError):
        validated(record)


@pytest.mark.parametrize(
    ("guarantee", "name", "parameters"),
    [
        (PureDP.of("0.5"), "Pure DP", {"epsilon": 0.5}),
        (ZCDP.of("0.125"), "Zero-concentrated DP", {"rho": 0.125}),
        (ApproxDP.of("0.5", "1e-9"), "Approximate DP", {"epsilon": 0.5, "delta": 1e-9}),
    ],
    ids=str,
)
def test_each_guarantee_has_its_variant(guarantee: Guarantee, name: str, parameters: dict[str, float]) -> None:
    record = registry_record(good(changed(guarantee=guarantee)), DEPLOYMENT)
    validated(record)
    deployment = record["deployment"]
    assert deployment["dp_variant"]["variant_name"] == name
    assert deployment["privacy_loss"]["privacy_parameters"] == parameters


@given(st.fractions(min_value=Fraction(1, 2), max_value=20), st.fractions(min_value=0, max_value=1))
def test_parameters_are_never_rounded_down(epsilon: Fraction, delta: Fraction) -> None:
    event = Approximate(epsilon=Fraction(1), delta=Fraction(0))
    receipt = changed(guarantee=ApproxDP(epsilon, delta), event=event)
    loss = registry_record(good(receipt), DEPLOYMENT)["deployment"]["privacy_loss"]
    for name, exact in (("epsilon", epsilon), ("delta", delta)):
        written = Fraction(repr(loss["privacy_parameters"][name]))
        assert exact <= written <= exact * (1 + Fraction(1, 2**50)) + Fraction(1, 2**1074)
        assert f"{name} = {exact}" in loss["privacy_parameters_details"]


def test_what_is_outside_the_guarantee_is_said() -> None:
    replaced = changed(adjacency=Adjacency.REPLACE_ONE)
    said = registry_record(good(replaced), DEPLOYMENT)["deployment"]["dp_variant"]["unprotected_quantities"]
    assert "20 copies of visits" in said
    assert "bounds of cost" in said
    assert "The number of units is public" in said
    add_remove = registry_record(good(RECEIPT), DEPLOYMENT)["deployment"]["dp_variant"]["unprotected_quantities"]
    assert "The number of units" not in add_remove


def test_only_a_good_receipt_is_registered() -> None:
    for verdict in (good(changed(teaching=True)), verify("", RING), verify(sign(RECEIPT, KEY).text() + "x", RING)):
        with pytest.raises(CheckFailedError, match="only what verifies"):
            registry_record(verdict, DEPLOYMENT)


@pytest.mark.parametrize(
    "wrong", [{"product": "Poem"}, {"sector": "Magic"}, {"curators": ()}, {"authors": ()}, {"actors": " "}], ids=str
)
def test_a_deployment_leaves_no_question_open(wrong: dict[str, Any]) -> None:
    with pytest.raises(ArgumentError):
        replace(DEPLOYMENT, **wrong)
