"""Every file that came, with what is known of it: kind, owner, lesson of its content, time."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from course.collecting.arrivals import Piece
from course.collecting.choosing import Order
from course.collecting.contents import Guess, LessonBook, looks_like_a_notebook
from course.collecting.layouts import Pattern, Said, is_junk, read_place, read_time, without_copy_marks
from course.collecting.owners import Owner, owners
from course.collecting.placing import Desk
from course.collecting.roster import Roster

__all__ = ["COUNTED", "Arrived", "Item", "find_owners", "find_times", "said_of", "sort"]

Arrived = tuple[str, Path, list[Piece]]
"""An upload's name, the folder that holds its copies, and its pieces."""

COUNTED = {"notebook", "script", "checkpoint"}
"""Kinds of files that may be a learner's answer to a lesson."""

_SCRIPT = re.compile(r"\.(?:py|html?|md|txt|json|rst|text)$", re.IGNORECASE)


@dataclass
class Item:
    """One piece on its way."""

    upload: int
    piece: Piece
    path: Path
    said: Said
    owner: Owner = field(default_factory=Owner)
    guess: Guess = field(default_factory=Guess)
    kind: str = ""
    """notebook, script, checkpoint, data, junk, stamp, archive, problem."""
    lesson: str = ""
    """What it counts for; empty where it counts for nothing."""
    time: datetime | None = None
    late: bool = False
    order: Order = field(default_factory=Order)
    ending: tuple[str, str] = ("", "")
    look: bool = False
    data: list[tuple[str, str]] = field(default_factory=list)
    beside: str = ""


def said_of(piece: Piece, lessons: list[str], pattern: Pattern | None) -> Said:
    if pattern is not None:
        return pattern.read(piece.parts) or Said(piece.parts[-1])
    return read_place(piece.parts, lessons)


def sort(item: Item, book: LessonBook) -> None:
    """What kind of file it is, and of which lesson its content is."""
    name = item.said.file.lower()
    piece = item.piece
    if piece.problem is not None:
        item.kind, item.ending = "problem", (piece.problem.status, piece.problem.why)
        if is_junk(piece.parts):
            item.kind, item.ending = "junk", ("junk", "")
    elif is_junk(piece.parts):
        item.kind, item.ending = "junk", ("junk", "")
    elif piece.archive:
        item.kind, item.ending = "archive", ("junk", "an archive: its files are listed by themselves")
    elif piece.parts[-1] == "timestamp.txt" and not item.said.system and piece.inner_time is None:
        item.kind, item.ending = "stamp", ("junk", "it says when the notebook beside it was handed in")
    else:
        bare_name = re.sub(r"(?: ?\(\d+\)|[-_ ]copy)+$", "", name)
        noted = ".ipynb" in name
        texty = not re.search(r"\.\w{1,5}$", bare_name) or _SCRIPT.search(bare_name) is not None
        if noted or texty:
            item.guess = book.guess(item.path)
            noted = noted or (bool(item.guess.lesson) and looks_like_a_notebook(item.path))
        checkpoint = ".ipynb_checkpoints" in piece.parts or name.endswith("-checkpoint.ipynb")
        item.kind = "data"
        if noted or item.guess.lesson:
            item.kind = "checkpoint" if checkpoint else "notebook" if noted else "script"


def find_owners(
    items: Sequence[Item], arrived: Sequence[Arrived], roster: Roster | None, desk: Desk, pattern: Pattern | None
) -> None:
    """Find the owner of every file, upload by upload."""
    for at, (name, _, _) in enumerate(arrived):
        own = [item for item in items if item.upload == at and item.kind not in {"junk", "archive"}]
        fallback = without_copy_marks(name)
        if not any(item.said.names for item in own) and pattern is None:
            lifted = read_place((name, "x"), [])
            own_said = [replace(item.said, names=lifted.names, account=lifted.account, system=lifted.system) if lifted.system
                        else item.said for item in own]  # fmt: skip
        else:
            own_said = [item.said for item in own]
        holds = [item.guess.lesson if item.kind in COUNTED else None for item in own]
        for item, said, owner in zip(
            own, own_said, owners(own_said, holds, roster, desk.learners, desk.accounts, fallback), strict=True
        ):
            item.said, item.owner = said, owner
            if pattern is not None and not said.names:
                item.owner = Owner(why="the pattern does not match its name")
            if item.ending[0] == "unsafe path":
                item.owner = Owner()
            why = "" if not owner.learner else desk.why_not(owner.learner, "")
            if why:
                item.owner = Owner(why=why)


def find_times(items: Sequence[Item]) -> None:
    """When each file was handed in, as far as anything says so."""
    stamps: dict[tuple[int, tuple[str, ...]], datetime] = {}
    for item in items:
        if item.kind == "stamp" and (time := read_time(_short_text(item.path))):
            stamps[item.upload, item.piece.parts[:-1]] = time
    counts: dict[int, set[datetime]] = defaultdict(set)
    for item in items:
        if item.piece.time and item.piece.sure:
            counts[item.upload].add(item.piece.time)
    for item in items:
        piece, said = item.piece, item.said
        time = said.time or stamps.get((item.upload, piece.parts[:-1]))
        # Canvas packs anew for each download: its entries' times are those of the download.
        if time is None and piece.sure and said.system != "Canvas" and piece.time and len(counts[item.upload]) > 1:
            time = piece.time
        item.time = time if time and time <= datetime.now(UTC) + timedelta(days=366) else None
        copied = re.search(r"\((\d{1,3})\)", said.file)
        item.order = Order(
            item.time.timestamp() if item.time else 0.0,
            said.counters[0] + 1 if said.system == "Canvas" else 0,
            said.counters[1],
            piece.time.timestamp() if piece.time else 0.0,
            piece.inner_time.timestamp() if piece.inner_time else 0.0,
            int(copied[1]) if copied else 0,
        )


def _short_text(path: Path) -> str:
    with path.open("rb") as file:
        return file.read(100).decode("utf-8", "replace").strip()
