"""The shell that `discreet ask` opens on a terminal: SQL over several lines, and what it costs before it is charged.

What is typed is kept in a file that only its owner may read, since a question can be confidential too: by default
discreet/history in the user's state folder. DISCREET_HISTORY names another file, or is "off".
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import AnyFormattedText
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.validation import ValidationError, Validator

from discreet.asking import Batch
from discreet.cli.asking import show_answers, show_estimate
from discreet.cli.completion import PublicNames
from discreet.cli.render import progress, say, show_grids, show_text
from discreet.cli.statements import ends, statements
from discreet.curator import Curator
from discreet.environment import state_folder
from discreet.errors import ArgumentError, DiscreetError, FileError, UnknownNameError
from discreet.evaluation.books import accounts_grid
from discreet.query.answer import Answer
from discreet.query.export import require_saveable
from discreet.query.public import columns_grid

__all__ = ["Settings", "Shell", "history_file", "open_shell"]

_MODES = ("run", "dummy", "estimate", "explain")
_BUDGET = ("epsilon", "delta", "rho", "analyst", "project", "above", "error", "rows", "clip")
_PROMPT, _MORE = "discreet> ", "     ...> "
_HELP = """\
SELECT …;             asks; it may take several lines, and ends with a semicolon
SELECT …; SELECT …;   asks several together, for one charge
.epsilon E            what a question spends (.delta, .rho, .above, .analyst and .project likewise; off takes it back)
.clip quantile        sums and means are cut off at a released quantile, for wide bounds (.clip off ends it)
.error W              instead of .epsilon: the least that makes every ± at most W (.rows N supposes N rows in a cell)
.dummy                from now on invented numbers, free        .estimate   cost and errors to expect, free
.explain              every way to measure, free                .run        answers, charged (as at the start)
.tables               the tables under a contract               .columns T  what is public of a table's columns
.budget               what is left, and what a question spends  .yes on     do not ask before each charge (.yes off)
.save FILE            write the last answer: its ending says how (csv, parquet, json, html, ipynb, py, yaml, receipt)
.help                 this                                      .quit       leave; Ctrl-D does it too"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What each question spends, who pays, and what becomes of it. `yes` charges without asking."""

    epsilon: str | None = None
    delta: str | None = None
    rho: str | None = None
    analyst: str | None = None
    project: str | None = None
    above: str | None = None
    error: str | None = None
    rows: str | None = None
    clip: str | None = None
    mode: str = "run"
    form: str = ""
    yes: bool = False

    @property
    def budget(self) -> dict[str, str | None]:
        """What a question may spend, and who pays."""
        return {name: getattr(self, name) for name in _BUDGET}

    def sentence(self) -> str:
        """In words."""
        told = ", ".join(f"{name} {value}" for name, value in self.budget.items() if value is not None)
        return f"A question spends {told}." if told else "No budget for a question is set: give .epsilon 0.5 first."


@dataclass(slots=True, kw_only=True)
class Shell:
    """One shell. `agrees` asks the person y or n."""

    held: Curator
    settings: Settings
    agrees: Callable[[str], bool]
    answers: tuple[Answer, ...] = field(default=())

    def take(self, text: str) -> bool:
        """Do what was typed; False ends the shell. What Discreet refuses is one line, and the shell goes on."""
        words = text.strip().rstrip(";").split()
        if not words:
            return True
        try:
            if words[0].startswith(".") or (len(words) == 1 and f".{words[0].lower()}" in (".quit", ".exit", ".help")):
                return self._command(words[0].lower().lstrip("."), words[1:])
            self._ask(text)
        except DiscreetError as error:
            say(str(error))
        return True

    def _command(self, name: str, words: list[str]) -> bool:
        if name in ("quit", "exit"):
            return False
        if name in _BUDGET:
            self._budgeted(name, words)
        elif name in _MODES and not words:
            self.settings = replace(self.settings, mode=name)
            say(f"Questions now: {name}{'' if name == 'run' else ', free'}.")
        elif name in _COMMANDS:
            _COMMANDS[name](self, words)
        else:
            listed = ", ".join(f".{one}" for one in (*_COMMANDS, *_BUDGET, *_MODES, "quit"))
            raise UnknownNameError(
                f"command .{name}", found="no such command, or too many words", right=f"there is {listed}", step=".help"
            )
        return True

    def _budgeted(self, name: str, words: list[str]) -> None:
        if len(words) > 1:
            raise ArgumentError(f".{name}", found=f"{len(words)} words", right="one value", step=f"write .{name} VALUE")
        if words:
            value = None if words[0] == "off" else words[0]
            self.settings = replace(self.settings, **{name: value})  # type: ignore[arg-type]  # it is one of these
        say(self.settings.sentence())

    def _ask(self, text: str) -> None:
        settings = self.settings
        batch = self.held.ask(*statements(text), **settings.budget)
        if settings.mode in ("estimate", "explain"):
            show_estimate(batch, every=settings.mode == "explain", form=settings.form)
            return
        if settings.mode == "dummy":
            self.answers = batch.dummies()
        elif self._agreed(batch):
            with progress("Asking"):
                self.answers = batch.run()
        else:
            say("Nothing was asked and nothing was charged.")
            return
        show_answers(self.answers, form=settings.form)

    def _agreed(self, batch: Batch) -> bool:
        """Whether the charge is wanted; what would be refused is left to the ledger to refuse."""
        found = batch.estimate()
        for line in found.costs():
            say(line)
        return self.settings.yes or found.paid_before or not found.fits or self.agrees("Ask? [y/N] ")

    def _tables(self, _: list[str]) -> None:
        names = [name for name in self.held.tables if self.held.contract(name) is not None]
        show_text(
            "\n".join(names) if names else "There is no table under a contract: discreet add FILE --contract FILE"
        )

    def _columns(self, words: list[str]) -> None:
        named = [name for name in self.held.tables if self.held.contract(name) is not None]
        if not words and len(named) == 1:
            words = named
        if len(words) != 1:
            raise ArgumentError(".columns", found=f"{len(words)} names", right="one table", step="write .columns TABLE")
        agreed = self.held.contract(words[0])
        if agreed is None:
            raise UnknownNameError(
                f"table {words[0]!r}", found="no contract", right=f"there is {', '.join(named)}", step=".tables"
            )
        show_grids([columns_grid(agreed)])

    def _left(self, _: list[str]) -> None:
        show_grids([accounts_grid(self.held.ledger.accounts())])
        say(self.settings.sentence())

    def _yes(self, words: list[str]) -> None:
        if words not in (["on"], ["off"]):
            raise ArgumentError(".yes", found=" ".join(words)[:20] or "nothing", right="on or off", step=".yes on")
        self.settings = replace(self.settings, yes=words == ["on"])
        say("Charges without asking." if self.settings.yes else "Asks before each charge.")

    def _save(self, words: list[str]) -> None:
        if len(words) != 1 or not self.answers:
            raise ArgumentError(
                ".save",
                found="no answer yet" if len(words) == 1 else f"{len(words)} names",
                right="it writes the last answer into one file",
                step="write .save answer.csv after a question",
            )
        into = Path(words[0])
        require_saveable(into)
        say(f"Saved: {self.answers[-1].save(into)}")

    def _help(self, _: list[str]) -> None:
        show_text(_HELP)


