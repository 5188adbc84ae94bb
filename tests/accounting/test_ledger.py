"""The ledger's filter, over both stores: caps, currencies, accounts, periods, refusals."""

from __future__ import annotations

import contextlib
import datetime
import json
import math
import random
import threading
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.accounting.account import AccountKey, Kind, Period
from discreet.accounting.amount import LOSS_UNITS, Amount
from discreet.accounting.events import Apart, Approximate, Choice, Event, Noise, Repeated, Sampled, price
from discreet.accounting.ledger import Ledger
from discreet.accounting.standing import CHECKPOINT_EVERY
from discreet.errors import ArgumentError, BudgetError, UnknownNameError
from tests.accounting.places import ANA, EPOCH, KEY, PEOPLE, SIGNER, Place, charge_of, memory_folder, price_of

PROJECT = AccountKey(Kind.PROJECT, "atlas")


class Hands:
    """A clock that tests set."""

    def __init__(self) -> None:
        self.now = EPOCH

    def __call__(self) -> datetime.datetime:
        return self.now


def bodies(ledger: Ledger) -> str:
    return "".join(entry.body for entry in ledger.entries())


def test_a_charge_counts_against_all_accounts_or_none(any_place: Place) -> None:
    ledger = any_place.with_people(2)
    ledger.open_account(ANA, "zcdp", price_of(1))
    ledger.open_account(PROJECT, "pure", price_of("0.5"))
    grant = ledger.spend(charge_of("0.5", analyst="ana", project="atlas"))
    assert [amount.text(currency) for _, currency, amount in grant.amounts] == ["ε = 0.5", "ρ = 0.125", "ε = 0.5"]
    with pytest.raises(BudgetError) as refusal:
        ledger.spend(charge_of("0.5", analyst="ana", project="atlas"))
    assert str(refusal.value) == (
        "project 'atlas': spent ε = 0.5, asked ε = 0.5, left ε = 0; its limit is ε = 0.5, and nothing was charged. "
        "Next: ask for less, or ask the keeper"
    )
    assert refusal.value.exit_code == 3
    assert {account.key: account.spent.loss for account in ledger.accounts()} == {
        PEOPLE: 500_000_000,
        ANA: 125_000_000,
        PROJECT: 500_000_000,
    }
    ledger.spend(charge_of("0.5", analyst="ana"))
    assert ledger.account(PEOPLE).left == Amount(loss=LOSS_UNITS)
    assert ledger.verify() == ()


@pytest.mark.requirement("4.11")
@pytest.mark.parametrize("scale", [1, 4, Fraction(5, 2)])
def test_a_budget_takes_as_many_answers_as_their_noise_allows(any_place: Place, scale: Fraction) -> None:
    """A count with Laplace noise of scale b costs ε = 1/b, so a budget of 2 takes 2b of them."""
    ledger = any_place.with_people(2)
    event = Noise(law="laplace", move=Fraction(1), scale=Fraction(scale))
    for _ in range(int(2 * scale)):
        ledger.spend(charge_of(event))
    with pytest.raises(BudgetError, match="left ε = 0;"):
        ledger.spend(charge_of(event))


def test_spent_to_the_last_unit_and_not_one_further(any_place: Place) -> None:
    ledger = any_place.with_people(1)
    for _ in range(3):
        ledger.spend(charge_of("1/3"))  # each rounds up to 333,333,334 units
        with pytest.raises(BudgetError):
            ledger.spend(charge_of(1))
        if ledger.account(PEOPLE).left.loss < 333_333_334:
            break
    left = Fraction(ledger.account(PEOPLE).left.loss, LOSS_UNITS)
    assert left == 1 - 2 * Fraction(333_333_334, LOSS_UNITS)
    with pytest.raises(BudgetError):
        ledger.spend(charge_of(left + Fraction(1, LOSS_UNITS)))
    ledger.spend(charge_of(left))
    with pytest.raises(BudgetError):
        ledger.spend(charge_of(Fraction(1, 10**30)))


epsilons = st.fractions(min_value=Fraction(1, 10**12), max_value=1)


