"""The tables that benchmarks run on, as stored files: copied from the tests' data, or generated and kept aside."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from shutil import copyfile

import duckdb
import numpy as np

from discreet.data.engines.duckdb import DuckDBEngine
from discreet.data.table import StorageType, StoredColumn, StoredTable

__all__ = ["Source", "acs", "adult", "place", "ten_million"]

_DATA = Path(__file__).parent.parent / "tests" / "data"
_ACS = "PUMA", "AGEP", "SEX", "RAC1P", "HISP", "MSP", "EDU", "NPF", "OWN_RENT", "INDP"
_ADULT = "age", "workclass", "education_num", "marital_status", "occupation", "race", "sex", "native_country", "income"
_NUMBERS = {"age": StorageType.INTEGER, "education_num": StorageType.INTEGER, "income": StorageType.INTEGER}
_ROWS = 10_000_000
_SEED = 20_190_401


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A table twice on disk: one file for our engine, one for the raw one, since one process opens a file one way."""

    path: Path
    table: StoredTable

    def ours(self) -> DuckDBEngine:
        """Our engine, on one thread."""
        return DuckDBEngine.open(self.path, memory="8GB", threads=1)

    def raw(self) -> duckdb.DuckDBPyConnection:
        """Plain DuckDB, on one thread."""
        return duckdb.connect(str(_twin(self.path)), read_only=True, config={"threads": 1, "memory_limit": "8GB"})


def adult() -> Source:
    """Adult: eight columns that an outsider may know, and income."""
    picked = ", ".join(f"{name} AS c{place}" for place, name in enumerate(_ADULT))
    types = [StorageType.TEXT if name == "income" else _NUMBERS.get(name, StorageType.TEXT) for name in _ADULT]
    return _stored("adult", f"SELECT {picked} FROM '{_DATA / 'adult.parquet'}'", _ADULT, types)


def acs() -> Source:
    """Ten columns of the ACS excerpt, as text."""
    picked = ", ".join(f'"{name}" AS c{place}' for place, name in enumerate(_ACS))
    source = f"read_csv('{_DATA / 'acs_excerpt_national2019.csv'}', all_varchar=true)"
    return _stored("acs", f"SELECT {picked} FROM {source}", _ACS, [StorageType.TEXT] * len(_ACS))


def ten_million() -> Source:
    """10 M synthetic rows: 50 regions, 2 sexes, ages 0..100, incomes 0..200 000, and incomes in bands of 10 000."""
    names = "region", "sex", "age", "income", "band"
    types = [StorageType.INTEGER] * 4 + [StorageType.TEXT]
    path = place("ten_million")
    if not path.exists():
        draw = np.random.Generator(np.random.PCG64(_SEED))
        tops = {"region": 50, "sex": 2, "age": 101, "income": 200_001}
        columns = {name: draw.integers(0, top, _ROWS) for name, top in tops.items()}
        band = "CAST(income // 10000 AS VARCHAR)"
        _write(path, f"SELECT region c0, sex c1, age c2, income c3, {band} c4 FROM columns", columns=columns)
    return Source(path=path, table=_described(names, types))


def _stored(name: str, select: str, names: tuple[str, ...], types: list[StorageType]) -> Source:
    path = place(name)
    if not path.exists():
        _write(path, select)
    return Source(path=path, table=_described(names, types))


def _described(names: tuple[str, ...], types: list[StorageType]) -> StoredTable:
    columns = (
        StoredColumn(name=name, physical=f"c{place}", type=kind)
        for place, (name, kind) in enumerate(zip(names, types, strict=True))
    )
    return StoredTable(name="rows", columns=tuple(columns))


def _write(path: Path, select: str, columns: dict[str, np.ndarray] | None = None) -> None:
    """Both files, each put in place when it is whole."""
    half = path.with_suffix(".half")
    half.unlink(missing_ok=True)
    with duckdb.connect(str(half)) as connection:
        if columns is not None:
            connection.register("columns", columns)
        connection.execute(f"CREATE TABLE rows AS {select}")
    copyfile(half, _twin(path))
    half.replace(path)


def place(name: str) -> Path:
    """A file in the temporary folder, for this version of DuckDB and this user."""
    folder = Path(tempfile.gettempdir()) / f"discreet-bench-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder / f"{name}-{duckdb.__version__}.duckdb"


def _twin(path: Path) -> Path:
    return path.with_suffix(".raw.duckdb")
