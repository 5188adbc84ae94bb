"""Group `install`: how heavy the core is, without any extra: wheels to fetch and space on disk, in MB of 10⁶ bytes."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from bench.record import Record

__all__ = ["core_distributions", "records"]

MB = 10**6


def records() -> Iterator[Record]:
    """Wheels of the newest versions the registry offers, where it can be reached, and what is installed here."""
    wheels = _wheels()
    if wheels is not None:
        yield Record(task="core, wheels to fetch", ours=wheels, bar=110, barred="ours", unit="MB")
    yield Record(task="core, on disk", ours=_on_disk(), bar=300, barred="ours", unit="MB")


def core_distributions() -> frozenset[str]:
    """Discreet and all it needs without extras, as installed here."""
    found: set[str] = set()
    waiting = ["discreet"]
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found.add(name)
        for line in metadata.requires(name) or ():
            needed = re.match(r"[\w.-]+", line)
            # A requirement behind a marker belongs to an extra, or to another system.
            if needed and ";" not in line:
                waiting.append(needed.group().lower())
    return frozenset(found)


def _on_disk() -> float:
    files = (file for name in core_distributions() for file in metadata.files(name) or ())
    return sum(path.stat().st_size for file in files if (path := Path(str(file.locate()))).is_file()) / MB


def _wheels() -> float | None:
    root = Path(__file__).parent.parent
    with tempfile.TemporaryDirectory() as place:
        command = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "--quiet",
            "--no-build-isolation",
            "--dest",
            place,
            str(root),
        ]
        if subprocess.run(command, capture_output=True, check=False).returncode != 0:
            return None
        return sum(path.stat().st_size for path in Path(place).iterdir()) / MB