@given(st.lists(st.tuples(epsilons, st.booleans()), min_size=1, max_size=25), st.integers(0, 10**9), st.randoms())
@settings(max_examples=15)
def test_sum_of_grants_never_exceeds_the_limit(
    asked: list[tuple[Fraction, bool]], limit: int, adversary: random.Random
) -> None:
    """The adversary looks at what is left and, when it likes, asks for that or for one unit more."""
    with memory_folder() as folder, contextlib.closing(Place.file(folder)) as place:
        spend_adaptively(place.with_people(Fraction(limit, LOSS_UNITS)), asked, adversary)


def spend_adaptively(ledger: Ledger, asked: list[tuple[Fraction, bool]], adversary: random.Random) -> None:
    cap = Fraction(ledger.account(PEOPLE).limit.loss, LOSS_UNITS)
    granted = Fraction(0)
    for epsilon, adaptive in asked:
        left = Fraction(ledger.account(PEOPLE).left.loss, LOSS_UNITS)
        wanted = left + Fraction(adversary.randint(0, 1), LOSS_UNITS) if adaptive else epsilon
        if wanted <= 0:
            continue
        rounded = Fraction(math.ceil(wanted * LOSS_UNITS), LOSS_UNITS)
        try:
            ledger.spend(charge_of(wanted))
        except BudgetError:
            assert granted + rounded > cap
        else:
            granted += rounded
        assert granted <= cap
    assert ledger.account(PEOPLE).total.loss == granted * LOSS_UNITS


def test_many_tiny_spends_add_up_exactly(place: Place) -> None:
    ledger = place.with_people(1)
    tiny = [Fraction(1, 10**30), Fraction(5e-324), Fraction(1, 10**9), Fraction(15, 10**10), Fraction(1, 7 * 10**7)]
    for turn in range(500):
        ledger.spend(charge_of(tiny[turn % 5]))
    assert ledger.account(PEOPLE).spent == Amount(loss=100 * (1 + 1 + 1 + 2 + 15))
    assert ledger.verify() == ()


@pytest.mark.parametrize(
    ("event", "currency"),
    [
        (Noise(law="gaussian", move=Fraction(1), scale=Fraction(10)), "pure"),
        (Sampled(rate=Fraction(1, 100), sigma=Fraction(1), steps=10), "pure"),
        (Sampled(rate=Fraction(1, 100), sigma=Fraction(1), steps=10), "zcdp"),
    ],
)
def test_an_event_without_a_price_is_refused_before_spending(place: Place, event: Event, currency: Any) -> None:
    ledger = place.with_people(10, currency)
    with pytest.raises(ArgumentError, match="no finite price"):
        ledger.spend(charge_of(event))
    assert ledger.account(PEOPLE).spent == Amount()


def test_what_moves_nothing_is_no_charge(place: Place) -> None:
    ledger = place.with_people(10)
    for event in (
        Noise(law="laplace", move=Fraction(0), scale=Fraction(1)),
        Repeated(event=Choice(epsilon=Fraction(1)), times=0),
    ):
        with pytest.raises(ArgumentError, match="every answer costs something"):
            ledger.spend(charge_of(event))


def test_delta_is_a_limit_of_its_own(any_place: Place) -> None:
    ledger = any_place.open()
    ledger.open_account(PEOPLE, "pure", price_of(10, Fraction(1, 10**6)))
    event = Approximate(epsilon=Fraction(1), delta=Fraction(3, 10**7))
    for _ in range(3):
        ledger.spend(charge_of(event))
    with pytest.raises(BudgetError, match="δ = 9e-7"):
        ledger.spend(charge_of(event))
    ledger.spend(charge_of(1))
    assert ledger.account(PEOPLE).spent == Amount(loss=4 * LOSS_UNITS, delta=9 * 10**11)


def test_an_absurd_epsilon_is_a_refusal_with_what_was_asked(any_place: Place) -> None:
    ledger = any_place.with_people(1)
    with pytest.raises(BudgetError, match=r"spent ε = 0, asked ε = 1e300, left ε = 1"):
        ledger.spend(charge_of(Fraction(10**300)))
    assert len(ledger.entries()) == 1


@pytest.mark.parametrize("epsilon", [0, -1, "0", Fraction(-1, 10**30)])
def test_nothing_and_less_than_nothing_is_no_event(epsilon: Any) -> None:
    with pytest.raises(ArgumentError):
        charge_of(epsilon)


