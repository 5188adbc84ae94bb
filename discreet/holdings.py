"""What a curator holds: tables that are imported, put under a contract and renewed, and the ledger of their persons."""

from __future__ import annotations

import datetime
import functools
import hashlib
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

from discreet.accounting.keystore import KeyStore
from discreet.accounting.ledger import Ledger
from discreet.accounting.receipt import random_id
from discreet.budget import (
    keep_ledger_at,
    ledger_of,
    open_population,
    population_of,
    require_one_meaning,
    require_same_persons,
    require_server,
)
from discreet.check import Number, positive, probability
from discreet.data.contract import Contract
from discreet.data.engines.rows import arrow_rows
from discreet.data.load import Limits, ReadOptions, load
from discreet.data.record import TableRecord
from discreet.data.seal import Seal, seal
from discreet.data.store import add_steps, describe_store, open_store, without
from discreet.data.table import StoredTable
from discreet.errors import ArgumentError, ContractError
from discreet.folder import Folder
from discreet.randomness import system_bits
from discreet.receipts import ReceiptDesk
from discreet.risk.fit import holds
from discreet.stored_tables import NAME, Origin, StoredTables

__all__ = ["NAME", "Holdings", "Progress", "as_contract", "stem"]

Progress = Callable[[str], None]
_NOWHERE: Origin = (None, None)


