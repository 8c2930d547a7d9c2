"""One feedback page: what it is to be made from, where it lies, and what became of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from nbproof.errors import CourseError
from nbproof.feedback.handed_back import Earlier
from nbproof.files import replace_file
from nbproof.gradebook.marks import Mark
from nbproof.key import Key
from nbproof.places import places

__all__ = ["PageTrouble", "Task", "page_path", "trouble_of", "write_page"]


@dataclass(frozen=True)
class Task:
    """One page to be written."""

    key: Key
    digest: str
    marks: Mark | None = None
    problem: str = ""
    """Why the submission could not be graded; empty if it was."""
    earlier: Earlier | None = None
    """What was marked again since it was handed back."""


@dataclass(frozen=True)
class PageTrouble:
    """Why a page could not be written; no reason if it was."""

    reason: str = ""
    errno: int = 0
    """Of the operating system's error; 0 if it was none."""


def page_path(root: Path, learner: str, lesson: str) -> Path:
    """Where a submission's page lies."""
    return places(root).notebook("feedback", learner, lesson).with_suffix(".html")


def write_page(root: Path, task: Task) -> PageTrouble:
    """Write a page; what went wrong, or nothing."""
    from nbproof.feedback.page import page_of

    try:
        place = page_path(root, *task.key)
        place.parent.mkdir(parents=True, exist_ok=True)
        replace_file(place, page_of(root, task))
    except Exception as error:  # a flaw that one submission has found costs no other learner their page
        return trouble_of(error)
    return PageTrouble()


def trouble_of(error: Exception) -> PageTrouble:
    if isinstance(error, CourseError):
        return PageTrouble(f"{error.fact}; next: {error.next_command}")
    if isinstance(error, OSError):
        return PageTrouble(
            f"{error.strerror or type(error).__name__}: {error.filename or ''}".rstrip(": "), error.errno or 0
        )
    return PageTrouble(f"please report this ({type(error).__name__}: {str(error)[:200]})")
