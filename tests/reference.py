"""Write docs/reference anew from the code: `make docs`. `tests/test_docs.py` fails when it is stale."""

from __future__ import annotations

import dataclasses
import inspect
import tempfile
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import numpy as np
import typer.main

import discreet
from discreet import errors
from discreet.cli.app import app
from discreet.data.load import Limits, ReadOptions
from discreet.demonstration import QUASI, census_excerpt
from discreet.draw import Chart
from discreet.draw.svg import to_svg
from discreet.environment import ENVIRONMENT
from discreet.evaluation import figures
from discreet.evaluation.certification import certify_mechanisms
from discreet.evaluation.copies import evaluate
from discreet.evaluation.explanation import explain, meaning_chart
from discreet.evaluation.tradeoff import trade_off
from discreet.mechanisms.certificate import Certificate
from discreet.randomness import SeededBits, keyed_generator
from tests.attacks.pictures import attack_pictures

PICTURES = Path(__file__).parent.parent / "docs" / "pictures"
REFERENCE = Path(__file__).parent.parent / "docs" / "reference"
_LONGEST_FIGURE = 40
_NOTE = "<!-- Written from the code by `make docs`; edit the code instead. -->\n\n"


def walk(command: Any, words: tuple[str, ...] = ("discreet",)) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command with the words that call it."""
    children = getattr(command, "commands", {})
    if not children:
        yield words, command
    for name in sorted(children):
        yield from walk(children[name], (*words, name))


def commands() -> str:
    """The commands: purpose, arguments, options."""
    parts = [
        "# Commands\n",
        "A command acts on the curator's folder that holds the working directory, or on `--curator DIR`.",
        "Data go to standard output, everything else to standard error. Exit codes: 0 done, 1 a check failed,",
        "2 bad input, 3 the budget refuses, 4 no result: what was charged stays charged.\n",
    ]
    for words, command in walk(typer.main.get_command(app)):
        parts.append(f"## {' '.join(words)}\n\n{command.help}\n")
        for parameter in command.params:
            words_of = (
                [parameter.metavar or parameter.name] if parameter.param_type_name == "argument" else parameter.opts
            )
            value = f" {parameter.metavar}" if parameter.param_type_name == "option" and parameter.metavar else ""
            parts.append(f"* `{', '.join(words_of)}{value}`: {parameter.help}")
        parts.append("")
    return "\n".join(parts)


def error_tree() -> str:
    """The tree of errors, and each of them with its exit code."""
    tree = inspect.cleandoc(errors.__doc__ or "").split("\n\n")
    parts = ["# Errors\n", f"```text\n{tree[1]}\n```\n", f"{tree[2]}\n"]
    for name in sorted(errors.__all__):
        kind = getattr(errors, name)
        parts.append(f"* `{name}` (exit code {kind.exit_code}): {inspect.cleandoc(kind.__doc__ or '')}")
    return "\n".join(parts) + "\n"


def public_names() -> str:
    """What `import discreet` offers."""
    parts = ["# Python\n"]
    for name in discreet.__all__:
        thing = getattr(discreet, name)
        parts.append(f"## discreet.{name}\n\n{_summary(thing)}\n")
        parts.extend(f"* `{line}`: {text}" for line, text in _members(thing))
        parts.append("")
    return "\n".join(parts)


def _members(thing: type) -> Iterator[tuple[str, str]]:
    # What is inherited from one of our own classes is offered just as well.
    own = [one for one in reversed(thing.__mro__) if one.__module__.startswith("discreet.")]
    members = {name: raw for one in own for name, raw in vars(one).items()}
    if inspect.isfunction(made := members.get("__init__")) and made.__doc__:
        yield f"{thing.__name__}{_signature(made)}", _summary(made)
    for name, raw in sorted(members.items()):
        if name.startswith("_") or not inspect.getdoc(raw):
            continue
        function = raw.__func__ if isinstance(raw, classmethod | staticmethod) else raw
        if isinstance(raw, property):
            yield name, _summary(raw)
        elif inspect.isfunction(function):
            yield f"{name}{_signature(function)}", _summary(function)


def _signature(function: Callable[..., object]) -> str:
    signature = inspect.signature(function)
    kept = [one for one in signature.parameters.values() if one.name not in ("self", "cls")]
    return str(signature.replace(parameters=kept)).replace("'", "")


def _summary(thing: object) -> str:
    return (inspect.getdoc(thing) or "").split("\n\n")[0].replace("\n", " ")


def settings() -> str:
    """The settings of the import with their defaults, and the environment variables that are read."""
    parts = ["# Settings\n", "## Environment variables\n"]
    parts += [*(f"* `{name}`: {what}" for name, what in ENVIRONMENT.items()), ""]
    parts.append("The settings of the import follow. The command line takes limits as `--limit NAME=N`.\n")
    for kind in (ReadOptions, Limits):
        parts.append(f"## {kind.__name__}\n\n{_summary(kind)}\n")
        for field in dataclasses.fields(kind):
            parts.append(f"* `{field.name}`: {field.type}, default `{field.default!r}`")
        parts.append("")
    return "\n".join(parts)


def contract_fields() -> str:
    """The fields of a contract, from its JSON schema."""
    schema = discreet.Contract.editor_schema()
    parts = ["# Fields of a contract\n"]
    for name, part in [("Contract", schema), *sorted(schema.get("$defs", {}).items())]:
        if "properties" not in part:
            continue
        parts.append(f"## {name}\n\n{(part.get('description') or '').replace(chr(10), ' ')}\n")
        for field, what in part["properties"].items():
            parts.append(f"* `{field}`: {(what.get('description') or what.get('title') or '').replace(chr(10), ' ')}")
        parts.append("")
    return "\n".join(parts)


def certificates() -> str:
    """The exact certificates of all mechanisms, and of the designs that must fail."""
    checked = certify_mechanisms().certificates
    parts = [
        "# Certificates of the mechanisms\n",
        "Each line is one law, enumerated in exact fractions over all ordered pairs of neighbours of a small domain.",
        "`discreet verify mechanisms` does it all again on your machine; `--json` adds the pair and output that tell",
        "most. Odds are e^ε; the exact odds are the largest ratio of two chances of one output, the exact δ is what",
        "the claimed odds miss at most. *Tight*: nothing smaller holds. *Slack*: it holds with room to spare.",
        "Gaussian weights are no fractions: there a law in fractions stands that tells no less, and by less than 2⁻⁹⁰",
        "more; the claimed odds are e^ε rounded down. Figures too long for a line are rounded here, not in `--json`.",
        "A certificate finds wrong scales, sensitivities, thresholds and clamps; it says nothing beyond its domain.\n",
        "## Promises that hold\n",
        *_certificate_table(one for one in checked if not one.claim.must_fail),
        "\n## Designs that fail, and are caught\n",
        "They look private and are not. The verifier must find each of them *violated*.\n",
        *_certificate_table(one for one in checked if one.claim.must_fail),
    ]
    return "\n".join(parts)


def _certificate_table(certificates: Iterable[Certificate]) -> Iterator[str]:
    yield "| certificate | neighbours | domain | pairs | claimed odds | exact odds | claimed δ | exact δ | verdict |"
    yield "|---|---|---|---:|---:|---:|---:|---:|---|"
    for one in certificates:
        odds = "infinite" if one.odds is None else one.odds
        numbers = one.pairs, one.claim.odds, odds, one.claim.delta, one.delta
        yield f"| `{one.claim.name}` | {one.claim.relation} | {one.claim.domain} | " + " | ".join(
            [*map(_figure, numbers), f"{one.verdict} |"]
        )


def _figure(number: object) -> str:
    """An exact number, or its size where it is too long for a page: the JSON has all of it."""
    whole = isinstance(number, Fraction) and len(str(number)) > _LONGEST_FIGURE
    return f"≈ {float(number):.5g}" if whole and isinstance(number, Fraction) else str(number)


PAGES: dict[str, Callable[[], str]] = {
    "certificates.md": certificates,
    "commands.md": commands,
    "contract.md": contract_fields,
    "errors.md": error_tree,
    "python.md": public_names,
    "settings.md": settings,
}


def page(name: str) -> str:
    """One page as it should stand on disk."""
    return _NOTE + PAGES[name]().rstrip() + "\n"


def pictures() -> dict[str, str]:
    """The pictures of the README and the docs, drawn by the product from its laws and from bundled public data."""
    with tempfile.TemporaryDirectory() as place:
        curator = discreet.Curator(place)
        curator.add(census_excerpt(), name="census")
        growth = curator.assess("census", QUASI).charts()[0]
    charts = {
        **attack_pictures(),
        "answer": older_people(),
        "belief": meaning_chart(explain(1, prior="0.1")),
        "counting": figures.counting(),
        "laplace": figures.densities((0, 1), (0, 2), (0, 4), (-5, 4)),
        "linear": figures.linear(10_000),
        "losses": figures.losses(1, 2, 4),
        "outputs": figures.outputs(),
        "scales": figures.densities((0, 1), (0, 2), (0, 4)),
        "tradeoff": noisy_ages(),
        "uniqueness": growth,
    }
    return {f"{name}.svg": to_svg(chart) for name, chart in charts.items()}


def older_people() -> Chart:
    """The picture of docs/guides/ask.md: an answer about the census excerpt, from bits of a seed, so for teaching."""
    with tempfile.TemporaryDirectory() as place, as_file(files("discreet.examples")) as examples:
        curator = discreet.Curator(Path(place, "office"), heads=Path(place, "heads"))
        census = examples / "census_excerpt.csv.gz"
        curator.add(census, name="census", contract=examples / "census.yaml", options=ReadOptions(nulls=("N",)))
        share = "100 * SUM(CASE WHEN AGEP > 60 THEN 1 ELSE 0 END) / COUNT(*)"
        text = f'SELECT PUMA, {share} AS "people above sixty, in %" FROM census GROUP BY PUMA'
        chart = curator.sql(text, epsilon="0.2").run(bits=SeededBits(2), teaching=True).chart()
        curator.ledger.close()
    assert isinstance(chart, Chart)
    return chart


def noisy_ages() -> Chart:
    """The picture of docs/explain/evaluation.md: three strengths of noise on the ages of one area of the census."""
    rows = discreet.Curator.rows_of(census_excerpt(), options=ReadOptions(nulls=("N",))).to_pydict()
    names = ("AGEP", "SEX", "EDU", "PINCP_DECILE")
    here = [at for at, area in enumerate(rows["PUMA"]) if area == rows["PUMA"][0]]
    here = [at for at in here if None not in [rows[name][at] for name in names]]
    people = {name: [rows[name][at] for at in here] for name in names}
    draw, found = keyed_generator(1), {}
    for years in (1, 4, 16):
        ages = [np.round(people["AGEP"] + draw.normal(0, years, len(here))).tolist() for _ in range(5)]
        found[f"noise of {years} year{'s' * (years > 1)}"] = evaluate(
            people,
            [{**people, "AGEP": age} for age in ages],
            model="PINCP_DECILE ~ AGEP + C(SEX) + EDU",
            keys=["AGEP", "SEX", "EDU"],
            tolerances={"AGEP": 1},
            generator=keyed_generator(2),
        )
    chart = trade_off(found)
    assert chart is not None
    return chart


def main() -> None:
    """Write all pages and pictures."""
    REFERENCE.mkdir(parents=True, exist_ok=True)
    for name, picture in pictures().items():
        (PICTURES / name).write_text(picture, encoding="utf-8")
    for name in PAGES:
        (REFERENCE / name).write_text(page(name), encoding="utf-8")


if __name__ == "__main__":
    main()
