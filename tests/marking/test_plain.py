"""Plain nbgrader lessons: test cells with asserts, or of another library, get the marks that nbgrader itself would give."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import nbformat
import nbgrader
import numpy as np
import pytest
import torch
from nbgrader.api import Gradebook
from nbgrader.preprocessors import IgnorePattern
from nbgrader.utils import determine_grade
from traitlets.config import Config

from benchmarks.stock import grade_plainly, plain_config
from nbproof.gradebook.graded_notebook import graded_notebook
from nbproof.lesson.check_cell import is_plain
from nbproof.lesson.from_notebook import cell_of, name_of
from nbproof.lesson.heading import headings_in, titles_in
from nbproof.lesson.lesson import PlainCell
from nbproof.marking.blueprint import Blueprint, read_blueprint
from nbproof.marking.plain import hidden_run, plain_cell, plain_run, scored, undecided
from nbproof.marking.results import Verdict
from nbproof.places import course_config
from nbproof.run.batch import grade_class
from nbproof.run.intake import take_in
from nbproof.run.pool import PoolMaker
from nbproof.sandbox.engine import Engine
from nbproof.sandbox.exceptions import GradingError
from nbproof.testing import Bench, Rehearsal
from nbproof.values.words import ENGLISH
from tests import COURSE

ROOT = Path(__file__).parent.parent.parent
SLUG = "ps1"

Graded = Callable[..., Verdict]
Lines = tuple[str, str, dict[str, Any] | None]


def _meta(name: str, **more: Any) -> dict[str, Any]:
    usual = dict.fromkeys(("grade", "locked", "solution", "task"), False)
    return {**usual, "grade_id": name, "schema_version": 3, **more}


def _answer(name: str, source: str) -> Lines:
    return ("code", f"### BEGIN SOLUTION\n{source}\n### END SOLUTION", _meta(name, solution=True))


def _test(name: str, points: float, source: str) -> Lines:
    return ("code", source, _meta(name, grade=True, locked=True, points=points))


def _notebook(*cells: Lines) -> nbformat.NotebookNode:
    notebook = nbformat.v4.new_notebook()
    for number, (kind, source, grading) in enumerate(cells):
        new = nbformat.v4.new_code_cell if kind == "code" else nbformat.v4.new_markdown_cell
        notebook.cells.append(new(source, id=f"c{number}", metadata={"nbgrader": grading} if grading else {}))
    return notebook


SQUARES = "def squares(n):\n    if n < 1:\n        raise ValueError('too small')\n    return [i ** 2 for i in range(1, n + 1)]"
TOTAL = "def total(n):\n    return sum(squares(n))"
WRITES = "import csv\nrows = list(csv.reader(open('data/table.csv')))"
LESSON = _notebook(
    ("markdown", "# Squares", None),
    ("code", "%matplotlib inline\nimport math\nimport matplotlib.pyplot as plt\nlimit = 10", None),
    _answer("squares", SQUARES),
    ("code", "squares(10)", None),
    _test(
        "correct_squares", 2,
        '"""squares gives the squares."""\nassert squares(1) == [1]\nassert squares(2) == [1, 4], "one and four"\n'
        "### BEGIN HIDDEN TESTS\nassert squares(11)[-1] == 121, 'the hidden eleventh'\n### END HIDDEN TESTS",
    ),
    _test("cell-3f2a", 1, "try:\n    squares(0)\nexcept ValueError:\n    pass\nelse:\n    raise AssertionError('did not raise')"),
    _answer("total", TOTAL),
    _test(
        "uses_squares", 1,
        "kept = squares\ndel squares\ntry:\n    total(1)\nexcept NameError:\n    pass\nelse:\n"
        "    raise AssertionError('does not use squares')\nfinally:\n    squares = kept",
    ),
    _test("partial", 4, "assert kept is squares\nwanted = [1, 5, 14, 30]\nsum(total(n) == w for n, w in enumerate(wanted, 1))"),
    _answer("rows", WRITES),
    _test("read_rows", 1, "%matplotlib inline\nassert rows == [['1', '2']]\nplt.plot([1, 2]);"),
    ("markdown", "What is it good for?", _meta("good_for", grade=True, solution=True, points=2)),
    ("code", "# use it\n", _meta("application", grade=True, solution=True, points=3)),
    ("markdown", "Do something.", _meta("task", task=True, locked=True, points=4)),
    _test("nothing_to_earn", 0, "assert squares(3)"),
    _test("about_all", 1, "assert limit == 10 and math.pi > 3"),
)  # fmt: skip
RIGHT = {"squares": SQUARES, "total": TOTAL, "rows": WRITES}
FULL = {
    "correct_squares": 2.0, "cell-3f2a": 1.0, "uses_squares": 1.0, "partial": 4.0, "read_rows": 1.0, "nothing_to_earn": 0.0,
    "about_all": 1.0,
}  # fmt: skip


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course of somebody who has never heard of this project's lessons: only source/."""
    root = tmp_path_factory.mktemp("plain")
    (root / "source" / SLUG / "data").mkdir(parents=True)
    nbformat.write(LESSON, root / "source" / SLUG / f"{SLUG}.ipynb")
    (root / "source" / SLUG / "data" / "table.csv").write_text("1,2\n")
    shutil.copy(ROOT / "nbgrader_config.py", root)
    return root


