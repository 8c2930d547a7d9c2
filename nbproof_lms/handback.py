"""Feedback goes back to where the notebooks came from: zips that Moodle and Canvas take, or a folder for a mail merge.

``handback/record.json`` says which page went to whom, by a digest of what the page says, for each target by itself: a
second hand-back holds only what is new or has changed since. Nothing that was written is ever overwritten, because it
may not have been uploaded yet. Equal pages give equal zips.

What the file's name must begin with follows from what was collected. Both go by numbers in the name, and neither takes a
file whose numbers it does not know:

- **Moodle**, *Upload multiple feedback files in a zip* (``mod/assign/feedback/file/importziplib.php``,
  ``is_valid_filename_for_import``): a file whose name begins with ``.`` or ``~`` is passed over. Of the others, the
  name is split at its first four underscores: anything, the participant's number *in this assignment*, the type and
  the name of a plug-in that the assignment has, such as ``assignsubmission`` and ``file``, and what the feedback
  file is then called. A later file of the same name replaces the earlier one.
- **Canvas**, *Re-Upload Submissions* (``app/models/abstract_assignment.rb``, ``infer_comment_context_from_filename``):
  the name is split at every underscore, ``LATE`` is taken out, and the first two parts that are digits only are the
  user's number and that of the file handed in, which must belong to the user's latest attempt. A last part that begins
  with ``link``, a first one that is ``anon`` and a name that begins with ``._`` mean something else. The learner
  sees the file as an attachment of a comment, under the name of *the file handed in* (issue 2406 of canvas-lms).
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import zipfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from nbproof.errors import CourseError
from nbproof.feedback.page_task import page_path
from nbproof.files import replace_file, written_whole
from nbproof.report.findings import csv_of
from nbproof.report.records import ClassRecords, Person
from nbproof_lms.earlier import lists_in
from nbproof_lms.lms_names import Said, readings
from nbproof_lms.outcome import STANDS

__all__ = ["TARGETS", "Address", "HandedBack", "Parcel", "addresses", "hand_back", "other_lms"]


Address = str
"""What the name of a file begins with that the LMS is to give to a learner."""

_MOST = 80
"""Characters of a learner's name in the name of a file; no LMS reads it."""
_REFUSED = set('_/\\:*?"<>|')


def addresses(root: Path, system: str) -> dict[tuple[str, str], Address]:
    """(learner, lesson) -> address in ``Moodle`` or ``Canvas``, of everybody for whom collected/ holds one.

    What came last counts: Canvas numbers every attempt anew. A number that two learners would have is nobody's.
    """
    found: dict[tuple[str, str], tuple[tuple[Any, ...], str, Address]] = {}
    for number, (_, told) in enumerate(lists_in(root)):
        for fact in told["files"]:
            said = _said(fact)
            key = (str(fact.get("learner", "")), str(fact.get("lesson", "")))
            if said.system != system or not said.account or not all(key):
                continue
            if system == "Canvas" and not said.counters[1]:
                continue  # text typed into Canvas: nothing that a file could be given back for
            when = (number, fact.get("status") in STANDS, said.counters[1])
            if key not in found or found[key][0] <= when:
                found[key] = (when, said.account, _moodle(said) if system == "Moodle" else _canvas(said))
    taken = Counter((lesson, account) for (_, lesson), (_, account, _) in found.items())
    return {
        (learner, lesson): address
        for (learner, lesson), (_, account, address) in found.items()
        if taken[lesson, account] == 1
    }


def systems_of(root: Path) -> dict[str, set[str]]:
    """Learner -> the LMSs, such as ``Moodle`` and ``Canvas``, that their work came from, by what was collected."""
    found: dict[str, set[str]] = defaultdict(set)
    for _, told in lists_in(root):
        for fact in told["files"]:
            system, colon, _ = str(fact.get("account") or "").partition(":")
            if colon and system and fact.get("learner"):
                found[str(fact["learner"])].add(system)
    return found


def _said(fact: Mapping[str, Any]) -> Said:
    """What the LMS called the file. Whose number it is was settled when it was collected; the outermost name with it counts."""
    parts = [part for part in str(fact.get("name", "")).split("/") if part]
    # One learner's archive by itself: its own name has the number.
    upload = str(fact.get("upload", "")).rpartition("/")[2]
    places = [(part, at + 1 < len(parts)) for at, part in enumerate(parts)] + [(upload, True)]
    for part, below in places:
        for said in readings(part, below):
            if said.account and f"{said.system}:{said.account}" == fact.get("account"):
                return said
    return Said("")


def _moodle(said: Said) -> Address:
    name = _plain(said.names[0], " ") or "Participant"
    return f"{name}_{said.account}_assignsubmission_file_"