_COMMANDS: Mapping[str, Callable[[Shell, list[str]], None]] = {
    "tables": Shell._tables,
    "columns": Shell._columns,
    "budget": Shell._left,
    "yes": Shell._yes,
    "save": Shell._save,
    "help": Shell._help,
}


def open_shell(held: Curator, settings: Settings) -> None:
    """Prompt until Ctrl-D or .quit."""
    names = [f".{name}" for name in (*_COMMANDS, *_BUDGET, *_MODES, "quit")]
    session: PromptSession[str] = PromptSession(
        history=_history(),
        completer=PublicNames(held, names),
        complete_while_typing=False,
        multiline=True,
        key_bindings=_keys(),
        prompt_continuation=_more,
    )
    answers: PromptSession[str] = PromptSession(history=InMemoryHistory(), validator=_YesOrNo())

    def agrees(question: str) -> bool:
        try:
            return answers.prompt(question).strip().lower() in ("y", "yes")
        except (EOFError, KeyboardInterrupt):
            return False

    shell = Shell(held=held, settings=settings, agrees=agrees)
    say(f"SQL ends with a semicolon; .help says the rest. {settings.sentence()}")
    while True:
        try:
            text = session.prompt(_PROMPT)
        except KeyboardInterrupt:
            continue  # what was half typed is dropped
        except EOFError:
            return
        if not shell.take(text):
            return


def history_file() -> Path | None:
    """Where what is typed is kept; None where nothing is."""
    named = os.environ.get("DISCREET_HISTORY")
    if named is not None:
        return None if named.strip().lower() in ("", "0", "off", "no") else Path(named).expanduser()
    return state_folder() / "history"


def _history() -> History:
    """The file, its owner's only, or one that is forgotten."""
    path = history_file()
    if path is None:
        return InMemoryHistory()
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600))
        path.chmod(0o600)  # it may have been there, open to others
    except OSError as error:
        raise FileError(
            str(path),
            found=(error.strerror or "it cannot be written").lower(),
            right="what is typed in the shell is kept in a file of your own",
            step="name another with DISCREET_HISTORY, or set it to off",
        ) from None
    return FileHistory(str(path))


def _keys() -> KeyBindings:
    """Enter ends what is finished: a command of one line, or SQL with its semicolon; else it begins a new line."""
    bindings = KeyBindings()

    @bindings.add("enter")
    def _(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if _finished(buffer.text):
            buffer.validate_and_handle()
        else:
            buffer.newline(copy_margin=False)

    return bindings


def _finished(text: str) -> bool:
    stripped = text.strip()
    return not stripped or stripped.startswith(".") or stripped.lower() in ("quit", "exit", "help") or ends(text)


def _more(_width: int, _line: int, _wrapped: int) -> AnyFormattedText:
    return _MORE


class _YesOrNo(Validator):
    """y, n, or nothing for n."""

    def validate(self, document: Document) -> None:
        """Refuse anything else, so that a question typed too early is not taken for a no."""
        if document.text.strip().lower() not in ("", "y", "yes", "n", "no"):
            raise ValidationError(message="y or n")
