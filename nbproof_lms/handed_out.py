"""Pages that lie in handback/ to be uploaded: whose they are, and how a learner's go when the learner is removed."""

from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Collection, Iterator
from pathlib import Path

from nbproof.errors import UsageError
from nbproof.files import replace_file, written_whole
from nbproof_lms.csv_table import read_sheet, unquoted
from nbproof_lms.earlier import lists_in

__all__ = ["pages_of", "take_out_pages"]

Account = tuple[str, str, str]
"""The target, the lesson, and the learner's number: Moodle's is another one in each assignment."""


def pages_of(root: Path, learner: str) -> list[str]:
    """The zips that hold a page of this learner's, and the record if it names the learner; relative to the course's folder."""
    own = _accounts(root, {learner})
    found = [path for path in _zips(root) if _members(path, own)]
    found += [path for path in _mailings(root) if any(row["learner"] == learner for row in _rows(path))]
    record = root / "handback" / "record.json"
    if any(one.get("learner") == learner for told in _record(record).values() for one in told):
        found.append(record)
    return [str(path.relative_to(root)) for path in found]


def take_out_pages(root: Path, learners: Collection[str]) -> None:
    """Take these learners' pages out of the zips, and the learners out of the record. Raises OSError."""
    own = _accounts(root, learners)
    for path in _zips(root):
        gone = _members(path, own)
        if not gone:
            continue
        with zipfile.ZipFile(path) as old:
            kept = [one for one in old.infolist() if one.filename not in gone]
            if kept:
                with written_whole(path) as fresh, zipfile.ZipFile(fresh, "w", zipfile.ZIP_DEFLATED) as archive:
                    for one in kept:
                        archive.writestr(one, old.read(one))
        if not kept:
            path.unlink()
    for path in _mailings(root):
        _out_of_mailing(path, learners)
    record = root / "handback" / "record.json"
    told = _record(record)
    left = {target: [one for one in lines if one.get("learner") not in learners] for target, lines in told.items()}
    if left != told:
        replace_file(record, json.dumps(left, indent=1, sort_keys=True))


def _zips(root: Path) -> Iterator[Path]:
    for target in ("moodle", "canvas"):
        yield from sorted((root / "handback").glob(f"{target}-*.zip"))


def _mailings(root: Path) -> list[Path]:
    """The folders of pages that were made for a mail merge."""
    return sorted(path.parent for path in (root / "handback").glob("mail*/mail.csv"))


def _rows(mailing: Path) -> list[dict[str, str]]:
    """What its table says of each page; nothing if somebody made another table of it."""
    try:
        sheet = read_sheet(mailing / "mail.csv", "the pages", "", least=1)
    except UsageError:
        return []
    rows = [dict(zip(sheet.head, map(unquoted, row), strict=False)) for row in sheet.rows[1:]]
    return [row for row in rows if {"learner", "file"} <= set(row)]


def _out_of_mailing(mailing: Path, learners: Collection[str]) -> None:
    """Take these learners' folders and rows away; the whole of it if nobody is left."""
    rows = _rows(mailing)
    gone = [row for row in rows if row["learner"] in learners]
    if not gone:
        return
    if len(gone) == len(rows):
        shutil.rmtree(mailing)
        return
    sheet = read_sheet(mailing / "mail.csv", "the pages", "", least=1)
    at = sheet.head.index("learner")
    replace_file(mailing / "mail.csv", sheet.text(row for row in sheet.rows if unquoted(row[at]) not in learners))
    for row in gone:
        folder = mailing / Path(row["file"]).parts[0]
        # The table may have been changed since: nothing outside goes.
        if folder.parent == mailing and folder.name not in {"", ".", ".."}:
            shutil.rmtree(folder, ignore_errors=True)


def _accounts(root: Path, learners: Collection[str]) -> set[Account]:
    facts = [fact for _, told in lists_in(root) for fact in told["files"] if fact.get("learner") in learners]
    found = set()
    for fact in facts:
        system, _, account = str(fact.get("account") or "").partition(":")
        if account:
            found.add((system.lower(), str(fact.get("lesson") or ""), account))
    return found


def _members(path: Path, own: Collection[Account]) -> list[str]:
    """Names of the pages in a zip that are addressed to one of these accounts."""
    target, _, rest = path.stem.partition("-")
    lesson = rest.rpartition("-")[0]
    found = []
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except (OSError, zipfile.BadZipFile):
        return []
    for name in names:
        parts = [part for part in name.split("_") if part != "LATE"]
        if len(parts) > 1 and (target, lesson, parts[1]) in own:
            found.append(name)
    return found


def _record(path: Path) -> dict[str, list[dict[str, str]]]:
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        return {str(target): list(lines) for target, lines in told.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}
