"""Answers as somebody might hand them in: the files in a lesson's folders ``accepted`` and ``mutants``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from course.errors import LessonError

__all__ = ["Candidate", "is_left_over", "read_candidates", "refuse_unexpected"]

_MUTANT = re.compile(r"#\s*misconception:\s*(?P<name>.+?)\s*\|\s*hint:\s*(?P<hint>[a-z0-9_]+|none)\s*$")


@dataclass(frozen=True)
class Candidate:
    """The text of a TODO cell as somebody might hand it in."""

    name: str
    """'reference', 'stub', or the stem of its file."""
    role: str
    """'reference', 'stub', 'accepted' or 'mutant'."""
    source: str
    path: Path | None = None
    misconception: str = ""
    hint: str | None = None


def read_candidates(folder: Path, role: str) -> tuple[Candidate, ...]:
    """The candidates in ``folder``, by name. Raises LessonError for one that cannot be one of this role."""
    found = []
    for path in sorted(folder.glob("*.py")):
        try:
            source = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise LessonError(f"it cannot be read: {error}", str(path), "save it as UTF-8 text") from None
        misconception, hint = "", None
        match = _MUTANT.match(source.split("\n", 1)[0])
        if role == "accepted" and match is not None:
            raise LessonError(
                f"a mutant lies among the accepted answers: its first line names a misconception, {match['name']!r}",
                f"{path}:1",
                f"git mv it to mutants/{folder.name}/, or, if it is a right answer, take that line out",
            )
        if role == "mutant":
            if match is None:
                raise LessonError(
                    "a mutant's first line names its misconception and the hint expected for it",
                    f"{path}:1",
                    "write: # misconception: <in a few words> | hint: <id, or none>",
                )
            misconception = match["name"]
            hint = None if match["hint"] == "none" else match["hint"]
        found.append(Candidate(path.stem, role, source, path, misconception, hint))
    return tuple(found)


def is_left_over(parts: tuple[str, ...]) -> bool:
    """Whether a path is what Python and Jupyter leave behind."""
    return "__pycache__" in parts or ".ipynb_checkpoints" in parts


def refuse_unexpected(folder: Path, ids: set[str]) -> None:
    """Raise LessonError for what lies in a lesson's folder, and belongs to none of its exercises."""
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        if is_left_over(parts) or (path.is_dir() and not any(inner.is_file() for inner in path.rglob("*"))):
            continue
        known = (
            parts == ("lesson.py",)
            or (path.is_dir() and (parts in (("accepted",), ("mutants",)) or (len(parts) == 2 and parts[1] in ids)))
            or (len(parts) == 3 and parts[0] in ("accepted", "mutants") and parts[1] in ids and path.suffix == ".py")
        )
        if not known:
            raise LessonError(*_unexpected(parts, ids, path))


def _unexpected(parts: tuple[str, ...], ids: set[str], path: Path) -> tuple[str, str, str]:
    """Fact, place and next command of a file or folder that no exercise of the lesson owns."""
    listed = ", ".join(sorted(ids)) or "it has none yet"
    if len(parts) > 1 and parts[0] in ("accepted", "mutants") and parts[1] not in ids and not parts[1].endswith(".py"):
        return (
            f"an unexpected folder: the lesson has no exercise {parts[1]!r}, of which {'/'.join(parts[:2])} holds answers",
            str(path),
            f"rename it if the exercise has another id now, or if the exercise is gone: git rm -r {path}. Exercises: {listed}",
        )
    return (
        "an unexpected file in a lesson folder",
        str(path),
        f"move it, or name its folder after an exercise: {listed}",
    )
