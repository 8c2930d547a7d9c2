"""Which of several copies counts: the last. Where nothing says which is the last, none does before a person has decided.

Data files go where the notebook goes that they came with.
"""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate

from nbproof.grouping import grouped
from nbproof.key import Key
from nbproof.run.hand_ins import LessonBook
from nbproof_lms.arrivals import Item, Kind, safe_name
from nbproof_lms.outcome import STANDS, Line
from nbproof_lms.placing import Desk, same_bytes

__all__ = ["attach", "choose", "later"]

_HELD = -1
"""The place, among copies that came, of the one in submitted/."""


def choose(items: Sequence[Item], desk: Desk, book: LessonBook, *, by_hand: bool) -> list[Item]:
    """What becomes of each copy of a lesson. ``by_hand``: a person named what came, if it is one, as the learner's."""
    groups: dict[Key, dict[int, Item]] = defaultdict(dict)
    for at, item in enumerate(items):
        if item.is_answer:
            groups[item.line.key][at] = item
    found = dict(enumerate(items))
    for key, copies in groups.items():
        if why := desk.why_not(*key):
            found |= {at: item.ended("not read", why) for at, item in copies.items()}
        else:
            found |= _of_one(key, copies, desk, book, by_hand)
    return [item for at, item in found.items() if at != _HELD]


def _of_one(key: Key, copies: dict[int, Item], desk: Desk, book: LessonBook, by_hand: bool) -> dict[int, Item]:
    """A learner's copies of one lesson, each with its end."""
    held = desk.held(key)
    done: dict[int, Item] = {}
    if by_hand:
        copies = {at: replace(item, line=desk.as_handed_over(item.line)) for at, item in copies.items()}
    else:
        done = {at: over for at, item in copies.items() if (over := _over(item, held, desk))}
    left = {at: item for at, item in copies.items() if at not in done}
    if held is not None:
        left[_HELD] = _held(held, desk, book)
    same, left = _distinct(left, by_hand)
    last = _last(left, by_hand)
    chosen = last[0] if len(last) == 1 else _HELD
    for at, item in left.items():
        done[at] = (
            _taken(item, held, by_hand, desk.became(item.line))
            if at == chosen
            else _left(item, left.get(chosen), held, at in last)
        )
    return done | same


def _over(item: Item, held: Line | None, desk: Desk) -> Item | None:
    """With its end, if a person has decided that it does not count."""
    lies = held.sha256 if held is not None else ""
    if lies and item.line.sha256 in desk.settled(item.line.key, lies):
        return item.ended("earlier copy", "a person chose the copy in submitted/")
    return item.ended("removed") if desk.became(item.line) == "removed" and item.line.sha256 != lies else None


def _held(line: Line, desk: Desk, book: LessonBook) -> Item:
    """What lies in submitted/, as if it came once more."""
    path = desk.notebook(line.key)
    guess = book.guess(path)
    kind = Kind.NOTEBOOK if guess.lesson == line.lesson else Kind.UNKNOWN
    return Item(path.parts, replace(line, status=""), path, kind=kind, guess=guess)


def later(one: Line, other: Line) -> bool:
    """Whether a copy is known to be the later; what says nothing about handing in decides nothing between two systems."""
    if one.time and other.time and one.time != other.time:
        return one.time > other.time
    if one.system != other.system:
        return False
    if one.number or other.number:
        return bool(other.number) and one.number > other.number
    # To two seconds, as archives and some disks note it.
    return bool(one.changed and other.changed) and one.changed // 2 > other.changed // 2


def _distinct(copies: dict[int, Item], by_hand: bool) -> tuple[dict[int, Item], dict[int, Item]]:
    """Those of the same bytes as another one, with their end; and one copy of each, the latest."""
    groups: dict[str, dict[int, Item]] = defaultdict(dict)
    for at, item in copies.items():
        groups[item.line.sha256][at] = item
    same: dict[int, Item] = {}
    left: dict[int, Item] = {}
    for group in groups.values():
        latest = min(group, key=lambda at: group[at].rank)
        for at, item in group.items():
            if item.rank == group[latest].rank and later(item.line, group[latest].line):
                latest = at
        keep = _HELD if _HELD in group else latest
        left[keep] = group[latest]
        for at in group.keys() - {keep}:
            same[at] = group[at].ended("earlier copy", "the same bytes came twice")
            if keep == _HELD:
                same[at] = group[at].ended("already there", by_hand=by_hand)
    return same, left


def _last(copies: dict[int, Item], by_hand: bool) -> list[int]:
    """The best copies, without those that another of the best is known to be later than."""
    came = [at for at in copies if at != _HELD]
    if by_hand and len(came) == 1:
        return came
    # What was handed out and came back with nothing filled in replaces no work, however late it came.
    worth = {at: (item.rank, item.guess.untouched) for at, item in copies.items()}
    able = {at: copies[at].line for at in copies if worth[at] == min(worth.values())}
    return [at for at, line in able.items() if not any(later(other, line) for other in able.values())]


