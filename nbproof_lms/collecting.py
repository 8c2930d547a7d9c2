"""Collect uploads: keep what came, tell whose and of which lesson each file is, and put the copy that counts into
submitted/."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from nbproof.errors import UsageError
from nbproof.places import places
from nbproof_lms.arrivals import Arrived, Item, Step, is_archive, take_in
from nbproof_lms.choosing import attach, choose
from nbproof_lms.contents import LessonBook
from nbproof_lms.filing import filed
from nbproof_lms.names import why_no_learner
from nbproof_lms.outcome import Collected, KeptUpload, uploads_in, write_list
from nbproof_lms.placing import Desk, place
from nbproof_lms.roster import import_roster, kept_roster

__all__ = ["collect"]


def collect(
    root: Path,
    paths: Sequence[Path | str],
    *,
    lesson: str | None = None,
    names: Path | None = None,
    learner: str | None = None,
    step: Step = lambda done, of, name: None,
) -> Collected:
    """Collect folders, archives and notebooks into ``submitted/`` of the course in ``root``.

    ``lesson``: the assignment that the upload belongs to; without it content decides. ``names``: a CSV (``roster``),
    whose learners are put on the roster that is kept, as for this upload. ``learner``: whose all of it is.
    Two at a time would judge by what the other is about to replace: a caller holds the course's lock (``only_run``).
    Raises UsageError for a wrong call and for what cannot be written; never for what a learner handed in.
    """
    book = LessonBook(root)
    asked = _uploads(root, [Path(path) for path in paths])
    if lesson is not None and lesson not in book.lessons:
        known = f"choose from: {', '.join(book.lessons)}"
        raise UsageError(f"no lesson is called {lesson!r}", str(places(root).base("release")), known)
    if learner is not None and (why := why_no_learner(learner)):
        then = "choose another id, such as --learner jdoe"
        raise UsageError(f"{learner!r} cannot be a learner's id: {why}", "--learner", then)
    told = () if names is None else import_roster(root, names).notes
    roster = kept_roster(root)
    with _disk(root), _waiting_room(root) as room:
        arrived = [take_in(one, room / str(at), step) for at, one in enumerate(asked)]
        desk = Desk(root)
        items = filed(arrived, book, desk, roster, lesson or "", learner or "")
        items = attach(choose(items, desk, book, by_hand=learner is not None), desk)
        collected = _kept(root, arrived, items, lesson or "")
    return replace(collected, notes=(*collected.notes, *told))


@contextlib.contextmanager
def _waiting_room(root: Path) -> Iterator[Path]:
    """Where uploads wait until all have come whole: nothing half-copied ever lies under its final name."""
    room = root / "collected" / ".coming"
    # What a run that was cut off left behind; nobody else is at work here.
    shutil.rmtree(room, ignore_errors=True)
    room.mkdir(parents=True)
    try:
        yield room
    finally:
        shutil.rmtree(room, ignore_errors=True)


def _kept(root: Path, arrived: Sequence[Arrived], items: Sequence[Item], asked: str) -> Collected:
    """Give the uploads their folders and lists, and put into submitted/ what counts."""
    known = {upload.fingerprint: upload.folder for upload in uploads_in(root)}
    uploads, notes = [], []
    for at, upload in enumerate(arrived):
        lines = [item.line for item in items if item.upload == at]
        changed = any(line.status == "taken" or line.beside for line in lines)
        folder, here = known.get(upload.fingerprint, ""), upload.folder
        if folder:
            notes.append(f"{upload.name}: the same upload came before, as collected/{folder}")
            notes[-1] += "" if changed else "; nothing changed"
        else:
            folder = _next_folder(root, upload.name)
            here = Path(shutil.move(upload.folder, root / "collected" / folder))
        placed = tuple(replace(one, folder=folder) for one in lines)
        kept = KeptUpload(upload.name, upload.fingerprint, folder, asked, placed)
        uploads.append(kept)
        if changed or here != upload.folder:
            # Facts first: what follows may be cut off, and a second run then knows what came.
            write_list(root, kept)
            place(root, kept.lines, here, root / "collected" / folder / "replaced")
    return Collected(tuple(uploads), tuple(notes))


def _next_folder(root: Path, name: str) -> str:
    """The name of a folder in collected/, with the next number."""
    taken = (re.match(r"\d{4,}", one.name) for one in (root / "collected").glob("*"))
    number = max((int(found[0]) for found in taken if found), default=0) + 1
    plain = re.sub(r"[^\w.-]+", "-", name).strip("-.")[:60]
    return f"{number:04d}-{plain or 'upload'}"


def _uploads(root: Path, paths: Sequence[Path]) -> list[list[Path]]:
    """What is collected together: each folder and archive by itself, loose files as one upload. Raises UsageError."""
    own = {path.resolve() for path in (*places(root).private, root / "demo")}
    for path in paths:
        _refuse_unfit(root, path, own)
    alone = [path for path in paths if path.is_dir() or is_archive(path.name)]
    loose = [path for path in paths if path not in alone]
    return [[path] for path in alone] + ([loose] if loose else [])


def _refuse_unfit(root: Path, path: Path, own: set[Path]) -> None:
    """Raise UsageError for what is no upload."""
    name_it = "name the folder or zip that came"
    place, is_folder = path.resolve(), path.is_dir()
    if not is_folder and not path.is_file():
        raise UsageError("there is no such folder or file", str(path.absolute()), name_it)
    around = {root.resolve(), root.resolve() / "collected", *root.resolve().parents}
    if own & {place, *place.parents} or place in around:
        raise UsageError("this folder is the course's own: there is nothing to collect in it", str(place), name_it)
    if not os.access(path, os.R_OK | (os.X_OK if is_folder else 0)):
        raise UsageError("the upload cannot be read: permission denied", str(place), f"chmod -R u+rX {path}")


@contextlib.contextmanager
def _disk(root: Path) -> Iterator[None]:
    """What cannot be written, as fact, place and next command."""
    try:
        yield
    except OSError as error:
        fact, then = f"the course's folder cannot be written: {error.strerror or error}", "mend that"
        if error.errno in {errno.ENOSPC, errno.EDQUOT}:
            fact, then = "the disk is full; what was not finished was taken back", "free some space"
        place = str(error.filename or root / "collected")
        raise UsageError(fact, place, f"{then}, then run the same command again") from None
