"""A checkpoint: the arrays of an unfinished run in one file that only its owner can read, written whole or not at all.

It holds what the records say. It belongs to one piece of work: a file of other data or settings is refused.
What it does not promise: that its bytes are gone from the disk after it is deleted.
"""

from __future__ import annotations

import io
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt

from discreet.errors import FileError

__all__ = ["Checkpoint"]

Arrays = dict[str, npt.NDArray[np.generic]]
_MARK = "fingerprint"


class Checkpoint:
    """Where the state of a run is kept; without a path it keeps nothing."""

    def __init__(self, path: Path | None, fingerprint: str) -> None:
        self._path, self._fingerprint = path, fingerprint

    def load(self) -> Arrays:
        """What was kept; nothing when there is no file."""
        if self._path is None or not self._path.exists():
            return {}
        try:
            with np.load(io.BytesIO(self._path.read_bytes()), allow_pickle=False) as found:
                arrays = {name: found[name] for name in found.files}
        except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
            raise self._error("a file that is no checkpoint") from error
        if str(arrays.pop(_MARK, "")) != self._fingerprint:
            raise self._error("the checkpoint of other data or settings")
        return arrays

    def save(self, arrays: Mapping[str, npt.NDArray[np.generic]]) -> None:
        """Write beside the old one, then take its place."""
        if self._path is None:
            return
        beside = self._path.with_name(self._path.name + ".part")
        beside.unlink(missing_ok=True)
        with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            np.savez(file, **{_MARK: np.array(self._fingerprint)}, **arrays)  # type: ignore[arg-type]
        beside.replace(self._path)

    def delete(self) -> None:
        """The work is done."""
        if self._path is not None:
            self._path.unlink(missing_ok=True)

    def _error(self, found: str) -> FileError:
        return FileError(
            f"checkpoint {self._path}",
            found=found,
            right="it goes on with the work it was written by",
            step="delete the file to begin anew, or name another",
        )
