"""Docs cannot lag: the reference is what the code says, and every block of the README and the docs is run.

Blocks named `python` run in one namespace a file, in a fresh folder; lines `$ discreet …` in blocks named `console` run
through the command line in the same folder and must end with exit code 0, or with N where the line ends in `# exit N`.
A contract shown in a `yaml` block stands in that folder under its table's name from there on.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from typer.main import get_command

import discreet
from discreet import errors
from discreet.cli.app import app
from discreet.cli.main import main
from tests import reference

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
RUNNABLE = {"python", "console"}
SHOWN = {"text", "yaml", "toml", "sh"}
SETUP = re.compile(r"^(make( \w[\w-]*)?|pip install ['\w\[\]., -]+|git clone .*|cd \w+)( *#.*)?$")


def label(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("name", sorted(reference.PAGES))
def test_reference_is_what_the_code_says(name: str) -> None:
    written = (reference.REFERENCE / name).read_text(encoding="utf-8")
    assert written == reference.page(name), "stale: run `make docs`"


def test_pictures_are_what_the_code_draws() -> None:
    drawn = reference.pictures()
    assert {path.name for path in reference.PICTURES.iterdir()} == set(drawn)
    for name, picture in drawn.items():
        assert (reference.PICTURES / name).read_text(encoding="utf-8") == picture, f"{name} is stale: run `make docs`"


def test_every_error_and_command_is_documented() -> None:
    page = (reference.REFERENCE / "errors.md").read_text()
    assert not [name for name in errors.__all__ if f"`{name}`" not in page]
    commands = (reference.REFERENCE / "commands.md").read_text()
    called = [" ".join(words) for words, _ in reference.walk(get_command(app))]
    assert len(called) >= 8
    assert not [words for words in called if f"## {words}\n" not in commands]


def test_every_environment_variable_that_is_read_is_documented() -> None:
    reads = re.compile(r"""environ(?:\.get\(|\[)\s*["'](\w+)|getenv\(\s*["'](\w+)|envvar=\s*["'](\w+)""")
    sources = (path.read_text() for path in (ROOT / "discreet").rglob("*.py"))
    read = {next(filter(None, found)) for source in sources for found in reads.findall(source)}
    page = (reference.REFERENCE / "settings.md").read_text()
    assert "DISCREET_HEADS" in read
    assert not [name for name in read if f"`{name}`" not in page]


@pytest.mark.parametrize("path", PAGES, ids=label)
def test_blocks_are_of_a_known_kind(path: Path) -> None:
    for kind, body in BLOCK.findall(path.read_text()):
        assert kind in RUNNABLE | SHOWN, kind
        if kind == "sh":
            assert all(SETUP.match(line) for line in body.splitlines() if line.strip()), body


@pytest.mark.parametrize("path", PAGES, ids=label)
def test_contracts_shown_are_contracts(path: Path) -> None:
    for kind, body in BLOCK.findall(path.read_text()):
        if kind == "yaml" and body.startswith("table:"):
            assert discreet.Contract.from_yaml(body).columns


@pytest.mark.parametrize("path", PAGES, ids=label)
def test_blocks_run(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run_blocks(path.read_text(), label(path), tmp_path)


@pytest.mark.slow
def test_the_guide_to_copies_runs_on_the_whole_excerpt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All 27,253 persons, and not the one area that the page runs on."""
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "guides" / "copies.md").read_text()
    area = 'people = [row for row in rows if row["PUMA"] == rows[0]["PUMA"]]\n'
    assert area in page
    run_blocks(page.replace(area, "people = rows\n"), "copies of all", tmp_path)
    assert len((tmp_path / "survey.csv").read_text().splitlines()) == 27_254


def run_blocks(page: str, name: str, folder: Path) -> None:
    """The blocks of a page in their order, in one namespace and one folder."""
    names: dict[str, object] = {}
    for kind, body in BLOCK.findall(page):
        if kind == "yaml" and body.startswith("table:"):
            Path(f"{discreet.Contract.from_yaml(body).table}.yaml").write_text(body)
        if kind == "python":
            exec(compile(body, name, "exec"), names)
        elif kind == "console":
            for line in body.splitlines():
                if line.startswith("$ "):
                    run(line[2:], folder)


def run(line: str, folder: Path) -> None:
    """One command as a person types it; `> FILE` keeps its output."""
    expected = int(found.group(1)) if (found := re.search(r"#\s*exit (\d)", line)) else 0
    words = shlex.split(line, comments=True)
    assert words[0] == "discreet", line
    target = None
    if ">" in words:
        at = words.index(">")
        words, target = words[:at], folder / words[at + 1]
    assert captured(words[1:], target) == expected, line


def captured(words: list[str], target: Path | None) -> int:
    import contextlib
    import io

    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        code = main(words)
    if target is not None:
        target.write_text(out.getvalue())
    return code


@pytest.mark.parametrize("path", PAGES, ids=label)
def test_links_lead_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", path.read_text()):
        if not target.startswith(("http://", "https://")):
            assert (path.parent / target).exists(), target
