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
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib.machinery import ModuleSpec
from pathlib import Path

import nbformat

from nbproof.cells import name_of
from nbproof.display.words import words
from nbproof.files import digest_of
from nbproof.marking.blueprint import Blueprint, fill_in
from nbproof.marking.hand_in import HandIn
from nbproof.marking.results import FAULTS, Verdict
from nbproof.recover.answers import Answers
from nbproof.run.digests import LessonState, environment
from nbproof.run.intake import Submission
from nbproof.run.journal import RunState
from nbproof.run.plan import Job
from nbproof.sandbox.exceptions import GradingError
from nbproof.sandbox.isolation import Isolation
from nbproof.sandbox.shown import visible_folders
from nbproof.values.results import Cause, Outcome

__all__ = [
    "REFERENCE",
    "ReferenceJob",
    "References",
    "ReferencesFail",
    "reference_answers",
    "shortfall",
    "where_of",
]

REFERENCE = "reference answers"
"""In place of a learner's name."""

_IMPORTS = re.compile(r"^\s*(?:import|from) +(\w+)", re.MULTILINE)
_SHOWN = 3
"""Statuses that the machine may be the reason for."""


class ReferencesFail(GradingError):
    """The reference answers of every lesson that was to be graded earn less than full marks."""


@dataclass(frozen=True)
class ReferenceJob(Job):
    """A lesson's reference answers, to be marked as if somebody had handed them in."""

    data: bytes = b""

    @property
    def hand_in(self) -> HandIn:
        """The notebook as a learner would hand it in."""
        return HandIn(self.submission.key, self.data)


def reference_answers(source: Path, blueprint: Blueprint) -> dict[str, str]:
    """What stands in the code cells that learners fill in, in the instructor's notebook. Nothing if that is the stub."""
    answers = {}
    for cell in nbformat.read(source, as_version=4).cells:
        name = name_of(cell)
        if name in blueprint.stubs and cell.source.strip() != blueprint.stubs[name].strip():
            answers[name] = cell.source
    return answers


def _is_untold(outcome: Outcome) -> bool:
    """Whether the answer only says that there is none."""
    if outcome.reason is not None:
        return outcome.reason.cause is Cause.ERROR and outcome.reason.detail.startswith("NotImplementedError")
    troubles = [fault.trouble for fault in outcome.faults if fault.trouble is not None]
    return any(trouble.kind == "NotImplementedError" for trouble in troubles[:1])


def shortfall(blueprint: Blueprint, answers: Mapping[str, str], verdict: Verdict) -> str:
    """Why the reference answers earn less than full marks, in words; empty if they do not.

    An exercise to which the instructor's notebook gives no answer, as nbgrader courses may, is not asked for.
    """
    if verdict.problem:
        return verdict.problem
    untold = blueprint.stubs.keys() - answers.keys()
    untold |= {one.id for one in verdict.exercises if _is_untold(one)}
    short = [one for one in verdict.exercises if one.score < one.max_score and one.id not in untold]
    if not short:
        return ""
    said = [words().outcome(one) for one in short]
    said += [words().finding(fault) for one in short for fault in one.faults]
    told = [
        f"{one.id} earns {one.score:g} of {one.max_score:g} ({one.status}: {words().outcome(one)})" for one in short
    ]
    more = f", and {len(told) - _SHOWN} more" if len(told) > _SHOWN else ""
    return "; ".join([*_missing(blueprint, " ".join(said)), *told[:_SHOWN]]) + more


def _missing(blueprint: Blueprint, said: str) -> list[str]:
    """Modules that a sealed process has not found, and where they lie: a failed import in a setup cell shows only later,
    as a name that is not defined."""
    named = re.findall(r"No module named '(\w+)", said)
    # A lesson may put a folder of its own on the path that Python imports from.
    own = {part.removesuffix(".py") for name in blueprint.files for part in (Path(name).parts[0], Path(name).name)}
    wanted = [name for name in dict.fromkeys((*named, *_imported(blueprint))) if name not in own]
    return [told for name in wanted if (told := _why(name, name in named))]


