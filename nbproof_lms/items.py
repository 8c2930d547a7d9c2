"""Every file that came, with what is known of it: kind, owner, lesson of its content, time."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from nbproof_lms.arrivals import ArrivedPiece
from nbproof_lms.choosing import CopyOrder
from nbproof_lms.contents import Guess, LessonBook, looks_like_a_notebook
from nbproof_lms.layouts import Pattern, is_junk, is_nobody, lms_name, read_upload, without_copy_marks
from nbproof_lms.lms_names import Said, read_time
from nbproof_lms.members import Roster
from nbproof_lms.owners import Owner, owners
from nbproof_lms.placing import Desk

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
    by_hand: bool = False
    """A person named it as the learner's, and it lies in submitted/ now."""


def said_of(
    upload: str, pieces: Sequence[ArrivedPiece], lessons: list[str], titles: Sequence[str], pattern: Pattern | None
) -> list[Said]:
    """What place and name of each piece of an upload say. ``upload``: what the upload itself is called."""
    archives = {piece.parts for piece in pieces if piece.archive}
    if pattern is not None:
        return [pattern.read(piece.parts, archives) or Said(piece.parts[-1]) for piece in pieces]
    unsafe = {piece.parts for piece in pieces if piece.problem is not None and piece.problem.status == "unsafe path"}
    said = read_upload([piece.parts for piece in pieces], lessons, titles, archives, unsafe)
    # One learner's archive by itself, as an LMS calls it.
    whole = lms_name(upload)
    if not whole.system or is_nobody(whole.names[0], lessons):
        return said
    if any(one.system or len(one.names) > len(one.alone) for one in said):
        return [replace(one, around=whole.names[0]) for one in said]
    return [replace(one, names=whole.names, account=whole.account, system=whole.system) for one in said]


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
    items: Sequence[Item],
    arrived: Sequence[Arrived],
    roster: Roster | None,
    desk: Desk,
    pattern: Pattern | None,
    learner: str | None = None,
) -> None:
    """Find the owner of every file, upload by upload. ``learner``: all of it is theirs."""
    for at, (name, _, _) in enumerate(arrived):
        own = [item for item in items if item.upload == at and item.kind not in {"junk", "archive"}]
        fallback = without_copy_marks(name)
        if learner is not None:
            for item in own:
                item.owner = Owner(learner) if not (why := desk.why_not(learner, "")) else Owner(why=why)
            continue
        holds = [item.guess.lesson if item.kind in COUNTED else None for item in own]
        found = owners([item.said for item in own], holds, roster, desk.learners, desk.accounts, fallback)
        for item, owner in zip(own, found, strict=True):
            item.owner = owner
            if item.piece.sender and not item.said.system and pattern is None:
                item.owner = _sent_by(item, roster, desk.learners)
            if pattern is not None and not item.said.names:
                item.owner = Owner(why="the pattern does not match its name")
            if item.ending[0] == "unsafe path":
                item.owner = Owner()
            why = "" if not item.owner.learner else desk.why_not(item.owner.learner, "")
            if why:
                item.owner = Owner(why=why)


def _sent_by(item: Item, roster: Roster | None, known: Sequence[str]) -> Owner:
    """The learner whose mail it is, if the roster knows the address, and the folder that it lies in says nothing else."""
    address = item.piece.sender
    folder = item.owner if item.said.folders else Owner()
    found = roster.who(address) if roster is not None else frozenset()
    if len(found) == 1:
        sender = next(iter(found))
        if folder.several or folder.learner not in ("", sender):
            return Owner(
                why=f"{address} sent it, and it lies with what is {folder.learner or 'others'}'s", several=True
            )
        return Owner(sender)
    if folder.learner in {*known, *(roster.learners if roster is not None else ())}:
        return folder
    return Owner(why=f"{address} sent it, and the roster has nobody with this address", several=len(found) > 1)


def find_times(items: Sequence[Item]) -> None:
    """When each file was handed in, as far as anything says so."""
    stamps: dict[tuple[int, tuple[str, ...]], datetime] = {}
    learners: dict[int, set[str]] = defaultdict(set)
    packed = {item.upload for item in items if item.piece.archive and not item.piece.nested}
    for item in items:
        if item.owner.learner:
            learners[item.upload].add(item.owner.learner)
    # An archive with the work of one learner may be what that learner packed; so is what lies in a clone.
    own = {at for at in packed if len(learners[at]) < 2}
    clones = {
        (item.upload, parts[: parts.index(".git")]) for item in items if ".git" in (parts := item.piece.parts)[1:]
    }
    for item in items:
        if item.kind == "stamp" and not item.ending[0]:
            time = read_time(_short_text(item.path))
            item.ending = ("junk", "it says when the notebook beside it was handed in")
            if item.upload in own:
                item.ending = ("not believed", "the archive may be the learner's own")
            elif any((item.upload, item.piece.parts[:at]) in clones for at in range(1, len(item.piece.parts))):
                item.ending = ("not believed", "it lies in the learner's own repository")
            elif time is not None:
                stamps[item.upload, item.piece.parts[:-1]] = time
    counts: dict[int, set[datetime]] = defaultdict(set)
    for item in items:
        if item.piece.time and item.piece.sure:
            counts[item.upload].add(item.piece.time)
    for item in items:
        piece, said = item.piece, item.said
        time = said.time or stamps.get((item.upload, piece.parts[:-1]))
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


def _short_text(path: Path) -> str:
    with path.open("rb") as file:
        return file.read(100).decode("utf-8", "replace").strip()
