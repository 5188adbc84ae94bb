"""Checking a receipt file against a published keyring, and the registry record of the release it is of."""

from __future__ import annotations

from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

from discreet.accounting.keyring import Keyring
from discreet.accounting.receipt import Verdict, verify_receipt
from discreet.accounting.registry_record import Deployment, as_yaml, registry_record
from discreet.data.document import read_document, text_of
from discreet.errors import ArgumentError, FileError

__all__ = ["check_receipt", "registry_yaml"]

_LARGEST = 1 << 20


def check_receipt(receipt: Path, keyring: Path, *, known_as: str | None = None) -> Verdict:
    """Whether the receipt was signed by a key of that ring. With a fingerprint, the ring must hold that key."""
    try:
        with keyring.open("rb") as file:
            content = file.read(_LARGEST)
    except OSError as error:
        raise FileError(
            str(keyring),
            found=(error.strerror or "an error of the file system").lower(),
            right="a keyring is the file a curator publishes",
            step="name it with --keyring",
        ) from None
    return verify_receipt(receipt, Keyring.parse(content.decode("ascii", errors="replace"), known_as=known_as))


def registry_yaml(verdict: Verdict, facts: Path) -> str:
    """The record of a good receipt's release, with what only the keeper knows read from a file of YAML."""
    tree = read_document(text_of(facts), where=facts.name).tree
    known = {field.name: field for field in fields(Deployment)}
    if not isinstance(tree, dict) or not all(isinstance(name, str) for name in tree):
        raise _unfit(facts, "no entries")
    strange = sorted(set(tree) - set(known))
    missing = sorted(name for name, field in known.items() if field.default is MISSING and name not in tree)
    if strange or missing:
        raise _unfit(facts, f"an entry {strange[0]!r}" if strange else f"no entry {missing[0]!r}")
    lists = {name for name, field in known.items() if "tuple" in str(field.type)}
    given: dict[str, Any] = {}
    for name, value in tree.items():
        whole = value if isinstance(value, list) else [value]
        if not all(isinstance(part, str) for part in whole) or (isinstance(value, list) and name not in lists):
            raise _unfit(facts, f"something else than text under {name!r}")
        given[name] = tuple(whole) if name in lists else value
    return as_yaml(registry_record(verdict, Deployment(**given)))


def _unfit(facts: Path, found: str) -> ArgumentError:
    needed = ", ".join(field.name for field in fields(Deployment) if field.default is MISSING)
    return ArgumentError(
        facts.name, found=found, right=f"it holds texts under {needed}", step="see docs/explain/receipt.md"
    )
