"""Google Classroom: the folder that it keeps in Google Drive, downloaded."""

from __future__ import annotations

import re

from nbproof_lms.system import LmsEntry, System

_FILE = re.compile(
    r"(?:(?:Copy of|Copie de|Copia de|Kopie von|Cópia de)\s+)?"
    r"(?P<name>(?!\d).{2,120}?) [-–] (?!(?:copy|kopie|copie)\b)(?P<file>.+\.[a-z]\w*.{0,9})",
    re.DOTALL | re.IGNORECASE,
)
# What stands in the names that other systems give.
_OTHERS = re.compile(r"_[0-9]+_|_attempt_")


class Classroom(System):
    """Google Classroom."""

    name = "Classroom"
    patterns = (_FILE,)

    def entry(self, found: re.Match[str], below: bool) -> LmsEntry | None:
        """``Jane Doe - work.ipynb``, no folder ``CS101 - Lab 3``; what follows another LMS's words in a name is the learner's."""
        return None if _OTHERS.search(found["name"]) else LmsEntry(found["name"], found["file"])


SYSTEM = Classroom()
