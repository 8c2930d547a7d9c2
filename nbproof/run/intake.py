"""Find what was handed in, and say what is not a submission, before anything runs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from nbproof.command import course_command
from nbproof.errors import UsageError
from nbproof.key import Key
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
    """The lessons that can be graded: those named, or all that have a notebook in source/."""
    folder = root / "source"
    known = sorted(path.parent.name for path in folder.glob("*/*.ipynb") if path.stem == path.parent.name)
    if not known:
        raise UsageError(
            "there is nothing to grade against", f"{folder} holds no <lesson>/<lesson>.ipynb", course_command("build")
        )
    for name in names:
        if name not in known:
            raise UsageError(f"no lesson is called {name!r}", str(folder), f"choose from: {', '.join(known)}")
    return [name for name in known if not names or name in names]


def take_in(root: Path, lessons: list[str], known: list[str]) -> Intake:
    """Look through ``submitted/<learner>/<lesson>/``. Nothing is changed, nothing runs."""
    submissions, notes = [], []
    renamed = 0
    folder = root / "submitted"
    for learner in sorted(path for path in folder.glob("*") if path.is_dir() and not path.name.startswith(".")):
        if not learner.name.isprintable():
            # Control characters, half surrogate pairs: no gradebook takes them, and no terminal should.
            notes.append(f"passed over submitted/{ascii(learner.name)[1:-1]}: this is not a learner's name")
            continue
        try:
            folders = sorted(path for path in learner.iterdir() if not path.name.startswith("."))
        except OSError as error:
            notes.append(f"passed over {learner.relative_to(root)}: {error.strerror}")
            continue
        for handed_in in folders:
            if handed_in.name in lessons and (handed_in.is_dir() or handed_in.is_symlink()):
                submission = submission_at(learner.name, handed_in)
                submissions.append(submission)
                if not submission.problem and submission.path != handed_in / f"{handed_in.name}.ipynb":
                    found = printable(str(submission.path.relative_to(handed_in)))
                    renamed += 1
                    notes.append(
                        f"taken although it has another name: submitted/{learner.name}/{handed_in.name}: {found}"
                    )
            elif handed_in.name not in known:
                notes.append(f"passed over {printable(str(handed_in.relative_to(root)))}: no lesson has this name")
    return Intake(tuple(submissions), tuple(notes), len(notes) > renamed)


def anything_new(root: Path, intake: Intake) -> bool:
    """Whether there is a submission that was never graded: a quick look, to start the engine early."""
    return any(not one.problem and not journal_of(root, one.learner, one.lesson).exists() for one in intake.submissions)


def submission_at(learner: str, folder: Path) -> Submission:
    """The file to grade in ``submitted/<learner>/<lesson>/``, or why there is none, in words. Opens nothing."""
    path = folder / f"{folder.name}.ipynb"
    try:
        for place in (folder.parent, folder, path):
            if place.is_symlink():
                told = f"{place.name} is a symbolic link; hand in the file itself"
                return Submission(learner, folder.name, path, told)
        if path.is_file():
            return Submission(learner, folder.name, path)
        if path.exists() and not path.is_dir():
            return Submission(learner, folder.name, path, f"{path.name} is not a regular file")
        return _renamed(learner, folder, path)
    except OSError as error:
        return Submission(learner, folder.name, path, f"{path.name} cannot be read: {error.strerror}")


_NOTEBOOKS = (".ipynb",)
_DISGUISED = (".ipynb.txt", ".ipynb.json", ".ipynb.html", ".ipynb.zip", ".ipynb.gz", ".ipynb.py", ".ipynb.download")
_EXPORTED = (".json", ".zip", ".gz", ".tgz", ".html", ".htm", ".py", ".md", ".txt")
_MOST_FILES, _DEEPEST = 2_000, 3
"""Files, and folders one in another, among which a notebook of another name is looked for."""


def _renamed(learner: str, folder: Path, path: Path) -> Submission:
    """The only notebook of any name, or else the only file that a notebook may have become."""
    files = list(_files(folder))
    for endings in (_NOTEBOOKS, _DISGUISED, _EXPORTED):
        fits = [file for file in files if file.name.lower().endswith(endings)]
        # An upload's second copy is called "lesson (1)"; what has the lesson's name comes before what has not.
        named = [file for file in fits if file.name.lower().startswith(folder.name.lower())]
        for choice in (named, fits):
            if len(choice) == 1:
                return Submission(learner, folder.name, choice[0])
        if fits:
            shown = ", ".join(sorted(printable(str(file.relative_to(folder))) for file in fits)[:5])
            told = f"no {path.name} in it, only {shown}, and which one counts cannot be told: leave one of them there"
            return Submission(learner, folder.name, path, told)
    if not files:
        return Submission(learner, folder.name, path, f"no {path.name} in it; the folder holds no notebook")
    shown = ", ".join(sorted(printable(str(file.relative_to(folder))) for file in files)[:5])
    return Submission(learner, folder.name, path, f"no {path.name} in it, and no other notebook, only {shown}")


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
