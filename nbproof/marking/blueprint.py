"""From a submission to a trusted notebook: only the texts of TODO cells are taken, everything else is the instructor's.

Tags, points, test cells, kernelspec, outputs and metadata of a submission count for nothing.
"""

from __future__ import annotations

import copy
import math
import shlex
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatch
from functools import cached_property, partial
from itertools import product
from pathlib import Path

import nbformat
from nbgrader.converters import Autograde
from nbgrader.coursedir import CourseDirectory
from nbgrader.nbgraderformat import MetadataValidator, SchemaTooOldError, ValidationError
from nbgrader.preprocessors import ClearHiddenTests, ClearSolutions, ComputeChecksums, Execute, IncludeHeaderFooter
from traitlets.config import Config

from nbproof.cells import CellKind, exercise_of
from nbproof.checks.visible import visible_text
from nbproof.command import nbgrader_command
from nbproof.course_file import Course
from nbproof.errors import CourseError
from nbproof.lesson.check_cell import is_plain
from nbproof.lesson.from_notebook import cell_of, grading_of, kind_of, lesson_of, name_of, text_of, with_checks
from nbproof.lesson.heading import titles_in
from nbproof.lesson.lesson import Cell, CheckCell, Lesson, PlainCell, Question, TestCell
from nbproof.marking.autotests import with_tests
from nbproof.marking.plain import plain_cell
from nbproof.marking.results import WrittenAnswer
from nbproof.recover.answers import Answers, OwnCell
from nbproof.recover.matching import Former, ReleasedNotebook, questions_above
from nbproof.recover.notebook_bytes import Attachments, read_attachments
from nbproof.text import in_one_line

__all__ = [
    "OWN",
    "Blueprint",
    "files_beside",
    "fill_in",
    "is_blank",
    "read_blueprint",
    "written_in",
]

OWN = "learners_own_cell"
"""In the metadata of a rebuilt notebook's cell: that it is none of the instructor's; its number among the learner's."""