@pytest.fixture(scope="module")
def blueprint(course: Path) -> Blueprint:
    return read_blueprint(COURSE, course / "source" / SLUG / f"{SLUG}.ipynb", course_config(course))


def handed_in(blueprint: Blueprint, answers: dict[str, str]) -> bytes:
    notebook = nbformat.from_dict(json.loads(json.dumps(blueprint.notebook)))
    for cell in notebook.cells:
        name = cell.metadata.get("nbgrader", {}).get("grade_id")
        cell["source"] = answers.get(name, cell.source)
    return json.dumps(notebook).encode()


@pytest.fixture
def graded(engine: Engine, blueprint: Blueprint) -> Graded:
    """graded(squares="def ..."): the verdict, all else being right; None for the stub."""

    def of(files: dict[str, bytes] | None = None, **answers: str | None) -> Verdict:
        given = {name: text for name, text in {**RIGHT, **answers}.items() if text is not None}
        bench = Bench(engine, blueprint)
        return bench.verdict(bench.read(handed_in(blueprint, given)), files)

    return of


def _marks(verdict: Verdict) -> dict[str, float]:
    return {name: points for one in verdict.exercises for name, points in one.points.items()}


def _by_nbgrader(blueprint: Blueprint, verdict: Verdict) -> dict[str, float | None]:
    """What nbgrader's own rule makes of the graded notebook."""
    cells = graded_notebook(blueprint, verdict).cells
    return {
        cell.metadata.nbgrader.grade_id: determine_grade(cell)[0]
        for cell in cells
        if cell.metadata.get("nbgrader", {}).get("grade")
    }


WRONG: dict[str, tuple[dict[str, str | None], dict[str, float]]] = {
    "nothing wrong": ({}, {}),
    "nothing there": ({"squares": None, "total": None, "rows": None}, dict.fromkeys(set(FULL) - {"about_all"}, 0.0)),
    "a visible assert": ({"squares": SQUARES.replace("** 2", "* 2")}, {"correct_squares": 0.0, "partial": 0.0}),
    "a hidden assert": ({"squares": SQUARES.replace("n + 1)", "min(n, 9) + 1)")}, {"correct_squares": 0.0}),
    "some of it": ({"total": "def total(n):\n    return sum(squares(n)) if n < 4 else 0"}, {"partial": 3.0}),
    "a warning": (
        {"total": "import warnings\ndef total(n):\n    warnings.warn('slow')\n    return sum(squares(n))"},
        {"uses_squares": 0.0, "partial": 0.0},
    ),
    "a loud one": (
        {"total": "print('x' * 2_000_000)\ndef total(n):\n    print('y' * 300_000)\n    return sum(squares(n)) * (n < 3)"},
        {"partial": 2.0},
    ),
}  # fmt: skip


