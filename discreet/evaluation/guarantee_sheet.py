"""A release's guarantee on one page, for whoever has to judge it.

The rows are ordered after the pyramid of NIST SP 800-226: the parameters on top, what could undermine them in the
middle, the exposure of the data that were collected at the bottom; each part leans on those below it. Words and rows
are Discreet's own. The publication's own list of hazards is not claimed to be covered.

Each row says what is claimed, what the claim rests on (a field of the receipt, a test, a document, a command) and what
is not claimed.

Tested: test_every_row_rests_on_something_that_exists.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from discreet.accounting.receipt import Receipt, Verdict
from discreet.draw import Block, Callout, Grid, GridColumn, Heading, Page, Paragraph
from discreet.errors import CheckFailedError

__all__ = ["Evidence", "Level", "Row", "guarantee_rows", "guarantee_sheet"]

Level: TypeAlias = Literal["top", "middle", "bottom"]
Source: TypeAlias = Literal["receipt", "test", "document", "command"]

_HEADINGS: dict[Level, str] = {
    "top": "Top: the parameters",
    "middle": "Middle: what could undermine them",
    "bottom": "Bottom: exposure of the data",
}


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a claim rests on: a field of the receipt, a test, a document or a command, by its name."""

    source: Source
    name: str

    def __str__(self) -> str:
        return f"{self.source} {self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One claim, what it rests on, and what is not claimed."""

    level: Level
    topic: str
    claim: str
    rests_on: tuple[Evidence, ...]
    not_claimed: str


def guarantee_sheet(verdict: Verdict) -> Page:
    """The page of a receipt whose signature held; one of teaching output is marked as such."""
    receipt = verdict.receipt
    if receipt is None or verdict.outcome == "rejected":
        raise CheckFailedError(
            "guarantee sheet",
            found="a receipt that is not good",
            right="only what verifies has a sheet",
            step="verify the receipt first",
        )
    rows = guarantee_rows(receipt)
    lead, *more = receipt.sentences()
    blocks: list[Block] = [Callout("guarantee" if verdict.holds else "warning", verdict.sentence)]
    blocks += [Paragraph(sentence) for sentence in more]
    for level, heading in _HEADINGS.items():
        blocks += [Heading(heading), _grid(heading, tuple(row for row in rows if row.level == level))]
    blocks.append(
        Paragraph(
            "Ordered after the pyramid of NIST SP 800-226, in Discreet's own words. That publication's list of hazards "
            "is not claimed to be covered."
        )
    )
    return Page(title=f"What release {receipt.release[:8]} guarantees", lead=lead, blocks=tuple(blocks))


def guarantee_rows(receipt: Receipt) -> tuple[Row, ...]:
    """All rows, from the top of the pyramid to its bottom."""
    return (*_top(receipt), *_middle_of_release(receipt), *_middle_of_system(), *_bottom(receipt))


def _top(receipt: Receipt) -> tuple[Row, ...]:
    pair = receipt.guarantee.group(2)
    return (
        Row(
            level="top",
            topic="Parameters",
            claim=f"{receipt.guarantee} for this release.",
            rests_on=(
                Evidence("receipt", "guarantee"),
                Evidence("test", "test_price_bounds_the_exact_law"),
                Evidence("command", "discreet explain epsilon"),
            ),
            not_claimed="That this is small enough for these persons; what other releases of them cost.",
        ),
        Row(
            level="top",
            topic="Unit and neighbours",
            claim=f"Protects each {receipt.unit}; neighbours are {receipt.adjacency.value}.",
            rests_on=(
                Evidence("receipt", "unit"),
                Evidence("receipt", "adjacency"),
                Evidence("document", "docs/explain/contract.md"),
                Evidence("command", "discreet contract check"),
            ),
            not_claimed="Secrets of a whole group or a family as of one unit.",
        ),
        Row(
            level="top",
            topic="Groups",
            claim=f"Two units together: {pair}.",
            rests_on=(
                Evidence("test", "test_group_privacy_holds_over_all_tables"),
                Evidence("test", "test_group_privacy_is_reached"),
            ),
            not_claimed="Protection of a fact that many units share, such as a general finding.",
        ),
    )


