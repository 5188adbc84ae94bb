"""The trusted curator: a folder with tables, contracts and releases, and the verbs that act on them.

Python, the command line and the server all speak to this one object. What it returns to the keeper about a table
(assessments, drafts, checks) is raw: for the keeper's eyes, not for publication.
"""

from __future__ import annotations

import contextlib
import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from discreet.anonymize.records import Records
from discreet.asking import Batch, Budget, Query, ask, find_bounds, replay
from discreet.attacking import Attacked, Known, attack_release
from discreet.copying import (
    Exported,
    GivenMasks,
    HeldCopies,
    Masking,
    Settings,
    Tuned,
    Wishes,
    made_copies,
    make_copies,
    publish_copies,
    tune_copies,
)
from discreet.data.column import Role
from discreet.data.contract import Contract
from discreet.data.draft import draft
from discreet.data.formats.conversion import Conversion
from discreet.data.formats.exchange import read_as, write_as
from discreet.data.load import Limits, ReadOptions
from discreet.data.record import TableRecord
from discreet.draw.grid import Grid
from discreet.errors import ContractError, UnknownNameError
from discreet.evaluation.copies import Evaluation, evaluate
from discreet.holdings import NAME, Holdings, Progress, as_contract, stem
from discreet.protecting import (
    Protected,
    ProtectedTable,
    change_cells,
    protect,
    protect_cells,
    publish_protected,
    round_cells,
)
from discreet.query.allowance import Exact
from discreet.query.answer import Answer
from discreet.query.extent import FoundBounds, extent
from discreet.query.question import Question
from discreet.query.wanted import WantedErrors
from discreet.randomness import Bits
from discreet.risk.disclosure import Disclosure, measure_disclosure
from discreet.risk.fit import ContractFit, check_contract
from discreet.risk.frequencies import Keys, keys_of
from discreet.risk.profiling import profile
from discreet.risk.uniqueness import Uniqueness, assess
from discreet.synthesis.imputation.copies import Copies
from discreet.synthesis.imputation.stored import sampling_of

__all__ = ["Curator", "Limits", "ReadOptions", "TableRecord"]