@pytest.mark.parametrize(("answers", "less"), WRONG.values(), ids=list(WRONG))
def test_marks_are_those_of_nbgraders_rule(
    graded: Graded, blueprint: Blueprint, answers: dict[str, str | None], less: dict[str, float]
) -> None:
    verdict = graded(**answers)
    assert _marks(verdict) == {**FULL, **less}
    told = _by_nbgrader(blueprint, verdict)
    assert {name: told[name] for name in FULL} == {**FULL, **less}
    assert told["good_for"] == told["application"] == 0  # untouched: nbgrader gives nothing, and nobody has to look


def test_what_is_hidden_does_not_come_out(graded: Graded, blueprint: Blueprint) -> None:
    peeks = "def squares(n):\n    import inspect\n    print(n, inspect.stack()[1].code_context)\n    return [1, 4][:n]"
    for squares in (SQUARES.replace("n + 1)", "min(n, 9) + 1)"), peeks):
        verdict = graded(squares=squares)
        exercise = verdict.exercises[0]
        assert exercise.status == "failed"
        assert ENGLISH.finding(exercise.findings[0]) == "A hidden test failed."
        text = json.dumps([graded_notebook(blueprint, verdict), asdict(verdict)])
        assert "eleventh" not in text
        # As a number of its own: a seed or a time may hold these digits.
        assert not re.search(r"(?<![\d.])121(?!\d)", text)


def test_a_visible_assert_is_quoted(graded: Graded) -> None:
    test = graded(squares="def squares(n):\n    return [1]").exercises[0].findings[0]
    assert test.asked == "squares gives the squares."
    assert ENGLISH.finding(test) == '`assert squares(2) == [1, 4], "one and four"` does not hold: one and four.'


def test_manual_cells_and_tasks_wait_for_a_person(graded: Graded, blueprint: Blueprint) -> None:
    verdict = graded(application="print(total(4))", good_for="Area.")
    assert {one.id: (one.answered, one.max_score) for one in verdict.written} == {
        "good_for": (True, 2.0), "application": (True, 3.0), "task": (False, 4.0),
    }  # fmt: skip
    told = _by_nbgrader(blueprint, verdict)
    assert told["good_for"] is None
    assert told["application"] is None
    cell = next(
        c
        for c in graded_notebook(blueprint, verdict).cells
        if c.metadata.get("nbgrader", {}).get("grade_id") == "application"
    )
    assert cell.source == "print(total(4))"
    assert cell.outputs[0].text == "30\n"
    assert sum(cell.points for cell in blueprint.cells) == sum(FULL.values()) + 9


PLOT = "print(total(4))\nplt.plot([1, 2])\nplt.show()"
PLACES = {
    "below": ("task", 1),
    "below the next test": ("nothing_to_earn", 1),
    "above": ("task", 0),
    "at the end": ("", 0),
}


