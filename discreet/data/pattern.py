"""What a direct identifier looks like when it is written down.

A pattern is a regular expression for the whole value, plain enough for every engine, and, where a standard gives one,
a check of the digits. Engines count how many values have the form; the check runs on the few distinct values a profile
carries. A value of the right form and check may still be something else: a pattern says "looks like", never "is".
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

__all__ = ["PATTERNS", "Pattern", "PatternKind"]


class PatternKind(StrEnum):
    """What a pattern gives away."""

    IDENTIFIER = "identifier"
    NATIONAL_NUMBER = "national number"
    PERSON_NAME = "person name"
    FREE_TEXT = "free text"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """One written form: what it looks like, as a regular expression and perhaps a check."""

    name: str
    looks: str
    regex: str
    kind: PatternKind = PatternKind.IDENTIFIER
    check: Callable[[str], bool] | None = None

    def fits(self, value: str) -> bool:
        """Whether a value has the form. The check is another question."""
        return re.fullmatch(self.regex, value, re.ASCII) is not None


def _digits(value: str) -> list[int]:
    return [int(sign) for sign in value if "0" <= sign <= "9"]


def _weighted(digits: list[int], weights: list[int]) -> int:
    return sum(digit * weight for digit, weight in zip(digits, weights, strict=True))


def _luhn(value: str) -> bool:
    doubled = [digit * 2 - 9 * (digit > 4) for digit in _digits(value)[-2::-2]]
    return (sum(doubled) + sum(_digits(value)[-1::-2])) % 10 == 0


def _iban(value: str) -> bool:
    signs = value.replace(" ", "").upper()
    return int("".join(str(int(sign, 36)) for sign in signs[4:] + signs[:4])) % 97 == 1


def _nir(value: str) -> bool:
    signs = value.replace(" ", "").upper()
    return 97 - int(signs[:-2].replace("2A", "19").replace("2B", "18")) % 97 == int(signs[-2:])


def _steuer_id(value: str) -> bool:
    product = 10
    for digit in _digits(value)[:-1]:
        product = ((digit + product) % 10 or 10) * 2 % 11
    return (11 - product) % 10 == _digits(value)[-1]


def _dni(value: str) -> bool:
    signs = value.upper().replace("-", "").translate(str.maketrans("XYZ", "012", ""))
    return "TRWAGMYFPDXBNJZSQVHLCKE"[int(signs[:8]) % 23] == value.upper()[-1]


def _codice_fiscale(value: str) -> bool:
    odd = (1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23)
    ranks = [int(sign) if sign.isdecimal() else ord(sign) - ord("A") for sign in value.upper()]
    return (sum(odd[rank] for rank in ranks[:15:2]) + sum(ranks[1:15:2])) % 26 == ranks[15]


def _bsn(value: str) -> bool:
    return any(_digits(value)) and _weighted(_digits(value), [9, 8, 7, 6, 5, 4, 3, 2, -1]) % 11 == 0


def _belgian(value: str) -> bool:
    digits = "".join(map(str, _digits(value)))
    return any(97 - int(century + digits[:9]) % 97 == int(digits[9:]) for century in ("", "2"))


def _pesel(value: str) -> bool:
    return _weighted(_digits(value), [1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1]) % 10 == 0


def _nhs(value: str) -> bool:
    return _weighted(_digits(value), [10, 9, 8, 7, 6, 5, 4, 3, 2, 1]) % 11 == 0


def _hetu(value: str) -> bool:
    return "0123456789ABCDEFHJKLMNPRSTUVWXY"[int(value[:6] + value[7:10]) % 31] == value[10].upper()


def _nif(value: str) -> bool:
    *digits, last = _digits(value)
    return (11 - _weighted(digits, [9, 8, 7, 6, 5, 4, 3, 2]) % 11) % 11 % 10 == last


def _cnp(value: str) -> bool:
    *digits, last = _digits(value)
    rest = _weighted(digits, [2, 7, 9, 1, 4, 6, 3, 5, 8, 2, 7, 9]) % 11
    return (1 if rest == 10 else rest) == last


def _ahv(value: str) -> bool:
    return _weighted(_digits(value), [1, 3] * 6 + [1]) % 10 == 0


def _amka(value: str) -> bool:
    return _born(value[:6]) and _luhn(value)


def _personnummer(value: str) -> bool:
    return _luhn("".join(map(str, _digits(value)[-10:])))


def _ssn(value: str) -> bool:
    return value[:3] not in ("000", "666") and value[0] != "9" and value[4:6] != "00" and value[7:] != "0000"


def _cpr(value: str) -> bool:
    return _born(value[:6])


def _born(day_month_year: str) -> bool:
    try:
        datetime.datetime.strptime(day_month_year, "%d%m%y")
    except ValueError:
        return False
    return True


def _national(name: str, country: str, regex: str, check: Callable[[str], bool] | None) -> Pattern:
    looks = f"{country} {name}"
    return Pattern(name=looks, looks=looks, regex=regex, kind=PatternKind.NATIONAL_NUMBER, check=check)


_UPPER = "A-ZÀ-ÖØ-ÞΆ-ΏΑ-ΫА-Я"
_LOWER = "a-zß-öø-ÿĀ-ſΐ-ώа-яё"
_WORD = f"[{_UPPER}Ā-ſ]['’{_UPPER}{_LOWER}]*[{_LOWER}]"

PATTERNS: tuple[Pattern, ...] = (
    Pattern(name="email", looks="e-mail addresses", regex=r"[^@\s]+@[^@\s]+\.[A-Za-z]{2,}"),
    Pattern(name="url", looks="web addresses", regex=r"(https?://|www\.)\S+"),
    Pattern(
        name="phone",
        looks="telephone numbers",
        regex=r"(\+|00)[1-9][0-9 ()./-]{6,18}[0-9]|"
        r"0[1-9][0-9 ()./-]{6,14}[0-9]|\(?[0-9]{3}\)?[ .-][0-9]{3}[ .-][0-9]{4}",
    ),
    Pattern(name="iban", looks="bank accounts", regex=r"[A-Z]{2}[0-9]{2}( ?[A-Z0-9]){11,30}", check=_iban),
    Pattern(name="card", looks="card numbers", regex=r"[3-6][0-9]{3}([ -]?[0-9]{4}){3}", check=_luhn),
    Pattern(name="ip", looks="network addresses", regex=r"([0-9]{1,3}\.){3}[0-9]{1,3}"),
    Pattern(
        name="uuid",
        looks="generated record identifiers",
        regex="[0-9a-fA-F]{8}-?([0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}",
    ),
    Pattern(
        name="coordinates",
        looks="coordinates",
        regex=r"\(?-?[0-9]{1,3}\.[0-9]{3,}°?[NS]?[,; ] ?-?[0-9]{1,3}\.[0-9]{3,}°?[EW]?\)?",
    ),
    _national("social security numbers", "US", "[0-9]{3}-[0-9]{2}-[0-9]{4}", _ssn),
    _national("insurance numbers", "UK", "[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z]( ?[0-9]{2}){3} ?[A-D]", None),
    _national("NHS numbers", "UK", "[0-9]{3} ?[0-9]{3} ?[0-9]{4}", _nhs),
    _national("NIR", "French", "[12]( ?[0-9]){4} ?([0-9]{2}|2[ABab])( ?[0-9]){8}", _nir),
    _national("tax identifiers", "German", "[1-9][0-9]( ?[0-9]{3}){3}", _steuer_id),
    _national("DNI or NIE", "Spanish", "[0-9XYZxyz][0-9]{7}-?[A-Za-z]", _dni),
    _national(
        "codici fiscali", "Italian", "[A-Za-z]{6}[0-9]{2}[A-Za-z][0-9]{2}[A-Za-z][0-9]{3}[A-Za-z]", _codice_fiscale
    ),
    _national("BSN", "Dutch", "[0-9]{9}", _bsn),
    _national("national numbers", "Belgian", r"[0-9]{2}\.?[0-9]{2}\.?[0-9]{2}-?[0-9]{3}[.-]?[0-9]{2}", _belgian),
    _national("PESEL", "Polish", "[0-9]{11}", _pesel),
    _national("AMKA", "Greek", "[0-3][0-9][01][0-9]{8}", _amka),
    _national("personnummer", "Swedish", "([0-9]{2})?[0-9]{6}[-+]?[0-9]{4}", _personnummer),
    _national("HETU", "Finnish", "[0-9]{6}[-+A-FU-Ya-f][0-9]{3}[0-9A-Za-z]", _hetu),
    _national("CPR", "Danish", "[0-3][0-9][01][0-9]{3}-?[0-9]{4}", _cpr),
    _national("NIF", "Portuguese", "[1-35689][0-9]{8}", _nif),
    _national("CNP", "Romanian", "[1-9][0-9]{12}", _cnp),
    _national("AHV numbers", "Swiss", r"756\.?[0-9]{4}\.?[0-9]{4}\.?[0-9]{2}", _ahv),
    Pattern(
        name="name",
        looks="names of persons",
        regex=f"({_WORD}|[{_UPPER}]\\.)(,? ({_WORD}|[{_UPPER}]\\.|van|von|de|der|den|la|di|da)){{1,4}}",
        kind=PatternKind.PERSON_NAME,
    ),
    Pattern(name="words", looks="free text", regex=r"\s*\S+(\s+\S+){5,}\s*", kind=PatternKind.FREE_TEXT),
)
