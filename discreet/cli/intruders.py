"""What the attack commands do between their options and the attacks: read records, logs and targets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from discreet.attacking import records_in, records_of_file
from discreet.attacks.averaging import Averaging, average
from discreet.attacks.composition import Composition, compose
from discreet.attacks.condition import Value, parse_clause, read_value
from discreet.attacks.detector import Detection, detect
from discreet.attacks.differencing import Differencing, difference
from discreet.attacks.keepers import exact_keeper, private_keeper, suppressing_keeper
from discreet.attacks.linkage import Linkage, attack_ratings
from discreet.attacks.ratings import invented_ratings
from discreet.attacks.tracing import Tracing, exact_means, private_means, trace_invented
from discreet.check import exact, known, some
from discreet.cli.options import curator_of
from discreet.errors import ArgumentError, FileError
from discreet.randomness import keyed_generator, system_bits

__all__ = ["averaged", "composed", "detected", "differenced", "linked_ratings", "records", "traced"]

_TARGETS = 1000
_LOG_BYTES_AT_MOST = 1 << 20


def records(table: str, curator: Path | None) -> dict[str, list[Any]]:
    """The rows of a table of the curator; where the name is that of a file, of the file."""
    if Path(table).suffix and Path(table).is_file():
        return records_of_file(table)
    return records_in(curator_of(curator), table)


def detected(held: dict[str, list[Any]], log: Path, threshold: int) -> Detection:
    """What the questions of a log give away."""
    try:
        text = log.read_text(encoding="utf-8") if log.stat().st_size <= _LOG_BYTES_AT_MOST else ""
    except (OSError, UnicodeDecodeError):
        text = ""
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    if not lines:
        raise FileError(
            str(log),
            found="no readable questions",
            right="it is a text file of at most a megabyte with one condition a line",
            step="write lines such as: sex = female and age >= 18",
        )
    clauses = [parse_clause(line, where=f"{log.name}, question {at}") for at, line in enumerate(lines, start=1)]
    return detect(held, clauses, threshold=threshold)


def differenced(
    held: dict[str, list[Any]], secret: str, columns: Sequence[str], least: int, epsilon: str, budget: str
) -> Differencing:
    """Two counts about each person who is alone in the known columns."""
    wanted = some("--known", columns, step="name the columns an intruder knows, the most telling one last")
    clause = parse_clause(secret, where="--secret")
    if len(clause) != 1:
        raise ArgumentError("--secret", found=f"{secret!r}", right="it is one condition", step="such as 'drugs = yes'")
    for name in (*wanted, clause[0].column):
        known("column", name, tuple(held), step="name a column of the table")
    keys = list(zip(*(held[name] for name in wanted), strict=True))
    seen = Counter(keys)
    alone = [at for at, key in enumerate(keys) if seen[key] == 1 and None not in key]
    chosen = [alone[at] for at in keyed_generator().permutation(len(alone))[:_TARGETS]]
    if not chosen:
        raise ArgumentError(
            "--known",
            found="nobody alone in these columns",
            right="two counts differ in one person only where one is alone",
            step="name more columns",
        )
    if epsilon:
        keeper = private_keeper(held, epsilon=epsilon, budget=budget, bits=system_bits())
    else:
        keeper = suppressing_keeper(held, least=least) if least > 1 else exact_keeper(held)
    targets: list[dict[str, Value]] = [dict(zip(wanted, keys[at], strict=True)) for at in chosen]
    truth = [clause[0].holds(held[clause[0].column][at]) for at in chosen]
    return difference(keeper, targets, clause[0], truth=truth)


def averaged(held: dict[str, list[Any]], where: str, epsilon: str, times: int) -> Averaging:
    """The same noisy count over and over, from a keeper whose budget is never spent."""
    price, clause = exact("--epsilon", epsilon), parse_clause(where, where="--where")
    keeper = private_keeper(held, epsilon=price, budget=price * max(times, 1), bits=system_bits())
    truth = exact_keeper(held)(clause)
    return average(lambda: keeper(clause) or 0.0, times, scale=1 / price, epsilon=price, truth=truth)


def composed(files: Sequence[Path], target: str, secret: str) -> Composition:
    """What the files leave of one person's secret."""
    pairs = [part.partition("=") for part in target.split(",")]
    if not all(sign for _, sign, _ in pairs):
        raise ArgumentError(
            "--target", found=f"{target!r}", right="it is column=value, …", step="such as age=28,zip_code=13012"
        )
    values = {name.strip(): read_value(value) for name, _, value in pairs}
    return compose([records_of_file(file) for file in files], values, secret)


def linked_ratings(progress: Callable[[str], None]) -> Linkage:
    """The scoreboard on invented ratings."""
    generator = keyed_generator()
    return attack_ratings(invented_ratings(generator), generator=generator, progress=progress)


def traced(rho: str) -> Tracing:
    """Members of invented people in their means, exact or noisy."""
    publish = exact_means if not rho else partial(private_means, rho=float(exact("--rho", rho)), bits=system_bits())
    return trace_invented(publish, generator=keyed_generator())
