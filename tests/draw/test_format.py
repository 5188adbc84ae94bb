"""Written values: read back, they are the value to the digits shown."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.draw.format import Kind, Value, aligned, magnitude, ticked, written

_RAISED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


def _read(text: str) -> float:
    """What a reader takes the text for."""
    mantissa, _, power = text.replace("−", "-").replace("\u202f", "").removesuffix("%").partition("10")
    if power and set(power) <= set("⁻⁰¹²³⁴⁵⁶⁷⁸⁹"):
        factor = mantissa.removesuffix("×")
        return float(f"{factor}1" if factor in ("", "-") else factor) * 10.0 ** int(power.translate(_RAISED))
    return float(text.replace("−", "-").replace("\u202f", "").removesuffix("%"))


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        ("count", 48842, "48\u202f842"),
        ("count", -5, "−5"),
        ("count", 999, "999"),
        ("share", Fraction(20593, 48842), "42.2\u202f%"),
        ("share", 0, "0\u202f%"),
        ("share", 1.0, "100\u202f%"),
        ("share", 0.00012, "0.012\u202f%"),
        ("share", 0.99996, "99.9960\u202f%"),
        ("share", Fraction(1, 10**20), "<\u202f0.0001\u202f%"),
        ("share", 1 - Fraction(1, 10**20), ">\u202f99.9999\u202f%"),
        ("share", -1e-20, ">\u202f−0.0001\u202f%"),
        ("share", -0.125, "−12.5\u202f%"),
        ("number", 1.23456, "1.235"),
        ("number", 0.5, "0.5"),
        ("number", 0.000123456, "0.000123"),
        ("number", 12345.678, "12\u202f346"),
        ("number", 1e-9, "10⁻⁹"),
        ("number", 9.999e-9, "10⁻⁸"),
        ("number", 2.5e20, "2.5×10²⁰"),
        ("number", -0.00000001234, "−1.23×10⁻⁸"),
        ("number", -0.0, "0"),
        ("number", Fraction(76, 31), "2.452"),
        ("number", float("inf"), "∞"),
        ("number", float("nan"), "–"),
        ("count", None, "–"),
        ("text", "a < b", "a < b"),
        ("text", True, "yes"),
    ],
)
def test_values_are_written_as_a_reader_wants_them(kind: Kind, value: Value, text: str) -> None:
    assert written(kind, value) == text


@given(st.floats(-1e300, 1e300))
def test_a_written_number_reads_back_to_three_digits(value: float) -> None:
    assert _read(written("number", value)) == pytest.approx(value, rel=5.1e-3, abs=1e-320)


@given(st.integers())
def test_a_written_count_reads_back_exactly(value: int) -> None:
    assert int(written("count", value).replace("−", "-").replace("\u202f", "")) == value


@given(st.fractions(min_value=0, max_value=1))
def test_only_nothing_is_0_percent_and_only_all_is_100(value: Fraction) -> None:
    text = written("share", value)
    assert (text == "0\u202f%") == (value == 0)
    assert (text == "100\u202f%") == (value == 1)


@given(st.fractions().filter(lambda value: value > 0))
def test_magnitude_is_the_power_of_ten_below(value: Fraction) -> None:
    assert Fraction(10) ** magnitude(value) <= value < Fraction(10) ** (magnitude(value) + 1)


def test_ticks_share_their_decimals() -> None:
    assert ticked("number", [Fraction(at, 2) for at in range(-1, 3)]) == ("−0.5", "0", "0.5", "1.0")
    assert ticked("share", [Fraction(0), Fraction(1, 2)]) == ("0\u202f%", "50\u202f%")
    assert ticked("share", [Fraction(1, 1000), Fraction(2, 1000)]) == ("0.1\u202f%", "0.2\u202f%")
    assert ticked("count", [Fraction(0), Fraction(5000)]) == ("0", "5\u202f000")
    assert ticked("number", [Fraction(10) ** p for p in (-6, -3, 0)], log=True) == ("10⁻⁶", "10⁻³", "1")


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=8))
def test_aligned_figures_have_their_points_in_one_line(values: list[float]) -> None:
    texts = [written("share", value) for value in values]
    shown = aligned(texts)
    assert [text.replace("\u2007", "").replace("\u2008", "") for text in shown] == texts
    if any("." in text for text in texts):
        points = [text.replace("\u2008", ".").index(".") for text in shown]
        assert len({len(text) - point for text, point in zip(shown, points, strict=True)}) == 1