def _middle_of_release(receipt: Receipt) -> tuple[Row, ...]:
    return (
        Row(
            level="middle",
            topic="Algorithms and correctness",
            claim="The events of the receipt cost no more than its parameters, and noise follows its exact law.",
            rests_on=(
                Evidence("receipt", "event"),
                Evidence("test", "test_draws_follow_the_exact_law"),
                Evidence("test", "test_every_promise_holds_and_every_counterexample_is_caught"),
                Evidence("command", "discreet verify mechanisms"),
            ),
            not_claimed="A machine-checked proof of the code; certificates are exact on small domains.",
        ),
        Row(
            level="middle",
            topic="Sensitivity",
            claim="One unit moves the answer by no more than the receipt's proof says.",
            rests_on=(Evidence("receipt", "sensitivity"), Evidence("receipt", "contract")),
            not_claimed="That the contract is true: a unit with more rows than declared is outside it.",
        ),
        Row(
            level="middle",
            topic="Composition",
            claim=f"Charged as entry {receipt.entry} of the ledger; prices of chosen-one-by-one releases add exactly.",
            rests_on=(
                Evidence("receipt", "entry"),
                Evidence("test", "test_adaptive_choice_keeps_the_sum_exactly"),
                Evidence("test", "test_apart_pays_the_dearest"),
            ),
            not_claimed="Anything of releases made without this ledger.",
        ),
        Row(
            level="middle",
            topic="Utility",
            claim="The noise has the variance and the intervals that are stated for it.",
            rests_on=(
                Evidence("test", "test_moments_chances_and_intervals_of_laplace_noise"),
                Evidence("test", "test_moments_chances_and_intervals_of_gaussian_noise"),
            ),
            not_claimed="That the answer is good enough; errors of sampling and of measurement.",
        ),
        Row(
            level="middle",
            topic="Bias",
            claim="What is clamped, cut off or left out is in the plan and the contract.",
            rests_on=(Evidence("receipt", "plan"), Evidence("document", "docs/explain/contract.md")),
            not_claimed="Fairness: noise weighs more on small groups, and bias in the data stays in the answer.",
        ),
    )


def _middle_of_system() -> tuple[Row, ...]:
    return (
        Row(
            level="middle",
            topic="Trust model",
            claim="Central: who holds the curator's folder and key is trusted with the data and the signature.",
            rests_on=(Evidence("document", "SECURITY.md"), Evidence("document", "docs/explain/receipt.md")),
            not_claimed="Protection against the keeper, or against other programs on the keeper's machine.",
        ),
        Row(
            level="middle",
            topic="Integrity",
            claim="Nothing in the receipt was altered since the key's owner signed it.",
            rests_on=(
                Evidence("test", "test_no_leaf_can_be_altered"),
                Evidence("test", "test_revocation_policy_on_dates"),
                Evidence("document", "docs/explain/receipt.md"),
            ),
            not_claimed="That the keeper told the truth, or that the key was not stolen unnoticed.",
        ),
        Row(
            level="middle",
            topic="Side channels",
            claim="No floating point in the noise; neither errors nor the receipt depend on the data.",
            rests_on=(
                Evidence("test", "test_the_grid_of_integer_noise_tells_nothing"),
                Evidence("test", "test_errors_say_nothing_of_the_data"),
                Evidence("test", "test_neighbours_have_the_same_receipt"),
            ),
            not_claimed="How long a query takes, caches, power, and whatever hardware tells.",
        ),
    )


def _bottom(receipt: Receipt) -> tuple[Row, ...]:
    return (
        Row(
            level="bottom",
            topic="Storage and access",
            claim="The folder is its owner's only; the engine reaches no file and no network.",
            rests_on=(
                Evidence("test", "test_folder_open_to_others_is_refused"),
                Evidence("test", "test_the_walls_stop_it"),
                Evidence("document", "SECURITY.md"),
            ),
            not_claimed="Encryption of the data at rest; backups and copies made elsewhere.",
        ),
        Row(
            level="bottom",
            topic="Other publications",
            claim=f"Recorded outside the guarantee: {'; '.join(receipt.outside) or 'none'}. "
            f"Facts drafted from the data: {'; '.join(receipt.drafted) or 'none'}.",
            rests_on=(Evidence("receipt", "outside"), Evidence("receipt", "drafted")),
            not_claimed="What was published of these persons without Discreet.",
        ),
        Row(
            level="bottom",
            topic="Data collection",
            claim="Nothing: the data were collected in the clear before Discreet saw them.",
            rests_on=(Evidence("document", "docs/explain/receipt.md"),),
            not_claimed="That they were collected lawfully, with consent, or should have been at all.",
        ),
    )


def _grid(title: str, rows: tuple[Row, ...]) -> Grid:
    names = ("topic", "what is claimed", "what it rests on", "what is not claimed")
    cells = tuple((row.topic, row.claim, ", ".join(map(str, row.rests_on)), row.not_claimed) for row in rows)
    return Grid(title, tuple(GridColumn(name) for name in names), cells)
