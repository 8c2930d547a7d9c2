"""Which of several copies counts: the last. Where nothing says which is the last, none does before a person has decided.

Data files go where the notebook goes that they came with.
"""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, chain

from nbproof.grouping import grouped
from nbproof.key import Key
from nbproof.run.hand_ins import LessonBook
from nbproof_lms.arrivals import IncomingFile, Kind, safe_name
from nbproof_lms.outcome import STANDS, FileRecord
from nbproof_lms.placing import SubmittedFolder, same_bytes

__all__ = ["attach", "choose", "later"]

_HELD = -1
"""The place, among copies that came, of the one in submitted/."""


def choose(
    items: Sequence[IncomingFile], submitted: SubmittedFolder, book: LessonBook, *, by_hand: bool
) -> list[IncomingFile]:
    """The items, and each copy of a lesson with its end. ``by_hand``: a person has said that all of it is one learner's."""
    groups = grouped((item.record.key, (at, item)) for at, item in enumerate(items) if item.is_answer)
    found = dict(enumerate(items))
    for key, several in groups.items():
        copies = dict(several)
        if why := submitted.why_blocked(*key):
            found |= {at: item.ended("not read", why) for at, item in copies.items()}
        else:
            found |= _end_copies(key, copies, submitted, book, by_hand)
    return [item for at, item in found.items() if at != _HELD]


def _end_copies(
    key: Key, copies: dict[int, IncomingFile], submitted: SubmittedFolder, book: LessonBook, by_hand: bool
) -> dict[int, IncomingFile]:
    """A learner's copies of one lesson, each with its end, by their numbers among all files."""
    held = submitted.current(key)
    done: dict[int, IncomingFile] = {}
    left: dict[int, IncomingFile] = {}
    for at, item in copies.items():
        if by_hand:
            left[at] = replace(item, record=submitted.with_lms_time(item.record))
        elif (over := _decided(item, held, submitted)) is not None:
            done[at] = over
        else:
            left[at] = item
    if held is not None:
        left[_HELD] = _as_incoming(held, submitted, book)
    same, left = _distinct(left, by_hand)
    last = _last(left, by_hand)
    chosen = last[0] if len(last) == 1 else _HELD
    for at, item in left.items():
        if at == chosen:
            done[at] = _taken(item, held, by_hand, submitted.last_status(item.record))
        else:
            done[at] = _left(item, left.get(chosen), held, at in last)
    return done | same


def _decided(item: IncomingFile, held: FileRecord | None, submitted: SubmittedFolder) -> IncomingFile | None:
    """The item with its end, if a person has decided that it does not count; else None."""
    lies = held.sha256 if held is not None else ""
    if lies and item.record.sha256 in submitted.decided_against(item.record.key, lies):
        return item.ended("not chosen")
    if submitted.last_status(item.record) == "removed" and item.record.sha256 != lies:
        return item.ended("removed")
    return None


def _as_incoming(record: FileRecord, submitted: SubmittedFolder, book: LessonBook) -> IncomingFile:
    """The notebook in submitted/, as if it came once more."""
    path = submitted.notebook_path(record.key)
    guess = book.guess(path)
    kind = Kind.NOTEBOOK if guess.lesson == record.lesson else Kind.UNKNOWN
    return IncomingFile(path.parts, replace(record, status=""), path, kind=kind, guess=guess)


def later(one: FileRecord, other: FileRecord) -> bool:
    """Whether ``one`` is known to have been handed in later than ``other``.

    Two systems can be compared by times of handing in only: a number or the change of a file says nothing there.
    """
    if one.time and other.time and one.time != other.time:
        return one.time > other.time
    if one.system != other.system:
        return False
    if one.number or other.number:
        return bool(other.number) and one.number > other.number
    # To two seconds, as archives and some disks note it.
    return bool(one.changed and other.changed) and one.changed // 2 > other.changed // 2


