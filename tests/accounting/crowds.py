"""Many clients of one ledger, each a process of its own: `python -m tests.accounting.crowds`, a task on standard input.

A process without threads forks the clients, so that a thousand of them cost little. Clients write what happened to
files of their own, with the system's monotonic clock, which all processes share; a line that was cut off by a kill is
no line. What they report is printed as JSON.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from discreet.accounting.ledger import Ledger
from discreet.errors import BudgetError, FolderError
from tests.accounting.places import Place, charge_of

_FAIL = 70
_BEGUN_WITHIN = 30.0  # seconds

Client = Callable[[int, Place, Path], None]


def run(
    task: str, place: Place, folder: Path, *, under: Sequence[str] = (), **settings: Any
) -> list[list[dict[str, Any]]]:
    """Let a crowd do a task in a clean process, perhaps under another program; what each client said."""
    folder.mkdir()
    given = {"task": task, "url": place.url, "heads": str(place.heads), "folder": str(folder), **settings}
    command = [*under, sys.executable, "-m", "tests.accounting.crowds"]
    done = subprocess.run(command, input=json.dumps(given), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [said(path) for path in sorted(folder.iterdir())]


def said(path: Path) -> list[dict[str, Any]]:
    """The whole lines of one client."""
    lines = path.read_text().split("\n")[:-1]
    return [json.loads(line) for line in lines]


def say(file: int, **facts: object) -> None:
    """One line, in one write."""
    os.write(file, (json.dumps({**facts, "time": time.monotonic_ns()}) + "\n").encode())


def ask(ledger: Ledger, file: int, cost: str, plan: int | None = None) -> bool:
    """One spend, noted before and after."""
    say(file, what="ask", cost=cost)
    try:
        grant = ledger.spend(charge_of(cost, plan=plan))
    except BudgetError:
        say(file, what="refused")
        return False
    say(file, what="granted", number=grant.number)
    return True


def spend_all(number: int, place: Place, folder: Path) -> None:
    """Ask for 1 until it is refused, five times at the most."""
    file = _file(folder, number)
    ledger = place.open()
    for _ in range(5):
        if not ask(ledger, file, "1"):
            break


def wander(number: int, place: Place, folder: Path) -> None:
    """Ask for different amounts, with pauses; sometimes die in the middle."""
    chance = random.Random(f"{folder.name} {number}")
    file = _file(folder, number)
    ledger = place.open()
    if number % 8 == 0:
        signal.setitimer(signal.ITIMER_REAL, chance.uniform(0.01, 0.5))
    for _ in range(4):
        time.sleep(chance.choice([0, 0, 0.001, 0.02]))
        ask(ledger, file, chance.choice(["1", "0.5", "2.25", "0.001"]))


def answer_for_ever(number: int, place: Place, folder: Path) -> None:
    """Spend and settle until that fails; an answer is said only after it was settled."""
    answer(number, place, folder, 10**6)


def answer_often(number: int, place: Place, folder: Path) -> None:
    """Spend and settle a hundred times."""
    answer(number, place, folder, 100)


def answer(number: int, place: Place, folder: Path, turns: int) -> None:
    """Spend and settle so many times."""
    file = _file(folder, number)
    try:
        ledger = place.open()
        for turn in range(turns):
            say(file, what="ask")
            grant = ledger.spend(charge_of("1e-6", plan=number * 10**6 + turn))
            ledger.settle(grant, {"n": turn})
            say(file, what="answer", number=grant.number, n=turn)
    except FolderError as error:
        say(file, what="error", line=str(error))


def share(number: int, place: Place, folder: Path) -> None:
    """Fork with an open ledger, twice over; all go on with what they have, and the eldest closes first."""
    file = _file(folder, number)
    ledger = place.open()
    ask(ledger, file, "1")
    elder = os.fork() and os.fork()
    for _ in range(5):
        ask(ledger, file, "1")
    ledger.close()
    if elder:
        os.wait()
        os.wait()


def fork_in_a_change(number: int, place: Place, folder: Path) -> None:
    """Fork while a transaction runs; the child must not touch it."""
    file = _file(folder, number)
    ledger = place.open()
    with ledger._store.changing():
        child = os.fork()
        if not child:
            try:
                ledger.spend(charge_of("1"))
            except FolderError as error:
                say(file, what="error", line=str(error))
            os._exit(0)
        os.wait()
    ask(ledger, file, "1")


def begin(number: int, place: Place, folder: Path) -> None:
    """Open the ledger, which may not be there yet, and say its name."""
    file = _file(folder, number)
    say(file, what="opened", name=place.open().id)


_CLIENTS: dict[str, Client] = {
    client.__name__: client
    for client in (begin, spend_all, wander, answer_for_ever, answer_often, share, fork_in_a_change)
}


def fork(client: Client, number: int, place: Place, folder: Path) -> int:
    """A process that is one client."""
    child = os.fork()
    if child:
        return child
    code = _FAIL
    try:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        client(number, place, folder)
        code = 0
    finally:
        os._exit(code)


def gather(client: Client, place: Place, folder: Path, count: int) -> Iterator[int]:
    """Start all clients at once and wait for each; how they ended."""
    children = [fork(client, number, place, folder) for number in range(count)]
    for child in children:
        yield os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def kill_one_by_one(client: Client, place: Place, folder: Path, count: int, longest: float) -> Iterator[int]:
    """Start a client, kill it at a random moment, and so on; every other one when it has said an answer.

    So half of them are killed at work however slow the machine is, and the others anywhere from their start on.
    """
    chance = random.Random(folder.name)
    for number in range(count):
        child = fork(client, number, place, folder)
        deadline = time.monotonic() + _BEGUN_WITHIN
        while number % 2 and not _has_answered(folder, number) and time.monotonic() < deadline:
            time.sleep(0.001)
        time.sleep(chance.uniform(0, longest))
        os.kill(child, signal.SIGKILL)
        yield os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _has_answered(folder: Path, number: int) -> bool:
    path = folder / f"{number:05}"
    return path.exists() and any(line["what"] == "answer" for line in said(path))


def _file(folder: Path, number: int) -> int:
    return os.open(folder / f"{number:05}", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)


def main() -> None:
    """Do the task on standard input; 1 if a client failed otherwise than by a signal."""
    task = json.loads(sys.stdin.read())
    place = Place(url=task["url"], heads=Path(task["heads"]))
    client, folder = _CLIENTS[task["task"]], Path(task["folder"])
    if "longest" in task:
        codes = list(kill_one_by_one(client, place, folder, task["count"], task["longest"]))
    else:
        codes = list(gather(client, place, folder, task["count"]))
    sys.exit(int(any(code > 0 for code in codes)))


if __name__ == "__main__":
    main()
