"""Put a submission into ``submitted/<learner>/<lesson>/``: whole or not at all, and what was there is kept."""

from __future__ import annotations

import filecmp
import os
import shutil
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from nbproof.files import written_whole
from nbproof_lms.choosing import Copy, CopyOrder
from nbproof_lms.contents import LessonBook
from nbproof_lms.earlier import Key, digest_in, facts_in
from nbproof_lms.outcome import Line
from nbproof_lms.system import read_time

__all__ = ["Desk", "File"]

TIMESTAMP = "timestamp.txt"


@dataclass(frozen=True)
class File:
    """A file of an upload, what is to become of it, and the data files that go with it (name beside the notebook -> copy)."""

    line: Line
    data: tuple[tuple[str, str], ...] = ()
    beside: str = ""
    """Of a data file: its name beside the notebook."""


@dataclass
class Desk:
    """The course's submitted/, and what earlier lists in collected/ say of what lies there."""

    root: Path
    dry_run: bool = False

    @cached_property
    def learners(self) -> list[str]:
        """Who handed in before."""
        folders = (path for path in (self.root / "submitted").glob("*") if path.is_dir())
        return sorted(path.name for path in folders if path.name[:1] != ".")

    @cached_property
    def _facts(self) -> list[tuple[Key, str, dict[str, Any]]]:
        """(learner, lesson), digest, and what a list says, of all that ever came and is somebody's."""
        return [(key, str(fact.get("sha256")), fact) for key, fact in facts_in(self.root) if all(key)]

    @cached_property
    def accounts(self) -> dict[tuple[str, str], str]:
        """(LMS, learner) -> the LMS's number, as earlier uploads said."""
        told = ((key[0], str(fact.get("account") or "").partition(":")) for key, _, fact in self._facts)
        return {(system, learner): number for learner, (system, _, number) in told if number}

    def settled(self, learner: str, lesson: str, digest: str) -> set[str]:
        """The copies (digests) that had come when a person chose the one with this ``digest``: the question is answered."""
        came: set[str] = set()
        settled: set[str] = set()
        for key, other, fact in self._facts:
            if key == (learner, lesson):
                if other == digest and fact.get("by_hand"):
                    settled = came - {digest}
                came = came | {other}
        return settled

    @cached_property
    def told(self) -> dict[tuple[str, str, str], tuple[datetime | None, bool]]:
        """(learner, lesson, digest) -> when a copy came and whether late, as the LMS said that handed it over before."""
        return {
            (*key, digest): (read_time(str(fact.get("time"))), bool(fact.get("late")))
            for key, digest, fact in self._facts
            if fact.get("system")
        }

    def why_not(self, learner: str, lesson: str) -> str:
        """Why nothing may be put there, in words: somebody made a link or a file of it."""
        for place in (self.root / "submitted" / learner, self.root / "submitted" / learner / lesson):
            if place.is_symlink() or (place.exists() and not place.is_dir()):
                return f"{place.relative_to(self.root)} is {'a link' if place.is_symlink() else 'a file'}: remove it"
        return ""

    def held(self, learner: str, lesson: str, book: LessonBook) -> tuple[Copy, datetime | None] | None:
        """The notebook that lies there now, and when it came; None if there is none."""
        digest = digest_in(self.root, learner, lesson)
        if not digest:
            return None
        path = self.root / "submitted" / learner / lesson / f"{lesson}.ipynb"
        try:
            time = read_time((path.parent / TIMESTAMP).read_text(encoding="utf-8")[:100])
        except (OSError, UnicodeDecodeError):
            time = None
        order, system = CopyOrder(said=time.timestamp() if time else 0.0, disk=path.stat().st_mtime), ""
        for key, other, fact in self._facts:
            if key == (learner, lesson) and other == digest and len(fact.get("order") or ()) == 3:
                order, system = CopyOrder(*fact["order"]), str(fact.get("system") or "")
        guess = book.guess(path)
        return Copy(-1, digest, order, 0 if guess.lesson == lesson else 3, True, guess.untouched, system), time

    def put(self, file: File, here: Path, replaced: Path) -> Line:
        """Do what the file's line says, and return the line. Only notebooks that are taken change anything."""
        line = file.line
        target = self.root / "submitted" / line.learner / line.lesson
        if not self.dry_run and file.beside:
            there = target / file.beside
            there.parent.mkdir(parents=True, exist_ok=True)
            with written_whole(there) as coming:
                shutil.copyfile(here / line.kept, coming)
        if self.dry_run or line.status != "taken":
            return line
        fresh = target.with_name(f".{target.name}.coming")
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir(parents=True)
        try:
            notebook = fresh / f"{line.lesson}.ipynb"
            shutil.copyfile(here / line.kept, notebook)
            for beside, kept in file.data:
                (fresh / beside).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(here / kept, fresh / beside)
            if line.time is not None:
                text = line.time.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S.%f UTC")
                (fresh / TIMESTAMP).write_text(text, encoding="utf-8")
                os.utime(notebook, (line.time.timestamp(),) * 2)
            _swap(fresh, target, replaced / line.learner)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
        return line


def _swap(fresh: Path, target: Path, replaced: Path) -> None:
    """Put ``fresh`` in the place of ``target``; what was there moves to ``replaced``."""
    if target.exists():
        replaced.mkdir(parents=True, exist_ok=True)
        number, aside = 1, replaced / target.name
        while aside.exists():
            number += 1
            aside = replaced / f"{target.name}~{number}"
        try:
            os.rename(target, aside)
        except OSError:
            # submitted/ lies on another disk: copy first, then take away.
            shutil.copytree(target, aside, symlinks=True)
            shutil.rmtree(target)
    os.rename(fresh, target)


def same_bytes(one: Path, other: Path) -> bool:
    """Whether two files hold the same."""
    return other.is_file() and not other.is_symlink() and filecmp.cmp(one, other, shallow=False)