class Holdings(StoredTables):
    """The tables of a folder, with their contracts and the ledger of their populations."""

    def __init__(
        self,
        folder: str | Path,
        *,
        heads: str | Path | None = None,
        seconds: float | None = None,
        memory: str | None = None,
    ) -> None:
        """Opens the folder, or makes it. A statement on a table may take so many seconds, the engine memory as "4GB".

        `heads` is where the signed heads of the ledger stand. What is not said here is read from the environment.
        """
        super().__init__(Folder.open_or_create(Path(folder)), seconds=seconds, memory=memory)
        self._heads = None if heads is None else Path(heads)

    @classmethod
    def create(cls, folder: str | Path, *, ledger: str | None = None) -> Self:
        """A new curator in an empty folder; `ledger` names a PostgreSQL database to keep the account of spending in."""
        if ledger is not None:
            require_server(ledger)
        made = Folder.create(Path(folder))
        if ledger is not None:
            keep_ledger_at(made, ledger)
        return cls(made.root)

    @classmethod
    def open(cls, folder: str | Path) -> Self:
        """The curator of a folder that must be there already."""
        return cls(Folder.open(Path(folder)).root)

    @classmethod
    def find(cls, start: str | Path = ".") -> Self:
        """The curator whose folder holds `start`."""
        return cls(Folder.find(Path(start)).root)

    @property
    def keyring(self) -> Path:
        """The file of public keys that receipts are checked with; publish it, and its fingerprint elsewhere."""
        store = KeyStore(self._folder)
        path = self.folder / "signing" / "keyring.json"
        if not path.exists():
            store.create(now=datetime.datetime.now(datetime.UTC))
        return path

    @functools.cached_property
    def ledger(self) -> Ledger:
        """The durable account of what was spent; begun when it is first asked for."""
        return ledger_of(self._folder, heads=self._heads)

    @functools.cached_property
    def desk(self) -> ReceiptDesk:
        """Where receipts of this folder's releases are signed."""
        return ReceiptDesk(self._folder, self.ledger)

    def digest(self, purpose: str, content: bytes) -> bytes:
        """A digest that only this folder makes: of what may be guessed, such as a plan and the version it reads."""
        return hashlib.blake2b(purpose.encode() + b"\0" + content, key=self._key(), digest_size=32).digest()

    def add(
        self,
        source: Any,
        *,
        contract: str | Path | Contract | None = None,
        epsilon: str | Number | None = None,
        delta: str | Number = 0,
        name: str | None = None,
        reason: str = "",
        options: ReadOptions | None = None,
        limits: Limits | None = None,
        progress: Progress | None = None,
    ) -> TableRecord:
        """Import a file or a frame as a new table; its name is the file's stem unless one is given.

        A contract with a budget, or an epsilon given here, opens the account of its population. A second population in
        one folder needs a reason: why these are other persons.
        """
        name = _table_name(source, name)
        agreed = _budgeted(contract, epsilon, delta)
        if agreed is not None and agreed.table != name:
            raise ContractError(
                f"contract of {agreed.table!r}",
                found=f"it was given for the table {name!r}",
                right="a contract names its table",
                step=f"give --name {agreed.table}, or correct the entry `table:`",
            )
        with self._folder.changing():
            self._require_free(name)
            place = self.folder / "tables" / name
            place.mkdir(mode=0o700)
            try:
                steps = {} if agreed is None else agreed.steps()
                reading = options or ReadOptions()
                load(
                    source,
                    place / "1.duckdb",
                    options=reading,
                    steps=steps,
                    limits=limits or Limits(),
                    progress=progress,
                )
                if agreed is not None:
                    self._require_columns(agreed, open_store(place / "1.duckdb"))
                origin = _origin(source, self._key())
                if agreed is not None:
                    self._put_in_force(name, agreed, reason, origin)
                return self._record(name, 1, "1.duckdb", origin, reading)
            except BaseException:
                shutil.rmtree(place, ignore_errors=True)
                raise

    def contract(self, table: str) -> Contract | None:
        """The table's contract, if the keeper gave one."""
        path = self._contract_file(self._known(table))
        return _contract_in(path.read_text(encoding="utf-8"), str(path)) if path.exists() else None

    @property
    def under_contract(self) -> tuple[str, ...]:
        """The names of the tables that have a contract."""
        return tuple(name for name in self.tables if self._contract_file(name).exists())

    def declare(
        self,
        contract: str | Path | Contract,
        *,
        by: str | None = None,
        reason: str | None = None,
        other_persons: str = "",
    ) -> Contract:
        """Put a contract in force for the table it names; a draft needs somebody who stands by it, and why.

        Integer steps of the columns are laid down anew when they changed. A contract that charges another population
        than before needs `other_persons`: why the table's persons are not those of the former one.
        """
        agreed = as_contract(contract)
        if by is not None and reason is not None:
            agreed = agreed.declared(by=by, reason=reason)
        agreed.require_declared()
        table = self._known(agreed.table)
        with self._folder.changing(), self.opened(table) as (_, stored):
            record = self.record(table)
            self._require_columns(agreed, stored)
            # The file itself says which steps it has: a crash may have left it with others than its contract.
            if agreed.steps() != describe_store(self._path(record)).steps:
                file = self._next_file(record)
                add_steps(self._path(record), self.folder / "tables" / table / file, agreed.steps())
                self._record(table, record.version, file, _NOWHERE, record.options, keep=record)
            self._put_in_force(table, agreed, other_persons, (record.source, record.source_seal))
        return agreed

    def has_budget(self, contract: Contract) -> bool:
        """Whether the population that a contract speaks of has an account to charge."""
        return population_of(contract) in {account.key for account in self.ledger.accounts()}

    def refresh(
        self,
        table: str,
        source: Any,
        *,
        options: ReadOptions | None = None,
        limits: Limits | None = None,
        progress: Progress | None = None,
    ) -> TableRecord:
        """Put new content in the place of a table's: its next version. What was spent on its persons stays spent.

        Without options it is read as the last version was.
        """
        self._known(table)
        with self._folder.changing():
            record, agreed = self.record(table), self.contract(table)
            file = self._next_file(record)
            into = self.folder / "tables" / table / file
            steps = {} if agreed is None else agreed.steps()
            options = options or record.options
            load(source, into, options=options, steps=steps, limits=limits or Limits(), progress=progress)
            if agreed is not None:
                try:
                    self._require_columns(agreed, open_store(into))
                except ContractError:
                    into.unlink()
                    raise
            return self._record(table, record.version + 1, file, _origin(source, self._key()), options)

    def forget(self, table: str, person: str) -> TableRecord:
        """Take a person's rows out of a table: its next version. No charge is taken back.

        The same record is written whether or not the person was there. Other tables, the source file and earlier
        releases are not touched.
        """
        agreed = self.contract(table)
        if agreed is None or agreed.unit.person is None:
            raise ContractError(
                f"table {table!r}",
                found="no person column",
                right="rows are a person's only where the contract's unit names their column",
                step="declare a contract with unit: {person: COLUMN, rows: R}",
            )
        with self._folder.changing(), self.opened(table):
            record = self.record(table)
            file = self._next_file(record)
            without(self._path(record), self.folder / "tables" / table / file, agreed.unit.person, person)
            self.ledger.note("person forgotten", {"table": table, "version": record.version + 1})
            return self._record(table, record.version + 1, file, _NOWHERE, record.options, keep=record)

    def rows(self, table: str) -> Any:
        """The rows as an Arrow table, in stored order, without the columns no release may hold. Confidential."""
        agreed = self.contract(table)
        with self.opened(table) as (engine, stored):
            names = stored.names if agreed is None else [name for name in stored.names if name in agreed.released]
            return arrow_rows(engine, stored, names)

    def _contract_file(self, table: str) -> Path:
        return self.folder / "tables" / table / "contract.yaml"

    def _record(
        self,
        name: str,
        version: int,
        file: str,
        origin: Origin,
        options: ReadOptions,
        *,
        keep: TableRecord | None = None,
    ) -> TableRecord:
        source, source_seal = (keep.source, keep.source_seal) if keep else origin
        return self._write_record(
            TableRecord(
                name=name,
                version=version,
                version_id=keep.version_id if keep and keep.version == version else random_id(system_bits()),
                file=file,
                seal=self._sealed(name, file),
                options=options,
                source=source,
                source_seal=source_seal,
            )
        )

    def _put_in_force(self, table: str, contract: Contract, reason: str, origin: Origin) -> None:
        """Open the population's account, then write the contract down."""
        agreed = {name: one for name in self.under_contract if (one := self.contract(name)) is not None}
        require_one_meaning(contract, (one for name, one in agreed.items() if name != table))
        if table in agreed:
            before = [agreed[table].whose]
        else:
            before = [
                one.whose for name, one in agreed.items() if _same_bytes(self.record(name).source_seal, origin[1])
            ]
        require_same_persons(self.ledger, contract, before, reason)
        if contract.budget is not None:
            open_population(self.ledger, contract, reason=reason)
        self._folder.write(Path("tables", table, "contract.yaml"), contract.to_yaml().encode())

    def _require_columns(self, contract: Contract, stored: StoredTable) -> None:
        missing = [column for column in contract.columns if column not in stored.names]
        if missing:
            raise ContractError(
                f"contract of {contract.table!r}",
                found=f"a column {missing[0]!r} that the table does not have",
                right=f"the table has {', '.join(stored.names[:12])}",
                step="correct the contract's columns",
            )
        for name, declared in contract.columns.items():
            if not holds(kept_as := stored.column(name).type, declared.type):
                raise ContractError(
                    f"contract of {contract.table!r}, column {name!r}",
                    found=f"the type {declared.type}, while the table keeps it as {kept_as}",
                    right="a contract's types are those of its table",
                    step=f"correct the type, or the source: see discreet contract draft {contract.table}",
                )


