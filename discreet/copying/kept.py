"""Copies that a curator keeps: one Parquet file each in `releases/NAME/`, with a record of how they were made.

1. The record is written last, so that none is there half-made.
2. They come back as the kind of frame their table came in, with the rule by which fits on them are pooled.
3. Beside the original they are set only in the version they were made of.

What it does not promise: that copies may be published. `publish` says when.
"""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import narwhals as nw

from discreet.check import known
from discreet.data.frame import FrameKind, frame_like
from discreet.data.store import describe_store
from discreet.errors import CheckFailedError
from discreet.folder import Folder
from discreet.holdings import Holdings
from discreet.stats.combine import Rule
from discreet.stats.survey import Sampling
from discreet.synthesis.imputation.copies import Copies
from discreet.synthesis.imputation.export import Exported, export_copies
from discreet.synthesis.imputation.stored import read_stored
from discreet.utility.models import Family, ModelComparison, compare_models

__all__ = ["HeldCopies", "held_copies", "keep_copies", "made_copies"]

_NAME = re.compile(r"(?P<table>[A-Za-z_][A-Za-z0-9_]{0,62})-copies-(?P<number>[1-9][0-9]{0,8})")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class HeldCopies(Copies):
    """Copies that a curator keeps, with the name of their release."""

    holdings: Holdings
    table: str
    version: int
    release: str

    def compare(
        self,
        formula: str,
        *,
        family: Family = "ols",
        joined: Mapping[str, Sequence[Any]] | None = None,
        astray: Literal["refuse", "keep"] = "refuse",
    ) -> ModelComparison:
        """A model on the copies, pooled, beside the same on the original. Raw figures: for the keeper's eyes."""
        return compare_models(
            self.original(),
            self.frames,
            formula=formula,
            family=family,
            rule=self.rule,
            nests=self.nests,
            sizes=self.sizes,
            joined=joined,
            sampling=self.sampling,
            astray=astray,
        )

    def export(self, into: str | Path, *, form: str = "csv") -> Exported:
        """Write the files for the keeper's own use; nothing is published by it, and nothing noted."""
        return export_copies(self, Path(into), form=form, title=f"{len(self)} copies of {self.table}, not published")

    def original(self) -> Any:
        """The columns of the table the copies were made of. Confidential: for the keeper's eyes."""
        record = self.holdings.record(self.table)
        if record.version != self.version:
            raise CheckFailedError(
                f"release {self.release!r}",
                found=f"the table {self.table} is at version {record.version}",
                right=f"these copies are of version {self.version}, which is not kept",
                step="make new copies, or fit without the original beside",
            )
        with self.holdings.opened(self.table) as (engine, stored):
            return read_stored(engine, stored, self.holdings.contract(self.table), perturb=()).source


def held_copies(holdings: Holdings) -> tuple[str, ...]:
    """The names of all copies that are kept, oldest first."""
    found = (path.parent.name for path in holdings.folder.glob("releases/*-copies-*/record.json"))
    return tuple(sorted((name for name in found if _NAME.fullmatch(name)), key=_place))


def made_copies(holdings: Holdings, release: str) -> HeldCopies:
    """Copies that were made before, by the name of their release."""
    import pyarrow.parquet

    known("release", release, held_copies(holdings), step="discreet copies TABLE makes one")
    kept = Folder.open(holdings.folder).read_record(Path("releases", release, "record.json"))
    kind = FrameKind(kept["kind"])
    frames = (
        pyarrow.parquet.read_table(holdings.folder / "releases" / release / f"copy-{number:03d}.parquet")
        for number in range(1, kept["copies"] + 1)
    )
    return HeldCopies(
        frames=tuple(_as_kind(frame, kind) for frame in frames),
        method=kept["method"],
        perturbed=tuple(kept["perturbed"]),
        rule=Rule(kept["rule"]),
        nests=kept["nests"],
        sizes=None if kept["sizes"] is None else (kept["sizes"][0], kept["sizes"][1]),
        seeded=kept["seeded"],
        sampling=Sampling(**kept["sampling"]),
        notes=tuple(kept["notes"]),
        holdings=holdings,
        table=kept["table"],
        version=kept["version"],
        release=release,
    )


def keep_copies(holdings: Holdings, table: str, version: int, copies: Copies) -> HeldCopies:
    """Write the copies and, last, their record."""
    import pyarrow.parquet

    kind = describe_store(holdings.folder / "tables" / table / holdings.record(table).file).kind
    folder = Folder.open(holdings.folder)
    with folder.changing():
        release = f"{table}-copies-{_next_number(holdings, table)}"
        for number, frame in enumerate(copies, start=1):
            buffer = io.BytesIO()
            pyarrow.parquet.write_table(frame, buffer)
            folder.write(Path("releases", release, f"copy-{number:03d}.parquet"), buffer.getvalue())
        record = {
            "what": Copies.guarantee,
            "kind": kind.value,
            "table": table,
            "version": version,
            "copies": len(copies),
            "method": copies.method,
            "perturbed": list(copies.perturbed),
            "rule": copies.rule.value,
            "nests": copies.nests,
            "sizes": copies.sizes,
            "seeded": copies.seeded,
            "sampling": asdict(copies.sampling),
            "notes": list(copies.notes),
        }
        folder.write_record(Path("releases", release, "record.json"), record)
    return made_copies(holdings, release)


def _next_number(holdings: Holdings, table: str) -> int:
    """One more than any folder's, whole or not."""
    names = (path.name for path in holdings.folder.glob(f"releases/{table}-copies-*"))
    return max((_place(name)[1] for name in names if _NAME.fullmatch(name)), default=0) + 1


def _place(name: str) -> tuple[str, int]:
    table, _, number = name.rpartition("-copies-")
    return table, int(number)


def _as_kind(frame: Any, kind: FrameKind) -> Any:
    """An Arrow table as the kind of frame its table came from; a file's stays Arrow."""
    if kind in (FrameKind.PYARROW, FrameKind.PLAIN):
        return frame
    if kind is FrameKind.PANDAS:
        return nw.from_native(frame).to_pandas()
    if kind is FrameKind.POLARS:
        return nw.from_native(frame).to_polars()
    return frame_like(kind, frame.to_pydict())
