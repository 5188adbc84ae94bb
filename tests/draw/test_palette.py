"""Colours: readable on light and on dark paper, apart for colour-blind readers, and the families' own theirs alone."""

from __future__ import annotations

import itertools
import math
import re
from pathlib import Path

import pytest

import discreet.draw
from discreet.draw.palette import FAMILIES, INK, MUTED, PAPER, SERIES, SHADES, Shade, readable, variables

_SPEAKING = (INK, MUTED, *SERIES, *(sign.shade for sign in FAMILIES.values()))
_HUED = (*SERIES, *(sign.shade for sign in FAMILIES.values()))
# Linear RGB as seen with each colour blindness, after Machado, Oliveira and Fernandes (2009), full severity.
_SIGHTS = {
    "trichromat": ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
    "protan": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deutan": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritan": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}
Triple = tuple[float, float, float]


def _linear(colour: str) -> Triple:
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return red, green, blue


def _contrast(one: str, other: str) -> float:
    light = sorted(sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), _linear(x), strict=True)) for x in (one, other))
    return (light[1] + 0.05) / (light[0] + 0.05)


def _seen(colour: str, sight: str) -> Triple:
    """OKLab of the colour as that sight sees it."""
    seen = [max(0.0, sum(w * c for w, c in zip(row, _linear(colour), strict=True))) for row in _SIGHTS[sight]]
    cones = ((0.4122, 0.5363, 0.0514), (0.2119, 0.6807, 0.1074), (0.0883, 0.2817, 0.6300))
    a, b, c = (sum(w * s for w, s in zip(row, seen, strict=True)) ** (1 / 3) for row in cones)
    return (
        0.2105 * a + 0.7936 * b - 0.0041 * c,
        1.9780 * a - 2.4286 * b + 0.4506 * c,
        0.0259 * a + 0.7828 * b - 0.8087 * c,
    )


def _distance(one: str, other: str, sight: str) -> float:
    pairs = zip(_seen(one, sight), _seen(other, sight), strict=True)
    return math.sqrt(sum((a - b) ** 2 for a, b in pairs))


@pytest.mark.parametrize("shade", _SPEAKING, ids=lambda shade: str(shade.name))
def test_what_speaks_in_colour_is_readable_on_its_paper(shade: Shade) -> None:
    assert _contrast(shade.light, PAPER.light) >= 4.5
    assert _contrast(shade.dark, PAPER.dark) >= 4.5


@pytest.mark.parametrize("shade", _HUED, ids=lambda shade: str(shade.name))
@pytest.mark.parametrize("paper", ["light", "dark"])
def test_words_on_any_strength_of_a_colour_are_readable(shade: Shade, paper: str) -> None:
    def laid(strength: float) -> str:
        pairs = zip(bytes.fromhex(getattr(shade, paper)[1:]), bytes.fromhex(getattr(PAPER, paper)[1:]), strict=True)
        return "#" + bytes(round(strength * above + (1 - strength) * below) for above, below in pairs).hex()

    weakest = min(_contrast(laid(at / 100), getattr(readable(shade, at / 100), paper)) for at in range(101))
    assert weakest >= 3.8


@pytest.mark.parametrize("sight", _SIGHTS)
@pytest.mark.parametrize("paper", ["light", "dark"])
def test_the_two_families_differ_for_every_sight(sight: str, paper: str) -> None:
    guarantee, risk = (getattr(sign.shade, paper) for sign in FAMILIES.values())
    assert _distance(guarantee, risk, sight) > 0.15


@pytest.mark.parametrize("sight", _SIGHTS)
@pytest.mark.parametrize("paper", ["light", "dark"])
def test_no_two_series_are_alike_for_any_sight(sight: str, paper: str) -> None:
    nearest = {
        (a.name, b.name): _distance(getattr(a, paper), getattr(b, paper), sight)
        for a, b in itertools.combinations(_HUED, 2)
    }
    assert min(nearest.values()) > 0.055, min(nearest, key=lambda pair: nearest[pair])


def test_the_families_colours_stand_nowhere_else() -> None:
    own = {sign.shade for sign in FAMILIES.values()}
    colours = {colour for shade in own for colour in (shade.light, shade.dark)}
    assert len(colours) == 4
    assert not colours & {colour for shade in set(SHADES) - own for colour in (shade.light, shade.dark)}
    for file in Path(discreet.draw.__file__).parent.iterdir():
        if file.suffix in (".py", ".css"):
            found = set(re.findall(r"#[0-9a-fA-F]{3,8}\b", file.read_text(encoding="utf-8")))
            assert not found if file.name != "palette.py" else colours < found


def test_every_shade_is_a_variable_in_light_and_in_dark() -> None:
    light, dark = variables().split("prefers-color-scheme:dark")
    for shade in SHADES:
        assert f"--{shade.name}:{shade.light};" in light
        assert f"--{shade.name}:{shade.dark};" in dark
        assert f".fill-{shade.name}{{fill:var(--{shade.name})}}" in dark