def _canvas(said: Said) -> Address:
    name = _plain(said.names[0], "")
    if not name or name.isdigit() or name == "anon":
        name = "learner"
    return f"{name}{'_LATE' if said.late else ''}_{said.account}_{said.counters[1]}_"


def _plain(name: str, between: str) -> str:
    """A name without what file systems refuse, what hides a file, and underscores, which are the LMS's."""
    kept = "".join(" " if letter in _REFUSED or not letter.isprintable() else letter for letter in name)
    return between.join(kept.split())[:_MOST].strip(" .~'-")


TARGETS = ("moodle", "canvas", "folder")


def other_lms(target: str) -> str:
    """The target that is the LMS beside this one."""
    return {"moodle": "canvas", "canvas": "moodle"}[target]


_WHEN = (2026, 1, 1, 0, 0, 0)
_VARIES = re.compile(
    r'<meta name="course-feedback" content="[^"]*">|Graded \d{1,2} \w+ \d{4}, \d\d:\d\d UTC(?:, test cases of seed \d+)?\.'
)
"""What tells when and from what a page was made, and nothing about the learner's work."""
_NAME_OF_DEVICE = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)", re.IGNORECASE)

Key = tuple[str, str]
"""(learner, lesson)."""


@dataclass(frozen=True)
class Parcel:
    """One file to upload, or one folder to mail from."""

    path: Path
    lesson: str
    """Empty if it holds several."""
    keys: tuple[Key, ...]
    size: int
    """Bytes."""


@dataclass(frozen=True)
class HandedBack:
    """What a hand-back did."""

    target: str
    parcels: tuple[Parcel, ...] = ()
    unchanged: int = 0
    """Pages that were handed back before, and say the same now."""
    unknown: tuple[Key, ...] = ()
    """Pages of which nothing says where the LMS takes them."""
    elsewhere: tuple[Key, ...] = ()
    """Pages of what came by the other LMS, which takes them."""
    without_email: tuple[str, ...] = ()
    record_lost: bool = False
    """Whether what was handed back before could not be read."""


def hand_back(
    root: Path,
    target: str,
    keys: Iterable[Key],
    records: ClassRecords,
    emails: Mapping[str, str],
    *,
    out: Path | None = None,
    force: bool = False,
    excel: bool = False,
    step: Callable[[int, int, str], None] = lambda done, of, name: None,
) -> HandedBack:
    """Write what ``target`` takes, of these pages; all of them with ``force``. Raises CourseError if it cannot be written."""
    folder = out if out is not None else root / "handback"
    record = _Record.read(root / "handback" / "record.json", target)
    known = {} if target == "folder" else addresses(root, target.capitalize())
    others = addresses(root, other_lms(target).capitalize()) if target != "folder" else {}
    pages: dict[Key, bytes] = {}
    unchanged = 0
    unknown: list[Key] = []
    elsewhere: list[Key] = []
    chosen = sorted(keys, key=lambda key: (key[1], key[0]))
    for done, key in enumerate(chosen, 1):
        path = page_path(root, *key)
        step(done, len(chosen), "/".join(key))
        if path.is_symlink() or not path.is_file():
            continue
        page = path.read_bytes()
        if target != "folder" and key not in known:
            (elsewhere if key in others else unknown).append(key)
        elif not force and record.digests.get(key) == _digest(page):
            unchanged += 1
        else:
            pages[key] = page
    parcels: list[Parcel] = []
    nobodys: tuple[str, ...] = ()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if target == "folder" and pages:
            parcels.append(_folder(folder, pages, records, emails, excel))
            record.note(pages)
            nobodys = tuple(sorted({learner for learner, _ in pages if not emails.get(learner)}))
        for lesson, mine in _by_lesson(pages).items() if target != "folder" else ():
            names = {key: f"{known[key]}{_safe(lesson)}_feedback.html" for key in mine}
            path = _free(folder, f"{target}-{_safe(lesson)}", ".zip")
            _zip(path, {names[key]: page for key, page in mine.items()})
            parcels.append(Parcel(path, lesson, tuple(mine), path.stat().st_size))
            # One by one: what is cut off here is handed back once more, and never forgotten.
            record.note(mine)
    except OSError as error:
        raise CourseError(
            f"what is to be handed back cannot be written: {error.strerror}", str(error.filename or folder),
            "choose a place: --out DIR",
        ) from None  # fmt: skip
    return HandedBack(target, tuple(parcels), unchanged, tuple(unknown), tuple(elsewhere), nobodys, record.lost)


