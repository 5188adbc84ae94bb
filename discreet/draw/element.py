"""Elements of SVG and HTML as text: attributes in the order given, everything escaped, coordinates rounded."""

from __future__ import annotations

from discreet.draw.lettering import escape
from discreet.draw.palette import Shade

__all__ = ["coordinate", "element", "filled", "lined", "words"]

Attribute = str | int | float | None


def coordinate(value: float) -> str:
    """A coordinate to a tenth of a pixel, as short as it can be written."""
    text = f"{value:.1f}"
    text = text.removesuffix(".0")
    return "0" if text == "-0" else text


def element(name: str, *children: str, **attributes: Attribute) -> str:
    """An element; children are markup already. In a name `_` stands for `-`, and one at the end is dropped."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{_value(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    return f"<{name}{written}>{''.join(children)}</{name}>" if children else f"<{name}{written}/>"


def _value(value: str | float) -> str:
    return coordinate(value) if isinstance(value, float) else escape(str(value))


def words(text: str, x: float, y: float, **attributes: Attribute) -> str:
    """Text at a place."""
    return element("text", escape(text), x=float(x), y=float(y), **attributes)


def filled(shade: Shade, *classes: str) -> dict[str, Attribute]:
    """Attributes that fill with a shade: the light one in place, the class for a stylesheet that knows of dark."""
    return {"class_": " ".join([*classes, f"fill-{shade.name}"]), "fill": shade.light}


def lined(shade: Shade, *classes: str) -> dict[str, Attribute]:
    """Attributes that draw a line in a shade."""
    return {"class_": " ".join([*classes, f"line-{shade.name}"]), "stroke": shade.light, "fill": "none"}
