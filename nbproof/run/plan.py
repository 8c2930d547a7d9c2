"""Which submissions have to be marked: those that have changed, that ``--force`` asks for, that ``--only`` names."""

from __future__ import annotations

import difflib
import os
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from nbproof.command import course_command
from nbproof.errors import CourseError, UsageError
from nbproof.files import digest_of
from nbproof.key import Key
from nbproof.limits import GradingLimits
from nbproof.marking.blueprint import Damaged
from nbproof.marking.hand_in import HandIn, read_hand_in
from nbproof.run.intake import Intake, Submission
from nbproof.run.journal import Entry
from nbproof.text import counted, some_of

__all__ = [
    "Job",
    "Selection",
    "digest_of_bytes",
    "handed_in_digest",
    "plan",
    "select",
    "told",
]


@dataclass(frozen=True)
class Job:
    """A submission that has to be marked, and why."""

    submission: Submission
    handed_in: str
    """Digest of what was handed in."""
    reason: str = ""
    """What a run says about it; nothing of what was handed in anew."""


def handed_in_digest(one: Submission, key: str, limits: GradingLimits) -> str:
    """Changes with any byte that was handed in. ``key``: of the course's journals, so that nobody else can make it."""
    try:
        return digest_of_bytes(read_hand_in(one.key, one.path, limits), key)
    except (Damaged, OSError) as error:
        return digest_of(key.encode(), str(error).encode(errors="replace"))


def digest_of_bytes(one: HandIn, key: str) -> str:
    """The same, of bytes that have been read."""
    files = (part for name, data in one.files.items() for part in (os.fsencode(name), data))
    return digest_of(key.encode(), one.notebook, *files)


def plan(submission: Submission, handed_in: str, entry: Entry | None, source: str, force: bool) -> Job | None:
    """What is to be done, all of it or nothing: None if nothing has changed since ``entry``.

    ``source``: digest of all that it is graded by. ``force``: mark it although nothing changed.
    """
    if entry is None or entry.handed_in != handed_in:
        return Job(submission, handed_in)
    if force:
        return Job(submission, handed_in, "as --force asks")
    if entry.source != source:
        return Job(submission, handed_in, f"{submission.lesson}: the lesson, or what grades it, changed")
    return None


def told(jobs: Iterable[Job]) -> tuple[str, ...]:
    """What a run grades again and why, a line each: "as --force asks, 300 submissions graded again"."""
    counts = Counter(one.reason for one in jobs if one.reason)
    return tuple(f"{reason}, {counted(number, 'submission')} graded again" for reason, number in counts.items())


_SHOWN = 5


@dataclass(frozen=True)
class Selection:
    """What is left of an intake."""

    intake: Intake
    absent: tuple[str, ...] = ()
    """A sentence for each name of somebody of the class of whom nothing is there."""


def select(intake: Intake, lessons: Sequence[str], only: Sequence[str], known: Collection[str] = ()) -> Selection:
    """``only``: ``ada``, ``ada/02_sorting`` (either way round); with ``*`` and ``?``. ``known``: the class.

    Raises CourseError if none of these learners has handed in anything, UsageError if a name fits nothing.
    """
    if not only:
        return Selection(intake)
    pairs: set[Key] = set()
    absent: list[str] = []
    for pattern in only:
        found = _pairs(intake, pattern)
        if not found and not _is_absent(pattern, lessons, known):
            raise _unknown(pattern, intake)
        if not found:
            absent.append(f"nothing handed in: {pattern}, as --only names")
        pairs |= found
    if not pairs:
        raise CourseError(
            "none of these learners has handed in anything",
            "--only " + " --only ".join(only),
            f"collect what they handed in: {course_command('grade --from PATH')}",
        )
    kept = tuple(one for one in intake.submissions if one.key in pairs)
    return Selection(replace(intake, submissions=kept), tuple(absent))


def _pairs(intake: Intake, pattern: str) -> set[Key]:
    """The submissions that a pattern names. A name is first taken as it is: learners may be called ``[x]``."""
    found = set()
    for one in intake.submissions:
        whole = (f"{one.learner}/{one.key.assignment}", f"{one.key.assignment}/{one.learner}")
        names = (one.learner, one.key.name, f"{one.lesson}/{one.learner}", *whole)
        if pattern in names or any(fnmatchcase(name, pattern) for name in names[: 1 if "/" not in pattern else None]):
            found.add(one.key)
    return found


def _is_absent(pattern: str, lessons: Sequence[str], known: Collection[str]) -> bool:
    """Whether it names somebody of the class, alone or with a lesson: then it is no slip of the pen."""
    first, _, second = pattern.partition("/")
    return pattern in known or (first in known and second in lessons) or (second in known and first in lessons)


def _unknown(pattern: str, intake: Intake) -> UsageError:
    learners = sorted({one.learner for one in intake.submissions})
    known, what = learners, "no learner"
    if "/" in pattern:
        known, what = [one.key.name for one in intake.submissions], "nothing that was handed in"
    lower = pattern.casefold()
    within = [name for name in known if lower in name.casefold()]
    near = dict.fromkeys([*within[:_SHOWN], *difflib.get_close_matches(pattern, known, 3, 0.6)])
    choose = f"choose from the learners in submitted/: {some_of(learners, _SHOWN)}"
    return UsageError(
        f"{what} is called {pattern!r}", f"--only {pattern}", f"did you mean {' or '.join(near)}?" if near else choose
    )
