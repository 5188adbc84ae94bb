"""The curator's key pair: Ed25519, one private key that signs and one public key that everybody may have.

A fingerprint is 120 bits of the public key's SHA-256 as six groups of four signs, short enough to be read out over a
telephone. Finding another key with the same fingerprint takes about 2¹²⁰ trials.

What it does not promise: the private key lies unencrypted in the curator's folder, readable by its owner only. Whoever
can read that file can sign.
"""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from discreet.accounting.document import message
from discreet.errors import FileError
from discreet.randomness import system_bits
from discreet.secrecy import Confidential

__all__ = ["SigningKey", "fingerprint", "is_signed"]

_KEY_BYTES = 32
_FINGERPRINT_BYTES = 15
_GROUP = 4


@dataclass(frozen=True, slots=True)
class SigningKey:
    """A private key. It prints as nothing and is not pickled."""

    private: Confidential[Ed25519PrivateKey]

    @classmethod
    def create(cls) -> SigningKey:
        """A new key from the operating system's entropy."""
        seed = system_bits().bits(8 * _KEY_BYTES).to_bytes(_KEY_BYTES, "little")
        return cls(Confidential(Ed25519PrivateKey.from_private_bytes(seed)))

    @classmethod
    def from_pem(cls, pem: bytes) -> SigningKey:
        """The key that `pem` wrote. The library's own words are dropped: they could quote the file."""
        try:
            private = serialization.load_pem_private_key(pem, password=None)
        except (ValueError, TypeError, UnsupportedAlgorithm):
            private = None
        if not isinstance(private, Ed25519PrivateKey):
            raise FileError(
                "signing key",
                found="no private key",
                right="it is an Ed25519 key in PEM",
                step="restore it from a backup",
            )
        return cls(Confidential(private))

    def pem(self) -> Confidential[bytes]:
        """The key as it is stored."""
        plain = serialization.NoEncryption()
        encoding, form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
        return Confidential(self._opened().private_bytes(encoding, form, plain))

    @property
    def public(self) -> bytes:
        """The 32 bytes of the public key."""
        return self._opened().public_key().public_bytes_raw()

    @property
    def fingerprint(self) -> str:
        """What people compare."""
        return fingerprint(self.public)

    def sign(self, kind: str, content: object) -> str:
        """The signature under a document of that kind, as hexadecimal text."""
        return self._opened().sign(message(kind, content)).hex()

    def _opened(self) -> Ed25519PrivateKey:
        return self.private.reveal(to="keeper")


def fingerprint(public: bytes) -> str:
    """A short name of a public key that people can compare, such as 3QTY-OAXN-…"""
    name = base64.b32encode(hashlib.sha256(public).digest()[:_FINGERPRINT_BYTES]).decode()
    return "-".join(name[at : at + _GROUP] for at in range(0, len(name), _GROUP))


def is_signed(public: bytes, kind: str, content: object, signature: object) -> bool:
    """Whether that public key's owner signed this; a signature too has one spelling only."""
    try:
        raw = bytes.fromhex(signature) if isinstance(signature, str) else b""
        if raw.hex() != signature:
            return False
        Ed25519PublicKey.from_public_bytes(public).verify(raw, message(kind, content))
    except (ValueError, InvalidSignature):
        return False
    return True