def _why(module: str, named: bool) -> str:
    """Why a sealed process has not found a module; empty if nothing tells. ``named``: by the process itself."""
    try:
        found = importlib.util.find_spec(module)
    except (ImportError, ValueError):
        return ""
    if found is None:
        return f"No module named {module!r}: it is not installed for {sys.executable}"
    place = _place_of(found)
    seen = any(Path(os.path.realpath(place)).is_relative_to(folder) for folder in visible_folders())
    if not named and (seen or not place):
        return ""
    return (
        f"No module named {module!r}: this interpreter finds it in {os.path.dirname(place) or 'itself'}, which sealed "
        f"processes do not see; install it for {sys.executable} itself"
    )


def _place_of(found: ModuleSpec) -> str:
    """Where a module or package lies; empty for what is part of the interpreter."""
    places = (found.origin, *(found.submodule_search_locations or ()))
    return next((place for place in places if place and os.path.isabs(place)), "")


def _imported(blueprint: Blueprint) -> list[str]:
    """The top-level modules that lines of a lesson's code import."""
    code = "\n".join(cell.source for cell in blueprint.notebook.cells if cell.cell_type == "code")
    return _IMPORTS.findall(code)


def where_of(here: bool, isolation: Isolation) -> str:
    """For :attr:`References.where`."""
    return f"{'here' if here else 'elsewhere'}, isolation {isolation.value}"


@dataclass
class References:
    """Of the lessons that one run concerns: whose are to be tried, and which have failed."""

    lessons: Mapping[str, LessonState]
    state: RunState
    where: str
    """What else the outcome depends on: this machine or a cluster, isolated or not."""
    anyway: bool = False
    """Whether lessons are graded even so."""
    failed: dict[str, str] = field(default_factory=dict)
    """Lesson -> why."""
    _asked: dict[str, dict[str, str]] = field(default_factory=dict)
    _doubtful: dict[str, ReferenceJob] = field(default_factory=dict)
    """By lesson: reference answers that a limit ended. The machine may have been busy."""

    def key(self, lesson: str) -> str:
        """Changes with all that the outcome depends on."""
        return digest_of(self.lessons[lesson].source.encode(), environment())

    def jobs(self, lessons: Iterable[str]) -> list[ReferenceJob]:
        """What has to be marked before submissions of these lessons are believed."""
        made: list[ReferenceJob] = []
        for lesson in lessons:
            if self.state.references.get(f"{lesson}, {self.where}") == self.key(lesson):
                continue
            one = self.lessons[lesson]
            answers = reference_answers(one.path, one.blueprint)
            self._asked[lesson] = answers
            data = nbformat.writes(fill_in(one.blueprint, Answers(answers))).encode()
            made.append(ReferenceJob(Submission(REFERENCE, lesson, one.path), "", data=data))
        return made

    @property
    def second_tries(self) -> list[ReferenceJob]:
        """To be marked when everything else is, and the machine less busy."""
        return [job for lesson, job in self._doubtful.items() if self.is_pending(lesson)]

    def is_pending(self, lesson: str) -> bool:
        """Whether its reference answers are being marked."""
        return lesson in self._asked

    @property
    def unfit(self) -> Mapping[str, str]:
        """The lessons of which nothing is to be graded; grows while the run goes on."""
        return {} if self.anyway else self.failed

    def note(self, job: ReferenceJob, verdict: Verdict) -> None:
        """Learn how the reference answers of a lesson have ended."""
        lesson = job.submission.lesson
        why = shortfall(self.lessons[lesson].blueprint, self._asked[lesson], verdict)
        limits = {one.status for one in verdict.exercises if one.score < one.max_score} & set(FAULTS)
        if why and limits and lesson not in self._doubtful:
            self._doubtful[lesson] = job
            return
        del self._asked[lesson]
        if why:
            self.failed[lesson] = why
        else:
            self.keep(lesson)

    def keep(self, lesson: str) -> None:
        """They have earned full marks: the next run need not ask."""
        self.state.references[f"{lesson}, {self.where}"] = self.key(lesson)
        self.state.save()

    def refuse(self, next_command: str) -> None:
        """Raise ReferencesFail, with every reason."""
        lines = [f"{lesson}: {why}" for lesson, why in sorted(self.failed.items())]
        places = [str(self.lessons[lesson].path) for lesson in sorted(self.failed)]
        raise ReferencesFail(
            "nothing is graded, because the reference answers themselves lose marks here. " + "; ".join(lines),
            ", ".join(places),
            next_command,
        )
