"""What a verdict depends on besides the submission, in digests: the lesson, interpreter, libraries, and the code that grades."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import re
import sys
from dataclasses import dataclass, replace
from functools import cache, cached_property
from importlib import metadata
from pathlib import Path

from traitlets.config import Config

from nbproof.cells import CellKind
from nbproof.course_file import Course
from nbproof.doors import LANGUAGES, LEAVES
from nbproof.files import digest_of
from nbproof.handed_out import digest_of_visible
from nbproof.lesson.check_cell import may_score
from nbproof.lesson.from_notebook import cells_of
from nbproof.lesson.lesson import Cell, TestCell
from nbproof.limits import GradingLimits
from nbproof.marking.autotests import read_from
from nbproof.marking.blueprint import Blueprint, files_beside, read_blueprint
from nbproof.places import places
from nbproof.recover.matching import Former, bare, former_cells, renamed
from nbproof.recover.notebook_bytes import Damaged, cells_in
from nbproof.run.journal import keep_version
from nbproof.sandbox.fork_server import ROLES

__all__ = [
    "LessonState",
    "entries_of",
    "environment",
    "graded_by",
    "grader_digest",
]


def _leaf_versions(course: Course) -> dict[str, str]:
    """The versions of the libraries of a course's leaf types. Nothing of them is imported."""
    found = {}
    for name in course.leaves:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:  # a library may be imported by another name, such as sklearn
            packages = sorted(metadata.packages_distributions().get(name, ()))
            found[name] = " ".join(map(metadata.version, packages)) or "none"
    return found


_VERDICTS = (
    "nbproof.gradebook.graded_notebook",
    "nbproof.gradebook.writer",
    "nbproof.marking.marker",
    "nbproof.sandbox.fork_server",
    *ROLES.values(),
)
"""The modules that make a verdict, that show it and that keep it."""

_IMPORT = re.compile(r"^ *(?:from|import) (nbproof[\w.]*)(?: import (?:\(([^)]*)\)|(.*)))?", re.MULTILINE)


def graded_by(course: Course) -> dict[str, Path]:
    """The modules of the tool that a verdict, its graded notebook and its marks depend on, with their files.

    They are the modules that make them, and what these import. All else that a run uses decides where, when and for
    which learner something is done, or only tells of it.
    """
    waiting = [
        *_VERDICTS,
        course.language or "nbproof.values.words",
        *(f"nbproof.values.leaves.{name}" for name in course.leaves),
    ]
    found = _from_next_door(course)
    while waiting:
        name = waiting.pop()
        path = _file_of(name)
        if name in found or path is None:
            continue
        found[name] = path
        waiting.append(name.rpartition(".")[0])  # Python imports a package before its modules
        for module, listed, plain in _IMPORT.findall(path.read_text(encoding="utf-8")):
            waiting += [module, *(f"{module}.{other}" for other in re.findall(r"\w+", listed or plain))]
    return found


def entries_of(course: Course) -> list[metadata.EntryPoint]:
    """What packages next door bring for the checks of a course: its leaf types and its language."""
    entries = [*LANGUAGES.installed().get(course.language, ())]
    for name in course.leaves:
        entries += LEAVES.installed().get(name, ())
    return entries


def _from_next_door(course: Course) -> dict[str, Path]:
    """The modules of packages next door that a verdict depends on."""
    specs = {entry.module: importlib.util.find_spec(entry.module) for entry in entries_of(course)}
    return {name: Path(spec.origin) for name, spec in specs.items() if spec is not None and spec.origin}


def _file_of(module: str) -> Path | None:
    """Where a module of the tool lies; None if the name is no module of it."""
    tool, *parts = module.split(".")
    place = Path(__file__).resolve().parents[1].joinpath(*parts)
    files = (place.with_suffix(".py"), place / "__init__.py")
    return next((path for path in files if tool == "nbproof" and path.is_file()), None)


@cache
def grader_digest(course: Course) -> str:
    """Changes with the code that makes verdicts: that of the tool, the course's modules, leaf types.

    It is computed once in a process: a process that goes on after `git pull` still runs the old code.
    """
    files = [*course.folder.glob("course.toml"), *graded_by(course).values()]
    if course.package:
        files += course.folder.glob("*.py")
    parts = [json.dumps(_leaf_versions(course)).encode()]
    for path in sorted(files):
        parts += [path.name.encode(), path.read_bytes()]
    return digest_of(*parts)


def environment(course: Course) -> bytes:
    """Changes with the interpreter, with what is installed for it, and with the code that grades."""
    parts = [sys.version, sys.prefix, grader_digest(course)]
    for entry in sys.path:
        with contextlib.suppress(OSError):
            parts.append(f"{entry} {os.stat(entry).st_mtime_ns}")
    return "\0".join(parts).encode()


