"""Copies as files for other programs: CSV, Parquet, SPSS or Stata, with a codebook and scripts that pool.

    copy-01.csv …      one file for each copy, rows in the order of the table
    codebook.md        what each column is, and which were replaced
    pool.R, pool.do    fits pooled by the rule of these copies

1. The folder must be new or empty. Files are written beside it under another name and put in place together, so that
   none is there half-made; they are readable by their owner only until he shares them.
2. In SPSS and Stata files texts become codes with value labels, the same in every copy, and names that these programs
   do not take are changed; the codebook has both names.
3. The codebook is made of the copies alone: it says nothing of the original that they do not.
"""

from __future__ import annotations

import math
import re
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from discreet.check import one_of
from discreet.data.aligned import as_lists
from discreet.errors import FileError, MissingExtraError
from discreet.stats.survey import Sampling
from discreet.synthesis.imputation.copies import Copies
from discreet.synthesis.imputation.scripts import FORMULAS, r_script, stata_script

__all__ = ["Exported", "export_copies"]

_ENDINGS = {"csv": "csv", "parquet": "parquet", "spss": "sav", "stata": "dta"}
_LEVELS_SHOWN = 30
_STATA_NAME, _SPSS_NAME = 32, 64
# Words of Stata and SPSS that name no variable.
_RESERVED = frozenset(
    "all and by byte double eq float ge gt if in int le long lt ne not or str strl to using with".split()  # noqa: SIM905
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """Where copies were written, and under which names."""

    folder: Path
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class _Variable:
    """One column over all copies: its name in the files, its texts in order if it holds texts."""

    name: str
    written: str
    texts: tuple[str, ...]
    low: float | None
    high: float | None
    gaps: bool


def export_copies(
    copies: Copies,
    into: Path,
    *,
    form: str = "csv",
    title: str = "copies",
    before: Callable[[], object] = lambda: None,
) -> Exported:
    """Write the copies, the codebook and the scripts; `before` is called when all is ready and nothing is visible."""
    one_of("format", form, tuple(_ENDINGS))
    ending = _ENDINGS[form]
    frames = [as_lists(frame) for frame in copies]
    variables = _variables(frames, form)
    try:
        if into.exists() and (not into.is_dir() or any(into.iterdir())):
            raise _unusable(into, "something is there already")
        into.parent.mkdir(parents=True, exist_ok=True)
        passing = Path(tempfile.mkdtemp(prefix=f".{into.name}.", dir=into.parent))
        try:
            for number, lists in enumerate(frames, start=1):
                _write(lists, variables, passing / f"copy-{number:02d}.{ending}", form)
            (passing / "codebook.md").write_text(_codebook(copies, variables, form, title), encoding="utf-8")
            named = _with_written_design(copies, variables)
            (passing / "pool.R").write_text(r_script(named, form, ending, title), encoding="utf-8")
            (passing / "pool.do").write_text(stata_script(named, form, ending, title), encoding="utf-8")
            for file in passing.iterdir():
                file.chmod(0o600)
            before()
            passing.replace(into)
        finally:
            shutil.rmtree(passing, ignore_errors=True)
    except OSError as error:
        raise _unusable(into, (error.strerror or "an error of the file system").lower()) from None
    return Exported(folder=into, files=tuple(sorted(path.name for path in into.iterdir())))


def _with_written_design(copies: Copies, variables: Sequence[_Variable]) -> Copies:
    """The copies, with the columns of their design under the names they have in the files."""
    written = {one.name: one.written for one in variables}
    parts = {part: None if name is None else written[name] for part, name in asdict(copies.sampling).items()}
    return replace(copies, sampling=Sampling(**parts))


def _write(lists: dict[str, list[Any]], variables: Sequence[_Variable], path: Path, form: str) -> None:
    if form in ("csv", "parquet"):
        table = _arrow().table({one.written: lists[one.name] for one in variables})
        if form == "parquet":
            import pyarrow.parquet

            pyarrow.parquet.write_table(table, path)
        else:
            import pyarrow.csv

            pyarrow.csv.write_csv(table, path)
        return
    try:
        import pandas as pd
        import pyreadstat
    except ImportError as absent:
        library = str(absent.name)
        extra = "files" if library == "pyreadstat" else "synthesis"
        raise MissingExtraError(f"{form} files", library=library, extra=extra) from None
    columns: dict[str, list[float]] = {}
    labels: dict[str, dict[int | float, str]] = {}
    for one in variables:
        place: dict[Any, float] = {text: float(code) for code, text in enumerate(one.texts, start=1)}
        if place:
            labels[one.written] = dict(enumerate(one.texts, start=1))
        cells = [_text(value) if place else value for value in lists[one.name]]
        columns[one.written] = [math.nan if cell is None else float(place.get(cell, cell)) for cell in cells]
    names = [one.name if one.name != one.written else None for one in variables]
    frame = pd.DataFrame(columns, dtype=float)
    writer = pyreadstat.write_sav if form == "spss" else pyreadstat.write_dta
    writer(frame, str(path), column_labels=names, variable_value_labels=labels)


def _variables(frames: Sequence[dict[str, list[Any]]], form: str) -> list[_Variable]:
    names = list(frames[0])
    written = names if form in ("csv", "parquet") else _fitting(names, _STATA_NAME if form == "stata" else _SPSS_NAME)
    found = []
    for name, short in zip(names, written, strict=True):
        there = {value for lists in frames for value in lists[name] if value is not None and value == value}
        numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in there)
        found.append(
            _Variable(
                name=name,
                written=short,
                texts=() if numbers else tuple(sorted({str(_text(value)) for value in there})),
                low=float(min(there)) if numbers and there else None,
                high=float(max(there)) if numbers and there else None,
                gaps=any(value is None or value != value for lists in frames for value in lists[name]),
            )
        )
    return found


