"""Hierarchies from every source, what is wrong with broken ones, and that no message quotes a value."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from discreet.anonymize.hierarchy import Hierarchy, read_hierarchies
from discreet.anonymize.records import CodedColumn, Records
from discreet.errors import DiscreetError


def test_csv_yaml_and_intervals_say_the_same(tmp_path: Path) -> None:
    lines = [f"{age};{age // 5 * 5}-{age // 5 * 5 + 4};{age // 10 * 10}-{age // 10 * 10 + 9};*" for age in range(20)]
    (tmp_path / "my_age.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "years.yaml").write_text("intervals: {low: 0, high: 19, widths: [5, 10]}\n")
    (tmp_path / "other.yaml").write_text(
        "tree:\n  0-9: {0-4: [0, 1, 2, 3, 4], 5-9: [5, 6, 7, 8, 9]}\n"
        "  10-19: {10-14: [10, 11, 12, 13, 14], 15-19: [15, 16, 17, 18, 19]}\n"
    )
    found = read_hierarchies(tmp_path, ["age", "years", "other", "absent"])
    assert set(found) == {"age", "years", "other"}
    assert found["age"].rows == found["years"].rows == found["other"].rows
    assert found["age"].levels == 4


def test_a_file_is_found_whatever_joins_its_words(tmp_path: Path) -> None:
    (tmp_path / "adult_hierarchy_marital-status.csv").write_text("a;*\nb;*\n")
    assert read_hierarchies(tmp_path, ["marital_status"])["marital_status"].levels == 2
    (tmp_path / "b_marital_status.csv").write_text("a;*\nb;*\n")
    with pytest.raises(DiscreetError, match="several files for column 'marital_status'"):
        read_hierarchies(tmp_path, ["marital_status"])


def test_uneven_trees_and_open_tops_are_completed() -> None:
    tree = Hierarchy.tree("x", {"north": {"a": ["a1", "a2"]}, "south": ["s1"]})
    assert tree.rows == (("a1", "a", "north", "*"), ("a2", "a", "north", "*"), ("s1", "south", "south", "*"))
    assert Hierarchy("x", (("1", "low"), ("2", "high"))).rows == (("1", "low", "*"), ("2", "high", "*"))


def test_missing_stays_missing_until_the_top() -> None:
    column = CodedColumn.of("x", [1, None, 2, 3])
    ladder = Hierarchy.intervals("x", low=0, high=3, widths=[2]).ladder(column)
    shown = [ladder.recoded(np.full(4, level)).listed() for level in range(3)]
    assert shown == [[1, None, 2, 3], ["0-1", None, "2-3", "2-3"], ["*", "*", "*", "*"]]
    assert [round(float(loss), 3) for loss in ladder.losses(2)] == [1.0]
    assert ladder.recoded(np.array([0, 1, 1, 2])).listed() == ["1", None, "2-3", "*"]


def test_loss_goes_from_nothing_to_everything() -> None:
    ladder = Hierarchy.intervals("x", low=0, high=9, widths=[5]).ladder(CodedColumn.of("x", [3.0, 7.0]))
    assert ladder.losses(0).max() == 0
    assert ladder.losses(1) == pytest.approx([4 / 9, 4 / 9])
    assert ladder.losses(2) == pytest.approx([1])


@pytest.mark.parametrize(
    ("rows", "wrong"),
    [
        ((("canary", "a", "*"), ("canary", "b", "*")), "same entry twice"),
        ((("canary", "a", "*"), ("y", "*")), "lines of different lengths"),
        ((("canary", "g", "a", "*"), ("y", "g", "b", "*")), "split at level 2"),
    ],
)
def test_broken_hierarchies_are_refused(rows: tuple[tuple[str, ...], ...], wrong: str) -> None:
    with pytest.raises(DiscreetError, match=wrong) as refused:
        Hierarchy("x", rows)
    assert "x" in str(refused.value)
    assert "canary" not in str(refused.value)


@pytest.mark.parametrize(
    "text",
    ["nothing: 1", "intervals: {low: 0}", "intervals: {low: 0, high: 9, widths: [2, 3]}", "tree: [", "[]"],
)
def test_broken_yaml_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.yaml").write_text(text)
    with pytest.raises(DiscreetError):
        read_hierarchies(tmp_path, ["x"])


def test_no_folder_and_no_text(tmp_path: Path) -> None:
    with pytest.raises(DiscreetError, match="no such folder"):
        read_hierarchies(tmp_path / "absent", ["x"])
    (tmp_path / "x.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DiscreetError, match="cannot be read"):
        read_hierarchies(tmp_path, ["x"])


def test_records_keep_their_values_and_print_none() -> None:
    frame = {"n": [3, None, 1, float("nan")], "t": ["b", "a", None, "b"], "f": [0.5, 2.0, None, 1.5]}
    records = Records.of(frame)
    assert records.as_lists() == {"n": [3, None, 1, None], "t": ["b", "a", None, "b"], "f": [0.5, 2.0, None, 1.5]}
    assert "b" not in repr(records).replace("confidential records", "")
    numbers = records.column("n").numbers
    assert numbers[[0, 2]].tolist() == [3, 1]
    assert np.isnan(numbers[[1, 3]]).all()
    assert records.column("n").with_numbers(np.array([2.4, np.nan, 7, 7])).listed() == [2, None, 7, 7]
    with pytest.raises(DiscreetError, match="values that are no numbers"):
        _ = records.column("t").numbers
    with pytest.raises(DiscreetError, match="different lengths"):
        Records.of({"a": [1], "b": [1, 2]})
    with pytest.raises(DiscreetError, match="a value of type int"):
        Records.of(3)
