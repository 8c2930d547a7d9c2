"""nbgrader's formgrader on this course: opened in the browser, and what it shows of a graded notebook and as feedback.

A lesson has a hundred cells, most of them prose and pictures that the grader knows. nbgrader_config.py hangs
:class:`ReadingView` into formgrader's pages. It changes the page alone: graded notebooks and feedback stay whole, and
never hold a mark scheme. For ``generate_feedback``, and so for formgrader's button, it names :class:`FeedbackPage`: nbgrader's
preprocessors run as ever, and what they make of the notebook is not shown, because it would show all of it.
"""

from __future__ import annotations

import os
import re
from functools import lru_cache
from html import escape
from pathlib import Path
from typing import Any

import nbformat
from nbconvert.exporters import Exporter
from nbconvert.preprocessors import Preprocessor
from nbgrader.coursedir import CourseDirectory
from traitlets import Unicode, default

from nbproof.cells import BEGIN_SCHEME, BEGIN_SOLUTION, END_SCHEME, END_SOLUTION, CellKind
from nbproof.command import course_command, formgrader_on_a_hub
from nbproof.course_file import Course
from nbproof.display.lab import refuse_bad_port, start_server
from nbproof.gradebook.marks import Mark
from nbproof.gradebook.typeset import with_formulas
from nbproof.key import Key
from nbproof.lesson.from_notebook import kind_of, name_of, read_cells
from nbproof.lesson.heading import asks_at
from nbproof.marking.blueprint import OWN
from nbproof.nbgrader.settings import course_told
from nbproof.places import course_config, places

__all__ = ["FeedbackPage", "ReadingView", "open_formgrader"]

# Handing out and fetching by nbgrader's exchange, a folder that all users of a machine share, is not what this course does.
_EXCHANGE = ("assignment_list", "course_list")


def open_formgrader(course: Course, root: Path, extra: list[str]) -> int:
    """Start a Jupyter server in the course's folder and open formgrader; returns when it ends."""
    course_config(root)
    refuse_bad_port(extra)
    if there := formgrader_on_a_hub():
        # A server of its own would listen where no browser of the hub's users comes to.
        print(f"on a hub, formgrader is a page of your own server: {there}")
        return 0
    if not any(places(root).base("autograded").glob("*/*/*.ipynb")):
        print(f"nothing is graded yet: formgrader shows submissions after `{course_command('grade')}`")
    print("nbgrader's exchange is not used: what formgrader says about it, and its Release and Collect, do not matter")
    off = [f"--ServerApp.jpserver_extensions=nbgrader.server_extensions.{name}=False" for name in _EXCHANGE]
    return start_server(course, root, "/formgrader", [*off, *extra])


_MARKERS = re.compile(rf"^(?:{BEGIN_SOLUTION}|{END_SOLUTION}|{BEGIN_SCHEME}|{END_SCHEME})\n?", re.MULTILINE)
# formgrader's style sheet takes away the triangle that shows that there is more to open.
_SUMMARY = '<summary style="display:list-item;cursor:pointer">'
_SCHEME = (
    f"<details>{_SUMMARY}<i>Reference answer and mark scheme: learners never see this</i></summary>"
    "\n\n{}\n\n</details>"
)
_NOTE = (
    "*Left out here: the lesson's prose and pictures, and the text of the tests. The whole notebook is in "
    "`autograded/`, the lesson with all its tests in `source/`.*"
)


