"""A release as a record of the OpenDP deployments registry, tier 3, in YAML.

What can be known from the receipt is taken from it; what only the keeper knows (name, purpose, region, who may see
what) is asked for in `Deployment`. The record says what the receipt says and no more; parameters that are no exact
decimals are rounded up, and their exact text stands beside them. The registry's schema allows no other fields.

Tested: test_record_validates_and_leaves_no_field_empty.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, TypeAlias, get_args

import yaml

from discreet.accounting.receipt import Receipt, Verdict
from discreet.check import one_of, some
from discreet.errors import ArgumentError, CheckFailedError
from discreet.guarantee import ZCDP, Adjacency, ApproxDP, Guarantee, PureDP

__all__ = ["Deployment", "as_yaml", "registry_record"]

Product: TypeAlias = Literal[
    "Summary statistics", "Machine learning model", "Dataset", "Synthetic data", "Interactive API", "SQL queries"
]
Sector: TypeAlias = Literal["Technology", "Healthcare", "Education", "Government", "Energy", "Finance"]

_VARIANTS: dict[type[PureDP | ZCDP | ApproxDP], str] = {
    PureDP: "Pure DP",
    ZCDP: "Zero-concentrated DP",
    ApproxDP: "Approximate DP",
}
_NEIGHBOURS = {
    Adjacency.ADD_REMOVE: "one of them has the unit and the other has not",
    Adjacency.REPLACE_ONE: "both have as many units, and one of these differs",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """What only the keeper knows of a release, in the keeper's words."""

    name: str
    curators: tuple[str, ...]
    intended_use: str
    product: Product
    region: str
    description: str
    sector: Sector
    data_domain: str
    actors: str
    preprocessing: str
    access: str
    justification: str
    authors: tuple[str, ...]
    sources: str
    more_releases: str
    further_unprotected: str = ""
    post_processing: str = "None besides what the plan names."
    notes: str = ""

    def __post_init__(self) -> None:
        one_of("product", self.product, get_args(Product))
        one_of("sector", self.sector, get_args(Sector))
        some("curators", self.curators, step="name who publishes")
        some("authors", self.authors, step="name who filled in the record")
        optional = ("further_unprotected", "notes", "product", "sector", "curators", "authors")
        empty = [name for name in self.__slots__ if name not in optional and not getattr(self, name).strip()]
        if empty:
            raise ArgumentError(
                empty[0].replace("_", " "),
                found="nothing",
                right="a record of tier 3 leaves no question open",
                step="say it in a sentence",
            )


def registry_record(verdict: Verdict, deployment: Deployment) -> dict[str, Any]:
    """The record of a release whose receipt was verified."""
    receipt = verdict.receipt
    if receipt is None or not verdict.holds:
        raise CheckFailedError(
            "registry record",
            found="a receipt that is not good",
            right="only what verifies is registered",
            step="verify the receipt first",
        )
    return {
        "url_slug": f"{_slug(deployment.name)}-{receipt.release[:8]}",
        "status": "Draft",
        "tier": 3,
        "deployment": {
            "basic": _basic(receipt, deployment),
            "dp_variant": {
                "variant_name": _VARIANTS[type(receipt.guarantee)],
                "data_domain": deployment.data_domain,
                "unprotected_quantities": _unprotected(receipt, deployment),
            },
            "privacy_loss": _privacy_loss(receipt),
            "deployment_model": _model(deployment),
            "accounting": _accounting(receipt, deployment),
            "implementation": _implementation(receipt, deployment),
            "administrative": {
                "sources": deployment.sources,
                "notes": f"Made from the signed receipt of release {receipt.release}. {deployment.notes}".strip(),
                "registry_authors": list(deployment.authors),
            },
        },
    }


def as_yaml(record: Mapping[str, Any]) -> str:
    """The record as the registry keeps it."""
    return yaml.safe_dump(dict(record), sort_keys=False, allow_unicode=True, width=100)


def _basic(receipt: Receipt, deployment: Deployment) -> dict[str, Any]:
    return {
        "name": deployment.name,
        "data_curators": list(deployment.curators),
        "intended_use": deployment.intended_use,
        "data_product_type": deployment.product,
        "data_product_region": deployment.region,
        "description": deployment.description,
        "publication_date": receipt.time[:10],
        "data_product_sector": deployment.sector,
    }


def _unprotected(receipt: Receipt, deployment: Deployment) -> str:
    public = "The facts of the contract, the plan and the public counter of the table's versions."
    if receipt.adjacency is Adjacency.REPLACE_ONE:
        public += " The number of units is public."
    return f"{public} {receipt.first_line()} {deployment.further_unprotected}".strip()


def _privacy_loss(receipt: Receipt) -> dict[str, Any]:
    return {
        "privacy_unit": receipt.unit,
        "privacy_unit_details": f"Two tables are neighbours when {_NEIGHBOURS[receipt.adjacency]}. "
        f"The unit is: {receipt.unit}.",
        "privacy_parameters": _parameters(receipt.guarantee),
        "privacy_parameters_details": "Exactly: "
        + ", ".join(f"{name} = {text}" for name, text in receipt.guarantee.as_json().items())
        + ". This is the price of this release; the population's account holds what others cost.",
    }


def _parameters(guarantee: Guarantee) -> dict[str, float]:
    return {name: _float_up(Fraction(text)) for name, text in guarantee.as_json().items()}


def _model(deployment: Deployment) -> dict[str, Any]:
    return {
        "model_name": "Central",
        "model_name_details": "The curator holds the table as it was collected and adds the noise.",
        "actors": deployment.actors,
        "release_type": "One release",
        "release_type_details": deployment.more_releases,
        "data_source_type": "Static",
        "data_source_type_details": "The release read one fixed version of the table.",
        "access_type": "Non-interactive",
        "access_type_details": "The release is published as it is; reading it costs nothing more.",
    }


def _accounting(receipt: Receipt, deployment: Deployment) -> dict[str, Any]:
    return {
        "post_processing": deployment.post_processing,
        "composition": "Sequential over releases: each is charged, rounded up, to the account of its population before "
        "the data are read, and an account is never refilled. Within the release: as its events say. "
        f"This release is entry {receipt.entry} of ledger {receipt.ledger}.",
    }


def _implementation(receipt: Receipt, deployment: Deployment) -> dict[str, Any]:
    event = receipt.as_json()["event"]
    versions = ", ".join(f"{name} {version}" for name, version in receipt.versions.values().items())
    return {
        "preprocessing_and_hyperparameter_tuning": deployment.preprocessing,
        "mechanisms": f"Events, in the terms of Discreet: {event}. Noise is drawn as integers from the operating "
        "system's entropy, without floating point. Access to the underlying data: "
        f"{deployment.access} Versions: {versions}.",
        "justification": deployment.justification,
    }


def _float_up(value: Fraction) -> float:
    """The least float that is not below the value; a decimal keeps the float that prints as it does."""
    near = float(value)
    return near if Fraction(repr(near)) >= value else math.nextafter(near, math.inf)


def _slug(name: str) -> str:
    kept = "".join(sign if sign.isascii() and sign.isalnum() else " " for sign in name.lower())
    return "-".join(kept.split()) or "release"
