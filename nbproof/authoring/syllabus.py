"""All lessons together: what one must not have because another has it, and folders that are no lessons."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from nbproof.authoring.exercise_folder import is_left_over
from nbproof.authoring.lesson import Lesson, find_lessons, read_lesson
from nbproof.errors import LessonError

__all__ = ["Syllabus", "read_syllabus", "refuse_abandoned"]


@dataclass(frozen=True)
class Syllabus:
    """The lessons that can be read, and why the others cannot."""

    lessons: tuple[Lesson, ...]
    unread: tuple[LessonError, ...] = ()


def read_syllabus(root: Path, needed: Sequence[str] = ()) -> Syllabus:
    """Read every lesson below ``root``.

    Raises LessonError for one of those ``needed`` that cannot be read (none named: for any), and if two lessons have an
    exercise of the same id.
    """
    lessons, unread = [], []
    for folder in find_lessons(root):
        try:
            lessons.append(read_lesson(folder))
        except LessonError as error:
            if not needed or folder.name in needed:
                raise
            unread.append(error)
    seen: dict[str, str] = {}
    for exercise in (exercise for lesson in lessons for exercise in lesson.exercises):
        if exercise.id in seen:
            raise LessonError(
                f"the exercise id {exercise.id!r} is used in two lessons",
                f"{exercise.answer.place} and {seen[exercise.id]}",
                "rename one of them",
            )
        seen[exercise.id] = exercise.answer.place
    return Syllabus(tuple(lessons), tuple(unread))


def refuse_abandoned(root: Path) -> None:
    """Raise LessonError for a folder in lessons/ that has files, and no lesson.py: nothing would ever read them."""
    for folder in sorted(path for path in (root / "lessons").glob("*") if path.is_dir()):
        if folder.name.startswith((".", "__")) or (folder / "lesson.py").exists():
            continue
        kept = next(_files_of(folder), None)
        if kept is not None:
            raise LessonError(
                f"lessons/{folder.name} has no lesson.py, but {kept.relative_to(folder)}",
                str(folder),
                f"bring lesson.py back, or, if the lesson is to go: git rm -r {folder}",
            )


def _files_of(folder: Path) -> Iterator[Path]:
    return (
        path
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not is_left_over(path.relative_to(folder).parts)
    )
