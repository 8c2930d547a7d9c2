"""``nbgrader export`` into the form of Canvas and Moodle, from the gradebook alone::

    nbgrader export --exporter=nbproof.nbgrader.export_plugins.CanvasExport --CanvasExport.template=EXPORT.csv --to=upload.csv
    nbgrader export --exporter=nbproof.nbgrader.export_plugins.MoodleExport --MoodleExport.template=SHEET.csv --to=upload.csv

``--assignment`` and ``--student`` choose as with nbgrader's own exporter. ``python -m course report`` does the same.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nbgrader.plugins import ExportPlugin
from traitlets import Unicode

from nbproof.display.outline import title_of
from nbproof.errors import CourseError
from nbproof.gradebook.reader import marks_in, people_in
from nbproof.key import Key
from nbproof.text import counted
from nbproof_lms.grade_files import Grade, grade_file
from nbproof_lms.system import systems

__all__ = ["CanvasExport", "MoodleExport"]


class _LmsExport(ExportPlugin):  # type: ignore[misc]
    template = Unicode("", help="the export of the LMS's gradebook that is to be filled").tag(config=True)
    system = ""

    def export(self, gradebook: Any) -> None:
        """Write the file named by ``--to`` (default: beside the template, with ``-graded`` in its name)."""
        template = Path(self.template)
        if not self.template:
            name = type(self).__name__
            self.log.error("name the export of the LMS: add --%s.template=FILE", name)
            raise SystemExit(2)
        grades: dict[Key, Grade] = {}
        for assignment in gradebook.assignments:
            if self.assignment and assignment.name not in map(str, self.assignment):
                continue
            for learner, marks in marks_in(gradebook, assignment.name).items():
                if not self.student or learner in map(str, self.student):
                    grades[Key(learner, assignment.name)] = Grade(marks.score, marks.max_score)
        try:
            titles = {lesson: title_of(lesson).replace("`", "") for _, lesson in grades}
            made = grade_file(systems()[self.system], template, grades, people_in(gradebook), titles)
        except CourseError as error:
            for line in error.lines():
                self.log.error(line)
            raise SystemExit(1) from None
        target = Path(self.to) if self.to else template.with_name(f"{template.stem}-graded{template.suffix}")
        target.write_bytes(made.data)
        self.log.info("%s written to %s", counted(made.filled, "grade"), target)
        for learner in (*made.unmatched, *made.unclear):
            self.log.warning("not in the export, or it is not clear who it is: %s", learner)
        for lesson, columns in made.unclear_columns.items():
            self.log.warning(
                "%s: it may be any of these columns, so its grades are not in the file: %s", lesson, columns
            )
        for note in made.notes:
            self.log.warning(note)


class CanvasExport(_LmsExport):
    """Fills a Canvas gradebook export."""

    system = "Canvas"


class MoodleExport(_LmsExport):
    """Fills a Moodle grading worksheet or gradebook export."""

    system = "Moodle"
