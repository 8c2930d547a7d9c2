"""Which marks learners were last handed back, so that a page can say what was marked again since.

``.course/handed_back.json`` is written when pages go back: by ``feedback --for`` and by nbgrader's ``release_feedback``. It is
no part of a page, because nbgrader writes feedback folders anew.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from nbproof.files import digest_of, replace_file
from nbproof.gradebook.marks import Mark
from nbproof.gradebook.reader import read_marks
from nbproof.key import Key
from nbproof.places import places
from nbproof.run.journal import handed_in_of

__all__ = ["Earlier", "forget_handed_back", "note_handed_back", "note_marked_again"]


@dataclass(frozen=True)
class Earlier:
    """What was handed back of one hand-in."""

    handed_in: str
    """Digest of what was handed in: a new hand-in is not marked again, but marked."""
    marks: Mapping[str, float] = field(default_factory=dict)
    """Cell -> points on the page that was handed back last, without what still waited for a person."""
    before: Mapping[str, float] = field(default_factory=dict)
    """Points that a page says were changed; none if they never were."""
    after: Mapping[str, float] = field(default_factory=dict)
    """What they were changed to."""
    day: str = ""
    """When that was noticed."""


def note_marked_again(root: Path, marks: Mapping[Key, Mark]) -> dict[Key, Earlier]:
    """Whose marks are other ones than those that were handed back, of these; a new change is dated today."""
    before = _read(root)
    now = {
        key: _compared(before[key], _points(marks[key]))
        for key in marks.keys() & before.keys()
        if before[key].handed_in == _handed_in(root, *key)
    }
    if any(earlier != before[key] for key, earlier in now.items()):
        _write(root, {**before, **now})
    return {key: earlier for key, earlier in now.items() if earlier.before}


def _compared(earlier: Earlier, points: Mapping[str, float]) -> Earlier:
    """What a page with these points has to say."""
    now = {cell: points.get(cell, mark) for cell, mark in earlier.marks.items()}
    if now == earlier.marks:
        said = {cell: now.get(cell, mark) for cell, mark in earlier.after.items()} == earlier.after
        # Else it was changed, and changed back before the page went out.
        return earlier if said else replace(earlier, before={}, after={}, day="")
    if (earlier.before, earlier.after) == (earlier.marks, now):
        return earlier
    return replace(earlier, before=earlier.marks, after=now, day=f"{datetime.now(UTC):%Y-%m-%d}")


def note_handed_back(root: Path, keys: Iterable[Key]) -> None:
    """The pages of these go to their learners as they are now. Raises GradingError, OSError."""
    asked = list(keys)
    marks = read_marks(root, {lesson for _, lesson in asked}, {learner for learner, _ in asked})
    again, kept = note_marked_again(root, {key: marks[key] for key in asked if key in marks}), _read(root)
    for key in asked:
        if key in marks:
            handed_in = _handed_in(root, *key)
            kept[key] = replace(again.get(key, Earlier(handed_in)), handed_in=handed_in, marks=_points(marks[key]))
    _write(root, kept)


def forget_handed_back(root: Path, learners: Collection[str]) -> None:
    """Forget these learners. Raises OSError."""
    kept = _read(root)
    if any(learner in learners for learner, _ in kept):
        _write(root, {key: one for key, one in kept.items() if key[0] not in learners})


def _handed_in(root: Path, learner: str, lesson: str) -> str:
    """As the run that graded it noted it; where nbgrader did, of the file that lies there."""
    noted = handed_in_of(root, learner, lesson)
    path = places(root).notebook("submitted", learner, lesson)
    return noted or (digest_of(path.read_bytes()) if path.is_file() and not path.is_symlink() else "")


def _points(marks: Mark) -> dict[str, float]:
    return {name: cell.score for name, cell in marks.cells.items() if not cell.waits}


def _path(root: Path) -> Path:
    return root / ".course" / "handed_back.json"


def _read(root: Path) -> dict[Key, Earlier]:
    """What cannot be read is not known."""
    try:
        kept = json.loads(_path(root).read_text(encoding="utf-8"))
        return {Key(one.pop("learner"), one.pop("lesson")): Earlier(**one) for one in kept["handed_back"]}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def _write(root: Path, kept: Mapping[Key, Earlier]) -> None:
    path = _path(root)
    path.parent.mkdir(exist_ok=True)
    told = [{"learner": learner, "lesson": lesson, **asdict(one)} for (learner, lesson), one in sorted(kept.items())]
    replace_file(path, json.dumps({"handed_back": told}, indent=1))
