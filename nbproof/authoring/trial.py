"""Try one candidate against an exercise's tests, in this process: :mod:`nbproof.authoring.forks` gives each one of its own.

Authors' code is trusted here: what learners hand in is for the graders.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from IPython.core.interactiveshell import InteractiveShell

from nbproof.authoring.forgery import Guard, called_in, compiled, guards
from nbproof.checks.case import Case, seeds_of
from nbproof.checks.check import Check, bring, collecting, judge_here
from nbproof.course_file import Course
from nbproof.display.help import all_hints
from nbproof.doors import blamed
from nbproof.errors import CourseError
from nbproof.lesson.lesson import CheckCell, PlainCell, TestCell
from nbproof.values.compare import plainly
from nbproof.values.evidence import snapshot
from nbproof.values.leaf import leaves_of
from nbproof.values.results import Finding, ProbeError, ProbeResult
from nbproof.values.words import words_of

__all__ = ["Trial", "Tried", "prepare", "try_candidate"]

_RAISES = "the cell raises"
_SEEDS = 8
"""Cases under which a canary is tried."""


@dataclass(frozen=True)
class Trial:
    """What to run: read-only cells, then per seed the candidate's cell and the test cells."""

    course: Course
    candidate: str
    setup: tuple[str, ...]
    tests: tuple[TestCell, ...]
    seeds: tuple[int, ...] = (1, 2)
    proves_checks: bool = False
    """Whether to look at the checks themselves. The candidate has to be right."""
    canary: str = ""
    """A wrong answer that must not pass where this candidate has run. The candidate has to be right."""
    limit: float = 60.0
    """Seconds until the trial is ended."""
    files: Path | None = None
    """The folder of what lies beside the notebook."""

    @property
    def checks(self) -> tuple[CheckCell, ...]:
        """The test cells that call one."""
        return tuple(test for test in self.tests if isinstance(test, CheckCell))


@dataclass(frozen=True)
class Tried:
    """What one trial found. ``findings[i][grade_id]`` lists the verdicts under ``seeds[i]``."""

    findings: tuple[dict[str, list[Finding]], ...] = ()
    errors: tuple[str, ...] = ()
    """Exceptions that setup and answer raised, each with the cell's name."""
    flaws: tuple[str, ...] = ()
    """What is wrong with the checks themselves, for any answer."""
    guards: tuple[Guard, ...] = ()
    """What the marks of each test cell rest on, if that was looked at."""
    stderr: str = ""
    ended: str = ""
    """Why the trial was cut off: 'timeout' or 'died'; empty if it was not."""
    seconds: float = 0.0

    def failing(self, index: int) -> set[str]:
        """The checks that failed under seed number ``index``, as test_id/Check."""
        if self.ended or not self.findings:
            return {self.ended or "nothing ran"}
        failing: set[str] = set()
        for cell, found in self.findings[index].items():
            failing |= {f"{cell}/{one.check}" for one in found if not one.passed}
        return failing

    def lost(self, seeds: int | None = None) -> list[Finding]:
        """What did not pass, under the first so many seeds, or under all."""
        cells = chain.from_iterable(verdicts.values() for verdicts in self.findings[:seeds])
        return [one for one in chain.from_iterable(cells) if not one.passed]


def prepare(trial: Trial) -> tuple[str, ...]:
    """Do what trials of the same exercise share: run the setup cells, read the test cells, compute the truths.

    Returns what setup cells raised.
    """
    with contextlib.redirect_stdout(io.StringIO()):
        errors = [_cell(f"setup cell {number}", source) for number, source in enumerate(trial.setup)]
        for test in trial.checks:
            with contextlib.suppress(Exception, SystemExit):  # is told where the cell runs
                # Large models are kept, and libraries prepare what they do first.
                for _, task in called_in(test.source, test.grade_id, InteractiveShell.instance().user_ns):
                    for seed in seeds_of(task.cases, trial.seeds[0]):
                        task().truth(Case(seed, trial.course))
    return tuple(filter(None, errors))


def _cell(name: str, source: str) -> str:
    """Run a cell as a notebook does; what it raised, with its name, or nothing."""
    result = InteractiveShell.instance().run_cell(source, store_history=False, silent=True)
    error = result.error_before_exec or result.error_in_exec
    return "" if error is None else f"{name}: {type(error).__name__}: {error}"


def _test_cell(name: str, source: str) -> str:
    """The same for a test cell. It holds plain Python, and is long: IPython's reading of it would take half the time."""
    try:
        # A namespace of its own: its names must not take the place of the answer's (nbproof/checks/apart.py).
        exec(compiled(source, name), dict(InteractiveShell.instance().user_ns))  # noqa: S102 (authors' own code)
    except BaseException as error:
        return f"{name}: {type(error).__name__}: {error}"
    return ""


