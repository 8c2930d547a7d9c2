"""An instructor's own regular expression for names, in place of the systems that are known (``--pattern``)."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from nbproof.errors import UsageError
from nbproof_lms.system import LmsEntry, System, read_time

__all__ = ["Pattern"]


class Pattern(System):
    """Groups ``learner`` (or ``student_id``) and, if wanted, ``timestamp``, ``file_id`` and ``late``."""

    name = "pattern"

    def __init__(self, text: str) -> None:
        """Raises UsageError."""
        again = "write one such as --pattern '(?P<lesson>[^_]+)_(?P<learner>[^_]+)_(?P<timestamp>[0-9-]+)'"
        try:
            self._pattern = re.compile(text)
        except re.error as error:
            raise UsageError(f"the pattern is no regular expression: {error}", text, again) from None
        if not {"learner", "student_id"} & set(self._pattern.groupindex):
            raise UsageError("the pattern has no group called learner", text, again)

    def read(self, part: str, below: bool) -> LmsEntry | None:
        """What a name says, if the expression is found at its beginning."""
        found = self._pattern.match(part)
        groups = found.groupdict() if found is not None else {}
        learner = groups.get("learner") or groups.get("student_id")
        if not learner:
            return None
        file = PurePosixPath(groups.get("file_id") or part).name
        return LmsEntry(learner, file, when=read_time(groups.get("timestamp") or ""), late=bool(groups.get("late")))
