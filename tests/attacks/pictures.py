"""The pictures of the guide to attacks, drawn by the product with fixed draws."""

from __future__ import annotations

import csv
from importlib.resources import files

from discreet.attacks.averaging import average
from discreet.attacks.composition import compose
from discreet.attacks.condition import parse_clause
from discreet.attacks.differencing import guess_who
from discreet.attacks.finding import Finding
from discreet.attacks.keepers import exact_keeper, private_keeper
from discreet.attacks.linkage import Knowledge, attack_ratings
from discreet.attacks.membership import Microdata, attack_microdata
from discreet.attacks.noise_curve import measure_noise
from discreet.attacks.ratings import invented_ratings
from discreet.attacks.reconstruction.reading import read_publication
from discreet.attacks.reconstruction.result import reconstruct
from discreet.attacks.tracing import exact_means, trace_invented
from discreet.demonstration import four_ways, student_survey
from discreet.draw.chart import Chart
from discreet.randomness import SeededBits, keyed_generator
from tests.attacks.blocks import BLOCK

__all__ = ["attack_pictures"]


def attack_pictures() -> dict[str, Chart]:
    """One for each page, by its name."""
    survey = student_survey()
    women = parse_clause("sex = f")
    keeper = private_keeper(survey.records, epsilon=1, budget=400, bits=SeededBits(2), teaching=True)
    truth = exact_keeper(survey.records)(women)
    ratings = invented_ratings(keyed_generator(1), people=300, items=500, mean=60)
    plans = [Knowledge(ratings=count, day_error=3) for count in (2, 3, 4, 8)]
    plans += [Knowledge(ratings=8, rating_error=1, wrong=2, day_error=14)]
    findings: dict[str, Finding] = {
        "four-ways": four_ways(),
        "linkage": attack_ratings(ratings, plans=plans, targets=80, generator=keyed_generator(2)),
        "differencing": guess_who(exact_keeper(survey.records), {"sex": "f", "age": 31}, survey.secret),
        "averaging": average(lambda: keeper(women) or 0.0, 400, scale=1, epsilon=1, truth=truth),
        "composition": compose(
            [_hospital("a"), _hospital("b")],
            {"age": 28, "zip_code": 13012},
            "condition",
        ),
        "reconstruction": reconstruct(read_publication(BLOCK).without_row("3B")),
        "linear": measure_noise(people=100, trials=1, generator=keyed_generator(1)),
        "membership": trace_invented(exact_means, people=200, attributes=2000, generator=keyed_generator(7)),
        "records": _records(),
    }
    return {f"attack-{name}": finding.charts()[0] for name, finding in findings.items()}


def _hospital(name: str) -> dict[str, list[object]]:
    text = (files("discreet.examples") / f"hospital_{name}.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(text.splitlines()))
    return {column: [row[column] for row in rows] for column in rows[0]}


def _records() -> Microdata:
    """A release that is half a copy of 400 invented people."""
    draw = keyed_generator(1)

    def people() -> dict[str, list[object]]:
        age = draw.integers(18, 90, 400)
        income = draw.normal(20 + age, 12).round(1)
        town = draw.integers(0, 12, 400).astype(str)
        return {"age": age.tolist(), "income": income.tolist(), "town": town.tolist()}

    original, control, strangers = people(), people(), people()
    half = {name: original[name][:200] + strangers[name][200:] for name in original}
    return attack_microdata(half, original, control, secret="town", guesses=150, generator=draw)
