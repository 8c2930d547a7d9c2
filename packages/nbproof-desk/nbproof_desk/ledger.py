"""The journal of all marks: ``.course/desk.jsonl``, one JSON a line, with time, marker, and each mark before and after.

A line is on the disk before the gradebook takes the mark. So a line may tell of a mark that never came about, because the
process was killed in between; there is no mark of the desk's without a line. The rubrics stand in it, too, and which answers were
taken out of their groups: what the last line of a question says.
"""

from __future__ import annotations

import errno
import json
import os
import secrets
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from nbproof.errors import CourseError
from nbproof.key import Key
from nbproof_desk.marks import Change
from nbproof_desk.pace import Pace
from nbproof_desk.questions import MarkedQuestion
from nbproof_desk.rubric import Item, Rubric, items_of_json

__all__ = ["JOURNAL", "Acknowledged", "Apart", "Entry", "Ledger"]

JOURNAL = "desk.jsonl"


@dataclass(frozen=True)
class Apart:
    """An answer that was taken out of its group; if not ``out``, it was put back. ``says``: what the group's answers share.

    An answer that says something else since is in a group as ever.
    """

    learner: str
    says: str
    out: bool = True

    @property
    def back(self) -> Apart:
        """What takes it back."""
        return replace(self, out=not self.out)


@dataclass(frozen=True)
class Entry:
    """One line. ``undoes``: the id of the line that it takes back; empty if it takes back none."""

    id: str
    marker: str
    changes: tuple[Change, ...]
    undoes: str = ""
    rubric: tuple[Mapping[str, Item], Mapping[str, Item]] | None = None
    """The rubric's items before and after; None if they stayed."""
    apart: Apart | None = None
    time: str = ""

    @property
    def done(self) -> int:
        """1 if a group waits no more by it, -1 if one waits again."""
        return any(one.before.waits for one in self.changes) - any(one.after.waits for one in self.changes)


@dataclass(frozen=True)
class Acknowledged:
    """A line that says who has settled something, or wants to be asked again. ``how``: as the command `settle` calls it."""

    time: str
    marker: str
    how: str


@dataclass
class _Told:
    """What the journal tells of one question."""

    entries: list[Entry] = field(default_factory=list)
    items: Mapping[str, Item] = field(default_factory=dict)
    last: dict[str, Change] = field(default_factory=dict)
    apart: dict[str, str] = field(default_factory=dict)
    """Learner -> what the group shares that their answer was taken out of."""


