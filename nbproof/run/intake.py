"""Find what was handed in, say what is not a submission, choose what ``--only`` names, and decide what has to be marked,
before anything runs.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from itertools import chain
from pathlib import Path

from nbproof.command import not_built
from nbproof.course_file import Course
from nbproof.errors import UsageError, may_mean, refuse_unknown
from nbproof.files import digest_of
from nbproof.gradebook.receipts import TIME, time_in
from nbproof.key import Key, assignment_of, notebook_of
from nbproof.limits import GradingLimits
from nbproof.marking.results import Verdict
from nbproof.places import Places, places
from nbproof.recover.notebook_bytes import Damaged, HandIn
from nbproof.run.hand_ins import Folder, LessonBook, known_lessons
from nbproof.run.journal import journal_of
from nbproof.text import counted, in_one_line, printable, some_of

__all__ = [
    "GONE",
    "Intake",
    "anything_new",
    "by_id",
    "gradable_lessons",
    "handed_in_digest",
    "is_called",
    "reasons_to_regrade",
    "select",
    "take_in",
    "to_be_marked",
    "unread_times",
]


GONE = "this notebook did not come with what was handed in last"
"""Said of one notebook of several."""


@dataclass(frozen=True)
class Intake:
    """All submissions, ordered by learner and lesson, and notes on what was passed over, or has another name."""

    submissions: tuple[HandIn, ...]
    notes: tuple[str, ...]
    passed_over: bool = False
    """Whether something that lies there is no submission, and is told in a note."""
    absent: tuple[Key, ...] = ()
    """Notebooks that are not there, although another notebook of the same assignment is."""


def gradable_lessons(root: Path, names: list[str]) -> list[str]:
    """The lessons that can be graded: those named, by themselves or by their assignment, or all that have a notebook."""
    here = places(root)
    known = known_lessons(root)
    for name in {*names} & {*here.written()} - {*known}:
        raise not_built(root, name)
    refuse_unknown(names, "lesson", dict.fromkeys([*known, *map(assignment_of, known)]), here.base("source"))
    return [one for one in known if not names or {one, assignment_of(one)} & set(names)]


def take_in(course: Course, root: Path, lessons: list[str]) -> Intake:
    """Look through what was handed in, a folder for each learner and assignment. Nothing is changed, nothing runs."""
    here, book, found = places(root), LessonBook(course, root), list[Intake]()
    known = here.lessons()
    strange = defaultdict[tuple[str, str], list[Path]](list)
    for folder in _folders(here, strange):
        keys = here.lessons_in(folder, known)
        if why := _why_not(root, folder, keys):
            strange[why, folder.name].append(folder)
        elif {key.lesson for key in keys} & {*lessons} and (folder.is_dir() or folder.is_symlink()):
            found.append(_in_folder(root, folder, keys, book))
    for (why, _), paths in strange.items():
        note = f"passed over {some_of([_shown(root, path) for path in paths], 3)}: {why}"
        found.append(Intake((), (note,), any(map(_may_be_work, paths))))
    whole = _together(sorted(found, key=lambda one: not one.passed_over), lessons)
    return replace(whole, notes=(*whole.notes, *_nobodys(root, whole)))


def _nobodys(root: Path, intake: Intake) -> Iterator[str]:
    """A line for each notebook of an assignment that learners do not have, as it seems."""
    here = places(root)
    for lesson in sorted({key.lesson for key in intake.absent} - {one.key.lesson for one in intake.submissions}):
        if not here.notebook("release", ".", lesson).exists():
            yield (
                f"{_shown(root, here.source(lesson))} counts, and nobody was handed it, or handed it in: if it is no part of "
                "the assignment, move it away, then grade again"
            )


def _folders(here: Places, strange: dict[tuple[str, str], list[Path]]) -> Iterator[Path]:
    """What lies in learners' folders. Of those that cannot be read ``strange`` gets the reason."""
    for outer in here.outer("submitted"):
        try:
            yield from here.inner(outer)
        except OSError as error:
            strange[error.strerror or "it cannot be read", outer.name].append(outer)


def unread_times(root: Path, intake: Intake) -> Iterator[str]:
    """A line for each time of a hand-in that cannot be read for certain."""
    here = places(root)
    for stamp in dict.fromkeys(here.folder("submitted", *one.key) / TIME for one in intake.submissions):
        try:
            time_in(stamp, here.zone)
        except ValueError as error:
            yield (
                f"not known whether it is late: {_shown(root, stamp)} cannot be read for certain ({in_one_line(error)}): write "
                "it as 2026-11-20 18:00:00 UTC, then grade again; it is graded, and costs nothing until then"
            )


def _together(parts: Sequence[Intake], lessons: Collection[str]) -> Intake:
    submissions = chain.from_iterable(part.submissions for part in parts)
    return Intake(
        tuple(sorted((one for one in submissions if one.key.lesson in lessons), key=lambda one: one.key)),
        tuple(chain.from_iterable(part.notes for part in parts)),
        any(part.passed_over for part in parts),
        tuple(chain.from_iterable(part.absent for part in parts)),
    )


