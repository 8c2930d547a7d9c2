"""Blackboard: *Assignment File Download*, whose names nbgrader's ``zip_collect`` reads as well."""

from __future__ import annotations

import re

from nbproof_lms.system import LmsEntry, System, read_time

_FILE = re.compile(r".{1,80}?_(?P<name>[^_]{1,80})_attempt_(?P<time>\d{4}(?:-\d\d){5})(?:_(?P<file>.+))?", re.DOTALL)


class Blackboard(System):
    """Blackboard Learn."""

    name = "Blackboard"
    patterns = (_FILE,)

    def entry(self, found: re.Match[str], below: bool) -> LmsEntry | None:
        """``ps1_jane_attempt_2026-01-30-20-30-10_work.ipynb``."""
        return LmsEntry(found["name"], found["file"] or found.string, when=read_time(found["time"]))


SYSTEM = Blackboard()
