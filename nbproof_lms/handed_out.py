"""Pages that lie in handback/ to be uploaded: how they go when a learner is removed."""

from __future__ import annotations

import json
import shutil
from collections.abc import Collection
from pathlib import Path
from typing import Any

from nbproof.files import replace_file

__all__ = ["pages_of", "take_out_pages"]


def pages_of(root: Path, learners: Collection[str]) -> list[str]:
    """What lies in handback/ and holds pages of these learners, as their record says; relative to the course's folder."""
    told = _record(root)
    mine = [one for entries in told.values() for one in entries if one.get("learner") in learners]
    names = dict.fromkeys(Path(str(name)).name for one in mine for name in one.get("parcels", ()))
    found = [f"handback/{name}" for name in names if name and (root / "handback" / name).exists()]
    return [*found, "handback/record.json"] if mine else found


def take_out_pages(root: Path, learners: Collection[str]) -> None:
    """Take away what holds pages of these learners, and forget what was in it: the others' is packed again. Raises OSError."""
    gone = pages_of(root, learners)
    told = _record(root)
    left = {target: [one for one in entries if not _goes(one, gone, learners)] for target, entries in told.items()}
    for name in gone:
        path = root / name
        if path.is_dir():
            shutil.rmtree(path)
        elif path.name != "record.json":
            path.unlink()
    if left != told:
        replace_file(root / "handback" / "record.json", json.dumps(left, indent=1, sort_keys=True))


def _goes(entry: dict[str, Any], gone: Collection[str], learners: Collection[str]) -> bool:
    parcels = entry.get("parcels") or [""]
    return entry.get("learner") in learners or f"handback/{parcels[-1]}" in gone


def _record(root: Path) -> dict[str, list[dict[str, Any]]]:
    try:
        told = json.loads((root / "handback" / "record.json").read_text(encoding="utf-8"))
        return {str(target): list(entries) for target, entries in told.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}
