"""The entry point: one line an error, exit codes as `discreet.errors` draws them, only data on standard output."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from types import FrameType

import discreet
from discreet.errors import DiscreetError

__all__ = ["main"]

_SIGNALLED = 128
# A terminal that closes, or a supervisor that ends the command, leaves as little behind as Ctrl-C does.
_STOPPING = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and say how it ended: 0 done, 1 a check failed, 2 bad input, 3 no budget, 4 no result."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    stopped: list[int] = []
    try:
        with _stoppable(stopped):
            code = _run(words)
            if stopped:  # typer ends an interrupted command without a word
                raise KeyboardInterrupt
            sys.stdout.flush()
            return code
    except (BrokenPipeError, SystemExit):
        # Whoever read the output has seen enough: typer and rich answer that with a SystemExit, and raise none else.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except BaseException as error:  # noqa: BLE001  # its text may quote data, so only its kind is shown
        return _say(*_ending(error, stopped))


def _run(words: list[str]) -> int:
    if words == ["--version"]:
        print(f"discreet {discreet.__version__}")  # noqa: T201  # this is the data the command was asked for
        return 0
    # Everything heavy is loaded here, so that asking for the version is quick.
    import typer

    from discreet.cli.app import app

    try:
        ended = app(words, prog_name="discreet", standalone_mode=False)
    except typer.TyperException as error:
        message, context = error.format_message(), getattr(error, "ctx", None)
        if message.startswith("Usage:"):  # a group without a command: what it holds is the answer
            print(message)  # noqa: T201  # help is what the command was asked for
            return 0
        command = "discreet" if context is None else context.command_path
        return _say(f"{command}: {message.rstrip('.')}. Next: {command} --help", DiscreetError.exit_code)
    except typer.Abort:
        raise KeyboardInterrupt from None
    return ended if isinstance(ended, int) else 0


def _ending(error: BaseException, stopped: Sequence[int]) -> tuple[str, int]:
    if stopped or isinstance(error, KeyboardInterrupt):  # a library may turn an interrupt into an error of its own
        return "interrupted", _SIGNALLED + (stopped[0] if stopped else signal.SIGINT)
    if isinstance(error, DiscreetError):
        return str(error), error.exit_code
    if isinstance(error, OSError):
        reason = (error.strerror or type(error).__name__).lower()
        return f"discreet: {reason}; files and output must be readable and writable. Next: check them", 2
    kind = type(error).__name__
    return (
        f"discreet: a fault of its own ({kind}); nothing was published. "
        "Next: run `discreet --version` and report both lines",
        DiscreetError.exit_code,
    )


@contextlib.contextmanager
def _stoppable(stopped: list[int]) -> Iterator[None]:
    """Turn each signal to stop into an interrupt, so that what is half-done is cleared away; note which it was."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, _: FrameType | None) -> None:
        stopped.append(number)
        raise KeyboardInterrupt

    # What is ignored stays ignored: that is how nohup and background jobs work.
    heard = [number for number in _STOPPING if signal.getsignal(number) != signal.SIG_IGN]
    before = {number: signal.signal(number, stop) for number in heard}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _say(line: str, code: int) -> int:
    print(line, file=sys.stderr)  # noqa: T201  # everything but data goes to standard error
    return code
