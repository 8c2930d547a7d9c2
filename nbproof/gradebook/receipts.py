"""What nbgrader keeps beside a submission, and looks for beside its feedback: ``timestamp.txt``, ``submission_secret.txt``.

nbgrader's exchange writes both when a learner hands in. `nbgrader release_feedback` names a page in the exchange by the
secret, and ends for a whole class where one learner's is missing or is no text. What came by an LMS has neither: it gets
a secret of its own, and a time that is empty, because nobody has said one.
"""

from __future__ import annotations

import re
import secrets
import shutil
from dataclasses import dataclass
from pathlib import Path

from nbgrader.utils import parse_utc

from nbproof.files import replace_file
from nbproof.marking.blueprint import read_file
from nbproof.recover.unpacking import Damaged

__all__ = ["RECEIPTS", "Receipt", "hand_on", "receipt_in", "time_in"]

TIME, SECRET = "timestamp.txt", "submission_secret.txt"
RECEIPTS = (TIME, SECRET)


@dataclass(frozen=True)
class Receipt:
    """What is known of a hand-in; empty if nothing sensible stands there."""

    time: str = ""
    secret: str = ""


def receipt_in(folder: Path) -> Receipt:
    """What lies in a folder. Reads no link, no pipe, nothing long."""
    return Receipt(time_in(folder / TIME) or "", _secret_in(folder / SECRET))


def time_in(path: Path) -> str | None:
    """When it was handed in; None if nothing sensible stands there."""
    try:
        text = read_file(path, 200).decode().strip()
        # Python's calendar ends with the year 9999; time zones must not lead beyond it.
        if not 1970 < parse_utc(text).year < 9000:
            return None
    except Exception:  # dateutil raises whatever its parts raise
        return None
    return text


def _secret_in(path: Path) -> str:
    try:
        text = read_file(path, 1_000).decode("ascii")
    except (Damaged, ValueError):
        return ""
    # The exchange's own are 128 hexadecimal digits. Whatever it is, it counts to the last character.
    return text if re.fullmatch(r"[!-~\s]{16,}", text) else ""


def hand_on(root: Path, learner: str, lesson: str) -> None:
    """Put both files of a submission beside its graded notebook and its feedback, as far as there are any. Raises OSError.

    A secret that was made up stays the same for as long as one of the folders holds it.
    """
    places = [root / part / learner / lesson for part in ("autograded", "feedback")]
    places = [folder for folder in places if folder.is_dir()]
    told = receipt_in(root / "submitted" / learner / lesson)
    before = [receipt_in(folder) for folder in places]
    secret = told.secret or next((one.secret for one in before if one.secret), "") or secrets.token_hex(64)
    for folder, have in zip(places, before, strict=True):
        if have.secret != secret:
            _write(folder / SECRET, secret)
        if have.time != told.time or not (folder / TIME).is_file():
            _write(folder / TIME, told.time)


def _write(path: Path, text: str) -> None:
    # A folder of that name, which nbgrader has copied out of a submission.
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    replace_file(path, text.encode())