def _text(value: Any) -> str | None:
    return None if value is None or value != value else str(value)


def _fitting(names: Sequence[str], most: int) -> list[str]:
    """Names that Stata and SPSS take: letters, digits and _, short, each once whatever its case."""
    taken: set[str] = set()
    fitting = []
    for name in names:
        plain = re.sub(r"\W", "_", name, flags=re.ASCII)[:most]
        if not re.match(r"[A-Za-z]", plain) or plain.lower() in _RESERVED:
            plain = f"v_{plain}"[:most]
        short, number = plain, 1
        while short.lower() in taken:
            number += 1
            short = f"{plain[: most - len(str(number)) - 1]}_{number}"
        taken.add(short.lower())
        fitting.append(short)
    return fitting


def _codebook(copies: Copies, variables: Sequence[_Variable], form: str, title: str) -> str:
    warning = "" if copies.publishable else "TEST COPIES, DRAWN WITH A SEED: DO NOT PUBLISH.\n\n"
    nested = f" in {copies.nests} completions" if copies.nests else ""
    lines = [
        f"# {title}\n",
        f"{warning}**THESE COPIES ARE {copies.guarantee.upper()}.**\n",
        f"{len(copies)} copies{nested}, made by {copies.method}. Replaced: {', '.join(copies.perturbed)}. "
        "All other columns are as they were in every copy, row by row.\n",
        f"Fit a model on each copy and pool the fits by {FORMULAS[copies.rule]}; `pool.R` and `pool.do` do. "
        "Do not stack the copies, and do not analyse one of them as if it were the table.\n",
        *_design(copies),
        "| column | in the files | replaced | values |",
        "|---|---|---|---|",
    ]
    for one in variables:
        cells = (one.name, one.written, "yes" if one.name in copies.perturbed else "no", _values(one, form))
        lines.append("| " + " | ".join(_cell(cell) for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def _design(copies: Copies) -> list[str]:
    parts = [f"{part} {_cell(name)}" for part, name in asdict(copies.sampling).items() if name]
    if not parts:
        return []
    return [
        f"The survey's design: {', '.join(parts)}. Fits and their variances take it into account, as the scripts show; "
        "without it intervals are those of another population, or too short.\n"
    ]


def _values(one: _Variable, form: str) -> str:
    if one.low is not None and one.high is not None:
        said = f"{one.low:.10g} to {one.high:.10g}"
    else:
        coded = form in ("spss", "stata")
        shown = [f"{code} = {text}" if coded else text for code, text in enumerate(one.texts[:_LEVELS_SHOWN], start=1)]
        more = len(one.texts) - len(shown)
        said = ", ".join(shown) + (f" and {more} more" if more else "")
    return f"{said}; some are missing" if one.gaps else said


def _cell(text: str) -> str:
    """Names and texts come out of a file: nothing in them may end the row."""
    plain = "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in text)
    return plain.replace("\\", "\\\\").replace("|", "\\|")


def _arrow() -> Any:
    try:
        import pyarrow
    except ImportError:
        raise MissingExtraError("copies", library="pyarrow", extra="synthesis") from None
    return pyarrow


def _unusable(into: Path, found: str) -> FileError:
    return FileError(
        str(into), found=found, right="copies are written to a folder that is new or empty", step="name another folder"
    )
