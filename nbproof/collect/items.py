"""Every file that came, with what is known of it: kind, owner, lesson of its content, time."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from nbproof.collect.arrivals import ArrivedPiece
from nbproof.collect.choosing import CopyOrder
from nbproof.collect.contents import Guess, LessonBook, looks_like_a_notebook
from nbproof.collect.layouts import Pattern, Said, is_junk, read_place, read_time, without_copy_marks
from nbproof.collect.members import Roster
from nbproof.collect.owners import Owner, owners
from nbproof.collect.placing import Desk

__all__ = ["COUNTED", "Arrived", "Item", "find_owners", "find_times", "said_of", "sort"]

Arrived = tuple[str, Path, list[ArrivedPiece]]
"""An upload's name, the folder that holds its copies, and its pieces."""

COUNTED = {"notebook", "script", "checkpoint"}
"""Kinds of files that may be a learner's answer to a lesson."""

_SCRIPT = re.compile(r"\.(?:py|html?|md|txt|json|rst|text)$", re.IGNORECASE)


@dataclass
class Item:
    """One piece on its way."""

    upload: int
    piece: ArrivedPiece
    path: Path
    said: Said
    owner: Owner = field(default_factory=Owner)
    guess: Guess = field(default_factory=Guess)
    kind: str = ""
    """notebook, script, checkpoint, data, junk, stamp, archive, problem."""
    lesson: str = ""
    """What it counts for; empty if it counts for nothing."""
    time: datetime | None = None
    late: bool = False
    order: CopyOrder = field(default_factory=CopyOrder)
    ending: tuple[str, str] = ("", "")
    look: bool = False
    data: list[tuple[str, str]] = field(default_factory=list)
    beside: str = ""


def said_of(
    pieces: Sequence[ArrivedPiece], lessons: list[str], titles: Sequence[str], pattern: Pattern | None
) -> Iterator[Said]:
    """What place and name of each piece of an upload say."""
    archives = {piece.parts for piece in pieces if piece.archive}
    for piece in pieces:
        if pattern is not None:
            yield pattern.read(piece.parts) or Said(piece.parts[-1])
            continue
        packed = {at for at in range(len(piece.parts)) if piece.parts[: at + 1] in archives}
        yield read_place(piece.parts, lessons, titles, packed)


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
    elif "timestamp.txt" in {name, piece.parts[-1].casefold()}:
        item.kind = "stamp"
        if item.said.system == "nbgrader" and not piece.nested:
            item.ending = ("junk", "its folder's name says when the notebook was handed in")
        elif item.said.system or piece.nested or not item.said.lesson:
            item.ending = ("not believed", "")
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
    items: Sequence[Item], arrived: Sequence[Arrived], roster: Roster | None, desk: Desk, pattern: Pattern | None,
    learner: str | None = None,
) -> None:  # fmt: skip
    """Find the owner of every file, upload by upload. ``learner``: all of it is theirs."""
    for at, (name, _, _) in enumerate(arrived):
        own = [item for item in items if item.upload == at and item.kind not in {"junk", "archive"}]
        fallback = without_copy_marks(name)
        if learner is not None:
            for item in own:
                item.owner = Owner(learner) if not (why := desk.why_not(learner, "")) else Owner(why=why)
            continue
        if not any(len(item.said.names) > len(item.said.alone) for item in own) and pattern is None:
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
            if item.piece.sender and not said.system and pattern is None:
                owner = item.owner = _sent_by(item.piece.sender, roster)
            if pattern is not None and not said.names:
                item.owner = Owner(why="the pattern does not match its name")
            if item.ending[0] == "unsafe path":
                item.owner = Owner()
            why = "" if not owner.learner else desk.why_not(owner.learner, "")
            if why:
                item.owner = Owner(why=why)


def _sent_by(address: str, roster: Roster | None) -> Owner:
    """The learner whose mail it is, if the roster knows the address."""
    found = roster.who(address) if roster is not None else frozenset()
    if len(found) == 1:
        return Owner(next(iter(found)))
    return Owner(why=f"{address} sent it, and the roster has nobody with this address", several=len(found) > 1)


def find_times(items: Sequence[Item]) -> None:
    """When each file was handed in, as far as anything says so."""
    stamps: dict[tuple[int, tuple[str, ...]], datetime] = {}
    learners: dict[int, set[str]] = defaultdict(set)
    packed = {item.upload for item in items if item.piece.archive and not item.piece.nested}
    for item in items:
        if item.owner.learner:
            learners[item.upload].add(item.owner.learner)
    packers = _packers(items)
    # An archive with the work of one learner may be what that learner packed.
    own = {at for at in packed if len(learners[at]) < 2}
    for item in items:
        if item.kind == "stamp" and not item.ending[0]:
            time = read_time(_short_text(item.path))
            item.ending = ("junk", "it says when the notebook beside it was handed in")
            if item.upload in own:
                item.ending = ("not believed", "the archive may be the learner's own")
            elif time is not None:
                stamps[item.upload, item.piece.parts[:-1]] = time
    counts: dict[int, set[datetime]] = defaultdict(set)
    for item in items:
        if item.piece.time and item.piece.sure:
            counts[item.upload].add(item.piece.time)
    for item in items:
        piece, said = item.piece, item.said
        time = (None if _is_from_a_learners_archive(item, packers) else said.time) or stamps.get(
            (item.upload, piece.parts[:-1])
        )
        # Canvas packs anew for each download, and an archive in which all is of one moment was packed then: these
        # are times of a download, not of handing in.
        handed = piece.sure and said.system != "Canvas" and len(counts[item.upload]) > 1
        if time is None and handed and (said.system or item.upload not in own):
            time = piece.time
        item.time = time if time and time <= datetime.now(UTC) + timedelta(days=366) else None
        changed = said.named or piece.time
        copied = re.search(r"\((\d{1,3})\)", said.file)
        item.order = CopyOrder(
            item.time.timestamp() if item.time else 0.0,
            said.counters[0] + 1 if said.system == "Canvas" else 0,
            said.counters[1],
            changed.timestamp() if changed else 0.0,
            piece.inner_time.timestamp() if piece.inner_time else 0.0,
            int(copied[1]) if copied else 0,
        )


_Place = tuple[int, tuple[str, ...]]
"""An upload, and a path in it."""


def _packers(items: Sequence[Item]) -> dict[_Place, set[str]]:
    """Each archive within an upload, and the learners whose work is in it."""
    found: dict[_Place, set[str]] = {
        (item.upload, item.piece.parts): set() for item in items if item.piece.archive and item.piece.parts
    }
    for item in items:
        for at in range(1, len(item.piece.parts)):
            place = (item.upload, item.piece.parts[:at])
            if place in found and item.owner.learner:
                found[place].add(item.owner.learner)
    return found


def _is_from_a_learners_archive(item: Item, packers: Mapping[_Place, set[str]]) -> bool:
    """Whether the name that says the time stands inside an archive with the work of one learner, who may have chosen it."""
    if item.said.system == "pattern":
        return False
    depth = len(item.said.scope.split("/")) if item.said.scope else 0
    inside = (packers.get((item.upload, item.piece.parts[:at])) for at in range(1, depth + 1))
    return any(learners is not None and len(learners) < 2 for learners in inside)


def _short_text(path: Path) -> str:
    with path.open("rb") as file:
        return file.read(100).decode("utf-8", "replace").strip()