def _distinct(
    copies: dict[int, IncomingFile], by_hand: bool
) -> tuple[dict[int, IncomingFile], dict[int, IncomingFile]]:
    """The copies that have the same bytes as another one, with their end; and one of each group of all others.

    That is the latest with these bytes. Where no other copy is later, it was there since they came first.
    """
    groups = grouped((item.record.sha256, (at, item)) for at, item in copies.items())
    same: dict[int, IncomingFile] = {}
    left: dict[int, IncomingFile] = {}
    for group in map(dict, groups.values()):
        latest = _latest(group)
        if _HELD in group:
            keep = _HELD
            left[keep] = group[latest]
        else:
            others = (copies[at] for at in copies.keys() - group.keys())
            keep = _first(group, latest, [one.record for one in others if not one.guess.untouched])
            left[keep] = group[keep]
        for at in group.keys() - {keep}:
            same[at] = group[at].ended("earlier copy", "the same bytes came twice")
            if keep == _HELD:
                same[at] = group[at].ended("already there", by_hand=by_hand)
    return same, left


def _first(group: Mapping[int, IncomingFile], latest: int, others: Collection[FileRecord]) -> int:
    """The number of the first copy of a group that no other copy came after; ``latest`` if there is none."""
    last = {at: item.record for at, item in group.items() if not _is_before_any(item.record, others)}
    for at, record in last.items():
        if not any(later(record, one) for one in last.values()):
            return at
    return latest


def _latest(group: dict[int, IncomingFile]) -> int:
    """The number of the best copy of a group, and of several equally good ones the latest, if one is known to be later."""
    latest = min(group, key=lambda at: group[at].rank)
    for at, item in group.items():
        if item.rank == group[latest].rank and later(item.record, group[latest].record):
            latest = at
    return latest


def _last(copies: dict[int, IncomingFile], by_hand: bool) -> list[int]:
    """The numbers of the best copies, without those that another of the best is known to be later than."""
    came = [at for at in copies if at != _HELD]
    if by_hand and len(came) == 1:
        return came
    # What was handed out and came back with nothing filled in replaces no work, however late it came.
    worth = {at: (item.rank, item.guess.untouched) for at, item in copies.items()}
    able = {at: copies[at].record for at in copies if worth[at] == min(worth.values())}
    return [at for at, record in able.items() if not _is_before_any(record, able.values())]


def _is_before_any(record: FileRecord, others: Iterable[FileRecord]) -> bool:
    """Whether one of the others is known to be later."""
    return any(later(other, record) for other in others)


def _left(item: IncomingFile, chosen: IncomingFile | None, held: FileRecord | None, may_be_last: bool) -> IncomingFile:
    if may_be_last:
        than = "the one in submitted/, which stays" if held is not None else "another copy"
        return item.ended("waits", f"nothing says whether it came later than {than}")
    if chosen is not None and item.rank is Kind.UNKNOWN and later(item.record, chosen.record):
        why = "it came later, and cannot be read as this lesson; the copy before it counts meanwhile"
        return item.ended("waits", why)
    return item.ended("earlier copy")


