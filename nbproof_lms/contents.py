"""Which lesson a file belongs to, by what it holds: names and lines that only one lesson has.

Nothing is parsed that could be hostile: the bytes are decoded, cut into names and lines, and looked up. So a truncated
file, a script, a page of HTML or a notebook without metadata is recognised as long as something of the lesson is left.
"""

from __future__ import annotations

import codecs
import html
import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from nbproof.cells import CellKind, grading_of, kind_of, name_of, text_of
from nbproof.command import course_command
from nbproof.errors import UsageError

__all__ = ["Guess", "LessonBook", "looks_like_a_notebook"]

_MOST = 16 << 20
"""Characters of a file that are looked at, pictures and other long runs not counted."""
_PIECE, _OVERLAP = 1 << 20, 2000
"""Bytes of a file that are looked at one after another, and characters that are looked at twice."""
_PARSED = 2 << 20
"""Bytes of a notebook that is parsed: JSON can take fifty times its size in memory."""
_ENOUGH = 4
_NAME = re.compile(r"[A-Za-z0-9_]+")
_ASKED = re.compile(r"^(?:def|class)\s+(\w+)", re.MULTILINE)
_LONG = re.compile(r"[A-Za-z0-9+/=]{1000,}")
_ESCAPED = re.compile(r"\\[nrt]")
_EDGES = re.compile(r'^[\s",#]+|[\s",\\]+$')
_UNICODE = re.compile(r"\\u([0-9a-fA-F]{4})")


@dataclass(frozen=True)
class Guess:
    """What a file's content says. ``lesson`` is empty if it says nothing, or not clearly."""

    lesson: str = ""
    others: tuple[str, ...] = ()
    """Other lessons of which much is in it, too."""
    untouched: bool = False
    """Every TODO cell is as it was handed out, and nothing was written anywhere else."""


@dataclass(frozen=True)
class _Lesson:
    own: frozenset[str]
    """grade_ids, and functions and classes that TODO cells ask for, which no other lesson has."""
    exercises: frozenset[str]
    """Those of them that no other lesson so much as mentions."""
    names: frozenset[str]
    lines: frozenset[str]
    stubs: dict[str, str]
    """The TODO cells as they were handed out, by grade_id."""
    texts: frozenset[str] = frozenset()
    """All cells as they were handed out."""


