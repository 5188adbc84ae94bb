"""A directed graph of a model as a frozen value, and its picture in SVG: round nodes, known ones filled, and arrows.

Places are columns and rows of a coarse grid, given by whoever describes the model; nothing is laid out here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from discreet.draw.element import coordinate, element, filled, lined, words
from discreet.draw.lettering import escape
from discreet.draw.palette import FONT, HAIR, INK, MUTED, PAPER
from discreet.errors import ArgumentError

__all__ = ["Graph", "Node", "graph_svg"]

_CELL, _ROW, _RADIUS, _PAD, _HEAD = 112.0, 84.0, 25.0, 12.0, 7.0


@dataclass(frozen=True, slots=True)
class Node:
    """A quantity at a place; known ones are observed, the others are drawn from their law."""

    name: str
    column: float
    row: float
    known: bool = False


@dataclass(frozen=True, slots=True)
class Graph:
    """Nodes with different names, and arrows from what decides to what is decided."""

    title: str
    nodes: tuple[Node, ...]
    arrows: tuple[tuple[str, str], ...]
    caption: str

    def __post_init__(self) -> None:
        names = [node.name for node in self.nodes]
        foreign = [name for arrow in self.arrows for name in arrow if name not in names]
        if not names or len(set(names)) != len(names) or foreign or any(a == b for a, b in self.arrows):
            raise ArgumentError(
                f"graph {self.title!r}",
                found="no node, a name that stands twice, or an arrow without two ends",
                right="each arrow joins two nodes of different names",
                step="name each node once",
            )


def graph_svg(graph: Graph) -> str:
    """The graph as one <svg> element."""
    wide = 2 * _PAD + _CELL * (max(node.column for node in graph.nodes) + 1)
    tall = 2 * _PAD + 24 + _ROW * (max(node.row for node in graph.nodes) + 1)
    at = {node.name: (_PAD + _CELL * (node.column + 0.5), _PAD + 24 + _ROW * (node.row + 0.5)) for node in graph.nodes}
    parts = [words(graph.title, _PAD, _PAD + 12, font_size=15, font_weight=600, **filled(INK, "title"))]
    for start, end in graph.arrows:
        parts += _arrow(*at[start], *at[end])
    for node in graph.nodes:
        x, y = at[node.name]
        inside = HAIR if node.known else PAPER
        shape = {**lined(INK, "node"), **filled(inside, "node")}
        parts.append(element("circle", cx=x, cy=y, r=_RADIUS, **{**shape, "stroke": INK.light}))
        parts.append(words(node.name, x, y + 4, text_anchor="middle", **filled(INK, "label")))
    return element(
        "svg",
        element("title", escape(graph.title)),
        element("desc", escape(graph.caption)),
        element("rect", width=round(wide), height=round(tall), **filled(PAPER, "paper")),
        *parts,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {round(wide)} {round(tall)}",
        width=round(wide),
        height=round(tall),
        role="img",
        aria_label=graph.title,
        class_="chart",
        font_family=FONT,
        font_size=12,
    )


def _arrow(x: float, y: float, to_x: float, to_y: float) -> list[str]:
    """A line from rim to rim with a head at its end."""
    length = math.hypot(to_x - x, to_y - y)
    along, up = (to_x - x) / length, (to_y - y) / length
    end_x, end_y = to_x - along * (_RADIUS + 2), to_y - up * (_RADIUS + 2)
    back_x, back_y = end_x - along * _HEAD, end_y - up * _HEAD
    side_x, side_y = -up * _HEAD / 2, along * _HEAD / 2
    corners = ((end_x, end_y), (back_x + side_x, back_y + side_y), (back_x - side_x, back_y - side_y))
    points = " ".join(f"{coordinate(one)},{coordinate(other)}" for one, other in corners)
    return [
        element("line", x1=x + along * _RADIUS, y1=y + up * _RADIUS, x2=back_x, y2=back_y, **lined(MUTED, "arrow")),
        element("polygon", points=points, **filled(MUTED, "arrow")),
    ]
