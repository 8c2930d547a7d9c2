"""A copy of nbgrader's exchange: a folder for each hand-in."""

from __future__ import annotations

import re

from nbproof_lms.system import LmsEntry, System

_FOLDER = re.compile(r"(?P<name>[^+]+)\+[^+]+\+\d{4}-[^+]+(?:\+.*)?", re.DOTALL | re.ASCII)


class Exchange(System):
    """nbgrader's exchange, in which everybody can hand in under any name: who made a folder knows only its own disk."""

    name = "nbgrader"
    patterns = (_FOLDER,)

    def entry(self, found: re.Match[str], below: bool) -> LmsEntry | None:
        """``jane+01_first+2026-11-20 12:00:00 UTC+secret/``: a name that whoever handed in may have written."""
        why = "in nbgrader's exchange everybody can write any name: let nbgrader collect there, and take its submitted/"
        return LmsEntry(found["name"], unsure=why) if below else None


SYSTEM = Exchange()
