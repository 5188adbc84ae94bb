"""Cell keys: noise on counts that is the same wherever the same records are counted.

1. Every record has a key, for ever: drawn once (`record_keys`), or made of a secret and what names the record
   (`named_keys`), so that it is the same in every file the record comes with.
2. A cell's key is the sum of its records' keys, modulo 1. The same records give the same key in every table.
3. The key looks up the noise in a table of chances: for each count, chances of every change up to D, with mean 0, a
   given variance, no published count of 1 up to `small`, none below 0, and otherwise as even as can be (largest
   entropy; after the method of the Australian Bureau of Statistics, Fraser and Wooton 2005).

Given:   keys drawn from the operating system or of a secret that was, kept secret, one for each record for ever.
Promise: a cell asked for in two tables comes out the same, so that asking again averages nothing out; each published
         count has mean its true one; 0 stays 0.
Because: key and table decide the noise.
Tested:  test_chances_have_their_mean_and_variance, test_the_same_records_come_out_the_same,
         test_named_records_keep_their_keys_from_file_to_file.

What breaks it: tables do not add up, and cells that split the same persons otherwise have noise of their own. The sum
over each split is another estimate of the same count, and enough of them average out
(test_splits_average_cell_keys_out). Chances with a bound D also rule numbers out. Counts under differential privacy pay
for every split instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b

import numpy as np

from discreet.anonymize.crosstable import CrossTable, Tensor, tabulate
from discreet.anonymize.hierarchy import Hierarchy, as_text
from discreet.anonymize.records import CodedColumn, Codes, Records, Vector
from discreet.check import at_least, positive
from discreet.errors import ArgumentError
from discreet.randomness import system_bits

__all__ = ["Chances", "named_keys", "perturb_counts", "record_keys"]

_KEYS = 1 << 32
_HALVINGS = 80
_STEEPEST = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Chances:
    """What a count may become: changes of at most `most`, of that variance, never to 1 … `small`."""

    most: int = 5
    variance: float = 2.0
    small: int = 0

    def __post_init__(self) -> None:
        at_least("most", self.most, 1)
        at_least("small", self.small, 0)
        positive("variance", self.variance)
        if self.small >= self.most:
            raise ArgumentError(
                "small", found=f"{self.small}", right="it is below the largest change", step="raise `most`"
            )

    def of(self, count: int) -> tuple[Codes, Vector]:
        """The changes that a count may see, and their chances."""
        if count == 0:
            return np.zeros(1, np.int64), np.ones(1)
        return _row(min(count, self.most + self.small + 1), self)


def record_keys(rows: int) -> Codes:
    """A fresh random key for each record, from the operating system."""
    return (system_bits().words(rows) >> np.uint64(32)).astype(np.int64)


def named_keys(column: CodedColumn, secret: bytes) -> Codes:
    """The key of each record by what names it: 7 and 7.0 are one name, whatever a file was read as."""
    if column.missing.any():
        raise ArgumentError(
            f"column {column.name!r}",
            found="records without a name",
            right="a record keeps its key by its name",
            step="name a column that every record has a value in",
        )
    marks = [blake2b(as_text(value).encode(), key=secret, digest_size=4).digest() for value in column.values]
    keys: Codes = np.frombuffer(b"".join(marks), "<u4").astype(np.int64)[column.codes]
    return keys


def perturb_counts(
    records: Records,
    by: Sequence[str],
    keys: Codes,
    *,
    chances: Chances = Chances(),
    hierarchies: Mapping[str, Hierarchy] | None = None,
) -> tuple[CrossTable, Tensor]:
    """The table of counts and its published form. `keys` are the records' own, kept from table to table."""
    if len(keys) != records.rows:
        raise ArgumentError(
            "keys", found=f"{len(keys)} of them", right="one for each record", step="draw them once with record_keys"
        )
    table = tabulate(records, by, hierarchies=hierarchies)
    at = [one.leaves[records.column(one.name).full_codes] for one in table.dimensions]
    sums = np.zeros(table.shape, np.int64)
    np.add.at(sums, tuple(at), keys)
    # Taken modulo first, sums over all cells stay below 2^53: the same records give the same key in any order.
    inner = (sums[np.ix_(*(one.leaves for one in table.dimensions))] % _KEYS).astype(np.float64)
    place = (table.summed(inner) % _KEYS) / _KEYS
    published = table.values.copy()
    settled = chances.most + chances.small  # from here on all counts have the same chances
    for count in range(1, settled + 1):
        held = table.values == count if count < settled else table.values >= settled
        changes, odds = chances.of(count)
        published[held] += changes[np.searchsorted(np.cumsum(odds)[:-1], place[held], "right")]
    return table, published


@cache
def _row(count: int, chances: Chances) -> tuple[Codes, Vector]:
    changes = np.arange(-min(chances.most, count), chances.most + 1)
    changes = changes[(changes + count == 0) | (changes + count > chances.small)]
    return changes, _most_even(changes, chances.variance) if len(changes) > 1 else np.ones(1)


def _most_even(changes: Codes, variance: float) -> Vector:
    """Chances of mean 0 and that variance, or the nearest there is, with the largest entropy."""
    low, high = -_STEEPEST, _STEEPEST
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        odds = _centred(changes, middle)
        if float(odds @ changes.astype(np.float64) ** 2) < variance:
            low = middle
        else:
            high = middle
    return _centred(changes, (low + high) / 2)


def _centred(changes: Codes, bend: float) -> Vector:
    """Chances in proportion to exp(a · change + bend · change²), with the a that gives the mean 0."""
    scaled = changes / np.abs(changes).max()
    low, high = -4 * _STEEPEST, 4 * _STEEPEST
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        power = middle * scaled + bend * scaled**2
        odds = np.exp(power - power.max())
        if float(odds @ scaled) < 0:
            low = middle
        else:
            high = middle
    whole: Vector = odds / odds.sum()
    return whole
