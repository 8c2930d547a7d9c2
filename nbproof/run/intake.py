"""Find what was handed in, say what is not a submission, choose what ``--only`` names, and decide what has to be marked,
before anything runs.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path

from nbproof.command import course_command
from nbproof.errors import UsageError
from nbproof.files import digest_of
from nbproof.key import Key, assignment_of, notebook_of
from nbproof.limits import GradingLimits
from nbproof.marking.results import Verdict
from nbproof.places import places
from nbproof.recover.notebook_bytes import Damaged, HandIn, files_below
from nbproof.run.journal import journal_of
from nbproof.text import counted, printable, some_of

__all__ = [
    "Intake",
    "anything_new",
    "handed_in_digest",
    "lessons_with_source",
    "select",
    "take_in",
    "to_be_marked",
    "told",
]


@dataclass(frozen=True)
class Intake:
    """All submissions, ordered by learner and lesson, and notes on what was passed over, or has another name."""

    submissions: tuple[HandIn, ...]
    notes: tuple[str, ...]
    passed_over: bool = False
    """Whether something that lies there is no submission, and is told in a note."""


def lessons_with_source(root: Path, names: list[str]) -> list[str]:
    """The lessons that can be graded: those named, by themselves or by their assignment, or all that have a notebook."""
    here = places(root)
    known = here.lessons()
    if not known:
        built = (root / "lessons").is_dir()
        then = course_command("build") if built else "put what learners are handed, or the instructor's version, there"
        fact = f"{here.base('source')} holds no ASSIGNMENT/NOTEBOOK.ipynb with cells of nbgrader's"
        raise UsageError("there is nothing to grade against", fact, then)
    for name in names:
        if not any(name in (one, assignment_of(one)) for one in known):
            choose = f"choose from: {', '.join(known)}"
            raise UsageError(f"no lesson is called {name!r}", str(here.base("source")), choose)
    return [one for one in known if not names or {one, assignment_of(one)} & set(names)]


def take_in(root: Path, lessons: list[str], known: list[str]) -> Intake:
    """Look through what was handed in, a folder for each learner and assignment. Nothing is changed, nothing runs."""
    here = places(root)
    submissions, told, passed = list[HandIn](), list[str](), list[str]()
    for outer in here.outer("submitted"):
        try:
            folders = here.inner(outer)
        except OSError as error:
            passed.append(f"passed over {_shown(root, outer)}: {error.strerror}")
            continue
        for folder in folders:
            learner, assignment = folder.parent.name, folder.name
            why = _why_not(folder, learner, assignment, known)
            if why:
                passed.append(f"passed over {_shown(root, folder)}: {why}")
                continue
            found = _submissions(folder, learner, [one for one in lessons if assignment_of(one) == assignment], known)
            told += [
                f"taken although it has another name: {_shown(root, path)}" for path in _other_names(folder, found)
            ]
            submissions += found
    submissions.sort(key=lambda one: one.key)
    return Intake(tuple(submissions), (*passed, *told), bool(passed))


def _other_names(folder: Path, found: list[HandIn]) -> list[Path]:
    """The files that are taken though they are called otherwise."""
    names = {folder / f"{notebook_of(one.key.lesson)}.ipynb" for one in found}
    return [one.path for one in found if not one.problem and one.path not in names]


def _shown(root: Path, path: Path) -> str:
    return printable(str(path.relative_to(root) if path.is_relative_to(root) else path))


def _why_not(folder: Path, learner: str, assignment: str, known: Collection[str]) -> str:
    """Why this is no submission, in words; empty if it is one."""
    notebooks = [f"{notebook_of(one)}.ipynb" for one in known if assignment_of(one) == assignment]
    if not notebooks:
        return "no lesson has this name"
    if not learner.isprintable():
        # Control characters, half surrogate pairs: no gradebook takes them, and no terminal should.
        return "this is not a learner's name"
    if len(notebooks) > 1 and folder.is_dir() and not any(os.path.lexists(folder / name) for name in notebooks):
        return f"it holds no notebook of {assignment}'s, which are called {', '.join(notebooks)}"
    return ""


def _submissions(folder: Path, learner: str, lessons: list[str], known: list[str]) -> list[HandIn]:
    """What was handed in for these lessons in the folder of their assignment."""
    if not folder.is_dir() and not folder.is_symlink():
        return []
    linked = folder.is_symlink() or folder.parent.is_symlink()
    # Of several notebooks some may not have been handed in.
    several = sum(assignment_of(one) in map(assignment_of, lessons) for one in known) > 1 and not linked
    there = [one for one in lessons if not several or os.path.lexists(folder / f"{notebook_of(one)}.ipynb")]
    return [hand_in_at(folder, Key(learner, one)) for one in there]


def anything_new(root: Path, intake: Intake) -> bool:
    """Whether there is a submission that was never graded: a quick look, to start the engine early."""
    return any(not one.problem and not journal_of(root, *one.key).exists() for one in intake.submissions)


def hand_in_at(folder: Path, key: Key) -> HandIn:
    """The file to grade in the folder of an assignment, or why there is none, in words. Opens nothing."""
    path = folder / f"{notebook_of(key.lesson)}.ipynb"
    try:
        for place in (folder.parent, folder, path):
            if place.is_symlink():
                told = f"{place.name} is a symbolic link; hand in the file itself"
                return HandIn(key, path, told)
        if path.is_file():
            return HandIn(key, path)
        if path.exists() and not path.is_dir():
            return HandIn(key, path, f"{path.name} is not a regular file")
        return _renamed(folder, path, key)
    except OSError as error:
        return HandIn(key, path, f"{path.name} cannot be read: {error.strerror}")


_BECAME = (".json", ".zip", ".gz", ".tgz", ".html", ".htm", ".py", ".md", ".txt", ".download")
"""What a notebook may have become; it is looked at only if there is no other."""


def _renamed(folder: Path, path: Path, key: Key) -> HandIn:
    """The only notebook of any name, or else the only file that a notebook may have become."""
    files = list(files_below(folder))
    for endings in ((".ipynb",), _BECAME):
        fits = [file for file in files if file.name.lower().endswith(endings)]
        # An upload's second copy is called "lesson (1)"; what has the lesson's name comes before what has not.
        named = [file for file in fits if file.name.lower().startswith(path.stem.lower())]
        for choice in (named, fits):
            if len(choice) == 1:
                return HandIn(key, choice[0])
        if fits:
            break
    shown = [printable(str(file.relative_to(folder))) for file in sorted(files)]
    what = f"only {some_of(shown, 5)}: leave one notebook there" if shown else "the folder holds no notebook"
    return HandIn(key, path, f"no {path.name} in it; {what}")


def select(intake: Intake, only: Sequence[str], id_of: Callable[[str], str] = str) -> Intake:
    """What these names leave of an intake: ``ada``, ``ada/02_sorting``, with ``*`` and ``?``. Without a name, all of it.

    ``id_of``: the id of the learner who is called so, where it fits no id. Raises UsageError if one of them fits nothing:
    leaving it out must never mean more, or less, than was asked for.
    """
    if not only:
        return intake
    patterns = [_by_id(intake, pattern, id_of) for pattern in only]
    for pattern in patterns:
        if not any(_fits(one, pattern) for one in intake.submissions):
            learners = sorted({one.key.learner for one in intake.submissions})
            raise UsageError(
                f"nothing that was handed in is called {pattern!r}",
                f"--only {pattern}",
                f"choose from the learners in submitted/: {some_of(learners, 8)}",
            )
    kept = tuple(one for one in intake.submissions if any(_fits(one, pattern) for pattern in patterns))
    return replace(intake, submissions=kept)


def _by_id(intake: Intake, pattern: str, id_of: Callable[[str], str]) -> str:
    if any(_fits(one, pattern) for one in intake.submissions):
        return pattern
    learner, slash, lesson = pattern.partition("/")
    return f"{id_of(learner)}{slash}{lesson}"


def _fits(one: HandIn, pattern: str) -> bool:
    """Whether a name means a submission. A name is first taken as it is: learners may be called ``[x]``."""
    names = (one.key.name, f"{one.key.learner}/{one.key.assignment}") if "/" in pattern else (one.key.learner,)
    return pattern in names or any(fnmatchcase(name, pattern) for name in names)


def handed_in_digest(one: HandIn, secret: str, limits: GradingLimits) -> str:
    """Changes with any byte that was handed in: :meth:`HandIn.digest_with`."""
    try:
        return one.read(limits).digest_with(secret)
    except (Damaged, OSError) as error:
        return digest_of(secret.encode(), str(error).encode(errors="replace"))


def to_be_marked(one: HandIn, kept: Verdict | None, source: str, force: bool) -> HandIn | None:
    """What is to be done, all of it or nothing: None if nothing has changed since ``kept``.

    ``source``: digest of all that it is graded by. ``force``: mark it although nothing changed.
    """
    if kept is None or kept.handed_in != one.digest:
        return one
    if force:
        return replace(one, reason="as --force asks")
    if kept.source != source:
        return replace(one, reason=f"{one.key.lesson}: the lesson, or what grades it, changed")
    return None


def told(jobs: Iterable[HandIn]) -> tuple[str, ...]:
    """What a run grades again and why, a line each: "as --force asks, 300 submissions graded again"."""
    counts = Counter(one.reason for one in jobs if one.reason)
    return tuple(f"{reason}, {counted(number, 'submission')} graded again" for reason, number in counts.items())
