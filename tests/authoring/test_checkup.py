"""``python -m course check``: no exercise holds in a lesson that is broken, and what was looked at is said."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest

from nbproof.authoring.checkup import check_release, leaks
from nbproof.authoring.contract import Record
from nbproof.command import course_command
from nbproof.errors import LessonError
from nbproof.lesson.from_text import read_lesson
from nbproof.lesson.lesson import Exercise, Lesson
from tests import COURSE, main
from tests.authoring.tiny import Sketch, write_lesson

NO_HEADING = "catch: no heading above its TODO cell says its title, difficulty and minutes"


def lesson_of(course: Path) -> Lesson:
    return read_lesson(COURSE, course / "lessons" / "00_tiny")


def test_what_is_broken_in_a_lesson_is_told_of_that_lesson_only(
    course: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("nbproof.authoring.checkup.check_contract", lambda pairs, step, told: [])
    path = course / "lessons" / "00_tiny" / "lesson.py"
    path.write_text(path.read_text().replace("# ### Exercise: catch", "# ## Catch", 1))
    write_lesson(course, "01_other", [Sketch("other")])
    assert main(["check", "--course", str(course), "catch"]) == 1
    assert NO_HEADING in capsys.readouterr().out
    assert main(["check", "--course", str(course), "other"]) == 1
    out = capsys.readouterr().out
    assert NO_HEADING not in out and "source/01_other is missing" in out


def test_what_was_found_is_told_at_once(
    course: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stopped(pairs: list[tuple[Lesson, Exercise]], step: object, told: Callable[[Record], None]) -> None:
        told(Record(pairs[0][1], violations=[LessonError("nobody breaks it", "lesson.py:7", "break it")]))
        raise KeyboardInterrupt

    monkeypatch.setattr("nbproof.authoring.checkup.check_contract", stopped)
    assert main(["check", "--course", str(course), "00_tiny"]) == 130
    assert capsys.readouterr().out.splitlines() == [
        "[1/1] catch: 0 of 6 mutants killed, 0.0 s: 1 violation",
        "error: nobody breaks it",
        "  at:   lesson.py:7",
        "  next: break it",
    ]


def test_what_is_not_fresh_or_does_not_belong_is_named_and_nothing_else(course: Path) -> None:
    lesson, source, release = (course / name for name in ("lessons/00_tiny", "source/00_tiny", "release/00_tiny"))
    (lesson / "lesson.py").write_text((lesson / "lesson.py").read_text().replace("A tiny lesson", "A small lesson"))
    (source / "data.csv").write_text("")
    (release / "00_tiny.ipynb").unlink()
    without_budgets = replace(COURSE, budget={})  # they are for lessons of the course
    assert {str(one) for one in check_release(without_budgets, course, [lesson_of(course)])} == {
        str(LessonError("source/00_tiny is outdated", str(source / "00_tiny.ipynb"), course_command("build"))),
        str(LessonError("release/00_tiny is missing", str(release / "00_tiny.ipynb"), course_command("build"))),
        "error: learners would get this file as well: nbgrader hands out the whole folder\n"
        f"  at:   {source / 'data.csv'}\n  next: move it out of source/, or, if they should, to {lesson / 'files'}",
    }


def test_a_leak_is_named(course: Path) -> None:
    path = course / "release" / "00_tiny/00_tiny.ipynb"
    notebook = nbformat.read(path, as_version=4)
    answer, test = notebook.cells[-2:]
    answer.source = answer.source.replace("pass  # TODO: your code", "answer.append(output)")
    test.source += '\ncheck("catch", OtherForward)'
    answer.outputs = [nbformat.v4.new_output("stream", text="seen")]
    nbformat.write(notebook, path)
    found = list(leaks(lesson_of(course), path))
    assert {one.fact for one in found} == {
        "the release shows a private line: answer.append(output)",
        'the release shows a private line: check("catch", OtherForward)',
        "the release carries an output",
    }
    assert {one.place for one in found} == {str(path)}
