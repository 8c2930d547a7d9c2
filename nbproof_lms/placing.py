"""Put a submission into ``submitted/<learner>/<lesson>/``: whole or not at all, and what was there is kept."""

from __future__ import annotations

import filecmp
import hashlib
import os
import shutil
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from nbproof.files import written_whole
from nbproof_lms.choosing import Copy, CopyOrder
from nbproof_lms.contents import LessonBook
from nbproof_lms.earlier import lists_in
from nbproof_lms.lms_names import read_time
from nbproof_lms.outcome import TAKEN, Line

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
    _facts: dict[tuple[str, str, str], dict[str, Any]] | None = field(default=None, repr=False)
    _settled: dict[tuple[str, str, str], frozenset[str]] = field(default_factory=dict, repr=False)

    @property
    def learners(self) -> list[str]:
        """Who handed in before."""
        return sorted(
            path.name for path in (self.root / "submitted").glob("*") if path.is_dir() and path.name[:1] != "."
        )

    @property
    def accounts(self) -> dict[str, str]:
        """Canvas's number of each learner, as earlier uploads said."""
        return {
            learner: str(fact["account"]).removeprefix("Canvas:")
            for (learner, _, _), fact in self._known().items()
            if str(fact.get("account", "")).startswith("Canvas:")
        }

    def _known(self) -> dict[tuple[str, str, str], dict[str, Any]]:
        if self._facts is None:
            self._facts = {}
            came: dict[tuple[str, str], set[str]] = defaultdict(set)
            for _, told in lists_in(self.root):
                for fact in told["files"]:
                    if fact.get("learner") and fact.get("lesson") and fact.get("sha256"):
                        learner, lesson, digest = fact["learner"], fact["lesson"], fact["sha256"]
                        self._facts[learner, lesson, digest] = fact
                        if fact.get("by_hand"):
                            self._settled[learner, lesson, digest] = frozenset(came[learner, lesson] - {digest})
                        came[learner, lesson].add(digest)
        return self._facts

    def settled(self, learner: str, lesson: str, digest: str) -> frozenset[str]:
        """The copies (digests) that had come when a person chose the one with this ``digest``: the question is answered."""
        self._known()
        return self._settled.get((learner, lesson, digest), frozenset())

    def why_not(self, learner: str, lesson: str) -> str:
        """Why nothing may be put there, in words: somebody made a link or a file of it."""
        for place in (self.root / "submitted" / learner, self.root / "submitted" / learner / lesson):
            if place.is_symlink() or (place.exists() and not place.is_dir()):
                return f"{place.relative_to(self.root)} is {'a link' if place.is_symlink() else 'a file'}: remove it"
        return ""

    def held(
        self, learner: str, lesson: str, book: LessonBook, until: datetime | None
    ) -> tuple[Copy, datetime | None] | None:
        """The notebook that lies there now, and when it came; None if there is none. ``until``: when it was due."""
        path = self.root / "submitted" / learner / lesson / f"{lesson}.ipynb"
        if path.is_symlink() or not path.is_file():
            return None
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        fact = self._known().get((learner, lesson, digest))
        try:
            time = read_time((path.parent / TIMESTAMP).read_text(encoding="utf-8")[:100])
        except (OSError, UnicodeDecodeError):
            time = None
        order, late = CopyOrder(said=time.timestamp() if time else 0.0, disk=path.stat().st_mtime), False
        system = ""
        if fact and len(fact.get("order") or ()) == 6:
            order, late = CopyOrder(*fact["order"]), bool(fact.get("late"))
            system = str(fact.get("system") or str(fact.get("account") or "").partition(":")[0])
        late = time > until if time and until else late
        guess = book.guess(path)
        tier = 0 if guess.lesson == lesson else 3
        return Copy(-1, digest, order, late, tier, True, guess.untouched, system), time

    def put(self, file: File, here: Path, replaced: Path) -> Line:
        """Do what the file's line says, and return the line. Only notebooks that are taken change anything."""
        line = file.line
        target = self.root / "submitted" / line.learner / line.lesson
        if not self.dry_run and file.beside:
            there = target / file.beside
            there.parent.mkdir(parents=True, exist_ok=True)
            with written_whole(there) as coming:
                shutil.copyfile(here / line.kept, coming)
        if self.dry_run or line.status not in TAKEN:
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
