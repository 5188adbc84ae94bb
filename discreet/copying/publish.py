"""Copies that leave the house: noted in the ledger first, outside the guarantee, then written.

Given:   copies that a curator keeps.
Promise: no file leaves by `publish_copies` before its note stands in the ledger, and none that a seed can draw again.
Because: the note is committed first, and the seed is part of the record.
Tested:  test_publishing_notes_it_before_a_file_is_written, test_seeded_copies_are_not_published.
"""

from __future__ import annotations

from pathlib import Path

from discreet.accounting.outside import OUTSIDE, outside_note
from discreet.copying.kept import made_copies
from discreet.errors import CheckFailedError
from discreet.holdings import Holdings
from discreet.synthesis.imputation.export import Exported, export_copies

__all__ = ["publish_copies"]


def publish_copies(holdings: Holdings, release: str, into: str | Path, *, form: str = "csv") -> Exported:
    """Note in the ledger that copies are published, then write their files with codebook and pooling scripts."""
    copies = made_copies(holdings, release)
    if not copies.publishable:
        raise CheckFailedError(
            f"release {release!r}",
            found="copies that were drawn with a seed",
            right="whoever has the seed draws them again, and with them the noise that hides the records",
            step="make new ones without a seed",
        )
    contract = holdings.contract(copies.table)
    population = copies.table if contract is None else contract.whose
    what = f"{len(copies)} copies of {copies.table}, {release}"
    return export_copies(
        copies,
        Path(into),
        form=form,
        title=f"{len(copies)} copies of {copies.table}",
        before=lambda: holdings.ledger.note(OUTSIDE, outside_note(population, what)),
    )
