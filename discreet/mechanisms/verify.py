"""Exact certificates of every mechanism: the table behind `discreet verify mechanisms`.

Each is checked anew, over all neighbours of its domain, in exact fractions (see `certificate`). A promise must hold
and a counterexample must fail; `failures` names the entries where it is otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from discreet import check
from discreet.draw.grid import Grid, GridColumn
from discreet.guarantee import number_text
from discreet.mechanisms.catalogue import entries
from discreet.mechanisms.certificate import Certificate

__all__ = ["certify_all", "failures", "grid", "grids_in_short", "sentences"]

_LONGEST_FRACTION = 15
_LONGEST_IN_SHORT = 9


def certify_all(names: Sequence[str] | None = None) -> tuple[Certificate, ...]:
    """The certificates of all entries, or of those named."""
    named = {entry.claim.name: entry for entry in entries()}
    for name in names or ():
        check.known("certificate", name, tuple(named), step="run discreet verify mechanisms for the list")
    return tuple(named[name].certify() for name in (names or named))


def failures(certificates: Sequence[Certificate]) -> tuple[str, ...]:
    """The names of promises that do not hold and of counterexamples that are not caught."""
    return tuple(certificate.claim.name for certificate in certificates if not certificate.as_expected)


def sentences(certificates: Sequence[Certificate]) -> tuple[str, ...]:
    """The outcome, and how to read the figures, for people who never met an ε."""
    wrong = failures(certificates)
    fails = sum(one.claim.must_fail for one in certificates)
    holds = len(certificates) - fails
    told = [
        f"{number} {one if number == 1 else several}"
        for number, one, several in (
            (holds, "promise holds", "promises hold"),
            (fails, "design that only looks private is caught", "designs that only look private are caught"),
        )
        if number
    ]
    outcome = f"As it should be: {', and '.join(told)}."
    if wrong:
        outcome = f"Not as it should be: {', '.join(wrong)}."
    return (
        outcome,
        "Each line takes small tables that differ in one person and works out, as exact fractions, how likely every "
        "output is for each of them.",
        "Odds say how many times as likely one person can make an output: 1 tells nothing, and an ε promises e^ε. "
        "A δ is the chance, in all, by which outputs may exceed these odds.",
        "Tight: nothing smaller holds. Slack: it holds with room to spare. Violated: it does not hold.",
    )


def grids_in_short(certificates: Sequence[Certificate]) -> tuple[Grid, ...]:
    """What is claimed beside what is exact, as narrow as a terminal: promises, then designs that must fail."""
    columns = (GridColumn("certificate"), GridColumn("claimed"), GridColumn("exact"), GridColumn("verdict"))
    kinds = (False, "Promises"), (True, "Designs that only look private")
    parts = ((title, [one for one in certificates if one.claim.must_fail == fails]) for fails, title in kinds)
    return tuple(Grid(title, columns, tuple(_in_short(one) for one in part)) for title, part in parts if part)


def _in_short(one: Certificate) -> tuple[str, str, str, str]:
    claimed = _short(one.claim.odds, _LONGEST_IN_SHORT)
    odds = "infinite" if one.odds is None else _short(one.odds, _LONGEST_IN_SHORT)
    if one.claim.delta:
        claimed, odds = f"{claimed}, δ {number_text(one.claim.delta)}", f"δ {_short(one.delta, _LONGEST_IN_SHORT)}"
    return one.claim.name, claimed, odds, one.verdict


def grid(certificates: Sequence[Certificate]) -> Grid:
    """The certificates as a table for people."""
    columns = (
        GridColumn("certificate"),
        GridColumn("neighbours"),
        GridColumn("pairs", "count"),
        GridColumn("claimed odds e^ε"),
        GridColumn("exact odds"),
        GridColumn("claimed δ"),
        GridColumn("exact δ"),
        GridColumn("verdict"),
        GridColumn("as expected"),
    )
    rows = tuple(
        (
            one.claim.name,
            one.claim.relation,
            one.pairs,
            _short(one.claim.odds),
            "infinite" if one.odds is None else _short(one.odds),
            _short(one.claim.delta),
            _short(one.delta),
            one.verdict,
            "yes" if one.as_expected else "NO",
        )
        for one in certificates
    )
    note = "Exact fractions over all ordered neighbours of each domain; a counterexample is expected to be violated."
    return Grid("Certificates of the mechanisms", columns, rows, note)


def _short(value: Fraction, longest: int = _LONGEST_FRACTION) -> str:
    """The fraction itself where it is short, else its size."""
    text = str(value)
    return text if len(text) <= longest else f"≈ {float(value):.3g}"
