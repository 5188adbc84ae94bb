"""Asking a curator: a question is designed from public facts, shown before it is paid for, and answered once it is.

    query = curator.sql("SELECT region, AVG(cost) FROM visits GROUP BY region", epsilon=0.5)
    query.dummy()      the same shape with invented numbers; costs nothing
    query.estimate()   what it costs, what stays, which error to expect; costs nothing, and reads no row
    query.run()        charged, then answered; the same question on the same data again costs its payer nothing

Given:   a contract in force, and a ledger with an account for its population.
Promise: a question is refused before anything is spent, or answered, or charged without a result, and never anything
         else. What is refused and what is charged does not depend on the data; whether there is a result depends on
         them only where reading takes more time or memory than a statement may.
Because: parse, design and refusal ask contract, question and ledger alone; the door charges before it reads, by
         total functions only, so that no value of a row makes reading fail.
Tested:  test_estimate_is_the_charge, test_estimates_and_dummies_touch_no_engine, test_partial_functions_tell_nothing,
         test_a_question_over_its_time_is_charged_without_a_result.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from discreet.accounting.account import Account
from discreet.accounting.amount import Amount
from discreet.accounting.change import Charge
from discreet.accounting.events import Currency, Event, price
from discreet.accounting.receipt import SignedReceipt
from discreet.budget import population_of
from discreet.check import exact, known, positive, some
from discreet.data.contract import Contract
from discreet.data.document import text_of
from discreet.data.fact import decimal_text
from discreet.data.frame import FrameKind
from discreet.data.table import StoredTable
from discreet.errors import ArgumentError, ContractError
from discreet.guarantee import ZCDP, ApproxDP, Guarantee, PureDP
from discreet.holdings import Holdings
from discreet.measure.crowding import Crowding, prepare_crowding, share_above
from discreet.measure.door import Measured, event_of, measure
from discreet.measure.joins import JoinedContract, joined_contract, joined_table
from discreet.measure.noisy import NoisyVector
from discreet.measure.part import Part, Released
from discreet.query.allowance import Exact, allowances
from discreet.query.answer import Answer, Cost, answered, estimands
from discreet.query.design import Design, design_of
from discreet.query.estimate import AccountLine, Estimate, strategy_lines
from discreet.query.evaluation import evaluated
from discreet.query.extent import magnitude_question
from discreet.query.invented import invented
from discreet.query.parse import parse
from discreet.query.question import Question
from discreet.query.script import Script
from discreet.query.wanted import WantedErrors, text_of_errors, wanted_of
from discreet.randomness import Bits, system_bits

__all__ = ["Batch", "Budget", "Query", "ask", "find_bounds", "replay"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What a question may spend, and who pays beside the population."""

    epsilon: Exact | None = None
    delta: Exact | None = None
    rho: Exact | None = None
    analyst: str | None = None
    project: str | None = None
    # Beside the rest: an ε for the share of units with more rows than count.
    above: Exact | None = None
    # Half the width of the intervals wanted, for all columns or by name, and the rows to suppose in a cell.
    error: WantedErrors | None = None
    rows: Exact | None = None
    # "quantile": sums and means are clipped where a released quantile says.
    clip: str | None = None

    def written(self) -> dict[str, str | None]:
        """As text, exact."""
        amounts = {
            "epsilon": self.epsilon,
            "delta": self.delta,
            "rho": self.rho,
            "above": self.above,
            "rows": self.rows,
        }
        told = {name: None if one is None else decimal_text(exact(name, one)) for name, one in amounts.items()}
        wanted = None if self.error is None else text_of_errors(self.error)
        return {**told, "error": wanted, "clip": self.clip, "analyst": self.analyst, "project": self.project}


