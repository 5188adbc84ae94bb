"""Attacks on what a curator is about to publish, or has published: every attack that the release's kind allows.

* Published tables (a YAML file): reconstruction.
* Records (the curator's copies and protected tables by their name, or a file): joining by the known columns, where it
  is known whose each row is; where a control is given also membership, singling out, linkability and inference, or,
  where cells are generalised, membership and inference by the records that cover a person; where there are several
  releases and a secret, their composition.

The table the release was made from judges the guesses. It takes no part in making them. Nothing of this is for
publication.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from discreet.anonymize.hierarchy import Hierarchy, read_hierarchies
from discreet.anonymize.records import Records
from discreet.attacks.cell import meanings
from discreet.attacks.composition import compose_many
from discreet.attacks.condition import Value
from discreet.attacks.cover import Meanings, coarsened, not_understood
from discreet.attacks.finding import Finding
from discreet.attacks.generalised import attack_generalised
from discreet.attacks.joining import link_tables, stands_in_order
from discreet.attacks.membership import attack_microdata
from discreet.attacks.reconstruction.reading import read_publication
from discreet.attacks.reconstruction.result import reconstruct
from discreet.check import known as known_name
from discreet.copying import held_copies, made_copies
from discreet.data.aligned import as_lists
from discreet.data.column import Role
from discreet.errors import ArgumentError
from discreet.holdings import Holdings, Progress
from discreet.protecting import held_protected, kept_protected
from discreet.randomness import keyed_generator

__all__ = ["Attacked", "Known", "attack_release", "records_in", "records_of_file"]

_TARGETS = 1000
_ROWS_AT_MOST = 200_000
_TABLES = (".yaml", ".yml")
Lists = Mapping[str, Sequence[Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What intruders know of a person, and what they want to know; how many guesses are made.

    Without columns, those that the table's contract calls quasi-identifiers, else all. `hierarchies` is a folder that
    says what the names of groups in a release stand for; those of protected tables are known without it.
    """

    columns: tuple[str, ...] = ()
    secret: str | None = None
    guesses: int = 500
    hierarchies: str | Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Attacked:
    """What each attack found, and which could not be made."""

    findings: tuple[tuple[str, Finding], ...]
    left_out: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Released:
    """One release of records: its rows, of copies those of the first, and everything an intruder sees of it."""

    name: str
    table: str | None
    version: int | None
    first: Lists
    all_rows: Lists
    rows: tuple[int, ...] | None = None
    meanings: Meanings = field(default_factory=dict)

    def places(self, people: int, version: int) -> tuple[int, ...] | None:
        """Each person's row in it, −1 where she has none; None where nobody knows."""
        if self.version not in (None, version):
            return None
        if self.rows is not None:
            place = {row: at for at, row in enumerate(self.rows)}
            return tuple(place.get(person, -1) for person in range(people))
        return tuple(range(people)) if _length(self.first) == people else None


def attack_release(
    holdings: Holdings,
    releases: Sequence[str | Path],
    *,
    table: str | None = None,
    control: str | Path | None = None,
    known: Known,
    progress: Progress | None = None,
) -> Attacked:
    """Run all attacks that fit these releases."""
    if not releases:
        raise ArgumentError("release", found="none", right="there is at least one", step="name a file or copies")
    findings: list[tuple[str, Finding]] = []
    left_out: list[str] = []
    for release in releases:
        if Path(release).suffix in _TABLES:
            found = reconstruct(read_publication(release), progress=progress)
            findings.append((f"reconstruction of {Path(release).name}", found))
    records = [one for one in releases if Path(one).suffix not in _TABLES]
    if records:
        released = [_read(holdings, one, known.hierarchies) for one in records]
        judge = _table_of(released, table)
        version = holdings.record(judge).version
        original = records_in(holdings, judge)
        agreed = holdings.contract(judge)
        if not known.columns and agreed is not None:
            known = replace(known, columns=agreed.with_role(Role.QUASI_IDENTIFIER))
        _attack_records(released, original, version, control, known, findings, left_out, progress)
    return Attacked(findings=tuple(findings), left_out=tuple(left_out))


def records_in(holdings: Holdings, table: str) -> dict[str, list[Any]]:
    """The rows of a table of the curator, column by column. Confidential."""
    with holdings.opened(table) as (engine, stored):
        return Records.read(engine, stored).as_lists()


def records_of_file(file: str | Path) -> dict[str, list[Any]]:
    """The rows of a file of any format that can be imported. The copy made of it is gone when this returns."""
    with tempfile.TemporaryDirectory(prefix="discreet-") as place:
        held = Holdings.create(place)
        held.add(file, name="release")
        return records_in(held, "release")


