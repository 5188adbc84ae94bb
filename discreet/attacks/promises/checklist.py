"""The checklist: every way of protecting beside the four properties and the four demands, found out anew.

What it does not promise: that a way without a found break has none. `fails` is proof, `not shown` is nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from discreet.attacks.promises import anonymous, tables
from discreet.attacks.promises.certified import NoisyCount
from discreet.attacks.promises.evidence import DEMANDS, PROPERTIES, Check, Evidence, Protection
from discreet.draw.grid import Grid, GridColumn

__all__ = ["PROTECTIONS", "Checklist", "check_promises"]


def _risky(name: str, promise: str, **checks: Check) -> Protection:
    named = {key.replace("_", " ").replace("post processing", "post-processing"): one for key, one in checks.items()}
    named = {"trade-off" if key == "trade off" else key: one for key, one in named.items()}
    return Protection(name=name, family="measured risk", promise=promise, checks=named)


PROTECTIONS: tuple[Protection, ...] = (
    Protection(
        name="differential privacy",
        family="guarantee",
        promise="odds of any output change by at most e^ε for one person",
        checks=NoisyCount.for_odds(2).checks(),
    ),
    _risky(
        "k-anonymity",
        "k records look alike",
        composition=anonymous.two_hospitals,
        post_processing=anonymous.cut_out,
        groups=anonymous.family_in_one_class,
        trade_off=anonymous.promise_of_nothing,
        known_attacks=anonymous.all_of_one_illness,
        any_intruder=anonymous.known_others,
        any_data=anonymous.all_of_one_illness,
    ),
    _risky("local suppression", "k records fit what is shown", any_intruder=anonymous.eliminated),
    _risky(
        "cell suppression",
        "no hidden cell is computed too closely",
        composition=tables.another_table,
        post_processing=tables.everything_computed,
        groups=tables.colluding_firms,
        known_attacks=tables.another_table,
        any_intruder=tables.another_table,
        any_data=tables.hole_that_tells,
    ),
    _risky(
        "controlled rounding",
        "each cell is less than a base off",
        composition=tables.two_bases,
        any_intruder=tables.known_all_but_one,
    ),
    _risky("cell keys", "the same cell is always the same", composition=tables.splits_averaged),
    _risky("top-coding", "nobody above the bound is told apart", composition=anonymous.total_beside_top_code),
    _risky(
        "noise on records",
        "the mean stays",
        composition=anonymous.noise_averaged,
        groups=anonymous.noise_of_a_group,
        known_attacks=anonymous.noise_averaged,
        any_data=anonymous.largest_stays,
    ),
    _risky("post-randomisation", "a value is true with a known chance", composition=anonymous.pram_outvoted),
    _risky(
        "microaggregation",
        "k records share each mean",
        composition=anonymous.grouped_twice,
        any_intruder=anonymous.ranks_stay,
    ),
    _risky(
        "swapping",
        "every column's counts stay",
        composition=anonymous.swaps_outvoted,
        known_attacks=anonymous.unswapped_columns,
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Checklist:
    """What was found of each way of protecting."""

    found: tuple[tuple[Protection, dict[str, Evidence]], ...]

    def meets(self, name: str) -> dict[str, bool | None]:
        """Each property and demand of one way: held, failed, or not shown."""
        return next({key: one.holds for key, one in found.items()} for way, found in self.found if way.name == name)

    def sentences(self) -> tuple[str, ...]:
        """What the list says, in words."""
        every = [way.name for way, found in self.found if all(one.holds for one in found.values())]
        fail = [way.name for way, found in self.found if found["composition"].holds is False]
        whole = f"{' and '.join(every) or 'No way'} {'meets' if len(every) < 2 else 'meet'} all properties and demands."
        return (
            whole[0].upper() + whole[1:],
            f"Releases that add up break {len(fail)} of {len(self.found)} ways: {', '.join(fail)}."
            if fail
            else "No way was broken by releases that add up.",
            "'Holds' is an exact check over a whole small domain; 'fails' an attack that has just succeeded; 'not "
            "shown' is neither, and no acquittal.",
        )

    def grids(self) -> tuple[Grid, ...]:
        """Properties, demands, and what was found."""
        return (
            self._verdicts("Four properties that a promise should have", PROPERTIES),
            self._verdicts("Four demands on a definition of privacy", DEMANDS),
            self.evidence(),
        )

    def evidence(self) -> Grid:
        """One row for each check that was run."""
        rows = tuple(
            (way.name, key, one.verdict, one.told)
            for way, found in self.found
            for key, one in found.items()
            if one.holds is not None
        )
        return Grid("What was found", tuple(map(GridColumn, ("way", "property", "verdict", "because"))), rows)

    def as_json(self) -> dict[str, object]:
        """Everything, as plain values."""
        return {
            "properties": dict(PROPERTIES),
            "demands": dict(DEMANDS),
            "ways": [
                {
                    "name": way.name,
                    "family": way.family,
                    "promise": way.promise,
                    "found": {key: {"verdict": one.verdict, "because": one.told} for key, one in found.items()},
                }
                for way, found in self.found
            ],
        }

    def _verdicts(self, title: str, names: Mapping[str, str]) -> Grid:
        columns = (GridColumn("way"), GridColumn("promise"), *map(GridColumn, names))
        rows = tuple((way.name, way.promise, *(found[name].verdict for name in names)) for way, found in self.found)
        return Grid(title, columns, rows, note="; ".join(f"{name}: {what}" for name, what in names.items()) + ".")


def check_promises(
    ways: Sequence[Protection] = PROTECTIONS, *, progress: Callable[[str], None] | None = None
) -> Checklist:
    """Run every check of these ways of protecting."""
    found = []
    for way in ways:
        if progress is not None:
            progress(way.name)
        found.append((way, way.examined()))
    return Checklist(found=tuple(found))
