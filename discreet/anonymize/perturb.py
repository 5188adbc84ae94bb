"""Perturbation: values are cut, moved or exchanged by a rule that may be published.

    top_code, bottom_code   min(x, c) and max(x, c), for a public c or one that leaves enough records at it
    add_noise               x + normal noise before anything is tabulated; sd as a multiple of the column's
    pram                    each value changes by the chances of a public matrix (post-randomisation)

None of them is differential privacy: the noise is not scaled to what one person can do to the release, the bounds are
taken off the data, and the values of one record are moved apart from each other. What breaks each stands with it.

Noise is drawn by a generator keyed by the operating system; a seed would be a key that undoes it, so none is taken.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.anonymize.records import CodedColumn, Flags, Vector
from discreet.check import at_least, exact, positive
from discreet.errors import ArgumentError
from discreet.randomness import Generator, keyed_generator

__all__ = ["Changed", "Transition", "add_noise", "bottom_code", "invariant", "pram", "top_code"]

Matrix = npt.NDArray[np.float64]
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Changed:
    """A column after a perturbation, and which rows differ from before."""

    column: CodedColumn
    changed: Flags

    @classmethod
    def of(cls, before: CodedColumn, after: CodedColumn) -> Changed:
        """What changed between two forms of one column."""
        pairs = zip(before.listed(), after.listed(), strict=True)
        return cls(column=after, changed=np.array([old != new for old, new in pairs], np.bool_))


def top_code(column: CodedColumn, bound: float | None = None, *, least: int = 20) -> Changed:
    """Values above a bound become the bound: min(x, c). Without one, c is the largest that leaves `least` records.

    Given:   a public bound; or, without one, that the bound itself may be known.
    Promise: at least `least` records hold the largest published value (with a bound read off the data).
    Because: c is the `least`-th largest value.
    Tested:  test_top_coding_is_the_minimum, test_a_bound_of_the_data_leaves_enough_records.

    What breaks it: a published total. The sum of the true values less the sum of the coded ones is what was cut off,
    and when one record is coded that is its excess (test_a_true_total_undoes_top_coding). A bound read off the data is
    itself a value of the data.
    """
    return _coded(column, bound, least, top=True)


def bottom_code(column: CodedColumn, bound: float | None = None, *, least: int = 20) -> Changed:
    """Values below a bound become the bound: max(x, c). Without one, c is the smallest that leaves `least` records."""
    return _coded(column, bound, least, top=False)


def _coded(column: CodedColumn, bound: float | None, least: int, *, top: bool) -> Changed:
    numbers = column.numbers
    if bound is None:
        at_least("least", least, 2)
        there = np.sort(numbers[~column.missing])
        if len(there) < least:
            raise ArgumentError(
                f"column {column.name!r}",
                found=f"fewer than {least} values",
                right="that many records must share the bound",
                step="give a public bound",
            )
        bound = float(there[-least] if top else there[least - 1])
    cut = np.minimum(numbers, bound) if top else np.maximum(numbers, bound)
    whole = all(isinstance(value, int) for value in column.values) and float(bound).is_integer()
    return Changed.of(column, column.with_numbers(cut, whole=whole))


def add_noise(column: CodedColumn, share: float = 0.1, *, generator: Generator | None = None) -> Changed:
    """Every value plus normal noise whose standard deviation is that share of the column's own.

    Given:   noise drawn once for each released table.
    Promise: none about persons. On average the mean is kept, and the variance grows by the factor 1 + share².
    Because: the noise has mean 0 and is independent of the values.
    Tested:  test_noise_keeps_the_mean_and_widens_the_variance.

    What breaks it: averaging. n releases of the same table with fresh noise leave noise of sd / √n
    (test_averaging_undoes_input_noise); and an extreme value stays extreme (test_noise_does_not_hide_the_extreme).
    """
    positive("share", share)
    numbers = column.numbers
    spread = float(np.nanstd(numbers)) if len(column.values) > 1 else 0.0
    drawn = (generator or keyed_generator()).normal(0, share * spread, len(numbers))
    return Changed.of(column, column.with_numbers(numbers + drawn))


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Transition:
    """The chances by which a value becomes another: row = true value, column = published value."""

    matrix: Matrix

    def __post_init__(self) -> None:
        matrix = self.matrix
        square = matrix.ndim == 2 and matrix.shape[0] == matrix.shape[1]
        if not square or (matrix < 0).any() or (abs(matrix.sum(axis=1) - 1) > _ROUNDING).any():
            raise ArgumentError(
                "matrix",
                found="no table of chances",
                right="it is square, and each row adds up to 1",
                step="give one row for each value",
            )

    @classmethod
    def keeping(cls, values: int, keep: float) -> Transition:
        """Each value is kept with that chance, and otherwise becomes any of the others alike."""
        at_least("values", values, 1)
        if not 0 < exact("keep", keep) <= 1:
            raise ArgumentError("keep", found=f"{keep}", right="a chance above 0, at most 1", step="give 0.8")
        other = (1 - keep) / (values - 1) if values > 1 else 0.0
        matrix = np.full((values, values), other)
        np.fill_diagonal(matrix, keep if values > 1 else 1.0)
        return cls(matrix=matrix)


def invariant(transition: Transition, shares: Vector) -> Transition:
    """A transition that leaves these shares as they are on average: the given one, then back by Bayes' rule.

    Given:   the shares of the true values, all above 0.
    Promise: shares · result = shares, so that published frequencies are unbiased as they stand.
    Because: going back draws a true value given the published one, and so meets the true shares again.
    Tested:  test_invariant_pram_keeps_the_shares.
    """
    joint = shares[:, None] * transition.matrix
    published = joint.sum(axis=0)
    back = np.divide(joint.T, published[:, None], out=np.zeros_like(joint.T), where=published[:, None] > 0)
    np.fill_diagonal(back, np.where(published > 0, np.diag(back), 1.0))
    return Transition(matrix=transition.matrix @ back)


def pram(
    column: CodedColumn,
    keep: float = 0.8,
    *,
    transition: Transition | None = None,
    is_invariant: bool = True,
    generator: Generator | None = None,
) -> Changed:
    """Each value becomes another by the chances of a matrix; missing stays missing.

    Given:   a public matrix (kept with the plan); drawn once.
    Promise: a published value is the true one with no more than a known chance. Invariant: frequencies stay unbiased.
             Otherwise the true frequencies are estimated by the matrix's inverse.
    Because: that is how values are drawn.
    Tested:  test_pram_moves_by_its_matrix, test_invariant_pram_keeps_the_shares.

    A matrix without zeros is randomised response: then the column alone is ε-differentially private for ε = the largest
    log ratio within a column of the matrix — for this column, of people whose value is independent of the matrix. The
    invariant matrix is made of the data, so that it carries no such promise.

    What breaks it: the other columns. A value that contradicts them was changed, and repeated releases are averaged out
    (test_repeated_pram_is_outvoted).
    """
    there = ~column.missing
    size = len(column.values)
    if transition is None:
        transition = Transition.keeping(max(size, 1), keep)
    if transition.matrix.shape[0] != max(size, 1):
        raise ArgumentError(
            f"matrix of column {column.name!r}",
            found=f"{transition.matrix.shape[0]} rows",
            right=f"one for each of the {size} values",
            step="give a matrix of that size",
        )
    if is_invariant and size:
        shares = np.bincount(column.codes[there], minlength=size) / there.sum()
        transition = invariant(transition, shares)
    ladder = np.cumsum(transition.matrix, axis=1)
    ladder[:, -1] = 1.0
    codes = column.codes.copy()
    drawn = (generator or keyed_generator()).random(int(there.sum()))
    codes[there] = (drawn[:, None] >= ladder[codes[there]]).sum(axis=1)
    return Changed.of(column, column.with_codes(codes))
