"""The reference answers, graded before a class is: whether this machine, as it is now, gives full marks to what is right.

They go the way of a submission, through the same pool, in a sealed process. What less than full marks means (a package
that the sealed process does not see, a lesson that is wrong, a machine that is too slow) is said before it costs a class.
Passing is kept in ``.course/run.json`` by a digest of lesson, code and environment, so that it is paid for once.
"""

from __future__ import annotations

import importlib.util
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.machinery import ModuleSpec
from itertools import chain
from pathlib import Path

import nbformat

from nbproof.course_file import Course
from nbproof.files import digest_of
from nbproof.key import Key
from nbproof.marking.blueprint import Blueprint, files_beside, fill_in
from nbproof.marking.results import Verdict
from nbproof.recover.answers import Answers
from nbproof.recover.notebook_bytes import HandIn
from nbproof.run.digests import LessonState, environment
from nbproof.run.journal import RunState, Watch
from nbproof.run.pool import Pool, marked
from nbproof.sandbox.exceptions import GradingError
from nbproof.sandbox.isolation import Isolation
from nbproof.sandbox.visible_tree import visible_folders
from nbproof.values.results import FAULTS, Cause, Outcome
from nbproof.values.words import words_of

__all__ = ["REFERENCE", "References", "shortfall"]

REFERENCE = "reference answers"
"""In place of a learner's name."""
_UNTOUCHED = "an untouched notebook"
"""In place of a learner's name, as well."""

_NO_MODULE = re.compile(r"ModuleNotFoundError: (No module named '[\w.]+')")
_LACKS = "unless learners hand it in, put it beside the notebook, or install it; then grade again"
_IMPORTS = re.compile(r"^\s*(?:import|from) +(\w+)", re.MULTILINE)
_SHOWN = 3
"""Exercises that are told of."""


def _said(outcome: Outcome) -> str:
    """The error that an exercise ended with, or its first fault: kind and text; empty if it is no error."""
    if outcome.reason is not None:
        return outcome.reason.detail if outcome.reason.cause is Cause.ERROR else ""
    troubles = [
        f"{fault.trouble.kind}: {fault.trouble.message}" for fault in outcome.faults if fault.trouble is not None
    ]
    return next(iter(troubles), "").removeprefix(": ")


def shortfall(blueprint: Blueprint, answers: Mapping[str, str], verdict: Verdict) -> str:
    """Why the reference answers earn less than full marks, in words; empty if they do not.

    An exercise that the instructor's notebook does not answer, which nbgrader courses may have, is not asked for. Nor is an
    exercise that misses a name which an unanswered one would have defined.
    """
    if verdict.problem:
        return verdict.problem
    untold = blueprint.stubs.keys() - answers.keys()
    untold |= {one.id for one in verdict.exercises if _said(one).startswith("NotImplementedError")}
    untold |= {one.id for one in verdict.exercises if untold and _said(one).startswith("NameError")}
    short = [one for one in verdict.exercises if one.score < one.max_score and one.id not in untold]
    if not short:
        return ""
    told = [
        f"{one.id} earns {one.score:g} of {one.max_score:g} ({one.status}: {words_of(blueprint.course).outcome(one)})"
        for one in short
    ]
    more = f", and {len(told) - _SHOWN} more" if len(told) > _SHOWN else ""
    return "; ".join([*_missing(blueprint, answers), *told[:_SHOWN]]) + more


def _missing(blueprint: Blueprint, answers: Mapping[str, str]) -> Iterator[str]:
    """Modules that a lesson imports and a sealed process does not find: a failed import in a setup cell shows only later, as a
    name that is not defined."""
    code = [cell.source for cell in blueprint.notebook.cells if cell.cell_type == "code"]
    # A lesson may put a folder of its own on the path that Python imports from.
    parts = chain.from_iterable((path.parts[0], path.name) for path in map(Path, blueprint.beside))
    own = {part.removesuffix(".py") for part in parts}
    for module in dict.fromkeys(_IMPORTS.findall("\n".join([*code, *answers.values()]))):
        try:
            found = importlib.util.find_spec(module)
        except (ImportError, ValueError):
            continue
        if found is None and module not in own:
            yield f"No module named {module!r}: it is not installed for {sys.executable}"
        elif found is not None and not _is_seen(found, blueprint.course):
            yield (
                f"No module named {module!r}: this interpreter finds it in {found.origin}, which sealed processes do not "
                f"see; install it for {sys.executable} itself"
            )


def _is_seen(found: ModuleSpec, course: Course) -> bool:
    """Whether a sealed process sees a module. What has no place is part of the interpreter."""
    if not found.origin or not os.path.isabs(found.origin):
        return True
    return any(
        Path(os.path.realpath(found.origin)).is_relative_to(folder) for folder in visible_folders(course.own_code)
    )


