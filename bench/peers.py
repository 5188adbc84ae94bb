"""Peers: other tools, each in an environment of its own, measured in the same run as we are.

`python -m bench.peers [GROUP…] [--json]` builds what is missing under bench/.peers/ and then measures. A peer that
cannot be installed is named, and its figure from an earlier measurement is shown, marked as not re-run.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree

__all__ = ["PEERS", "Peer"]

_FOLDER = Path(__file__).parent / ".peers"
_SCRIPTS = Path(__file__).parent / "peer"
_INSTALL_SECONDS = 900


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """A tool at one version, and the script under bench/peer/ that measures it."""

    name: str
    requirement: str
    script: str

    @property
    def python(self) -> Path:
        """The interpreter of its environment."""
        return _FOLDER / self.name / "bin" / "python"

    @property
    def ready(self) -> bool:
        """Whether its environment was built to the end."""
        return (_FOLDER / self.name / ".ready").exists()

    def install(self) -> bool:
        """Build its environment, or leave nothing behind."""
        folder = _FOLDER / self.name
        if self.ready:
            return True
        rmtree(folder, ignore_errors=True)
        for command in (
            [sys.executable, "-m", "venv", "--without-pip", str(folder)],
            [sys.executable, "-m", "pip", "--python", str(self.python), "install", "--quiet", self.requirement],
        ):
            if subprocess.run(command, check=False, capture_output=True, timeout=_INSTALL_SECONDS).returncode:
                rmtree(folder, ignore_errors=True)
                return False
        (folder / ".ready").touch()
        return True

    def figures(self, *arguments: str) -> dict[str, float]:
        """What its script prints: one JSON object of figures. Nothing without its environment."""
        if not self.ready:
            return {}
        command = [str(self.python), str(_SCRIPTS / self.script), *arguments]
        printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        figures: dict[str, float] = json.loads(printed)
        return figures


PEERS = {"pycanon": Peer(name="pycanon", requirement="pycanon==1.3.5", script="pycanon_adult.py")}


def main(arguments: Sequence[str] | None = None) -> int:
    """Build every peer's environment, then measure with those there are."""
    from bench.__main__ import main as measure

    for peer in PEERS.values():
        if not peer.install():
            print(f"{peer.requirement} cannot be installed here; its earlier figures are not re-run", file=sys.stderr)
    return measure(arguments)


if __name__ == "__main__":
    sys.exit(main())
