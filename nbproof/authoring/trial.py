"""Try one candidate against an exercise's tests, in this process: :mod:`nbproof.authoring.forks` gives each one of its own.

Authors' code is trusted here: what learners hand in is for the graders.
"""

from __future__ import annotations

import contextlib
import io
import re
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import CodeType
from typing import Any

from IPython.core.interactiveshell import InteractiveShell

from nbproof.authoring.forgery import Guard, guards
from nbproof.authoring.hearsay import rests_on_hearsay
from nbproof.checks.case import Case
from nbproof.checks.check import Check, collecting, listing, seeds_of
from nbproof.course_file import the_course
from nbproof.display.help import all_hints
from nbproof.display.words import words
from nbproof.values.compare import leaves
from nbproof.values.describe import in_words, sort_of
from nbproof.values.evidence import Evidence, TensorRecord, Unreadable
from nbproof.values.leaf import leaf_types, seeded
from nbproof.values.results import Finding, ProbeError

with contextlib.suppress(ImportError):
    import matplotlib

    matplotlib.use("agg")
# For the forks' sake: every trial finds it loaded.
the_course().enter()

__all__ = ["APART", "Trial", "Tried", "Way", "prepare", "try_candidate"]

_RAISES = "the cell raises"
APART = ", run without the notebook: "
"""Stands in what is said of checks that raise by themselves."""
_ADDRESS = re.compile(r"0x[0-9a-f]+")

Way = tuple[tuple[str, ...], ...]
"""How a trial ended: under each seed each check that failed, with its sentence, and what else the trial said."""


@dataclass(frozen=True)
class Trial:
    """What to run: read-only cells, then per seed the candidate's cell and the test cells."""

    exercise: str
    setup: tuple[str, ...]
    candidate: str
    tests: tuple[tuple[str, str], ...]
    """(grade_id, source) of each test cell."""
    released: tuple[tuple[str, str], ...] = ()
    """The same without their hidden tests, if they have any; they must pass alone. For right answers only."""
    seeds: tuple[int, ...] = (1, 2)
    doubted: bool = False
    """Whether to look for verdicts that rest on hearsay. For wrong answers."""
    apart: bool = False
    """Whether to look at the checks themselves, with every truth in a namespace that holds its test cell only."""
    limit: float = 60.0
    """Seconds until the trial is ended."""
    plain: frozenset[str] = frozenset()
    """Test cells that call no check: one that raises has found something."""

    files: Path | None = None
    """The folder of what lies beside the notebook."""

    def run(self, grade_id: str, source: str, name: str = "") -> str:
        """Run a test cell, and say what it raised. A plain one runs in the notebook itself, as nbgrader runs it."""
        return (_cell if grade_id in self.plain else _test_cell)(name or grade_id, source)

    @property
    def checks(self) -> tuple[tuple[str, str], ...]:
        """The test cells that call one."""
        return tuple(test for test in self.tests if test[0] not in self.plain)


@dataclass(frozen=True)
class Tried:
    """What one trial found. ``findings[i][grade_id]`` lists the verdicts under ``seeds[i]``."""

    findings: tuple[dict[str, list[Finding]], ...] = ()
    errors: tuple[str, ...] = ()
    """Exceptions that cells raised, each with the cell's name."""
    flaws: tuple[str, ...] = ()
    """What is wrong with the checks themselves, whatever the answer."""
    guards: tuple[Guard, ...] = ()
    """What the marks of each test cell rest on, if that was looked at."""
    hearsay: tuple[str, ...] = ()
    """Checks that failed under the first seed, as test_id/Check, for facts that an answer could have lied about."""
    stderr: str = ""
    ended: str = ""
    """Why the trial was cut off: 'timeout' or 'died'; empty if it was not."""
    seconds: float = 0.0

    def failing(self, index: int) -> set[str]:
        """The checks that failed under seed number ``index``, as test_id/Check."""
        if self.ended or not self.findings:
            return {self.ended or "nothing ran"}
        verdicts = self.findings[index]
        return {f"{cell}/{one.check}" for cell, found in verdicts.items() for one in found if not one.passed}

    @property
    def way(self) -> Way:
        """Equal for two that differ in nothing that a check has seen."""
        found = [
            (str(seed), cell, one.check, one.hint or "", _ADDRESS.sub("0x", words().finding(one)))
            for seed, verdicts in enumerate(self.findings)
            for cell, findings in sorted(verdicts.items())
            for one in findings
            if not one.passed
        ]
        return (*found, (self.ended, *(_ADDRESS.sub("0x", error) for error in self.errors)))