def _left(item: Item, chosen: Item | None, held: Line | None, may_be_last: bool) -> Item:
    if may_be_last:
        than = "the one in submitted/, which stays" if held is not None else "another copy"
        return item.ended("waits", f"nothing says whether it came later than {than}")
    if chosen is not None and item.rank is Kind.UNKNOWN and later(item.line, chosen.line):
        why = "it came later, and cannot be read as this lesson; the copy before it counts meanwhile"
        return item.ended("waits", why)
    return item.ended("earlier copy")


def _taken(item: Item, held: Line | None, by_hand: bool, became: str) -> Item:
    """The copy that counts goes to submitted/. ``became``: what became of it when it came before."""
    away = shlex.join(["roster", "remove", item.line.learner, "--lesson", item.line.key.assignment])
    before = f" of {held.time:%Y-%m-%d %H:%M}" if held is not None and held.time else ""
    remarks = {
        f"replaces the copy{before or ' that was there'}": held is not None,
        "late": item.line.late,
        f"{item.holds}: is it damaged?": item.rank is Kind.UNKNOWN,
        "only Jupyter's own copy came": item.rank is Kind.CHECKPOINT,
        f"it was taken out of submitted/ before; `{away}` takes it out for good": (
            held is None and not by_hand and became in STANDS
        ),
        "nothing was filled in": item.guess.untouched,
    }
    why = "; ".join(remark for remark, is_so in remarks.items() if is_so)
    return item.ended("taken", why, look=item.rank is Kind.UNKNOWN, by_hand=by_hand)


_NOT_BESIDE = (
    "the notebook lies in submitted/, or another file beside it has this name: put the right one there yourself"
)
_DEEPEST = 8
"""How many folders deep a data file may lie, seen from its notebook."""


def attach(items: Sequence[Item], desk: Desk) -> list[Item]:
    """The items, with what becomes of those that have no end yet: these are data files."""
    notebooks = grouped((_from(item), item) for item in items if item.line.status in STANDS | {"waits"})
    ended = (item for item in items if item.line.status in {"earlier copy", "removed"} and item.kind is Kind.NOTEBOOK)
    earlier = {*map(_from, ended)} - notebooks.keys()
    names = defaultdict[object, dict[str, bool]](lambda: {"timestamp.txt": True})
    found = []
    for item in items:
        if not item.line.status:
            mine = notebooks[_from(item)]
            owner = _notebook_of(item, mine) if item.line.learner and item.kind is Kind.DATA else None
            if owner is not None:
                item = _beside(item, owner, names[desk.notebook(owner.line.key).parent], desk)
            elif _from(item) in earlier:
                item = item.ended("earlier copy", "so is the notebook that it came with")
            else:
                item = item.ended("no notebook") if item.line.learner else item.ended("no learner known", item.line.why)
        found.append(item)
    return found


def _from(item: Item) -> tuple[int, str]:
    """Files are one person's if they came in one upload as theirs."""
    return item.upload, item.line.learner


def _notebook_of(item: Item, mine: Sequence[Item]) -> Item | None:
    """The notebook of a data file: the one in the same folder, or in the nearest one above; else the only one that came."""
    near = [one for one in mine if item.parts[: len(one.parts) - 1] == one.parts[:-1]]
    deepest = max((len(one.parts) for one in near), default=0)
    found = [one for one in near if len(one.parts) == deepest] or mine
    waiting = [one for one in found if one.line.status == "waits"]
    if waiting or len(found) == 1:
        return (*waiting, *found)[0]
    return None


def _beside(item: Item, notebook: Item, names: dict[str, bool], desk: Desk) -> Item:
    """``names``: of what lies there already, as systems see it that know no letter case; whether each is a file."""
    line = notebook.line
    if line.status == "waits":
        return item.ended("waits", f"it came with {line.name}", lesson="")
    name = _name_beside(item, notebook)
    there = desk.notebook(line.key).parent / name
    if line.status != "taken" and same_bytes(item.path, there):
        return item.ended("data file", lesson=line.lesson)
    # No file may have the name of another, of a folder, or of a notebook.
    *around, whole = accumulate(name.casefold().split("/"), "{}/{}".format)
    # Of an assignment of several notebooks the others stay, with their data.
    in_way = "/" in line.lesson and (there.is_dir() or any(map(type(there).is_file, there.parents)))
    if line.status != "taken" or in_way or ".ipynb/" in f"{whole}/" or whole in names or any(map(names.get, around)):
        return item.ended("no notebook", _NOT_BESIDE, lesson=line.lesson)
    names |= {**dict.fromkeys(around, False), whole: True}
    return item.ended("data file", lesson=line.lesson, beside=name)


def _name_beside(item: Item, notebook: Item) -> str:
    """Where a data file goes beside its notebook: its path from the notebook's folder if it lies deeper, else its name."""
    around, parts = notebook.parts[:-1], item.parts
    inside = parts[: len(around)] == around and len(around) + 1 < len(parts)
    return "/".join(safe_name(part) for part in (parts[len(around) :] if inside else (item.called,))[-_DEEPEST:])
