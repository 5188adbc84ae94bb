"""Write a ledger in the newest form beside this file: `python -m tests.accounting.golden.make`.

Run it once for a new form and add its name to the test; what earlier forms wrote is never written again.
"""

from __future__ import annotations

import contextlib
import datetime
import shutil
import tempfile
from fractions import Fraction
from pathlib import Path

from discreet.accounting.account import AccountKey, Kind, Period
from discreet.accounting.events import Apart, Approximate, Choice, Event, Noise
from discreet.accounting.store import FORM
from tests.accounting.places import ANA, EPOCH, PEOPLE, Place, charge_of, price_of

HERE = Path(__file__).parent


class Days:
    """A clock that goes on by a day with each question."""

    def __init__(self) -> None:
        self.now = EPOCH

    def __call__(self) -> datetime.datetime:
        self.now += datetime.timedelta(days=1)
        return self.now


def fill(place: Place) -> None:
    """One of everything, past a checkpoint and past a restore."""
    ledger = place.open(Days())
    ledger.open_account(PEOPLE, "zcdp", price_of(5, Fraction(1, 10**6)))
    ledger.open_account(ANA, "pure", price_of(2), period=Period.YEAR)
    ledger.open_account(AccountKey(Kind.PROJECT, "atlas"), "zcdp", price_of(3), period=Period.MONTH)
    events: tuple[Event, ...] = (
        Noise(law="laplace", move=Fraction(1), scale=Fraction(40)),
        Choice(epsilon=Fraction(1, 7), bounded_range=True),
        Apart(events=(Choice(epsilon=Fraction(1, 9)), Choice(epsilon=Fraction(1, 8))), overlap=1),
    )
    for turn, event in enumerate(events):
        grant = ledger.spend(charge_of(event, plan=turn, analyst="ana", what={"query": f"question {turn}"}))
        ledger.settle(grant, {"n": turn, "text": "Ärger"})
    ledger.fail(ledger.spend(charge_of(Approximate(epsilon=Fraction(1, 10), delta=Fraction(1, 10**7)), plan=9)))
    ledger.set_limit(ANA, price_of(3), reason="a longer study")
    ledger.note("outside the guarantee", {"population": "people", "what": "20 copies"})
    for _ in range(250):
        ledger.spend(charge_of(Fraction(1, 100), project="atlas"))
    ledger.restore({PEOPLE: price_of(Fraction(1, 10))}, reason="an older copy")
    ledger.spend(charge_of(Fraction(1, 3), plan=77))


def main() -> None:
    """Write the database and its head."""
    with tempfile.TemporaryDirectory() as folder, contextlib.closing(Place.file(Path(folder))) as place:
        fill(place)
        place.close()
        shutil.copyfile(place.path, HERE / f"ledger-{FORM}.db")
        shutil.copyfile(next(place.heads.iterdir()), HERE / f"head-{FORM}.json")


if __name__ == "__main__":
    main()
