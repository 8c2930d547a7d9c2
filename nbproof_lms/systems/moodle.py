"""Moodle: *Download all submissions*, grading worksheet or export of the gradebook, *Upload multiple feedback files in a zip*.

Feedback (``mod/assign/feedback/file/importziplib.php``, ``is_valid_filename_for_import``): a file is passed over if its name
begins with ``.`` or ``~``. Any other name is split at its first four underscores: anything, the participant's number *in this
assignment*, the type and the name of a plug-in that the assignment has, such as ``assignsubmission`` and ``file``, and what the
feedback file is then called. A later file of the same name replaces the earlier one.
"""

from __future__ import annotations

import re
from dataclasses import replace

from nbproof.errors import UsageError
from nbproof_lms.csv_table import (
    FIRST,
    GRADE,
    IDENTIFIER,
    LAST,
    MAXIMUM,
    PERCENTAGE,
    REVEALED,
    SCALE,
    STATUS,
    Sheet,
    heads_of,
    shows,
)
from nbproof_lms.names import bare, for_a_file, plain
from nbproof_lms.system import GradeTable, LmsEntry, System

_ENTRY = re.compile(
    r"(?P<name>.{1,220}?)_(?P<account>\d{1,20})_assignsubmission_(?:file|onlinetext)_?(?P<file>.*)",
    re.DOTALL | re.ASCII,
)
_BLIND = re.compile(
    r"(?:participant|anonymous|anon|teilnehmer(?:in)?|user|student|participante?|partecipante|deelnemer|uczestnik|ucastnik|"
    r"deltagare|deltager|osallistuja|katilimci|участник)"
)
"""What Moodle calls a learner if it hides the name, in its languages."""


class Moodle(System):
    """Moodle's assignments."""

    name = "Moodle"
    patterns = (_ENTRY,)
    roster_number = "participant {}"
    dates_entries = True
    export = "in Moodle: the assignment, Download grading worksheet"
    upload = (
        "in Moodle, in the lesson's assignment: Submissions (View all submissions), Actions (Grading action), "
        "Upload multiple feedback files in a zip"
    )
    upload_remark = (
        "the assignment's settings must have the feedback type 'Feedback files'; if the class handed the lesson in to several "
        "assignments, the zip has pages of all of them: upload it in each"
    )

    def entry(self, found: re.Match[str]) -> LmsEntry | None:
        """``Jane Doe_123_assignsubmission_file_work.ipynb``, or a folder of that name: the number is this assignment's."""
        name = " ".join(found["name"].split())
        if _BLIND.fullmatch(bare(name)):
            name = f"{name} {found['account']}"
        return LmsEntry(name, found["file"], found["account"])

    def grade_table(self, sheet: Sheet) -> GradeTable | None:
        """The columns of a grading worksheet of one assignment, or of an export of the gradebook.

        Raises UsageError for a worksheet without names.
        """
        heads = heads_of(sheet.rows)
        at = {head: column for column, head in reversed(list(enumerate(heads)))}
        ids = _columns(at, "username", "id number", "email address")
        names = _columns(at, "full name", FIRST, LAST)
        if not ids and not names:
            if IDENTIFIER in at:
                raise UsageError("Moodle's worksheet names nobody: it marks anonymously", str(sheet.path), REVEALED)
            return None
        if GRADE in at:
            return _worksheet(sheet, at, ids, names)
        lessons = dict(enumerate(sheet.head))
        for column in {*ids, *names, at.get(IDENTIFIER, -1)} & lessons.keys():
            del lessons[column]
        maxima = {column: ("100",) for column, name in lessons.items() if shows(name, PERCENTAGE)}
        table = GradeTable(1, ids, names, lessons, maxima=maxima)
        if len(maxima) == len(lessons):
            return table
        note = "Moodle's export states no maximum grade: set each assignment's to the lesson's points"
        return replace(table, notes=(note,))

    def feedback_start(self, entry: LmsEntry) -> str:
        """The learner's name and number in this assignment."""
        if not entry.account:
            return ""
        return f"{for_a_file(entry.name, ' ') or 'Participant'}_{entry.account}_assignsubmission_file_"


def _columns(at: dict[str, int], *heads: str) -> tuple[int, ...]:
    return tuple(at[head] for head in heads if head in at)


_NO = {"no", "nein", "non", "nee", "nie", "ne", "não", "nej", "nei", "ei", "hayır", "нет", "ні", "όχι", "いいえ", "否"}


def _worksheet(sheet: Sheet, at: dict[str, int], ids: tuple[int, ...], names: tuple[int, ...]) -> GradeTable:
    most = at.get(MAXIMUM, at.get(SCALE, len(sheet.head)))
    said = ["".join(row[most : most + 1]) for row in sheet.rows[1:]]
    if scale := next((text for text in said if re.search(r"[^\W\d]", text)), ""):
        raise UsageError(
            f"Moodle grades this assignment by a scale, and that takes no points: {scale[:60]!r}",
            f"{sheet.path}, column {sheet.head[most]!r}",
            "in Moodle, in the assignment's settings: Grade, Type: Point; then download the worksheet again: --moodle FILE",
        )
    # The column behind it says whether the grade can be changed.
    after = slice(most + 1, most + 2)
    locked = frozenset(at for at, row in enumerate(sheet.rows) if plain("".join(row[after])) in _NO)
    numbers: dict[int, str] = {}
    if IDENTIFIER in at:
        told = ((line, re.search(r"\d+$", row[at[IDENTIFIER]].strip())) for line, row in enumerate(sheet.rows))
        numbers = {line: SYSTEM.on_roster(number[0]) for line, number in told if number}
    table = GradeTable(1, ids, names, only=at[GRADE], assigned=numbers, locked=locked, status=at.get(STATUS))
    if found := {text for text in said if text.strip(" -–")}:
        return replace(table, maxima={at[GRADE]: found})
    note = "the worksheet states no maximum grade: points are written as they are"
    return replace(table, notes=(note,))


SYSTEM = Moodle()
