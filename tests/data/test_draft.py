"""A draft finds what points at persons, keeps bounds round, says "looks like", and is marked as drafted throughout."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.data.clue import Clue, clues
from discreet.data.column import Role
from discreet.data.contract import Contract, Status
from discreet.data.draft import draft
from discreet.data.fact import Source
from discreet.data.pattern import PATTERNS
from discreet.data.profile import ColumnProfile, Profile
from discreet.data.table import StorageType
from discreet.errors import ContractError

ROWS = 1000


def _column(name: str, kind: StorageType = StorageType.TEXT, **facts: Any) -> ColumnProfile:
    usual = {"missing": 0, "distinct": 50, "single": 0, "rare": 0, "largest": 90, "forms": {}}
    return ColumnProfile(name=name, type=kind, **{**usual, **facts})


def _texts(name: str, *values: str) -> ColumnProfile:
    """A column of texts as profiling would see it, each value in one row."""
    forms = {pattern.name: sum(map(pattern.fits, values)) for pattern in PATTERNS}
    return _column(
        name,
        distinct=len(values),
        single=len(values),
        largest=1,
        texts=values,
        longest=max(map(len, values)),
        forms=forms,
    )


def _drafted(*columns: ColumnProfile, rows: int = ROWS) -> Contract:
    return draft("t", Profile(rows=rows, columns=columns))


VALID = {
    "IBAN": ("iban", "GB82 WEST 1234 5698 7654 32"),
    "card": ("card", "4111 1111 1111 1111"),
    "NHS": ("UK NHS numbers", "943 476 5919"),
    "NIR": ("French NIR", "2 55 08 14 168 025 38"),
    "Steuer": ("German tax identifiers", "86 095 742 719"),
    "DNI": ("Spanish DNI or NIE", "12345678Z"),
    "CF": ("Italian codici fiscali", "MRTMTT25D09F205Z"),
    "BSN": ("Dutch BSN", "111222333"),
    "BE": ("Belgian national numbers", "85.07.30-033.28"),
    "PESEL": ("Polish PESEL", "44051401359"),
    "AMKA": ("Greek AMKA", "01018012345"),
    "PNR": ("Swedish personnummer", "811228-9874"),
    "HETU": ("Finnish HETU", "131052-308T"),
    "CPR": ("Danish CPR", "070761-4285"),
    "NIF": ("Portuguese NIF", "123456789"),
    "CNP": ("Romanian CNP", "1800101221144"),
    "AHV": ("Swiss AHV numbers", "756.9217.0769.85"),
    "SSN": ("US social security numbers", "219-09-9999"),
}
_BY_NAME = {pattern.name: pattern for pattern in PATTERNS}


@pytest.mark.parametrize("case", VALID)
def test_numbers_known_to_be_valid_pass_and_one_wrong_digit_does_not(case: str) -> None:
    name, value = VALID[case]
    pattern = _BY_NAME[name]
    assert pattern.check is not None
    assert pattern.fits(value)
    if case == "AMKA":
        value = next(number for digit in "0123456789" if pattern.check(number := value[:-1] + digit))
    assert pattern.check(value)
    if case in ("CPR", "SSN"):
        assert not pattern.check("00" + value[2:] if case == "CPR" else "000" + value[3:])
        return
    place = max(at for at, sign in enumerate(value[:-1]) if sign.isdecimal())
    others = [value[:place] + digit + value[place + 1 :] for digit in "0123456789" if digit != value[place]]
    assert not any(map(pattern.check, others))


@pytest.mark.parametrize("name", [pattern.name for pattern in PATTERNS if pattern.check])
@settings(max_examples=40)
@given(data=st.data())
def test_a_check_answers_for_every_value_of_its_form(name: str, data: st.DataObject) -> None:
    pattern = _BY_NAME[name]
    value = data.draw(st.from_regex(re.compile(f"^({pattern.regex})\\Z", re.ASCII)))
    assert pattern.check is not None
    assert pattern.check(value) in (True, False)


@pytest.mark.requirement("1.02")
def test_the_student_survey_loses_its_identifier() -> None:
    numbers = [f"{number:08}" for number in range(1622490, 1622490 + 24 * 37, 37)]
    survey = _drafted(
        _texts("ID", *numbers),
        _column("age", StorageType.INTEGER, low="20", high="24", distinct=5),
        _column("sex", distinct=2, texts=("f", "m"), longest=1),
        _column("#sib.", StorageType.INTEGER, low="0", high="3", distinct=4),
        _column("firstSem.", distinct=2, texts=("SS2017", "WS2017"), longest=6),
        _column("cheated", distinct=2, texts=("no", "yes"), longest=3),
        _column("drugs", distinct=2, texts=("no", "yes"), longest=3),
        rows=24,
    )
    assert survey.with_role(Role.DIRECT_IDENTIFIER) == ("ID",)
    assert survey.released == ("age", "sex", "#sib.", "firstSem.", "cheated", "drugs")
    assert survey.with_role(Role.QUASI_IDENTIFIER) == ("age", "sex")
    assert survey.with_role(Role.SENSITIVE) == ("cheated", "drugs")


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (_texts("x", *(f"user{n}@example.org" for n in range(40))), "e-mail"),
        (_texts("x", *(f"+32 2 555 {n:02} 67" for n in range(40))), "telephone"),
        (_texts("x", *(f"{lat}.12345, 4.{lat}567" for lat in range(10, 50))), "coordinates"),
        (_texts("x", *(f"Marie {letter}urie" for letter in "BCDFGHJKLMNPRSTVWXZ")), "names of persons"),
        (_texts("x", *(f"https://example.org/{n}" for n in range(40))), "web addresses"),
        (_texts("x", *(f"R{n}x{n * 7}" for n in range(40))), "record number"),
        (_texts("apellidos", *(f"X{n}" for n in range(40))), "names of persons"),
        (_column("Τηλέφωνο", StorageType.INTEGER, distinct=900), "a way to reach"),
        (_column("homeLatitude", StorageType.DECIMAL, distinct=900, low="50", high="51"), "coordinates"),
        (_column("PATIENT_ID", StorageType.INTEGER, distinct=400, largest=9), "a person's number"),
        (_column("row", StorageType.INTEGER, distinct=ROWS, single=ROWS, largest=1, low="1", high="1000"), "record"),
    ],
)
def test_direct_identifiers_are_found(column: ColumnProfile, words: str) -> None:
    contract = _drafted(column, rows=max(column.distinct, ROWS if column.type is not StorageType.TEXT else 0))
    found = contract.columns[column.name]
    assert found.role is Role.DIRECT_IDENTIFIER
    assert found.note is not None
    assert words in found.note
    assert "looks like" in found.note
    assert contract.released == ()


def test_national_numbers_need_their_check() -> None:
    digits = [f"{number:09}" for number in range(111222333, 111222333 + 4000)]
    check = _BY_NAME["Dutch BSN"].check
    assert check is not None
    valid = [number for number in digits if check(number)][:60]
    found = _drafted(_column("x", distinct=60, single=0, texts=tuple(valid), forms={"Dutch BSN": ROWS}, longest=9))
    assert found.columns["x"].note == "looks like Dutch BSN"
    any_number = _drafted(_column("x", distinct=60, texts=tuple(digits[:60]), forms={"Dutch BSN": ROWS}, longest=9))
    assert any_number.columns["x"].role is Role.OTHER


@pytest.mark.parametrize(
    ("column", "role"),
    [
        (_column("has phone", distinct=2, texts=("no", "yes")), Role.OTHER),
        (_column("student", StorageType.INTEGER, distinct=2, low="0", high="1"), Role.OTHER),
        (_column("weight_kg", StorageType.DECIMAL, distinct=500, low="3.5", high="140"), Role.OTHER),
        (_column("PWGTP", StorageType.INTEGER, distinct=500, low="1", high="900"), Role.WEIGHT),
        (_column("wgt", distinct=3, texts=("a", "b", "c")), Role.OTHER),
        (_column("HHID", StorageType.INTEGER, distinct=400, low="1", high="400"), Role.HOUSEHOLD),
        (_column("schicht", distinct=5, texts=("1", "2", "3", "4", "5")), Role.STRATUM),
        (_column("psu", StorageType.INTEGER, distinct=5, low="1", high="5"), Role.CLUSTER),
        (_column("remarks", distinct=900, single=900, forms={"words": 600}, longest=300), Role.HIDDEN),
        (_column("Einkommen", StorageType.INTEGER, distinct=900, low="0", high="90000"), Role.SENSITIVE),
        (_column("ηλικία", StorageType.INTEGER, distinct=90, low="0", high="97"), Role.QUASI_IDENTIFIER),
    ],
)
def test_other_roles_are_guessed_and_ordinary_columns_left_alone(column: ColumnProfile, role: Role) -> None:
    assert _drafted(column).columns[column.name].role is role


@pytest.mark.parametrize(
    ("low", "high", "bounds"),
    [
        ("17", "90", (0, 100)),
        ("0", "0", (0, 1)),
        ("0", "1", (0, 1)),
        ("0", "99999", (0, 100000)),
        ("0", "2000001", (0, 5000000)),
        ("-20", "731700", (-1000000, 1000000)),
        ("-7", "-3", (-10, 10)),
        ("1931", "2017", (1900, 2050)),
    ],
)
def test_bounds_are_round_and_hold_the_ends(low: str, high: str, bounds: tuple[int, int]) -> None:
    found = _drafted(_column("x", StorageType.INTEGER, low=low, high=high)).columns["x"].bounds
    assert found is not None
    assert [found.low, found.high] == list(bounds)


_ends = st.lists(st.decimals(-(10**12), 10**12, places=3), min_size=2, max_size=2).map(sorted)


@given(_ends, st.integers(0, 30))
def test_any_numbers_get_bounds_that_hold_them(ends: list[Any], places: int) -> None:
    column = _column("x", StorageType.DECIMAL, low=str(ends[0]), high=str(ends[1]), places=places)
    bounds = _drafted(column).columns["x"].bounds
    assert bounds is not None
    assert bounds.low <= ends[0] <= ends[1] <= bounds.high


@settings(max_examples=30)
@pytest.mark.parametrize("name", ["anon", "x", "ID", "Straße", "", "a b", "名前"])
@given(
    kind=st.sampled_from(StorageType),
    rows=st.integers(0, 40),
    counts=st.tuples(st.integers(0, 40), st.integers(0, 40)),
    texts=st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")), max_size=6, unique=True),
)
def test_every_profile_has_a_draft(
    name: str, kind: StorageType, rows: int, counts: tuple[int, int], texts: list[str]
) -> None:
    """Whatever the content, the draft exists, is drafted throughout, and can be written and read."""
    ends = {"low": "2001-01-01", "high": "2002-12-31"} if kind in (StorageType.DATE, StorageType.DATETIME) else {}
    distinct = len(texts) if kind is StorageType.TEXT else counts[0]
    column = _column(name or "unnamed", kind, distinct=distinct, largest=counts[1], texts=tuple(sorted(texts)), **ends)
    contract = _drafted(column, rows=rows)
    assert contract.status is Status.DRAFTED
    assert contract.unit.source is Source.DRAFTED
    assert all(column.source is Source.DRAFTED for column in contract.columns.values())
    assert Contract.from_yaml(contract.to_yaml()) == contract
    with pytest.raises(ContractError, match="a draft"):
        contract.require_declared()


@pytest.mark.parametrize(
    ("kind", "low", "high"),
    [
        (StorageType.INTEGER, "0", str(2**100)),
        (StorageType.DECIMAL, "-1.7e+308", "5e-324"),
        (StorageType.DATE, "0044-03-15 (BC)", "0010-01-01 (BC)"),
        (StorageType.DATE, "2000-01-01", "12020-01-01"),
        (StorageType.DATETIME, "-infinity", "infinity"),
        (StorageType.DATE, None, None),
    ],
)
def test_ends_beyond_reason_stay_unbounded(kind: StorageType, low: str | None, high: str | None) -> None:
    column = _drafted(_column("x", kind, low=low, high=high)).columns["x"]
    assert not {"low", "high"} & column.model_dump(exclude_none=True).keys()


def test_rows_of_one_person_make_a_person_unit() -> None:
    contract = _drafted(
        _column("patient", StorageType.INTEGER, distinct=400, largest=7), _column("day", StorageType.DATE)
    )
    assert (contract.unit.person, contract.unit.rows) == ("patient", 10)
    assert _drafted(_column("patient", StorageType.INTEGER, distinct=ROWS, largest=1)).unit.is_row


def test_few_texts_become_keys_and_many_stay_text() -> None:
    few = _drafted(_column("x", distinct=3, texts=("a", "b", "c")))
    assert few.columns["x"].public_keys == ("a", "b", "c")
    assert _drafted(_column("x", distinct=101, texts=("a",))).columns["x"].type == "text"


def test_remarks_hold_no_figures() -> None:
    contract = _drafted(_texts("x", *(f"user{n}@example.org" for n in range(40))), rows=40)
    assert contract.columns["x"].note == "looks like e-mail addresses"


@pytest.mark.parametrize(
    ("name", "clue"),
    [
        ("zipCode", Clue.QUASI),
        ("ZIP_CODE", Clue.QUASI),
        ("Größe", None),
        ("date of birth", Clue.QUASI),
        ("Όνομα", Clue.PERSON_NAME),
        ("prénom", Clue.PERSON_NAME),
        ("E-Mail", Clue.CONTACT),
        ("phone2", Clue.CONTACT),
        ("Familienstand", Clue.QUASI),
        ("temperature", None),
    ],
)
def test_names_give_clues(name: str, clue: Clue | None) -> None:
    assert (clue in clues(name)) if clue else not clues(name)
