"""Tricks with paths: nothing outside the folder that may be read is read, and nothing but plain files is opened."""

from __future__ import annotations

import gzip
import os
import socket
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from discreet.data.load import ReadOptions, load
from discreet.data.readers.source import SourceFile
from discreet.errors import FileError

SECRET = "canary7316"
Make = Callable[[Path, Path], Path]


def _link(at: str, to: str) -> Make:
    """A link inside the folder; the place it leads to is written relative to the folder that holds both."""

    def make(folder: Path, beside: Path) -> Path:
        (folder / at).parent.mkdir(parents=True, exist_ok=True)
        (folder / at).symlink_to(to.replace("BESIDE", str(beside)))
        return folder / at

    return make


def _chain(folder: Path, beside: Path) -> Path:
    for number in range(9):
        (folder / f"{number}.csv").symlink_to(f"{number + 1}.csv")
    (folder / "9.csv").symlink_to(beside / "secret.csv")
    return folder / "0.csv"


def _linked_folder(folder: Path, beside: Path) -> Path:
    (folder / "inner").symlink_to(beside, target_is_directory=True)
    return folder / "inner" / "secret.csv"


OUTSIDE: dict[str, Make] = {
    "dots": lambda folder, beside: folder / ".." / beside.name / "secret.csv",
    "plain": lambda _, beside: beside / "secret.csv",
    "link": _link("x.csv", "BESIDE/secret.csv"),
    "relative-link": _link("x.csv", "../beside/secret.csv"),
    "deep-link": _link("a/b/c/x.csv", "../../../../beside/secret.csv"),
    "chain": _chain,
    "linked-folder": _linked_folder,
    "same-beginning": lambda folder, _: folder.with_name("inside-too") / "secret.csv",
    "system": lambda *_: Path("/etc/passwd"),
    "environment": lambda *_: Path("/proc/self/environ"),
}


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    for name in ("inside", "beside", "inside-too"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "secret.csv").write_text(f"a\n{SECRET}\n")
    (tmp_path / "inside" / "inner").mkdir()
    return tmp_path / "inside", tmp_path / "beside"


@pytest.mark.parametrize("trick", OUTSIDE)
def test_nothing_outside_the_root_is_read(trick: str, folders: tuple[Path, Path], tmp_path: Path) -> None:
    folder, beside = folders
    if trick == "linked-folder":
        (folder / "inner").rmdir()
    path = OUTSIDE[trick](folder, beside)
    with pytest.raises(FileError) as caught:
        load(path, tmp_path / "t.duckdb", options=ReadOptions(root=folder))
    assert SECRET not in str(caught.value)
    assert not (tmp_path / "t.duckdb").exists()


def test_a_root_that_is_a_link_and_a_link_that_stays_inside_are_fine(
    folders: tuple[Path, Path], tmp_path: Path
) -> None:
    (tmp_path / "root").symlink_to(folders[0])
    (folders[0] / "x.csv").symlink_to("secret.csv")
    for number, name in enumerate(("secret.csv", "x.csv", "inner/../secret.csv")):
        table = load(
            tmp_path / "root" / name, tmp_path / f"{number}.duckdb", options=ReadOptions(root=tmp_path / "root")
        )
        assert table.names == ("a",)


def test_a_folder_that_becomes_a_link_on_the_way_is_noticed(
    folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between resolving the path and opening the file, a folder on the way is swapped for a link that leads out."""
    folder, beside = folders
    (folder / "inner" / "secret.csv").write_text("a\nfine\n")
    opened = SourceFile._opened

    def swapped(self: SourceFile, target: Path) -> object:
        (folder / "inner").rename(folder / "moved")
        (folder / "inner").symlink_to(beside, target_is_directory=True)
        return opened(self, target)

    monkeypatch.setattr(SourceFile, "_opened", swapped)
    with pytest.raises(FileError, match="outside"):
        SourceFile(folder / "inner" / "secret.csv", root=folder)


def _socket(path: Path) -> None:
    os.chdir(path.parent)  # the name of a socket may not be long
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(path.name)


SPECIAL: dict[str, Callable[[Path], object]] = {
    "folder": Path.mkdir,
    "pipe": os.mkfifo,
    "socket": _socket,
    "zero": lambda path: path.symlink_to("/dev/zero"),
    "random": lambda path: path.symlink_to("/dev/urandom"),
    "terminal": lambda path: path.symlink_to("/dev/tty"),
    "standard-input": lambda path: path.symlink_to("/dev/stdin"),
    "loop": lambda path: path.symlink_to(path),
    "nowhere": lambda path: path.symlink_to(path.with_name("nowhere")),
    "through-a-file": lambda path: path.symlink_to("/etc/passwd/x.csv"),
}


@pytest.mark.parametrize("kind", SPECIAL)
def test_only_plain_files_are_opened_and_nobody_waits(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    SPECIAL[kind](tmp_path / "x.csv")
    with pytest.raises(FileError):
        load(tmp_path / "x.csv", tmp_path / "t.duckdb")


@pytest.mark.parametrize("name", ["", "\0", "x" * 5000, "a/" * 3000 + "x.csv", ".", "..", "~/secret.csv", "x.csv\n"])
def test_odd_paths_are_refused_in_a_line(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileError) as caught:
        load(name, tmp_path / "t.duckdb")
    assert "\n" not in str(caught.value)


MEMBERS = (
    "../x.csv",
    "a/../../x.csv",
    "/etc/x.csv",
    "//server/x.csv",
    "..\\x.csv",
    "C:\\x.csv",
    "C:x.csv",
    "\\\\server\\share\\x.csv",
    "a/b/../../../x.csv",
)


@pytest.mark.parametrize("member", MEMBERS)
def test_members_that_lead_out_of_an_archive_are_refused(member: str, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.csv.zip", "w") as archive:
        archive.writestr(member, f"a\n{SECRET}\n")
    with pytest.raises(FileError, match="out of its folder"):
        load(tmp_path / "x.csv.zip", tmp_path / "t.duckdb")
    assert [path.name for path in tmp_path.iterdir()] == ["x.csv.zip"]


def test_the_name_inside_a_gzip_is_no_path(tmp_path: Path) -> None:
    with open(tmp_path / "x.csv.gz", "wb") as out, gzip.GzipFile("../../escaped.csv", "wb", fileobj=out) as packed:
        packed.write(b"a\n1\n")
    load(tmp_path / "x.csv.gz", tmp_path / "t.duckdb")
    assert not (tmp_path.parent.parent / "escaped.csv").exists()
