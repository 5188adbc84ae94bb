"""The mutation run can fail: it sees a planted bug, misses one that no test looks at, and writes its copy alone."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest

from tests.mutation import runner
from tests.mutation.journal import Journal
from tests.mutation.mapping import test_files as files_for
from tests.mutation.mutants import Mutant, code_lines, mutants_of
from tests.mutation.report import Outcome, Report, Verdict
from tests.mutation.runner import MODULES, ROOT, Copy, all_mutants, equivalents, modules_named, private_copy, sample

QUICK = "tests/mechanisms/test_quick.py"
QUICK_TEST = """
from pathlib import Path

import discreet.mechanisms.channel as channel


def test_the_copy_runs() -> None:
    assert Path(channel.__file__).is_relative_to(Path(__file__).parent.parent.parent)


def test_odds_of_the_coin() -> None:
    assert channel.TWO_COINS.odds() == 3
"""
SOURCE = '''"""A module of 3 words."""
__all__ = ["clamp"]
LIMIT = 8


def clamp(value: int, least: int = 0) -> int:
    """No more than 8."""
    if value < least:
        raise ValueError(f"{value - 1} is below {least + 1}", 7 + 7)
    return min(value, LIMIT)
'''


@pytest.fixture(scope="module")
def copy() -> Iterator[Copy]:
    with private_copy() as made:
        (made.folder / QUICK).write_text(QUICK_TEST)
        yield made


def bug(function: str, becomes: str) -> Mutant:
    """The one mutant of `channel` in that function that reads so."""
    (found,) = (
        mutant for mutant in all_mutants("channel") if mutant.function == function and becomes in mutant.becomes
    )
    return found


@pytest.mark.mutates
def test_a_planted_bug_is_killed_in_the_copy_and_the_tree_stays_as_it_is(copy: Copy) -> None:
    tree, private = ROOT / MODULES / "channel.py", copy.folder / MODULES / "channel.py"
    before = tree.read_text(), tree.stat().st_mtime_ns
    assert copy.fails([QUICK], 60) == (False, "")
    swapped = bug("Channel.odds", "Fraction(min(column), min(column))")
    assert copy.outcome(swapped, {QUICK: 60.0}) == (True, f"{QUICK}::test_odds_of_the_coin")
    assert private.read_text() == before[0]
    assert (tree.read_text(), tree.stat().st_mtime_ns) == before


@pytest.mark.mutates
def test_a_bug_that_no_test_looks_at_survives_and_one_that_hangs_does_not(copy: Copy) -> None:
    unseen = bug("Channel.delta", "return min(excesses)")
    assert copy.outcome(unseen, {QUICK: 60.0}) == (False, "")
    (copy.folder / QUICK).write_text(f"{QUICK_TEST}\n\ndef test_endless() -> None:\n    while True:\n        pass\n")
    assert copy.fails([QUICK], 4) == (True, "time")
    (copy.folder / QUICK).write_text(QUICK_TEST)
    with pytest.raises(RuntimeError, match="tested nothing"):
        copy.fails(["tests/mechanisms/test_that_is_not_there.py"], 60)


def test_mutants_are_what_a_tired_hand_writes_and_leave_texts_alone() -> None:
    found = {(mutant.function, mutant.kind, mutant.original, mutant.becomes) for mutant in mutants_of("small", SOURCE)}
    guard = "if value < least: raise ValueError(f'{value - 1} is below {least + 1}', 7 + 7)"
    assert found == {
        ("<module>", "constant + 1", "LIMIT = 8", "LIMIT = 9"),
        ("<module>", "constant − 1", "LIMIT = 8", "LIMIT = 7"),
        ("<module>", "constant halved", "LIMIT = 8", "LIMIT = 4"),
        ("<module>", "constant doubled", "LIMIT = 8", "LIMIT = 16"),
        ("clamp", "constant + 1", "0", "1"),
        ("clamp", "constant − 1", "0", "-1"),
        ("clamp", "comparison loosened", "value < least", "value <= least"),
        ("clamp", "comparison flipped", "value < least", "value >= least"),
        ("clamp", "guard dropped", guard, "pass"),
        ("clamp", "min/max swapped", "return min(value, LIMIT)", "return max(value, LIMIT)"),
        ("clamp", "argument returned", "return min(value, LIMIT)", "return value"),
    }
    assert code_lines(SOURCE) == 6


def test_every_mutant_is_a_module_that_differs() -> None:
    for module in ("channel", "decay", "smooth"):
        source = (ROOT / MODULES / f"{module}.py").read_text()
        plain = ast.unparse(ast.parse(source))
        for mutant in mutants_of(module, source):
            assert ast.unparse(ast.parse(mutant.source)) != plain, mutant


def test_a_sample_is_repeatable_and_follows_the_code_lines() -> None:
    mutants = {module: all_mutants(module) for module in ("decay", "channel")}
    chosen = sample(mutants, {"decay": 300, "channel": 100}, 20, seed=1)
    assert [mutant.module for mutant in chosen] == ["decay"] * 15 + ["channel"] * 5
    assert len({(mutant.module, mutant.site) for mutant in chosen}) == 20
    assert chosen == sample(mutants, {"decay": 300, "channel": 100}, 20, seed=1)
    assert chosen != sample(mutants, {"decay": 300, "channel": 100}, 20, seed=2)


def test_tests_are_found_by_name_and_by_import() -> None:
    assert files_for(ROOT, "decay")[0] == "tests/mechanisms/test_decay.py"
    assert files_for(ROOT, "aim")[0] == "tests/mechanisms/test_quantile.py"
    assert "tests/statistical/test_noise.py" in files_for(ROOT, "blocks")
    assert all(files_for(ROOT, module) for module in modules_named(None))


def test_each_equivalent_is_one_mutant_of_the_code_as_it_is() -> None:
    listed = equivalents()
    today = [mutant.identity for module in {entry[0] for entry in listed} for mutant in all_mutants(module)]
    assert {identity: today.count(identity) for identity in listed} == dict.fromkeys(listed, 1)
    assert all(len(reason) > 20 for reason in listed.values())


def ended(mutant: Mutant, verdict: Verdict, by: str) -> Outcome:
    return Outcome(mutant=mutant, verdict=verdict, by=by, seconds=1.0)


def test_a_journal_spares_what_is_as_it_was(tmp_path: Path) -> None:
    """A killed mutant hangs on the file that killed it, a survivor on all tests, both on the code."""
    (tmp_path / MODULES).mkdir(parents=True)
    for name in ("channel", "decay"):
        (tmp_path / MODULES / f"{name}.py").write_text((ROOT / MODULES / f"{name}.py").read_text())
    tests = ["near.py", "far.py"]
    for file in tests:
        (tmp_path / file).write_text("")
    killed, spared = bug("Channel.odds", "Fraction(min(column), min(column))"), bug("Channel.delta", "min(excesses)")
    path = tmp_path / "kept" / "journal.jsonl"

    def read(mutant: Mutant, reason: str = "") -> Verdict | None:
        found = Journal(path, tmp_path, MODULES).known(mutant, tests, reason)
        return None if found is None else found.verdict

    assert read(killed) is None
    first = Journal(path, tmp_path, MODULES)
    first.add(ended(killed, Verdict.KILLED, "near.py::test_it"), tests)
    first.add(ended(spared, Verdict.SURVIVED, ""), tests)
    assert (read(killed), read(spared)) == (Verdict.KILLED, Verdict.SURVIVED)
    assert read(spared, "the same") is Verdict.EQUIVALENT  # listed since
    (tmp_path / "far.py").write_text("a test more")
    assert (read(killed), read(spared)) == (Verdict.KILLED, None)
    (tmp_path / MODULES / "decay.py").write_text("another text")
    assert read(killed) is None
    assert Journal(None, tmp_path, MODULES).known(killed, tests, "") is None


@pytest.mark.mutates
def test_a_run_that_is_stopped_goes_on_with_what_is_left(copy: Copy, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[int] = []
    monkeypatch.setattr(runner, "test_files", lambda *_: [QUICK])
    monkeypatch.setattr(runner, "private_copy", lambda: nullcontext(copy))
    path = copy.folder / "journal.jsonl"

    def go(count: int, minutes: float = 10) -> Report:
        return runner.run(
            ["channel"],
            count=count,
            seed=1,
            processes=1,
            tell=lambda report, total: told.append(len(report.outcomes)),
            journal=path,
            minutes=minutes,
        )

    assert go(1, minutes=-1).untried == 1
    assert not told
    begun = go(1)
    assert (begun.untried, told) == (0, [1])
    monkeypatch.setattr(Copy, "outcome", lambda *_: pytest.fail("tried again"))
    again = go(1, minutes=-1)
    assert [one.verdict for one in again.outcomes] == [one.verdict for one in begun.outcomes]
    assert "not tried yet" in Report(seed=1, outcomes=again.outcomes, untried=3).text()


def test_a_report_counts_what_a_test_could_see() -> None:
    mutant = bug("Channel.delta", "return min(excesses)")

    def end(verdict: Verdict, reason: str = "") -> Outcome:
        return Outcome(mutant=mutant, verdict=verdict, by="", seconds=0.0, reason=reason)

    three = [end(Verdict.KILLED)] * 3
    report = Report(seed=1, outcomes=[*three, end(Verdict.SURVIVED), end(Verdict.EQUIVALENT, "the same")])
    assert report.share == 0.75
    assert "3 killed, 1 survived, 1 equivalent; 75.0%" in report.text()
    assert not report.false_claims
    assert Report(seed=1, outcomes=[*three, end(Verdict.KILLED, "said to be the same")]).false_claims
