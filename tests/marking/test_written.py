"""Written answers: text for a person to mark, harmless on every page, and in the gradebook as stock nbgrader has it."""

from __future__ import annotations

import io
import json
import random
import time
from pathlib import Path

import bs4
import nbformat
import pytest
from nbconvert.filters import markdown2html
from nbgrader.utils import determine_grade
from rich.console import Console

from nbproof.authoring.build import notebook_of
from nbproof.authoring.lesson import read_lesson
from nbproof.cli.class_table import Told, print_class
from nbproof.gradebook.graded_notebook import shown_as_text
from nbproof.testing import Rehearsal
from nbproof.testing.small import LESSON, POINTS, RIGHT

QUESTION = """
# %% [markdown]
# ### In your own words: Times `two`
#
# 5 min · 2 points
#
# Why twice?

# %% [markdown] nbgrader={"grade": true, "grade_id": "explain_two", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# ### BEGIN SOLUTION
# REFERENCE-ANSWER
#
# ### BEGIN MARK SCHEME
# - MARK-SCHEME
# ### END MARK SCHEME
# ### END SOLUTION
"""  # noqa: E501
STUB = "Write your answer here, in two or three sentences."
FULL = sum(POINTS.values())


@pytest.fixture
def asking(room: Rehearsal) -> Rehearsal:
    """The small course with a question at its end."""
    path = room.root / "lessons" / LESSON / "lesson.py"
    path.write_text(path.read_text() + QUESTION)
    nbformat.write(notebook_of(read_lesson(path.parent)), room.source())
    return room


def _write(room: Rehearsal, learner: str, answers: dict[str, str], text: str | None) -> Path:
    """Hand in code and a written answer; None deletes its cell."""
    path = room.hand_in(learner, answers)
    notebook = json.loads(path.read_text())
    if text is None:
        del notebook["cells"][-1]
    else:
        notebook["cells"][-1]["source"] = text
    path.write_text(json.dumps(notebook))
    return path


def _grade(room: Rehearsal, **options: object) -> dict[str, tuple[float, float, int]]:
    return {one.learner: (one.score, one.max_score, one.waiting) for one in room.grade(**options).marks.values()}


def _book(room: Rehearsal, learner: str) -> tuple[float | None, float | None, bool, str | None, str | None]:
    with room.gradebook() as gradebook:
        grade, comment = (
            find("explain_two", LESSON, LESSON, learner) for find in (gradebook.find_grade, gradebook.find_comment)
        )
        marks = grade.auto_score, grade.manual_score, grade.needs_manual_grade
        return *marks, comment.auto_comment, comment.manual_comment


def test_the_gradebook_waits_for_a_person_and_keeps_what_the_person_gave(asking: Rehearsal) -> None:
    _write(asking, "ada", RIGHT, "Because 1 + 1 = 2.")
    _write(asking, "ben", {}, " \n")
    _write(asking, "zoe", RIGHT, STUB)
    _write(asking, "del", RIGHT, None)
    scores = _grade(asking)
    most = FULL + 2
    assert scores == {"ada": (FULL, most, 1), "ben": (0, most, 1), "zoe": (FULL, most, 0), "del": (FULL, most, 0)}
    assert _book(asking, "ada") == (None, None, True, None, None)
    # Who has deleted the text that was there may mean something by it: nbgrader leaves that to a person, too.
    assert _book(asking, "ben") == (None, None, True, None, None)
    for learner in ("zoe", "del"):
        assert _book(asking, learner) == (0, None, False, "No response.", None)

    # nbgrader's own rule comes to the same, from the graded notebooks.
    for learner in scores:
        notebook = nbformat.read(asking.autograded(learner), as_version=4)
        assert determine_grade(notebook.cells[-1]) == (_book(asking, learner)[0], 2)
        assert "REFERENCE-ANSWER" not in json.dumps(notebook)
        assert "MARK-SCHEME" not in json.dumps(notebook)
    kept = asking.verdict("ada")
    (told,) = kept.written
    assert (told.id, told.max_score, told.answered) == ("explain_two", 2, True)
    assert kept.answers["explain_two"] == "Because 1 + 1 = 2."

    with asking.gradebook() as gradebook:
        grade = gradebook.find_grade("explain_two", LESSON, LESSON, "ada")
        grade.manual_score, grade.needs_manual_grade = 1.5, False
        gradebook.find_comment("explain_two", LESSON, LESSON, "ada").manual_comment = "Nearly."
        gradebook.db.commit()
    assert _grade(asking)["ada"] == (FULL + 1.5, FULL + 2, 0)
    assert _grade(asking, force=True)["ada"] == (FULL + 1.5, FULL + 2, 0)
    # Other code, the same text: the mark stands. Another text: it stands as well, and is to be looked at again.
    _write(asking, "ada", {}, "Because 1 + 1 = 2.")
    assert _grade(asking)["ada"] == (1.5, FULL + 2, 0)
    _write(asking, "ada", {}, "Because 2 is prime.")
    assert _grade(asking)["ada"] == (1.5, FULL + 2, 1)
    assert _book(asking, "ada") == (None, 1.5, True, None, "Nearly.")


