"""Graphs of models: nodes, arrows and words are all there, and a graph that contradicts itself is refused."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from discreet.draw.graph import Graph, Node, graph_svg
from discreet.errors import ArgumentError


def test_a_graph_draws_its_nodes_and_arrows() -> None:
    graph = Graph("a < b", (Node("θ", 0, 0), Node("X", 1, 1, known=True)), (("θ", "X"),), "θ decides X.")
    root = ElementTree.fromstring(graph_svg(graph))
    space = "{http://www.w3.org/2000/svg}"
    assert [text.text for text in root.iter(f"{space}text")] == ["a < b", "θ", "X"]
    circles = list(root.iter(f"{space}circle"))
    assert len({circle.get("fill") for circle in circles}) == 2
    line, head = next(root.iter(f"{space}line")), next(root.iter(f"{space}polygon"))
    assert float(line.get("x1", 0)) < float(line.get("x2", 0)) < float(circles[1].get("cx", 0))
    tip = float((head.get("points") or "").split(",")[0])
    assert float(line.get("x2", 0)) < tip < float(circles[1].get("cx", 0))
    assert root.find(f"{space}desc") is not None


def test_a_graph_that_contradicts_itself_is_refused() -> None:
    for nodes, arrows in (((), ()), ((Node("a", 0, 0),) * 2, ()), ((Node("a", 0, 0),), (("a", "b"),))):
        with pytest.raises(ArgumentError):
            Graph("g", nodes, arrows, "")