def _limits_text(limits: GradingLimits) -> bytes:
    values = {name: getattr(limits, name) for name in sorted(limits.trait_names(config=True))}
    return json.dumps(values, sort_keys=True).encode()


@dataclass(frozen=True)
class LessonState:
    """One lesson as the instructor has it now. The notebook is taken apart only if somebody asks for that."""

    course: Course
    path: Path
    config: Config
    limits: GradingLimits
    lesson: str = ""
    """Its name; the notebook's, if it is not given."""
    root: Path | None = None  # the course's, where versions of it are kept

    @classmethod
    def of(cls, course: Course, root: Path, lesson: str, config: Config, limits: GradingLimits) -> LessonState:
        """The state of a lesson in a course's folder."""
        here = places(root)
        if here.is_released_only(lesson):
            config = Config(config)
            config.CourseDirectory.source_directory = here.steps[1]
            # What these would do is done.
            config.pop("IncludeHeaderFooter", None)
            config.ClearSolutions.enabled = False
        return cls(course, here.source(lesson), config, limits.for_lesson(lesson), lesson, root)

    @cached_property
    def source(self) -> str:
        """Changes with anything that a verdict depends on: not with prose, nor with points."""
        # What nbgrader was asked for an option of, and is not told, stands there empty afterwards.
        asked = (
            "ClearSolutions",
            "ClearHiddenTests",
            "IgnorePattern",
            "Execute",
            "ExecutePreprocessor",
            "NotebookClient",
            "InstantiateTests",
        )
        stubs = [repr(dict(self.config.get(name) or {})) for name in asked]
        files = files_beside(self.path, self.config)
        return digest_of(
            *(_what_runs(self.course, data) for data in read_from(self.path, self.config)),
            "".join(stubs).encode(),
            _limits_text(self.limits),
            grader_digest(self.course).encode(),
            digest_of_visible(self.course.texts, self.lesson or self.path.stem).encode(),
            *(os.fsencode(name) for name in files),
            *files.values(),
        )

    @cached_property
    def registered(self) -> str:
        """Changes with anything that the notebook says: what the gradebook knows of the lesson, and graded notebooks show."""
        return digest_of(*read_from(self.path, self.config))

    @cached_property
    def blueprint(self) -> Blueprint:
        """The blueprint of the notebook, with what learners were handed before."""
        found = read_blueprint(self.course, self.path, self.config, self.lesson)
        former = _former(self.root, found) if self.root else ()
        return replace(found, former=former)

    @cached_property
    def renamed(self) -> dict[str, str]:
        """:func:`nbproof.recover.matching.renamed`, in what was handed out once."""
        handout = self.blueprint.handout
        found: dict[str, str] = {}
        versions = keep_version(self.root, handout.lesson) if self.root else []
        for path in versions:
            with contextlib.suppress(Damaged):
                found |= renamed(handout, cells_in(path.read_bytes())[0])
        return found


def _former(root: Path, blueprint: Blueprint) -> tuple[Former, ...]:
    """What was handed out once, and is not part of the lesson any more. This version is kept for those to come.

    A solution that was handed out by mistake is still an answer.
    """
    keep_version(root, blueprint.slug, json.dumps(blueprint.notebook).encode())
    solved = set(map(bare, blueprint.withheld.values()))
    solved -= {bare(cell.source) for cell in blueprint.handout.cells}
    found: dict[Former, None] = {}
    for path in keep_version(root, blueprint.slug):
        with contextlib.suppress(Damaged):
            found |= dict.fromkeys(former_cells(blueprint.handout, cells_in(path.read_bytes())[0]))
    return tuple(one for one in found if bare(one.source) not in solved)


def _what_runs(course: Course, data: bytes) -> bytes:
    """The part of a notebook that a verdict depends on: its code, and what it asks. All of it if it cannot be read."""
    try:
        told = [_asked_by(course, cell) for cell in cells_of(data)]
    except (ValueError, KeyError, TypeError, AttributeError):
        return data
    return json.dumps(told).encode()


def _asked_by(course: Course, cell: Cell) -> list[object]:
    """What a digest keeps of a cell. Of a text it keeps only that it is there: learners' own cells have their places by it."""
    if cell.kind in (CellKind.PROSE, CellKind.WRITTEN, CellKind.TASK):
        return [cell.kind, cell.grade_id]
    points = cell.points if isinstance(cell, TestCell) and may_score(course, cell.source) else None
    return [cell.kind, cell.grade_id, cell.source, points]
