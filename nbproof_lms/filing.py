"""File after file: whose it is, of which lesson, and what becomes of it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import astuple
from datetime import datetime

from nbproof.gradebook.reader import DueDates
from nbproof.text import printable
from nbproof_lms.choosing import Choice, Copy, choose
from nbproof_lms.contents import LessonBook
from nbproof_lms.items import COUNTED, Arrived, Item, find_owners, find_times, said_of, sort
from nbproof_lms.layouts import Pattern, lesson_named
from nbproof_lms.members import Roster
from nbproof_lms.outcome import STANDS, Line
from nbproof_lms.placing import Desk, File, same_bytes

__all__ = ["File", "file_uploads"]


def file_uploads(
    arrived: Sequence[Arrived],
    book: LessonBook,
    desk: Desk,
    roster: Roster | None,
    *,
    lesson: str | None,
    pattern: Pattern | None,
    learner: str | None,
    on_time: bool,
    due: DueDates,
    step: Callable[[int, int, str], None],
) -> list[list[File]]:
    """What is to become of every piece, upload by upload, in the order in which they came."""
    lessons = list(book.lessons)
    items = [
        Item(at, piece, folder / piece.kept, said)
        for at, (name, folder, pieces) in enumerate(arrived)
        for piece, said in zip(pieces, said_of(name, pieces, lessons, book.titles, pattern), strict=True)
    ]
    for done, item in enumerate(items, 1):
        step(done, len(items), item.piece.name)
        sort(item, book)
    find_owners(items, arrived, roster, desk, pattern, learner)
    find_times(items)
    for item in items:
        _belong(item, lesson, lessons)
        _be_late(item, due)
    _choose(items, desk, book, on_time, due, by_hand=learner is not None)
    served = {(item.upload, item.owner.learner) for item in items if _stands(item)}
    for item in items:
        if item.ending[0] == "wrong lesson" and (item.upload, item.owner.learner) in served:
            item.ending = ("other lesson", f"it holds {item.guess.lesson}; {lesson} came, too")
    _attach(items, desk)
    for item in items:
        if not item.ending[0]:
            item.ending = ("no notebook", "the learner handed in no notebook with it" if item.owner.learner else "")
    told: list[list[File]] = [[] for _ in arrived]
    for item in items:
        told[item.upload].append(File(_line(item, arrived[item.upload][0]), tuple(item.data), item.beside))
    return told


def _belong(item: Item, asked: str | None, lessons: list[str]) -> None:
    """Which lesson a notebook counts for, or why for none."""
    if item.kind not in COUNTED or item.ending[0]:
        return
    named = lesson_named(item.said.lesson, lessons)
    holds, also = item.guess.lesson, item.guess.others
    if not item.owner.learner:
        item.ending = ("ambiguous learner" if item.owner.several else "no learner known", item.owner.why)
        item.lesson = holds
        return
    if holds and asked and holds != asked and asked not in also:
        item.ending, item.lesson = ("wrong lesson", f"it holds {holds}, handed in for {asked}"), ""
        return
    if asked and (holds or item.kind == "notebook"):
        item.lesson = asked
        item.look = holds != asked and asked in also
    elif holds:
        item.lesson = holds
    elif item.kind == "notebook" and named and not also:
        item.lesson = named
    elif item.kind != "data":
        several = f"it holds parts of {' and '.join(also)}" if also else "its content is of no lesson"
        item.ending = ("no lesson known", f"{several}; --lesson LESSON hands it in all the same")


def _be_late(item: Item, due: DueDates) -> None:
    until = due.of(item.owner.learner, item.lesson)
    item.late = item.time > until if item.time and until else bool(item.said.late)


def _choose(
    items: Sequence[Item], desk: Desk, book: LessonBook, on_time: bool, due: DueDates, *, by_hand: bool
) -> None:
    groups: dict[tuple[str, str], list[int]] = defaultdict(list)
    for key, item in enumerate(items):
        if item.lesson and not item.ending[0]:
            groups[item.owner.learner, item.lesson].append(key)
    for (learner, lesson), keys in groups.items():
        if why := desk.why_not(learner, lesson):
            for key in keys:
                items[key].ending = ("unreadable", why)
            continue
        held = desk.held(learner, lesson, book, due.of(learner, lesson))
        if held is not None and not by_hand:
            settled = desk.settled(learner, lesson, held[0].sha256)
            for key in keys:
                if items[key].piece.sha256 in settled:
                    items[key].ending = ("not chosen", "")
        copies = [_copy(key, items[key]) for key in keys if not items[key].ending[0]]
        if held is not None:
            copies.append(held[0])
        choice = choose(copies, on_time=on_time, by_hand=by_hand)
        for key, ending in choice.others.items():
            if key >= 0:
                items[key].ending = _dated(ending, choice, items)
                if ending == ("already there", "") and items[key].late:
                    items[key].ending = ("already there", "late")
                items[key].look = False
                items[key].by_hand = by_hand and ending[0] == "already there"
        if choice.chosen is not None and choice.chosen.key >= 0:
            item = items[choice.chosen.key]
            item.by_hand = by_hand
            _take(item, choice.chosen, choice.remark, held[1] if held else None, held is not None)


def _dated(ending: tuple[str, str], choice: Choice, items: Sequence[Item]) -> tuple[str, str]:
    """The ending of a copy that does not count, with the one that does."""
    status, why = ending
    if status in {"earlier copy", "identical copy", "late"} and choice.chosen is not None and choice.chosen.key >= 0:
        name = items[choice.chosen.key].piece.name
        why = f"{why}: {name}" if why else f"{name} counts"
    return status, why


def _take(item: Item, chosen: Copy, remark: str, before: datetime | None, replaces: bool) -> None:
    """The copy that counts goes to submitted/."""
    name = item.said.file
    plain = name == f"{item.lesson}.ipynb" or (
        item.said.system == "Canvas" and re.sub(r"-\d{1,3}\.ipynb$", ".ipynb", name) == f"{item.lesson}.ipynb"
    )
    remarks = []
    if not plain:
        remarks.append(f"it was called {name}")
    if replaces:
        remarks.append(
            f"replaces the copy of {before:%Y-%m-%d %H:%M}" if before else "replaces the copy that was there"
        )
    if item.late:
        remarks.append("late")
    if chosen.tier == 3:
        remarks.append("its content is of no lesson: is it damaged?")
        item.look = True
    if chosen.untouched:
        remarks.append("nothing was filled in")
    if chosen.tier == 2:
        remarks.append("only Jupyter's own copy came")
    if item.look and item.guess.lesson and item.guess.lesson != item.lesson:
        remarks.append(f"most of it is {item.guess.lesson}")
    if remark:
        remarks.append(remark)
        item.look = True
    item.ending = ("taken" if plain else "taken though renamed", "; ".join(remarks))


def _attach(items: Sequence[Item], desk: Desk) -> None:
    """Data files go beside the notebook that they came with."""
    for item in items:
        if item.kind not in {"data", "script"} or (item.ending[0] and item.ending[0] != "earlier copy"):
            continue
        if not item.owner.learner:
            item.ending = ("ambiguous learner" if item.owner.several else "no learner known", item.owner.why)
            continue
        mine = [one for one in items if one is not item and _stands(one) and _together(one, item)]
        near = [one for one in mine if item.piece.parts[: len(one.piece.parts) - 1] == one.piece.parts[:-1]]
        if len(near or mine) != 1:
            if mine:
                item.ending, item.look = ("no notebook", "it came with more than one notebook: of which is it?"), True
            elif any(one.ending[0] == "order unknown" and _together(one, item) for one in items):
                item.ending = ("waits", "")
            continue
        notebook = (near or mine)[0]
        depth = len(notebook.piece.parts) - 1 if near else len(item.piece.parts) - 1
        name = "/".join(
            (
                *item.piece.parts[depth:-1],
                item.said.file if depth == len(item.piece.parts) - 1 else item.piece.parts[-1],
            )
        )
        item.lesson = notebook.lesson
        if name.casefold() in {f"{notebook.lesson}.ipynb".casefold(), "timestamp.txt"} or name in dict(notebook.data):
            item.ending, item.look = ("name taken", f"another file is called {name}, too"), True
            continue
        item.ending = ("data file", f"beside {notebook.lesson}.ipynb")
        if notebook.ending[0] != "already there":
            notebook.data.append((name, item.piece.kept))
            continue
        there = desk.root / "submitted" / item.owner.learner / notebook.lesson / name
        if same_bytes(item.path, there):
            item.ending = ("already there", "")
        elif there.exists() or there.is_symlink():
            item.ending, item.look = ("name taken", f"submitted/ holds another {name}"), True
        else:
            item.beside = name


def _stands(item: Item) -> bool:
    """Whether this is a notebook that lies in submitted/, or will."""
    return item.kind in COUNTED and item.ending[0] in STANDS


def _together(one: Item, other: Item) -> bool:
    return one.upload == other.upload and one.owner.learner == other.owner.learner


def _line(item: Item, upload: str) -> Line:
    status, why = item.ending
    # A sentence may quote a file's name, which may hold what a terminal obeys.
    why = printable(why)
    account = f"{item.said.system}:{item.said.account}" if item.said.account else ""
    order = astuple(item.order)
    return Line(
        upload=upload,
        name=item.piece.name,
        status=status,
        why=why,
        learner=item.owner.learner,
        lesson=item.lesson,
        time=item.time,
        late=item.late,
        look=item.look,
        size=item.piece.size,
        sha256=item.piece.sha256,
        kept=item.piece.kept,
        order=order,
        account=account,
        system=item.said.system,
        sender=item.piece.sender,
        by_hand=item.by_hand,
    )


def _copy(key: int, item: Item) -> Copy:
    tier = 2 if item.kind == "checkpoint" else 1 if item.kind == "script" else 0
    if tier == 0 and item.guess.lesson != item.lesson:
        tier = 3
    return Copy(
        key,
        item.piece.sha256,
        item.order,
        item.late,
        tier,
        untouched=item.guess.untouched,
        system=item.said.system,
    )
