"""Blackboard: *Assignment File Download*, whose names nbgrader's ``zip_collect`` reads as well.

Beside the files of each attempt lies a text of Blackboard's own, ``ps1_jane_attempt_2026-01-30-20-30-10.txt``: who handed in
what and when, with remarks.

Titles and user names may hold underscores alike, so one name does not say where its title ends: two of one download do.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from nbproof_lms.system import LmsEntry, System, read_time

_ATTEMPT = r"(?:/|[^/]{1,200}?_)(?P<name>[^/]{1,80}?)_attempt_(?P<time>[0-9]{4}(?:-[0-9]{2}){5})"
_FILE = re.compile(_ATTEMPT + r"(?:_(?P<file>.+))?", re.DOTALL)


class Blackboard(System):
    """Blackboard Learn."""

    name = "Blackboard"
    patterns = (_FILE,)
    lasting_numbers = True
    own_name = re.compile(r"gradebook_.+_20\d\d(?:-\d\d){5}", re.DOTALL)
    own_files = re.compile(_ATTEMPT + r"\.txt")

    def beginnings(self, parts: Iterable[str]) -> Sequence[str]:
        """Where the title may end that all begin with: at any underscore that is the same in all."""
        attempts = {part[: found.end("name")] for part in parts if (found := re.match(_ATTEMPT, part))}
        first = min(attempts, default="") if len(attempts) > 1 else ""
        ends = [found.end() for found in re.finditer("_", first)]
        return [first[:end] for end in ends if all(one.startswith(first[:end]) for one in attempts)]

    def entry(self, found: re.Match[str], below: bool) -> LmsEntry | None:
        """``ps1_jane_attempt_2026-01-30-20-30-10_work.ipynb``: a user name is one person's, as a number is."""
        return LmsEntry(found["name"], found["file"] or "", found["name"], when=read_time(found["time"]))


SYSTEM = Blackboard()