@dataclass(frozen=True, kw_only=True)
class Blueprint(Lesson):
    """A lesson as the instructor's notebook has it, and what learners got of it."""

    notebook: nbformat.NotebookNode
    """The learner's version: stubs, no hidden tests."""
    beside: dict[str, bytes] = field(default_factory=dict)
    """The instructor's data files beside the notebook, by relative path."""
    cell_seconds: float | None = None
    """If all tests of the lesson are plain: how long a cell may run, as nbgrader is told, or 0 if it is not told. A cell that
    takes longer is interrupted, and what it defined stands. None: each exercise has its time, and is ended after it."""
    former: tuple[Former, ...] = ()
    """What learners were handed with earlier versions."""

    @cached_property
    def setup(self) -> dict[str, str]:
        """The texts of the setup cells."""
        return {cell.grade_id: cell.source for cell in self.cells if cell.kind is CellKind.SETUP}

    @cached_property
    def tests(self) -> dict[str, TestCell]:
        """The test cells."""
        return {cell.grade_id: cell for cell in self.cells if isinstance(cell, TestCell)}

    @cached_property
    def stubs(self) -> dict[str, str]:
        """The TODO cells as learners have them."""
        return self.handout.stubs

    @cached_property
    def written(self) -> dict[str, Question]:
        """What a person marks: grade_id of the cell -> the question as learners have it."""
        cells = map(cell_of, self.notebook.cells)
        return {cell.grade_id: cell for cell in cells if isinstance(cell, Question)}

    @cached_property
    def withheld(self) -> dict[str, str]:
        """grade_id -> the instructor's text, of cells other than tests that learners have in part only."""
        shown = {cell.grade_id: cell.source for cell in self.handout.cells}
        named = [cell for cell in self.cells if cell.grade_id and cell.grade_id not in self.tests]
        return {cell.grade_id: cell.source for cell in named if cell.source != shown[cell.grade_id]}

    @cached_property
    def solutions(self) -> dict[str, str]:
        """The TODO cells as the instructor has them, without mere stubs."""
        texts = {name: text for name, text in self.withheld.items() if name in self.stubs}
        return {name: text for name, text in texts.items() if text.strip() != self.stubs[name].strip()}

    def theirs(self, files: Mapping[str, bytes]) -> dict[str, bytes]:
        """A learner's files, without two kinds: the instructor has a file of the same name, or the file would be imported in
        place of an instructor's module."""
        modules = {name.removesuffix(".py") for name in self.beside if name.endswith(".py")}
        first = {name: Path(name).parts[0].partition(".")[0] for name in files}
        return {name: data for name, data in files.items() if name not in self.beside and first[name] not in modules}

    def files_with(self, files: Mapping[str, bytes]) -> dict[str, bytes]:
        """What lies beside a learner's notebook when it runs: the instructor's files, and theirs."""
        return {**self.beside, **self.theirs(files)}

    @cached_property
    def titles(self) -> dict[str, str]:
        """Exercise, or question -> the title that people read."""
        return titles_in(
            map(cell_of, self.notebook.cells), {*(test.exercise for test in self.tests.values()), *self.written}
        )

    @cached_property
    def plain(self) -> dict[str, PlainCell]:
        """The plain test cells."""
        return {name: test for name, test in self.tests.items() if isinstance(test, PlainCell)}

    @cached_property
    def checks(self) -> dict[str, CheckCell]:
        """The test cells of checks."""
        return {name: test for name, test in self.tests.items() if isinstance(test, CheckCell)}

    @cached_property
    def handout(self) -> ReleasedNotebook:
        """What learners were handed: safe to show to a process that has read a submission."""
        tests = {name: test.exercise for name, test in self.tests.items()}
        cells = []
        for cell in map(cell_of, self.notebook.cells):
            kind = CellKind.ANSWER if cell.kind is CellKind.MANUAL else cell.kind
            exercise = tests.get(cell.grade_id, "")
            cells.append(Cell(kind, cell.source, grade_id=cell.grade_id, id=cell.id, exercise=exercise))
        return ReleasedNotebook(self.slug, tuple(cells), self.former)

    def with_questions(self, own: Sequence[OwnCell]) -> tuple[OwnCell, ...]:
        """A learner's own cells, each with the questions that a person marks there.

        The cells below a task answer it. If there are none, the cells directly above it do, or those that end the notebook.
        """
        above = ["", *(name for _, name in questions_above(self.handout))]
        names = [above[one.after + 1] for one in own]
        tasks = {place: cell.grade_id for place, cell in enumerate(self.handout.cells) if cell.kind is CellKind.TASK}
        unanswered = {place: task for place, task in tasks.items() if task not in names}
        at_end = "" if above[-1] in self.written else above[-1]
        answers = []
        for one, name in zip(own, names, strict=True):
            is_at_end = name == at_end != ""
            questions = [task for place, task in unanswered.items() if is_at_end or one.after == place - 1]
            if name in self.written:
                questions.insert(0, name)
            answers.append(replace(one, questions=tuple(questions)))
        return tuple(answers)

    def answers_to_tasks(self, own: Sequence[OwnCell]) -> dict[str, str]:
        """Task -> the text of the cells that answer it; empty if there are none."""
        answers = {}
        for name, question in self.written.items():
            if question.kind is CellKind.TASK:
                answers[name] = "\n\n".join(one.source for one in own if name in one.questions)
        return answers


def read_blueprint(course: Course, source: Path, config: Config, lesson: str = "") -> Blueprint:
    """Read the instructor's notebook. ``lesson``: what it is called, if that is not the file's name."""
    instructor = _instructors(course, source, config)
    learner = _released(instructor, source, config)
    shown = {name_of(cell): cell.source for cell in learner.cells}
    cells = list(_with_tests(course, list(map(cell_of, instructor.cells)), shown, config))
    is_plain = all(isinstance(cell, PlainCell) for cell in cells if cell.kind is CellKind.TEST)
    seconds = _cell_seconds(config) if is_plain else None
    taken_apart = lesson_of(course, source, cells, lesson or source.stem)
    beside = files_beside(source, config)
    return Blueprint(**vars(taken_apart), notebook=learner, beside=beside, cell_seconds=seconds)


