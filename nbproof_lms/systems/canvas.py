"""Canvas: *Download Submissions*, *Grades, Export*, *Re-Upload Submissions*.

Feedback (``app/models/abstract_assignment.rb``, ``infer_comment_context_from_filename``): a name is split at every underscore,
``LATE`` is taken out, and the first two parts that are digits only are the user's number and that of the file handed in, which
must belong to the user's latest attempt. A last part that begins with ``link``, a first one that is ``anon`` and a name that
begins with ``._`` mean something else. The learner sees the file as an attachment of a comment, under the name of *the file
handed in* (issue 2406 of canvas-lms).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from nbproof_lms.csv_table import Sheet
from nbproof_lms.names import for_a_file
from nbproof_lms.system import GradeTable, LmsEntry, System

# Canvas takes out of a name a number between underscores, and only then what is no letter, digit or underscore.
_FILE = re.compile(
    r"(?P<name>(?:(?!_\d+_(?:\d+_|text\.html?\Z)|_LATE_)[^\s-]){0,250}?)(?P<late>_LATE)?_(?P<account>\d{1,20})_"
    r"(?:(?P<number>\d{1,20})_(?P<file>.+)|text\.html?)",
    re.DOTALL | re.ASCII,
)
_ANONYMOUS = re.compile(
    r"(?P<late>LATE_)?(?P<name>anon_[A-Za-z0-9]{5})_(?:(?P<number>\d{1,20})_(?P<file>.+)|text\.html?)",
    re.DOTALL | re.ASCII,
)
# So somebody's name may hold, or end with, another's number after all: then two more follow, as they may in a file's name. The
# second of them is a file's in Canvas, which has numbered millions: not that of ``3_1_intro.ipynb``.
_TWO_MORE = re.compile(r"(?=(?:^|_)(LATE_)?([1-9]\d*)_[1-9]\d{2,}_)", re.ASCII)
# ``lib/gradebook_importer.rb``, ``strip_non_assignment_columns``; with an assignment's number behind it.
_PASSED_OVER = re.compile(
    r"(?:(?:Current|Final) (?:Score|Points|Grade)|Override (?:Score|Grade|Status)).*\(\d+\)\s*$", re.DOTALL
)
_HIDDEN = "Canvas hides who handed it in: post the grades there, or turn anonymous grading off, and download again"


class Canvas(System):
    """Instructure's Canvas."""

    name = "Canvas"
    patterns = (_ANONYMOUS, _FILE)
    lasting_numbers = True
    roster_number = "{}"
    test_student = "studenttest"
    export = "in Canvas: Grades, Export"
    upload = "in Canvas, in the lesson's assignment: Re-Upload Submissions, below Download Submissions"
    upload_remark = (
        "Canvas names each page after the notebook that was handed in: tell your learners to save it as .html"
    )

    def entry(self, found: re.Match[str]) -> LmsEntry | None:
        """``doejane_LATE_123_456_work.ipynb``: name, the learner's number, the file's."""
        groups = found.groupdict(default="")
        account = groups.get("account", "")
        more = _TWO_MORE.findall(f"{groups['number']}_{groups['file']}")
        number = 0 if more else int(groups["number"] or 0)
        others = tuple(other for late, other in more if late or other != account)
        unsure = _HIDDEN if found.re is _ANONYMOUS else ""
        is_late = bool(groups["late"])
        return LmsEntry(
            groups["name"], groups["file"], account, late=is_late, number=number, others=others, unsure=unsure
        )

    def grade_table(self, sheet: Sheet) -> GradeTable | None:
        """The columns of its export. The file to import has those that name a student, and those of lessons with grades."""
        student = sheet.columns("Student", "FirstName", "LastName")
        ids = sheet.columns("SIS Login ID", "SIS User ID", "ID")
        if not student or not ids:
            return None
        possible = next((at for at, row in enumerate(sheet.rows) if "Points Possible" in map(str.strip, row)), 0)
        points = sheet.rows[possible] if possible else []
        identity = tuple(sorted((*student, *ids, *sheet.columns("Root Account", "Section"))))
        # Of its own totals it says so in the head, or in the row of points.
        own = {*identity, *_read_only(sheet.head), *_read_only(points)}
        names = {column: name for column, name in enumerate(sheet.head) if column not in own}
        maxima = {column: (cell,) for column, cell in enumerate(points) if cell.strip()}
        left = [repr(name) for name in names.values() if _PASSED_OVER.search(name)]
        notes = [
            f"Canvas's import takes no grades in {name}: rename the assignment there, and export again" for name in left
        ]
        numbers = sheet.columns("ID")
        return GradeTable(
            possible + 1,
            ids,
            student,
            names,
            numbers=numbers,
            maxima=maxima,
            excused="EX",
            keep=identity,
            notes=(*notes,),
        )

    def feedback_start(self, entry: LmsEntry) -> str:
        """The numbers of the latest attempt; text that was typed into Canvas has none."""
        if not entry.account or not entry.number:
            return ""
        name = for_a_file(entry.name, "")
        if not name or name.isdigit() or name == "anon":
            name = "learner"
        if entry.late:
            name += "_LATE"
        return f"{name}_{entry.account}_{entry.number}_"


def _read_only(row: Sequence[str]) -> list[int]:
    """The columns that take no grade, as a cell of this row says."""
    return [column for column, cell in enumerate(row) if "(read only)" in cell.casefold()]


SYSTEM = Canvas()
