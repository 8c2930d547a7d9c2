"""One feedback page: what it is to be made from, where it lies, and what became of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from nbproof.errors import CourseError
from nbproof.files import replace_file
from nbproof.gradebook.marks import Mark
from nbproof.key import Key
from nbproof.places import places

__all__ = ["Task", "page_path", "write_page"]


@dataclass(frozen=True)
class Task:
    """One page to be written."""

    key: Key
    digest: str
    marks: Mark | None = None
    problem: str = ""
    """Why the submission could not be graded; empty if it was."""


def page_path(root: Path, learner: str, lesson: str) -> Path:
    """Where a submission's page lies."""
    return places(root).notebook("feedback", learner, lesson).with_suffix(".html")


def write_page(root: Path, task: Task) -> str:
    """Write a page; the reason if that went wrong, else nothing."""
    from nbproof.feedback.page import page_of

    try:
        place = page_path(root, *task.key)
        place.parent.mkdir(parents=True, exist_ok=True)
        replace_file(place, page_of(root, task))
    except CourseError as error:
        return f"{error.fact}; next: {error.next_command}"
    except OSError as error:
        return str(error.strerror)
    except Exception as error:  # a flaw that one submission has found costs no other learner their page
        return f"please report this ({type(error).__name__}: {str(error)[:200]})"
    return ""
