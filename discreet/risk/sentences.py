"""An assessment in plain words, for people who never heard of k-anonymity; each figure has one to compare it with."""

from __future__ import annotations

from collections.abc import Sequence

from discreet.draw.format import written
from discreet.risk.classes import Classes, share
from discreet.risk.combinations import Combinations
from discreet.risk.diversity import Diversity

__all__ = ["tell"]

_NAMED = 4
_SMALL_CLASS = 5
_FEW = 2


def tell(
    growth: Sequence[Classes], thresholds: Sequence[int], combinations: Combinations, diversity: Sequence[Diversity]
) -> tuple[str, ...]:
    """The findings, most telling first. Confidential."""
    whole = growth[-1]
    if not whole.records:
        return ("The table holds no records, so nobody can stand out in it.",)
    return (
        _unique(growth),
        _small(whole, thresholds),
        _combination(whole, combinations),
        _special(combinations),
        *(sentence for one in diversity for sentence in _given_away(whole, one)),
        "Unique here means unique in this table; how many are unique in the population it comes from is another "
        "question, and none of these figures answers it.",
    )


def _unique(growth: Sequence[Classes]) -> str:
    first, whole = growth[0], growth[-1]
    sentence = (
        f"{_of(whole.unique, whole.records)} are unique on {_named(whole.quasi)}: someone who knows these about a "
        "person in the table finds that person's record, names removed or not."
    )
    return sentence + (f" On {first.quasi[0]} alone it is {_share(first.unique_share)}." if len(growth) > 1 else "")


def _small(whole: Classes, thresholds: Sequence[int]) -> str:
    wanted = _SMALL_CLASS if _SMALL_CLASS in thresholds else max(thresholds)
    below = whole.below(wanted)
    return (
        f"{_of(below, whole.records)} share their values with fewer than {wanted - 1} others. The smallest group of "
        f"look-alikes has {_count(whole.k or 0)} (this is k); if all records looked alike it would have "
        f"{_count(whole.records)}."
    )


def _combination(whole: Classes, combinations: Combinations) -> str:
    worst = combinations.riskiest[0]
    return (
        f"Of all sets of up to {combinations.largest} columns, {_named(worst.columns)} single out the most: "
        f"{_of(worst.unique, whole.records)}. All {len(whole.quasi)} columns together single out "
        f"{_share(whole.unique_share)}."
    )


def _special(combinations: Combinations) -> str:
    sentence = (
        f"For {_of(combinations.special, combinations.records)}, {_upto(combinations.largest)} of these columns are "
        "enough to be singled out"
    )
    if combinations.largest <= _FEW:
        return sentence + "."
    few = sum(records for size, records in combinations.by_size if size <= _FEW)
    return f"{sentence}; for {_share(share(few, combinations.records))}, {_upto(_FEW)} are."


def _given_away(whole: Classes, one: Diversity) -> tuple[str, str]:
    known = (
        f"For {_of(one.given_away, one.records)}, everyone who looks the same also has the same {one.column}, so who "
        f"knows {_named(whole.quasi)} learns it. Guessing the commonest {one.column} for everyone is right for "
        f"{_share(one.commonest_share)}."
    )
    far = (
        f"In the group that differs most from the table, {_share(one.t_equal or 0.0)} of the records would have to "
        f"change their {one.column} for it to look like the whole table (this is t); in a table that gives nothing "
        f"away it is {_share(0.0)}."
    )
    return known, far


def _upto(size: int) -> str:
    return "one" if size == 1 else f"{size} or fewer"


def _of(part: int, whole: int) -> str:
    return f"{_count(part)} of {_count(whole)} records ({_share(share(part, whole))})"


def _named(columns: Sequence[str]) -> str:
    if len(columns) > _NAMED:
        return f"the {len(columns)} columns {columns[0]} … {columns[-1]}"
    return " and ".join(filter(None, (", ".join(columns[:-1]), columns[-1])))


def _count(value: int) -> str:
    return written("count", value)


def _share(value: float) -> str:
    return written("share", value)
