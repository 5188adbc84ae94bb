"""Every wrong contract gets one line that names file, line, column and field, and what to do.

Each case is a short file with one mistake, where the mistake is, and words the message must hold.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.data.contract import Contract
from discreet.errors import ContractError

HEAD = "table: t\nunit: row\ncolumns:\n  a: {type: integer, low: 0, high: 9}\n"
PERSON = "table: t\nunit: {person: p, rows: 5, groups: 3}\ncolumns:\n  p: {type: text}\n  d: {type: date}\n"
PERIOD = "unit: {person: p, rows: 1, period: day, date: "


def _column(entries: str) -> str:
    return f"table: t\nunit: row\ncolumns:\n  a: {{{entries}}}\n"


def _unit(entries: str) -> str:
    return PERSON.replace("{person: p, rows: 5, groups: 3}", entries)


BAD: dict[str, tuple[str, str, str]] = {
    "nothing": ("", "bad.yaml", "nothing"),
    "text": ("a,b,c\n1,2,3\n", "bad.yaml", "text"),
    "a list": ("[1, 2]", "bad.yaml", "a list"),
    "not YAML": ("table: [t\nunit: row", "line 2", "not YAML"),
    "a tab": ("table:\n\t- t", "line 2", "not YAML"),
    "control characters": ("table: \x01", "bad.yaml", "YAML"),
    "two documents": (HEAD + "---\ntable: u\n", "line 5", "second document"),
    "an anchor": ("table: &a t\nunit: row", "line 1", "anchor"),
    "an alias bomb": ("a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\ntable: *c\n", "line 1", "anchor"),
    "a tag": ("table: !!python/name:os.system ''\n", "line 1", "tag"),
    "too deep": ("table: " + "[" * 40 + "]" * 40, "line 1", "levels"),
    "huge": (HEAD + "#" * (9 << 20), "bad.yaml", "characters"),
    "an entry twice": (HEAD + "table: u\n", "line 5", "'table' is given twice"),
    "a column twice": (HEAD + "  a: {type: text}\n", "line 5", "'a' is given twice"),
    "a merge key": (HEAD + "<<: {status: drafted}\n", "line 5, <<", "nothing is called"),
    "a number as a name": (HEAD.replace("  a:", "  ? [1]\n  :"), "line 4", "without a plain name"),
    "no table": (HEAD.replace("table: t\n", ""), "table", "it is missing"),
    "an empty table name": (HEAD.replace("table: t", "table: ''"), "line 1, table", "a name of 1 to"),
    "a broken name": (HEAD.replace("table: t", 'table: "t\\0"'), "line 1, table", "broken characters"),
    "no unit": (HEAD.replace("unit: row\n", ""), "unit", "it is missing"),
    "no columns": ("table: t\nunit: row\n", "columns", "it is missing"),
    "empty columns": ("table: t\nunit: row\ncolumns: {}\n", "bad.yaml", "0 columns"),
    "columns as a list": ("table: t\nunit: row\ncolumns: [a]\n", "line 3, columns", "a list"),
    "an unknown entry": (HEAD + "buget: {epsilon: 1}\n", "line 5, buget", "perhaps 'budget'"),
    "an unknown field": (_column("type: integer, loww: 0"), "column 'a', loww", "perhaps 'low'"),
    "a field of another type": (_column("type: text, keys: [x]"), "column 'a', keys", "nothing is called 'keys'"),
    "no type": (_column("low: 0"), "line 4, column 'a'", "no type"),
    "an unknown type": (_column("type: float"), "line 4, column 'a'", "'decimal'"),
    "an unknown role": (_column("type: text, role: quasi"), "column 'a', role", "'quasi-identifier'"),
    "an unknown source": (_column("type: text, source: laws"), "column 'a', source", "write law"),
    "an unknown null rule": (_column("type: text, nulls: keep"), "column 'a', nulls", "'refuse'"),
    "low above high": (_column("type: integer, low: 9, high: 1"), "line 4, column 'a'", "low 9 above high 1"),
    "days in the wrong order": (_column("type: date, low: 2021-01-01, high: 2020-01-01"), "column 'a'", "after high"),
    "one bound": (_column("type: integer, low: 9"), "column 'a'", "low alone"),
    "one day": (_column("type: date, high: 2020-01-01"), "column 'a'", "high alone"),
    "a word as a bound": (_column("type: integer, low: x, high: 9"), "column 'a', low", "'x'"),
    "an infinite bound": (_column("type: integer, low: 0, high: .inf"), "column 'a', high", "finite"),
    "a bound that is no number": (_column("type: integer, low: 0, high: .nan"), "column 'a', high", "finite"),
    "an exploding bound": (_column("type: integer, low: 0, high: 1e999999999"), "column 'a', high", "number"),
    "a sexagesimal bound": (_column("type: integer, low: 0, high: '12:30'"), "column 'a', high", "number"),
    "half an integer": (_column("type: integer, low: 0, high: 9.5"), "column 'a'", "no multiple of the step 1"),
    "off the step": (
        _column("type: decimal, step: 0.3, low: 0, high: 1"),
        "column 'a'",
        "no multiple of the step 3/10",
    ),
    "no step": (_column("type: decimal, low: 0, high: 1"), "column 'a', step", "it is missing"),
    "step zero": (_column("type: decimal, step: 0"), "column 'a'", "a step is above 0"),
    "a negative step": (_column("type: decimal, step: -1"), "column 'a'", "a step is above 0"),
    "too many steps": (_column("type: decimal, step: 1e-20, low: 0, high: 1"), "column 'a'", "2^62"),
    "no keys": (_column("type: category"), "column 'a', keys", "it is missing"),
    "empty keys": (_column("type: category, keys: []"), "column 'a'", "0 keys"),
    "keys as text": (_column("type: category, keys: x"), "column 'a', keys", "a list of every value"),
    "a key twice": (_column("type: category, keys: [x, y, x]"), "column 'a'", "the key 'x' twice"),
    "a null key": (_column("type: category, keys: [x, ~]"), "column 'a', keys, entry 2", "nulls: key"),
    "a list as a key": (_column("type: category, keys: [[x]]"), "column 'a', keys, entry 1", "keys are text"),
    "too many keys": (
        _column(f"type: category, keys: [{', '.join(map(str, range(100_001)))}]"),
        "column 'a'",
        "100,001",
    ),
    "a day that is none": (_column("type: date, low: 2020-02-30, high: 2020-12-31"), "column 'a', low", "2020-02-30"),
    "a day in another order": (
        _column("type: date, low: 1.2.2020, high: 2.2.2020"),
        "column 'a', low",
        "year-month-day",
    ),
    "a moment with a time zone": (
        _column("type: datetime, low: '2020-01-01T00:00:00+01:00', high: '2021-01-01'"),
        "column 'a', low",
        "time zone",
    ),
    "a negative weight": (_column("type: integer, low: -1, high: 9, role: weight"), "column 'a'", "at least 0"),
    "a weight in words": (_column("type: text, role: weight"), "column 'a'", "integer or decimal"),
    "paid for, without a receipt": (_column("type: text, source: paid for"), "column 'a'", "without a receipt"),
    "a receipt for nothing": (_column("type: text, receipt: r1"), "column 'a'", "with a receipt"),
    "a long note": (_column(f"type: text, note: {'x' * 501}"), "column 'a', note", "at most 500"),
    "not true or false": (_column("type: text, one_per_unit: maybe"), "column 'a', one_per_unit", "true if"),
    "names that differ by case": (HEAD + "  A: {type: text}\n", "bad.yaml", "'a' and 'A'"),
    "an unknown unit": (_unit("household"), "line 2, unit", "'household'"),
    "a unit column that is not there": (_unit("{person: q, rows: 1}"), "bad.yaml", "'q' is not among the columns"),
    "no rows": (_unit("{person: p}"), "unit", "a person without rows"),
    "zero rows": (_unit("{person: p, rows: 0}"), "line 2, unit, rows", "above 0"),
    "negative rows": (_unit("{person: p, rows: -5}"), "unit, rows", "above 0"),
    "rows with decimals": (_unit("{person: p, rows: 2.5}"), "unit, rows", "whole number"),
    "groups above rows": (_unit("{person: p, rows: 2, groups: 3}"), "unit", "groups 3 above rows 2"),
    "limits on a row": (_unit("{rows: 2}"), "unit", "without a person"),
    "a period without a date": (_unit("{person: p, rows: 1, period: day}"), "unit", "without a date"),
    "a date without a period": (_unit("{person: p, rows: 1, date: d}"), "unit", "without a period"),
    "an unknown period": (_unit("{person: p, rows: 1, period: hour, date: d}"), "unit, period", "'week'"),
    "a period from text": (_unit("{person: p, rows: 1, period: day, date: p}"), "bad.yaml", "type text"),
    "a public number under add-remove": (HEAD + "units: 5\n", "bad.yaml", "private"),
    "replace-one without its number": (HEAD + "adjacency: replace-one\n", "bad.yaml", "without units"),
    "an unknown adjacency": (HEAD + "adjacency: both\n", "line 5, adjacency", "'add-remove'"),
    "fewer rows than units": (
        HEAD + "adjacency: replace-one\nunits: 5\nmax_rows: 4\n",
        "bad.yaml",
        "max_rows 4 below units 5",
    ),
    "no budget at all": (HEAD + "budget: {delta: 1e-9}\n", "line 5, budget", "neither"),
    "two currencies": (HEAD + "budget: {epsilon: 1, rho: 1}\n", "budget", "both"),
    "a negative budget": (HEAD + "budget: {epsilon: -1}\n", "budget", "above 0"),
    "delta one": (HEAD + "budget: {epsilon: 1, delta: 1}\n", "budget", "[0, 1)"),
    "an infinite budget": (HEAD + "budget: {epsilon: .inf}\n", "budget, epsilon", "finite"),
    "a size that was paid for": (HEAD + "max_rows: 9\nsource: paid for\n", "bad.yaml, receipt", "without a receipt"),
    "a join on nothing": (HEAD + "joins: [{table: r, column: b}]\n", "bad.yaml", "'b' is not among the columns"),
    "a join with itself": (HEAD + "joins: [{table: t, column: a}]\n", "bad.yaml", "itself"),
    "a join twice": (HEAD + "joins: [{table: r, column: a}, {table: r, column: a}]\n", "bad.yaml", "twice"),
    "no fan-out": (HEAD + "joins: [{table: r, column: a, fan_out: 0}]\n", "joins 1, fan_out", "whole number"),
    "an unknown status": (HEAD + "status: final\n", "line 5, status", "'declared'"),
    "a draft that claims to be declared": (_column("type: text, source: drafted"), "bad.yaml", "was drafted"),
    "a declaration without a reason": (HEAD + "declaration: {by: me}\n", "declaration, reason", "it is missing"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_wrong_contract_gets_one_helpful_line(case: str) -> None:
    text, place, words = BAD[case]
    with pytest.raises(ContractError) as caught:
        Contract.from_yaml(text, where="bad.yaml")
    message = str(caught.value)
    assert message.startswith("bad.yaml")
    assert place in caught.value.where
    assert words in message
    assert "\n" not in message
    assert len(message) < 700
    for foreign in ("pydantic", "Input should", "validation error", "Traceback", "yaml."):
        assert foreign not in message.replace("bad.yaml", "")
    assert caught.value.found
    assert caught.value.right
    assert caught.value.step


def test_there_is_something_wrong_in_each_case_only() -> None:
    assert len(BAD) >= 25
    Contract.from_yaml(HEAD)
    Contract.from_yaml(PERSON)
    Contract.from_yaml(_unit("{person: p, rows: 1, period: day, date: d}"))


def test_python_gets_the_same_words() -> None:
    with pytest.raises(ContractError, match=r"column 'a', high: 'x'; a number"):
        Contract.model_validate({"table": "t", "unit": "row", "columns": {"a": {"type": "integer", "high": "x"}}})
    with pytest.raises(ContractError, match="columns"):
        Contract.model_validate({"table": "t", "unit": "row"})


def test_a_table_of_data_is_not_quoted() -> None:
    """Somebody passes the data instead of the contract: none of it shows."""
    with pytest.raises(ContractError) as caught:
        Contract.from_yaml("name,income\nMarie Curie,7500\n", where="people.csv")
    assert "Curie" not in str(caught.value)


@given(st.text(max_size=200) | st.binary(max_size=200).map(lambda raw: raw.decode("latin-1")))
def test_any_text_is_a_contract_or_a_contract_error(text: str) -> None:
    with pytest.raises(ContractError):
        Contract.from_yaml(text)


def _read(text: str) -> Contract | str:
    try:
        return Contract.from_yaml(text)
    except ContractError as error:
        return str(error)


@given(st.data())
def test_a_damaged_contract_is_a_contract_or_a_contract_error(data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(PERSON) - 1))
    sign = data.draw(st.characters(exclude_categories=["Cs"]))
    contract = _read(PERSON[:at] + sign + PERSON[at + 1 :])
    assert isinstance(contract, str) or _read(contract.to_yaml()) == contract
