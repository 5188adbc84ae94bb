"""What counts as the core."""

from __future__ import annotations

from bench.install import core_distributions


def test_core_is_light_by_what_it_names() -> None:
    core = core_distributions()
    assert {"discreet", "duckdb", "sqlglot", "numpy", "pydantic", "typer"} <= core
    assert not core & {"scipy", "scikit-learn", "pyarrow", "pandas", "polars", "dp-accounting", "opendp"}
