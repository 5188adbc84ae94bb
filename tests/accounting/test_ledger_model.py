"""A state machine against a plain model in memory, with processes killed, older copies and clocks that jump."""

from __future__ import annotations

import contextlib
import copy
import datetime
import math
import os
import shutil
import signal
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from discreet.accounting import registry
from discreet.accounting.account import AccountKey, Kind, Period
from discreet.accounting.amount import DELTA_UNITS, LOSS_UNITS
from discreet.accounting.chain import HeadFile, canonical
from discreet.accounting.events import Approximate, Choice, Event, Noise
from discreet.accounting.ledger import Grant, Ledger
from discreet.errors import ArgumentError, BudgetError, CheckFailedError
from tests.accounting.places import EPOCH, Place, charge_of, memory_folder, price_of

Units = tuple[int, int]
_DELTA = 25 * 10**10  # two events with δ fit, a third does not
KEYS = {
    "people": AccountKey(Kind.POPULATION, "people"),
    "others": AccountKey(Kind.POPULATION, "others"),
    "ana": AccountKey(Kind.ANALYST, "ana"),
    "ben": AccountKey(Kind.ANALYST, "ben"),
    "atlas": AccountKey(Kind.PROJECT, "atlas"),
}
CURRENCIES = {"people": "pure", "others": "zcdp", "ana": "pure", "ben": "zcdp", "atlas": "zcdp"}
CALENDAR = {"ana": "%Y%m%d", "ben": "%Y%m", "atlas": "%Y"}
PERIODS = {"ana": Period.DAY, "ben": Period.MONTH, "atlas": Period.YEAR}
EVENTS: tuple[tuple[Event, Fraction | None, Fraction, Fraction], ...] = (
    # an event; what it costs by hand: ε, ρ and δ
    (Choice(epsilon=Fraction(1, 3)), Fraction(1, 3), Fraction(1, 18), Fraction(0)),
    (Choice(epsilon=Fraction(2), bounded_range=True), Fraction(2), Fraction(1, 2), Fraction(0)),
    (Noise(law="laplace", move=Fraction(3), scale=Fraction(4)), Fraction(3, 4), Fraction(9, 32), Fraction(0)),
    (Noise(law="gaussian", move=Fraction(9), scale=Fraction(50)), None, Fraction(9, 100), Fraction(0)),
    (
        Approximate(epsilon=Fraction(1, 10), delta=Fraction(1, 10**7)),
        Fraction(1, 10),
        Fraction(1, 200),
        Fraction(1, 10**7),
    ),
    (Choice(epsilon=Fraction(1, 10**30)), Fraction(1, 10**30), Fraction(1, 10**60), Fraction(0)),
)


def units(loss: Fraction, delta: Fraction) -> Units:
    return math.ceil(loss * LOSS_UNITS), math.ceil(delta * DELTA_UNITS)


@dataclass
class Budget:
    """One account, kept as sums by period."""

    limit: Units
    latest: str = ""
    sums: dict[str, Units] = field(default_factory=dict)

    def period(self, name: str, now: datetime.datetime) -> str:
        return max(self.latest, now.strftime(CALENDAR[name]) if name in CALENDAR else "")

    def spent(self, period: str) -> Units:
        return self.sums.get(period, (0, 0))

    def total(self) -> Units:
        return sum(one[0] for one in self.sums.values()), sum(one[1] for one in self.sums.values())

    def takes(self, cost: Units, period: str) -> bool:
        spent = self.spent(period)
        return spent[0] + cost[0] <= self.limit[0] and spent[1] + cost[1] <= self.limit[1]

    def charge(self, cost: Units, period: str) -> None:
        spent = self.spent(period)
        self.sums[period] = spent[0] + cost[0], spent[1] + cost[1]
        self.latest = period


@dataclass
class Model:
    """What the ledger should be: budgets, answers by plan and payer, charges that are still open."""

    budgets: dict[str, Budget] = field(default_factory=dict)
    answers: dict[tuple[int, str, str], tuple[int, str]] = field(default_factory=dict)
    pending: dict[int, tuple[int, str, str]] = field(default_factory=dict)
    entries: int = 0


@contextlib.contextmanager
def dying(how: str) -> Iterator[None]:
    """This process ends by SIGKILL, as by a power cut, when the ledger comes to that step."""

    def die(*_: object) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def tear(file: HeadFile, opened: Any, place: int, _: object) -> None:
        opened.seek(512 * place)
        opened.write(b'{"digest":')
        die()

    owner, name, step = {
        "before": (HeadFile, "require_writable", die),
        "after": (HeadFile, "advance", die),
        "torn": (HeadFile, "_write", tear),
    }[how]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(owner, name, step)
        yield