def _by_lesson(pages: Mapping[Key, bytes]) -> dict[str, dict[Key, bytes]]:
    found: dict[str, dict[Key, bytes]] = defaultdict(dict)
    for key, page in pages.items():
        found[key[1]][key] = page
    return found


def _digest(page: bytes) -> str:
    return hashlib.sha256(_VARIES.sub("", page.decode("utf-8", "replace")).encode()).hexdigest()


@dataclass
class _Record:
    """What was handed back to one target, in a file that holds those of all."""

    path: Path
    target: str
    digests: dict[Key, str] = field(default_factory=dict)
    others: dict[str, object] = field(default_factory=dict)
    lost: bool = False

    @classmethod
    def read(cls, path: Path, target: str) -> _Record:
        found = cls(path, target)
        try:
            found.others = dict(json.loads(path.read_text(encoding="utf-8")))
            for one in found.others.get(target, []):  # type: ignore[attr-defined]
                found.digests[str(one["learner"]), str(one["lesson"])] = str(one["digest"])
        except FileNotFoundError:
            pass
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return cls(path, target, lost=True)
        return found

    def note(self, pages: Mapping[Key, bytes]) -> None:
        self.digests |= {key: _digest(page) for key, page in pages.items()}
        told = [
            {"learner": learner, "lesson": lesson, "digest": digest}
            for (learner, lesson), digest in sorted(self.digests.items())
        ]
        self.path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(self.path, json.dumps({**self.others, self.target: told}, indent=1, sort_keys=True))


def _zip(path: Path, files: Mapping[str, bytes]) -> None:
    """Write a zip whole or not at all, the same for the same files."""
    with (
        written_whole(path) as fresh,
        zipfile.ZipFile(fresh, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive,
    ):
        for name, data in sorted(files.items()):
            entry = zipfile.ZipInfo(name, _WHEN)
            entry.compress_type, entry.external_attr, entry.create_system = zipfile.ZIP_DEFLATED, 0o644 << 16, 3
            archive.writestr(entry, data)


def _folder(
    folder: Path, pages: Mapping[Key, bytes], records: ClassRecords, emails: Mapping[str, str], excel: bool
) -> Parcel:
    """Pages as ``<learner>/<lesson>.html``, and a table that mail-merge programs take, written last."""
    path = _free(folder, "mail", "")
    coming = path.with_name(f".{path.name}.new")
    people = {person.id: person for person in records.learners}
    titles = {lesson.slug: lesson.title for lesson in records.lessons}
    rows: list[Sequence[object]] = [
        ("learner", "first_name", "last_name", "email", "lesson", "title", "score", "max_score", "file", "path")
    ]
    own = _folders(learner for learner, _ in pages)
    try:
        for (learner, lesson), page in sorted(pages.items()):
            file = PurePosixPath(own[learner], f"{_safe(lesson)}.html")
            (coming / own[learner]).mkdir(parents=True, exist_ok=True)
            (coming / file).write_bytes(page)
            person, work = people.get(learner, Person(learner)), records.works.get((learner, lesson))
            scored = (work.score, work.max_score) if work and not work.problem else (None, None)
            rows.append(
                (learner, person.first_name, person.last_name, emails.get(learner, ""), lesson,
                 titles.get(lesson, lesson), *scored, str(file), str((path / file).absolute()))
            )  # fmt: skip
        replace_file(coming / "mail.csv", csv_of(rows, excel))
        os.replace(coming, path)
    finally:
        shutil.rmtree(coming, ignore_errors=True)
    return Parcel(path, "", tuple(sorted(pages)), sum(map(len, pages.values())))


def _folders(learners: Iterable[str]) -> dict[str, str]:
    """A folder for each learner, on any file system: also there where Ada and ada are the same."""
    found: dict[str, str] = {}
    taken: set[str] = set()
    for learner in sorted(set(learners)):
        stem = name = _safe(learner)
        number = 1
        while name.casefold() in taken:
            number += 1
            name = f"{stem}-{number}"
        taken.add(name.casefold())
        found[learner] = name
    return found


def _safe(name: str) -> str:
    """A name as a file may have it on any system."""
    kept = re.sub(r"[^\w.@ +-]+", "-", name).strip(" .-+@")[:100].rstrip(" .") or "learner"
    return f"_{kept}" if _NAME_OF_DEVICE.match(kept) else kept


def _free(folder: Path, stem: str, ending: str) -> Path:
    """The next number that nothing there has."""
    taken = [
        int(found[1])
        for path in folder.iterdir()
        if (found := re.fullmatch(rf"\.?{re.escape(stem)}-(\d{{1,6}})(?:\.zip)?(?:\.new)?", path.name))
    ]
    return folder / f"{stem}-{max(taken, default=0) + 1}{ending}"
