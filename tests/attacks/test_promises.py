"""The checklist: differential privacy by exact checks, other ways by attacks; each verdict can turn out otherwise."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

from discreet.attacks.promises import anonymous, tables
from discreet.attacks.promises.certified import NoisyCount
from discreet.attacks.promises.checklist import PROTECTIONS, Checklist, check_promises
from discreet.attacks.promises.evidence import DEMANDS, PROPERTIES, Evidence, Protection
from discreet.cli.main import main
from discreet.errors import InputError


@pytest.fixture(scope="module")
def found() -> Checklist:
    return check_promises()


@pytest.mark.requirement("2.03", "3.07")
def test_only_differential_privacy_meets_every_property_and_demand(found: Checklist) -> None:
    assert all(found.meets("differential privacy").values())
    assert set(found.meets("differential privacy")) == set(PROPERTIES) | set(DEMANDS)
    for way, _ in found.found[1:]:
        assert False in found.meets(way.name).values(), way.name
        assert way.family == "measured risk"
    assert found.sentences()[0] == "Differential privacy meets all properties and demands."


@pytest.mark.requirement("2.03")
def test_k_anonymity_fails_composition_by_the_attack_on_two_hospitals(found: Checklist) -> None:
    told = dict(next(told for way, told in found.found if way.name == "k-anonymity"))
    assert told["composition"] == anonymous.two_hospitals()
    assert told["composition"].verdict == "fails"
    assert "k = 4 and 6" in told["composition"].told
    assert not any(found.meets("k-anonymity").values())


@pytest.mark.requirement("3.07")
def test_every_demand_is_failed_by_some_older_way_and_held_by_differential_privacy(found: Checklist) -> None:
    for demand in DEMANDS:
        verdicts = {way.name: told[demand].verdict for way, told in found.found}
        assert verdicts["differential privacy"] == "holds"
        assert "fails" in verdicts.values(), demand
        assert [name for name, verdict in verdicts.items() if verdict == "holds"] == ["differential privacy"]


@pytest.mark.requirement("2.03", "3.07")
def test_noise_of_half_the_scale_fails_every_check() -> None:
    """The promise is for odds of 2; what is added is the noise for odds of 4."""
    weak = NoisyCount(odds=Fraction(2), noise=NoisyCount.for_odds(4).noise)
    assert not any(check().holds for check in weak.checks().values())
    strong = NoisyCount(odds=Fraction(4), noise=NoisyCount.for_odds(2).noise)
    assert [name for name, check in strong.checks().items() if not check().holds] == ["trade-off"]


def test_an_attack_that_does_not_succeed_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(anonymous, "_RELEASES", 1)
    for check in (anonymous.noise_averaged, anonymous.pram_outvoted, anonymous.swaps_outvoted):
        assert check().verdict == "not shown", check.__name__
    second = anonymous._hospital("b")
    monkeypatch.setattr(anonymous, "_hospital", lambda _: second)
    for check in (anonymous.two_hospitals, anonymous.all_of_one_illness):
        assert check().verdict == "not shown", check.__name__


def test_each_attack_on_tables_succeeds() -> None:
    for check in (tables.colluding_firms, tables.hole_that_tells, tables.two_bases, tables.known_all_but_one):
        assert check().verdict == "fails", check.__name__
    assert tables.everything_computed().verdict == "holds"
    assert "8 of 9" in tables.splits_averaged().told or tables.splits_averaged().verdict == "fails"


def test_what_has_no_check_is_not_acquitted() -> None:
    bare = Protection(name="hope", family="measured risk", promise="nothing", checks={})
    only = check_promises([bare])
    assert set(only.meets("hope").values()) == {None}
    assert {one.verdict for one in only.found[0][1].values()} == {"not shown"}
    assert only.sentences()[0] == "No way meets all properties and demands."
    with pytest.raises(InputError, match="property"):
        Protection(name="x", family="measured risk", promise="", checks={"beauty": lambda: Evidence(True, "")})


def test_command_prints_the_checklist(
    found: Checklist, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("discreet.cli.checks.check_promises", lambda progress: found)  # once is enough for three forms
    assert main(["explain", "protections", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert [way["name"] for way in shown["ways"]] == [way.name for way in PROTECTIONS]
    assert shown["ways"][0]["found"]["composition"]["verdict"] == "holds"
    assert main(["explain", "protections"]) == 0
    printed = capsys.readouterr().out
    assert "Four properties" in printed
    assert "Four demands" in printed
    assert main(["explain", "protections", "--csv"]) == 0
    assert capsys.readouterr().out.startswith("way,property,verdict,because")
