"""Where one SQL statement ends: at a semicolon outside quotes and comments."""

from __future__ import annotations

__all__ = ["ends", "statements"]

_QUOTES = "'\""


def statements(text: str) -> tuple[str, ...]:
    """The statements of a text, without their semicolons; the last one may have none."""
    parts, start = [], 0
    for at in _semicolons(text):
        parts.append(text[start:at])
        start = at + 1
    return tuple(part.strip() for part in (*parts, text[start:]) if part.strip())


def ends(text: str) -> bool:
    """Whether the last statement is finished by a semicolon."""
    found = _semicolons(text)
    return bool(found) and not text[found[-1] + 1 :].strip()


def _semicolons(text: str) -> list[int]:
    """Where semicolons stand that end a statement. Whatever else quotes may mean is for the parser to say."""
    found, at = [], 0
    while at < len(text):
        sign = text[at]
        if sign in _QUOTES:
            closed = text.find(sign, at + 1)
            at = len(text) if closed < 0 else closed
        elif text.startswith("--", at):
            line = text.find("\n", at)
            at = len(text) if line < 0 else line
        elif sign == ";":
            found.append(at)
        at += 1
    return found
