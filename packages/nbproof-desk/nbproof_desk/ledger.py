"""The journal of all marks: ``.course/desk.jsonl``, one JSON a line, with time, marker, and each mark before and after.

A line is on the disk before the gradebook takes the mark. So a line may tell of a mark that never came about, because the
process was killed in between; there is no mark of the desk's without a line.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from nbproof_desk.marks import Change, Given
from nbproof_desk.questions import MarkedQuestion

__all__ = ["JOURNAL", "Entry", "Ledger"]

JOURNAL = "desk.jsonl"


@dataclass(frozen=True)
class Entry:
    """One line. ``undoes``: the id of the line that it takes back; empty if it takes back none."""

    id: str
    marker: str
    place: tuple[str, str]
    changes: tuple[Change, ...]
    undoes: str = ""


class Ledger:
    """The journal of one course, for one marker."""

    def __init__(self, root: Path, marker: str) -> None:
        self.path = root / ".course" / JOURNAL
        self.marker = marker

    def note(self, question: MarkedQuestion, changes: Sequence[Change], undoes: str = "") -> None:
        """Append a line, and have it on the disk. Raises OSError."""
        line = {
            "id": secrets.token_hex(8),
            "time": datetime.now(UTC).isoformat(timespec="seconds"),
            "marker": self.marker,
            "lesson": question.lesson,
            "question": question.name,
            "marks": [
                {"learner": one.learner, "before": one.before.as_json(), "after": one.after.as_json()}
                for one in changes
            ],
        }
        if undoes:
            line["undoes"] = undoes
        self.path.parent.mkdir(exist_ok=True)
        # One write at the end of the file: several desks may write to it at a time.
        with self.path.open("ab+", buffering=0) as file:
            data = f"{json.dumps(line)}\n".encode()
            if not _ends_whole(file):
                data = b"\n" + data
            file.write(data)
            os.fsync(file.fileno())

    def entries(self) -> Iterator[Entry]:
        """All lines, but for those that were cut off."""
        try:
            text = self.path.read_text(encoding="utf-8", errors="replace")
        except FileNotFoundError:
            return
        for line in text.splitlines():
            try:
                yield _entry(json.loads(line))
            except (ValueError, KeyError, TypeError, AttributeError):
                continue

    def to_undo(self, question: MarkedQuestion) -> Iterator[Entry]:
        """This marker's marks of a question that nobody has taken back, the last one first."""
        mine = [one for one in self.entries() if (one.marker, one.place) == (self.marker, question.place)]
        undone = {one.undoes for one in mine}
        return (one for one in reversed(mine) if not one.undoes and one.id not in undone)


def _ends_whole(file: Any) -> bool:
    """Whether a file is empty, or its last line was written to its end."""
    if file.seek(0, os.SEEK_END) == 0:
        return True
    file.seek(-1, os.SEEK_END)
    return bool(file.read(1) == b"\n")


def _entry(line: dict[str, Any]) -> Entry:
    changes = tuple(
        Change(one["learner"], Given.of_json(one["before"]), Given.of_json(one["after"])) for one in line["marks"]
    )
    return Entry(line["id"], line["marker"], (line["lesson"], line["question"]), changes, line.get("undoes", ""))