@dataclass(frozen=True, kw_only=True, eq=False)
class Batch:
    """Questions of one table that are designed, charged and answered together."""

    holdings: Holdings
    questions: tuple[Question, ...]
    texts: tuple[str | None, ...]
    budget: Budget

    @cached_property
    def contract(self) -> Contract:
        """The contract in force: that of the table, or what follows from those of the tables that are joined."""
        base, joins = _contract_of(self.holdings, self.questions[0].table), self.questions[0].joins
        if not joins:
            return base
        return joined_contract(base, joins, {join.table: _contract_of(self.holdings, join.table) for join in joins})

    @property
    def tables(self) -> tuple[str, ...]:
        """The tables that are read."""
        return tuple(dict.fromkeys((self.contract.table, *(join.table for join in self.questions[0].joins))))

    @cached_property
    def design(self) -> Design:
        """What would be measured."""
        budget = self.budget
        return design_of(
            self.questions,
            self.contract,
            self._currency,
            epsilon=budget.epsilon,
            delta=budget.delta,
            rho=budget.rho,
            wanted=None
            if budget.error is None
            else wanted_of(self.questions, self.contract, budget.error, budget.rows),
            clip=budget.clip,
        )

    @cached_property
    def crowding(self) -> tuple[Crowding, ...]:
        """What tells how many units have more rows than count, for each filter, where that is paid for."""
        if self.budget.above is None:
            return ()
        filters = tuple(dict.fromkeys(question.where for question in self.questions))
        (allowance,) = allowances(self._currency, epsilon=positive("above", self.budget.above))
        each = allowance.shared(Fraction(1, len(filters))).loss
        return tuple(prepare_crowding(self.contract, epsilon=each, where=one) for one in filters)

    @cached_property
    def charged(self) -> tuple[Part, ...]:
        """Everything that goes through the door."""
        return (*self.design.charged, *self.crowding)

    @property
    def event(self) -> Event:
        """What is charged."""
        return event_of(self.charged)

    def dummies(self, *, kind: FrameKind | str | None = None) -> tuple[Answer, ...]:
        """Answers of the same shape with invented numbers; free, and the same each time."""
        cost = Cost(guarantee="none: invented numbers", accounts={})
        return self._answers(invented(self.design.parts), (), cost, kind, dummy=True)

    def estimate(self) -> Estimate:
        """What it would cost, what would stay, and which errors to expect."""
        charge = self._charge
        bounded = (line for one in self.questions for line in estimands(one, self.contract))
        accounts = [self.holdings.ledger.account(key) for key in charge.keys]
        return Estimate(
            guarantee=str(self._guarantee),
            accounts=tuple(_line(account, Amount.up(price(charge.event, account.currency))) for account in accounts),
            strategies=strategy_lines(self.design),
            estimand=(*self.design.estimand, *dict.fromkeys(bounded)),
            paid_before=self.holdings.ledger.is_paid(charge),
        )

    def run(
        self, *, kind: FrameKind | str | None = None, bits: Bits | None = None, teaching: bool = False
    ) -> tuple[Answer, ...]:
        """Charge, read, and answer each question, in the kind of frame that the table came in unless one is named."""
        holdings = self.holdings
        holdings.desk.require_key()
        with holdings.lent(self.tables) as (engine, tables):
            measured = measure(
                engine,
                self._table(tables),
                self.charged,
                self.contract,
                ledger=holdings.ledger,
                bits=bits or system_bits(),
                analyst=self.budget.analyst,
                project=self.budget.project,
                digest=self._digest,
                teaching=teaching,
            )
        own = len(self.design.charged)
        released, shares = self.design.each(measured.released[:own]), measured.released[own:]
        return self._answers(
            released,
            shares,
            self._cost(measured),
            kind,
            receipt=self._receipt(measured),
            certifiable=measured.certifiable,
        )

    def _answers(
        self,
        released: Sequence[Released],
        shares: Sequence[Released],
        cost: Cost,
        kind: FrameKind | str | None,
        **further: Any,
    ) -> tuple[Answer, ...]:
        frames = self.holdings.kind(self.contract.table) if kind is None else FrameKind(kind)
        above = {
            part.plan.where: share_above(share)
            for part, share in zip(self.crowding, shares, strict=False)
            if isinstance(share, NoisyVector)
        }
        return tuple(
            answered(
                evaluated(one, self.design, released),
                self.contract,
                cost,
                kind=frames,
                text=self.texts[at],
                script=self._script(at, cost),
                above=above.get(one.where),
                **further,
            )
            for at, one in enumerate(self.questions)
        )

    def _script(self, at: int, cost: Cost) -> Script | None:
        """What asks all of this again; None where a question was built, not written."""
        texts = tuple(text for text in self.texts if text is not None)
        if len(texts) < len(self.texts):
            return None
        ledger = None if cost.entry is None else self.holdings.ledger.id
        return Script(questions=texts, at=at, entry=cost.entry, ledger=ledger, **self.budget.written())

    @cached_property
    def _currency(self) -> Currency:
        return self.holdings.ledger.account(population_of(self.contract)).currency

    def _table(self, tables: Mapping[str, StoredTable]) -> StoredTable:
        contract = self.contract
        return joined_table(contract, tables) if isinstance(contract, JoinedContract) else tables[contract.table]

    @cached_property
    def _charge(self) -> Charge:
        return Charge(
            event=self.event,
            population=self.contract.whose,
            analyst=self.budget.analyst,
            project=self.budget.project,
            plan=self._digest,
            what={},
            also=()
            if not isinstance(self.contract, JoinedContract) or self.contract.also is None
            else (self.contract.also,),
        )

    @property
    def _guarantee(self) -> Guarantee:
        cost = price(self.event, self._currency)
        if cost.delta:
            return ApproxDP(cost.loss, cost.delta)
        return PureDP(cost.loss) if self._currency == "pure" else ZCDP(cost.loss)

    @cached_property
    def _plan(self) -> dict[str, Any]:
        """What is measured, as public plain values."""
        versions = {table: self.holdings.record(table).version_id for table in self.tables}
        return {"parts": [part.as_json() for part in self.charged], "tables": versions}

    @cached_property
    def _digest(self) -> bytes:
        """Names plan, budget, contract and version for those who ask again; keyed, since a plan may be guessed."""
        facts = {**self._plan, "contract": self.contract.content_hash()}
        return self.holdings.digest("answer", json.dumps(facts, sort_keys=True).encode())

    def _receipt(self, measured: Measured) -> SignedReceipt:
        record = self.holdings.record(self.contract.table)
        plan = self._plan
        return self.holdings.desk.receipt_for(
            entry=measured.number,
            contract=self.contract,
            table_version=record.version,
            version_id=record.version_id,
            event=self.event,
            guarantee=self._guarantee,
            plan=plan,
            sensitivity={"parts": [_proof(part) for part in plan["parts"]]},
            result=result_bytes(measured),
            teaching=not measured.certifiable,
        )

    def _cost(self, measured: Measured) -> Cost:
        ledger, charge = self.holdings.ledger, self._charge
        amounts = {
            str(key): Amount.up(price(charge.event, currency)).text(currency)
            for key, currency in ((key, ledger.account(key).currency) for key in charge.keys)
        }
        return Cost(
            guarantee=f"{self._guarantee}, {self.contract.adjacency.value}, for each {self.contract.unit}",
            accounts=amounts,
            entry=measured.number,
            again=measured.again,
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class Query:
    """One question, and what can be done with it."""

    batch: Batch

    @property
    def question(self) -> Question:
        """What is asked."""
        return self.batch.questions[0]

    def dummy(self, *, kind: FrameKind | str | None = None) -> Answer:
        """The same shape with invented numbers; free."""
        return self.batch.dummies(kind=kind)[0]

    def estimate(self) -> Estimate:
        """Cost, what stays, expected errors; free."""
        return self.batch.estimate()

    def run(self, *, kind: FrameKind | str | None = None, bits: Bits | None = None, teaching: bool = False) -> Answer:
        """Charge and answer. Seeded bits are for teaching alone, and the answer says so."""
        return self.batch.run(kind=kind, bits=bits, teaching=teaching)[0]


def ask(holdings: Holdings, questions: Sequence[Question | str], budget: Budget) -> Batch:
    """Questions of one table, to be charged together; texts are SQL, and may say themselves what to spend."""
    some("questions", questions, step="ask one at least, and each once")
    asked = [parse(one, partial(_contract_of, holdings)) if isinstance(one, str) else one for one in questions]
    tables = sorted({question.table for question in asked})
    if len(tables) != 1:
        raise ContractError(
            "questions",
            found=f"{len(tables)} tables",
            right="questions that are charged together are of one table",
            step="ask about one table at a time",
        )
    if any(question.joins != asked[0].joins for question in asked):
        raise ContractError(
            "questions",
            found="different joins",
            right="questions that are charged together read the same rows",
            step="ask them one after the other",
        )
    for question in asked:
        budget = _with_options(budget, question)
    return Batch(
        holdings=holdings,
        questions=tuple(asked),
        texts=tuple(one if isinstance(one, str) else None for one in questions),
        budget=budget,
    )


def replay(holdings: Holdings, file: Path) -> tuple[Answer, ...]:
    """The answers that a saved script was paid for, again; nothing is spent, ever."""
    script = Script.parse(text_of(file), where=file.name)
    budget = Budget(**script.budget)
    batch = ask(holdings, script.questions, budget)
    if not batch.estimate().paid_before:
        raise ArgumentError(
            f"file {file.name}",
            found="questions that nobody paid for with this budget, in this curator, on this version of the table",
            right="a replay gives again what was paid for, and spends nothing",
            step="discreet ask asks them anew and is charged",
        )
    return batch.run()


def find_bounds(holdings: Holdings, table: str, column: str, budget: Budget) -> Batch:
    """The question that finds a column's bounds: `query.extent` reads them off its answer."""
    return ask(holdings, [magnitude_question(column, _contract_of(holdings, table))], budget)


def _with_options(budget: Budget, question: Question) -> Budget:
    """The budget with what the text itself says; two that differ are refused."""
    said = question.options
    for name in ("epsilon", "delta", "rho"):
        written, given = getattr(said, name), getattr(budget, name)
        if written is not None and given is not None and exact(name, written) != exact(name, given):
            raise ArgumentError(
                name, found="one in the text and another beside it", right="one budget", step=f"leave one {name} out"
            )
        if written is not None:
            budget = replace(budget, **{name: written})
    return budget


def result_bytes(measured: Measured) -> bytes:
    """The released values in one spelling: what a receipt names by its digest."""
    released = [one.as_json() for one in measured.released]
    return json.dumps(released, sort_keys=True, separators=(",", ":")).encode()


def _contract_of(holdings: Holdings, table: str) -> Contract:
    if table not in holdings.tables:  # which tables have none is not for whoever asks
        asked = holdings.under_contract
        known("table", table, asked, step="ask one of them" if asked else "discreet add FILE --contract YAML")
    agreed = holdings.contract(table)
    if agreed is None:
        raise ContractError(
            f"table {table!r}",
            found="it has no contract",
            right="a question is answered under the public facts of one",
            step=f"discreet contract draft {table}",
        )
    return agreed


def _line(account: Account, cost: Amount) -> AccountLine:
    left, fits = account.left, (account.spent + cost).fits(account.limit)
    return AccountLine(
        account=str(account.key),
        charged=cost.text(account.currency),
        left=left.text(account.currency),
        after=cost.left_of(left).text(account.currency),
        fits=fits,
    )


def _proof(part: dict[str, Any]) -> Any:
    return part["proof"] if "proof" in part else [_proof(one) for one in part["parts"]]
