"""Where everything of a course lies: as nbgrader's ``CourseDirectory`` is configured, and nobody else decides.

What is *marked* is a notebook, and is called a lesson here; what is *handed in* is an assignment, a folder of one or more of
them. Where an assignment has one notebook, called like it, the lesson has the same name: ``02_hooks``. Every other lesson is
called by both, as in ``ps1/problem1``.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from nbproof.errors import UsageError
from nbproof.key import Key, assignment_of, notebook_of
from nbproof.nbgrader_setup import config_of, config_stamp

__all__ = ["Places", "places"]

_STEPS = ("source", "release", "submitted", "autograded", "feedback")
_GRADED = re.compile(rb'"grade_id"|"(?:grade|solution)": *true')
"""In the bytes of a notebook with a cell of nbgrader's: a broken one may lack its id."""
_LEARNER, _ASSIGNMENT = "{student_id}", "{assignment_id}"
_STRUCTURE = os.path.join("{nbgrader_step}", _LEARNER, _ASSIGNMENT)


@dataclass(frozen=True)
class Places:
    """Of one course."""

    root: Path
    steps: tuple[str, ...] = _STEPS
    """What the folders of nbgrader's steps are called, from source to feedback."""
    structure: str = _STRUCTURE
    zone: str = "UTC"
    """The time zone of nbgrader's exchange."""

    def base(self, step: str) -> Path:
        """The folder of a step, with all that is in it."""
        above = self.structure.partition(_LEARNER)[0]
        return self.root / above.format(nbgrader_step=self.steps[_STEPS.index(step)])

    def folder(self, step: str, learner: str, lesson: str) -> Path:
        """Where an assignment lies at a step: of a learner's, or the instructor's, whose name is ``.``."""
        parts = {"student_id": learner, "assignment_id": assignment_of(lesson)}
        return self.root / self.structure.format(nbgrader_step=self.steps[_STEPS.index(step)], **parts)

    def notebook(self, step: str, learner: str, lesson: str) -> Path:
        """Where a notebook lies at a step."""
        return self.folder(step, learner, lesson) / f"{notebook_of(lesson)}.ipynb"

    def source(self, lesson: str) -> Path:
        """The notebook that a lesson is graded by: the instructor's; what was released, where there is no other."""
        own = self.notebook("source", ".", lesson)
        return own if own.exists() or self._is_built else self.notebook("release", ".", lesson)

    def is_released_only(self, lesson: str) -> bool:
        """Whether nobody has the instructor's version of it here."""
        return self.source(lesson) != self.notebook("source", ".", lesson)

    @property
    def _is_built(self) -> bool:
        # What an author's lessons are built into is complete, or to be built.
        return (self.root / "lessons").is_dir()

    def lessons(self) -> list[str]:
        """All that can be graded: each notebook with a cell of nbgrader's, in source/ or, if it is only there, in release/."""
        found: dict[str, list[str]] = {}
        for step in ("source",) if self._is_built else ("source", "release"):
            for path in sorted(self.base(step).glob("*/*.ipynb")):
                if not path.parent.name.startswith("."):
                    found.setdefault(path.parent.name, []).append(path.stem)
            # What stands in both is the instructor's.
        return sorted(name for one, stems in found.items() for name in self._lessons_of(one, sorted(set(stems))))

    def _lessons_of(self, assignment: str, notebooks: list[str]) -> list[str]:
        if notebooks == [assignment]:
            return [assignment]
        names = [f"{assignment}/{notebook}" for notebook in notebooks]
        return [name for name in names if (path := self.source(name)).is_file() and _GRADED.search(path.read_bytes())]

    def handed_in(self, step: str = "submitted") -> Iterator[Path]:
        """The folders of assignments at a step, in order, as far as they can be read."""
        for outer in self.outer(step):
            with contextlib.suppress(OSError):
                yield from filter(Path.is_dir, self.inner(outer))

    def outer(self, step: str) -> list[Path]:
        """The folders of learners at a step."""
        return sorted(path for path in self.base(step).glob("*") if path.is_dir() and path.name[:1] != ".")

    def inner(self, outer: Path) -> list[Path]:
        """What lies in such a folder. Raises OSError."""
        return sorted(path for path in outer.iterdir() if path.name[:1] != ".")

    def lessons_in(self, folder: Path, known: Iterable[str]) -> list[Key]:
        """What may lie in the folder of an assignment at a step, of these lessons."""
        return [Key(folder.parent.name, lesson) for lesson in known if assignment_of(lesson) == folder.name]

    def learners(self) -> list[str]:
        """Everybody who has a folder in submitted/."""
        return [path.name for path in self.outer("submitted")]

    @property
    def private(self) -> list[Path]:
        """What no learner's code may read."""
        own = (self.root / name for name in ("lessons", ".course", "nbgrader_config.py", "gradebook.db"))
        return [*map(self.base, _STEPS), *own]


def places(root: Path) -> Places:
    """Those of the course in this folder. Raises UsageError if they cannot be told."""
    return _made(root, config_stamp(root))


@lru_cache(maxsize=64)
def _made(root: Path, stamp: object) -> Places:
    config = config_of(root)
    told = config.CourseDirectory
    structure = str(told.get("directory_structure", _STRUCTURE))
    if structure.replace("\\", "/").split("/")[-2:] != [_LEARNER, _ASSIGNMENT]:
        raise UsageError(
            f"assignments lie where this grader does not find them: {structure!r}",
            "c.CourseDirectory.directory_structure in nbgrader_config.py",
            "let it end with {student_id}/{assignment_id}",
        )
    return Places(
        root,
        tuple(str(told.get(f"{step}_directory", step)) for step in _STEPS),
        structure,
        config.Exchange.get("timezone", "UTC"),
    )
