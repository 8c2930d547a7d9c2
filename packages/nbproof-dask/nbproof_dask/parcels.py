"""What travels between a run and its workers, as bytes in MessagePack; verdicts are JSON, as the run itself keeps them.

Nothing is pickled, and nothing that a worker sends back is executed or believed further than a journal on disk would be.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar

import nbformat
from cattrs.preconf.msgpack import MsgpackConverter, make_converter
from cattrs.strategies import configure_tagged_union, include_subclasses

from nbproof.course_file import Course, read_course
from nbproof.handed_out import hint_files
from nbproof.key import Key
from nbproof.lesson.lesson import Cell
from nbproof.limits import GradingLimits
from nbproof.marking.blueprint import Blueprint
from nbproof.marking.results import Verdict
from nbproof.recover.notebook_bytes import HandIn
from nbproof.sandbox.isolation import Isolation

__all__ = ["Answer", "Said", "Work", "hand_in_as_bytes", "hand_in_of", "verdict_as_bytes", "verdict_of"]

_LEFT_AT_HOME = {"__pycache__", "handed_out", "release"}
"""Folders in a course's package that no engine needs."""
_AS_THEY_ARE = "surrogatepass"
"""How texts travel: the name of a file that somebody handed in need be no text."""


class Said(StrEnum):
    """The kinds of answers of a worker."""

    FIT = "fit"
    """It has started an engine; the data is a card (:class:`nbproof_dask.fitness.Card`)."""
    VERDICT = "verdict"
    UNFIT = "unfit"
    """It cannot mark; the data is the reason."""
    LOST = "lost"
    """What it answered is gone with the worker."""
    ENDED = "ended"
    """What marked the hand-in ended over it; the data is the reason."""


@dataclass(frozen=True)
class Answer:
    """What a worker answers."""

    said: Said
    data: bytes

    @property
    def text(self) -> str:
        """The reason, in words."""
        return self.data.decode(errors="replace")

    @classmethod
    def because(cls, said: Said, text: str) -> Answer:
        """An answer of which the data is a reason."""
        return cls(said, text.encode(errors="replace"))

    def as_bytes(self) -> bytes:
        """It, to be sent."""
        return _packed(self)

    @classmethod
    def of(cls, data: object) -> Answer:
        """The answer in what was received. Raises an error of any kind if there is none."""
        if not isinstance(data, bytes):
            raise TypeError(f"an answer of the type {type(data).__name__}")
        return _unpacked(data, cls)


@dataclass(frozen=True)
class Work:
    """All that a worker has to know of a run: lessons, and the course's own modules, because it has no folder of the course."""

    seed: int
    limits: dict[str, Any]
    isolation: Isolation
    environment: dict[str, str]
    """What holds libraries to some of the processor's instructions, as it does here."""
    root: str
    """The name of the course's folder."""
    package: str
    files: dict[str, bytes] = field(repr=False)
    """Path below the course's folder -> what is in it."""
    lessons: dict[str, bytes] = field(repr=False)

    @classmethod
    def of(
        cls,
        blueprints: Mapping[str, Blueprint],
        seed: int,
        limits: GradingLimits,
        isolation: Isolation,
        environment: dict[str, str],
    ) -> Work:
        """The work of a run. There is at least one lesson."""
        course = next(iter(blueprints.values())).course
        given = {name: getattr(limits, name) for name in limits.traits(config=True)}
        lessons = {name: _packed(one) for name, one in blueprints.items()}
        return cls(seed, given, isolation, environment, course.root.name, course.package, _own_files(course), lessons)

    def as_bytes(self) -> bytes:
        """It, to be sent."""
        return _packed(self)

    @classmethod
    def read(cls, data: bytes) -> Work:
        """The work in what was received."""
        return _unpacked(data, cls)

    def unpacked(self, folder: Path) -> dict[str, Blueprint]:
        """Write the course's own files below a folder. Returns the lessons, of the course that is there now."""
        root = folder / self.root
        for name, data in self.files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_bytes(data)
        course = read_course(root / self.package)
        read = {name: _unpacked(data, Blueprint, course) for name, data in self.lessons.items()}
        for name, one in read.items():
            # By what lessons import the engine knows what to import beforehand.
            place = root / "source" / name / f"{Path(name).name}.ipynb"
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(json.dumps(one.notebook), encoding="utf-8")
        return read


def _own_files(course: Course) -> dict[str, bytes]:
    """The course's file, its package, if it has one, and its hints, because a verdict names what a hint is about."""
    paths = [course.file]
    if course.package:
        paths = [path for path in sorted(course.folder.rglob("*")) if _travels(path, course)]
    hints = {f"lessons/{path.relative_to(course.texts).as_posix()}": path for path in hint_files(course.texts)}
    own = {path.relative_to(course.root).as_posix(): path for path in paths if path.is_file()}
    return {name: path.read_bytes() for name, path in {**own, **hints}.items()}


def _travels(path: Path, course: Course) -> bool:
    return not _LEFT_AT_HOME & {*path.relative_to(course.folder).parts}


@cache
def _converter(course: Course | None = None) -> MsgpackConverter:
    """``course``: the one of the lessons that are read. It is not in their bytes: there it lies in another folder."""
    made = make_converter()
    made.register_unstructure_hook(Course, lambda one: None)
    made.register_structure_hook(Course, lambda data, kind: course)
    made.register_unstructure_hook(nbformat.NotebookNode, lambda node: node)
    made.register_structure_hook(nbformat.NotebookNode, lambda data, kind: nbformat.from_dict(data))
    made.register_structure_hook(Key, lambda data, kind: Key(*map(str, data)))
    include_subclasses(Cell, made, union_strategy=partial(configure_tagged_union, tag_name="type of cell"))
    return made


def _packed(value: object) -> bytes:
    data: bytes = _converter().dumps(value, unicode_errors=_AS_THEY_ARE)
    return data


_Kind = TypeVar("_Kind")


def _unpacked(data: bytes, kind: type[_Kind], course: Course | None = None) -> _Kind:
    value: _Kind = _converter(course).loads(data, kind, unicode_errors=_AS_THEY_ARE)
    return value


def hand_in_as_bytes(one: HandIn) -> bytes:
    """What a marker needs of a hand-in: not where it lies, nor why it is marked."""
    return _packed(HandIn(one.key, remark=one.remark, notebook=one.notebook, files=one.files))


def hand_in_of(data: bytes) -> HandIn:
    """The hand-in in what was received."""
    return _unpacked(data, HandIn)


def verdict_as_bytes(verdict: Verdict) -> bytes:
    """A verdict, to be sent."""
    return json.dumps(asdict(verdict)).encode()


def verdict_of(data: bytes) -> Verdict:
    """The verdict in what was received. Raises an error of any kind if there is none."""
    return Verdict.from_dict(json.loads(data))