@pytest.mark.parametrize("place", PLACES)
def test_cells_that_answer_a_task_stand_in_their_places_with_what_they_made(
    engine: Engine, blueprint: Blueprint, place: str
) -> None:
    notebook = json.loads(handed_in(blueprint, RIGHT))
    text, code = nbformat.v4.new_markdown_cell("It **grows** <b>fast</b>."), nbformat.v4.new_code_cell(PLOT)
    code.outputs = [nbformat.v4.new_output("stream", text="what a learner has stored")]
    name, below = PLACES[place]
    names = [cell["metadata"].get("nbgrader", {}).get("grade_id") for cell in notebook["cells"]]
    at = names.index(name) + below if name else len(names)
    notebook["cells"][at:at] = [text, code]
    bench = Bench(engine, blueprint)
    verdict = bench.verdict(bench.read(json.dumps(notebook).encode()))
    if place == "below the next test":
        # It stands by a test that nobody marks: no answer to the task.
        assert (verdict.scores["task"], verdict.answers["task"]) == (0.0, "")
        return
    assert _marks(verdict) == FULL
    assert "task" not in verdict.scores
    assert verdict.answers["task"] == f"{text.source}\n\n{PLOT}"
    shown = graded_notebook(blueprint, verdict).cells
    assert [name_of(cell) for cell in shown[:at]] == [name or "" for name in names[:at]]
    assert "<strong>grows</strong> &lt;b&gt;fast" in shown[at].source
    assert shown[at + 1].source == PLOT
    printed, plot = shown[at + 1].outputs
    assert printed.text == "30\n"
    assert plot.data["image/png"]
    assert "stored" not in json.dumps([shown, asdict(verdict)])


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ([("markdown", "Do something.\n\nI did: it grows.")], "I did: it grows."),
        ([("markdown", "Do something."), ("raw", "It grows.")], "It grows."),
        ([("markdown", "Do something."), ("code", "import os; os._exit(3)")], "did not run to its end"),
        ([("markdown", "Do something."), ("code", "1 / 0")], "ZeroDivisionError"),
        ([("markdown", "Do something."), ("markdown", "Do something.")], ""),
        ([("markdown", "Do something."), ("markdown", " \n"), ("code", "")], ""),
    ],
)
def test_what_is_typed_at_a_task_is_seen_or_nothing_waits(
    engine: Engine, blueprint: Blueprint, cells: list[tuple[str, str]], said: str
) -> None:
    notebook = json.loads(handed_in(blueprint, RIGHT))
    (at,) = [n for n, cell in enumerate(notebook["cells"]) if cell["source"] == "Do something."]
    notebook["cells"][at]["source"] = cells[0][1]
    kinds = {
        "markdown": nbformat.v4.new_markdown_cell,
        "code": nbformat.v4.new_code_cell,
        "raw": nbformat.v4.new_raw_cell,
    }
    notebook["cells"][at + 1 : at + 1] = [kinds[kind](source) for kind, source in cells[1:]]
    bench = Bench(engine, blueprint)
    verdict = bench.verdict(bench.read(json.dumps(notebook).encode()))
    shown = graded_notebook(blueprint, verdict).cells
    assert shown[at].source == "Do something."
    assert said in json.dumps(shown)
    assert verdict.scores.get("task") == (None if said else 0.0)


def test_a_killed_exercise_costs_its_own_tests(graded: Graded, engine: Engine, blueprint: Blueprint) -> None:
    verdict = graded(rows="import os\nos._exit(3)")
    assert _marks(verdict) == {**FULL, "read_rows": 0.0}
    assert {one.id: one.status for one in verdict.exercises}["rows"] == "killed"
    bench = Bench(engine, replace(blueprint, cell_seconds=3.0))  # the course says 60
    endless = "def total(n):\n    while n > 3: pass\n    return sum(squares(n))"
    verdict = bench.verdict(bench.read(handed_in(blueprint, RIGHT | {"total": endless})))
    assert _marks(verdict) == {**FULL, "partial": 0.0}
    assert {one.id: one.status for one in verdict.exercises}["total"] == "timeout"
    verdict = graded(squares=SQUARES.replace("    if n", "    if n == 11: __import__('os')._exit(0)\n    if n"))
    assert _marks(verdict)["correct_squares"] == 0.0, "it ends the process in a hidden line"


def test_the_instructors_file_takes_the_place_of_a_learners(graded: Graded) -> None:
    assert _marks(graded(files={"data/table.csv": b"9,9\n", "data": b"in the way"})) == FULL


def plain(source: str, config: Config | None = None) -> PlainCell:
    """A plain test cell of two points, with nothing hidden."""
    return plain_cell("t", 2.0, (source, source), "f", config or Config())


@pytest.mark.parametrize(
    ("end", "is_told"),
    [
        ("f(2) == 4", True),
        ("not f(2)", True),
        ("f(2) == 4 and f(3) == 9", True),
        ("assert f(2) == 4", False),
        ("score = f(2) == 4\nscore * 2", False),
        ("check_all(f)", False),
    ],
)
def test_a_test_that_ends_with_a_comparison_and_so_gives_full_marks_is_named(end: str, is_told: bool) -> None:
    told = undecided("ps1", {"t": plain(f"f(1)\n{end}"), "u": plain("assert 1")})
    assert told.startswith("ps1: t: ends with a comparison") is is_told
    assert bool(told) is is_told


