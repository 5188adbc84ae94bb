"""The one door: what is charged is the price, nothing is read before it, and a failure has one text."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path

import pytest

from discreet.accounting.amount import Amount
from discreet.accounting.events import price
from discreet.errors import ArgumentError, BudgetError, DiscreetError, NoResultError, UnknownNameError
from discreet.guarantee import ZCDP, Adjacency, PureDP
from discreet.measure.door import event_of, measure
from discreet.measure.expression import Column, Compare, Constant, Text
from discreet.measure.groups import Bins, Categories
from discreet.measure.noisy import Measurement, NoisyVector, prepare
from discreet.measure.plan import Count, Persons, Plan, Total, endpoints, moments
from discreet.randomness import SeededBits, system_bits
from tests.measure.scenes import MANY, ONE_ROW, PERSON, Scene, WatchedEngine, contract, scene

X, G = Column("x"), Categories(Text("g"))
POSITIVE = Compare(X, ">", Constant(Fraction(0)))
PLANS = (
    Plan(aggregates=(Count(X),), by=(G,)),
    Plan(aggregates=(Total(X), endpoints(X), Count(Text("t"))), where=POSITIVE),
    Plan(aggregates=(moments(X, whole=True),), by=(Bins.even(X, -1, 3, 2), G)),
    Plan(aggregates=(Persons(),), by=(G,), where=POSITIVE),
)
BUDGETS = (Fraction(1), Fraction(1, 3), Fraction("0.1"), Fraction(1, 10**6), Fraction(7, 2))
CANARY = "κανάρι 4711"


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Scene]:
    with scene(tmp_path) as made:
        yield made


@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize("unit", [ONE_ROW, PERSON])
@pytest.mark.parametrize("currency", ["pure", "zcdp"])
def test_charge_is_the_price(tmp_path: Path, currency: str, unit: str, adjacency: Adjacency) -> None:
    """What the ledger takes is the event's price, which is what was asked for, but for at most one part in 10⁹."""
    under = contract(unit=unit, adjacency=adjacency)
    with scene(tmp_path, under=under, currency=currency) as made:
        for budget in BUDGETS:
            for plan in PLANS:
                pure = currency == "pure"
                part = prepare(plan, under, epsilon=budget) if pure else prepare(plan, under, rho=budget)
                assert part.guarantee == (PureDP(budget) if pure else ZCDP(budget))
                asked = price(part.event, "pure" if pure else "zcdp")
                assert asked.delta == 0
                assert budget * (1 - Fraction(1, 10**9)) <= asked.loss <= budget
                before = made.spent
                made.measure(part)
                assert made.spent == before + Amount.up(asked)


def test_parts_are_charged_together_and_in_one_entry(watched: Scene) -> None:
    parts = [prepare(plan, watched.contract, epsilon=Fraction(1, 7)) for plan in PLANS]
    done = watched.measure(*parts)
    assert watched.spent == Amount.up(price(event_of(parts), "pure"))
    assert Fraction(4, 7) * (1 - Fraction(1, 10**9)) <= price(event_of(parts), "pure").loss <= Fraction(4, 7)
    (entry,) = watched.ledger.entries(kind="charge")
    assert entry.number == done.number
    assert len(watched.engine.asked) == len(done.released) == 4


def test_shares_split_the_budget(watched: Scene) -> None:
    plan = Plan(aggregates=(Count(X), Total(X)))
    part = prepare(plan, watched.contract, epsilon=1, shares=[3, 1])
    counts, totals = part.noises
    assert price(part.event, "pure").loss <= 1
    assert counts.standard_deviation < prepare(plan, watched.contract, epsilon=1).noises[0].standard_deviation
    assert totals.standard_deviation > prepare(plan, watched.contract, epsilon=1).noises[1].standard_deviation
    wrongs: list[list[int | str]] = [[1], [1, 2, 3], [1, 0], [1, -1], ["nan", 1]]
    for wrong in wrongs:
        with pytest.raises(ArgumentError):
            prepare(plan, watched.contract, epsilon=1, shares=wrong)


