"""Reconstruction of published tables: every stated variant, a search without a solver, noise, and refusals."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from discreet.attacks.reconstruction.noisy import nearest_block, print_noisy, reconstruct_noisy
from discreet.attacks.reconstruction.published import Publication
from discreet.attacks.reconstruction.reading import parse_publication, read_publication
from discreet.attacks.reconstruction.result import overlap, reconstruct
from discreet.attacks.reconstruction.solve import conflict, enough, solve_block
from discreet.cli.main import main
from discreet.draw import to_svg
from discreet.errors import DiscreetError, InputError
from discreet.randomness import SeededBits
from tests.attacks.blocks import BLOCK, ROWS, SEVEN, by_hand, changed, printed, table_of


def blocks_of(publication: Publication, most: int = 100) -> int:
    solved = solve_block(publication, most=most)
    assert solved.complete
    return len(solved.blocks)


def without(name: str) -> Callable[[dict[str, Any]], None]:
    def change(document: dict[str, Any]) -> None:
        document["table"] = [row for row in document["table"] if row["name"] != name]

    return change


def adults_from_fifteen(document: dict[str, Any]) -> None:
    for row in document["table"]:
        row["where"] = row["where"].replace("age >= 18", "age >= 15")


def no_rule(document: dict[str, Any]) -> None:
    document["rules"] = []


def vague_means(document: dict[str, Any]) -> None:
    for row in document["table"]:
        if row["mean"] != "D":
            row["mean"] = f"{row['mean'] - 0.5:g}..{row['mean'] + 0.5:g}"


@pytest.mark.requirement("2.09", "2.13")
def test_block_of_seven_has_exactly_one_solution() -> None:
    for publication in (read_publication(BLOCK), changed(suppressed=None)):
        solved = solve_block(publication)
        assert solved.unique
        assert solved.blocks == (SEVEN,)
        assert dict(solved.certain) == dict.fromkeys(SEVEN, 1)


def test_a_search_without_a_solver_agrees() -> None:
    assert by_hand() == {tuple(sorted(SEVEN))}


VARIANTS = [
    ("adult from 15", adults_from_fifteen, "0..2", 1),
    ("no rule on marriage", no_rule, None, 2),
    *((f"without {name}", without(name), None, 1) for name in ("1A", "2A", "2B", "2C", "2D")),
    ("without 4A", without("4A"), None, 2),
    ("without 4A, D of 0 to 2", without("4A"), "0..2", 2),
    ("without 3B", without("3B"), None, 64),
    ("without 3B, D of 0 to 2", without("3B"), "0..2", 22),
    ("means within half a year", vague_means, None, 33),
    ("means within half a year, D of 0 to 2", vague_means, "0..2", 33),
]


@pytest.mark.requirement("2.09")
@pytest.mark.parametrize(("change", "suppressed", "expected"), [v[1:] for v in VARIANTS], ids=[v[0] for v in VARIANTS])
def test_every_variant_leaves_as_many_blocks_as_stated(
    change: Callable[[dict[str, Any]], None], suppressed: str | None, expected: int
) -> None:
    assert blocks_of(changed(change, suppressed=suppressed)) == expected


@pytest.mark.slow
@pytest.mark.parametrize(("suppressed", "expected"), [(None, 2915), ("0..2", 2901)])
def test_without_medians_thousands_of_blocks_are_left(suppressed: str | None, expected: int) -> None:
    def no_medians(document: dict[str, Any]) -> None:
        for row in document["table"]:
            row["median"] = None

    assert blocks_of(changed(no_medians, suppressed=suppressed), most=5000) == expected


@pytest.mark.requirement("2.10")
def test_three_men_leave_thirty_one_triples() -> None:
    document = {"columns": {"age": "0..125"}, "table": [{"name": "2B", "count": 3, "median": 30, "mean": "44.0"}]}
    solved = solve_block(parse_publication(document))
    triples = [tuple(age for (age,) in block) for block in solved.blocks]
    assert sorted(triples) == [(low, 30, 102 - low) for low in range(31)]


@pytest.mark.requirement("2.08", "2.11", "2.12")
def test_printed_rows_become_equations_over_coded_persons() -> None:
    publication = read_publication(BLOCK)
    lines = publication.equations()
    assert lines[0].startswith("7 people; age in 0..125; sex in female | male; race in black | white")
    assert "1A: Σ age (everyone) = 266" in lines  # 7 · 38
    assert "4A: Σ age (sex = female and race = black) = 110" in lines  # 36.7 is rounded
    codes = {(c.name, level): c.code(level, "test") for c in publication.columns for level in c.levels}
    assert codes == {
        ("sex", "female"): 0,
        ("sex", "male"): 1,
        ("race", "black"): 0,
        ("race", "white"): 1,
        ("status", "single"): 0,
        ("status", "married"): 1,
    }
    assert reconstruct(publication).solved.blocks == (SEVEN,)


@pytest.mark.slow
def test_which_rows_are_enough() -> None:
    assert set(enough(changed(suppressed=None))) == {
        ("2B", "2D", "3B", "4A"),
        ("1A", "2A", "2C", "3B", "4A"),
        ("1A", "2A", "2D", "3B", "4A"),
        ("1A", "2B", "2C", "3B", "4A"),
        ("2A", "2B", "2C", "3B", "4A"),
        ("2A", "2C", "2D", "3B", "4A"),
    }


def test_of_many_rows_one_set_that_is_enough_is_found() -> None:
    publication = read_publication(BLOCK)
    (rows,) = enough(publication)
    assert blocks_of(publication.with_rows(rows)) == 1
    for name in rows:
        assert not solve_block(publication.with_rows(rows).without_row(name), most=2).unique


@pytest.mark.requirement("2.14")
def test_records_are_ranked_and_a_part_of_the_block_is_a_find() -> None:
    solved = solve_block(changed(without("3B"), suppressed=None))
    shares = [share for _, share in solved.ranking]
    assert shares == sorted(shares, reverse=True)
    for person, share in solved.ranking:
        assert share == sum(person in block for block in solved.blocks) / 64
    assert [person for person, _ in solved.certain] == [p for p, share in solved.ranking if share == 1]
    assert 0 < len(solved.certain) < 7


def test_certainty_is_proven_where_blocks_were_left_out() -> None:
    publication = changed(without("3B"), suppressed=None)
    whole, part = solve_block(publication), solve_block(publication, most=2)
    assert not part.complete
    assert set(part.certain) == set(whole.certain)


def test_contradicting_rows_are_named() -> None:
    publication = changed(suppressed="1..2")
    rows = conflict(publication)
    assert "5A" in rows  # nobody is under five, so a suppressed cell there cannot stand for one or two
    for name in rows:
        fewer = publication.with_rows(tuple(one for one in rows if one != name))
        assert conflict(fewer) == ()
    with pytest.raises(InputError, match="5A contradict each other"):
        reconstruct(publication)
    assert conflict(read_publication(BLOCK)) == ()


@pytest.mark.parametrize("people", [12, pytest.param(50, marks=pytest.mark.slow)])
def test_large_blocks_are_reconstructed_to_the_printed_numbers(people: int) -> None:
    publication, truth = printed(people)
    solved = solve_block(publication, most=1, seconds=60)
    assert not solved.complete
    (block,) = solved.blocks
    assert block != tuple(sorted(truth))  # many blocks agree, and each of them prints the same numbers
    assert table_of(block) == table_of(truth)


def test_success_is_judged_against_blind_drawing() -> None:
    found = reconstruct(read_publication(BLOCK), truth=SEVEN)
    assert found.truth is not None
    assert (found.truth.hits, found.truth.tries) == (7, 7)
    # Blindly: about 7 · 7/(111 · 8 + 15 · 4 · …) of the allowed records; far below one in fifty.
    assert 0.002 < found.truth.baseline < 0.02
    assert found.truth.beats_chance
    wrong = tuple((int(age) + 1, *rest) for age, *rest in SEVEN)
    missed = reconstruct(read_publication(BLOCK), truth=wrong).truth
    assert missed is not None
    assert (missed.hits, missed.beats_chance) == (0, False)


def test_noise_of_each_number_fits_its_sensitivity() -> None:
    noisy = print_noisy(changed(), SEVEN, epsilon=1, bits=SeededBits(1), teaching=True)
    assert {(one.kind, one.sensitivity) for one in noisy.numbers} == {("count", 1), ("total", 125), ("middle", 250)}
    # The worst change of one person, over every replacement of one of the seven, in every printed number.
    publication, worst = changed(), dict.fromkeys(("count", "total", "middle"), 0)
    plain = exact(publication, SEVEN)
    for at in range(7):
        for age in (0, 30, 125):
            other = (*SEVEN[:at], (age, "male", "white", "single"), *SEVEN[at + 1 :])
            for (kind, before), (_, after) in zip(plain, exact(publication, other), strict=True):
                worst[kind] = max(worst[kind], abs(before - after))
    assert worst["count"] == 1
    assert worst["total"] <= 125
    assert worst["middle"] <= 250


def exact(publication: Publication, block: Any) -> list[tuple[str, int]]:
    """The true numbers: what is printed when ε is beyond all measure."""
    printed = print_noisy(publication, block, epsilon=10**9, bits=SeededBits(2), teaching=True)
    return [(one.kind, one.value) for one in printed.numbers]


@pytest.mark.requirement("2.21")
def test_noisy_tables_are_not_reconstructed() -> None:
    publication = changed().with_rows(ROWS)
    found = reconstruct_noisy(
        publication, SEVEN, epsilons=(1, 10, 10**6), bits=SeededBits(3), printings=3, teaching=True
    )
    low, middle, without_noise = found.rates
    assert not low.beats_chance
    assert not middle.beats_chance
    assert without_noise.share == 1  # the same intruder wins as soon as the noise is gone
    assert low.hits <= 1
    assert to_svg(found.charts()[0])
    assert json.dumps(found.as_json())


def test_nearest_block_of_exact_numbers_is_the_truth() -> None:
    noisy = print_noisy(changed().with_rows(ROWS), SEVEN, epsilon=10**7, bits=SeededBits(4), teaching=True)
    assert overlap(nearest_block(noisy), SEVEN) == 7


def test_release_bits_are_needed_unless_it_is_for_teaching() -> None:
    with pytest.raises(InputError, match="repeated"):
        print_noisy(changed(), SEVEN, epsilon=1, bits=SeededBits(1))


def test_csv_says_the_same(tmp_path: Path) -> None:
    publication = read_publication(BLOCK)
    lines = ["kind,name,where,count,median,mean", "column,age,0..125,,,", "suppressed,D,,0..2,,"]
    lines += [f"column,{c.name},{' | '.join(c.levels)},,," for c in publication.columns if c.levels]
    lines += ["rule,married,status = married -> age >= 15,,,"]
    import yaml

    for row in yaml.safe_load(BLOCK.read_text())["table"]:
        lines.append(f"row,{row['name']},{row['where']},{row['count']},{row['median']},{row['mean']}")
    path = tmp_path / "block.csv"
    path.write_text("\n".join(lines) + "\n")
    read = read_publication(path)
    assert read.table == publication.table
    assert set(read.columns) == set(publication.columns)
    assert blocks_of(read) == 1


BROKEN = {
    "no table": ("columns: {age: 0..9}", "no columns or no table"),
    "not YAML": ("a: [", "no readable YAML"),
    "unknown entry": ("columns: {age: 0..9}\ntabel: []\ntable: []", "tabel"),
    "unknown column": (
        "columns: {age: 0..9}\ntable: [{name: a, where: aeg = 3, count: 2}]\npeople: 3",
        "did you mean age",
    ),
    "bad number": ("columns: {age: 0..9}\ntable: [{name: a, count: two}]", "row a, count"),
    "half a person": ("columns: {age: 0..9}\ntable: [{name: a, count: 1.5}]", "whole number"),
    "no people": ("columns: {age: 0..9}\ntable: [{name: a, where: age = 3, count: 1}]", "no number of people"),
    "word order": ("columns: {age: 0..9, s: [a, b]}\ntable: [{name: a, where: s > a, count: 1}]\npeople: 2", "order"),
    "empty interval": ("columns: {age: 0..9}\ntable: [{name: a, count: 3..2}]\npeople: 4", "ends before it begins"),
    "twice": ("columns: {age: 0..9}\ntable: [{name: a, count: 3}, {name: a, count: 3}]", "two rows of one name"),
    "no arrow": ("columns: {age: 0..9}\nrules: [age = 3]\ntable: [{name: a, count: 3}]", "without ->"),
    "median of what": ("columns: {s: [a, b]}\ntable: [{name: a, count: 3, median: 4}]", "one column"),
    "median of how many": ("columns: {a: 0..9}\ntable: [{name: a, count: 1..3, median: 4}]\npeople: 4", "exact count"),
    "crowd": ("columns: {a: 0..9}\ntable: [{name: a, count: 5000}]", "5000 people"),
    "impossible": ("columns: {a: 0..9}\ntable: [{name: a, count: 2, mean: 12}]", "row a contradicts"),
}


@pytest.mark.parametrize(("text", "said"), BROKEN.values(), ids=BROKEN)
def test_bad_tables_are_refused_in_one_line(
    text: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "broken.yaml"
    path.write_text(text)
    assert main(["attack", "reconstruction", str(path)]) == 2
    shown = capsys.readouterr().err.strip()
    assert said in shown
    assert len(shown.splitlines()) == 1


@pytest.mark.parametrize("name", ["absent.yaml", "table.txt"])
def test_files_of_another_kind_are_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / "table.txt").write_text("a")
    with pytest.raises(DiscreetError, match=name):
        read_publication(tmp_path / name)


def test_command_shows_sentences_json_and_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["attack", "reconstruction", str(BLOCK)]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("Exactly one block of people agrees")
    assert "female" in shown
    page = tmp_path / "page.html"
    assert main(["attack", "reconstruction", str(BLOCK), "--json", "--html", str(page)]) == 0
    read = json.loads(capsys.readouterr().out)
    assert (read["unique"], read["certain_people"]) == (True, 7)
    assert "How sure each reconstructed record is" in page.read_text()