def test_what_stands_beside_its_cell_or_far_away_waits_for_a_person(asking: Rehearsal) -> None:
    said = {"below": "Because 1 + 1 is <b>two</b>.", "code": "# Because one and one are two, <b>always</b>."}
    for learner, text in said.items():
        path = _write(asking, learner, RIGHT, STUB)
        notebook = json.loads(path.read_text())
        kind = "code" if learner == "code" else "markdown"
        extra: dict[str, object] = {"outputs": [], "execution_count": None} if kind == "code" else {}
        notebook["cells"].append({"cell_type": kind, "metadata": {}, "source": text, **extra})
        path.write_text(json.dumps(notebook))
    graded = asking.grade()
    assert [(one.score, one.waiting, list(one.verdict.recovered)) for one in graded.marks.values()] == [
        (FULL, 1, ["explain_two"])
    ] * 2
    for learner, text in said.items():
        assert _book(asking, learner) == (None, None, True, None, None)
        notebook = nbformat.read(asking.autograded(learner), as_version=4)
        assert determine_grade(notebook.cells[-1]) == (None, 2)
        page = bs4.BeautifulSoup(markdown2html(notebook.cells[-1].source), "html.parser")
        assert text.strip("# ") in page.get_text()
        assert "A person decides" in page.get_text()
    # Again, with nothing new: what a person has marked stays marked.
    with asking.gradebook() as gradebook:
        grade = gradebook.find_grade("explain_two", LESSON, LESSON, "code")
        grade.manual_score, grade.needs_manual_grade = 2, False
        gradebook.db.commit()
    assert _grade(asking, force=True)["code"] == (FULL + 2, FULL + 2, 0)


def test_points_of_a_test_that_a_person_gave_wait_again_only_if_something_is_new(room: Rehearsal) -> None:
    def waits(**options: object) -> tuple[float | None, float | None, bool]:
        _grade(room, **options)
        with room.gradebook() as gradebook:
            grade = gradebook.find_grade("test_first", LESSON, LESSON, "ada")
            return grade.auto_score, grade.manual_score, grade.needs_manual_grade

    room.hand_in("ada", {**RIGHT, "first": "first = 1"})
    assert waits() == (0, None, False)
    with room.gradebook() as gradebook:
        gradebook.find_grade("test_first", LESSON, LESSON, "ada").manual_score = 1.5
        gradebook.db.commit()
    assert waits(force=True) == (0, 1.5, False)
    # As wrong as before, but another answer; then the same one, which nobody has looked at yet.
    room.hand_in("ada", {**RIGHT, "first": "first = 2"})
    assert waits() == waits(force=True) == (0, 1.5, True)
    room.hand_in("ada", RIGHT)
    assert waits() == (POINTS["first"], 1.5, True)
    results = room.grade()
    console = Console(width=300, file=io.StringIO(), color_system=None)
    print_class(console, Told(results, 1.0))
    assert f"look again: ada/{LESSON}" in console.file.getvalue()  # type: ignore[attr-defined]


SIGNS = [
    "<script>", "</div>", "<img src=x onerror=alert(1)>", "javascript:", "](", "![", "```", "$$", "\n\n", "    ", "&#",
    "<!--", "]]>", "<details open ontoggle=alert(1)>", "http://evil.example/", "- ", "1. ", "> ", "| a |\n| - |\n",
    "\\href{javascript:alert(1)}{x}",
    *"<>&\"'`*_#[]()!$\\{}|~-+=:;/.,?^%@\n\t \r\x0b\x00\x1f\u2028\u200f\u202eabcdefgx019äé漢🎈",
]  # fmt: skip


def test_whatever_is_typed_is_shown_as_text_and_does_nothing() -> None:
    chance = random.Random(5)
    for _ in range(300):
        text = "".join(chance.choice(SIGNS) for _ in range(chance.randrange(1, 120)))
        page = bs4.BeautifulSoup(markdown2html(shown_as_text(text)), "html.parser")
        assert {tag.name for tag in page.find_all(True)} <= {"div", "br", "code"}, text
        (frame,) = page.find_all("div")
        assert frame.attrs == {"class": ["tex2jax_ignore", "mathjax_ignore"]}
        assert not any(tag.attrs for tag in page.find_all(["br", "code"])), text
        # Nothing is lost: every letter is there, in its order; signs that turn the text are spelt out.
        wanted = text.replace("\u202e", "u202e").replace("\u200f", "u200f")
        seen = page.get_text().partition("[pictures are not shown here")[0]
        assert [s for s in seen if s.isalnum()] == [s for s in wanted if s.isalnum()], text


@pytest.mark.parametrize("text", ["`" * 10**6, "[" * 10**6, "\n" * 10**6, "<div>" * 10**5, "a " * 10**6, "> " * 10**5])
def test_a_long_answer_is_cut_and_takes_no_time(text: str) -> None:
    start = time.process_time()
    page = markdown2html(shown_as_text(text))
    assert time.process_time() - start < 2
    assert len(page) < 300_000