def test_nothing_is_read_before_it_is_charged(watched: Scene) -> None:
    """When the first SELECT comes, the charge is in the ledger for others to see; the answer is not."""
    part, seen = prepare(PLANS[0], watched.contract, epsilon=1), []
    watched.engine.looks = lambda: seen.append([entry.kind for entry in watched.ledger.entries()])
    watched.measure(part)
    assert seen == [["open", "charge"]]
    assert [entry.kind for entry in watched.ledger.entries()] == ["open", "charge", "answer"]


def test_what_the_budget_refuses_reads_nothing(tmp_path: Path) -> None:
    with scene(tmp_path, limit=1) as made:
        part = prepare(PLANS[0], made.contract, epsilon=Fraction(2, 5))
        for _ in range(2):
            made.measure(part)
        asked, spent = list(made.engine.asked), made.spent
        for _ in range(3):
            with pytest.raises(BudgetError):
                made.measure(part)
        assert made.engine.asked == asked
        assert made.spent == spent


def test_what_a_plan_may_not_ask_is_refused_without_an_engine_and_for_nothing(watched: Scene) -> None:
    """Proof and price take no engine at all, and `require_readable` only its dialect."""
    watched.engine.fails = lambda: AssertionError("read")
    for plan in PLANS:
        prepare(plan, watched.contract, epsilon=1).require_readable(watched.engine, watched.table)
    for wrong in ({}, {"epsilon": 1, "rho": 1}, *({"epsilon": one} for one in (0, -1, "nan", "inf", "-1e-9", "x"))):
        with pytest.raises(ArgumentError):
            prepare(PLANS[0], watched.contract, **wrong)  # type: ignore[arg-type]  # wrong on purpose
    assert watched.engine.asked == []
    assert watched.spent == Amount()


def test_repeatable_bits_are_for_teaching_alone(watched: Scene) -> None:
    part = prepare(PLANS[0], watched.contract, epsilon=1)
    assert watched.measure(part).certifiable is False
    assert watched.measure(part, bits=system_bits()).certifiable is True
    spent = watched.spent
    watched.measure(part, seed=5)
    engine, table, agreed, ledger = watched.engine, watched.table, watched.contract, watched.ledger
    with pytest.raises(ArgumentError, match="can be repeated"):
        measure(engine, table, [part], agreed, ledger=ledger, bits=SeededBits(1))
    assert watched.spent == spent + Amount.up(price(part.event, "pure"))


class _Strange(BaseException):
    """No error of a program."""


FAILURES: tuple[Callable[[], Exception], ...] = (
    lambda: ValueError(CANARY),
    lambda: OverflowError(CANARY),
    lambda: MemoryError(CANARY),
    lambda: ZeroDivisionError(),
    lambda: UnicodeDecodeError("utf-8", CANARY.encode(), 0, 1, CANARY),
    lambda: UnknownNameError(CANARY, found=CANARY, right=CANARY, step=CANARY),
    lambda: BudgetError(CANARY, found=CANARY, right=CANARY, step=CANARY),
    lambda: RecursionError(CANARY),
    lambda: AssertionError(CANARY),
    lambda: StopIteration(CANARY),
)


def _told(error: DiscreetError) -> str:
    """All that a log could print of an exception."""
    assert error.__cause__ is None
    assert error.__context__ is None
    shown = "".join(traceback.format_exception(error))
    assert CANARY not in shown
    return f"{type(error).__name__} {error} {vars(error)} {error.args}"


def test_failure_is_one_text(watched: Scene) -> None:
    """Whatever fails behind the charge: one text, the charge stands, and it is not given again for nothing."""
    part, told = prepare(PLANS[0], watched.contract, epsilon=1), set()
    cost = Amount.up(price(part.event, "pure"))
    for fails in FAILURES:
        watched.engine.fails, before = fails, watched.spent
        with pytest.raises(NoResultError) as caught:
            watched.measure(part, digest=bytes(32))
        told.add(_told(caught.value))
        assert watched.spent == before + cost
    assert len(told) == 1
    assert {entry.kind for entry in watched.ledger.entries()} == {"open", "charge", "no result"}
    watched.engine.fails, before = None, watched.spent
    assert watched.measure(part, digest=bytes(32)).again is False
    assert watched.spent == before + cost


