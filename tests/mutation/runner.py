"""Plants mutants in a private copy of the project, one at a time, and runs the tests that should see them.

1. Package and tests are copied to a temporary folder, which stands first on the path; the tree itself is never written.
2. A test file must pass in the copy as it is before it is used: only then does a failure mean something.
3. For each mutant the module is written anew and its tests run in a process of their own, up to the first failure.
   A failed test kills the mutant; so does an import that fails, a run past its time or memory, or a crash.
4. A survivor that `equivalent.toml` names, with a reason, does not count.
5. Each outcome is written to a journal at once, so that a run that was stopped, or told to stop, goes on later.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from threading import Lock

from tests.mutation.journal import Journal
from tests.mutation.mapping import TEST_FOLDERS, test_files
from tests.mutation.mutants import Mutant, code_lines, mutants_of
from tests.mutation.report import Outcome, Report, Verdict

__all__ = ["MODULES", "SEED", "Copy", "all_mutants", "equivalents", "modules_named", "private_copy", "run", "sample"]

ROOT = Path(__file__).parent.parent.parent
MODULES = "discreet/mechanisms"
SEED = 20
_LISTED = Path(__file__).parent / "equivalent.toml"
_LEAST_SECONDS, _TIMES_THE_BASELINE = 20.0, 5.0
# A mutant may eat memory for ever: it is stopped before others notice, and runs when the machine is idle.
_RESTRAINED = """
import os, resource, sys, pytest
resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
os.nice(10)
sys.exit(pytest.main(sys.argv[1:]))
"""
_PASSED, _FAILED, _INTERRUPTED = 0, 1, 2
Identity = tuple[str, str, str, str, str]


@dataclass(frozen=True, slots=True)
class Copy:
    """A private copy of package and tests."""

    folder: Path

    def outcome(self, mutant: Mutant, tests: Mapping[str, float]) -> tuple[bool, str]:
        """Whether the tests see the mutant, and by what; the module is as before when this returns.

        `tests` gives the seconds each file may take, the closest first.
        """
        nearest, *others = tests
        path = self.folder / MODULES / f"{mutant.module}.py"
        before = path.read_text()
        try:
            _write(path, mutant.source)
            # The closest file kills most, and is read far sooner than all of them.
            killed, by = self.fails([nearest], tests[nearest])
            return (killed, by) if killed or not others else self.fails(others, sum(tests[file] for file in others))
        finally:
            _write(path, before)

    def fails(self, tests: Sequence[str], limit: float) -> tuple[bool, str]:
        """Whether these tests fail in the copy, and which one does so first."""
        command = [sys.executable, "-c", _RESTRAINED, "-x", "-q", "-p", "no:cacheprovider", "-m", "not slow", "--tb=no"]
        process = subprocess.Popen(
            [*command, *tests],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": str(self.folder)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        try:
            said, _ = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return True, "time"
        if process.returncode == _PASSED:
            return False, ""
        if process.returncode not in {_FAILED, _INTERRUPTED} and process.returncode > 0:
            raise RuntimeError(f"pytest ended with {process.returncode} and tested nothing:\n{said}")
        named = re.search(r"^(?:FAILED|ERROR) (\S+)", said, re.MULTILINE)
        return True, named[1] if named else f"exit {process.returncode}"


@contextmanager
def private_copy() -> Iterator[Copy]:
    """A copy that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="mutation-") as name:
        folder = Path(name).resolve()
        leave = shutil.ignore_patterns("__pycache__")
        for part in ("discreet", *TEST_FOLDERS):
            shutil.copytree(ROOT / part, folder / part, ignore=leave)
        for part in ("pyproject.toml", "tests/__init__.py", "tests/conftest.py", "tests/entropy.py"):
            shutil.copy(ROOT / part, folder / part)
        yield Copy(folder)


def modules_named(names: Sequence[str] | None) -> list[str]:
    """The modules of that name, or all of them."""
    known = sorted(path.stem for path in (ROOT / MODULES).glob("*.py") if path.stem != "__init__")
    unknown = sorted(set(names or ()) - set(known))
    if unknown:
        raise SystemExit(f"no module {', '.join(unknown)}; there are {', '.join(known)}")
    return list(names or known)


def all_mutants(module: str, folder: Path = ROOT) -> list[Mutant]:
    """Every mutant of a module."""
    return mutants_of(module, (folder / MODULES / f"{module}.py").read_text())