@dataclass(frozen=True)
class References:
    """The reference answers of the lessons that one run concerns."""

    lessons: Mapping[str, LessonState]
    state: RunState
    isolation: Isolation
    """What else the outcome depends on."""
    given_away: dict[str, str] = field(default_factory=dict)
    """Lesson -> what a notebook that nobody has touched shows: marks, or tests that cannot run. It is told once."""

    def shortfalls(self, lessons: Sequence[str], pool: Pool, watch: Watch) -> dict[str, str]:
        """Why the reference answers earn less than full marks here, of those of these lessons that do.

        Notes in :attr:`given_away` what an untouched notebook shows, of lessons with plain tests.
        """
        failed: dict[str, str] = {}

        def read(job: HandIn) -> HandIn:
            watch.started(job.key.name)
            return self._hand_in(job.key)

        keys = chain.from_iterable(map(self._keys, lessons))
        asked = [key for key in keys if self.state.references.get(self._name(key)) != self._digest(key.lesson)]
        # What a limit has ended, or the grader itself, is tried once more: a busy machine must not stop a class that it would
        # grade a minute later.
        for last in (False, True):
            jobs = [HandIn(key) for key in asked]
            asked = []
            for job, verdict in marked(pool, jobs, read, self.state.seed):
                why = self._shortfall(job.key, verdict)
                if not why:
                    self.keep(job.key.lesson, job.key.learner)
                elif not last and (verdict.grader_failed or {one.status for one in verdict.exercises} & set(FAULTS)):
                    asked.append(job.key)
                else:
                    failed[job.key.lesson] = why
        return failed

    def _shortfall(self, key: Key, verdict: Verdict) -> str:
        """Why the reference answers earn less than full marks; empty if they do not. Notes what an untouched notebook earns."""
        blueprint = self.lessons[key.lesson].blueprint
        if key.learner == REFERENCE:
            return shortfall(blueprint, blueprint.solutions, verdict)
        told = []
        if verdict.score:
            cells = ", ".join(f"{part} ({points:g})" for part, points in verdict.scores.items() if points)
            told.append(f"{_UNTOUCHED} earns {verdict.score:g} points: {cells}")
        if not blueprint.solutions:
            # No reference answer shows that the tests can run here.
            outputs = chain.from_iterable(run.outputs for name, run in verdict.runs.items() if name in blueprint.plain)
            printed = (str(one.get("text", "")) for one in outputs)
            lacking = dict.fromkeys(_NO_MODULE.findall("\n".join(printed)))
            told += [f"{missing}, which its tests import: {_LACKS}" for missing in lacking]
        if told:
            self.given_away[key.lesson] = "; ".join(told)
        return ""

    def _keys(self, lesson: str) -> Iterator[Key]:
        """What is graded for a lesson: the reference if it has answers to prove, and the untouched notebook."""
        blueprint = self.lessons[lesson].blueprint
        if blueprint.solutions or not blueprint.stubs:
            yield Key(REFERENCE, lesson)
        if blueprint.plain:
            yield Key(_UNTOUCHED, lesson)

    def _hand_in(self, key: Key) -> HandIn:
        """The notebook as a learner would hand it in."""
        lesson = self.lessons[key.lesson]
        answers = lesson.blueprint.solutions if key.learner == REFERENCE else {}
        filled = fill_in(lesson.blueprint, Answers(answers))
        files = files_beside(lesson.path, lesson.config, theirs=True)
        return HandIn(key, notebook=nbformat.writes(filled).encode(), files=files)

    def keep(self, lesson: str, who: str = REFERENCE) -> None:
        """Note that the references have earned full marks, or that their fault is told: the next run need not ask."""
        self.state.references[self._name(Key(who, lesson))] = self._digest(lesson)
        self.state.save()

    def _name(self, key: Key) -> str:
        name = f"{key.lesson}, isolation {self.isolation.value}"
        return name if key.learner == REFERENCE else f"{name}, {key.learner}"

    def _digest(self, lesson: str) -> str:
        """Changes with all that the outcome depends on."""
        return digest_of(self.lessons[lesson].source.encode(), environment(self.lessons[lesson].course))

    def refuse(self, failed: Mapping[str, str], next_command: str) -> None:
        """Raise GradingError, with every reason: no lesson that was to be graded has reference answers that earn full marks."""
        lines = [f"{lesson}: {why}" for lesson, why in sorted(failed.items())]
        raise GradingError(
            "nothing is graded, because the reference answers themselves lose marks here. " + "; ".join(lines),
            ", ".join(str(self.lessons[lesson].path) for lesson in sorted(failed)),
            next_command,
        )
