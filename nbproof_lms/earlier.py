"""What the lists in ``collected/`` say of everything that ever came: who was late, and who handed in nothing that counts."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nbproof.text import printable
from nbproof_lms.outcome import JUNK, PLACED, STANDS

__all__ = ["Undecided", "Useless", "late_by_word", "lists_in", "undecided", "useless"]


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
        if self.status == "order unknown":
            return f"{self.file} and another copy wait for you to say which one counts"
        return f"only {self.file} came: {self.why}"


@dataclass(frozen=True)
class Undecided:
    """A learner's copies of which nothing says which is the last, while one of them lies in ``submitted/`` and is graded."""

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


def late_by_word(root: Path) -> frozenset[tuple[str, str]]:
    """(learner, lesson) of what an LMS calls late without saying when it came, and lies in ``submitted/`` now."""
    late: dict[tuple[str, str], dict[str, bool]] = {}
    for _, told in lists_in(root):
        for one in told["files"]:
            if one.get("learner") and one.get("lesson"):
                facts = late.setdefault((str(one["learner"]), str(one["lesson"])), {})
                facts[str(one.get("sha256"))] = bool(one.get("late")) and not one.get("time")
    found = set()
    for (learner, lesson), facts in late.items():
        path = root / "submitted" / learner / lesson / f"{lesson}.ipynb"
        if any(facts.values()) and not path.with_name("timestamp.txt").exists() and path.is_file():
            with path.open("rb") as file:
                if facts.get(hashlib.file_digest(file, "sha256").hexdigest()):
                    found.add((learner, lesson))
    return frozenset(found)


def useless(root: Path, handed_in: Collection[tuple[str, str]]) -> tuple[Useless, ...]:
    """The last of what learners handed in for a lesson of which ``handed_in`` (learner, lesson) has nothing from them."""
    found: dict[tuple[str, str], Useless] = {}
    there = {learner for learner, _ in handed_in}
    for _, told in lists_in(root):
        for one in told["files"]:
            learner, status = str(one.get("learner") or ""), str(one.get("status"))
            lesson = str(one.get("lesson") or told.get("handed_in_for") or "")
            if not learner or status in PLACED | JUNK or (learner, lesson) in handed_in:
                continue
            if lesson or learner not in there:
                name = str(one.get("name", "")).rsplit("/", 1)[-1][:120]
                why = f"{status}, {one['why']}" if status != "no notebook" and one.get("why") else status
                found[learner, lesson] = Useless(learner, lesson, printable(name), why[:200], status)
    return tuple(one for _, one in sorted(found.items()))


def undecided(root: Path, handed_in: Collection[tuple[str, str]]) -> tuple[Undecided, ...]:
    """Of what ``handed_in`` (learner, lesson) has: where another copy may be the last, until a person names one."""
    waiting: dict[tuple[str, str], dict[str, str]] = {}
    known: dict[tuple[str, str], dict[str, str]] = {}
    for path, told in lists_in(root):
        came = [(one, (str(one.get("learner") or ""), str(one.get("lesson") or ""))) for one in told["files"]]
        for one, key in came:
            if one.get("by_hand") and one.get("status") in STANDS:
                waiting.pop(key, None)
        for one, key in came:
            if key in handed_in and one.get("kept"):
                digest, place = str(one.get("sha256")), str((path.parent / one["kept"]).relative_to(root))
                known.setdefault(key, {})[digest] = place
                if one.get("status") == "order unknown":
                    waiting.setdefault(key, {})[digest] = place
    found = []
    for (learner, lesson), copies in sorted(waiting.items()):
        path = root / "submitted" / learner / lesson / f"{lesson}.ipynb"
        graded = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        if graded not in copies:
            first = known[learner, lesson].get(graded)
            places = [place for place in (first, *copies.values()) if place is not None]
            found.append(Undecided(learner, lesson, tuple(places)))
    return tuple(found)
