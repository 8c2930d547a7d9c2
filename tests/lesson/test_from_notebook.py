"""Both readers say the same of a lesson: the one of the text that authors write, and the one of the notebook that is built."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from nbproof.authoring.build import as_text, notebook_of
from nbproof.course_file import read_course
from nbproof.handed_out import checks_files, visible_in
from nbproof.lesson import lesson as value
from nbproof.lesson.from_notebook import read_lesson_notebook
from nbproof.lesson.from_text import read_lesson
from tests import COURSE, ROOT, SLUGS, some_by_day, the_lesson

PLAIN = """\
# %% [markdown]
# # Powers
#
# ### Exercise: All `squares`
#
# medium · 10 min · further

# %% nbgrader={"grade": false, "grade_id": "squares", "locked": false, "schema_version": 3, "solution": true, "task": false}
def squares(n):
    ### BEGIN SOLUTION
    return [i * i for i in range(n)]
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "test_squares", "locked": true, "points": 2, "schema_version": 3, "solution": false}
assert squares(3) == [0, 1, 4]
### BEGIN HIDDEN TESTS
assert squares(1) == [0]
### END HIDDEN TESTS
"""


def of_test(cell: value.TestCell) -> tuple[object, ...]:
    """What both readers know of a test cell. A build writes a wrong answer below what is hidden."""
    hidden, _, _ = cell.hidden.partition("CANARY = ")
    shown = cell.shown.replace("# Run this cell to check your answer.\n", "").strip()
    return cell.grade_id, cell.points, shown, hidden.strip(), cell.call.splitlines()[-1:]


def of_exercise(one: value.Exercise) -> tuple[object, ...]:
    """What both readers know of an exercise."""
    about = (one.id, one.title, one.difficulty, one.minutes, one.further, one.points)
    return *about, one.stub, one.answer.source, tuple(map(of_test, one.tests))


def alike(written: value.Lesson, notebook: Path, checks: Mapping[str, str]) -> None:
    read = read_lesson_notebook(COURSE, notebook, checks)
    assert [*map(of_exercise, read.exercises)] == [*map(of_exercise, written.exercises)]
    assert (read.slug, read.title) == (written.slug, written.title)
    assert all(one.title and one.minutes for one in read.exercises)


def visible(texts: Path) -> dict[str, str]:
    return {key: text for name, path in checks_files(texts).items() for key, text in visible_in(name, path).items()}


@pytest.mark.parametrize("slug", some_by_day(SLUGS, 3))
def test_both_readers_say_the_same(slug: str) -> None:
    alike(the_lesson(slug), ROOT / "source" / slug / f"{slug}.ipynb", visible(ROOT / "lessons"))


def test_both_readers_say_the_same_of_a_course_in_plain_python() -> None:
    root = ROOT / "examples" / "iterators"
    for folder in sorted((root / "lessons").glob("*/")):
        notebook = root / "source" / folder.name / f"{folder.name}.ipynb"
        alike(read_lesson(read_course(root), folder), notebook, visible(root / "lessons"))


def test_both_readers_say_the_same_of_plain_tests(tmp_path: Path) -> None:
    folder = tmp_path / "01_powers"
    folder.mkdir()
    (folder / "lesson.py").write_text(PLAIN, encoding="utf-8")
    written = read_lesson(COURSE, folder)
    (exercise,) = written.exercises
    assert exercise.plain == {"test_squares"} and exercise.further and exercise.difficulty == "medium"
    (test,) = exercise.tests
    assert (test.shown, test.hidden) == ("assert squares(3) == [0, 1, 4]", "assert squares(1) == [0]")
    notebook = tmp_path / "01_powers.ipynb"
    notebook.write_text(as_text(notebook_of(written)), encoding="utf-8")
    alike(written, notebook, {})