def sample(mutants: dict[str, list[Mutant]], lines: dict[str, int], count: int, seed: int) -> list[Mutant]:
    """So many mutants: modules by their code lines, one at most of each site, and always the same ones for a seed."""
    whole = sum(lines.values())
    exact = {module: count * lines[module] / whole for module in mutants}
    shares = {module: int(share) for module, share in exact.items()}
    rest = sorted(mutants, key=lambda module: (shares[module] - exact[module], module))
    for module in rest[: count - sum(shares.values())]:
        shares[module] += 1
    chosen: list[Mutant] = []
    for module, those in mutants.items():
        draw = random.Random(f"{seed} {module}")
        sites: dict[int, list[Mutant]] = {}
        for mutant in those:
            sites.setdefault(mutant.site, []).append(mutant)
        drawn = draw.sample(sorted(sites), min(shares[module], len(sites)))
        chosen += [draw.choice(sites[site]) for site in sorted(drawn)]
    return chosen


def equivalents() -> dict[Identity, str]:
    """The mutants that change nothing a test should see, each with the reason."""
    entries = tomllib.loads(_LISTED.read_text())["equivalent"]
    fields = ("module", "function", "kind", "original", "becomes")
    found: dict[Identity, str] = {}
    for entry in entries:
        module, function, kind, original, becomes = (entry[field] for field in fields)
        found[module, function, kind, original, becomes] = entry["reason"]
    return found


def run(
    modules: Sequence[str],
    *,
    count: int,
    seed: int,
    processes: int,
    tell: Callable[[Report, int], None],
    journal: Path | None = None,
    minutes: float = float("inf"),
) -> Report:
    """The outcomes of a sample of mutants of these modules, as far as the minutes reach."""
    with ExitStack() as stack:
        copies = [stack.enter_context(private_copy()) for _ in range(processes)]
        first = copies[0].folder
        mutants = {module: all_mutants(module, first) for module in modules}
        lines = {module: code_lines((first / MODULES / f"{module}.py").read_text()) for module in modules}
        written = Journal(journal, first, MODULES)
        end = time.monotonic() + 60 * minutes
        return try_out(sample(mutants, lines, count, seed), copies, seed=seed, tell=tell, journal=written, end=end)


def try_out(
    mutants: Sequence[Mutant],
    copies: Sequence[Copy],
    *,
    seed: int,
    tell: Callable[[Report, int], None],
    journal: Journal,
    end: float = float("inf"),
) -> Report:
    """The outcomes of these mutants, each copy trying one at a time; none is begun after the end."""
    tests = {mutant.module: test_files(copies[0].folder, mutant.module) for mutant in mutants}
    limits, reasons = _Limits(), equivalents()
    idle: SimpleQueue[Copy] = SimpleQueue()
    for copy in copies:
        idle.put(copy)

    def end_of(mutant: Mutant) -> Outcome | None:
        files, reason = tests[mutant.module], reasons.get(mutant.identity, "")
        if (known := journal.known(mutant, files, reason)) is not None:
            return known
        copy = idle.get()
        try:
            if time.monotonic() > end:
                return None
            allowed = {file: limits.of(file, copy) for file in files}
            start = time.monotonic()
            killed, by = copy.outcome(mutant, allowed)
        finally:
            idle.put(copy)
        spared = Verdict.EQUIVALENT if reason else Verdict.SURVIVED
        verdict, seconds = Verdict.KILLED if killed else spared, time.monotonic() - start
        outcome = Outcome(mutant=mutant, verdict=verdict, by=by, seconds=seconds, reason=reason)
        journal.add(outcome, files)
        return outcome

    outcomes: list[Outcome] = []
    with ThreadPoolExecutor(len(copies)) as pool:
        for outcome in pool.map(end_of, mutants):
            if outcome is not None:
                outcomes.append(outcome)
                tell(Report(seed=seed, outcomes=outcomes), len(mutants))
    return Report(seed=seed, outcomes=outcomes, untried=len(mutants) - len(outcomes))


class _Limits:
    """The seconds that each test file may take with a bug planted, worked out when it is first used."""

    def __init__(self) -> None:
        self._found: dict[str, float] = {}
        self._lock = Lock()

    def of(self, file: str, copy: Copy) -> float:
        """Five times what it takes without a bug, and some more; refused when it fails without one."""
        with self._lock:
            if file not in self._found:
                start = time.monotonic()
                failed, by = copy.fails([file], 600)
                if failed:
                    raise SystemExit(f"the tests fail without a planted bug: {by}")
                self._found[file] = _LEAST_SECONDS + _TIMES_THE_BASELINE * (time.monotonic() - start)
            return self._found[file]


def _write(path: Path, source: str) -> None:
    """Also drops the compiled module, whose time stamp counts in seconds and may not tell the two apart."""
    path.write_text(source)
    for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
        compiled.unlink()