def _attack_records(
    released: Sequence[_Released],
    original: Lists,
    version: int,
    control: str | Path | None,
    known: Known,
    findings: list[tuple[str, Finding]],
    left_out: list[str],
    progress: Progress | None,
) -> None:
    others = None if control is None else records_of_file(control)
    for one in released:
        shared = known.columns or tuple(name for name in original if name in one.first and name != known.secret)
        unread = not_understood(one.first, original, shared, one.meanings)
        left_out += [f"column {name} of {one.name}: it is not known what its groups stand for" for name in unread]
        shared = tuple(name for name in shared if name not in unread)
        if not shared:
            continue
        _link(one, original, version, shared, findings, left_out)
        if others is None:
            left_out.append(f"membership, singling out, linkability and inference of {one.name}: no control was given")
        else:
            findings.append(_judged(one, original, others, shared, bool(unread), known, progress))
    if len(released) > 1 and known.secret is not None and known.columns:
        findings.append(("composition", _composed(released, original, known)))
    elif len(released) > 1:
        left_out.append("composition: it needs the known columns and the secret one")


def _link(
    one: _Released,
    original: Lists,
    version: int,
    shared: Sequence[str],
    findings: list[tuple[str, Finding]],
    left_out: list[str],
) -> None:
    """Join people to a release, where it is known whose each row is."""
    places = one.places(_length(original), version)
    if places is None:
        left_out.append(f"linkage of {one.name}: its rows are not those of the table")
        return
    joined = link_tables(
        original,
        one.first,
        shared,
        places=places,
        meanings=one.meanings,
        targets=_TARGETS,
        generator=keyed_generator(),
    )
    common = [name for name in original if name in one.first]
    unread = not_understood(one.first, original, common, one.meanings)
    readable = [name for name in common if name not in unread]
    ordered = one.version is not None or stands_in_order(original, one.first, readable, meanings=one.meanings)
    if not ordered and (joined.single or joined.picked):
        left_out.append(
            f"linkage of {one.name}: its rows do not stand in the table's order, so that nobody can judge its matches "
            f"({joined.single} of {joined.alone.tries} people fit a single record); a protected table by its name "
            "brings its order"
        )
        return
    findings.append((f"linkage of {one.name}", joined))


def _judged(
    one: _Released,
    original: Lists,
    others: Lists,
    shared: Sequence[str],
    unread: bool,
    known: Known,
    progress: Progress | None,
) -> tuple[str, Finding]:
    """The attacks that are judged on a control: by nearest records, or by those that cover a person."""
    generator = keyed_generator()
    if unread or coarsened(one.first, original, shared, one.meanings):
        covered = attack_generalised(
            one.first,
            original,
            others,
            shared,
            secret=known.secret,
            meanings=one.meanings,
            guesses=known.guesses,
            generator=generator,
        )
        return f"generalised records of {one.name}", covered
    found = attack_microdata(
        one.all_rows,
        original,
        others,
        secret=known.secret,
        guesses=known.guesses,
        generator=generator,
        progress=progress,
    )
    return f"released records of {one.name}", found


def _composed(released: Sequence[_Released], original: Lists, known: Known) -> Finding:
    secret = known.secret or ""
    places = keyed_generator().permutation(_length(original))[:_TARGETS]
    targets: list[Mapping[str, Value]] = [{name: original[name][at] for name in known.columns} for at in places]
    truth = [str(original[secret][at]) for at in places]
    spoken = [one.meanings for one in released]
    return compose_many([one.first for one in released], targets, secret, truth=truth, meanings=spoken)


def _read(holdings: Holdings, release: str | Path, hierarchies: str | Path | None) -> _Released:
    name = str(release)
    if name in held_copies(holdings):
        copies = made_copies(holdings, name)
        frames = [as_lists(frame) for frame in copies.frames]
        few = frames[: max(1, _ROWS_AT_MOST // max(_length(frames[0]), 1))]
        stacked = {column: [value for frame in few for value in frame[column]] for column in frames[0]}
        return _Released(name=name, table=copies.table, version=copies.version, first=frames[0], all_rows=stacked)
    if name in held_protected(holdings):
        kept = kept_protected(holdings, name)
        return _Released(
            name=name,
            table=kept.table,
            version=kept.version,
            first=kept.frame,
            all_rows=kept.frame,
            rows=kept.rows,
            meanings=_meanings(kept.hierarchies),
        )
    if not Path(release).suffix and not Path(release).exists():
        releases = (*held_copies(holdings), *held_protected(holdings))
        known_name("release", name, releases, step="name one of these, or a file with its ending")
    rows = records_of_file(release)
    trees = {} if hierarchies is None else read_hierarchies(Path(hierarchies), rows)
    return _Released(
        name=Path(release).name, table=None, version=None, first=rows, all_rows=rows, meanings=_meanings(trees)
    )


def _meanings(hierarchies: Mapping[str, Hierarchy]) -> Meanings:
    return {name: meanings(tree.rows) for name, tree in hierarchies.items()}


def _table_of(released: Sequence[_Released], table: str | None) -> str:
    if table is not None:
        return table
    tables = {one.table for one in released if one.table is not None}
    if len(tables) != 1:
        raise ArgumentError(
            "table",
            found="no table to judge by",
            right="a file of records is judged by the table it was made from",
            step="give --table NAME",
        )
    return tables.pop()


def _length(table: Lists) -> int:
    return len(next(iter(table.values())))
