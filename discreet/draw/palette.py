"""Colours and the two families' signs, once for every face: each colour has a shade for light and one for dark paper.

A guarantee is blue and a measured risk is orange, wherever Discreet speaks of them; no other thing has these colours.
Series differ in lightness and dash as well as in hue, so that they stay apart for colour-blind readers and in print.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

__all__ = [
    "FAMILIES",
    "FONT",
    "HAIR",
    "INK",
    "MUTED",
    "PAPER",
    "SERIES",
    "SHADES",
    "SIGNED",
    "Family",
    "FamilySign",
    "Shade",
    "variables",
]

Family: TypeAlias = Literal["guarantee", "measured risk", "plain"]
Channels: TypeAlias = tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Shade:
    """One colour under its name, on light and on dark paper."""

    name: str
    light: str
    dark: str


@dataclass(frozen=True, slots=True)
class FamilySign:
    """The label and the colour that mark a family."""

    label: str
    meaning: str
    shade: Shade


FAMILIES: Final[dict[str, FamilySign]] = {
    "guarantee": FamilySign("Guarantee", "differential privacy", Shade("guarantee", "#144ca7", "#72b5ff")),
    "measured risk": FamilySign("Measured risk", "not differential privacy", Shade("risk", "#a95b09", "#ffa155")),
}
SERIES: Final = (
    Shade("series-1", "#3e4956", "#d0d4da"),
    Shade("series-2", "#2a754f", "#49dc96"),
    Shade("series-3", "#851286", "#f077d9"),
    Shade("series-4", "#6f5302", "#f7cc4b"),
    Shade("series-5", "#127d9d", "#a9c2cb"),
    Shade("series-6", "#950340", "#fc69a9"),
)
SIGNED: Final = (SERIES[2], SERIES[1])
FONT: Final = "system-ui, -apple-system, Segoe UI, Roboto, Helvetica Neue, Arial, sans-serif"
PAPER: Final = Shade("paper", "#ffffff", "#14171b")
INK: Final = Shade("ink", "#1b1f24", "#e7eaee")
MUTED: Final = Shade("muted", "#5a6370", "#a3adb9")
HAIR: Final = Shade("hair", "#d9dde2", "#333a43")
NIGHT: Final = Shade("night", INK.light, PAPER.dark)
DAY: Final = Shade("day", PAPER.light, INK.dark)
SHADES = (PAPER, INK, NIGHT, DAY, MUTED, HAIR, *SERIES, *(sign.shade for sign in FAMILIES.values()))


def variables() -> str:
    """Every shade as a CSS variable, and the classes that charts use for it: dark where the reader's screen asks."""
    light = "".join(f"--{shade.name}:{shade.light};" for shade in SHADES)
    dark = "".join(f"--{shade.name}:{shade.dark};" for shade in SHADES)
    classes = "\n".join(
        f".chart .fill-{name}{{fill:var(--{name})}}.chart .line-{name}{{stroke:var(--{name})}}"
        for name in (shade.name for shade in SHADES)
    )
    return (
        f":root{{color-scheme:light;{light}}}\n"
        f"@media screen and (prefers-color-scheme:dark){{:root{{color-scheme:dark;{dark}}}}}\n"
        f"{classes}\n.chart .halo-{PAPER.name}{{stroke:var(--{PAPER.name})}}\n"
    )


def readable(shade: Shade, strength: float) -> Shade:
    """What words on a shade of that opacity are written in: on either paper whichever contrasts more."""
    light = _clearer((INK.light, PAPER.light), _laid(shade.light, PAPER.light, strength))
    dark = _clearer((INK.dark, PAPER.dark), _laid(shade.dark, PAPER.dark, strength))
    return next(ink for ink in (INK, PAPER, NIGHT, DAY) if (ink.light, ink.dark) == (light, dark))


def _clearer(inks: tuple[str, str], ground: Channels) -> str:
    return max(inks, key=lambda ink: abs(math.log((_luminance(_channels(ink)) + 0.05) / (_luminance(ground) + 0.05))))


def _laid(colour: str, paper: str, strength: float) -> Channels:
    """The colour of a translucent layer on paper."""
    pairs = zip(_channels(colour), _channels(paper), strict=True)
    return tuple(strength * above + (1 - strength) * below for above, below in pairs)


def _channels(colour: str) -> Channels:
    return tuple(int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))


def _luminance(channels: Channels) -> float:
    """Relative luminance as the Web Content Accessibility Guidelines define it."""
    linear = (value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in channels)
    return sum(weight * value for weight, value in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
