"""Who belongs to the class: ``roster.csv`` in the course's folder, a table that people can read and change."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from nbproof.collect.roster import SEPARATOR, Member, Roster, read_names
from nbproof.errors import UsageError
from nbproof.files import replace_file

__all__ = ["ROSTER", "enrol", "is_class_known", "kept_roster", "members_of", "strike_off"]

ROSTER = "roster.csv"
_COLUMNS = ("learner", "name", "email", "also")


def kept_roster(root: Path) -> Roster | None:
    """The roster that is kept, which names whom it knows and leaves others alone. Raises UsageError if it is broken."""
    path = root / ROSTER
    if not path.is_file() or len(path.read_bytes().split(b"\n", 1)[-1].strip()) == 0:
        return None
    return replace(read_names(path), strict=False)


def members_of(root: Path) -> tuple[Member, ...]:
    """Everybody on the roster that is kept. Raises UsageError if it is broken."""
    roster = kept_roster(root)
    return roster.members if roster is not None else ()


def is_class_known(root: Path) -> bool:
    """Whether a real class has left anything here: then no class is made up."""
    return (root / ROSTER).exists() or any(root.glob("collected/*/list.json"))


def enrol(root: Path, members: Iterable[Member]) -> list[str]:
    """Put learners on the roster, or what is new of them; returns those who are new. Raises UsageError."""
    kept = {member.learner: member for member in members_of(root)}
    added = []
    for one in members:
        before = kept.get(one.learner)
        if before is None:
            added.append(one.learner)
            kept[one.learner] = one
            continue
        also = tuple(dict.fromkeys((*before.also, *one.also)))
        kept[one.learner] = replace(before, name=one.name or before.name, email=one.email or before.email, also=also)
    _write(root, list(kept.values()))
    return added


def strike_off(root: Path, learners: Iterable[str]) -> None:
    """Take learners off the roster. Raises UsageError."""
    gone = set(learners)
    before = members_of(root)
    if any(member.learner in gone for member in before):
        _write(root, [member for member in before if member.learner not in gone])


def _write(root: Path, members: Sequence[Member]) -> None:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for one in members:
        also = f" {SEPARATOR} ".join(part.replace(SEPARATOR, " ") for part in one.also)
        writer.writerow([one.learner, one.name, one.email, also])
    path = root / ROSTER
    data = text.getvalue().encode("utf-8", "backslashreplace")
    try:
        if path.is_file() and path.read_bytes() == data:
            return
        replace_file(path, data)
    except OSError as error:
        raise UsageError(
            f"the roster cannot be written: {error.strerror}",
            str(path.absolute()),
            "free some space, or let your user write there",
        ) from None
