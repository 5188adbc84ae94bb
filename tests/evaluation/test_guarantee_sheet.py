"""The guarantee sheet: each row rests on something that is there, and says what is not claimed."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest
from typer.main import get_command

from discreet.accounting.receipt import Receipt, sign, verify
from discreet.cli.app import app
from discreet.draw import Callout, Grid, Heading
from discreet.errors import CheckFailedError
from discreet.evaluation.guarantee_sheet import Evidence, Row, guarantee_rows, guarantee_sheet
from discreet.guarantee import ApproxDP
from tests import reference
from tests.accounting.receipts import KEY, RECEIPT, RING, changed

ROOT = Path(__file__).parent.parent.parent
ROWS = guarantee_rows(RECEIPT)
GOOD = verify(sign(RECEIPT, KEY).text(), RING)


def exists(evidence: Evidence) -> bool:
    """Whether what a claim rests on is there."""
    if evidence.source == "receipt":
        return evidence.name in {field.name for field in fields(Receipt)}
    if evidence.source == "document":
        return (ROOT / evidence.name).is_file()
    if evidence.source == "command":
        return evidence.name in {" ".join(words) for words, _ in reference.walk(get_command(app))}
    definition = re.compile(rf"^def {evidence.name}\(", re.MULTILINE)
    return any(definition.search(path.read_text()) for path in (ROOT / "tests").rglob("test_*.py"))


def test_what_is_not_there_is_noticed() -> None:
    for source, name in (
        ("receipt", "rows"),
        ("test", "test_nobody_wrote_this"),
        ("document", "docs/none.md"),
        ("command", "discreet pray"),
    ):
        assert not exists(Evidence(source, name))  # type: ignore[arg-type]  # the pairs are of known sources


@pytest.mark.requirement("2.52")
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.topic)
def test_every_row_rests_on_something_that_exists(row: Row) -> None:
    """NIST SP 800-226, mapped onto the claims of a release: parameters, what undermines them, exposure of the data."""
    assert row.rests_on
    assert not [str(evidence) for evidence in row.rests_on if not exists(evidence)]
    assert row.claim.endswith(".")
    assert row.not_claimed.endswith(".")


@pytest.mark.requirement("2.52")
def test_rows_follow_the_pyramid() -> None:
    levels = [row.level for row in ROWS]
    assert levels == sorted(levels, key=["top", "middle", "bottom"].index)
    topics = [row.topic for row in ROWS]
    assert len(set(topics)) == len(topics)
    assert topics[0] == "Parameters"
    wanted = {"Unit and neighbours", "Algorithms and correctness", "Utility", "Bias", "Trust model", "Side channels"}
    assert wanted | {"Storage and access", "Data collection"} <= set(topics)


def test_the_page_leads_with_the_warnings_and_holds_all_rows() -> None:
    page = guarantee_sheet(GOOD)
    assert page.lead == RECEIPT.first_line()
    headings = [block.text.split(":")[0] for block in page.blocks if isinstance(block, Heading)]
    assert headings == ["Top", "Middle", "Bottom"]
    shown = [cell for block in page.blocks if isinstance(block, Grid) for row in block.rows for cell in row]
    assert {text for row in ROWS for text in (row.topic, row.claim, row.not_claimed)} <= set(shown)
    html = page.html()
    assert "ε = 0.5 for this release" in html
    assert "Two units together: ε = 1." in html
    assert "Ordered after the pyramid of NIST SP 800-226" in html


def test_the_sheet_speaks_of_its_receipt() -> None:
    other = guarantee_rows(changed(guarantee=ApproxDP.of(2, "1e-9"), unit="household", outside=(), drafted=()))
    said = " ".join(row.claim for row in other)
    assert "ε = 2, δ = 1e-9 for this release" in said
    assert "Protects each household" in said
    assert "Recorded outside the guarantee: none." in said


def test_teaching_output_has_a_marked_sheet_and_a_rejected_receipt_has_none() -> None:
    page = guarantee_sheet(verify(sign(changed(teaching=True), KEY).text(), RING))
    assert page.lead.startswith("Teaching only")
    callouts = [block.kind for block in page.blocks if isinstance(block, Callout)]
    assert callouts == ["warning"]
    assert [block.kind for block in guarantee_sheet(GOOD).blocks if isinstance(block, Callout)] == ["guarantee"]
    with pytest.raises(CheckFailedError):
        guarantee_sheet(verify("{}", RING))