class Ledger:
    """The journal of one course, for one marker."""

    def __init__(self, root: Path, marker: str) -> None:
        self.path = root / ".course" / JOURNAL
        self.marker = marker
        self._read_to = 0
        self._told: dict[tuple[str, str], _Told] = defaultdict(_Told)
        self._lines: list[tuple[tuple[str, str], Entry]] = []
        self._seen: dict[Key, list[Acknowledged]] = defaultdict(list)
        self._pace = Pace()

    def note(
        self,
        question: MarkedQuestion,
        changes: Sequence[Change],
        undoes: str = "",
        rubric: Sequence[Rubric] = (),
        apart: Apart | None = None,
    ) -> str:
        """Append a line, and have it on the disk. Returns its id. ``rubric``: before and after, if it changes.

        Raises CourseError if not all of it is on the disk.
        """
        line: dict[str, Any] = {
            "lesson": question.lesson,
            "question": question.name,
            "marks": [one.as_json() for one in changes],
        }
        if undoes:
            line["undoes"] = undoes
        if rubric:
            line["rubric"] = [one.as_json() for one in rubric]
        if apart is not None:
            line["apart"] = asdict(apart)
        return self._append(line)

    def note_seen(self, key: Key, how: str) -> None:
        """Append a line that says who has settled something. Raises CourseError as :meth:`note` does."""
        self._append({"lesson": key.lesson, "settled": key.learner, "how": how})

    def _append(self, told: Mapping[str, Any]) -> str:
        """Append a line with a new id, the time and the marker. Returns the id."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        line = {"id": secrets.token_hex(8), "time": now, "marker": self.marker, **told}
        with self._trouble():
            self.path.parent.mkdir(exist_ok=True)
            # One write at the end of the file: several desks may write to it at a time.
            with self.path.open("ab+", buffering=0) as file:
                data = f"{json.dumps(line)}\n".encode()
                if not _ends_whole(file):
                    data = b"\n" + data
                if file.write(data) != len(data):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                os.fsync(file.fileno())
        return str(line["id"])

    @contextmanager
    def _trouble(self) -> Iterator[None]:
        """Raise an error of the disk as one that says where the journal is."""
        try:
            yield
        except OSError as error:
            fact = f"the journal cannot be used: {error.strerror or error}"
            cure = "see that your user may write there, and that the disk has room"
            raise CourseError(fact, str(self.path), cure) from None

    def rubric(self, question: MarkedQuestion) -> Rubric:
        """The rubric of a question, as it is now."""
        told = self._of(question)
        return Rubric(told.items, told.last)

    def apart(self, question: MarkedQuestion) -> Mapping[str, str]:
        """The learners with an answer that was taken out of its group, and what that group shares."""
        return self._of(question).apart

    def is_apart(self, question: MarkedQuestion, one: Apart) -> bool:
        """Whether this answer is out of its group now."""
        return self.apart(question).get(one.learner) == one.says

    def pace(self, places: Iterable[tuple[str, str]]) -> float | None:
        """Seconds that a group of the questions at these places takes; None if nobody knows yet."""
        self._read()
        return self._pace.seconds(places)

    def to_undo(self, question: MarkedQuestion) -> Iterator[Entry]:
        """This marker's lines on a question that nobody has taken back, the last one first."""
        mine = [one for one in self._of(question).entries if one.marker == self.marker]
        undone = {one.undoes for one in mine}
        return (one for one in reversed(mine) if not one.undoes and one.id not in undone)

    def of_learner(self, learner: str) -> list[tuple[tuple[str, str], Entry, Change]]:
        """Every change of this learner's marks: place of the question, line and change, the last one first."""
        self._read()
        found = []
        for place, entry in reversed(self._lines):
            found += [(place, entry, one) for one in entry.changes if one.learner == learner]
        return found

    def seen_by(self, key: Key) -> Sequence[Acknowledged]:
        """Who has settled this, or wanted to be asked again, the first one first."""
        self._read()
        return self._seen.get(key, ())

    def _of(self, question: MarkedQuestion) -> _Told:
        self._read()
        return self._told[question.place]

    def _read(self) -> None:
        """Read what was written since, to the end of the last whole line. One that was cut off tells nothing."""
        with self._trouble():
            if not self.path.exists() or self.path.stat().st_size == self._read_to:
                return
            with self.path.open("rb") as file:
                file.seek(self._read_to)
                data = file.read()
        whole = data[: data.rfind(b"\n") + 1]
        self._read_to += len(whole)
        for line in whole.splitlines():
            try:
                self._take_in(json.loads(line))
            except (ValueError, KeyError, TypeError, AttributeError, OverflowError):
                continue

    def _take_in(self, line: Mapping[str, Any]) -> None:
        if "settled" in line:
            said = Acknowledged(line["time"], line["marker"], line["how"])
            self._seen[Key(line["settled"], line["lesson"])].append(said)
            return
        rubric = None
        if "rubric" in line:
            before, after = map(items_of_json, line["rubric"])
            rubric = before, after
        apart = Apart(**line["apart"]) if "apart" in line else None
        changes = tuple(map(Change.of_json, line["marks"]))
        entry = Entry(line["id"], line["marker"], changes, line.get("undoes", ""), rubric, apart, line["time"])
        place = line["lesson"], line["question"]
        self._lines.append((place, entry))
        told = self._told[place]
        told.entries.append(entry)
        told.last |= {one.learner: one for one in changes}
        if rubric is not None:
            told.items = rubric[1]
        if apart is not None:
            told.apart.pop(apart.learner, None)
        if apart is not None and apart.out:
            told.apart[apart.learner] = apart.says
        time = datetime.fromisoformat(line["time"]).astimezone(UTC)
        self._pace.take_in(place, entry.marker, time, entry.done)


def _ends_whole(file: Any) -> bool:
    """Whether a file is empty, or its last line was written to its end."""
    if file.seek(0, os.SEEK_END) == 0:
        return True
    file.seek(-1, os.SEEK_END)
    return bool(file.read(1) == b"\n")
