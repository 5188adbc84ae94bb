"""A file a person writes: YAML (or JSON, which is YAML) read as plain text, with the line each entry stands on.

Every scalar stays the text it is written as. What it means is decided by the field it is given to, so that a key `no`
is not a boolean, `01` keeps its zero, and `0.1` is one tenth. What a short file has no need of is refused: anchors and
aliases (a few lines of them can stand for more memory than there is), tags, several documents, entries given twice.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

import yaml

from discreet.data.fact import decimal_text
from discreet.errors import ContractError, FileError

__all__ = ["LONGEST", "Document", "Tree", "read_document", "text_of", "write_document"]

Tree: TypeAlias = "str | list[Tree] | dict[str, Tree] | None"
Place: TypeAlias = tuple[str | int, ...]

LONGEST = 8 << 20
_DEEPEST = 16
_NOTHING = ("", "~", "null", "Null", "NULL")
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """What a file says and, for each entry, the line it begins on."""

    where: str
    tree: Tree
    lines: Mapping[Place, int]

    def place(self, path: Place) -> str:
        """The file and, where it is known, the line of an entry or of the nearest one around it."""
        for length in range(len(path), 0, -1):
            if path[:length] in self.lines:
                return f"{self.where}, line {self.lines[path[:length]]}"
        return self.where


def text_of(file: Path) -> str:
    """The text of a file, no more than one sign beyond the longest that is read."""
    try:
        with file.open("rb") as opened:
            return opened.read(LONGEST + 1).decode("utf-8-sig")
    except OSError as error:
        found = error.strerror.lower() if error.strerror else "it cannot be opened"
        raise FileError(file.name, found=found, right="it must be a readable file", step="check the path") from None
    except UnicodeDecodeError:
        raise FileError(
            file.name, found="it is not UTF-8", right="public facts are UTF-8 text", step="save it as UTF-8 text"
        ) from None


def read_document(text: str, *, where: str) -> Document:
    """The one document in a text; anything but plain lists, mappings and scalars is refused."""
    if len(text) > LONGEST:
        _refuse(where, f"{len(text):,} characters", f"at most {LONGEST:,} are read", "keep public facts only, no data")
    reader = _Reader(where)
    try:
        for event in yaml.parse(text, Loader=_Loader):
            reader.take(event)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f"{where}, line {mark.line + 1}" if mark else where
        _refuse(line, "this is not YAML", "entries are `name: value`, lists are [a, b]", "check quotes and indentation")
    except (yaml.YAMLError, UnicodeError):
        _refuse(where, "characters that YAML does not allow", "the file is plain UTF-8 text", "save it as UTF-8 text")
    return Document(where=where, tree=reader.tree, lines=reader.lines)


class _Reader:
    """Builds the tree event by event, so that depth and repetition are seen before they cost anything."""

    def __init__(self, where: str) -> None:
        self.where = where
        self.tree: Tree = None
        self.lines: dict[Place, int] = {}
        self._open: list[list[Tree] | dict[str, Tree]] = []
        self._path: list[str | int] = []
        self._name: list[str | None] = []
        self._documents = 0

    def take(self, event: yaml.Event) -> None:
        if isinstance(event, yaml.DocumentStartEvent):
            self._documents += 1
            if self._documents > 1:
                self._refuse(event, "a second document", "a file holds one", "split it at the line ---")
        elif isinstance(event, yaml.NodeEvent):
            self._take_node(event)
        elif isinstance(event, yaml.CollectionEndEvent):
            self._open.pop()
            self._path.pop()
            self._name.pop()

    def _take_node(self, event: yaml.NodeEvent) -> None:
        if isinstance(event, yaml.AliasEvent) or event.anchor is not None:
            self._refuse(event, "an anchor or alias (& or *)", "each fact is written out", "repeat the entry instead")
        if getattr(event, "tag", None) not in (None, "!"):
            self._refuse(event, "a tag (!)", "values are plain text and numbers", "remove the tag")
        if isinstance(event, yaml.ScalarEvent):
            plain = not event.style
            self._place(event, None if plain and event.value in _NOTHING else event.value)
            return
        if len(self._open) >= _DEEPEST:
            self._refuse(event, f"more than {_DEEPEST} levels", "a contract needs five", "flatten it")
        collection: list[Tree] | dict[str, Tree] = [] if isinstance(event, yaml.SequenceStartEvent) else {}
        self._place(event, collection)
        self._open.append(collection)
        self._name.append(None)

    def _place(self, event: yaml.NodeEvent, value: Tree) -> None:
        """Put a value where it belongs; a scalar in a mapping is by turns a name and its value."""
        nested = not isinstance(value, str | None)
        if not self._open:
            self.tree = value
            if nested:
                self._path.append("")
            return
        into, name = self._open[-1], self._name[-1]
        if isinstance(into, list):
            self._note(event, len(into), nested)
            into.append(value)
        elif name is not None:
            self._note(event, name, nested)
            into[name] = value
            self._name[-1] = None
        elif not isinstance(value, str):
            self._refuse(event, "an entry without a plain name", "an entry is `name: value`", "quote the name")
        elif value in into:
            self._refuse(event, f"{value[:60]!r} is given twice", "each entry stands once", "remove one of the two")
        else:
            self._name[-1] = value

    def _note(self, event: yaml.NodeEvent, step: str | int, nested: bool) -> None:
        self.lines[(*self._path[1:], step)] = _line(event)
        if nested:
            self._path.append(step)

    def _refuse(self, event: yaml.Event, found: str, right: str, step: str) -> NoReturn:
        _refuse(f"{self.where}, line {_line(event)}", found, right, step)


def _line(event: yaml.Event) -> int:
    return event.start_mark.line + 1 if event.start_mark else 1


def _refuse(where: str, found: str, right: str, step: str) -> NoReturn:
    raise ContractError(where, found=found, right=right, step=step)


def write_document(entries: Mapping[str, Any]) -> str:
    """YAML with one entry to a line and what lies deeper in braces; read_document reads it back."""
    return yaml.dump(entries, Dumper=_Dumper, sort_keys=False, allow_unicode=True, default_flow_style=False, width=120)


class _Dumper(yaml.SafeDumper):
    """Fractions as decimals where they have one; entries of entries in braces, on one line where it fits."""

    def ignore_aliases(self, _data: Any) -> bool:
        return True

    def represent_mapping(self, tag: str, mapping: Any, flow_style: bool | None = None) -> yaml.MappingNode:
        node = super().represent_mapping(tag, mapping, flow_style)
        node.flow_style = not any(isinstance(value, yaml.MappingNode) or _is_block(value) for _, value in node.value)
        return node

    def represent_sequence(self, tag: str, sequence: Any, flow_style: bool | None = None) -> yaml.SequenceNode:
        node = super().represent_sequence(tag, sequence, flow_style)
        node.flow_style = all(isinstance(item, yaml.ScalarNode) for item in node.value)
        return node


def _is_block(node: yaml.Node) -> bool:
    return isinstance(node, yaml.CollectionNode) and not node.flow_style


def _number(dumper: yaml.SafeDumper, number: Fraction) -> yaml.ScalarNode:
    text = decimal_text(number)
    kind = "int" if number.denominator == 1 else "str" if "/" in text else "float"
    return dumper.represent_scalar(f"tag:yaml.org,2002:{kind}", text)


def _moment(dumper: yaml.SafeDumper, moment: datetime.datetime) -> yaml.ScalarNode:
    return dumper.represent_str(moment.isoformat(timespec="seconds"))


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    """Only double quotes keep every line break and control character as it is."""
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=None if text.isprintable() else '"')


_Dumper.add_representer(Fraction, _number)
_Dumper.add_representer(str, _text)
_Dumper.add_representer(datetime.datetime, _moment)