def try_candidate(trial: Trial) -> Tried:
    """Run the answer and the tests where :func:`prepare` has been. Nothing is undone: call it once in a process."""
    errors: list[str] = []
    findings: list[dict[str, list[Finding]]] = []
    flaws: list[str] = []
    guarded: tuple[Guard, ...] = ()
    with contextlib.redirect_stdout(io.StringIO()):
        for seed in trial.seeds:
            errors.append(_cell("answer", trial.candidate))
            findings.append({test.grade_id: _asked(trial.course, test, test.source, seed) for test in trial.tests})
        is_right = all(one.passed for one in chain.from_iterable(findings[0].values()))
        if trial.canary and is_right:
            flaws += _canary_flaws(trial)
        if trial.proves_checks:
            flaws += _flaws(trial)
            if is_right:
                flaws += _without_hidden_tests(trial)
            if not flaws:  # what is broken guards nothing, and is told already
                guarded = tuple(guards(trial.course, trial.checks))
    return Tried(tuple(findings), tuple(filter(None, errors)), tuple(flaws), guarded)


def _asked(course: Course, test: TestCell, source: str, seed: int) -> list[Finding]:
    """What a test cell finds, with this text; one that raises has found that."""
    grade_id = test.grade_id
    if isinstance(test, PlainCell):  # runs in the notebook itself, as nbgrader runs it
        trouble = _cell(grade_id, source)
        raised = ProbeError("", trouble) if trouble else None
        return [Finding(grade_id, "", not trouble, seed, trouble=raised)]
    with collecting(course, seed, InteractiveShell.instance().user_ns) as found:
        trouble = _test_cell(grade_id, source)
    # What was wanted is for the panel; a Matches in it holds a function, which no pipe carries.
    verdicts = [replace(one, compared=None) for one in found]
    if trouble:
        # Stock nbgrader gives nothing for a test cell that raises, even if checks passed before.
        verdicts.append(Finding(_RAISES, "", False, seed, trouble=ProbeError("", trouble)))
    return verdicts


def _without_hidden_tests(trial: Trial) -> Iterator[str]:
    """What fails where hidden tests are left out, of what passes with them."""
    _cell("answer", trial.candidate)
    for test in trial.tests:
        if test.hidden:
            name = f"{test.grade_id} without its hidden tests"
            found = _asked(trial.course, test, test.shown, trial.seeds[0])
            yield from (
                f"{name}: {one.check}: {words_of(trial.course).finding(one)}" for one in found if not one.passed
            )


def _canary_flaws(trial: Trial) -> Iterator[str]:
    """Each hidden check that a canary passes beside a right answer: such a check would call every right answer rigged."""
    space = InteractiveShell.instance().user_ns
    for test in trial.checks:
        grade_id = test.grade_id
        for _, task in called_in(test.source, grade_id, space):
            if task.__name__ not in test.hidden_checks:
                continue
            first = seeds_of(task.cases, trial.seeds[0])[0]
            # By chance as well: what is right now and then tells some day that every right answer is rigged.
            seeds = _SEEDS if trial.proves_checks else task.cases
            for seed in range(first, first + seeds):
                case = Case(seed, trial.course)
                brought = ProbeResult(bring(task(), space, case, trial.canary).canary)
                if judge_here(task(), case, brought).passed:
                    yield f"{grade_id}/{task.__name__}: the canary passes beside a right answer"


def _flaws(trial: Trial) -> Iterator[str]:
    """What is wrong with the checks, run as a grader runs them: where no learner's code has been."""
    for test in trial.checks:
        grade_id = test.grade_id
        try:
            for exercise, task in called_in(test.source, grade_id):
                if exercise != test.exercise:
                    yield f"{grade_id} calls check({exercise!r}, ...): learners would read that name, not {test.exercise!r}"
                yield from _flaws_of(trial.course, task, f"{grade_id}/{task.__name__}")
        except Exception as error:
            told = blamed(error)
            said = f"{type(error).__name__}: {error}"
            if isinstance(told, CourseError):
                said = told.fact
            yield f"{grade_id}, run without the notebook: {said}"


def _flaws_of(course: Course, task: type[Check], name: str) -> Iterator[str]:
    hints, leaves = set(task.blame.values()), leaves_of(course)
    for seed in seeds_of(task.cases, 1):
        case = Case(seed, course)
        with leaves.seeded(seed):
            wanted = snapshot(plainly(task().truth(case)))
            hints |= set(task().mistakes(case))
        with leaves.seeded(seed + 1):
            again = snapshot(plainly(task().truth(case)))
        if wanted != again:
            yield f"{name}: its truth differs from run to run: draw from the case, build models with case.build"
    yield from (
        f"{name} names the hint {hint!r}, which does not exist" for hint in sorted(hints - set(all_hints(course)))
    )
