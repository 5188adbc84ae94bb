"""Tables a curator protects the classical way: measured, kept under its releases, published with a note.

1. The steps run on the rows of a table; direct identifiers and hidden columns of its contract are left out first.
2. `releases/TABLE-protected-N/` gets the records, the plan with its hierarchies, the report, which rows of the table
   they are (it judges attacks, and never leaves), and last the record.
3. Publishing first notes in the ledger, of the table's population, what leaves outside the guarantee; every later
   receipt names it. Only then is the file written, with its records in a fresh order.

Given:   a table of the curator, which is only read.
Promise: no file leaves by `publish_protected` before its note stands in the ledger; the table stays as it is.
Because: the note is committed first, and rows are read from an immutable file.
Tested:  test_publishing_notes_it_before_a_file_is_written, test_the_table_is_never_changed.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.accounting.outside import OUTSIDE, outside_note
from discreet.anonymize.audit import Audit, audit
from discreet.anonymize.cellkey import Chances, named_keys, perturb_counts
from discreet.anonymize.cells import Pattern, suppress_cells
from discreet.anonymize.crosstable import tabulate
from discreet.anonymize.hierarchy import Hierarchy, read_hierarchies
from discreet.anonymize.plan import Plan, Protection, Step
from discreet.anonymize.records import Records
from discreet.anonymize.report import Effect, measure_effect
from discreet.anonymize.rounding import round_table
from discreet.check import known, one_of
from discreet.data.column import Role
from discreet.draw.grid import Grid
from discreet.errors import FileError
from discreet.folder import Folder
from discreet.holdings import Holdings
from discreet.randomness import keyed_generator
from discreet.risk.dominance import parse_rule

__all__ = [
    "KeptProtected",
    "Protected",
    "ProtectedTable",
    "change_cells",
    "held_protected",
    "kept_protected",
    "protect",
    "protect_cells",
    "publish_protected",
    "round_cells",
]

_NAME = re.compile(r"(?P<table>[A-Za-z_][A-Za-z0-9_]{0,62})-protected-(?P<number>[1-9][0-9]{0,8})")
_FORMS = ("csv", "parquet")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Protected:
    """A protected table that a curator keeps: the name of its release, the steps, and their effect."""

    release: str
    folder: Path
    protection: Protection
    effect: Effect

    def __repr__(self) -> str:
        return f"<{self.release}: {self.protection.records.rows} protected records>"

    @property
    def frame(self) -> dict[str, list[Any]]:
        """The records to be published, as a dict of lists."""
        return self.protection.records.as_lists()


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class KeptProtected:
    """A protected table as it lies in the folder: its records, which rows of the table they are, its hierarchies."""

    table: str
    version: int
    frame: Mapping[str, Sequence[Any]]
    rows: tuple[int, ...] | None
    hierarchies: Mapping[str, Hierarchy]

    def __repr__(self) -> str:
        return f"<confidential: protected records of {self.table}>"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtectedTable:
    """A table of totals with its holes, and what the audit found."""

    pattern: Pattern
    audit: Audit


def protect(
    holdings: Holdings,
    table: str,
    plan: str | Path | Plan | Sequence[Mapping[str, Mapping[str, Any]]],
    *,
    hierarchies: str | Path | Mapping[str, Hierarchy] | None = None,
    quasi: Sequence[str] = (),
) -> Protected:
    """Run a plan (a file, or steps such as {"suppress": {"quasi": ["age"], "k": 3}}) on a table; keep what it makes."""
    contract, version = holdings.contract(table), holdings.record(table).version
    hidden = () if contract is None else (*contract.with_role(Role.DIRECT_IDENTIFIER), *contract.with_role(Role.HIDDEN))
    with holdings.opened(table) as (engine, stored):
        records = Records.read(engine, stored, [name for name in stored.names if name not in hidden])
    begun = Protection.begin(records, table=table, hierarchies=_trees(hierarchies, records.names))
    made = begun.run(_plan(table, plan))
    effect = measure_effect(made, quasi)
    return _keep(holdings, table, version, made, effect)


def held_protected(holdings: Holdings) -> tuple[str, ...]:
    """The names of the protected tables a curator keeps."""
    return tuple(sorted(path.parent.name for path in holdings.folder.glob("releases/*-protected-*/record.json")))


def kept_protected(holdings: Holdings, release: str) -> KeptProtected:
    """The records of a protected table, and which rows of which table they are."""
    known("release", release, held_protected(holdings), step="discreet protect TABLE makes one")
    place = holdings.folder / "releases" / release
    record = Folder.open(holdings.folder).read_record(Path("releases", release, "record.json"))
    import pyarrow.parquet

    rows = place / "rows.json"
    return KeptProtected(
        table=str(record["table"]),
        version=int(record["version"]),
        frame=pyarrow.parquet.read_table(place / "table.parquet").to_pydict(),
        rows=tuple(json.loads(rows.read_text())) if rows.exists() else None,
        hierarchies=Plan.read(place / "plan.yaml").hierarchies,
    )


def publish_protected(holdings: Holdings, release: str, into: str | Path) -> Path:
    """Note in the ledger that a protected table is published, then write it: into a .csv or a .parquet file."""
    known("release", release, held_protected(holdings), step="discreet protect TABLE makes one")
    record = Folder.open(holdings.folder).read_record(Path("releases", release, "record.json"))
    target = Path(into)
    one_of("form of the file", target.suffix.removeprefix("."), _FORMS)
    contract = holdings.contract(record["table"])
    population = record["table"] if contract is None else contract.whose
    content = _shuffled((holdings.folder / "releases" / release / "table.parquet").read_bytes(), target.suffix)
    holdings.ledger.note(OUTSIDE, outside_note(population, f"protected records of {record['table']}, {release}"))
    try:
        target.write_bytes(content)
    except OSError as error:
        reason = (error.strerror or "it cannot be written").lower()
        raise FileError(str(target), found=reason, right="a place you may write to", step="name another") from None
    return target


def protect_cells(
    records: Records,
    rules: Sequence[str],
    *,
    by: Sequence[str] = (),
    value: str | None = None,
    holder: str | None = None,
    hierarchies: str | Path | Mapping[str, Hierarchy] | None = None,
    cost: str = "log",
) -> ProtectedTable:
    """Totals of contributions with the cells left out that rules such as "p:10" find, and those that protect them.

    Without `by`, all columns but the value and the holder span the table.
    """
    read = [parse_rule(rule) for rule in rules]
    names = tuple(by) or tuple(name for name in records.names if name not in (value, holder))
    trees = _trees(hierarchies, names)
    table = tabulate(records, names, value=value, holder=holder, hierarchies=trees, rules=read)
    pattern = suppress_cells(table, read, cost=cost)
    return ProtectedTable(pattern=pattern, audit=audit(table, pattern.hidden, pattern.needed))


def round_cells(
    records: Records,
    base: float,
    *,
    by: Sequence[str] = (),
    value: str | None = None,
    hierarchies: str | Path | Mapping[str, Hierarchy] | None = None,
) -> Grid:
    """Totals of contributions, every one a multiple of the base, that still add up."""
    names = tuple(by) or tuple(name for name in records.names if name != value)
    table = tabulate(records, names, value=value, hierarchies=_trees(hierarchies, names))
    return table.grid(f"The table, rounded to multiples of {base:g}", values=round_table(table, base).values)


def change_cells(
    records: Records,
    identity: str,
    secret: bytes,
    *,
    by: Sequence[str] = (),
    changes: Chances = Chances(),  # noqa: B008  a frozen value
    hierarchies: str | Path | Mapping[str, Hierarchy] | None = None,
) -> Grid:
    """Counts, each changed a little by cell keys: alike wherever the same records, named by a column, are counted."""
    names = tuple(by) or tuple(name for name in records.names if name != identity)
    keys = named_keys(records.column(identity), secret)
    table, published = perturb_counts(records, names, keys, chances=changes, hierarchies=_trees(hierarchies, names))
    return table.grid("The table, with changed counts", values=published)


def _plan(table: str, plan: str | Path | Plan | Sequence[Mapping[str, Mapping[str, Any]]]) -> Plan:
    if isinstance(plan, Plan):
        return plan
    if isinstance(plan, str | Path):
        return Plan.read(Path(plan))
    steps = [Step(verb, arguments) for entry in plan for verb, arguments in entry.items()]
    return Plan(table=table, steps=tuple(steps))


def _trees(given: str | Path | Mapping[str, Hierarchy] | None, columns: Sequence[str]) -> Mapping[str, Hierarchy]:
    if given is None:
        return {}
    return read_hierarchies(Path(given), columns) if isinstance(given, str | Path) else given


def _keep(holdings: Holdings, table: str, version: int, made: Protection, effect: Effect) -> Protected:
    """Write records, plan and report and, last, the record that says they are whole."""
    folder = Folder.open(holdings.folder)
    content = made.records.as_parquet()
    with folder.changing():
        names = (path.name for path in holdings.folder.glob(f"releases/{table}-protected-*"))
        found = [match for name in names if (match := _NAME.fullmatch(name))]
        release = f"{table}-protected-{max((int(one['number']) for one in found), default=0) + 1}"
        place = Path("releases", release)
        folder.write(place / "table.parquet", content)
        for path, content in made.plan.files().items():
            folder.write(place / path, content)
        folder.write(place / "report.json", json.dumps(effect.as_json(), indent=2).encode())
        folder.write(place / "rows.json", json.dumps(made.rows.tolist()).encode())
        folder.write_record(
            place / "record.json",
            {"what": "measured risk", "table": table, "version": version, "steps": len(made.plan.steps)},
        )
    return Protected(release=release, folder=holdings.folder / place, protection=made, effect=effect)


def _shuffled(content: bytes, ending: str) -> bytes:
    """The records of a Parquet file in a fresh order, as CSV or Parquet: the order of the table would tell who is who.

    Tested: test_published_records_stand_in_another_order
    """
    import pyarrow.csv
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(io.BytesIO(content))
    table = table.take(keyed_generator().permutation(table.num_rows))
    buffer = io.BytesIO()
    if ending == ".csv":
        pyarrow.csv.write_csv(table, buffer)
    else:
        pyarrow.parquet.write_table(table, buffer)
    return buffer.getvalue()
