"""The road of an upload's files: what each is, whose, when it came and of which lesson; then which copy counts, and its data.

Each step takes the files and gives them with more told of each; whatever has a status has come to its end.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from enum import IntEnum
from pathlib import Path
from typing import Any

from nbproof.text import printable
from nbproof_lms.arrivals import Arrived, ArrivedPiece, is_junk
from nbproof_lms.contents import Guess, LessonBook
from nbproof_lms.members import Roster
from nbproof_lms.outcome import Line
from nbproof_lms.placing import Desk
from nbproof_lms.system import LmsEntry, systems
from nbproof_lms.whose import Upload, Whose, owners

__all__ = ["Filing", "Item", "Kind"]

_SCRIPT = re.compile(r"\.(?:py|html?|txt|json)$|^[^.]+$", re.IGNORECASE)
_FAR = timedelta(days=366)
_DOWNLOADING = timedelta(hours=1)


class Kind(IntEnum):
    """What a file may be to a lesson, the best first. Unknown: it was handed in for the lesson, and cannot be read as it."""

    NOTEBOOK = 0
    SCRIPT = 1
    CHECKPOINT = 2
    UNKNOWN = 3
    DATA = 4
    OTHER = 5


@dataclass(frozen=True)
class Item:
    """One file on its way: what it is, and what is told of it so far. ``path``: its copy. ``called``: as the learner calls it."""

    line: Line
    piece: ArrivedPiece
    path: Path
    upload: int = 0
    kind: Kind = Kind.OTHER
    guess: Guess = field(default_factory=Guess)
    called: str = ""

    def ended(self, status: str, why: str = "", **told: Any) -> Item:
        """It has come to this end. A sentence may quote a file's name, which may hold what a terminal obeys."""
        return replace(self, line=replace(self.line, status=status, why=printable(why), **told))

    @property
    def is_answer(self) -> bool:
        """Whether it may be a learner's answer to a lesson, and is still on its way."""
        return self.kind < Kind.UNKNOWN and not self.line.status

    @property
    def rank(self) -> Kind:
        """What it is to the lesson that it counts for."""
        return self.kind if self.guess.lesson == self.line.lesson else Kind.UNKNOWN


@dataclass
class Filing:
    """What is known when uploads are filed. ``lesson``, ``learner``: as a person has said of all that came."""

    book: LessonBook
    desk: Desk
    roster: Roster | None
    lesson: str = ""
    learner: str = ""

    def file(self, uploads: Sequence[Arrived]) -> list[Item]:
        """Every file, with its owner, its time and its lesson."""
        items: list[Item] = []
        for at, upload in enumerate(uploads):
            own = []
            for piece in upload.pieces:
                line = Line(piece.name, sha256=piece.sha256, kept=piece.kept, changed=piece.changed)
                item = Item(line, piece, upload.folder / piece.kept, at, called=piece.parts[-1])
                own.append(_looked_at(item, self.book))
            own = list(self._owned(own, upload.name))
            self.desk.note(replace(item.line, lesson=self.lesson or item.guess.lesson) for item in own)
            items += own
        return [_of_lesson(item, self.lesson) if item.is_answer else item for item in items]

    def _owned(self, items: Sequence[Item], name: str) -> Iterator[Item]:
        """The files of one upload with their owners, and when each was handed in, as far as its LMS says so."""
        counted = (item for item in items if item.piece.safe and not is_junk(item.piece.parts))
        upload = Upload(
            name,
            [(item.piece.parts, item.guess.lesson) for item in counted],
            tuple(self.book.lessons),
            tuple(systems().values()),
            {item.piece.parts for item in items if item.piece.archive},
            self.roster,
            self.desk.learners,
            self.desk.accounts,
            self.lesson,
        )
        # An archive in which all is of one hour was packed then: Moodle since 2022 notes when each entry was downloaded.
        times = {item.piece.time for item in items if item.piece.time is not None}
        dated = bool(times) and max(times) - min(times) > _DOWNLOADING
        found = owners(upload)
        for item in items:
            whose = found.get(item.piece.parts, Whose())
            if whose.made:
                yield item.ended("junk")
            elif item.line.status == "junk" or not item.piece.safe:
                yield item
            elif self.learner:
                yield self._told(item, Whose(self.learner, file=item.called), dated)
            else:
                yield self._told(item, whose, dated)

    def _told(self, item: Item, whose: Whose, dated: bool) -> Item:
        """``dated``: whether the times of entries may be those of handing in."""
        if why := self.desk.why_not(whose.learner, "") if whose.learner else "":
            whose = Whose(why=why, file=whose.file)
        entry = whose.entry or LmsEntry("")
        time = None if entry.unsure else entry.when
        if dated and whose.system and systems()[whose.system].dates_entries:
            time = item.piece.time
        line = replace(
            item.line,
            learner=whose.learner,
            why=item.line.why or whose.why,
            time=time if time and time <= datetime.now(UTC) + _FAR else None,
            late=entry.late,
            number=entry.number,
            account=f"{whose.system}:{entry.account}" if entry.account else "",
            system=whose.system,
        )
        return replace(item, line=line, called=whose.file)


def _looked_at(item: Item, book: LessonBook) -> Item:
    """What kind of file it is, and of which lesson its content is."""
    piece = item.piece
    name = piece.parts[-1].casefold()
    # When something was handed in says an LMS, and no timestamp.txt. The files of an archive are listed by themselves.
    if is_junk(piece.parts) or (piece.problem is None and (piece.archive or name.endswith("timestamp.txt"))):
        return item.ended("junk")
    if piece.problem is not None:
        return item.ended(piece.problem.status, piece.problem.why)
    if ".ipynb" not in name and not _SCRIPT.search(re.sub(r" ?\(\d+\)$", "", name)):
        return replace(item, kind=Kind.DATA)
    guess = book.guess(item.path)
    return replace(item, guess=guess, kind=_kind(piece.parts, name, guess))


def _kind(parts: Sequence[str], name: str, guess: Guess) -> Kind:
    if ".ipynb_checkpoints" in parts or name.endswith("-checkpoint.ipynb"):
        return Kind.CHECKPOINT
    if ".ipynb" in name or (guess.notebook and guess.lesson):
        return Kind.NOTEBOOK
    return Kind.SCRIPT if guess.lesson else Kind.DATA


def _of_lesson(item: Item, asked: str) -> Item:
    """The lesson that a notebook counts for, or why it counts for none."""
    holds, also = item.guess.lesson, item.guess.others
    if not item.line.learner:
        return item.ended("no learner known", item.line.why, lesson=holds)
    if holds and asked and holds != asked:
        return item.ended("no lesson known", f"it holds {holds}, handed in for {asked}")
    lesson = asked or holds
    if holds or (lesson and item.kind is Kind.NOTEBOOK):
        return replace(item, line=replace(item.line, lesson=lesson))
    several = f"it holds parts of {' and '.join(also)}" if also else "its content is of no lesson"
    return item.ended("no lesson known", f"{several}; --lesson LESSON hands it in all the same")
