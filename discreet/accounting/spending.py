"""What all that a population was charged for amounts to: the smallest valid ε at a δ, and the theorem that says so.

Two questions have two answers.

1. What holds whatever was asked after seeing which answer? Every single price may then depend on answers. What was
   spent, added up in ε, holds on every path, and so does the limit of an account in ρ, which the ledger keeps: the
   largest it ever had, if nobody raised it in view of answers. The sum of the ρ spent so far does not hold, nor does a
   limit that was lowered: who may stop when it looks well could look for that.
2. What holds if the plan of all questions had been fixed beforehand? Then every theorem of composition may be used.

Charges for a gap have no event; they count as the worst of their price. A δ that was charged is taken off the δ asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.accounting.account import Account, AccountKey, Kind
from discreet.accounting.accountants import Bound, Report, report, shown_up
from discreet.accounting.amount import DELTA_UNITS, LOSS_UNITS, Amount
from discreet.accounting.chain import Entry
from discreet.accounting.events import Approximate, Choice, Currency, Event, Noise, from_json
from discreet.accounting.ledger import Ledger
from discreet.check import Number, exact
from discreet.errors import ArgumentError, CheckFailedError
from discreet.guarantee import ZCDP, number_text

__all__ = ["Spending", "spending"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """What one population was charged for, added up at one δ."""

    account: Account
    charges: int
    delta: Fraction
    adaptive: Bound | None
    fixed: Report

    def sentences(self) -> tuple[str, ...]:
        """The report for people, what holds in any case first."""
        asked = f"at δ = {number_text(self.delta)}"
        name = str(self.account.key)
        if self.adaptive is None:
            first = f"No ε {asked} holds for {name} whatever was asked after seeing answers: more δ was charged."
        else:
            least = shown_up(self.adaptive.epsilon)
            first = (
                f"The {self.charges} charges of {name} keep ε = {least} {asked}, whatever was asked after seeing "
                f"answers, by the theorem {self.adaptive.theorem!r}."
            )
        return (first, f"Had all of it been fixed beforehand: {self.fixed.sentence()}.")

    def as_json(self) -> dict[str, Any]:
        """The report as plain values."""
        return {
            "population": self.account.key.name,
            "charges": self.charges,
            "delta": str(self.delta),
            "adaptive": None if self.adaptive is None else _bound(self.adaptive),
            "fixed": [_bound(one) for one in self.fixed.bounds],
        }


def spending(ledger: Ledger, population: str, delta: str | Number) -> Spending:
    """What that population was charged for, by the authentic history of its ledger.

    Given:   prices hold for the population's adjacency and unit; a limit in ρ was never raised in view of answers.
    Promise: all releases so far are (ε, δ)-differentially private together, with the ε of `adaptive` in any case, and
             with that of `fixed` if every question was fixed before the first answer.
    Because: losses in ε add up on every path; a filter that stops at ρ keeps ρ (Feldman and Zrnic 2021), and so the ε
             that ρ converts to; the theorems of a report hold for events that do not depend on answers.
    Tested:  test_a_report_names_the_smallest_epsilon_and_its_theorem, test_a_limit_in_rho_is_what_holds_in_any_case,
             test_a_limit_that_was_lowered_holds_as_it_was.
    """
    asked = exact("delta", delta)
    key = AccountKey(Kind.POPULATION, population)
    account = ledger.account(key)
    problems = ledger.verify()
    if problems:
        raise CheckFailedError(
            "ledger",
            found=problems[0],
            right="what was spent is read off a whole history",
            step="discreet ledger verify, then discreet ledger restore",
        )
    entries = ledger.entries()
    events = [event for entry in entries for event in _events(entry, key, account.currency)]
    return Spending(
        account=account,
        charges=len(events),
        delta=asked,
        adaptive=_adaptive(account, _largest_limit(account, entries), asked),
        fixed=report(events, asked),
    )


def _adaptive(account: Account, limit: Amount, delta: Fraction) -> Bound | None:
    """What the account's filter keeps."""
    if account.currency == "pure":
        if Fraction(account.total.delta, DELTA_UNITS) > delta:
            return None
        return Bound(theorem="sum of ε", epsilon=_float_up(Fraction(account.total.loss, LOSS_UNITS)), adaptive=True)
    rest = delta - Fraction(max(limit.delta, account.total.delta), DELTA_UNITS)
    if not 0 < rest < 1:
        return None
    rho = ZCDP(Fraction(max(limit.loss, account.total.loss), LOSS_UNITS))
    return Bound(theorem="filter at the limit in ρ", epsilon=_float_up(rho.as_approx(rest).epsilon), adaptive=True)


def _largest_limit(account: Account, entries: Iterable[Entry]) -> Amount:
    """The most the account was ever allowed: to lower a limit after an answer is to stop when it looks well."""
    loss, delta = account.limit.loss, account.limit.delta
    for entry in entries:
        stated = entry.content if entry.kind in ("open", "limit") else {}
        if (stated.get("kind"), stated.get("name")) == (account.key.kind.value, account.key.name):
            loss, delta = max(loss, stated["limit"][0]), max(delta, stated["limit"][1])
    return Amount(loss=loss, delta=delta)


def _events(entry: Entry, key: AccountKey, currency: Currency) -> Iterator[Event]:
    """What an entry charged that account for."""
    named = [key.kind.value, key.name]
    if entry.kind == "charge" and any(one[:2] == named for one in entry.content["accounts"]):
        yield from_json(entry.content["event"])
    if entry.kind == "gap":
        for kind, name, loss, lost in entry.content["charged"]:
            if [kind, name] == named:
                yield from _worst(Amount(loss=loss, delta=lost), currency)


def _worst(amount: Amount, currency: Currency) -> Iterator[Event]:
    """Events of that price of which nothing better is known."""
    loss, delta = Fraction(amount.loss, LOSS_UNITS), Fraction(amount.delta, DELTA_UNITS)
    if currency == "zcdp" and loss:
        # In several coordinates only the ρ of Gaussian noise is used.
        yield Noise(law="gaussian", move=2 * loss, scale=Fraction(1))
        loss = Fraction(0)
    if delta:
        # The least ε beside the δ: an event needs one.
        yield Approximate(epsilon=loss or Fraction(1, LOSS_UNITS), delta=delta)
    elif loss:
        yield Choice(epsilon=loss)


def _bound(bound: Bound) -> dict[str, Any]:
    return {"theorem": bound.theorem, "epsilon": bound.epsilon, "adaptive": bound.adaptive}


def _float_up(value: Fraction) -> float:
    near = float(value)
    if near == float("inf"):
        raise ArgumentError("epsilon", found="one beyond floats", right="a report is read by people", step="see show")
    return near if Fraction(near) >= value else near * (1 + 2**-52)
