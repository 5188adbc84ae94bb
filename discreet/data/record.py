"""What a curator keeps of a table beside its rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from discreet.data.readers.options import ReadOptions
from discreet.data.seal import Seal
from discreet.errors import FolderError

__all__ = ["TableRecord"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRecord:
    """`version` is the public counter of the content, `version_id` its random name for receipts, which says nothing of
    it; `file` holds it, and `options` say how its source was read."""

    name: str
    version: int
    version_id: str
    file: str
    seal: Seal
    options: ReadOptions
    source: str | None
    source_seal: Seal | None

    def as_json(self) -> dict[str, Any]:
        """The record as it is stored; its name is its folder's."""
        return {
            "version": self.version,
            "version_id": self.version_id,
            "file": self.file,
            "seal": self.seal.as_json(),
            "options": self.options.as_json(),
            "source": self.source,
            "source_seal": None if self.source_seal is None else self.source_seal.as_json(),
        }

    @classmethod
    def from_json(cls, name: str, kept: Mapping[str, Any]) -> TableRecord:
        """The record that `as_json` wrote."""
        try:
            return cls(
                name=name,
                version=int(kept["version"]),
                version_id=str(kept["version_id"]),
                file=str(kept["file"]),
                seal=Seal.from_json(kept["seal"]),
                options=ReadOptions.from_json(kept["options"]),
                source=kept["source"],
                source_seal=None if kept["source_seal"] is None else Seal.from_json(kept["source_seal"]),
            )
        except (KeyError, TypeError, ValueError):
            raise FolderError(
                f"table {name!r}",
                found="an unreadable record",
                right="it is written by Discreet only",
                step="restore it",
            ) from None
