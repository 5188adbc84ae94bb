"""What a file says it is (its name) and what it is (its first bytes); the two must agree."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from discreet.errors import FileError

__all__ = ["Format", "Packing", "check_signature", "declared_format"]


class Format(StrEnum):
    """The formats that `load` reads."""

    CSV = "csv"
    TSV = "tsv"
    PARQUET = "parquet"
    ARROW = "arrow"
    EXCEL = "excel"
    SPSS = "spss"
    SPSS_PORTABLE = "spss-portable"
    STATA = "stata"
    SAS = "sas"
    SAS_TRANSPORT = "sas-transport"

    @property
    def is_text(self) -> bool:
        """Whether the file is read by our own strict scan."""
        return self in (Format.CSV, Format.TSV)


class Packing(StrEnum):
    """How a text file is packed."""

    NONE = "none"
    GZIP = "gzip"
    ZSTD = "zstd"
    ZIP = "zip"


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """A file's format and packing as its name has them."""

    format: Format
    packing: Packing


_ENDINGS = {
    ".csv": Format.CSV,
    ".txt": Format.CSV,
    ".tsv": Format.TSV,
    ".tab": Format.TSV,
    ".parquet": Format.PARQUET,
    ".pq": Format.PARQUET,
    ".arrow": Format.ARROW,
    ".arrows": Format.ARROW,
    ".feather": Format.ARROW,
    ".ipc": Format.ARROW,
    ".xlsx": Format.EXCEL,
    ".xlsm": Format.EXCEL,
    ".sav": Format.SPSS,
    ".zsav": Format.SPSS,
    ".por": Format.SPSS_PORTABLE,
    ".dta": Format.STATA,
    ".sas7bdat": Format.SAS,
    ".xpt": Format.SAS_TRANSPORT,
}
_PACKINGS = {".gz": Packing.GZIP, ".zst": Packing.ZSTD, ".zip": Packing.ZIP}

# First bytes that only these formats have. Old Stata files begin with a bare version byte and portable SPSS files with
# 200 bytes of greeting, so both are left to their reader.
_SIGNATURES = {
    Format.PARQUET: (b"PAR1",),
    Format.ARROW: (b"ARROW1", b"\xff\xff\xff\xff"),
    Format.EXCEL: (b"PK\x03\x04",),
    Format.SPSS: (b"$FL2", b"$FL3"),
    Format.SAS: (b"\0" * 12 + b"\xc2\xea\x81\x60",),
    Format.SAS_TRANSPORT: (b"HEADER RECORD*******",),
}
_PACKED = {Packing.GZIP: b"\x1f\x8b", Packing.ZSTD: b"\x28\xb5\x2f\xfd", Packing.ZIP: b"PK\x03\x04"}


def declared_format(path: Path, forced: Format | None) -> Declared:
    """The format that the file's name, or the caller, declares."""
    endings = [ending.lower() for ending in path.suffixes[-2:]]
    packing = _PACKINGS.get(endings[-1], Packing.NONE) if endings else Packing.NONE
    ending = endings[-1] if endings else ""
    if packing is not Packing.NONE:
        ending = endings[0] if len(endings) == 2 else ".csv"
    format_ = forced or _ENDINGS.get(ending)
    if format_ is None:
        raise FileError(
            f"file {path.name}",
            found=f"the ending {ending!r} names no format" if ending else "a name without an ending",
            right=f"known endings are {' '.join(_ENDINGS)}, text also with {' '.join(_PACKINGS)}",
            step="rename the file, or name its format in the options",
        )
    if packing is not Packing.NONE and not format_.is_text:
        raise FileError(
            f"file {path.name}",
            found=f"a packed {format_} file",
            right="only text files are read packed",
            step="unpack it first",
        )
    return Declared(format=format_, packing=packing)


def check_signature(path: Path, declared: Declared, head: bytes) -> None:
    """Refuse a file whose first bytes belong to another format than its name."""
    packed = next((packing for packing, sign in _PACKED.items() if head.startswith(sign)), Packing.NONE)
    actual = next((format_ for format_, signs in _SIGNATURES.items() if head.startswith(signs)), None)
    if declared.packing is not Packing.NONE:
        agrees = packed is declared.packing
    elif declared.format.is_text:
        agrees = packed is Packing.NONE and actual is None
    else:
        agrees = declared.format not in _SIGNATURES or actual is declared.format
    if not agrees:
        is_ = f"{actual} or {packed}" if actual and packed is not Packing.NONE else actual or packed
        raise FileError(
            f"file {path.name}",
            found=f"its first bytes are not those of {_called(declared)}"
            + (f" but of {is_}" if is_ is not Packing.NONE else ""),
            right="a file's name and its content must agree",
            step="rename the file to what it is, or name its format in the options",
        )


def _called(declared: Declared) -> str:
    return f"a {declared.format} file" if declared.packing is Packing.NONE else f"a {declared.packing} file"
