"""The exact certificates of all mechanisms, as one result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from discreet.draw import Grid
from discreet.mechanisms.certificate import Certificate
from discreet.mechanisms.verify import certify_all, failures, grid, grids_in_short, sentences

__all__ = ["Certification", "certify_mechanisms"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Certification:
    """Certificates that were checked anew, and the names of those that are not as they should be."""

    certificates: tuple[Certificate, ...]
    failures: tuple[str, ...]

    def sentences(self) -> tuple[str, ...]:
        """The outcome, and how to read the figures, in plain words."""
        return sentences(self.certificates)

    def grids(self) -> tuple[Grid, ...]:
        """What is claimed beside what is exact, as narrow as a terminal."""
        return grids_in_short(self.certificates)

    def grid(self) -> Grid:
        """All that is known of each certificate, in one wide table."""
        return grid(self.certificates)

    def as_json(self) -> dict[str, object]:
        """Everything as plain values; fractions as exact text."""
        return {
            "failures": list(self.failures),
            "certificates": [certificate.as_json() for certificate in self.certificates],
        }


def certify_mechanisms(names: Sequence[str] | None = None) -> Certification:
    """Check the mechanisms of those names, or all of them, over all neighbours of their domains."""
    checked = certify_all(names)
    return Certification(certificates=checked, failures=failures(checked))
