"""Collecting from nbgrader's exchange, a folder where every user of a machine may write.

nbgrader's own collecting believes a folder's name, which says the learner and the time, and follows links in the folder with
the instructor's rights. But a learner can write any name, and can link to the instructor's notebook. Here the file system says
who owns a folder and when it was last changed, and nothing is copied but plain files of that owner.
"""

from __future__ import annotations

import os
import pwd
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from nbgrader.exchange.default import ExchangeCollect
from nbgrader.utils import ignore_patterns

from nbproof.moments import moment_in

__all__ = ["CollectFromOwners", "owner_of"]

_SLACK = timedelta(minutes=5)
"""From the moment that nbgrader notes when somebody hands in to the moment when all is copied."""
_NOBODY = ""


class CollectFromOwners(ExchangeCollect):  # type: ignore[misc]
    """What `nbgrader collect`, and formgrader's button, do instead: ``c.ExchangeFactory.collect`` names it."""

    def _path_to_record(self, path: str) -> dict[str, Any]:
        """The user, the folder and the time. A folder that the user in its name does not own belongs to nobody."""
        nobodys = {"username": _NOBODY, "filename": os.path.basename(path), "timestamp": datetime.min}
        try:
            record: dict[str, Any] = super()._path_to_record(path)
            owner, changed = owner_of(path), _last_change(path)
            told = moment_in(record["filename"].split("+")[2], home=self.timezone)
        except (OSError, ValueError, OverflowError) as error:
            self.log.warning("not collected: %s: %s", path, error)
            return nobodys
        if self.check_owner and record["username"] != owner:
            self.log.warning("not collected: %s was made by %s; ask them about it", path, owner)
            return nobodys
        # nbgrader reads CEST as UTC.
        record["timestamp"] = told.replace(tzinfo=None)
        if changed - record["timestamp"] > _SLACK:
            self.log.warning("%s was changed until %s UTC: that time counts", path, f"{changed:%Y-%m-%d %H:%M}")
            record["timestamp"] = changed
        return record

    def init_src(self) -> None:
        """Find what was handed in, as nbgrader does it, and leave out what belongs to nobody."""
        super().init_src()
        self.src_records: list[dict[str, Any]] = [
            record for record in self.src_records if record["username"] != _NOBODY
        ]

    def do_copy(self, src: str, dest: str, log: Any = None) -> None:
        """Copy the plain files of the folder's owner. What is left out is said; it costs nobody else their marks."""
        try:
            self.copy_plain_files(Path(src), Path(dest))
        except OSError as error:
            self.log.error("not collected: %s: %s", src, error)

    def copy_plain_files(self, src: Path, dest: Path) -> None:
        """Copy what is a file, and nothing that a link leads to."""
        if self.get_size(src) > 1000 * self.coursedir.max_dir_size:
            self.log.error("not collected: %s is larger than c.CourseDirectory.max_dir_size", src)
            return
        ignored = ignore_patterns(
            exclude=self.coursedir.ignore,
            include=self.coursedir.include,
            max_file_size=self.coursedir.max_file_size,
            log=self.log,
        )
        dest.mkdir(parents=True)
        owner = src.lstat().st_uid
        # By descriptors: what is a file while it is looked at must not be a link while it is copied.
        for place, folders, files, here in os.fwalk(src, follow_symlinks=False):
            left_out = ignored(place, [*folders, *files])
            folders[:] = [name for name in folders if name not in left_out]
            target = dest / os.path.relpath(place, src)
            target.mkdir(exist_ok=True)
            for name in files:
                if name not in left_out and not _copied(name, here, owner, target / name):
                    self.log.warning(
                        "left out, because it is not a plain file of its owner's: %s", os.path.join(place, name)
                    )
        (when,) = (record["timestamp"] for record in self.src_records if record["filename"] == src.name)
        (dest / "timestamp.txt").write_text(f"{when:%Y-%m-%d %H:%M:%S.%f} UTC")
        if self.coursedir.groupshared:
            for path in (dest, *dest.rglob("*")):
                mode = 0o2770 if path.is_dir() else 0o660
                path.chmod(mode)


def _copied(name: str, folder: int, owner: int, target: Path) -> bool:
    """Copy a file if it is a plain one of that user; returns whether it is."""
    try:
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    except OSError:
        return False
    with os.fdopen(descriptor, "rb") as source:
        there = os.fstat(descriptor)
        if not stat.S_ISREG(there.st_mode) or there.st_uid != owner:
            return False
        with target.open("wb") as copy:
            left = there.st_size  # and no more, if it grows meanwhile
            while left > 0 and (some := source.read(min(left, 1 << 20))):
                left -= copy.write(some)
    return True


def owner_of(path: str) -> str:
    """The user who made this folder. Raises OSError if it is not a folder, or if its owner is no longer a user."""
    there = os.lstat(path)
    if not stat.S_ISDIR(there.st_mode):
        raise OSError("it is not a folder")
    try:
        return pwd.getpwuid(there.st_uid).pw_name
    except KeyError:
        raise OSError(f"its owner, {there.st_uid}, is not a user") from None


def _last_change(folder: str) -> datetime:
    """When the kernel last saw a change in it, in UTC. A file's date can be set by its owner, this one cannot."""
    seen = [os.lstat(folder).st_ctime]
    for place, folders, files in os.walk(folder, followlinks=False):
        seen += [os.lstat(os.path.join(place, name)).st_ctime for name in (*folders, *files)]
    return datetime.fromtimestamp(max(seen), UTC).replace(tzinfo=None)
