"""Figures and tables as frozen values: each says what is shown, and is written in several forms.

A grid is a table for people. A chart, or panels of them, becomes inline SVG or a Vega-Lite specification. A page sets
all of these with words into one HTML file that needs no network.
"""

from __future__ import annotations

from discreet.draw.chart import Area, Axis, Bars, Cells, Chart, Intervals, Line, Mark, Panels, Points, Rule, Steps
from discreet.draw.format import written
from discreet.draw.grid import Cell, Grid, GridColumn
from discreet.draw.page import Block, Callout, Code, Heading, Page, Paragraph, stylesheet
from discreet.draw.palette import FAMILIES, Family
from discreet.draw.svg import to_svg
from discreet.draw.vega import to_vega

__all__ = [
    "FAMILIES",
    "Area",
    "Axis",
    "Bars",
    "Block",
    "Callout",
    "Cell",
    "Cells",
    "Chart",
    "Code",
    "Family",
    "Grid",
    "GridColumn",
    "Heading",
    "Intervals",
    "Line",
    "Mark",
    "Page",
    "Panels",
    "Paragraph",
    "Points",
    "Rule",
    "Steps",
    "stylesheet",
    "to_svg",
    "to_vega",
    "written",
]
