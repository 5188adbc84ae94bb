"""Check a receipt of Discreet without Discreet: `python check_receipt.py RECEIPT KEYRING [FINGERPRINT]`.

Needs Python 3.11 or later and the library `cryptography`. Says in one sentence whether the receipt was signed by a key
of the ring and not altered since, then what the receipt warns of. Exit code 0: good; 1: rejected, or for teaching only;
2: the files cannot be read. Give the FINGERPRINT you know the keeper by; without it, compare the one that is printed.
It does not check that what the keeper signed adds up; `discreet.accounting.receipt.verify` does that too.
"""

from __future__ import annotations

import base64
import hashlib
import json
import sys
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

FIELDS: dict[str, type] = {"entry": int, "format": int, "version": int, "teaching": bool, "drafted": list}
FIELDS |= {"outside": list, "event": dict, "guarantee": dict, "plan": dict, "sensitivity": dict, "versions": dict}
FIELDS |= dict.fromkeys(["adjacency", "chain", "contract", "ledger", "population", "release", "result"], str)
FIELDS |= dict.fromkeys(["table", "time", "unit", "version_id"], str)
KEY = {"fingerprint", "introduction", "public", "revoked", "since", "until"}
RING = {"format", "issued", "keys", "signature", "what"}
LARGEST = 1 << 20


def require(holds: bool, reason: str) -> None:
    """Go on, or say why the receipt does not count."""
    if not holds:
        raise ValueError(reason)


def spelled(value: object) -> str:
    """The one spelling of a value: sorted names, no white space, ASCII."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def read(what: str, text: str, names: set[str]) -> dict[str, Any]:
    """The object that a text spells. What is spelled otherwise, with a name given twice too, does not come back."""
    text = text.removesuffix("\n")
    value: Any = None
    try:
        require(len(text) <= LARGEST, "it is too large")
        value = json.loads(text, parse_float=int, parse_constant=int)  # int refuses what these are called for
        same = spelled(value) == text
    except (ValueError, RecursionError):
        same = False
    require(same and isinstance(value, dict) and set(value) == names, f"the {what} is not in its one spelling")
    return dict(value)


def name_of(public: str) -> str:
    """The fingerprint of a public key."""
    letters = base64.b32encode(hashlib.sha256(bytes.fromhex(public)).digest()[:15]).decode()
    return "-".join(letters[at : at + 4] for at in range(0, 24, 4))


def is_signed(public: str, kind: str, content: object, signature: str) -> bool:
    """Whether the owner of that key signed that document."""
    try:
        raw, key = bytes.fromhex(signature), Ed25519PublicKey.from_public_bytes(bytes.fromhex(public))
        key.verify(raw, spelled([f"discreet {kind}", content]).encode())
    except (InvalidSignature, ValueError):
        return False
    return raw.hex() == signature


def is_time(text: str) -> bool:
    """Whether it has the shape of a moment in UTC."""
    return "".join("9" if sign in "0123456789" else sign for sign in text) == "9999-99-99T99:99:99Z"


def keys_of(ring: dict[str, Any]) -> list[dict[str, Any]]:
    """The keys of a ring in which each is introduced by the one before it, and the last one signs the whole."""
    keys: list[dict[str, Any]] = ring["keys"]
    for at, key in enumerate(keys):
        require(set(key) == KEY and key["fingerprint"] == name_of(key["public"]), "a key of the ring is malformed")
        dates = (key["since"], key["until"], key["revoked"] and key["revoked"]["at"])
        require(all(is_time(date) for date in dates if date is not None), "a date of the ring is malformed")
        if at:
            said = {"after": keys[at - 1]["fingerprint"]} | {name: key[name] for name in ("public", "since", "until")}
            introduced = is_signed(keys[at - 1]["public"], "successor", said, key["introduction"])
            require(introduced, "a key of the ring was not introduced by the one before it")
    require(bool(keys) and keys[-1]["revoked"] is None, "the ring has no key in use")
    content = {name: part for name, part in ring.items() if name != "signature"}
    require(is_signed(keys[-1]["public"], "keyring", content, ring["signature"]), "the ring was altered")
    return keys


def require_dated_well(time: str, keys: list[dict[str, Any]], at: int) -> None:
    """The receipt's date must lie where its key was to be believed; a compromised key never is."""
    key, revoked = keys[at], keys[at]["revoked"]
    require(not (revoked and revoked["compromised"]), "its key was compromised")
    require(is_time(time) and key["since"] <= time, "it is dated before its key was introduced")
    ends = [end for end in (key["until"], revoked and revoked["at"]) if end is not None]
    require(all(time < end for end in ends), "it is dated after its key expired or was revoked")
    require(at == len(keys) - 1 or time <= keys[at + 1]["since"], "it is dated after its key was replaced")


def check(receipt_text: str, ring_text: str, known_as: str | None = None) -> tuple[int, str]:
    """The exit code, and what to print."""
    try:
        keys = keys_of(read("keyring", ring_text, RING))
        trusted = {key["fingerprint"] for key in keys if not (key["revoked"] and key["revoked"]["compromised"])}
        require(known_as is None or known_as in trusted, "the ring has no good key of that fingerprint")
        signed = read("receipt", receipt_text, {"key", "receipt", "signature"})
        at = next((at for at, key in enumerate(keys) if key["fingerprint"] == signed["key"]), -1)
        require(at >= 0, "its key is not in this ring")
        receipt = signed["receipt"]
        require(is_signed(keys[at]["public"], "receipt", receipt, signed["signature"]), "its signature does not fit")
        shape = {name: type(part) for name, part in receipt.items()}
        require(shape == FIELDS and receipt["format"] == 1, "it is no receipt of format 1")
        require_dated_well(receipt["time"], keys, at)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        return 1, f"Rejected: {error if type(error) is ValueError else 'it is malformed'}."
    word = "Teaching only" if receipt["teaching"] else "Good"
    said = f"{word}: {spelled(receipt['guarantee'])}, release {receipt['release']}, signed by the key {signed['key']}."
    notes = [f"Outside the guarantee: {note}" for note in receipt["outside"]]
    return int(receipt["teaching"]), "\n".join([said, *notes, *(f"Drafted: {note}" for note in receipt["drafted"])])


def main(words: list[str]) -> int:
    """Read the files, print the finding."""
    texts = []
    try:
        for word in words[:2]:
            with open(word, encoding="ascii", errors="replace", newline="") as file:
                texts.append(file.read(LARGEST + 2))
        code, said = check(*texts, *words[2:])
    except (OSError, TypeError):
        code, said = 2, "Usage: python check_receipt.py RECEIPT KEYRING [FINGERPRINT], two files that can be read."
    sys.stdout.write("".join(sign if sign.isprintable() or sign == "\n" else "?" for sign in said) + "\n")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
