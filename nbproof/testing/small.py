"""A small course, to be handed in and graded in a moment: a lesson of three exercises, each with a hidden check."""

from __future__ import annotations

import json
from pathlib import Path

from nbproof import course_here
from nbproof.course_file import Course, read_course
from nbproof.errors import UsageError
from nbproof.lesson.from_notebook import marked

__all__ = ["LESSON", "POINTS", "RIGHT", "WRONG", "course_of", "small_course"]

LESSON = "01_small"
POINTS = {"first": 2.0, "second": 1.0, "third": 1.0}
"""Exercise -> marks. The first one asks for twice x, the second for three times, the third for four times."""

RIGHT = {name: f"def {name}(x):\n    return x * {factor}" for factor, name in enumerate(POINTS, 2)}
WRONG = {name: f"def {name}(x):\n    return x * 99" for name in POINTS}

_ANSWER = """\
def {name}(x):
    # TODO: {factor} times x
    ### BEGIN SOLUTION
    return x * {factor}
    ### END SOLUTION"""

_TEST = '''\
from nbproof.checks.check import Check, check


class Values(Check):
    """`{name}(x)` is {factor} times x."""

    def probe(self, nb, case):
        return {{"result": nb.function("{name}")(case.tensor("x", 3))}}

    def truth(self, case):
        return {{"result": sum(case.tensor("x", 3) for _ in range({factor}))}}


check("{name}", Values)
### BEGIN HIDDEN TESTS
class Shapes(Check):
    """It works for any shape, and leaves x alone."""

    def probe(self, nb, case):
        x = case.tensor("x", 2, 4)
        return {{"result": nb.function("{name}")(x), "x": x}}

    def truth(self, case):
        x = case.tensor("x", 2, 4)
        return {{"result": x * {factor}, "x": x}}


check("{name}", Shapes)
### END HIDDEN TESTS'''


def _cell(name: str, source: str, **grading: object) -> str:
    grading = marked(name, **{"locked": True, **grading})["nbgrader"]
    return f"# %% nbgrader={json.dumps(grading)}\n{source}\n\n"


def small_course(folder: Path, config: str = "c = get_config()\n") -> Path:
    """Write lessons/, source/ and nbgrader_config.py into a folder, which it returns. It needs no course around it: where a
    process works for none, the folder is one of its own.
    """
    import nbformat

    from nbproof.authoring.build import notebook_of
    from nbproof.lesson.from_text import read_lesson

    text = "# %% [markdown]\n# # Small\n\n" + _cell("setup_imports", "import torch\nfrom torch import nn")
    for factor, (name, points) in enumerate(POINTS.items(), 2):
        text += _cell(name, _ANSWER.format(name=name, factor=factor), solution=True, locked=False)
        text += _cell(f"test_{name}", _TEST.format(name=name, factor=factor), grade=True, points=points)
    lesson, source = folder / "lessons" / LESSON, folder / "source" / LESSON
    for place in (lesson, source):
        place.mkdir(parents=True)
    (lesson / "lesson.py").write_text(text, encoding="utf-8")
    (folder / "nbgrader_config.py").write_text(config, encoding="utf-8")
    if not _is_any_course_there():
        (folder / "course.toml").write_text('leaves = ["torch"]\n', encoding="utf-8")
    nbformat.write(notebook_of(read_lesson(course_of(folder), lesson)), source / f"{LESSON}.ipynb")
    return folder


def _is_any_course_there() -> bool:
    """Whether this process works for a course, or stands in one."""
    try:
        course_here()
    except UsageError:
        return False
    return True


def course_of(root: Path) -> Course:
    """The course of a folder: its own, if it has a ``course.toml``, or the one that this process works for."""
    return read_course(root) if (root / "course.toml").is_file() else course_here()