def test_price_is_a_function_of_the_event_alone(any_place: Place) -> None:
    """Whatever else a charge says, and whenever it is made, the amounts are the event's price rounded up."""
    ledger = any_place.with_people(100)
    ledger.open_account(ANA, "zcdp", price_of(100), period=Period.DAY)
    event = Apart(
        events=(Choice(epsilon=Fraction(1, 3)), Choice(epsilon=Fraction(1, 7), bounded_range=True)), overlap=1
    )
    seen = {
        ledger.spend(charge_of(event, plan=plan, what={"rows": text}, analyst="ana")).amounts
        for plan, text in enumerate(["", "no rows", "x" * 10_000, "δ\x00\n"])
    }
    assert seen == {
        (
            (PEOPLE, "pure", Amount.up(price(event, "pure"))),
            (ANA, "zcdp", Amount.up(price(event, "zcdp"))),
        )
    }


def test_a_second_population_needs_a_reason(any_place: Place) -> None:
    ledger = any_place.with_people(1)
    others = AccountKey(Kind.POPULATION, "others")
    for reason in ("", "  "):
        with pytest.raises(ArgumentError, match="second budget"):
            ledger.open_account(others, "pure", price_of(1), reason=reason)
    ledger.open_account(others, "pure", price_of(1), reason="patients of another hospital")
    with pytest.raises(ArgumentError, match="open already"):
        ledger.open_account(others, "pure", price_of(5), reason="more")
    assert "another hospital" in bodies(ledger)


def test_an_unknown_account_is_named_and_analysts_are_not_listed(any_place: Place) -> None:
    ledger = any_place.with_people(1)
    ledger.open_account(ANA, "pure", price_of(1))
    with pytest.raises(UnknownNameError, match="there is people"):
        ledger.spend(charge_of(1, population="poeple"))
    with pytest.raises(UnknownNameError) as error:
        ledger.spend(charge_of(1, analyst="ann"))
    assert "'ana'" not in str(error.value)
    assert ledger.account(PEOPLE).spent == Amount()


def test_a_limit_changes_with_a_reason_and_what_was_spent_stays(any_place: Place) -> None:
    ledger = any_place.with_people(2)
    ledger.spend(charge_of("1.5"))
    with pytest.raises(ArgumentError, match="reason"):
        ledger.set_limit(PEOPLE, price_of(9), reason=" ")
    ledger.set_limit(PEOPLE, price_of(1), reason="too generous")
    with pytest.raises(BudgetError, match=r"spent ε = 1.5, asked ε = 0.1, left ε = 0;"):
        ledger.spend(charge_of("0.1"))
    ledger.set_limit(PEOPLE, price_of(2), reason="back")
    ledger.spend(charge_of("0.5"))
    assert ledger.account(PEOPLE).left == Amount()
    assert ledger.verify() == ()


@pytest.mark.parametrize(
    "jump",
    [
        datetime.timedelta(days=-1),
        datetime.timedelta(seconds=-1),
        EPOCH - datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC),
    ],
)
def test_a_clock_that_goes_back_refills_nothing(any_place: Place, jump: datetime.timedelta) -> None:
    hands = Hands()
    ledger = any_place.open(hands)
    ledger.open_account(PEOPLE, "pure", price_of(10))
    ledger.open_account(ANA, "pure", price_of(1), period=Period.DAY)
    ledger.spend(charge_of(1, analyst="ana"))
    hands.now -= abs(jump)
    for _ in range(2):
        with pytest.raises(BudgetError):
            ledger.spend(charge_of("0.1", analyst="ana"))
        hands.now = EPOCH
    assert ledger.verify() == ()