@functools.lru_cache(maxsize=32)
def _contract_in(text: str, where: str) -> Contract:
    """A contract cannot change, and every question reads it: the same text is not understood twice."""
    return Contract.from_yaml(text, where=where)


def _budgeted(
    contract: str | Path | Contract | None, epsilon: str | Number | None, delta: str | Number
) -> Contract | None:
    """The contract with the budget given beside it."""
    agreed = None if contract is None else as_contract(contract)
    if epsilon is None:
        return agreed
    if agreed is None or agreed.budget is not None:
        raise ArgumentError(
            "epsilon",
            found="no contract" if agreed is None else "a contract that has a budget of its own",
            right="a budget belongs to the population a contract names, and is said once",
            step="give a contract" if agreed is None else "leave epsilon out",
        )
    return agreed.with_budget(epsilon=positive("epsilon", epsilon), delta=probability("delta", delta))


def as_contract(contract: str | Path | Contract) -> Contract:
    """The contract, or the one in a file."""
    if isinstance(contract, Contract):
        return contract
    return Contract.read(Path(contract))


def _table_name(source: Any, name: str | None) -> str:
    """The name given, or the stem of the file before its first dot."""
    if name is None and isinstance(source, str | Path):
        name = stem(source)
    if name is None or not NAME.fullmatch(name):
        raise ArgumentError(
            "name",
            found="no name" if name is None else f"{name!r}",
            right="a table's name has letters, digits and _ and does not start with a digit",
            step="give one with --name, such as visits",
        )
    return name


def stem(file: str | Path) -> str:
    """The name of a file before its first dot."""
    return Path(file).name.split(".", 1)[0]


def _same_bytes(one: Seal | None, other: Seal | None) -> bool:
    return one is not None and other is not None and (one.size, one.digest) == (other.size, other.digest)


def _origin(source: Any, key: bytes) -> Origin:
    """Where a table came from, sealed, so that a later change of the file is noticed; a frame has no such place."""
    if not isinstance(source, str | Path):
        return None, None
    path = Path(source).resolve()
    return str(path), seal(path, key)
