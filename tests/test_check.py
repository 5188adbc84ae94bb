"""Checks of arguments return the exact value or name what is right."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet import check
from discreet.errors import ArgumentError, UnknownNameError


@given(st.decimals(allow_nan=False, allow_infinity=False, places=6, min_value=-1000, max_value=1000))
def test_float_counts_as_the_decimal_it_prints_as(number: object) -> None:
    assert check.exact("x", float(str(number))) == Fraction(repr(float(str(number))))
    assert check.exact("x", str(number)) == Fraction(str(number))


def test_one_tenth_is_one_tenth() -> None:
    assert check.exact("x", 0.1) * 3 == Fraction(3, 10)


@pytest.mark.parametrize(
    "bad",
    [
        "",
        "abc",
        "1/0",
        "1e",
        "1e9999",
        "1e999999999",
        Decimal("1e9999"),
        Decimal("NaN"),
        "9" * 5000,
        "1_0",
        float("nan"),
        float("inf"),
        True,
        None,
        [1],
    ],
)
def test_what_is_no_number_is_refused(bad: object) -> None:
    with pytest.raises(ArgumentError, match="epsilon"):
        check.exact("epsilon", bad)  # type: ignore[arg-type]  # wrong types are what is tested


@pytest.mark.parametrize("tenth", [0.1, np.float64(0.1), Decimal("0.1"), "0.1", "1/10", Fraction(1, 10)])
def test_every_kind_of_number_keeps_its_exact_value(tenth: float) -> None:
    assert check.exact("epsilon", tenth) == Fraction(1, 10)


@pytest.mark.parametrize("huge", ["1e999", "1e-999", Decimal("1e999")])
def test_what_is_taken_can_be_printed(huge: str) -> None:
    assert len(str(check.exact("epsilon", huge))) >= 1000
    assert check.exact("epsilon", np.int64(2**62)) * 4 == 2**64  # type: ignore[arg-type]  # numpy's integers are no int


@pytest.mark.parametrize("bad", [2.5, "3", None, True, 0])
def test_at_least_takes_whole_numbers_alone(bad: object) -> None:
    with pytest.raises(ArgumentError, match="whole number"):
        check.at_least("rows", bad, 1)  # type: ignore[arg-type]  # wrong types are what is tested


def test_text_is_no_list_of_its_letters() -> None:
    with pytest.raises(ArgumentError, match=r"give quasi=\['age'\]"):
        check.some("quasi", "age", step="name the columns")


@pytest.mark.parametrize("bad", [0, -1, "-0.5", "0"])
def test_positive_refuses_zero_and_less(bad: str | int) -> None:
    with pytest.raises(ArgumentError, match="above 0"):
        check.positive("epsilon", bad)


@pytest.mark.parametrize(("value", "fits"), [(0, True), ("0.5", True), (1, False), ("-1e-9", False), (1.5, False)])
def test_probability_is_below_one(value: str | float, fits: bool) -> None:
    if fits:
        assert 0 <= check.probability("delta", value) < 1
    else:
        with pytest.raises(ArgumentError, match="delta"):
            check.probability("delta", value)


def test_unknown_name_lists_the_near_ones() -> None:
    with pytest.raises(UnknownNameError, match="did you mean region") as caught:
        check.known("column", "regoin", ["age", "region"], step="discreet contract show visits")
    assert "Next: discreet contract show visits" in str(caught.value)


def test_list_of_names_is_short_however_many_there_are() -> None:
    with pytest.raises(UnknownNameError) as caught:
        check.known("column", "zz", [f"c{index}" for index in range(5000)], step="look")
    assert len(str(caught.value)) < 300


def test_some_refuses_none_and_doubles() -> None:
    assert check.some("--quasi", ["a", "b"], step="s") == ("a", "b")
    for bad in ([], ["a", "a"]):
        with pytest.raises(ArgumentError, match="--quasi"):
            check.some("--quasi", bad, step="s")


@pytest.mark.parametrize("bad", [-1, True, 0])
def test_at_least(bad: int) -> None:
    with pytest.raises(ArgumentError):
        check.at_least("copies", bad, 1)
    assert check.at_least("copies", 1, 1) == 1


def test_one_of() -> None:
    assert check.one_of("method", "cart", ("cart", "dami")) == "cart"
    with pytest.raises(ArgumentError, match="cart, dami"):
        check.one_of("method", "tree", ("cart", "dami"))