def test_one_of_many_parts_that_fails_gives_none_of_them(watched: Scene) -> None:
    parts = [prepare(plan, watched.contract, epsilon=1) for plan in PLANS]
    left = iter(range(2))

    def looks() -> None:
        if next(left, None) is None:
            raise ValueError(CANARY)

    watched.engine.looks = looks
    with pytest.raises(NoResultError) as caught:
        watched.measure(*parts)
    _told(caught.value)
    assert watched.spent == Amount.up(price(event_of(parts), "pure"))
    assert watched.ledger.entries(kind="answer") == ()


def test_who_stops_the_program_is_not_held_up(watched: Scene) -> None:
    """An interrupt goes through; the charge stands and stays open, as after a crash."""
    part = prepare(PLANS[0], watched.contract, epsilon=1)

    def looks() -> None:
        raise KeyboardInterrupt

    watched.engine.looks = looks
    with pytest.raises(KeyboardInterrupt):
        watched.measure(part)
    assert watched.spent == Amount.up(price(part.event, "pure"))
    assert [entry.kind for entry in watched.ledger.entries()] == ["open", "charge"]


def test_what_was_paid_for_is_given_again_for_nothing(watched: Scene) -> None:
    parts = [prepare(plan, watched.contract, epsilon=1) for plan in PLANS]
    first = watched.measure(*parts, digest=bytes(32), seed=1)
    spent, asked = watched.spent, list(watched.engine.asked)
    again = watched.measure(*parts, digest=bytes(32), seed=2)
    assert (again.again, again.number, again.certifiable) == (True, first.number, False)
    assert [one.as_json() for one in again.released] == [one.as_json() for one in first.released]
    assert (watched.spent, watched.engine.asked) == (spent, asked)
    other = watched.measure(*parts, digest=bytes([1] * 32), seed=1)
    assert other.again is False
    assert watched.spent == spent + spent


def test_released_numbers_come_back_from_plain_values(watched: Scene) -> None:
    for plan in PLANS:
        part = prepare(plan, watched.contract, epsilon=1)
        (released,) = watched.measure(part).released
        restored = part.restored(released.as_json())
        assert isinstance(released, NoisyVector)
        for number in range(len(plan.aggregates)):
            for reading in part.reading_names(number):
                assert restored.values(reading, number) == released.values(reading, number)


def test_little_noise_shows_the_exact_sums(watched: Scene) -> None:
    """With an absurd budget only the clamped sums of MANY are left: null, NaN and foreign keys as declared."""
    watched.engine = WatchedEngine(watched.engine.inner)
    plan = Plan(aggregates=(Count(), Count(X), Total(X)), by=(G,))
    (released,) = watched.measure(prepare(plan, watched.contract, epsilon=200)).released
    assert isinstance(released, NoisyVector)
    # ann .5 and ben's null in a; ann 3 and 99 in b; ben −9 in c; the others lie in no cell
    assert list(released.values("count", 0)) == [2, 2, 1]
    assert list(released.values("count", 1)) == [1, 2, 1]
    assert list(released.values("sum", 2)) == [Fraction(1, 2), 6, -1]
    assert len(MANY) == 7


def test_noise_is_as_large_as_said(watched: Scene) -> None:
    """The released numbers scatter as the standard deviation says: 10 % off on either side would be seen."""
    part = prepare(Plan(aggregates=(Total(X),), by=(G,)), watched.contract, epsilon=1)
    drawn = [float(value) for seed in range(700) for value in _values(part, watched, seed)]
    exact = (0.5, 6.0, -1.0) * 700
    squares = sum((one - true) ** 2 for one, true in zip(drawn, exact, strict=True)) / len(drawn)
    assert 0.85 < squares / part.standard_deviation("sum") ** 2 < 1.15
    inside = sum(abs(one - true) <= part.half_width("sum") for one, true in zip(drawn, exact, strict=True))
    assert 0.94 <= inside / len(drawn) <= 0.975


def _values(part: Measurement, watched: Scene, seed: int) -> tuple[Fraction, ...]:
    from discreet.randomness import SeededBits

    inner = watched.engine.inner
    return part.release(inner, watched.table, SeededBits(seed), teaching=True).values("sum")