def prepare(trial: Trial) -> tuple[str, ...]:
    """Do what trials of the same exercise share: run the setup cells, read the test cells, compute the truths.

    Returns what setup cells raised.
    """
    for leaf in leaf_types():
        leaf.prepare()
    with contextlib.redirect_stdout(io.StringIO()):
        errors = [_cell(f"setup cell {number}", source) for number, source in enumerate(trial.setup)]
        for name, source in trial.checks:
            with contextlib.suppress(Exception, SystemExit):  # is told where the cell runs
                _warm_up(_compiled(name, source), trial.seeds[0])
    return tuple(filter(None, errors))


def _warm_up(tests: CodeType, seed: int) -> None:
    """Compute each truth once, for its side effects: large models are kept, and libraries prepare what they do first."""
    with listing() as tasks:
        exec(tests, dict(InteractiveShell.instance().user_ns))  # noqa: S102 (authors' own code)
    for _, task in tasks:
        for one in seeds_of(task, seed):
            task().truth(Case(one))


def _cell(name: str, source: str) -> str:
    """Run a cell as a notebook does; what it raised, with its name, or nothing."""
    result = InteractiveShell.instance().run_cell(source, store_history=False, silent=True)
    error = result.error_before_exec or result.error_in_exec
    return "" if error is None else f"{name}: {type(error).__name__}: {error}"


def _test_cell(name: str, source: str) -> str:
    """The same for a test cell. It holds plain Python, and is long: IPython's reading of it would take half the time."""
    try:
        # A namespace of its own: its names must not take the place of the answer's (nbproof/checks/check_cells.py).
        exec(_compiled(name, source), dict(InteractiveShell.instance().user_ns))  # noqa: S102 (authors' own code)
    except BaseException as error:
        return f"{name}: {type(error).__name__}: {error}"
    return ""


def try_candidate(trial: Trial) -> Tried:
    """Run the answer and the tests where :func:`prepare` has been. Nothing is undone: call it once in a process."""
    space = InteractiveShell.instance().user_ns
    errors: list[str] = []
    findings: list[dict[str, list[Finding]]] = []
    hearsay: list[str] = []
    guarded: tuple[Guard, ...] = ()
    with contextlib.redirect_stdout(io.StringIO()):
        for seed in trial.seeds:
            errors.append(_cell("answer", trial.candidate))
            verdicts: dict[str, list[Finding]] = {}
            for grade_id, source in trial.tests:
                with collecting(seed, space) as found:
                    trouble = trial.run(grade_id, source)
                if grade_id in trial.plain:
                    found, trouble = [_held(grade_id, trouble, seed)], ""
                errors.append(trouble)
                if trial.doubted and not findings:
                    hearsay += [f"{grade_id}/{one}" for one in _by_hearsay(grade_id, source, found)]
                # What was wanted is for the panel; a Matches in it holds a function, which no pipe carries.
                verdicts[grade_id] = [replace(one, compared=None) for one in found]
                if trouble:
                    # Stock nbgrader gives nothing for a test cell that raises, whatever passed before.
                    verdicts[grade_id].append(Finding(_RAISES, "", False, seed, trouble=ProbeError("", trouble)))
            findings.append(verdicts)
        flaws: list[str] = []
        if trial.released and all(one.passed for found in findings[0].values() for one in found):
            flaws += _without_hidden_tests(trial, space)
        if trial.apart:
            flaws += _flaws(trial)
            if not flaws:  # what is broken guards nothing, and is told already
                guarded = tuple(guards(trial.checks, space))
    return Tried(tuple(findings), tuple(filter(None, errors)), tuple(flaws), guarded, tuple(hearsay))


def _held(grade_id: str, trouble: str, seed: int) -> Finding:
    """What a plain test cell has found: nothing, if it raised nothing."""
    return Finding(grade_id, "", not trouble, seed, trouble=ProbeError("", trouble) if trouble else None)