def test_no_file_of_a_learners_is_imported_in_place_of_the_instructors(blueprint: Blueprint) -> None:
    lesson = replace(blueprint, beside={"helpers.py": b"", "table.csv": b""})
    hiding = ["helpers.py", "helpers/__init__.py", "helpers.so", "helpers.cpython-311-x86_64-linux-gnu.so"]
    kept = ["mine.py", "table/x.csv", "my/helpers.py"]
    assert list(lesson.theirs(dict.fromkeys([*hiding, *kept], b""))) == kept


def test_a_class_is_graded_end_to_end(course: Path, pool: PoolMaker, tmp_path: Path) -> None:
    shutil.copytree(course, tmp_path, dirs_exist_ok=True)
    room = Rehearsal(tmp_path, SLUG, pool)
    room.hand_in_all({"ada": RIGHT, "ben": {**RIGHT, "total": "total = len"}})
    whole = room.grade()
    assert whole.plain_tests == {SLUG: len(FULL)}
    assert [(one.score, one.waiting, one.problem) for one in whole.marks.values()] == [(10.0, 0, ""), (5.0, 0, "")]
    with room.gradebook() as gradebook:
        assert gradebook.find_submission(SLUG, "ada").max_score == 19
        task = gradebook.find_grade("task", SLUG, SLUG, "ada")
        assert (task.auto_score, task.needs_manual_grade) == (0.0, False)
    assert {one.how for one in room.grade().marks.values()} == {"unchanged"}
    # Another file beside the notebook is another lesson.
    (tmp_path / "source" / SLUG / "data" / "table.csv").write_text("3,4\n")
    with pytest.raises(GradingError, match="rows earns 1 of 2"):
        room.grade()
    third = room.grade(anyway=True)
    assert [one.score for one in third.marks.values()] == [9.0, 4.0]
    assert third.reasons == (f"{SLUG}: the lesson, or what grades it, changed, 2 submissions graded again",)


@pytest.mark.parametrize(
    ("source", "plain"),
    [
        ("assert f(1) == 2", True),
        ("check('q1', f)", True),
        ("from nbproof.checks.check import Check, check\nclass A(Check): pass\ncheck('x', A)", False),
        ("from nbproof.checks.check import Check, check\nassert True", True),
    ],
)
def test_what_is_plain(source: str, plain: bool) -> None:
    assert is_plain(COURSE, source) is plain


NUMBERS = {
    repr(np.float64(0.5)): 0.5,
    repr(np.float32(0.5)): 0.5,
    repr(np.int64(1)): 1.0,
    repr(torch.tensor(1.5)): 1.5,
    repr(torch.tensor(0.5, dtype=torch.float64, requires_grad=True)): 0.5,
    repr(np.float64(3.0)): 0.0,
    repr(np.True_): 2.0,
    repr(np.ones(2)): 2.0,
    repr(np.str_("0.5")): 2.0,
}
"""What a test cell may end with: the marks that it gives, of two. Above that, nbgrader accepts none; what is no number is all."""
RESULT = {"output_type": "execute_result", "data": {"text/plain": "1.5"}}


@pytest.mark.parametrize(
    ("outputs", "error", "score"),
    [
        ([], None, 2.0),
        ([RESULT], None, 1.5),
        ([{**RESULT, "data": {"text/plain": "7"}}], None, 0.0),
        ([{**RESULT, "data": None}, 3, None, {"output_type": []}], None, 0.0),
        ([{"output_type": "stream", "name": "stderr", "text": "w"}, RESULT], None, 0.0),
        ([RESULT], ["AssertionError", ""], 0.0),
        ("nonsense", None, 2.0),
        *(([{**RESULT, "data": {"text/plain": text}}], None, score) for text, score in NUMBERS.items()),
    ],
)
def test_outputs_are_worth_what_nbgrader_says(outputs: object, error: object, score: float) -> None:
    found, sentence = scored(outputs, error, 2.0)
    assert found == score
    assert bool(sentence) == (score < 2)


