"""Outlines as SVG path data: runs between gaps, lines, stairs, whiskers, glyphs; long lines lose no visible pixel."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import TypeAlias, TypeVar

from discreet.draw.element import coordinate

__all__ = ["Spot", "box", "glyph", "outline", "polyline", "runs", "segment", "stairs", "thinned", "whisker"]

Spot: TypeAlias = tuple[float, float]
T = TypeVar("T")

_LONG = 1000


def segment(*spots: Spot) -> str:
    """Straight lines from spot to spot."""
    return "M" + "L".join(f"{coordinate(x)} {coordinate(y)}" for x, y in spots)


def polyline(run: Sequence[Spot]) -> str:
    """A line through a run; a single spot becomes a dot under a round line cap."""
    return segment(*run) + ("h0" if len(run) == 1 else "")


def runs(spots: Iterable[T | None]) -> list[list[T]]:
    """The stretches without a gap."""
    return [
        [spot for spot in stretch if spot is not None]
        for drawn, stretch in groupby(spots, key=lambda spot: spot is not None)
        if drawn
    ]


def thinned(run: Sequence[Spot]) -> Sequence[Spot]:
    """A long run with only the first, lowest, highest and last spot of each column of pixels."""
    if len(run) <= _LONG:
        return run
    kept: list[Spot] = []
    for _, stretch in groupby(run, key=lambda spot: int(spot[0])):
        column = list(stretch)
        order = {0, len(column) - 1}
        order.add(min(range(len(column)), key=lambda at: column[at][1]))
        order.add(max(range(len(column)), key=lambda at: column[at][1]))
        kept += [column[at] for at in sorted(order)]
    return kept


def stairs(spots: Sequence[Spot | None]) -> str:
    """Each value holds until the next x; after a gap the stairs begin anew."""
    parts: list[str] = []
    last: Spot | None = None
    for spot in spots:
        if spot is not None and last is None:
            parts.append(f"M{coordinate(spot[0])} {coordinate(spot[1])}h0")
        elif spot is not None:
            parts.append(f"H{coordinate(spot[0])}V{coordinate(spot[1])}")
        last = spot
    return "".join(parts)


def whisker(along: float, start: float, end: float, cap: float, upright: bool) -> str:
    """A line between two values with a cap at both ends."""
    pieces = (
        ((along, start), (along, end)),
        ((along - cap, start), (along + cap, start)),
        ((along - cap, end), (along + cap, end)),
    )
    return "".join(segment(*(spot if upright else spot[::-1] for spot in piece)) for piece in pieces)


def box(along: float, breadth: float, base: float, tip: float, upright: bool) -> dict[str, float]:
    """The rectangle of a bar from its base to its tip."""
    near, length = min(base, tip), abs(tip - base)
    if upright:
        return {"x": along - breadth / 2, "y": near, "width": breadth, "height": length}
    return {"x": near, "y": along - breadth / 2, "width": length, "height": breadth}


def outline(shape: dict[str, float]) -> str:
    """The outline of a rectangle, shorter than an element of its own."""
    x, y, width, height = (coordinate(shape[key]) for key in ("x", "y", "width", "height"))
    return f"M{x} {y}h{width}v{height}h-{width}z"


def glyph(shape: int, x: float, y: float, size: float = 3.5) -> str:
    """The outline of a point: disc, square, diamond or triangle, so that colour is not the only difference."""
    start, r = f"M{coordinate(x)} {coordinate(y)}", coordinate(size)
    if shape == 0:
        return f"{start}m-{r} 0a{r} {r} 0 1 0 {coordinate(2 * size)} 0a{r} {r} 0 1 0 {coordinate(-2 * size)} 0z"
    if shape == 1:
        return f"{start}m-{r} -{r}h{coordinate(2 * size)}v{coordinate(2 * size)}h{coordinate(-2 * size)}z"
    tall = coordinate(1.35 * size)
    if shape == 2:
        return f"{start}m0 -{tall}l{tall} {tall}l-{tall} {tall}l-{tall} -{tall}z"
    return f"{start}m0 -{tall}l{tall} {coordinate(2.3 * size)}h{coordinate(-2.7 * size)}z"