def _without_hidden_tests(trial: Trial, space: dict[str, Any]) -> Iterator[str]:
    """What fails where hidden tests are left out, of what passes with them."""
    _cell("answer", trial.candidate)
    for grade_id, source in trial.released:
        name = f"{grade_id} without its hidden tests"
        with collecting(trial.seeds[0], space) as found:
            trouble = trial.run(grade_id, source, name)
        if trouble:
            yield trouble
        yield from (f"{name}: {one.check}: {words().finding(one)}" for one in found if not one.passed)


def _by_hearsay(grade_id: str, source: str, found: Sequence[Finding]) -> Iterator[str]:
    """The checks that failed for hearsay alone."""
    failed = {one.check: one for one in found if not one.passed and one.compared is not None}
    if failed:
        with listing() as tasks:
            exec(_compiled(grade_id, source), dict(InteractiveShell.instance().user_ns))  # noqa: S102 (authors' own code)
        for _, task in tasks:
            one = failed.get(task.__name__)
            if one is not None and one.compared and rests_on_hearsay(task(), one.seed, one.compared[0]):
                yield task.__name__


@cache
def _compiled(name: str, source: str) -> CodeType:
    return compile(source, f"<{name}>", "exec")


def _flaws(trial: Trial) -> Iterator[str]:
    """What is wrong with the checks, run as a grader runs them: where no learner's code has been."""
    for grade_id, source in trial.checks:
        try:
            with listing() as tasks:
                exec(compile(source, grade_id, "exec"), {"__name__": grade_id})  # noqa: S102 (authors' own code)
        except Exception as error:
            yield f"{grade_id}{APART}{_raised(error, grade_id, source)}"
            continue
        names = [task.__name__ for _, task in tasks]
        yield from (f"{grade_id}: two checks are called {name}" for name in sorted(set(names)) if names.count(name) > 1)
        for name in sorted({exercise for exercise, _ in tasks} - {trial.exercise}):
            yield f"{grade_id} calls check({name!r}, ...): learners would read that name, not {trial.exercise!r}"
        for _, task in tasks:
            try:
                yield from _flaws_of(task, f"{grade_id}/{task.__name__}")
            except Exception as error:
                yield f"{grade_id}{APART}{task.__name__}: {_raised(error, grade_id, source)}"


def _raised(error: Exception, name: str, source: str) -> str:
    """The error, with the line of these checks at which they got there."""
    numbers = [one.lineno for one in traceback.extract_tb(error.__traceback__) if one.filename == name]
    line = source.splitlines()[(numbers[-1] or 1) - 1].strip() if numbers else ""
    return f"{type(error).__name__}: {error}" + (f", at {line}" if line else "")


def _flaws_of(task: type[Check], name: str) -> Iterator[str]:
    hints = set(task.blame.values())
    for seed in seeds_of(task, 1):
        with seeded(seed):
            wanted, mistakes = task().truth(Case(seed)), dict(task().mistakes(Case(seed)))
        hints |= set(mistakes)
        with seeded(seed + 1):
            again = task().truth(Case(seed))
        if list(leaves(wanted)) != list(leaves(again)):
            yield f"{name}: its truth differs from run to run: draw from the case, build models with case.build"
        for where, leaf, atol in leaves(wanted):
            if isinstance(leaf, Unreadable):
                yield f"{name}: its truth returns {sort_of(leaf)}, which no answer can equal"
            elif _is_faint(leaf, atol):
                yield f"{name}: 0 would pass for {where} of its truth, {in_words(leaf)}: the tolerance is {atol:g}"
        for hint, brought in mistakes.items():
            for where, leaf, _ in leaves(brought):
                if isinstance(leaf, Unreadable):
                    yield f"{name}: the mistake {hint} brings {sort_of(leaf)} in {where}, which no answer can equal"
    yield from (f"{name} names the hint {hint!r}, which does not exist" for hint in sorted(hints - set(all_hints())))


def _is_faint(leaf: Evidence, atol: float) -> bool:
    """Whether a float value is so small that 0 passes for it, though it is more than a rounding error."""
    if isinstance(leaf, float):
        return 1e-7 < abs(leaf) <= atol
    if not isinstance(leaf, TensorRecord) or not leaf.data or not leaf.dtype.startswith(("float", "bfloat")):
        return False
    return 1e-7 < float(abs(leaf.tensor()).max()) <= atol
