"""What is confidential does not print, format, pickle or travel by accident."""

from __future__ import annotations

import copy
import json
import logging
import pickle

import pytest

from discreet.secrecy import Confidential

CANARY = 918273645


@pytest.fixture
def secret() -> Confidential[int]:
    return Confidential(CANARY)


def test_no_text_form_holds_the_value(secret: Confidential[int], caplog: pytest.LogCaptureFixture) -> None:
    logging.getLogger("test").warning("%s %r", secret, secret)
    shown = [repr(secret), str(secret), f"{secret}", f"{secret:>30}", f"{[secret]}", caplog.text]
    assert all(str(CANARY) not in text for text in shown)


def test_it_is_not_serialised(secret: Confidential[int]) -> None:
    for serialise in (pickle.dumps, copy.deepcopy, json.dumps):
        with pytest.raises(TypeError):
            serialise(secret)


def test_only_named_readers_open_it(secret: Confidential[int]) -> None:
    assert secret.reveal(to="keeper") == CANARY
    with pytest.raises(ValueError, match="analyst"):
        secret.reveal(to="analyst")