@pytest.mark.parametrize(
    ("options", "text", "score"),
    [
        ({"enabled": True, "pattern": "is slow"}, "UserWarning: it is slow\n", 2.0),
        ({"enabled": True, "pattern": "is slow"}, "UserWarning: it is wrong\n", 0.0),
        ({"enabled": True, "pattern": "^Note"}, "a\nNote", 0.0),
        ({"pattern": "is slow"}, "UserWarning: it is slow\n", 0.0),
    ],
)
def test_what_the_course_calls_harmless_costs_nothing_as_nbgrader_says(
    options: dict[str, Any], text: str, score: float
) -> None:
    output = nbformat.v4.new_output("stream", name="stderr", text=text)
    config, grading = Config({"IgnorePattern": options}), {"grade": True, "solution": False, "points": 2}
    test = plain("assert f()", config)
    assert plain_run(test, {"outputs": [output]}, ()).score == score
    assert hidden_run(None, test, {"outputs": [output]}).score == score
    cell = nbformat.v4.new_code_cell("", outputs=[output], metadata={"nbgrader": grading})
    cells = IgnorePattern(config=config)(nbformat.v4.new_notebook(cells=[cell]), {})[0].cells
    assert determine_grade(cells[0] if options.get("enabled") else cell)[0] == (score or 0)


@pytest.mark.parametrize(
    ("texts", "quoted"),
    [
        (["\n a.py:3: UserWarning: old\n  f()\n"], "beginning with `a.py:3: UserWarning: old`:"),
        (["\x1b[31m", "x\u202e" * 9_000], "beginning with `\\x1b[31mx\\u202e"),
        (["  \n"], "a warning for example:"),
        ([None, ["x"]], "a warning for example:"),
    ],
)
def test_what_was_written_to_stderr_is_quoted_where_nothing_is_hidden(texts: list[Any], quoted: str) -> None:
    outputs = [{"output_type": "stream", "name": "stderr", "text": text} for text in texts]
    _, sentence = scored(outputs, None, 2.0)
    assert quoted in sentence and len(sentence) < 1_500 and "\x1b" not in sentence
    run = hidden_run(None, plain("assert f()"), {"outputs": outputs})
    assert "a warning for example:" in run.sentence and "UserWarning" not in run.sentence


QUICK_START = Path(nbgrader.__file__).parent / "docs" / "source" / "user_guide"
Marks = dict[tuple[str, str, str], tuple[float | None, bool]]


def _book(root: Path, submissions: list[tuple[str, str]]) -> Marks:
    """(learner, lesson, cell) -> automatic mark, and whether it waits for a person."""
    found: Marks = {}
    with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as gradebook:
        for learner, lesson in submissions:
            for notebook in gradebook.find_submission(lesson, learner).notebooks:
                for grade in notebook.grades:
                    found[learner, lesson, grade.name] = (grade.auto_score, grade.needs_manual_grade)
    return found


@pytest.mark.nightly
@pytest.mark.stock
def test_marks_equal_stock_nbgraders(course: Path, pool: PoolMaker, blueprint: Blueprint, tmp_path: Path) -> None:
    """nbgrader's own quick-start course, and the lesson above."""
    if not (QUICK_START / "source" / "ps1" / "problem1.ipynb").is_file():
        pytest.skip("this nbgrader comes without its quick-start course: its marks are NOT tested")
    stock, ours, quick = tmp_path / "stock", tmp_path / "ours", "problem1"
    shutil.copytree(course, ours)
    ignored = shutil.ignore_patterns("problem2.ipynb")
    shutil.copytree(QUICK_START / "source" / "ps1", ours / "source" / quick, ignore=ignored)
    submissions = [("bitdiddle", quick), ("hacker", quick), ("nothing there", SLUG), ("some of it", SLUG)]
    for learner, lesson in submissions:
        place = ours / "submitted" / learner / lesson
        if lesson == quick:
            shutil.copytree(QUICK_START / "submitted" / learner / "ps1", place, ignore=ignored)
        else:
            answers = {**RIGHT, **WRONG["a hidden assert"][0], **WRONG[learner][0], "application": "total(2)"}
            place.mkdir(parents=True)
            given = {name: text for name, text in answers.items() if text is not None}
            (place / f"{SLUG}.ipynb").write_bytes(handed_in(blueprint, given))
    shutil.copytree(ours, stock)
    lessons = [quick, SLUG]
    told = grade_class(COURSE, ours, take_in(COURSE, ours, lessons), lessons, pool=pool)
    assert {one.problem for one in told.marks.values()} == {""}
    assert grade_plainly(plain_config(stock)) == {}
    # Of a task that nobody has answered there is nothing to mark: stock nbgrader has it wait all the same.
    untouched = {(learner, SLUG, "task"): (0.0, False) for learner in WRONG.keys() & {"nothing there", "some of it"}}
    assert _book(ours, submissions) == {**_book(stock, submissions), **untouched}