class Curator(Holdings):
    """A folder on disk with contracts, data and releases. Opening it makes it when nothing is there yet."""

    def draft_contract(self, table: str) -> Contract:
        """A proposal read off the data, for the keeper's eyes; nothing under a guarantee runs on it."""
        with self.opened(table) as (engine, stored):
            return draft(table, profile(engine, stored))

    @classmethod
    def draft_of(
        cls, file: str | Path, *, options: ReadOptions | None = None, limits: Limits | None = None
    ) -> Contract:
        """A proposal for a file that is not a table yet. The copy made of it is gone when this returns."""
        with cls._borrowed(file, options, limits) as (held, name):
            return held.draft_contract(name)

    @classmethod
    @contextlib.contextmanager
    def _borrowed(
        cls, file: str | Path, options: ReadOptions | None, limits: Limits | None = None
    ) -> Iterator[tuple[Self, str]]:
        """A curator in a folder that goes away, with the file as its one table."""
        with tempfile.TemporaryDirectory(prefix="discreet-") as place:
            held = cls.create(place)
            named = re.sub(r"\W", "_", stem(file), flags=re.ASCII)[:60]
            name = named if NAME.fullmatch(named) else f"table_{named}"
            yield held, held.add(file, name=name, options=options, limits=limits).name

    @staticmethod
    def read_contract(file: str | Path) -> Contract:
        """The contract in a YAML file."""
        return Contract.read(Path(file))

    @staticmethod
    def import_contract(file: str | Path, form: str, *, table: str | None = None) -> Conversion:
        """The contract in a file of another tool (smartnoise, csvw, croissant): a draft, and what was left behind."""
        return read_as(form, Path(file), table=table)

    @staticmethod
    def export_contract(contract: Contract, form: str) -> Conversion:
        """The contract as another tool reads it, and what that has no place for."""
        return write_as(form, contract)

    def check_contract(self, table: str, contract: str | Path | Contract | None = None) -> ContractFit:
        """How the table keeps to its contract, or to the one given. For the keeper's eyes."""
        agreed = self.contract(table) if contract is None else as_contract(contract)
        if agreed is None:
            raise ContractError(
                f"table {table!r}",
                found="it has no contract",
                right="a check compares the table with one",
                step=f"discreet contract draft {table}",
            )
        with self.opened(table) as (engine, stored):
            return check_contract(engine, stored, agreed)

    def disclosure(
        self,
        table: str,
        quasi: Sequence[str],
        *,
        weight: str | None = None,
        population: int | str | None = None,
        household: str | None = None,
        threshold: float = 0.1,
        progress: Progress | None = None,
    ) -> Disclosure:
        """How many people an intruder finds; `population` is its size, or a table of it. For the keeper's eyes."""
        register: int | Keys | None = population if isinstance(population, int) else None
        if isinstance(population, str):
            with self.opened(population) as (engine, stored):
                register = keys_of(engine, stored, quasi)
        with self.opened(table) as (engine, stored):
            return measure_disclosure(
                engine,
                stored,
                quasi,
                weight=weight,
                population=register,
                household=household,
                threshold=threshold,
                progress=progress,
            )

    def sql(
        self,
        text: str,
        *,
        epsilon: Exact | None = None,
        delta: Exact | None = None,
        rho: Exact | None = None,
        analyst: str | None = None,
        project: str | None = None,
        above: Exact | None = None,
        error: WantedErrors | None = None,
        rows: Exact | None = None,
        clip: str | None = None,
    ) -> Query:
        """One question in SQL: `.dummy()` and `.estimate()` cost nothing, `.run()` is charged.

        With `error` instead of a budget it spends the least that makes 95 % intervals no wider than ± that, for all
        columns or by name; `rows` is how many rows to suppose in a cell for means and the like. `above` is an ε beside
        the rest, for the share of persons who have more rows than count. `clip="quantile"` cuts the values of sums and
        means off where a private quantile says, which pays where their bounds are wide; the answer names it.
        """
        batch = self.ask(
            text,
            epsilon=epsilon,
            delta=delta,
            rho=rho,
            analyst=analyst,
            project=project,
            above=above,
            error=error,
            rows=rows,
            clip=clip,
        )
        return Query(batch=batch)

    def ask(
        self,
        *questions: Question | str,
        epsilon: Exact | None = None,
        delta: Exact | None = None,
        rho: Exact | None = None,
        analyst: str | None = None,
        project: str | None = None,
        above: Exact | None = None,
        error: WantedErrors | None = None,
        rows: Exact | None = None,
        clip: str | None = None,
    ) -> Batch:
        """Questions of one table, in SQL or built, that are planned, charged and answered together.

        `error`, `rows`, `above` and `clip` are those of `sql`; beside a budget, errors say how it is spread over the
        questions.
        """
        budget = Budget(
            epsilon=epsilon,
            delta=delta,
            rho=rho,
            analyst=analyst,
            project=project,
            above=above,
            error=error,
            rows=rows,
            clip=clip,
        )
        return ask(self, questions, budget)

    def replay(self, file: str | Path) -> tuple[Answer, ...]:
        """The answers that a script saved as YAML was paid for, again. It never spends anything."""
        return replay(self, Path(file))

    def bounds(
        self,
        table: str,
        column: str,
        *,
        epsilon: Exact | None = None,
        delta: Exact | None = None,
        rho: Exact | None = None,
        analyst: str | None = None,
        project: str | None = None,
        bits: Bits | None = None,
        teaching: bool = False,
    ) -> FoundBounds:
        """Bounds of a column of numbers that has none, or loose ones, found privately: charged as `sql` is."""
        budget = Budget(epsilon=epsilon, delta=delta, rho=rho, analyst=analyst, project=project)
        (answer,) = find_bounds(self, table, column, budget).run(bits=bits, teaching=teaching)
        return extent(column, answer)

    def bounds_question(self, table: str, column: str, **budget: Any) -> Batch:
        """What `bounds` would ask, for the same budget: `.estimate()` costs nothing."""
        return find_bounds(self, table, column, Budget(**budget))

    def column_of(self, name: str) -> tuple[str, str]:
        """The table and the column that TABLE.COLUMN means, or the one column of that name under any contract."""
        agreed = {table: contract for table in self.under_contract if (contract := self.contract(table)) is not None}
        table, dot, column = name.partition(".")
        if dot and table in agreed:
            return table, column
        having = [table for table, contract in agreed.items() if name in contract.released]
        if len(having) == 1:
            return having[0], name
        raise UnknownNameError(
            f"column {name!r}",
            found=f"{len(having) or 'no'} tables under a contract that have it",
            right="it is a column of one table",
            step=f"write {having[0]}.{name}" if having else "write TABLE.COLUMN",
        )

    def copies(
        self,
        table: str,
        *,
        method: str = "cart",
        perturb: Sequence[str] | None = None,
        copies: int = 20,
        rules: Sequence[str] = (),
        masks: GivenMasks | Masking | None = None,
        settings: Settings | None = None,
        seed: int | None = None,
        epsilon: object = None,
        progress: Progress | None = None,
    ) -> HeldCopies:
        """Copies in which the named columns, or all, are drawn anew: measured risk, so no ε. They stay in the folder.

        Methods: cart, normlogit, parametric; dami with `masks`, by column or as a `Masking`; selective and weighted. A
        seed draws the same copies again: for tests.
        """
        asked = replace(settings or Settings(), method=method, perturb=perturb, copies=copies, rules=rules)
        masking = masks if masks is None or isinstance(masks, Masking) else Masking(masks=masks)
        return make_copies(self, table, asked, masking=masking, seed=seed, epsilon=epsilon, progress=progress)

    def tune(
        self,
        table: str,
        *,
        perturb: Sequence[str],
        rules: Sequence[str] = (),
        progress: Progress | None = None,
        **wishes: Any,
    ) -> Tuned:
        """Utility and risk of copies while their masks are turned, and copies of a risk or an overlap asked for.

        `wishes` are those of `discreet.copying.Wishes`. For the keeper's eyes.
        """
        return tune_copies(self, table, perturb, Wishes(**wishes), rules=rules, progress=progress)

    def made_copies(self, release: str) -> HeldCopies:
        """Copies that were made before, by the name of their release."""
        return made_copies(self, release)

    def publish_copies(self, release: str, into: str | Path, *, form: str = "csv") -> Exported:
        """Note in the ledger that copies leave outside the guarantee, then write them: csv, parquet, spss, stata."""
        return publish_copies(self, release, into, form=form)

    def attack(
        self,
        *releases: str | Path,
        table: str | None = None,
        control: str | Path | None = None,
        known: Known | None = None,
        progress: Progress | None = None,
    ) -> Attacked:
        """Every attack that fits: on copies by their name, on files of records or of published tables. Keeper only."""
        return attack_release(self, releases, table=table, control=control, known=known or Known(), progress=progress)

    def protect(self, table: str, plan: Any, **options: Any) -> Protected:
        """Run the steps of a plan (a file, or a list) on a table and keep what they make: measured risk, so no ε."""
        return protect(self, table, plan, **options)

    def publish_protected(self, release: str, into: str | Path) -> Path:
        """Note in the ledger that a protected table leaves outside the guarantee, then write it: .csv or .parquet."""
        return publish_protected(self, release, into)

    @classmethod
    def protect_table(cls, file: str | Path, rules: Sequence[str], **options: Any) -> ProtectedTable:
        """Totals of a file's contributions without the cells that rules such as "p:10" find. Audited."""
        with cls._borrowed(file, None) as (held, name), held.opened(name) as (engine, stored):
            return protect_cells(Records.read(engine, stored), rules, **options)

    @classmethod
    def round_table(cls, file: str | Path, base: float, **options: Any) -> Grid:
        """Totals of a file's contributions, rounded to multiples of a base so that they still add up."""
        with cls._borrowed(file, None) as (held, name), held.opened(name) as (engine, stored):
            return round_cells(Records.read(engine, stored), base, **options)

    def change_table(self, file: str | Path, identity: str, **options: Any) -> Grid:
        """Counts of a file's records, changed by keys that this curator's secret gives them, always the same."""
        secret = self.digest("cell keys", b"")
        with self._borrowed(file, None) as (held, name), held.opened(name) as (engine, stored):
            return change_cells(Records.read(engine, stored), identity, secret, **options)

    def assess(
        self,
        table: str,
        quasi: Sequence[str],
        *,
        sensitive: Sequence[str] = (),
        progress: Progress | None = None,
    ) -> Uniqueness:
        """How exposed the table is to somebody who knows the quasi-identifiers. For the keeper's eyes."""
        with self.opened(table) as (engine, stored):
            return assess(engine, stored, quasi, sensitive=sensitive, progress=progress)

    def evaluate(self, table: str, copies: Copies | Sequence[Any], **asked: Any) -> Evaluation:
        """Utility and risk of copies of a table, given as `evaluate` takes them. For the keeper's eyes.

        The intruder knows the contract's quasi-identifiers, if it names any, unless `keys` are given; models count the
        contract's design. Copies that are kept are set beside the version they were made of, or refused.
        """
        agreed = self.contract(table)
        known = () if agreed is None else agreed.with_role(Role.QUASI_IDENTIFIER)
        if known and asked.get("keys") is None:
            asked["keys"] = known
        if isinstance(copies, HeldCopies) and copies.table == table:
            return evaluate(copies.original(), copies, table=table, **asked)
        if asked.get("sampling") is None and not isinstance(copies, Copies):
            asked["sampling"] = sampling_of(agreed)
        return evaluate(self.rows(table), copies, table=table, **asked)

    @classmethod
    def rows_of(cls, file: str | Path, *, options: ReadOptions | None = None) -> Any:
        """The rows of a file that is not a table. The copy made of it is gone when this returns."""
        with cls._borrowed(file, options) as (held, name):
            return held.rows(name)
