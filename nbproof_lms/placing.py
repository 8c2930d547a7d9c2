"""Put a submission into ``submitted/<learner>/<lesson>/``: whole or not at all, and what was there is kept."""

from __future__ import annotations

import filecmp
import os
import shutil
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property, partial
from itertools import chain, count
from pathlib import Path

from nbproof.errors import UsageError, disk_trouble
from nbproof.gradebook.receipts import TIME, time_told
from nbproof.grouping import grouped
from nbproof.key import Key, notebook_of
from nbproof.places import places
from nbproof.text import counted
from nbproof_lms.outcome import STANDS, Line, broken_off, digest_in, lines_in, write_list
from nbproof_lms.system import Numbers, systems

__all__ = ["Desk", "finish", "place", "same_bytes"]


@dataclass
class Desk:
    """The course's submitted/, and what earlier lists in collected/ say of what lies there."""

    root: Path
    numbers: Numbers = field(default_factory=lambda: defaultdict(set))

    def __post_init__(self) -> None:
        self.note(self._lines)

    @cached_property
    def _lines(self) -> list[Line]:
        """All that ever came."""
        return list(lines_in(self.root))

    @cached_property
    def _of(self) -> Mapping[Key, Sequence[Line]]:
        """By learner and lesson."""
        return grouped((line.key, line) for line in self._lines)

    def note(self, lines: Iterable[Line]) -> None:
        """Keep which learner has which number, as an upload says, earlier or of this call, for the next one."""
        for line in lines:
            name, _, number = line.account.partition(":")
            system = systems().get(name)
            lasting = system is not None and system.lasting_numbers
            # Where a number is an assignment's, it says nothing of what is of none.
            if number and line.learner and (lasting or line.lesson):
                self.numbers[name, "" if lasting else line.lesson].add((line.learner, number))

    def settled(self, key: Key, digest: str) -> set[str]:
        """The copies (digests) that had come when a person chose the one with this ``digest``: the question is answered."""
        came: set[str] = set()
        settled: set[str] = set()
        for line in self._of[key]:
            if line.sha256 == digest and line.by_hand:
                settled = came - {digest}
            came.add(line.sha256)
        return settled

    def became(self, line: Line) -> str:
        """What became of these bytes when they came last, as this learner's and for this lesson; empty if they are new."""
        return next((one.status for one in reversed(self._of[line.key]) if one.sha256 == line.sha256), "")

    def as_handed_over(self, line: Line) -> Line:
        """With the time and the word late of the LMS that handed these bytes over before, as this learner's or as nobody's.

        What a run has put aside has the time of its own.
        """
        if line.time is not None and not line.system:
            return line
        told = (one for one in reversed(self._lines) if one.system and one.sha256 == line.sha256)
        same = (one for one in told if one.learner in {"", line.learner} and one.lesson in {"", line.lesson})
        before = next(same, line)
        return replace(line, time=before.time, late=before.late, said=before.said)

    def why_not(self, learner: str, lesson: str) -> str:
        """Why nothing may be put there, in words: somebody put a link or a file in the folder's place."""
        folder = places(self.root).folder("submitted", learner, lesson)
        for there in (folder.parent, folder):
            if there.is_symlink() or (there.exists() and not there.is_dir()):
                return f"{there.relative_to(self.root)} is {'a link' if there.is_symlink() else 'a file'}: remove it"
        return ""

    def held(self, key: Key) -> Line | None:
        """The notebook that lies there now, with the time that stands beside it; None if there is none."""
        digest = digest_in(self.root, *key)
        if not digest:
            return None
        path = self.notebook(key)
        time = time_told(path.with_name(TIME), places(self.root).zone)
        known = [one for one in self._of[key] if one.sha256 == digest]
        line = known[-1] if known else Line(learner=key[0], lesson=key[1], sha256=digest, changed=path.stat().st_mtime)
        return replace(line, time=line.time or time)

    def notebook(self, key: Key) -> Path:
        """Where a learner's notebook of a lesson lies, if it does."""
        return places(self.root).notebook("submitted", *key)


