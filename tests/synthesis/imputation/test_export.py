"""Copies as files: what other programs read back is what was written, and what their scripts pool is what we pool."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet
import pyreadstat
import pytest

from discreet.errors import ArgumentError, FileError
from discreet.stats.combine import Rule, combine
from discreet.stats.survey import Sampling
from discreet.synthesis.imputation.copies import Copies
from discreet.synthesis.imputation.export import export_copies
from discreet.synthesis.imputation.scripts import r_script, stata_script

RANDOM = np.random.default_rng(12)
N = 80
RULES = {
    Rule.PARTIAL: {},
    Rule.MISSING: {},
    Rule.FULL: {"sizes": (N, N)},
    Rule.SAMPLE: {"sizes": (N, N)},
    Rule.SAMPLE_PROPER: {"sizes": (2 * N, N)},
    Rule.NESTED: {"nests": 3},
}


def frame(shift: float) -> dict[str, list[Any]]:
    x = RANDOM.normal(0, 1, N)
    group = RANDOM.choice(["a", "b", "c"], N)
    return {
        "y": (2 * x + shift + (group == "b") + RANDOM.normal(0, 1, N)).tolist(),
        "x": x.tolist(),
        "home town": [None if row == 3 else str(one) for row, one in enumerate(group)],
        "if": [None if row == 5 else row for row in range(N)],
    }


def copies(rule: Rule = Rule.PARTIAL, count: int = 6) -> Copies:
    made = tuple(frame(RANDOM.normal(0, 0.2)) for _ in range(count))
    return Copies(frames=made, method="cart", perturbed=("x", "home town"), rule=rule, **RULES[rule])  # type: ignore[arg-type]


def read(path: Path, form: str) -> dict[str, list[Any]]:
    if form == "parquet":
        found: dict[str, list[Any]] = pyarrow.parquet.read_table(path).to_pydict()
        return found
    if form == "csv":
        table = pd.read_csv(path)
    else:
        reader = pyreadstat.read_sav if form == "spss" else pyreadstat.read_dta
        table, _ = reader(str(path), apply_value_formats=True)
    return {str(name): [None if pd.isna(v) else v for v in table[name].tolist()] for name in table.columns}


@pytest.mark.parametrize("form", ["csv", "parquet", "spss", "stata"])
def test_files_read_back_as_they_were_written(tmp_path: Path, form: str) -> None:
    made = copies(count=2)
    out = export_copies(made, tmp_path / "out", form=form, title="2 copies of homes")
    ending = {"csv": "csv", "parquet": "parquet", "spss": "sav", "stata": "dta"}[form]
    assert out.files == ("codebook.md", f"copy-01.{ending}", f"copy-02.{ending}", "pool.R", "pool.do")
    plain = form in ("csv", "parquet")
    for number, original in enumerate(made, start=1):
        back = read(out.folder / f"copy-{number:02d}.{ending}", form)
        assert list(back) == ["y", "x", "home town", "if"] if plain else ["y", "x", "home_town", "v_if"]
        for values, name in zip(back.values(), original, strict=True):
            assert values == original[name]
    assert all(path.stat().st_mode & 0o077 == 0 for path in out.folder.iterdir())
    book = (out.folder / "codebook.md").read_text()
    assert "MEASURED RISK, NOT DIFFERENTIAL PRIVACY" in book
    assert "| home town | " + ("home town" if plain else "home_town") + " | yes |" in book
    assert ("1 = a, 2 = b, 3 = c" in book) != plain
    assert "some are missing" in book


def test_names_that_programs_do_not_take_are_changed_and_stay_different(tmp_path: Path) -> None:
    names = ["a" * 40, "a" * 41, "Größe", "1st", "BY", "A", "a", "x.y", "x y"]
    made = Copies(frames=({name: [1.0, 2.0] for name in names},) * 2, method="cart", perturbed=("A",))
    _, meta = pyreadstat.read_dta(str(export_copies(made, tmp_path / "o", form="stata").folder / "copy-01.dta"))
    assert len({name.lower() for name in meta.column_names}) == len(names)
    assert all(re.fullmatch(r"[A-Za-z]\w{0,31}", name, flags=re.ASCII) for name in meta.column_names)
    assert [label for label in meta.column_labels if label][:2] == names[:2]


def test_a_folder_with_something_in_it_is_left_alone_and_nothing_half_written_stays(tmp_path: Path) -> None:
    place = tmp_path / "out"
    place.mkdir()
    export_copies(copies(count=2), place)
    with pytest.raises(FileError, match="something is there"):
        export_copies(copies(count=2), place)
    with pytest.raises(ArgumentError, match="format"):
        export_copies(copies(count=2), tmp_path / "other", form="fax")

    def fail() -> None:
        raise RuntimeError

    with pytest.raises(RuntimeError):
        export_copies(copies(count=2), tmp_path / "third", before=fail)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_the_codebook_keeps_its_rows_and_warns_of_a_seed(tmp_path: Path) -> None:
    made = Copies(frames=({"a|b": ["x|y", "new\nline"]},) * 2, method="cart", perturbed=("a|b",), seeded=True)
    book = (export_copies(made, tmp_path / "o").folder / "codebook.md").read_text()
    assert "DO NOT PUBLISH" in book
    assert "a\\|b" in book
    assert len([line for line in book.splitlines() if line.startswith("|")]) == 3


def fits(made: Copies) -> tuple[np.ndarray, np.ndarray]:
    """Least squares of y on x and the home town, by hand."""
    q, v = [], []
    for table in made:
        kept = [row for row in range(N) if table["home town"][row] is not None]
        town = np.array([table["home town"][row] for row in kept])
        x = np.column_stack([np.ones(len(kept)), np.array(table["x"])[kept], town == "b", town == "c"])
        y = np.array(table["y"])[kept]
        b = np.linalg.solve(x.T @ x, x.T @ y)
        spread = ((y - x @ b) ** 2).sum() / (len(y) - 4)
        q.append(b)
        v.append(spread * np.linalg.inv(x.T @ x).diagonal())
    return np.array(q), np.array(v)


def test_r_pools_as_we_do(tmp_path: Path) -> None:
    """Base R runs the very script that lies beside the files, for every rule."""
    if shutil.which("Rscript") is None:
        pytest.skip("Rscript is not installed")
    expected = []
    lines = ["options(digits = 15)"]
    for rule in RULES:
        made = copies(rule)
        place = export_copies(made, tmp_path / rule.name).folder
        ours = combine(*fits(made), rule=rule, nests=made.nests, sizes=made.sizes)
        expected.append(np.column_stack([ours.estimate, ours.standard_error, ours.df, ours.interval(), ours.p_values]))
        lines += [
            f'setwd("{place}")',
            'source("pool.R")',
            "fits <- lapply(copies, function(copy) lm(y ~ x + `home town`, data = copy))",
            'write.csv(pool(fits), "pooled.csv")',
        ]
    script = tmp_path / "run.R"
    script.write_text("\n".join(lines))
    subprocess.run(["Rscript", "--vanilla", str(script)], check=True, capture_output=True)
    for rule, figures in zip(RULES, expected, strict=True):
        found = pd.read_csv(tmp_path / rule.name / "pooled.csv", index_col=0)
        assert list(found.index) == ["(Intercept)", "x", "`home town`b", "`home town`c"]
        assert found.to_numpy(dtype=float) == pytest.approx(figures, rel=1e-8), rule


def test_the_design_of_a_survey_is_in_the_codebook_and_in_both_scripts(tmp_path: Path) -> None:
    """Under the names of the files; without a design the scripts show a plain fit."""
    table = {"y": [1.0, 2.0, 3.0], "the weight": [1.0, 2.0, 1.0], "if": ["a", "b", "a"], "town": ["x", "y", "z"]}
    for sampling, form, r, stata in (
        (Sampling(), "csv", "lm(y ~ x, data = copy)", 'local model "regress y x"'),
        (
            Sampling(weight="the weight", stratum="if", cluster="town"),
            "stata",
            "ids = ~`town`, strata = ~`v_if`, weights = ~`the_weight`, nest = TRUE",
            "quietly svyset town [pweight = the_weight], strata(v_if)",
        ),
        (Sampling(weight="the weight"), "csv", "ids = ~1, weights = ~`the weight`", "quietly svyset _n [pweight"),
        (Sampling(household="town"), "csv", "svydesign(ids = ~`town`, nest = TRUE", "quietly svyset town\n"),
    ):
        made = Copies(frames=(table,) * 2, method="cart", perturbed=("y",), sampling=sampling)
        place = export_copies(made, tmp_path / f"{form}-{'-'.join(sampling.names)}", form=form).folder
        assert r in (place / "pool.R").read_text()
        assert stata in (place / "pool.do").read_text()
        book = (place / "codebook.md").read_text()
        assert ("The survey's design" in book) == bool(sampling.names)
        assert all(f" {name}" in book for name in sampling.names)
        assert ('"svy: regress' in (place / "pool.do").read_text()) == bool(sampling.names)


def grouped(row: np.ndarray, groups: np.ndarray, summary: Any) -> np.ndarray:
    return np.array([summary(row[groups == group]) for group in np.unique(groups)])


def base_r(text: str, names: dict[str, Any]) -> dict[str, Any]:
    """The settings of an R script and the lines of `pool` up to `reach`, read as numpy: a row is a coefficient."""
    held = {
        "mean": np.mean,
        "var": lambda row: np.var(row, ddof=1),
        "rowMeans": lambda matrix: matrix.mean(axis=1),
        "apply": lambda matrix, _, summary: np.array([summary(row) for row in matrix]).T,
        "tapply": grouped,
        "t": np.transpose,
        "ifelse": np.where,
        "rep": lambda value, times=1, each=1: np.tile(np.repeat(value, int(each)), int(times)),
        "seq_len": np.arange,
        "length": len,
        "sqrt": np.sqrt,
        "Inf": np.inf,
        **names,
    }
    settings = re.findall(r"^(?:nests|share) <- .*$", text, flags=re.MULTILINE)
    body = text.split('every copy")\n')[1].split("  reach <-")[0]
    for line in (*settings, *body.splitlines()):
        name, _, right = line.strip().partition(" <- ")
        right = re.sub(r"function\((\w+)\) ", r"lambda \1: ", right).replace("^", "**")
        held[name] = eval(right, {"__builtins__": {}, "m": names["q"].shape[1], **held})
    return held


@pytest.mark.parametrize("rule", RULES)
def test_the_lines_of_r_say_what_we_compute(rule: Rule) -> None:
    """Where no R is installed, too; and estimates that hardly differ, whose variance is mended, as well."""
    made = copies(rule)
    wide = fits(made)
    narrow = (wide[0].mean(axis=0) + 1e-3 * (wide[0] - wide[0].mean(axis=0)), wide[1])
    for q, v in (wide, narrow):
        ours = combine(q, v, rule=rule, nests=made.nests, sizes=made.sizes)
        found = base_r(r_script(made, "csv", "csv", "title"), {"q": q.T, "v": v.T})
        assert found["estimate"] == pytest.approx(ours.estimate)
        assert found["se"] == pytest.approx(ours.standard_error)
        assert found["df"] == pytest.approx(ours.df)


def mata(text: str, names: dict[str, Any]) -> dict[str, Any]:
    """The lines of a do-file between `mata:` and `reach`, read as numpy: a row vector is a row of a matrix."""
    held = {
        "mean": lambda m: m.mean(axis=0, keepdims=True),
        "colsum": lambda m: m.sum(axis=0, keepdims=True),
        "I": np.eye,
        "J": lambda r, c, v: np.full((int(r), int(c)), v),
        "rows": len,
        "cols": lambda m: m.shape[1],
        "sqrt": np.sqrt,
        "kron": np.kron,
        "between_of": lambda m: m.var(axis=0, ddof=1, keepdims=True),
        **names,
    }
    body = text.split("mata:\n")[1].split("reach =")[0]
    for line in body.splitlines()[2:]:
        name, _, right = line.partition(" = ")
        right = re.sub(r"diagonal\(variance\((\w+)\)\)'", r"between_of(\1)", right)
        right = re.sub(r"(I\(\w+\)) # (J\([^()]*\))", r"kron(\1, \2)", right)
        right = re.sub(r"(?<![-\w.)])\((\w+) - 1\) :\*", r"(\1 - 1) *", right)
        right = right.replace(":^", "**").replace(":<=", "<=").replace(", .)", ", float('inf'))")
        right = re.sub(r":([-+*/])", r"\1", right)
        right = re.sub(r"\) \* (Q|means)$", r") @ \1", right)
        held[name] = eval(right, {"__builtins__": {"float": float}}, held)
        if isinstance(held[name], np.ndarray):
            held[name] = held[name] * 1.0
    return held


@pytest.mark.parametrize("rule", RULES)
def test_the_lines_of_mata_say_what_we_compute(rule: Rule) -> None:
    made = copies(rule)
    q, v = fits(made)
    ours = combine(q, v, rule=rule, nests=made.nests, sizes=made.sizes)
    found = mata(stata_script(made, "stata", "dta", "title"), {"Q": q, "U": v})
    assert found["estimate"][0] == pytest.approx(ours.estimate)
    assert found["se"][0] == pytest.approx(ours.standard_error)
    assert found["df"][0] == pytest.approx(ours.df)
