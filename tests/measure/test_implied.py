"""Several parts charged as one (ε, δ): it covers what the parts cost, and what cannot fit is refused."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from discreet.accounting.events import Approximate, Price, price
from discreet.errors import ArgumentError
from discreet.guarantee import ZCDP
from discreet.measure.expression import Column, Text
from discreet.measure.groups import Categories
from discreet.measure.implied import Implied, ReleasedTogether
from discreet.measure.noisy import prepare
from discreet.measure.plan import Count, Plan, Total
from tests.accounting.places import PEOPLE
from tests.measure.scenes import contract, scene

RHO, DELTA = Fraction(1, 10), Fraction(1, 10**6)
PLANS = (Plan(aggregates=(Count(),), by=(Categories(Text("g")),)), Plan(aggregates=(Total(Column("x")),)))


def test_implied_charge_covers_its_parts(tmp_path: Path) -> None:
    under = contract()
    parts = tuple(prepare(plan, under, rho=RHO / 2) for plan in PLANS)
    epsilon = ZCDP(RHO).as_approx(DELTA).epsilon
    whole = Implied(parts=parts, rho=RHO, epsilon=epsilon, delta=DELTA)
    assert whole.event == Approximate(epsilon=epsilon, delta=DELTA)
    spent = sum((price(part.event, "zcdp").loss for part in parts), Fraction(0))
    assert ZCDP(spent).as_approx(DELTA).epsilon <= epsilon
    with scene(tmp_path, under=under) as made:
        made.ledger.set_limit(PEOPLE, Price(loss=Fraction(9), delta=DELTA), reason="for a delta")
        done = made.measure(whole, digest=bytes(32))
        again = made.measure(whole, digest=bytes(32))
        (released,), (restored,) = done.released, again.released
        assert isinstance(released, ReleasedTogether)
        assert [one.as_json() for one in released.each] == [one.as_json() for one in restored.each]  # type: ignore[attr-defined]
        assert len(made.engine.asked) == 2


def test_parts_beyond_their_rho_are_refused() -> None:
    parts = tuple(prepare(plan, contract(), rho=RHO) for plan in PLANS)
    with pytest.raises(ArgumentError, match="share"):
        Implied(parts=parts, rho=RHO, epsilon=Fraction(1), delta=DELTA)
