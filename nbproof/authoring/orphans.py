"""Derived notebooks whose lesson is gone, or was renamed: what a build has made, a build takes away.

What a person made, or changed, is never touched. A notebook is a build's if its bytes are those that a build writes:
canonical JSON, the build's own metadata, no output, every cell's id made from its grade_id or its text, nbgrader's
checksums as they should be.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbgrader.utils import compute_checksum

from nbproof.authoring.derived import LIMITS, METADATA, as_text, cell_id
from nbproof.cells import grading_of, name_of
from nbproof.command import course_command
from nbproof.errors import Violation
from nbproof.limits import GradingLimits
from nbproof.nbgrader_setup import course_config

__all__ = ["Orphan", "is_derived", "orphans", "sweep"]


@dataclass(frozen=True)
class Orphan:
    """A folder in source/ or release/ that no lesson stands behind."""

    folder: Path
    derived: bool
    """Whether it holds nothing but the notebook that a build made, or nothing at all."""

    @property
    def name(self) -> str:
        """``release/06_gone``."""
        return f"{self.folder.parent.name}/{self.folder.name}"

    def violation(self) -> Violation:
        """What the author contract says of it."""
        if self.derived:
            return Violation(
                f"{self.name} is made from no lesson", str(self.folder), f"{course_command('build')}: it takes it away"
            )
        return Violation(
            f"{self.name} is made from no lesson, and holds what no build has made, or what was changed since",
            str(self.folder),
            f"move it elsewhere, or, if nobody needs it: git rm -r {self.folder}",
        )


def orphans(root: Path) -> list[Orphan]:
    """The folders in release/ and source/ whose lesson is gone, or was renamed."""
    said = GradingLimits(config=course_config(root)).sentence()
    found = []
    for step in ("release", "source"):
        for folder in sorted((root / step).glob("*")):
            if folder.name.startswith(".") or (root / "lessons" / folder.name / "lesson.py").exists():
                continue
            notebook = folder / f"{folder.name}.ipynb"
            real = folder.is_dir() and not folder.is_symlink()
            within = [path for path in folder.iterdir() if path != notebook] if real else []
            made = real and not within and (is_derived(notebook, said) or not notebook.exists())
            found.append(Orphan(folder, made))
    return found


def sweep(root: Path, say: Callable[[str], None]) -> list[Path]:
    """Take away what builds have made of lessons that are gone; returns what was removed. Says what it leaves, and why."""
    removed = []
    for orphan in orphans(root):
        if not orphan.derived:
            violation = orphan.violation()
            say(f"left {orphan.folder}: {violation.fact}; {violation.next_command}")
            continue
        for notebook in orphan.folder.iterdir():
            notebook.unlink()
        orphan.folder.rmdir()
        removed.append(orphan.folder)
        say(f"removed {orphan.folder}: there is no lessons/{orphan.folder.name}/lesson.py any more")
    if removed:
        say("what was handed in for it, and its marks in the gradebook, stay")
    return removed


def is_derived(path: Path, said: str) -> bool:
    """Whether a build has written every byte of this notebook; ``said``: what it says of the grading limits."""
    if path.is_symlink() or not path.is_file():
        return False
    try:
        text = path.read_text(encoding="utf-8")
        notebook = nbformat.reads(text, as_version=4)
        if text != as_text(notebook) or notebook.metadata != METADATA:
            return False
        seen: set[str] = set()
        return all(_is_built(cell, said, seen) for cell in notebook.cells)
    except (OSError, ValueError, KeyError, AttributeError, TypeError, nbformat.ValidationError):
        return False


def _is_built(cell: nbformat.NotebookNode, said: str, seen: set[str]) -> bool:
    if cell.get("outputs") or cell.get("execution_count") is not None:
        return False
    if name_of(cell):
        checksum = grading_of(cell).get("checksum")
        return cell.id == cell_id(name_of(cell), "", seen) and checksum in (None, compute_checksum(cell))
    return bool(cell.id == cell_id("", cell.source.replace(said, LIMITS), seen))
