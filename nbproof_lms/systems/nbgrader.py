"""A copy of nbgrader's exchange: a folder for each hand-in."""

from __future__ import annotations

import re

from nbproof_lms.system import LmsEntry, System, read_time

_FOLDER = re.compile(r"(?P<name>[^+]+)\+[^+]+\+(?P<time>\d{4}-[^+]+)(?:\+.*)?", re.DOTALL | re.ASCII)


class Exchange(System):
    """nbgrader's exchange. Who can write there can write any name: one that others share is nbgrader's to collect."""

    name = "nbgrader"
    patterns = (_FOLDER,)
    lasting_numbers = True

    def entry(self, found: re.Match[str], below: bool) -> LmsEntry | None:
        """``jane+01_first+2026-11-20 12:00:00 UTC+secret/``: a user name is one person's, as a number is."""
        return LmsEntry(found["name"], account=found["name"], when=read_time(found["time"])) if below else None


SYSTEM = Exchange()