def _in_folder(root: Path, place: Path, keys: Sequence[Key], book: LessonBook) -> Intake:
    """The files that count in the folder of an assignment, and what a person should know of the others."""
    folder, shown = Folder(place, place.parent.name, [key.lesson for key in keys], book), _shown(root, place)
    found = folder.hand_ins()
    notes = [f"passed over {shown}/{folder.named(paths)}: {why}" for why, paths in folder.passed.items()]
    names = {key: f"{notebook_of(key.lesson)}.ipynb" for key in keys}
    if not found:
        told = ", ".join(names.values())
        note = f"passed over {shown}: it holds no notebook of {place.name}'s, which are called {told}"
        return Intake((), (*notes, note), True)
    renamed = (one.path for one in found if not one.problem and one.path != place / names[one.key])
    notes += [f"taken although it has another name: {_shown(root, path)}" for path in renamed]
    absent = tuple(sorted({*keys} - {one.key for one in found}))
    return Intake(tuple(found), tuple(notes), folder.needs_look or bool(absent and folder.passed), absent)


def _may_be_work(path: Path) -> bool:
    """Whether somebody may have meant to hand it in: no readme of a clone, for example."""
    return path.is_dir() or path.name.casefold().endswith((".ipynb", ".zip", ".gz", ".tgz", ".7z", ".rar"))


def _shown(root: Path, path: Path) -> str:
    shown = path.relative_to(root) if path.is_relative_to(root) else path
    return printable(str(shown))


def _why_not(root: Path, folder: Path, keys: Collection[Key]) -> str:
    """Why this is no submission, in words; empty if it is one. ``keys``: of the lessons that its name means."""
    if not keys and folder.name in places(root).written():
        unbuilt = not_built(root, folder.name)
        return f"{unbuilt.fact}; to build it: {unbuilt.next_command}"
    if not keys:
        if not folder.is_dir():
            return "it lies beside the folders of lessons, not in one"
        near = may_mean(folder.name, dict.fromkeys(map(assignment_of, places(root).lessons())))
        return f"no lesson has this name{near}"
    if not folder.parent.name.isprintable():
        # Control characters, half surrogate pairs: no gradebook takes them, and no terminal should.
        return "this is not a learner's name"
    return ""


def anything_new(root: Path, intake: Intake) -> bool:
    """Whether there is a submission that was never graded: a quick look, to start the engine early."""
    return any(not one.problem and not journal_of(root, *one.key).exists() for one in intake.submissions)


def select(intake: Intake, only: Sequence[str], id_of: Callable[[str], str] = str) -> Intake:
    """What these names leave of an intake: ``ada``, ``ada/02_sorting``, with ``*`` and ``?``. Without a name, all of it.

    ``id_of``: the id of the learner who is called so, where it fits no id. Raises UsageError if one of them fits nothing:
    leaving it out must never mean more, or less, than was asked for.
    """
    if not only:
        return intake
    names = [one.key.name for one in intake.submissions]
    chosen: set[str] = set()
    for said in only:
        pattern = by_id(said, names, id_of)
        called = {name for name in names if is_called(name, pattern)}
        chosen |= called
        if not called:
            learners = sorted({one.key.learner for one in intake.submissions})
            raise UsageError(
                f"nothing that was handed in is called {pattern!r}{may_mean(pattern, names)}",
                f"--only {pattern}",
                f"choose from the learners in submitted/: {some_of(learners, 8)}",
            )
    return replace(intake, submissions=tuple(one for one in intake.submissions if one.key.name in chosen))


def by_id(pattern: str, names: Iterable[str], id_of: Callable[[str], str]) -> str:
    """The pattern as a person has said it, if it fits one of these names. Else the learner's id replaces the learner's name."""
    if any(is_called(name, pattern) for name in names):
        return pattern
    learner, slash, lesson = pattern.partition("/")
    return f"{id_of(learner)}{slash}{lesson}"


def is_called(name: str, pattern: str) -> bool:
    """Whether ``ada``, ``ada/ps1`` or ``ada/ps1/problem1``, with ``*`` and ``?``, means the submission of this name. A name
    is first taken as it is: learners may be called ``[x]``.
    """
    learner, _, lesson = name.partition("/")
    names = (name, f"{learner}/{assignment_of(lesson)}") if "/" in pattern else (learner,)
    return pattern in names or any(fnmatchcase(one, pattern) for one in names)


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


def reasons_to_regrade(jobs: Iterable[HandIn]) -> tuple[str, ...]:
    """What a run grades again and why, a line each: "as --force asks, 300 submissions graded again"."""
    counts = Counter(one.reason for one in jobs if one.reason)
    return tuple(f"{reason}, {counted(number, 'submission')} graded again" for reason, number in counts.items())