def test_a_clock_that_jumps_ahead_refills_an_analyst_once_and_no_population(any_place: Place) -> None:
    hands = Hands()
    ledger = any_place.open(hands)
    ledger.open_account(PEOPLE, "pure", price_of("2.5"))
    ledger.open_account(ANA, "pure", price_of(1), period=Period.MONTH)
    ledger.spend(charge_of(1, analyst="ana"))
    hands.now = EPOCH.replace(year=2040)
    assert ledger.account(ANA).spent == Amount()
    ledger.spend(charge_of(1, analyst="ana"))
    for year in (2030, 2035, 2040):
        hands.now = EPOCH.replace(year=year)
        with pytest.raises(BudgetError, match="analyst 'ana'"):
            ledger.spend(charge_of("0.1", analyst="ana"))
    hands.now = EPOCH.replace(year=2041)
    with pytest.raises(BudgetError, match="population 'people'"):
        ledger.spend(charge_of(1, analyst="ana"))
    assert ledger.account(ANA).total == Amount(loss=2 * LOSS_UNITS)
    assert ledger.account(PEOPLE).spent == Amount(loss=2 * LOSS_UNITS)
    assert ledger.verify() == ()


def test_periods_begin_in_utc_whatever_the_clock_shows(place: Place) -> None:
    hands = Hands()
    ledger = place.open(hands)
    ledger.open_account(PEOPLE, "pure", price_of(10))
    ledger.open_account(ANA, "pure", price_of(1), period=Period.DAY)
    hands.now = datetime.datetime(2030, 6, 16, 1, tzinfo=datetime.timezone(datetime.timedelta(hours=9)))
    ledger.spend(charge_of(1, analyst="ana"))  # still the 15th in UTC
    hands.now = datetime.datetime(2030, 6, 15, 20, tzinfo=datetime.timezone(datetime.timedelta(hours=-8)))
    ledger.spend(charge_of(1, analyst="ana"))  # the 16th already
    assert [entry.at[:10] for entry in ledger.entries()[2:]] == ["2030-06-15", "2030-06-16"]


def test_accounts_are_summed_from_checkpoints(any_place: Place) -> None:
    """A process that starts late adds up from the last entry that says how accounts stand."""
    ledger = any_place.with_people(1000)
    count = CHECKPOINT_EVERY + 20
    for _ in range(count):
        ledger.spend(charge_of("0.001"))
    kinds = [entry.kind for entry in ledger.entries()]
    assert kinds.count("standing") == 1
    assert kinds.index("standing") == CHECKPOINT_EVERY
    other = any_place.open()
    assert other.account(PEOPLE).spent == Amount(loss=count * 10**6)
    other.spend(charge_of(1))
    assert other.verify() == ()
    assert ledger.account(PEOPLE).spent == Amount(loss=count * 10**6 + LOSS_UNITS)


def test_two_ledgers_in_one_process_see_each_other(any_place: Place) -> None:
    one = any_place.with_people(1)
    two = any_place.open()
    for turn in range(10):
        (one, two)[turn % 2].spend(charge_of("0.1"))
    for ledger in (one, two):
        with pytest.raises(BudgetError):
            ledger.spend(charge_of("0.1"))
    assert one.accounts() == two.accounts()


def test_threads_take_turns(any_place: Place) -> None:
    ledger = any_place.with_people(20)
    start = threading.Barrier(8)

    def ask(_: int) -> int:
        start.wait()
        granted = 0
        for _ in range(5):
            try:
                ledger.settle(ledger.spend(charge_of(1)), {})
                granted += 1
            except BudgetError:
                continue
        return granted

    with ThreadPoolExecutor(8) as crowd:
        assert sum(crowd.map(ask, range(8))) == 20
    assert ledger.verify() == ()


def test_the_signed_head_is_the_last_entry(any_place: Place) -> None:
    ledger = any_place.with_people(1)
    grant = ledger.spend(charge_of("0.1"))
    head = ledger.head()
    assert head is not None
    assert (head.ledger, head.number, head.digest) == (ledger.id, grant.number, ledger.entries()[-1].digest)


def test_nothing_of_the_key_is_shown(place: Place) -> None:
    ledger = place.with_people(1)
    shown = repr(ledger) + str(vars(ledger)) + json.dumps([entry.body for entry in ledger.entries()])
    private = SIGNER.private_bytes_raw()
    for secret in (KEY, private):
        assert secret.hex() not in shown
        assert repr(secret)[2:-1] not in shown
        assert secret not in place.path.read_bytes()


@pytest.mark.parametrize("key", [b"", b"x" * 31, b"x" * 64])
def test_a_key_has_32_bytes(place: Place, key: bytes) -> None:
    with pytest.raises(ArgumentError, match="32 bytes"):
        place.open(key=key)
