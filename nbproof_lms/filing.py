"""File after file: whose it is, of which lesson, and what becomes of it."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import astuple, dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from nbproof.text import printable
from nbproof_lms.arrivals import ArrivedPiece, is_junk, safe_name
from nbproof_lms.choosing import Choice, Copy, CopyOrder, choose
from nbproof_lms.contents import Guess, LessonBook
from nbproof_lms.members import Roster
from nbproof_lms.outcome import STANDS, Line
from nbproof_lms.placing import Desk, File, same_bytes
from nbproof_lms.system import LmsEntry, systems
from nbproof_lms.whose import FilePlace, Upload, Whose, lesson_named, owners

__all__ = ["Arrived", "file_uploads"]

Arrived = tuple[str, Path, list[ArrivedPiece]]
"""An upload's name, the folder that holds its copies, and its pieces."""

_CODE = {"notebook": 0, "script": 1, "checkpoint": 2}
"""Kinds of files that may be a learner's answer to a lesson, the best first."""
_NAME_TAKEN = "another file beside the notebook has its name: put the right one there yourself"
_DEEPEST = 8
"""Folders in which a data file may lie beside its notebook."""
_SCRIPT = re.compile(r"\.(?:py|html?|txt|json)$|^[^.]+$", re.IGNORECASE)


@dataclass
class Item:
    """One piece on its way."""

    upload: int
    piece: ArrivedPiece
    path: Path
    guess: Guess = field(default_factory=Guess)
    kind: str = "data"
    """notebook, script, checkpoint, data, or nothing that counts: other."""
    whose: Whose = field(default_factory=Whose)
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


def file_uploads(
    arrived: Sequence[Arrived],
    book: LessonBook,
    desk: Desk,
    roster: Roster | None,
    *,
    lesson: str | None,
    learner: str | None,
    step: Callable[[int, int, str], None],
) -> list[list[File]]:
    """What is to become of every piece, upload by upload, in the order in which they came."""
    told = []
    items: list[Item] = []
    for at, (name, folder, pieces) in enumerate(arrived):
        own = [Item(at, piece, folder / piece.kept) for piece in pieces]
        for done, item in enumerate(own, 1):
            step(done, len(own), item.piece.name)
            _sort(item, book)
        _find_owners(own, name, book, desk, roster, learner)
        _find_times(own)
        items += own
        told.append(own)
    for item in items:
        if item.kind in _CODE:
            _belong(item, lesson, book)
    _choose(items, desk, book, by_hand=learner is not None)
    _attach(items, desk)
    for item in items:
        if not item.ending[0]:
            item.ending = ("no notebook", "the learner handed in no notebook with it" if item.whose.learner else "")
    return [[_file(item, arrived[at][0]) for item in own] for at, own in enumerate(told)]


def _sort(item: Item, book: LessonBook) -> None:
    """What kind of file it is, and of which lesson its content is."""
    piece = item.piece
    name = piece.parts[-1].casefold()
    if is_junk(piece.parts):
        item.kind, item.ending = "other", ("junk", "")
    elif piece.problem is not None:
        item.kind, item.ending = "other", (piece.problem.status, piece.problem.why)
    elif piece.archive:
        item.kind, item.ending = "other", ("junk", "an archive: its files are listed by themselves")
    elif name.endswith("timestamp.txt"):
        item.kind, item.ending = "other", ("junk", "only what an LMS says counts as the time of handing in")
    elif ".ipynb" in name or _SCRIPT.search(re.sub(r" ?\(\d+\)$", "", name)):
        item.guess = book.guess(item.path)
        if ".ipynb" in name or (item.guess.notebook and item.guess.lesson):
            item.kind = "notebook"
        elif item.guess.lesson:
            item.kind = "script"
        if ".ipynb_checkpoints" in piece.parts or name.endswith("-checkpoint.ipynb"):
            item.kind = "checkpoint"


def _find_owners(
    items: Sequence[Item],
    name: str,
    book: LessonBook,
    desk: Desk,
    roster: Roster | None,
    learner: str | None,
) -> None:
    """Find the owner of every file of one upload. ``learner``: all of it is theirs."""
    archives = {item.piece.parts for item in items if item.piece.archive}
    upload = Upload(
        name,
        [_place(item) for item in items],
        tuple(book.lessons),
        tuple(systems().values()),
        archives,
        roster,
        desk.learners,
        desk.accounts,
    )
    for item, whose in zip(items, owners(upload), strict=True):
        if learner is not None:
            whose = Whose(learner, file=item.piece.parts[-1])
        if item.ending[0] == "junk" or not item.piece.safe:
            whose = Whose(file=item.piece.parts[-1])
        why = desk.why_not(whose.learner, "") if whose.learner else ""
        item.whose = Whose(why=why, file=whose.file) if why else whose
        if whose.made:
            item.kind, item.ending = "other", ("junk", "")