@dataclass(frozen=True)
class LessonBook:
    """What each lesson's handed-out notebook holds that no other does."""

    root: Path

    @cached_property
    def _notebooks(self) -> dict[str, Path]:
        """By lesson: the released notebook, or the instructor's where there is none."""
        paths = [path for folder in ("source", "release") for path in sorted(self.root.glob(f"{folder}/*/*.ipynb"))]
        found = {path.stem: path for path in paths if path.stem == path.parent.name}
        return dict(sorted(found.items()))

    @cached_property
    def lessons(self) -> dict[str, _Lesson]:
        """By name. Raises UsageError if there is nothing to compare with."""
        found = self._notebooks
        if not found:
            raise UsageError(
                "there is no lesson to collect for",
                str((self.root / "release").resolve()),
                f"cd into the course's folder, or add --course DIR; if it is this one: {course_command('build')}",
            )
        texts = {name: _plain(path.read_text(encoding="utf-8")) for name, path in found.items()}
        names = {name: {one for one in _NAME.findall(text) if len(one) > 3} for name, text in texts.items()}
        lines = {name: _lines(text) for name, text in texts.items()}
        in_names, in_lines = (
            Counter(n for s in names.values() for n in s),
            Counter(n for s in lines.values() for n in s),
        )
        marks = {name: _marks(path) for name, path in found.items()}
        every = {name: {name_of(cell) for cell, _ in marked} - {""} for name, marked in marks.items()}
        given = {name: every[name] | _given(marked) for name, marked in marks.items()}
        book = {}
        for name, path in found.items():
            ids = every[name]
            released = path.parent.parent.name == "release"
            stubs = {name_of(cell): text for cell, text in marks[name] if released and kind_of(cell) is CellKind.ANSWER}
            book[name] = _Lesson(
                frozenset(given[name] - set().union(*(other for key, other in given.items() if key != name))),
                frozenset(one for one in ids if in_names[one] == 1),
                frozenset(one for one in names[name] - ids if in_names[one] == 1 and "_" in one.strip("_")),
                frozenset(one for one in lines[name] if in_lines[one] == 1),
                stubs,
                frozenset(text.strip() for _, text in marks[name]),
            )
        return book

    @cached_property
    def titles(self) -> tuple[str, ...]:
        """What the lessons are called in their first lines, whole and up to a colon."""
        found = []
        for path in self._notebooks.values():
            lines = [line for cell, text in _marks(path) if not grading_of(cell) for line in text.splitlines()]
            found.append(next((line[2:].replace("`", "") for line in lines if line.startswith("# ")), ""))
        return tuple(
            dict.fromkeys(
                part for title in found for part in (title, title.partition(":")[0]) if len(_NAME.findall(part)) > 1
            )
        )

    @cached_property
    def _defined(self) -> dict[str, re.Pattern[str]]:
        """Finds the definition of an exercise's own name."""
        return {
            name: re.compile(
                r"^\s*(?:def|class)\s+(" + "|".join(map(re.escape, sorted(lesson.own))) + r")\b", re.MULTILINE
            )
            for name, lesson in self.lessons.items()
            if lesson.own
        }

    @cached_property
    def _wanted(self) -> frozenset[str]:
        return frozenset().union(*(lesson.exercises | lesson.names for lesson in self.lessons.values()))

    def guess(self, path: Path) -> Guess:
        """The lesson of the file at ``path``."""
        names: set[str] = set()
        lines: set[str] = set()
        defined: dict[str, set[str]] = {name: set() for name in self.lessons}
        for text in _texts(path):
            names |= self._wanted & set(_NAME.findall(text))
            for one in (text, html.unescape(text)) if "&quot;" in text or "&#" in text else (text,):
                found = _lines(one)
                lines |= {line for line in found if any(line in lesson.lines for lesson in self.lessons.values())}
                for name, pattern in self._defined.items():
                    defined[name] |= set(pattern.findall(one))
        points = {
            name: 2 * len(lesson.exercises & names)
            + len(lesson.names & names)
            + 2 * len(lesson.lines & lines)
            + 4 * len(defined[name])
            for name, lesson in self.lessons.items()
        }
        if not lines and not any(defined.values()) and not looks_like_a_notebook(path):
            # A text that speaks of exercises, such as a readme: it answers none of them.
            return Guess()
        best = max(points, key=lambda name: points[name])
        rest = [name for name, value in points.items() if name != best and value >= max(_ENOUGH, points[best] / 4)]
        if points[best] < _ENOUGH or any(points[name] * 2 > points[best] for name in rest):
            return Guess(others=tuple(sorted([*rest, best])) if rest else ())
        return Guess(best, tuple(rest), self._untouched(best, path))

    def _untouched(self, name: str, path: Path) -> bool:
        stubs = self.lessons[name].stubs
        if not stubs or path.stat().st_size > _PARSED:
            return False
        try:
            cells = json.loads(path.read_bytes())["cells"]
            given = {text_of(cell).strip() for cell in cells if isinstance(cell, dict)}
        except (ValueError, TypeError, KeyError, RecursionError, MemoryError):
            return False
        # Work may stand in a written answer, or in a cell of the learner's own.
        return all(stub.strip() in given for stub in stubs.values()) and given - {""} <= self.lessons[name].texts


def _marks(path: Path) -> list[tuple[dict[str, Any], str]]:
    """Every cell, and its text."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [(cell, text_of(cell)) for cell in cells]


def _given(marked: list[tuple[dict[str, Any], str]]) -> set[str]:
    """The functions and classes that the TODO cells ask for."""
    return {
        name
        for cell, text in marked
        if grading_of(cell).get("solution")
        for name in _ASKED.findall(text)
        if len(name) > 5
    }


def _code(head: bytes) -> str:
    """The encoding of a text, by its mark, or as UTF-16 if every other byte is zero; else UTF-8."""
    if head.startswith((b"\xff\xfe\0\0", b"\0\0\xfe\xff")):
        return "utf-32"
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    some = head[:400]
    if some[1::2].count(0) > len(some) / 3:
        return "utf-16-le"
    return "utf-16-be" if some[::2].count(0) > len(some) / 3 else "utf-8-sig"


def _texts(path: Path) -> Iterator[str]:
    """A file's text in pieces that overlap, JSON's escapes undone, without pictures and other long runs."""
    with path.open("rb") as file:
        head = file.read(_PIECE)
        decoder = codecs.getincrementaldecoder(_code(head))(errors="replace")
        kept = ""
        left = _MOST
        while head and left > 0:
            text = kept + _LONG.sub(" ", decoder.decode(head))
            kept = text[-_OVERLAP:]
            left -= len(text)
            yield _plain(text)
            head = file.read(_PIECE)


def _plain(text: str) -> str:
    if "\\u" in text:
        text = _UNICODE.sub(lambda found: chr(int(found[1], 16)), text)
    return _ESCAPED.sub("\n", text).replace('\\"', '"')


def looks_like_a_notebook(path: Path) -> bool:
    """Whether the file begins like a notebook: JSON with cells, whole or cut off."""
    text = next(_texts(path), "").lstrip()
    return text.startswith("{") and ('"cells"' in text or '"cell_type"' in text or '"nbformat"' in text)


def _lines(text: str) -> set[str]:
    """The lines that are long enough to be of one lesson only, without JSON's quotes and a script's comment marks."""
    return {line for line in (_EDGES.sub("", one) for one in text.splitlines()) if 24 <= len(line) <= 400}
