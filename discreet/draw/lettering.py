"""Letters on a page or a screen: made harmless for XML and for terminals, and measured.

Names and values come from files and may hold anything. Nothing here trusts them: markup is escaped, signs that XML
forbids or that would move a terminal's cursor become the replacement character.
"""

from __future__ import annotations

import unicodedata

__all__ = ["escape", "legible", "plain", "reach", "shortened", "width", "wrapped"]

_MARKUP = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"}
_WHITE = "\t\n\r"
_EMS = {
    **dict.fromkeys(" .,:;'|!ijlI", 0.33),
    **dict.fromkeys("frt()[]{}/-", 0.43),
    **dict.fromkeys("mw", 0.94),
    **dict.fromkeys("MW@%", 1.0),
}
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


def escape(text: str) -> str:
    """The text as XML and HTML may hold it, in an element or between quotes."""
    return "".join(_MARKUP.get(sign, sign) for sign in legible(text))


def legible(text: str) -> str:
    """The text without signs that no XML may hold in any form, or that turn the reading direction of what follows."""
    return "".join(sign if _may_stand(sign) else _REPLACEMENT for sign in text)


def plain(text: str) -> str:
    """The text on one line of a terminal, without a sign that would steer it."""
    return "".join(
        sign if sign.isprintable() else " " if unicodedata.category(sign) == "Zs" else _REPLACEMENT for sign in text
    )


def width(text: str) -> int:
    """Columns of a terminal that the text fills."""
    return sum(_columns(sign) for sign in text)


def reach(text: str, size: float) -> float:
    """Pixels the text fills in a common sans serif of that size, rather too many than too few."""
    return size * sum(_em(sign) for sign in text)


def shortened(text: str, size: float, most: float) -> str:
    """The text cut to a length in pixels, with an ellipsis where something is missing."""
    if reach(text, size) <= most:
        return text
    kept = text
    while kept and reach(f"{kept}…", size) > most:
        kept = kept[:-1]
    return f"{kept.rstrip()}…"


def wrapped(text: str, size: float, most: float, lines: int) -> tuple[str, ...]:
    """The text in at most so many lines of a length in pixels, broken at spaces; the last is shortened if need be."""
    filled: list[str] = []
    for word in text.split():
        if filled and (reach(f"{filled[-1]} {word}", size) <= most or len(filled) == lines):
            filled[-1] += f" {word}"
        else:
            filled.append(word)
    return tuple(shortened(line, size, most) for line in filled) or ("",)


def _em(sign: str) -> float:
    if not sign.isascii():
        return _columns(sign) * (1.0 if _columns(sign) == 2 else 0.65)
    return _EMS.get(sign, 0.72 if sign.isupper() else 0.61)


def _columns(sign: str) -> int:
    if sign.isascii():
        return 1
    if unicodedata.combining(sign) or unicodedata.category(sign) == "Me":
        return 0
    return 2 if unicodedata.east_asian_width(sign) in "WF" else 1


def _may_stand(sign: str) -> bool:
    code = ord(sign)
    if 0x202A <= code <= 0x202E or 0x2066 <= code <= 0x2069:
        return False
    return sign in _WHITE or 0x20 <= code < 0x7F or 0xA0 <= code < 0xD800 or 0xE000 <= code < 0xFFFE or code > 0xFFFF
