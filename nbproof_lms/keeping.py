"""Keep what came: a folder in ``collected/`` for every upload, whole or not at all, with a list of what became of each file."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from nbproof.command import course_command
from nbproof.files import replace_file
from nbproof_lms.arrivals import Arrivals, ArrivedPiece, fingerprint
from nbproof_lms.earlier import lists_in
from nbproof_lms.members import Roster
from nbproof_lms.outcome import Collected, KeptUpload, Line
from nbproof_lms.placing import Desk, File

__all__ = ["Stage"]

Step = Callable[[int, int, str], None]


class Stage:
    """Where uploads wait until all have come whole: nothing half-copied ever lies under its final name."""

    def __init__(self, root: Path, dry_run: bool) -> None:
        self._root, self._dry = root, dry_run
        self._folder = Path()
        self._uploads: list[KeptUpload] = []

    def __enter__(self) -> Stage:
        if self._dry:
            import tempfile

            self._folder = Path(tempfile.mkdtemp(prefix="collect-"))
        else:
            self._folder = self._root / "collected" / ".coming"
            # What a run that was cut off left behind; nobody else is at work here.
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder.mkdir(parents=True)
        return self

    def __exit__(self, *error: object) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)

    def take(self, paths: list[Path], step: Step) -> tuple[str, Path, list[ArrivedPiece]]:
        """Name, folder and pieces of an upload."""
        name = paths[0].name if len(paths) == 1 else "files"
        name = name or paths[0].resolve().name
        mark = fingerprint(paths)
        folder = self._folder / str(len(self._uploads))
        arrivals = Arrivals(folder, step=step)
        folder.mkdir()
        for path in paths:
            arrivals.take(path)
        known = next((path.parent.name for path, told in lists_in(self._root) if told.get("fingerprint") == mark), "")
        self._uploads.append(KeptUpload(str(paths[0]), mark, known, bool(known)))
        return name, folder, arrivals.pieces

    def finish(self, told: list[list[File]], roster: Roster | None, desk: Desk, asked: str | None) -> Collected:
        """Give the uploads their folders, put into submitted/ what counts, and write the lists."""
        uploads = self._named()
        for upload, files in zip(uploads, told, strict=True):
            if upload.folder and not upload.known:
                # Facts first: what follows may be cut off, and a second run then knows what came.
                _write_list(self._kept(upload), upload, [file.line for file in files], asked)
        lines: list[Line] = []
        notes: list[str] = []
        for at, (upload, files) in enumerate(zip(uploads, told, strict=True)):
            here = self._folder / str(at) if upload.known or self._dry else self._kept(upload)
            placed = [desk.put(file, here, self._kept(upload) / "replaced") for file in files]
            lines += [replace(line, folder=upload.folder) for line in placed]
            changed = any(file.beside or file.line.status == "taken" for file in files)
            if not self._dry and (changed or not upload.known):
                _write_list(self._kept(upload), upload, placed, asked)
            if upload.known:
                notes.append(_known_before(upload, changed))
        done = Collected(tuple(uploads), tuple(lines), tuple(notes), self._dry)
        return done if roster is None else _held_against(roster, done)

    def _kept(self, upload: KeptUpload) -> Path:
        return self._root / "collected" / upload.folder

    def _named(self) -> list[KeptUpload]:
        """The uploads, each that is new moved to a folder with the next number."""
        taken = (re.match(r"\d{4,}", one.name) for one in (self._root / "collected").glob("*"))
        number = max((int(found[0]) for found in taken if found), default=0)
        uploads = []
        for at, upload in enumerate(self._uploads):
            if not upload.known and not self._dry:
                number += 1
                stem = re.sub(r"[^\w.-]+", "-", Path(upload.path).name or "upload").strip("-.")[:60] or "upload"
                upload = replace(upload, folder=f"{number:04d}-{stem}")
                os.rename(self._folder / str(at), self._kept(upload))
            uploads.append(upload)
        return uploads


def _known_before(upload: KeptUpload, changed: bool) -> str:
    called = Path(upload.path).name or upload.path
    return (
        f"{called}: the same upload came before, as collected/{upload.folder}{'' if changed else '; nothing changed'}"
    )


def _held_against(roster: Roster, done: Collected) -> Collected:
    """What came, with who is not on the roster."""
    came = {line.learner for line in done.lines if line.learner}
    notes = [*done.notes, *roster.notes]
    strangers = sorted(came - set(roster.learners))
    if strangers and not roster.strict:
        notes.append(f"not on the roster: {', '.join(strangers)}; {course_command('roster add NAME')} puts one there")
    return replace(done, notes=tuple(notes))


def _write_list(folder: Path, upload: KeptUpload, lines: Sequence[Line], asked: str | None) -> None:
    """The list of an upload's files, whole or not at all."""
    told = {
        "upload": Path(upload.path).name,
        "fingerprint": upload.fingerprint,
        "handed_in_for": asked or "",
        "files": [line.as_dict() for line in lines],
    }
    replace_file(folder / "list.json", json.dumps(told, indent=1, ensure_ascii=True))
