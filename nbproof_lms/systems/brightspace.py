"""Brightspace (D2L): *Assignments, Download*, and *Grades, Export* and *Import*.

Each hand-in is a folder or a file. Its name begins so: ``123456-789012 - Jane Doe - Oct 3, 2026 1149 PM``, that is the
learner's number, the hand-in's, the name, and when it was handed in, without a zone, as the school writes dates. Beside them
lies an ``index.html``. Public tools read the names so ("<student-id>-<submission-id> - <student-name> - <month> <day>, <year>
<time> <AM/PM>"; see also sortSubmissions.py of jdmau72/Grading-Tools-). A table of grades has *OrgDefinedId* and *Username*,
both with ``#`` in front, a column ``<item> Points Grade <...>`` for each item, and *End-of-Line Indicator*, a ``#``, at the end:
the tests of byuitechops/d2l-gradebook-csv-to-canvas-gradebook-csv hold such tables. Pages go back one by one, or by mail.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime

from nbproof_lms.csv_table import Sheet
from nbproof_lms.system import GradeTable, LmsEntry, System

_ENTRY = re.compile(
    r"(?P<account>\d{1,12})-(?P<number>\d{1,12}) - (?P<name>.{0,200}?) - "
    r"(?P<time>(?:[^\d\s,]{3,12} \d{1,2}|\d{1,2} [^\d\s,]{3,12}),? \d{4} \d{3,4}(?: [AP]M)?)(?: - (?P<file>.+))?",
    re.DOTALL | re.ASCII,
)
_MOST = re.compile(r"<.*MaxPoints:([^\s>]+).*>")
_GRADE = re.compile(r"^(.+?) Points Grade\b")


class Brightspace(System):
    """D2L's Brightspace."""

    name = "Brightspace"
    patterns = (_ENTRY,)
    lasting_numbers = True
    own_files = re.compile(r"index\.html")
    export = "in Brightspace: Grades, Export, with Org Defined ID and Points Grade"

    def entry(self, found: re.Match[str]) -> LmsEntry | None:
        """``123456-789012 - Jane Doe - Oct 3, 2026 1149 PM``; the time is the school's, and counts as UTC."""
        when = _when(found["time"])
        said = "" if when else found["time"]
        number = int(found["number"])
        return LmsEntry(found["name"], found["file"] or "", found["account"], when, number=number, said=said)

    def grade_table(self, sheet: Sheet) -> GradeTable | None:
        """The columns of what its gradebook exports and imports."""
        ids = sheet.columns("OrgDefinedId", "Username", "Email")
        if not ids or not sheet.columns("End-of-Line Indicator"):
            return None
        items = {column: found[1] for column, name in enumerate(sheet.head) if (found := _GRADE.match(name))}
        most = {column: found for column in items if (found := _MOST.search(sheet.head[column]))}
        maxima = {column: (found[1],) for column, found in most.items()}
        return GradeTable(1, ids, sheet.columns("First Name", "Last Name"), items, maxima=maxima)


def _when(text: str) -> datetime | None:
    """``Oct 3, 2026 1149 PM``, ``3 October, 2026 2349``, with or without a zero before the hour; None if it is no time."""
    first, second, year, clock, *half = re.findall(r"\w+", text)
    month, day = sorted((first, second), key=str.isdecimal)
    told = " ".join((month, day, year, clock.zfill(4), *half))
    hour = "%I%M %p" if half else "%H%M"
    for name in ("%b", "%B"):
        try:
            return datetime.strptime(told, f"{name} %d %Y {hour}").replace(tzinfo=UTC)
        except ValueError:
            continue
    return None


SYSTEM = Brightspace()