def _place(item: Item) -> FilePlace:
    lesson = item.guess.lesson if item.kind in _CODE else ""
    return FilePlace(item.piece.parts, lesson, item.piece.safe and not is_junk(item.piece.parts))


def _find_times(items: Sequence[Item]) -> None:
    """When each file of an upload was handed in, as far as its LMS says so."""
    # An archive in which all is of one moment was packed then: that is the time of a download, not of handing in.
    moments = {item.piece.time for item in items if item.piece.time and item.piece.packed}
    dating = {system.name for system in systems().values() if system.dates_entries and len(moments) > 1}
    for item in items:
        piece, entry = item.piece, item.whose.entry or LmsEntry("")
        time = piece.time if piece.packed and item.whose.system in dating else entry.when
        item.time = time if time and time <= datetime.now(UTC) + timedelta(days=366) else None
        item.late = entry.late
        item.order = CopyOrder(_seconds(item.time), entry.number, _seconds(piece.changed))


def _seconds(time: datetime | None) -> float:
    return time.timestamp() if time else 0.0


def _belong(item: Item, asked: str | None, book: LessonBook) -> None:
    """Which lesson a notebook counts for, or why for none."""
    holds, also = item.guess.lesson, item.guess.others
    if not item.whose.learner:
        item.ending, item.lesson = ("no learner known", item.whose.why), holds
        return
    if holds and asked and holds != asked:
        item.ending = ("no lesson known", f"it holds {holds}, handed in for {asked}")
        return
    named = (lesson_named(part, book.lessons) for part in (item.whose.file, *reversed(item.piece.parts[:-1])))
    item.lesson = asked or holds or next((name for name in named if name and not also), "")
    if item.lesson and (holds or item.kind == "notebook"):
        item.look = not holds
        return
    several = f"it holds parts of {' and '.join(also)}" if also else "its content is of no lesson"
    item.ending, item.lesson = ("no lesson known", f"{several}; --lesson LESSON hands it in all the same"), ""


def _choose(items: Sequence[Item], desk: Desk, book: LessonBook, *, by_hand: bool) -> None:
    groups: dict[tuple[str, str], list[int]] = defaultdict(list)
    for key, item in enumerate(items):
        if item.lesson and not item.ending[0]:
            groups[item.whose.learner, item.lesson].append(key)
    for (learner, lesson), keys in groups.items():
        if why := desk.why_not(learner, lesson):
            for key in keys:
                items[key].ending = ("not read", why)
            continue
        held = desk.held(learner, lesson, book)
        if by_hand:
            for key in keys:
                named = items[key]
                told = desk.told.get((learner, lesson, named.piece.sha256), (named.time, named.late))
                named.time, named.late = told
        elif held is not None:
            settled = desk.settled(learner, lesson, held[0].sha256)
            for key in [key for key in keys if items[key].piece.sha256 in settled]:
                items[key].ending = ("earlier copy", "a person chose the copy in submitted/")
        copies = [_copy(key, items[key]) for key in keys if not items[key].ending[0]]
        copies += [held[0]] if held is not None else []
        _end(choose(copies, by_hand=by_hand), items, held[1] if held else None, held is not None, by_hand)


def _copy(key: int, item: Item) -> Copy:
    tier = _CODE[item.kind] if item.guess.lesson == item.lesson else 3
    return Copy(key, item.piece.sha256, item.order, tier, untouched=item.guess.untouched, system=item.whose.system)


def _end(choice: Choice, items: Sequence[Item], before: datetime | None, replaces: bool, by_hand: bool) -> None:
    """Say what became of each copy."""
    chosen = items[choice.chosen.key] if choice.chosen is not None and choice.chosen.key >= 0 else None
    for key, (status, why) in choice.others.items():
        if key < 0:
            continue
        item = items[key]
        if status == "earlier copy" and not why:
            why = f"{chosen.piece.name} counts" if chosen is not None else "submitted/ holds a later one"
        item.ending = (status, "late" if status == "already there" and item.late else why)
        item.look = False
        item.by_hand = by_hand and status == "already there"
    if chosen is not None and choice.chosen is not None:
        chosen.by_hand = by_hand
        _take(chosen, choice.chosen, before, replaces)