class ReadingView(Preprocessor):  # type: ignore[misc]
    """Leaves out cells that nobody wrote, and adds mark schemes. It does nothing outside of formgrader."""

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        """The cells in order: questions, answers with their outputs, verdicts."""
        # Only formgrader names a submission by its id.
        if "submission_id" not in resources:
            return nb, resources
        schemes = self._schemes(str(resources["assignment_id"]), str(resources["notebook_id"]))
        # formgrader's template puts these into the page as they are, and a learner may be called anything.
        for key in ("student", "first_name", "last_name", "notebook_path"):
            if isinstance(resources.get(key), str):
                resources[key] = escape(resources[key])
        for cell in nb.cells:
            if cell.cell_type == "markdown" and "tex2jax_ignore" not in cell.source:
                cell.source = with_formulas(cell.source)
        schemes = {name: with_formulas(text) for name, text in schemes.items()}
        cells = [nbformat.v4.new_markdown_cell(_NOTE)]
        for cell in nb.cells:
            cells += _shown(cell, schemes)
        # A notebook of another make, which asks nothing as ours do, is shown as it is.
        if any(asks_at(cell.source) == 0 for cell in cells):
            nb.cells = cells
        return nb, resources

    def _schemes(self, lesson: str, notebook: str) -> dict[str, str]:
        """grade_id -> mark scheme; empty if the instructor's notebook cannot be read: the page is shown all the same."""
        course = CourseDirectory(config=self.config)
        path = Path(course.format_path(course.source_directory, ".", lesson), f"{notebook}.ipynb")
        parted = f"---\n\n{BEGIN_SCHEME}"
        return {
            cell.grade_id: _MARKERS.sub("", cell.source.replace(BEGIN_SCHEME, parted))
            for cell in read_cells(path)
            if cell.kind is CellKind.WRITTEN
        }


def _shown(cell: Any, schemes: dict[str, str]) -> list[Any]:
    kind = kind_of(cell)
    if OWN in cell.metadata:
        label = nbformat.v4.new_markdown_cell("*The learner's own cell:*")
        return [label, cell] if cell.cell_type == "code" else [cell]
    if name_of(cell) in schemes:
        return [cell, nbformat.v4.new_markdown_cell(_SCHEME.format(schemes[name_of(cell)]))]
    if kind in (CellKind.ANSWER, CellKind.MANUAL, CellKind.WRITTEN, CellKind.TASK):
        return [cell]
    if kind is CellKind.TEST:
        lines = len(cell.source.splitlines())
        cell.source = f"# The tests, {lines} lines of them visible to learners. What they found stands below."
        return [cell]
    start = asks_at(cell.source) if cell.cell_type == "markdown" else -1
    if start < 0:
        return []
    cell.source = cell.source[start:].replace("<summary>", _SUMMARY)
    return [cell]


class FeedbackPage(Exporter):  # type: ignore[misc]
    """An exporter for ``c.GenerateFeedback.exporter_class``."""

    output_mimetype = "text/html"
    works_for = Unicode("", help="the folder with the course.toml, noted by use_engine").tag(config=True)

    @default("file_extension")  # type: ignore[untyped-decorator]
    def _html(self) -> str:
        return ".html"

    def from_notebook_node(
        self, nb: nbformat.NotebookNode, resources: Any | None = None, **kwargs: Any
    ) -> tuple[str, dict[str, Any]]:
        """The page of the submission that ``resources`` names; beside it, what `nbgrader release_feedback` wants, and the
        pages of what could not be graded of the assignment: nbgrader knows nothing of these, and has taken them away."""
        from nbproof.feedback.page import page_of
        from nbproof.feedback.pages import task_of, write_feedback
        from nbproof.gradebook.graded_notebook import copy_receipts
        from nbproof.run.journal import journal_of, problems_of

        _, resources = super().from_notebook_node(nb, resources, **kwargs)
        told = resources["nbgrader"]
        root = Path(getattr(getattr(self.parent, "coursedir", None), "root", "") or os.getcwd())
        course = course_told(self.works_for, root)
        key = Key(str(told["student"]), str(told["assignment"]))
        problems = {
            other: one.problem
            for other, one in problems_of(root).items()
            if (other.learner, other.assignment) == (key.learner, key.lesson)
        }
        one_of_several = Key(key.learner, f"{key.lesson}/{told['notebook']}")
        if journal_of(root, *one_of_several).exists():
            key = one_of_several
        task = task_of(course, root, key, _marks(root, key.lesson, self).get(key), problems.pop(key, ""))
        places(root).folder("feedback", *key).mkdir(parents=True, exist_ok=True)
        write_feedback(course, root, (), problems=problems)
        copy_receipts(root, *key, "feedback")
        return page_of(course, root, task), resources


@lru_cache(maxsize=16)
def _marks(root: Path, lesson: str, exporter: Exporter) -> dict[Key, Mark]:
    """The whole class's marks, read once for each exporter, that is for each press of the button."""
    from nbproof.gradebook.reader import read_marks
    from nbproof.nbgrader.next_door import late_by_lms
    from nbproof.run.batch import follow_marks

    follow_marks(root, late_by_lms(root))
    return read_marks(root, [lesson])
