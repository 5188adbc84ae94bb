"""Many processes on one ledger: exact caps, histories in order, and kills that leave no answer without its charge."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from discreet.accounting.amount import LOSS_UNITS
from discreet.accounting.chain import Entry
from tests.accounting import crowds
from tests.accounting.places import PEOPLE, Place

NEVER = 2**63


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One spend as its client saw it; one that nobody heard of again may have happened at any later time."""

    cost: Fraction
    called: int
    returned: int = NEVER
    number: int | None = None
    refused: bool = False


def operations(lines: Sequence[dict[str, Any]]) -> list[Operation]:
    found = []
    for place, line in enumerate(lines):
        if line["what"] == "ask":
            end = lines[place + 1] if place + 1 < len(lines) else {}
            found.append(
                Operation(
                    cost=Fraction(line["cost"]),
                    called=line["time"],
                    returned=end.get("time", NEVER),
                    number=end.get("number"),
                    refused=end.get("what") == "refused",
                )
            )
    return found


def charges(entries: Iterable[Entry]) -> dict[int, Fraction]:
    """What each charge of the one population took, by its number."""
    found = (entry for entry in entries if entry.kind == "charge")
    return {entry.number: Fraction(entry.content["accounts"][0][3], LOSS_UNITS) for entry in found}


def anomalies(history: Sequence[Operation], charged: dict[int, Fraction], cap: Fraction) -> list[str]:
    """Why no order of these operations explains what clients saw; grants are numbered, so the order is known.

    1. Every grant that a client saw is a charge of its cost; charges nobody saw are those of killed clients.
    2. Charges never add up to more than the cap.
    3. Of two grants, one that returned before the other was called has the smaller number.
    4. A refusal was right by the latest moment it can have been decided: with all charges up to the last one that was
       called before the refusal returned.
    """
    wrong = []
    seen = {one.number: one for one in history if one.number is not None}
    wrong += [f"grant {number} is no such charge" for number, one in seen.items() if charged.get(number) != one.cost]
    unheard = sorted(one.cost for one in history if one.number is None and not one.refused)
    lost = sorted(cost for number, cost in charged.items() if number not in seen)
    for cost in lost:
        if cost not in unheard:
            wrong.append(f"a charge of {cost} that nobody asked for")
        else:
            unheard.remove(cost)
    if sum(charged.values()) > cap:
        wrong.append("overspent")
    latest = 0
    ends = sorted((one.returned, one.number) for one in seen.values() if one.number is not None)
    for one in sorted(seen.values(), key=lambda one: one.called):
        while ends and ends[0][0] < one.called:
            latest = max(latest, ends.pop(0)[1])
        if one.number is not None and one.number < latest:
            wrong.append(f"grant {one.number} was called after grant {latest} had returned")
    for one in history:
        if one.refused:
            last = max((other.number or 0 for other in seen.values() if other.called < one.returned), default=0)
            spent = sum(cost for number, cost in charged.items() if number <= last or number not in seen)
            if spent + one.cost <= cap:
                wrong.append(f"a refusal of {one.cost} with {spent} of {cap} spent")
    return wrong


def test_anomalies_are_found() -> None:
    """The checker itself: right histories pass, and each kind of wrong one is told."""
    one = Operation(cost=Fraction(1), called=1, returned=2, number=2)
    two = Operation(cost=Fraction(1), called=3, returned=4, number=3)
    no = Operation(cost=Fraction(1), called=5, returned=6, refused=True)
    costs = {2: Fraction(1), 3: Fraction(1)}
    assert anomalies([one, two, no], costs, Fraction(2)) == []
    assert anomalies([one, two, no], costs, Fraction(3)) == ["a refusal of 1 with 2 of 3 spent"]
    assert anomalies([one, two], costs, Fraction(1)) == ["overspent"]
    assert anomalies([one], costs, Fraction(2)) == ["a charge of 1 that nobody asked for"]
    assert anomalies([one, two], {2: Fraction(1)}, Fraction(2)) == ["grant 3 is no such charge"]
    swapped = [
        Operation(cost=Fraction(1), called=3, returned=4, number=2),
        Operation(cost=Fraction(1), called=1, returned=2, number=3),
    ]
    assert anomalies(swapped, costs, Fraction(2)) == ["grant 2 was called after grant 3 had returned"]
    early = Operation(cost=Fraction(1), called=1, returned=2, refused=True)
    assert len(anomalies([early, two], {3: Fraction(1)}, Fraction(1))) == 1
    killed = Operation(cost=Fraction(1), called=1)
    assert anomalies([killed, two, no], costs, Fraction(2)) == []


