"""Errors: four parts on one line, exit codes as promised, and no way to break out of the line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet import errors


def leaves(kind: type[errors.DiscreetError]) -> set[type[errors.DiscreetError]]:
    return {kind}.union(*(leaves(sub) for sub in kind.__subclasses__()))


def test_exit_codes_are_those_of_the_tree() -> None:
    codes = {kind.__name__: kind.exit_code for kind in leaves(errors.DiscreetError)}
    assert codes["CheckFailedError"] == 1
    assert codes["BudgetError"] == 3
    assert {codes[name] for name in ("NoResultError", "EngineError", "EntropyError")} == {4}
    assert all(codes[kind.__name__] == 2 for kind in leaves(errors.InputError))


@given(st.lists(st.text(max_size=30), min_size=4, max_size=4))
def test_message_is_one_printable_line(parts: list[str]) -> None:
    where, found, right, step = parts
    message = str(errors.FileError(where, found=found, right=right, step=step))
    assert message.isprintable()
    assert len(message.splitlines()) == 1


def test_missing_extra_names_the_command() -> None:
    with pytest.raises(errors.InputError, match=r"pip install 'discreet\[files\]'"):
        raise errors.MissingExtraError("visits.sav", library="pyreadstat", extra="files")