ODD = {
    "a test above its answer": [_test("t", 1, "assert True"), _answer("f", "f = abs")],
    "an answer without a test": [_answer("helper", "x = 3"), _answer("f", "f = abs"), _test("t", 1, "assert f(-x) == 3")],
    "no id": [
        ("code", "x = 1", {"grade": False, "solution": False, "locked": False, "schema_version": 3}), _test("t", 1, "assert x"),
    ],
    "marked by a person, then tested": [
        ("code", "# here", _meta("by_hand", grade=True, solution=True, points=2)), _test("t", 1, "import this as _; 1;"),
    ],
}  # fmt: skip


@pytest.mark.parametrize("cells", ODD.values(), ids=list(ODD))
def test_whatever_a_lesson_is_made_of_its_answers_earn_all_of_it(
    engine: Engine, tmp_path: Path, cells: list[Lines]
) -> None:
    path = tmp_path / "odd.ipynb"
    nbformat.write(_notebook(*cells), path)
    odd = read_blueprint(COURSE, path, course_config(ROOT))
    solved = {
        cell.metadata.nbgrader.grade_id: cell.source
        for cell in nbformat.read(path, as_version=4).cells if cell.metadata.get("nbgrader", {}).get("solution")
    }  # fmt: skip
    bench = Bench(engine, odd)
    verdict = bench.verdict(bench.read(handed_in(odd, solved)))
    assert sum(test.points for test in odd.tests.values()) == verdict.score
    assert [one.status for one in verdict.exercises] == ["passed"]
    graded_notebook(odd, verdict)


HEADINGS = """
# One

## Two ##
### Exercise: Catch the `grad`
## **Part A** (2 points)
# <a id="x"></a>[Loops](#loops) &amp; *lists*
<h2 style='color:red'>Plots</h2>

```
# a comment
```
#hashtag

    # code
# After
"""


def test_headings_are_read_as_people_see_them() -> None:
    seen = ["One", "Two", "Catch the `grad`", "Part A (2 points)", "Loops & lists", "Plots", "After"]
    assert headings_in(HEADINGS) == seen


def test_each_exercise_is_called_by_the_heading_above_it() -> None:
    names = [f"cell-{number}123456789abcdef" for number in range(5)]
    notebook = _notebook(
        _answer(names[0], "# not a heading"),
        ("markdown", "# Lists\n\n## First", None),
        _answer(names[1], "x"),
        ("markdown", "No heading.", None),
        _answer("untested", "x"),
        ("markdown", "## Second", None),
        _answer(names[2], "x"),
        _answer(names[3], "x"),
        _answer("with_a_name", "x"),
        ("markdown", "## Part E\n\nDraw it.", _meta(names[4], task=True, locked=True)),
    )
    called = ["Exercise 1", "First", "Second: part 1 of 3", "Second: part 2 of 3", "Part E"]
    wanted = dict(zip(names, called, strict=True)) | {"with_a_name": "Second: with a name"}
    assert titles_in(map(cell_of, notebook.cells), set(wanted)) == wanted