def _taken(item: IncomingFile, held: FileRecord | None, by_hand: bool, became: str) -> IncomingFile:
    """The copy that counts goes to submitted/. ``became``: what became of it when it came before."""
    away = shlex.join(["roster", "remove", item.record.learner, "--lesson", item.record.key.assignment])
    before = f" of {held.time:%Y-%m-%d %H:%M}" if held is not None and held.time else ""
    remarks = {
        f"replaces the copy{before or ' that was there'}": held is not None,
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
_OF_SEVERAL = "it may belong to any of several lessons: put it beside its notebook in submitted/ yourself"
_DEEPEST = 8
"""How many folders deep a data file may lie, seen from its notebook."""


def attach(items: Sequence[IncomingFile], submitted: SubmittedFolder) -> list[IncomingFile]:
    """All items, each with its end: those that have none yet are data files, and go where their notebook goes.

    Of two data files with one name the later one does.
    """
    notebooks = grouped((_sender(item), item) for item in items if item.record.status in STANDS | {"waits"})
    counted = {item.record.sha256 for item in chain.from_iterable(notebooks.values())}
    over = {"earlier copy", "not chosen", "removed"}
    ended = (item for item in items if item.record.status in over and item.kind is Kind.NOTEBOOK)
    earlier = grouped((_sender(item), item) for item in ended if item.record.sha256 not in counted)
    names = defaultdict[object, dict[str, bool]](lambda: {"timestamp.txt": True})
    done = dict[int, IncomingFile]()
    for at, item in sorted(enumerate(items), key=lambda one: _when(one[1].record), reverse=True):
        sender = _sender(item)
        notebook = _notebook_of(item, notebooks[sender])
        is_nearer = _depth(item, earlier[sender]) > _depth(item, notebooks[sender])
        if item.record.status:
            done[at] = item
        elif is_nearer or (earlier[sender] and not notebooks[sender]):
            done[at] = item.ended("earlier copy", "so is the notebook that it came with")
        elif notebook is not None:
            folder = submitted.notebook_path(notebook.record.key).parent
            done[at] = _beside(item, notebook, names[folder], submitted)
        elif notebooks[sender]:
            done[at] = item.ended("no notebook", _OF_SEVERAL)
        elif item.record.learner:
            done[at] = item.ended("no notebook")
        else:
            done[at] = item.ended("no learner known", item.record.why)
    return [done[at] for at in range(len(items))]


def _when(record: FileRecord) -> tuple[float, int, float]:
    """What puts a sender's files in order, as far as anything does."""
    handed_in = 0.0
    if record.time is not None:
        handed_in = record.time.timestamp()
    return handed_in, record.number, record.changed


def _depth(item: IncomingFile, mine: Iterable[IncomingFile]) -> int:
    """How deep that one of these lies which is in the same folder, or in the nearest one above; 0 if there is none."""
    return max((len(one.parts) for one in mine if item.parts[: len(one.parts) - 1] == one.parts[:-1]), default=0)


def _sender(item: IncomingFile) -> tuple[int, str]:
    """The upload and the learner: files that have both in common came from one person."""
    return item.upload, item.record.learner


def _notebook_of(item: IncomingFile, mine: Sequence[IncomingFile]) -> IncomingFile | None:
    """The notebook that a learner's data file goes with; None if it is no data file, or nothing says which notebook.

    It is the one in the same folder, or in the nearest folder above, or any of several there if they are of one assignment, which
    has one folder in submitted/; else the only one that came. One that waits comes first, then one that goes there now.
    """
    if not item.record.learner or item.kind is not Kind.DATA:
        return None
    near = [one for one in mine if item.parts[: len(one.parts) - 1] == one.parts[:-1]]
    deepest = _depth(item, mine)
    found = [one for one in near if len(one.parts) == deepest]
    assignments = {one.record.key.assignment for one in found}
    found = found or [*mine]
    waiting = [one for one in found if one.record.status == "waits"]
    taken = [one for one in found if one.record.status == "taken"]
    if waiting or len(assignments) == 1 or len(found) == 1:
        return (*waiting, *taken, *found)[0]
    return None


def _beside(
    item: IncomingFile, notebook: IncomingFile, names: dict[str, bool], submitted: SubmittedFolder
) -> IncomingFile:
    """A data file with its end, beside its notebook or not.

    ``names``: casefolded names that are in use in the notebook's folder, and whether each is a file's; it gets this one's.
    """
    record = notebook.record
    if record.status == "waits":
        return item.ended("waits", f"it came with {record.name}", lesson="")
    name = _name_beside(item, notebook)
    there = submitted.notebook_path(record.key).parent / name
    if record.status != "taken" and same_bytes(item.path, there):
        return item.ended("data file", lesson=record.lesson)
    # Of an assignment of several notebooks the others stay, with their data.
    is_in_way = "/" in record.lesson and (there.is_dir() or any(map(type(there).is_file, there.parents)))
    if record.status != "taken" or is_in_way or not _claim_name(name.casefold(), names):
        return item.ended("no notebook", _NOT_BESIDE, lesson=record.lesson)
    return item.ended("data file", lesson=record.lesson, beside=name)


def _claim_name(name: str, names: dict[str, bool]) -> bool:
    """Whether a data file may have this name: not that of another file, of a folder, or of a notebook. It is noted then."""
    *around, whole = accumulate(name.split("/"), "{}/{}".format)
    if ".ipynb/" in f"{whole}/" or whole in names or any(map(names.get, around)):
        return False
    names |= {**dict.fromkeys(around, False), whole: True}
    return True


def _name_beside(item: IncomingFile, notebook: IncomingFile) -> str:
    """The path of a data file beside its notebook: that from the notebook's folder if it lies deeper, else its name."""
    around = notebook.parts[:-1]
    inside = item.parts[len(around) :]
    if item.parts[: len(around)] != around or len(inside) < 2:
        inside = (item.called,)
    return "/".join(map(safe_name, inside[-_DEEPEST:]))
