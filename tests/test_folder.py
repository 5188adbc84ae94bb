"""The curator's folder: its owner's only, whole or not at all, one change at a time over all processes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from discreet.errors import FolderError
from discreet.folder import Folder


def test_create_then_open(tmp_path: Path) -> None:
    made = Folder.create(tmp_path / "clinic")
    opened = Folder.open(tmp_path / "clinic")
    assert opened == made
    assert len(opened.key().reveal(to="keeper")) == 32
    modes = {path.name: path.stat().st_mode & 0o777 for path in [made.root, *made.root.iterdir()]}
    assert all(mode & 0o077 == 0 for mode in modes.values()), modes


def test_keys_differ(tmp_path: Path) -> None:
    keys = {Folder.create(tmp_path / name).key().reveal(to="keeper") for name in "abc"}
    assert len(keys) == 3


def test_folder_with_other_files_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.docx").write_text("mine")
    with pytest.raises(FolderError, match="other files"):
        Folder.create(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.docx"]
    with pytest.raises(FolderError, match="discreet init"):
        Folder.open(tmp_path)


def test_folder_open_to_others_is_refused(tmp_path: Path) -> None:
    folder = Folder.create(tmp_path / "clinic")
    folder.root.chmod(0o750)
    with pytest.raises(FolderError, match="chmod 700"):
        Folder.open(folder.root)


@pytest.mark.parametrize("verb", [Folder.open, Folder.find, Folder.open_or_create])
def test_folder_of_somebody_else_is_refused_in_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verb: Callable[[Path], Folder]
) -> None:
    """What the system answers to whoever may not enter; whoever runs the tests may be allowed everything."""
    folder = Folder.create(tmp_path / "clinic")

    def forbidden(path: Path) -> bool:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "is_file", forbidden)
    monkeypatch.setattr(Path, "exists", forbidden)
    with pytest.raises(FolderError, match="permission denied"):
        verb(folder.root)


def test_found_from_below_and_not_from_beside(tmp_path: Path) -> None:
    folder = Folder.create(tmp_path / "clinic")
    assert Folder.find(folder.root / "tables") == folder
    with pytest.raises(FolderError, match="here or above"):
        Folder.find(tmp_path)


@pytest.mark.parametrize(("file", "content"), [("discreet.json", "{"), ("discreet.json", "[]"), ("key", "short")])
def test_damaged_folder_is_named(tmp_path: Path, file: str, content: str) -> None:
    folder = Folder.create(tmp_path / "clinic")
    (folder.root / file).write_text(content)
    with pytest.raises(FolderError, match=file):
        Folder.open(folder.root).key()


def test_other_format_is_refused(tmp_path: Path) -> None:
    folder = Folder.create(tmp_path / "clinic")
    folder.write_record(Path("discreet.json"), {"format": 99})
    with pytest.raises(FolderError, match="format 99"):
        Folder.open(folder.root)


def test_write_is_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = Folder.create(tmp_path / "clinic")
    folder.write(Path("releases/a.json"), b"first")

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(FolderError, match="no space left"):
        folder.write(Path("releases/a.json"), b"second")
    assert (folder.root / "releases/a.json").read_bytes() == b"first"
    assert [path.name for path in (folder.root / "releases").iterdir()] == ["a.json"]


def test_second_process_waits_then_says_so(tmp_path: Path) -> None:
    """The lock is held by another process: this one is refused in a line, and gets it once the other ends."""
    folder = Folder.create(tmp_path / "clinic")
    code = (
        "import sys; from pathlib import Path; from discreet.folder import Folder\n"
        "with Folder.open(Path(sys.argv[1])).changing():\n    print('held', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", code, str(folder.root)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdin is not None
        assert other.stdout.readline() == "held\n"
        with pytest.raises(FolderError, match="another process"), folder.changing(seconds=0.1):
            pytest.fail("two processes changed the folder at once")
        other.stdin.close()
        other.wait()
    with folder.changing(seconds=0.1):
        assert Folder.open(folder.root) == folder