def _instructors(course: Course, source: Path, config: Config) -> nbformat.NotebookNode:
    """The instructor's notebook with all that nbgrader puts into it. Raises CourseError if it cannot be read."""
    try:
        notebook = with_tests(course, source, config)
        _refuse_what_is_not_ours(notebook, source)
        return IncludeHeaderFooter(config=config).preprocess(notebook, {})[0]
    except CourseError:
        raise
    except Exception as error:  # JSON, nbformat and a file system raise many kinds
        raise CourseError(
            f"it cannot be read: {in_one_line(error)}",
            str(source),
            "put a copy there that opens in JupyterLab, and save it there; then grade again",
        ) from None


def _released(instructor: nbformat.NotebookNode, source: Path, config: Config) -> nbformat.NotebookNode:
    """What learners are handed. Raises CourseError for the first cell that nbgrader does not take, or cannot clear."""
    learner, met = copy.deepcopy(instructor), set[str]()
    # Mark schemes stand in solution regions. By its checksum nbgrader knows an answer that nobody has touched.
    made = [one(parent=None, config=config) for one in (ClearSolutions, ClearHiddenTests, ComputeChecksums)]
    for number, cell in enumerate(learner.cells, 1):
        name = name_of(cell)
        cure = "mend its marks, or its type, id and points in JupyterLab's Create Assignment panel, and save; then grade again"
        try:
            _refuse_bad_cell(cell, met)
            met.add(name)
            for preprocessor in made:
                preprocessor(nbformat.NotebookNode(metadata=learner.metadata, cells=[cell]), {})
            continue
        except SchemaTooOldError:
            told, cure = "its metadata is of an older nbgrader", nbgrader_command(f"update {shlex.quote(str(source))}")
        except ValidationError as error:
            told = ": ".join([*map(str, error.path), in_one_line(error.message)])
        except Exception as error:  # metadata and text may be anything
            told = in_one_line(error)
        raise CourseError(f"cell {number} ({name or 'without an id'}): {told}", str(source), cure)
    return learner


def _refuse_bad_cell(cell: nbformat.NotebookNode, met: Collection[str]) -> None:
    """Raise ValueError, or an error of nbgrader's, for a cell that nbgrader does not take. ``met``: the ids above it."""
    grading = grading_of(cell)
    if cell.cell_type not in ("code", "markdown", "raw") or not isinstance(cell.source, str):
        raise ValueError(f"no cell is of the type {cell.cell_type}")
    if "nbgrader" in cell.metadata:
        MetadataValidator().validate_cell(cell)
    if not math.isfinite(grading.get("points", 0)):
        raise ValueError(f"points: {grading['points']} is no number of points")
    name = name_of(cell)
    if name in met and any(grading.get(one) for one in ("grade", "solution", "locked")):
        raise ValueError(f"another cell above it has the same id, {name}")


def _cell_seconds(config: Config) -> float:
    """Seconds of a cell, by ``c.ExecutePreprocessor.timeout`` and the like: infinite if that is 0 or less, 0 if it is not set."""
    if not any("timeout" in config[one.__name__] for one in Execute.mro() if one.__name__ in config):
        return 0.0
    told = Execute(config=config).timeout
    return float(told) if told and told > 0 else math.inf


def files_beside(source: Path, config: Config, theirs: bool | None = False, most: float = math.inf) -> Attachments:
    """The files beside a notebook, as nbgrader copies them: it leaves out those that it is told to ignore.

    ``theirs``: False for the instructor's own; True for those that learners write, and nbgrader must not overwrite; None for all.
    ``most``: how many bytes are read.
    """
    course = CourseDirectory(config=config)
    written = Autograde(config=config).exclude_overwriting.get(source.parent.name, ())
    found = read_attachments(source.parent, source, int(min(most, course.max_dir_size * 1000)))

    def is_ignored(name: str) -> bool:
        return any(fnmatch(*pair) for pair in product(Path(name).parts, course.ignore))

    wanted = (True, False) if theirs is None else (theirs,)
    return {name: data for name, data in found.items() if (name in written) in wanted and not is_ignored(name)}


_OTTER = ("ASSIGNMENT CONFIG", "BEGIN QUESTION", "otter.Notebook(")


