"""``handback/record.json``: which page went to whom, for each target by itself; and how pages go when a learner is removed."""

from __future__ import annotations

import json
import shutil
from collections.abc import Collection
from dataclasses import asdict, dataclass
from pathlib import Path

from nbproof.files import replace_file

__all__ = ["HandedOut", "pages_of", "read_record", "take_out_pages", "write_record"]


@dataclass(frozen=True)
class HandedOut:
    """A page that was handed back, perhaps several times."""

    learner: str
    lesson: str
    digest: str = ""
    """Of what it said the last time."""
    parcels: tuple[str, ...] = ()
    """The names, in handback/, of what it lay in; the last one is the last."""


Record = dict[str, list[HandedOut]]
"""By target."""
_NAME = "record.json"


def read_record(root: Path) -> Record:
    """What was handed back; nothing, if that cannot be read: then everything goes back once more."""
    try:
        told = json.loads((root / "handback" / _NAME).read_text(encoding="utf-8"))
        return {target: [_entry(**one) for one in entries] for target, entries in told.items()}
    except (OSError, ValueError, TypeError, AttributeError, RecursionError):
        return {}


def _entry(learner: str, lesson: str, digest: str = "", parcels: Collection[str] = ()) -> HandedOut:
    return HandedOut(learner, lesson, digest, tuple(Path(name).name for name in parcels))


def write_record(root: Path, record: Record) -> None:
    """Write it whole or not at all. Raises OSError."""
    told = {target: [asdict(one) for one in entries] for target, entries in record.items()}
    (root / "handback").mkdir(exist_ok=True)
    replace_file(root / "handback" / _NAME, json.dumps(told, indent=1, sort_keys=True))


def pages_of(root: Path, learners: Collection[str]) -> list[str]:
    """What lies in handback/ and holds pages of these learners; relative to the course's folder."""
    entries = [one for entries in read_record(root).values() for one in entries if one.learner in learners]
    names = dict.fromkeys(name for one in entries for name in one.parcels)
    there = [name for name in names if name and (root / "handback" / name).exists()]
    return [f"handback/{name}" for name in (*there, _NAME)] if entries else []


def take_out_pages(root: Path, learners: Collection[str]) -> None:
    """Take away what holds pages of these learners, and forget what was in it: the others' is packed again. Raises OSError."""
    gone = [root / name for name in pages_of(root, learners)]
    names = {path.name for path in gone}
    left = {}
    for target, entries in read_record(root).items():
        others = (one for one in entries if one.learner not in learners)
        left[target] = [one for one in others if names.isdisjoint(one.parcels[-1:])]
    for path in gone:
        if path.is_dir():
            shutil.rmtree(path)
        elif path.name != _NAME:
            path.unlink()
    if gone:
        write_record(root, left)