def check_cap(place: Place, folder: Path, clients: int, cap: int) -> None:
    ledger = place.with_people(cap)
    ledger.close()
    history = [one for lines in crowds.run("spend_all", place, folder, count=clients) for one in operations(lines)]
    granted = [one for one in history if one.number is not None]
    assert len(granted) == cap
    assert any(one.refused for one in history)
    ledger = place.open()
    charged = charges(ledger.entries())
    assert anomalies(history, charged, Fraction(cap)) == []
    assert ledger.account(PEOPLE).spent.loss == cap * LOSS_UNITS
    assert ledger.verify() == ()


def check_history(place: Place, folder: Path, clients: int, cap: int) -> None:
    place.with_people(cap).close()
    lines = crowds.run("wander", place, folder, count=clients)
    history = [one for client in lines for one in operations(client)]
    assert len(history) > 2 * clients
    ledger = place.open()
    assert anomalies(history, charges(ledger.entries()), Fraction(cap)) == []
    assert ledger.verify() == ()


def check_kills(place: Place, folder: Path, kills: int) -> None:
    place.with_people(1000).close()
    clients = crowds.run("answer_for_ever", place, folder, count=kills, longest=0.15)
    ledger = place.open()
    entries = ledger.entries()
    charged = {entry.number for entry in entries if entry.kind == "charge"}
    answers = {
        content["charge"]: content["answer"] for content in (one.content for one in entries if one.kind == "answer")
    }
    said = [line for client in clients for line in client if line["what"] == "answer"]
    assert sum(any(line["what"] == "answer" for line in client) for client in clients) >= kills // 2  # killed at work
    for line in said:
        assert line["number"] in charged
        assert answers[line["number"]] == {"n": line["n"]}
    assert set(answers) <= charged
    assert len(charged) - len(answers) <= kills
    assert len(answers) - len(said) <= kills
    assert ledger.account(PEOPLE).spent.loss == len(charged) * 1000
    assert ledger.verify() == ()


def test_a_new_ledger_is_named_once_however_many_open_it(any_place: Place, tmp_path: Path) -> None:
    names = [line["name"] for lines in crowds.run("begin", any_place, tmp_path / "said", count=12) for line in lines]
    assert len(names) == 12
    assert len(set(names)) == 1
    assert any_place.open().id == names[0]
    assert [path.stem for path in any_place.heads.iterdir()] == [names[0]]


def test_kills_leave_no_answer_without_its_charge(place: Place, tmp_path: Path) -> None:
    check_kills(place, tmp_path / "said", 50)


def test_many_processes_spend_exactly_the_cap(any_place: Place, tmp_path: Path) -> None:
    check_cap(any_place, tmp_path / "said", 16, 40)


@pytest.mark.parametrize("turn", range(2))
def test_histories_can_be_put_in_one_order(any_place: Place, tmp_path: Path, turn: int) -> None:
    check_history(any_place, tmp_path / f"said{turn}", 16, 25)


@pytest.mark.slow
def test_a_thousand_kills_leave_no_answer_without_its_charge(place: Place, tmp_path: Path) -> None:
    check_kills(place, tmp_path / "said", 1000)


@pytest.mark.slow
def test_kills_leave_nothing_behind_on_postgresql(served_place: Place, tmp_path: Path) -> None:
    check_kills(served_place, tmp_path / "said", 200)


@pytest.mark.slow
@pytest.mark.parametrize("turn", range(20))
def test_sixty_four_processes_spend_exactly_one_hundred(any_place: Place, tmp_path: Path, turn: int) -> None:
    check_cap(any_place, tmp_path / f"said{turn}", 64, 100)


@pytest.mark.slow
@pytest.mark.parametrize("turn", range(25))
def test_fifty_histories_of_sixty_four_clients(any_place: Place, tmp_path: Path, turn: int) -> None:
    check_history(any_place, tmp_path / f"said{turn}", 64, 100)
