"""An answer as a file: CSV, Parquet or JSON for machines, a page, a notebook, a script, and YAML that can be replayed.

Each holds what was released and public facts, nothing else. The receipt is inside the JSON and the notebook, and a file
of its own with the ending .receipt.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from discreet.check import one_of
from discreet.data.frame import write_parquet
from discreet.errors import ArgumentError, FileError
from discreet.query.answer import Answer
from discreet.query.depiction import answer_html, answer_page
from discreet.query.script import require_script

__all__ = ["FORMS", "require_saveable", "save"]


def save(answer: Answer, into: Path) -> Path:
    """Write the answer in the form that the file's ending names. No file is written over."""
    require_saveable(into)
    try:
        if into.suffix == ".parquet":
            write_parquet(into, _columns(answer))
        else:
            into.write_text(_WRITERS[into.suffix](answer), encoding="utf-8", newline="")
    except OSError as error:
        raise _unusable(into, (error.strerror or "it cannot be written").lower()) from None
    return into


def require_saveable(into: Path) -> None:
    """Refuse a place that an answer cannot be written to. Ask before anything is spent."""
    one_of("ending of the file", into.suffix, FORMS)
    if into.exists():
        raise _unusable(into, "it is there already")
    if not into.absolute().parent.is_dir():
        raise _unusable(into, "its folder is not there")


def _columns(answer: Answer) -> dict[str, list[Any]]:
    """Values, released numbers, standard deviations, interval ends and flags, in columns of their own kinds."""
    found: dict[str, list[Any]] = {}
    for one in answer.columns:
        found[one.name] = list(one.values)
        if one.measured:
            found[f"{one.name} raw"] = list(one.raw)
            found[f"{one.name} error"] = [error.deviation for error in one.errors]
            found[f"{one.name} low"] = [error.low for error in one.errors]
            found[f"{one.name} high"] = [error.high for error in one.errors]
            found[f"{one.name} too noisy"] = list(one.too_noisy)
    return found


def _receipt(answer: Answer) -> str:
    if answer.receipt is None:
        raise ArgumentError(
            "form of the file",
            found="a receipt of invented numbers",
            right="what was charged has one",
            step="save it in another form, or run the question",
        )
    return answer.receipt.text()


def _notebook(answer: Answer) -> str:
    """Notebook format 4.5: the answer as it was given, and the lines that ask for it again."""
    script = require_script(answer.script)
    asked = "\n\n".join(f"```sql\n{text}\n```" for text in script.questions)
    words = "\n".join(f"* {line}" for line in answer.sentences())
    head = f"# Answer from {answer.question.table}\n\n{asked}\n\n{words}\n"
    output = {
        "output_type": "execute_result",
        "execution_count": 1,
        "metadata": {},
        "data": {"text/plain": _lines(answer.grid().text()), "text/html": _lines(answer_html(answer))},
    }
    code = f"{script.python()}answer\n"
    cells = [
        {"cell_type": "markdown", "id": "question", "metadata": {}, "source": _lines(head)},
        {
            "cell_type": "code",
            "id": "answer",
            "metadata": {},
            "execution_count": 1,
            "source": _lines(code),
            "outputs": [output],
        },
    ]
    if answer.receipt is not None:
        receipt = f"The receipt of the charge:\n\n```text\n{answer.receipt.text().strip()}\n```\n"
        cells.append({"cell_type": "markdown", "id": "receipt", "metadata": {}, "source": _lines(receipt)})
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    book = {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
        "cells": cells,
    }
    return json.dumps(book, indent=1, ensure_ascii=False) + "\n"


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def _unusable(into: Path, found: str) -> FileError:
    return FileError(
        str(into), found=found, right="an answer goes to a new file in a folder you may write to", step="name another"
    )


_WRITERS: Mapping[str, Callable[[Answer], str]] = {
    ".csv": lambda answer: answer.full_grid().csv(),
    ".html": lambda answer: answer_page(answer).html(),
    ".ipynb": _notebook,
    ".json": lambda answer: json.dumps(answer.as_json(), indent=2, ensure_ascii=False) + "\n",
    ".py": lambda answer: require_script(answer.script).python(),
    ".receipt": _receipt,
    ".yaml": lambda answer: require_script(answer.script).yaml(),
}
FORMS = (*_WRITERS, ".parquet")