def place(root: Path, lines: Sequence[Line], here: Path, replaced: Path) -> None:
    """Put into submitted/ what counts of an upload. Its copies lie ``here``; what was in submitted/ moves to ``replaced``."""
    data = grouped((line.key, line) for line in lines if line.beside)
    for line in lines:
        if line.status == "taken":
            target = places(root).folder("submitted", *line.key)
            beside = _times_beside(line, lines, target, places(root).zone) if "/" in line.lesson else []
            _put(line, data[line.key], here, target, replaced / line.learner, beside)


def finish(root: Path) -> tuple[str, ...]:
    """Put into submitted/ what uploads that were cut off have not; a line for each. A caller holds the course's lock.

    Raises UsageError.
    """
    told = []
    then = "mend that, then run the same command again"
    with disk_trouble(UsageError, "an upload that broke off cannot be put into submitted/", root, then):
        for upload, left in broken_off(root):
            home = root / "collected" / upload.folder
            place(root, [*left, *(line for line in upload.lines if line.status != "taken")], home, home / "replaced")
            write_list(home, replace(upload, unfinished=False))
            told.append(
                f"{upload.upload} broke off when it was collected: {counted(len(left), 'notebook')} of it went to submitted/ now"
            )
    return tuple(told)


def _times_beside(line: Line, lines: Sequence[Line], target: Path, zone: str) -> list[datetime]:
    """When the other notebooks of its assignment came. A person who names all of them has them count as late as they were."""
    own = (one for one in lines if one.by_hand and one.key.assignment == line.key.assignment)
    named = {notebook_of(one.lesson): one.time for one in own if one.status in STANDS}
    if line.by_hand and all(named.get(path.stem) for path in target.glob("*.ipynb")):
        return [*filter(None, named.values())]
    return [*filter(None, [time_told(target / TIME, zone)])]


def _put(line: Line, data: Sequence[Line], here: Path, target: Path, replaced: Path, times: Sequence[datetime]) -> None:
    """A notebook and its data files in the place of what was there. ``times``: of the notebooks beside it."""
    fresh = target.with_name(f".{target.name}.coming")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    try:
        notebook = fresh / f"{notebook_of(line.lesson)}.ipynb"
        shutil.copyfile(here / line.kept, notebook)
        for one in data:
            (fresh / one.beside).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(here / one.kept, fresh / one.beside)
        # What was handed in is as late as the last file of it, also with the other notebooks of an assignment.
        if unread := next((one.said for one in (line, *data) if one.said), ""):
            # The run asks about a time that it cannot read.
            (fresh / TIME).write_text(unread, encoding="utf-8")
        elif own := [one.time.astimezone(UTC) for one in (line, *data) if one.time]:
            os.utime(notebook, (max(own).timestamp(),) * 2)
            (fresh / TIME).write_text(
                f"{max([*own, *times]).astimezone(UTC):%Y-%m-%d %H:%M:%S.%f} UTC", encoding="utf-8"
            )
        if "/" in line.lesson and target.is_dir():
            # Of an assignment of several notebooks the others stay as they are. Nothing is written where a link leads.
            shutil.copytree(target, fresh, symlinks=True, dirs_exist_ok=True, ignore=partial(_has_come, target, fresh))
        _swap(fresh, target, replaced)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _has_come(target: Path, fresh: Path, folder: str, names: Sequence[str]) -> set[str]:
    """Of these names in a folder of ``target``: the files and links that ``fresh`` has something in place of."""
    new = fresh / Path(folder).relative_to(target)
    there = (Path(folder, name) for name in names if (new / name).exists())
    return {path.name for path in there if path.is_symlink() or not path.is_dir()}


def _swap(fresh: Path, target: Path, replaced: Path) -> None:
    """Put ``fresh`` in the place of ``target``; what was there moves to ``replaced``."""
    if target.exists():
        replaced.mkdir(parents=True, exist_ok=True)
        names = chain([target.name], (f"{target.name}~{number}" for number in count(2)))
        aside = next(path for name in names if not (path := replaced / name).exists())
        # By another way if submitted/ lies on another disk.
        shutil.move(target, aside)
    os.rename(fresh, target)


def same_bytes(one: Path, other: Path) -> bool:
    """Whether two files hold the same."""
    return other.is_file() and not other.is_symlink() and filecmp.cmp(one, other, shallow=False)