class LedgerMachine(RuleBasedStateMachine):
    """Drives a ledger and a model side by side."""

    steps: ClassVar[int] = 0

    @initialize(limits=st.lists(st.integers(0, 6 * LOSS_UNITS), min_size=1, max_size=len(KEYS)))
    def begin(self, limits: list[int]) -> None:
        self.exit = contextlib.ExitStack()
        self.folder = self.exit.enter_context(memory_folder())
        self.place = Place.file(self.folder)
        self.exit.callback(self.place.close)
        self.now, self.model, self.grants = EPOCH, Model(), dict[int, Grant]()
        self.kept: Model | None = None
        self.highest = 0
        self.ledger = self.place.open(lambda: self.now)
        for name, limit in zip(KEYS, limits, strict=False):
            self.open_account(name, limit)

    def teardown(self) -> None:
        if hasattr(self, "exit"):
            self.exit.close()

    @rule(name=st.sampled_from(list(KEYS)), limit=st.integers(0, 6 * LOSS_UNITS))
    def open_account(self, name: str, limit: int) -> None:
        if name in self.model.budgets:
            with pytest.raises(ArgumentError, match="open already"):
                self.open(name, limit)
            return
        self.open(name, limit)
        budget = Budget(limit=(limit, _DELTA))
        budget.latest = budget.period(name, self.now)
        self.model.budgets[name] = budget
        self.model.entries += 1

    def open(self, name: str, limit: int) -> None:
        price, period = (
            price_of(Fraction(limit, LOSS_UNITS), Fraction(_DELTA, DELTA_UNITS)),
            PERIODS.get(name, Period.NEVER),
        )
        currency: Any = CURRENCIES[name]
        self.ledger.open_account(KEYS[name], currency, price, period=period, reason="others")

    @rule(name=st.sampled_from(list(KEYS)), limit=st.integers(0, 9 * LOSS_UNITS))
    def set_limit(self, name: str, limit: int) -> None:
        if name in self.model.budgets:
            self.ledger.set_limit(
                KEYS[name], price_of(Fraction(limit, LOSS_UNITS), Fraction(_DELTA, DELTA_UNITS)), reason="x"
            )
            self.model.budgets[name].limit = limit, _DELTA
            self.model.entries += 1

    @rule(
        event=st.integers(0, len(EVENTS) - 1),
        population=st.sampled_from(["people", "people", "others"]),
        analyst=st.sampled_from([None, "ana", "ben"]),
        project=st.sampled_from([None, None, "atlas"]),
        plan=st.integers(0, 2),
        crash=st.sampled_from([None] * 6 + ["before", "after", "torn"]),
    )
    def spend(
        self, event: int, population: str, analyst: str | None, project: str | None, plan: int, crash: str | None
    ) -> None:
        names = [name for name in (population, analyst, project) if name is not None]
        if not set(names) <= set(self.model.budgets):
            return
        asked = plan, analyst or "", population
        charge = charge_of(EVENTS[event][0], plan=plan, population=population, analyst=analyst, project=project)
        known = self.model.answers.get(asked)
        costs = {name: self.cost(event, name) for name in names}
        if known is not None:
            again = self.ledger.spend(charge)
            assert (again.number, canonical(again.answer)) == known
        elif any(cost is None for cost in costs.values()):
            with pytest.raises((ArgumentError, BudgetError)):
                self.ledger.spend(charge)
        elif not all(
            self.budget(name).takes(cost, self.budget(name).period(name, self.now))
            for name, cost in costs.items()
            if cost is not None
        ):
            with pytest.raises(BudgetError):
                self.ledger.spend(charge)
        elif crash is not None:
            self.kill(crash, lambda ledger: ledger.spend(charge))
            if crash != "before":
                self.charge({name: cost for name, cost in costs.items() if cost is not None})
        else:
            grant = self.ledger.spend(charge)
            assert grant.answer is None
            self.charge({name: cost for name, cost in costs.items() if cost is not None})
            self.model.pending[grant.number], self.grants[grant.number] = asked, grant

    def budget(self, name: str) -> Budget:
        return self.model.budgets[name]

    def cost(self, event: int, name: str) -> Units | None:
        _, epsilon, rho, delta = EVENTS[event]
        loss = epsilon if CURRENCIES[name] == "pure" else rho
        return None if loss is None else units(loss, delta)

    def charge(self, costs: dict[str, Units]) -> None:
        for name, cost in costs.items():
            self.budget(name).charge(cost, self.budget(name).period(name, self.now))
        self.model.entries += 1

    def kill(self, how: str, act: Callable[[Ledger], object]) -> None:
        """Let another process act, and die by SIGKILL before its commit, after it, or in the middle of the new head."""
        child = os.fork()
        if not child:
            try:
                with dying(how):
                    act(self.place.open(lambda: self.now))
            finally:
                os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL

    @rule()
    def come_back(self) -> None:
        """A new process."""
        self.place.close()
        self.ledger = self.place.open(lambda: self.now)

    @rule(
        chosen=st.randoms(use_true_random=False),
        value=st.integers(-9, 9),
        good=st.booleans(),
        crash=st.sampled_from([None] * 6 + ["before", "after", "torn"]),
    )
    def close_charge(self, chosen: Any, value: int, good: bool, crash: str | None) -> None:
        if not self.grants:
            return
        number = chosen.choice(sorted(self.grants))
        grant = self.grants[number]
        answer = {"n": value, "rows": [[value, None]]}

        def close(ledger: Ledger) -> None:
            if good:
                ledger.settle(grant, answer)
            else:
                ledger.fail(grant)

        asked = self.model.pending.get(number)
        if asked is None:
            with pytest.raises((ArgumentError, CheckFailedError)):
                close(self.ledger)
            return
        if crash is None:
            close(self.ledger)
        else:
            self.kill(crash, close)
            if crash == "before":
                return
        del self.model.pending[number]
        self.model.entries += 1
        if good:
            self.model.answers.setdefault(asked, (number, canonical(answer)))

    @rule()
    def note(self) -> None:
        self.ledger.note("remark", {"n": 1})
        self.model.entries += 1

    @rule(hours=st.sampled_from([1, 24, 24, 24 * 31, 24 * 366, -1, -24, 24 * 3660, -24 * 3660]))
    def jump(self, hours: int) -> None:
        self.now = min(
            max(self.now + datetime.timedelta(hours=hours), EPOCH.replace(year=1970)), EPOCH.replace(year=2200)
        )

    @rule()
    def keep_a_copy(self) -> None:
        source, other = sqlite3.connect(self.place.path), sqlite3.connect(self.folder / "copy")
        with contextlib.closing(source), contextlib.closing(other):
            source.backup(other)
        self.kept = copy.deepcopy(self.model)

    @precondition(lambda self: self.kept is not None)
    @rule(gap=st.integers(0, 10**9))
    def put_the_copy_back(self, gap: int) -> None:
        kept, self.kept = self.kept, None
        assert kept is not None
        self.place.close()
        for name in ("-wal", "-shm"):
            Path(f"{self.place.path}{name}").unlink(missing_ok=True)
        shutil.copyfile(self.folder / "copy", self.place.path)
        self.ledger = self.place.open(lambda: self.now)
        if kept.entries != self.model.entries:
            with pytest.raises(CheckFailedError, match="not the one its head was signed for"):
                self.ledger.note("remark", {})
            assert len(self.ledger.verify()) == 1
        missing = {KEYS[name]: price_of(Fraction(gap, LOSS_UNITS)) for name in kept.budgets}
        self.ledger.restore(missing, reason="an older copy")
        gap_number = self.ledger.entries()[-1].number
        assert gap_number > self.highest
        for name, budget in kept.budgets.items():
            budget.charge((gap, 0), budget.period(name, EPOCH.replace(year=1970)))
        kept.entries += 1
        self.model = kept

    @invariant()
    def agree(self) -> None:
        if not hasattr(self, "ledger"):
            return
        type(self).steps += 1
        seen = {account.key: account for account in self.ledger.accounts()}
        assert set(seen) == {KEYS[name] for name in self.model.budgets}
        for name, budget in self.model.budgets.items():
            account = seen[KEYS[name]]
            spent, total = budget.spent(budget.period(name, self.now)), budget.total()
            assert (account.spent.loss, account.spent.delta) == spent
            assert (account.total.loss, account.total.delta) == total
            assert (account.limit.loss, account.limit.delta) == budget.limit
        assert self.ledger.verify() == ()
        with self.ledger._store.reading() as connection:
            entries = tuple(registry.history(connection))
        self.highest = max(self.highest, entries[-1].number if entries else 0)
        found = [entry.kind for entry in entries]
        assert len(found) - found.count("standing") == self.model.entries


def steps_of(examples: int, steps: int) -> int:
    before = LedgerMachine.steps
    run_state_machine_as_test(
        LedgerMachine,
        settings=settings(max_examples=examples, stateful_step_count=steps, deadline=None, phases=[Phase.generate]),
    )
    return LedgerMachine.steps - before


def test_ledger_agrees_with_its_model() -> None:
    assert steps_of(10, 50) >= 200


@pytest.mark.slow
def test_ledger_agrees_with_its_model_for_long() -> None:
    assert steps_of(250, 80) >= 10_000
