"""What the lists in ``collected/`` say of everything that ever came: who was late, and who handed in nothing that counts."""

from __future__ import annotations

import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nbproof.text import printable
from nbproof_lms.outcome import NEEDS_NOBODY, STANDS

__all__ = ["Key", "Undecided", "Useless", "digest_in", "facts_in", "late_by_word", "lists_in", "undecided", "useless"]

Key = tuple[str, str]
"""(learner, lesson)."""


@dataclass(frozen=True)
class Useless:
    """What somebody handed in, of which nothing could be graded. ``lesson`` is empty if nothing says for which it was."""

    learner: str
    lesson: str
    file: str
    why: str
    status: str = ""
    """One of ``outcome.STATUSES``."""

    def __str__(self) -> str:
        if self.status == "waits":
            return f"{self.file} and another copy wait for you to say which one counts"
        return f"only {self.file} came: {self.why}"


@dataclass(frozen=True)
class Undecided:
    """A learner's copies of which nothing says which is the last; one that lies in ``submitted/`` is graded meanwhile."""

    learner: str
    lesson: str
    copies: tuple[str, ...]
    """Where each is kept, relative to the course's folder; the one that is graded first, if a list knows it."""


def lists_in(root: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Every upload's list, in the order in which they came; one that cannot be read is passed over."""

    def number(path: Path) -> tuple[int, str]:
        return int(re.sub(r"\D.*", "", path.parent.name) or 0), path.parent.name

    for path in sorted((root / "collected").glob("*/list.json"), key=number):
        try:
            told = json.loads(path.read_text(encoding="utf-8"))
            yield path, {**told, "files": [one for one in told["files"] if isinstance(one, dict)]}
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            continue


def facts_in(root: Path) -> Iterator[tuple[Key, dict[str, Any]]]:
    """Every file that ever came, with whose and for which lesson it was (empty if nothing said so)."""
    for path, told in lists_in(root):
        for one in told["files"]:
            place = str((path.parent / str(one.get("kept") or "")).relative_to(root))
            key = (str(one.get("learner") or ""), str(one.get("lesson") or ""))
            yield key, {"handed_in_for": told.get("handed_in_for"), **one, "place": place}


def digest_in(root: Path, learner: str, lesson: str) -> str:
    """The digest of the notebook in ``submitted/``; empty if there is none."""
    path = root / "submitted" / learner / lesson / f"{lesson}.ipynb"
    if path.is_symlink() or not path.is_file():
        return ""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def late_by_word(root: Path) -> frozenset[Key]:
    """(learner, lesson) of what an LMS calls late without saying when it came, and lies in ``submitted/`` now."""
    late: dict[Key, dict[str, bool]] = defaultdict(dict)
    for key, one in facts_in(root):
        if all(key):
            late[key][str(one.get("sha256"))] = bool(one.get("late")) and not one.get("time")
    return frozenset(
        (learner, lesson)
        for (learner, lesson), digests in late.items()
        if any(digests.values())
        and not (root / "submitted" / learner / lesson / "timestamp.txt").exists()
        and digests.get(digest_in(root, learner, lesson))
    )


def useless(root: Path, handed_in: Collection[Key]) -> tuple[Useless, ...]:
    """The last of what learners handed in for a lesson of which ``handed_in`` (learner, lesson) has nothing from them."""
    found: dict[Key, Useless] = {}
    there = {learner for learner, _ in handed_in}
    for (learner, lesson), one in facts_in(root):
        lesson, status = lesson or str(one["handed_in_for"] or ""), str(one.get("status"))
        # Without a lesson waits what came with a notebook that waits.
        known = (learner, lesson) in handed_in or (not lesson and (learner in there or status == "waits"))
        if learner and not known and status not in NEEDS_NOBODY:
            name = str(one.get("name", "")).rsplit("/", 1)[-1][:120]
            why = f"{status}, {one['why']}" if status != "no notebook" and one.get("why") else status
            found[learner, lesson] = Useless(learner, lesson, printable(name), why[:200], status)
    return tuple(one for _, one in sorted(found.items()))


def undecided(root: Path, keys: Collection[Key]) -> tuple[Undecided, ...]:
    """Of these (learner, lesson): where a copy that is not in ``submitted/`` may be the last, until a person names one."""
    waiting: dict[Key, dict[str, str]] = defaultdict(dict)
    known: dict[Key, dict[str, str]] = defaultdict(dict)
    for key, one in facts_in(root):
        if key not in keys or not one.get("kept"):
            continue
        digest = str(one.get("sha256"))
        if one.get("by_hand") and one.get("status") in STANDS:
            waiting.pop(key, None)
        known[key][digest] = one["place"]
        if one.get("status") == "waits":
            waiting[key][digest] = one["place"]
    found = []
    for key, copies in sorted(waiting.items()):
        graded = digest_in(root, *key)
        if graded not in copies:
            first = [known[key][graded]] if graded in known[key] else []
            found.append(Undecided(*key, (*first, *copies.values())))
    return tuple(found)