def _refuse_what_is_not_ours(notebook: nbformat.NotebookNode, source: Path) -> None:
    """Raise CourseError for a notebook that has no cell of nbgrader's, or has cells that are no Python: all would fail."""
    if not any(map(grading_of, notebook.cells)):
        why = "it has nothing to grade by"
        cure = "mark its answers and tests in JupyterLab's Create Assignment panel"
        text = "\n".join(map(text_of, notebook.cells))
        if any(word in text for word in _OTTER):
            why = "it is made for otter, which Gradescope runs as well"
            cure = f"grade it with otter; or {cure}"
        raise CourseError(f"no cell of it is nbgrader's: {why}", str(source), cure)
    kernel, info = (notebook.metadata.get(name, {}) for name in ("kernelspec", "language_info"))
    language = str(kernel.get("language") or info.get("name") or "python")
    if language.lower() not in ("python", "ipython", "python3"):
        raise CourseError(
            f"its cells are {language}, for the kernel {kernel.get('name', '')!r}, and only Python is graded here",
            str(source),
            "grade this assignment with nbgrader itself: nbgrader autograde",
        )


def _with_tests(course: Course, cells: Sequence[Cell], shown: Mapping[str, str], config: Config) -> Iterator[Cell]:
    """The cells, with what test cells test. If the name of one does not say what it tests, it tests the answer above it."""
    answers = [cell.grade_id for cell in cells if cell.kind is CellKind.ANSWER]
    above = ""
    for cell in cells:
        name = cell.grade_id
        if cell.kind is CellKind.ANSWER:
            above = name
        if cell.kind is CellKind.TEST:
            cell = _test_cell(course, cell, shown[name], exercise_of(name, answers) or above or name, config)
        yield cell


def _test_cell(course: Course, cell: Cell, shown: str, exercise: str, config: Config) -> TestCell:
    """What tests an exercise: checks, or nbgrader's own kind. That is decided here, and nowhere else."""
    visible = partial(visible_text, course)
    source = with_checks(course, cell.source, visible)
    shown = with_checks(course, shown, visible)
    if is_plain(course, cell.source):
        return plain_cell(cell.grade_id, cell.points, (source, shown), exercise, config)
    return CheckCell(CellKind.TEST, source, grade_id=cell.grade_id, points=cell.points, shown=shown, exercise=exercise)


def fill_in(blueprint: Blueprint, rebuilt: Answers) -> nbformat.NotebookNode:
    """The learner's version of the notebook with these answers in its TODO cells, and their own cells in their places."""
    notebook = copy.deepcopy(blueprint.notebook)
    for cell in notebook.cells:
        name = name_of(cell)
        if name in rebuilt.answers and kind_of(cell) is not CellKind.TASK:
            cell["source"] = rebuilt.answers[name]
    behind: defaultdict[int, list[nbformat.NotebookNode]] = defaultdict(list)
    for number, own in enumerate(rebuilt.own):
        if own.place is not None and blueprint.handout.cells[own.place].kind is CellKind.SHOW:
            # What the learner has changed in a cell that only shows something takes its place.
            notebook.cells[own.place]["source"] = own.source
            notebook.cells[own.place]["metadata"][OWN] = number
        else:
            make = nbformat.v4.new_code_cell if own.code else nbformat.v4.new_markdown_cell
            behind[own.after].append(make(own.source, id=f"own-{number}", metadata={OWN: number}))
    cells = behind[-1]
    for place, cell in enumerate(notebook.cells):
        cells += [cell, *behind[place]]
    notebook["cells"] = cells
    return notebook


# What a person marks. The mark stands in nbgrader's gradebook: ``find_grade(question.id, lesson, lesson, learner)`` has
# ``manual_score`` and ``needs_manual_grade``, ``find_comment`` (with the same arguments) has ``manual_comment``.


def written_in(questions: Mapping[str, Question], answers: Mapping[str, str]) -> tuple[WrittenAnswer, ...]:
    """For each question, whether there is something to mark among the answers."""
    return tuple(
        WrittenAnswer(name, one.points, not is_blank(one, answers.get(name, one.stub)), one.kind is CellKind.MANUAL)
        for name, one in questions.items()
    )


def is_blank(question: Question, text: str) -> bool:
    """Whether the stub still stands there. An empty text is not blank: the learner may mean something by it."""
    return text.strip() == question.stub.strip()