def _take(item: Item, chosen: Copy, before: datetime | None, replaces: bool) -> None:
    """The copy that counts goes to submitted/."""
    remarks = []
    # Canvas numbers what is handed in again.
    if re.sub(r"-\d{1,3}\.ipynb$", ".ipynb", item.whose.file) != f"{item.lesson}.ipynb":
        remarks.append(f"it was called {item.whose.file}")
    if replaces:
        remarks.append(
            f"replaces the copy of {before:%Y-%m-%d %H:%M}" if before else "replaces the copy that was there"
        )
    if item.late:
        remarks.append("late")
    if chosen.tier == 3:
        remarks.append("its content is of no lesson: is it damaged?")
    if chosen.tier == 2:
        remarks.append("only Jupyter's own copy came")
    if chosen.untouched:
        remarks.append("nothing was filled in")
    item.ending = ("taken", "; ".join(remarks))


def _attach(items: Sequence[Item], desk: Desk) -> None:
    """Data files go beside the notebook that they came with."""
    notebooks: dict[tuple[int, str], list[Item]] = defaultdict(list)
    for item in items:
        if item.ending[0] in STANDS | {"waits"}:
            notebooks[item.upload, item.whose.learner].append(item)
    for item in items:
        left = {"data": {""}, "script": {"", "earlier copy"}}.get(item.kind, set())
        if item.ending[0] not in left:
            continue
        if not item.whose.learner:
            item.ending = ("no learner known", item.whose.why)
        elif owner := _notebook_of(item, notebooks[item.upload, item.whose.learner]):
            _lay_beside(item, owner, desk)


def _notebook_of(item: Item, mine: Iterable[Item]) -> Item | None:
    """The notebook in whose folder it lies; else the only one that came."""
    mine = [one for one in mine if one is not item]
    near = [one for one in mine if item.piece.parts[: len(one.piece.parts) - 1] == one.piece.parts[:-1]]
    deepest = max((len(one.piece.parts) for one in near), default=0)
    found = [one for one in near if len(one.piece.parts) == deepest] or mine
    waiting = [one for one in found if one.ending[0] == "waits"]
    return (waiting or found)[0] if waiting or len(found) == 1 else None


def _lay_beside(item: Item, notebook: Item, desk: Desk) -> None:
    depth = len(notebook.piece.parts) - 1
    inside = item.piece.parts[:depth] == notebook.piece.parts[:-1] and depth + 1 < len(item.piece.parts)
    parts = item.piece.parts[depth:] if inside else (item.whose.file,)
    name = "/".join(safe_name(part) for part in parts[-_DEEPEST:])
    target = desk.root / "submitted" / notebook.whose.learner / notebook.lesson / name
    if notebook.ending[0] == "waits":
        item.ending, item.lesson = ("waits", f"it came with {notebook.piece.name}"), ""
        return
    item.lesson = notebook.lesson
    taken = [f"{notebook.lesson}.ipynb", "timestamp.txt", *(other for other, _ in notebook.data)]
    if any(_meet(name, other) for other in taken):
        item.ending = ("no notebook", _NAME_TAKEN)
    elif notebook.ending[0] == "taken":
        notebook.data.append((name, item.piece.kept))
        item.ending = ("data file", "")
    elif same_bytes(item.path, target):
        item.ending = ("data file", "")
    elif os.path.lexists(target) or any(place.is_file() for place in target.parents):
        item.ending = ("no notebook", _NAME_TAKEN)
    else:
        item.beside, item.ending = name, ("data file", "")


def _meet(one: str, other: str) -> bool:
    """Whether two names cannot lie beside each other: they are one, or one is a file where the other needs a folder."""
    mine, theirs = one.casefold().split("/"), other.casefold().split("/")
    length = min(len(mine), len(theirs))
    return mine[:length] == theirs[:length]


def _file(item: Item, upload: str) -> File:
    status, why = item.ending
    entry = item.whose.entry
    line = Line(
        upload=upload,
        name=item.piece.name,
        status=status,
        # A sentence may quote a file's name, which may hold what a terminal obeys.
        why=printable(why),
        learner=item.whose.learner,
        lesson=item.lesson,
        time=item.time,
        late=item.late,
        look=item.look,
        size=item.piece.size,
        sha256=item.piece.sha256,
        kept=item.piece.kept,
        order=astuple(item.order),
        account=f"{item.whose.system}:{entry.account}" if entry is not None and entry.account else "",
        system=item.whose.system,
        by_hand=item.by_hand,
    )
    return File(line, tuple(item.data), item.beside)
