"""Find what was handed in, and say what is not a submission, before anything runs."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from nbproof.command import course_command
from nbproof.errors import UsageError
from nbproof.key import Key, assignment_of, notebook_of
from nbproof.places import places
from nbproof.run.journal import journal_of
from nbproof.text import printable

__all__ = [
    "Intake",
    "Submission",
    "anything_new",
    "lessons_with_source",
    "submission_at",
    "take_in",
]


@dataclass(frozen=True)
class Submission:
    """One learner's notebook of one lesson. ``problem`` says why it cannot be graded; empty if it can."""

    learner: str
    lesson: str
    path: Path
    problem: str = ""

    @property
    def key(self) -> Key:
        """Whose, and of which lesson."""
        return Key(self.learner, self.lesson)


@dataclass(frozen=True)
class Intake:
    """All submissions, ordered by learner and lesson, and notes on what was passed over, or has another name."""

    submissions: tuple[Submission, ...]
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
    submissions, told, passed = list[Submission](), list[str](), list[str]()
    for outer in here.outer("submitted"):
        try:
            folders = here.inner(outer) if outer.name.isprintable() else []
        except OSError as error:
            passed.append(f"passed over {_shown(root, outer)}: {error.strerror}")
            continue
        if not outer.name.isprintable():
            # Control characters, half surrogate pairs: no gradebook takes them, and no terminal should.
            passed.append(f"passed over {_shown(root, outer.parent)}/{ascii(outer.name)[1:-1]}: {_NO_NAME}")
        for folder in folders:
            why = _why_not(folder, *here.named(folder), known)
            found = [] if why else _submissions(folder, *here.named(folder), lessons, known)
            told += [
                f"taken although it has another name: {_shown(root, folder)}: {name}"
                for name in _other_names(found, folder)
            ]
            passed += [f"passed over {_shown(root, folder)}: {why}"] if why else []
            submissions += found
    submissions.sort(key=lambda one: one.key)
    return Intake(tuple(submissions), (*passed, *told), bool(passed))


_NO_NAME = "this is not a learner's name"


def _shown(root: Path, path: Path) -> str:
    return printable(str(path.relative_to(root) if path.is_relative_to(root) else path))


def _why_not(folder: Path, learner: str, assignment: str, known: Collection[str]) -> str:
    """Why this is no submission, in words; empty if it is one."""
    notebooks = [notebook_of(one) for one in known if assignment_of(one) == assignment]
    if not notebooks:
        return "no lesson has this name"
    if not learner.isprintable():
        return _NO_NAME
    if (
        len(notebooks) > 1
        and folder.is_dir()
        and not any(os.path.lexists(folder / f"{one}.ipynb") for one in notebooks)
    ):
        return f"it holds no notebook of {assignment}'s, which are called {', '.join(notebooks)}"
    return ""


def _submissions(folder: Path, learner: str, assignment: str, lessons: list[str], known: list[str]) -> list[Submission]:
    """What was handed in for these lessons in the folder of an assignment."""
    asked = [one for one in lessons if assignment_of(one) == assignment]
    if not folder.is_dir() and not folder.is_symlink():
        return []
    found = (_of_several(learner, name, folder, known) for name in asked)
    return [one for one in found if one is not None]


def _other_names(found: Iterable[Submission], folder: Path) -> list[str]:
    """The files that are taken though they are called otherwise."""
    renamed = (one for one in found if not one.problem and one.path != folder / f"{notebook_of(one.lesson)}.ipynb")
    return [printable(str(one.path.relative_to(folder))) for one in renamed]


def _of_several(learner: str, lesson: str, folder: Path, known: Collection[str]) -> Submission | None:
    """A notebook of one lesson; None if an assignment has several, and this one was not handed in."""
    beside = [one for one in known if assignment_of(one) == assignment_of(lesson)]
    path = folder / f"{notebook_of(lesson)}.ipynb"
    if len(beside) > 1 and not os.path.lexists(path) and not folder.is_symlink() and not folder.parent.is_symlink():
        return None
    return submission_at(learner, folder, lesson)


def anything_new(root: Path, intake: Intake) -> bool:
    """Whether there is a submission that was never graded: a quick look, to start the engine early."""
    return any(not one.problem and not journal_of(root, one.learner, one.lesson).exists() for one in intake.submissions)


def submission_at(learner: str, folder: Path, lesson: str) -> Submission:
    """The file to grade in the folder of an assignment, or why there is none, in words. Opens nothing."""
    path = folder / f"{notebook_of(lesson)}.ipynb"
    try:
        for place in (folder.parent, folder, path):
            if place.is_symlink():
                told = f"{place.name} is a symbolic link; hand in the file itself"
                return Submission(learner, lesson, path, told)
        if path.is_file():
            return Submission(learner, lesson, path)
        if path.exists() and not path.is_dir():
            return Submission(learner, lesson, path, f"{path.name} is not a regular file")
        return _renamed(learner, folder, path, lesson)
    except OSError as error:
        return Submission(learner, lesson, path, f"{path.name} cannot be read: {error.strerror}")


_NOTEBOOKS = (".ipynb",)
_DISGUISED = (".ipynb.txt", ".ipynb.json", ".ipynb.html", ".ipynb.zip", ".ipynb.gz", ".ipynb.py", ".ipynb.download")
_EXPORTED = (".json", ".zip", ".gz", ".tgz", ".html", ".htm", ".py", ".md", ".txt")
_MOST_FILES, _DEEPEST = 2_000, 3
"""Files, and folders one in another, among which a notebook of another name is looked for."""


def _renamed(learner: str, folder: Path, path: Path, lesson: str) -> Submission:
    """The only notebook of any name, or else the only file that a notebook may have become."""
    files = list(_files(folder))
    for endings in (_NOTEBOOKS, _DISGUISED, _EXPORTED):
        fits = [file for file in files if file.name.lower().endswith(endings)]
        # An upload's second copy is called "lesson (1)"; what has the lesson's name comes before what has not.
        named = [file for file in fits if file.name.lower().startswith(path.stem.lower())]
        for choice in (named, fits):
            if len(choice) == 1:
                return Submission(learner, lesson, choice[0])
        if fits:
            shown = ", ".join(sorted(printable(str(file.relative_to(folder))) for file in fits)[:5])
            told = f"no {path.name} in it, only {shown}, and which one counts cannot be told: leave one of them there"
            return Submission(learner, lesson, path, told)
    if not files:
        return Submission(learner, lesson, path, f"no {path.name} in it; the folder holds no notebook")
    shown = ", ".join(sorted(printable(str(file.relative_to(folder))) for file in files)[:5])
    return Submission(learner, lesson, path, f"no {path.name} in it, and no other notebook, only {shown}")


def _files(folder: Path) -> Iterator[Path]:
    """Regular files below a folder; no links, nothing hidden, nothing that Jupyter or macOS keep beside them."""
    count = 0
    for place, folders, names in os.walk(folder, followlinks=False):
        deep = len(Path(place).relative_to(folder).parts) >= _DEEPEST
        folders[:] = [] if deep else sorted(n for n in folders if not n.startswith((".", "__")))
        for name in sorted(names):
            file = Path(place, name)
            if name.startswith((".", "~")) or name == "timestamp.txt" or file.is_symlink() or not file.is_file():
                continue
            count += 1
            if count > _MOST_FILES:
                return
            yield file
