"""Which lesson a file belongs to: by the ids of exercises in it that only one lesson has.

Nothing is parsed that could be hostile, so a truncated notebook or one that was saved as a page is recognised as well.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from nbproof.cells import grading_of, name_of, text_of
from nbproof.command import course_command
from nbproof.errors import UsageError
from nbproof.places import places

__all__ = ["Guess", "LessonBook", "known_lessons"]

_MOST = 32 << 20
"""Bytes of a file that are looked at."""
_HEAD = 1 << 20
_PARSED = 2 << 20
"""Bytes of a notebook that is parsed: JSON can take fifty times its size in memory."""
_ID = re.compile(rb"[A-Za-z0-9_-]+")
_NOTEBOOK = re.compile(rb'[\xef\xbb\xbf\xff\xfe \r\n\t]*\{.*?"(?:cells|cell_type|nbformat)"', re.DOTALL)
_MARK = re.compile(rb'"grade_id\\*":\s*\\*"([A-Za-z0-9_-]+)')


@dataclass(frozen=True)
class Guess:
    """What a file's content says. ``lesson`` is empty if it says nothing, or not clearly.

    ``others``: other lessons of which much is in it, too. ``notebook``: it begins like one: JSON with cells, whole or cut
    off. ``untouched``: each cell in it is as it was handed out.
    """

    lesson: str = ""
    others: tuple[str, ...] = ()
    notebook: bool = False
    untouched: bool = False


def known_lessons(root: Path) -> tuple[str, ...]:
    """The lessons that have an instructor's notebook. Raises UsageError if there is none."""
    here = places(root)
    if known := here.lessons():
        return tuple(known)
    put = "put what learners are handed, or the instructor's version, there; or add --course FOLDER, for another course"
    then = course_command("build") if (root / "lessons").is_dir() else put
    fact = f"{here.base('source')} holds no ASSIGNMENT/NOTEBOOK.ipynb with cells of nbgrader's"
    raise UsageError("there is nothing to grade against", fact, then)


@dataclass(frozen=True)
class LessonBook:
    """What each lesson's notebook holds that no other does."""

    root: Path

    @cached_property
    def _paths(self) -> dict[str, Path]:
        """By lesson: the released notebook, or the instructor's where there is none."""
        here = places(self.root)
        pairs = ((name, here.notebook("release", ".", name)) for name in known_lessons(self.root))
        return {name: path if path.exists() else here.source(name) for name, path in pairs}

    @cached_property
    def lessons(self) -> dict[str, frozenset[bytes]]:
        """By name: its exercises' ids. Raises UsageError if there is nothing to compare with."""
        found = {name: _ids(path) for name, path in self._paths.items()}
        all_ids = [one for ids in found.values() for one in ids]
        shared = {one for one in all_ids if all_ids.count(one) > 1}
        return {name: ids - shared for name, ids in sorted(found.items())}

    def guess(self, path: Path) -> Guess:
        """The lesson of the file at ``path``."""
        data = b""
        # Nothing of what cannot be read: grading says so.
        with contextlib.suppress(OSError), path.open("rb") as file:
            data = file.read(_MOST)
        return self.guess_of(data)

    def guess_of(self, data: bytes) -> Guess:
        """The lesson of which these bytes are."""
        data = data.replace(b"\0", b"")  # without zeros UTF-16 reads as UTF-8 does: ids are plain letters
        notebook = _NOTEBOOK.match(data[:_HEAD]) is not None
        marked = set(_MARK.findall(data))
        words = marked or set(_ID.findall(data))
        counts = {name: len(ids & words) for name, ids in self.lessons.items()}
        best = max(counts, key=lambda name: counts[name])
        # A text may speak of exercises, as a readme does, and answer none of them.
        enough = 1 if marked else max(2, len(self.lessons[best]) / 2)
        if counts[best] < enough:
            return Guess(notebook=notebook)
        others = tuple(name for name in counts if name != best and counts[name] * 2 > counts[best])
        if others:
            return Guess("", (best, *others), notebook)
        return Guess(best, (), notebook, untouched=not self.answers(data, best))

    def answers(self, data: bytes, lesson: str) -> Counter[str]:
        """What stands in the cells of a learner's notebook, and was not handed out with this lesson, and how often."""
        released = _texts(self._paths[lesson].read_bytes())
        return Counter({text: count for text, count in _texts(data).items() if text not in released})


def _texts(data: bytes) -> Counter[str]:
    """What stands in the cells of a notebook; of one that cannot be read something that stands in no other."""
    if not data.strip():
        return Counter()
    try:
        if len(data) <= _PARSED:
            return Counter(text for cell in json.loads(data)["cells"] if (text := text_of(cell).strip()))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        pass
    return Counter([hashlib.sha256(data).hexdigest()])


def _ids(path: Path) -> frozenset[bytes]:
    """The ids of what learners are to fill in; none if the notebook is damaged, which grading says."""
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    except (OSError, ValueError, KeyError):
        return frozenset()
    return frozenset(name_of(cell).encode() for cell in cells if grading_of(cell).get("solution"))
