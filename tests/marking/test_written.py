"""Written answers: text for a person to mark, harmless on every page, and in the gradebook as stock nbgrader has it."""

from __future__ import annotations

import io
import json
import random
import shlex
from pathlib import Path

import bs4
import nbformat
import pytest
from nbconvert.filters import markdown2html
from nbgrader.utils import determine_grade
from rich.console import Console

from nbproof.authoring.build import notebook_of
from nbproof.cli.class_table import RunReport, print_class
from nbproof.gradebook.typeset import Typesetter
from nbproof.lesson.from_notebook import name_of
from nbproof.lesson.from_text import read_lesson
from nbproof.testing import Rehearsal
from nbproof.testing.small import LESSON, POINTS, RIGHT
from tests import COURSE, main

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
    nbformat.write(notebook_of(read_lesson(COURSE, path.parent)), room.source())
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
        (asked,) = [cell for cell in notebook.cells if name_of(cell) == "explain_two"]
        assert determine_grade(asked) == (None, 2)
        page = bs4.BeautifulSoup(markdown2html(asked.source), "html.parser")
        assert text.strip("# ") in page.get_text()
        assert "A person decides" in page.get_text()
    # Again, with nothing new: what a person has marked stays marked.
    with asking.gradebook() as gradebook:
        grade = gradebook.find_grade("explain_two", LESSON, LESSON, "code")
        grade.manual_score, grade.needs_manual_grade = 2, False
        gradebook.db.commit()
    assert _grade(asking, force=True)["code"] == (FULL + 2, FULL + 2, 0)


@pytest.mark.parametrize("column", ["manual_score", "extra_credit"])
def test_points_of_a_test_that_a_person_gave_wait_again_only_if_something_is_new(room: Rehearsal, column: str) -> None:
    def waits(**options: object) -> tuple[float | None, float | None, bool]:
        _grade(room, **options)
        with room.gradebook() as gradebook:
            grade = gradebook.find_grade("test_first", LESSON, LESSON, "ada")
            return grade.auto_score, getattr(grade, column), grade.needs_manual_grade

    room.hand_in("ada", {**RIGHT, "first": "first = 1"})
    assert waits() == (0, None, False)
    with room.gradebook() as gradebook:
        setattr(gradebook.find_grade("test_first", LESSON, LESSON, "ada"), column, 1.5)
        gradebook.db.commit()
    assert waits(force=True) == (0, 1.5, False)
    # As wrong as before, but another answer; then the same one, which nobody has looked at yet.
    room.hand_in("ada", {**RIGHT, "first": "first = 2"})
    assert waits() == waits(force=True) == (0, 1.5, True)
    room.hand_in("ada", RIGHT)
    assert waits() == (POINTS["first"], 1.5, True)
    results = room.grade()
    console = Console(width=300, file=io.StringIO(), color_system=None)
    print_class(console, RunReport(results, 1.0))
    assert f"look again: ada/{LESSON}" in console.file.getvalue()  # type: ignore[attr-defined]


SIGNS = [
    "<script>", "</div>", "<img src=x onerror=alert(1)>", "javascript:", "](", "![", "```", "$$", "\n\n", "    ", "&#",
    "<!--", "]]>", "<details open ontoggle=alert(1)>", "http://evil.example/", "- ", "1. ", "> ", "| a |\n| - |\n",
    "\\href{javascript:alert(1)}{x}",
    *"<>&\"'`*_#[]()!$\\{}|~-+=:;/.,?^%@\n\t \r\x0b\x00\x1f\u2028\u200f\u202eabcdefgx019äé漢🎈",
]  # fmt: skip


SET = {"p", "br", "em", "strong", "s", "code", "pre", "ul", "ol", "li", "blockquote", "hr", "span", "img"} | {
    *(f"h{n}" for n in range(1, 7)), "table", "thead", "tbody", "tr", "th", "td",
    "math", "mi", "mn", "mo", "mrow", "msup", "msub", "msubsup", "mtext", "mtable", "mtr", "mtd", "mspace",
}  # fmt: skip


def _page(text: str, pictures: dict[str, str] | None = None) -> bs4.BeautifulSoup:
    """As formgrader makes it."""
    return bs4.BeautifulSoup(markdown2html(Typesetter(pictures).typeset(text)), "html.parser")


@pytest.mark.parametrize("much", [False, True], ids=["typeset", "as typed"])
def test_whatever_is_typed_does_nothing(much: bool) -> None:
    chance = random.Random(5)
    for _ in range(300):
        text = "".join(chance.choice(SIGNS) for _ in range(chance.randrange(1, 120)))
        page = _page(text + "|" * 5_001 * much)
        assert {tag.name for tag in page.find_all(True)} <= ({"div", "pre", "em"} if much else {"div", *SET}), text
        (frame,) = page.find_all("div")
        assert frame.attrs == {"class": ["tex2jax_ignore", "mathjax_ignore"]}
        told = {(name, str(value)) for tag in page.find_all(True) for name, value in tag.attrs.items()}
        assert not any(
            name.startswith("on") or name in ("href", "src") or "script" in value
            for name, value in told
            if name != "title"
        ), text
        if much:
            # Nothing is lost: every letter is there, in its order; signs that turn the text are spelt out.
            wanted = text.replace("\u202e", "u202e").replace("\u200f", "u200f")
            seen = page.get_text().partition("[a picture is not shown here")[0]
            assert [s for s in seen if s.isalnum()] == [s for s in wanted if s.isalnum()], text


def test_an_instructor_s_comment_is_shown_whole() -> None:
    words = "so " * 10_000 + "end"
    assert Typesetter().typeset(words, whole=True).count("end") == 1
    assert "cut off" in Typesetter().typeset(words)


BOMBS = {
    "ticks": "`" * 10**6, "brackets": "[" * 7_900, "lines": "\n" * 10**6, "tags": "<div>" * 10**5, "words": "a " * 10**6,
    "quotes": "> " * 3_900, "stars": "*a **b " * 1_100, "dollars": "$$a\n\n" * 1_500, "roots": r"$\sqrt$ " * 900,
    "hats": "$" + r"\hat" * 1_500 + "$", "lists": "- " * 3_900, "formulas": f"${'a+' * 600}a$ " * 6,
    "cells": "|a" * 99 + "\n" + "|-" * 99 + "\n" + "|b\n" * 780, "tables": "|a" * 9 + "\n" + "|-" * 9 + "\n|b" * 500,
    "pictures": "![](attachment:a.png)" * 380,
}  # fmt: skip


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_of_markdown_makes_a_small_page(name: str) -> None:
    setter = Typesetter({"a.png": "A" * 100_000})
    pages = [markdown2html(setter.typeset(BOMBS[name])) for _ in range(10)]
    assert sum(map(len, pages)) < 3_000_000
    assert sum(page.count("<mi") + page.count("<td") for page in pages) < 7_000


@pytest.mark.parametrize(
    ("text", "tags", "said"),
    [
        (r"so $\frac{1}{2} x^2$", {"mfrac": 1, "msup": 1}, ""),
        ("$$\n\\begin{align}\na&=b\\\\\nc&=d\n\\end{align}\n$$", {"mtr": 2}, ""),
        ("\\begin{pmatrix}1&2\\\\3&4\\end{pmatrix}", {"mtd": 4}, ""),
        (r"$\href{javascript:alert(1)}{x}$", {"a": 0, "code": 1}, "href"),
        ("it costs $5 and $6", {"math": 0}, "$5 and $6"),
        ("| a | b |\n|---|---|\n| 1 | **2** |", {"td": 2, "strong": 1}, ""),
        ("![f](attachment:f%20g.png)", {"img": 1}, ""),
        ('<img src="attachment:f%20g.png" width=3>', {"img": 0}, "a picture is not shown here"),
        ("![f](attachment:other.svg)", {"img": 0}, "the picture other.svg is not shown here"),
        ("![f](https://evil.example/a.png)", {"img": 0, "a": 0}, "is not shown here"),
        ("x &#x202e;&rlm; y", {"p": 1}, "x \\u202e\\u200f y"),
        ("![f](attachment:%E2%80%AEg.png)", {"img": 0}, "the picture \\u202eg.png is"),
        ("[a](javascript:alert(1)) <https://a.b>", {"a": 0}, "[a](javascript:alert(1))"),
        (
            "call super().__init__() first; 2*3*4 = 24",
            {"em": 0, "strong": 0},
            "call super().__init__() first; 2*3*4 = 24",
        ),
        (
            "`2*3`, **bold**, *so*, _so_: $a_1*b_2*c$; 这是**重点**内容",
            {"code": 1, "strong": 2, "em": 2, "msub": 2},
            "2*3,",
        ),
    ],
)
def test_what_people_hand_in_is_typeset(text: str, tags: dict[str, int], said: str) -> None:
    page = _page(text, {"f g.png": "iVBORw0KGgo="})
    assert {name: len(page.find_all(name)) for name in tags} == tags
    assert said in page.get_text()


def test_an_answer_that_waits_and_is_not_in_the_next_hand_in_is_named(asking: Rehearsal) -> None:
    """Its marks are not there yet, so nobody has fewer; what a person marked counts, whatever comes."""
    _write(asking, "ada", RIGHT, "Because 1 + 1 = 2.")
    _write(asking, "eve", RIGHT, "As it says.")
    asking.grade()
    _write(asking, "ada", RIGHT, STUB)
    _write(asking, "eve", RIGHT, "As it says, so.")
    (told,) = asking.grade().remarks
    said = f"ada/{LESSON}: up to {FULL + 2:g}, with written answers that are not in the new one, → {FULL:g}. "
    assert told.startswith(f"fewer marks with a new hand-in: {said}")
    assert main(shlex.split(told.partition(" -m course ")[2])) == 0
    assert _grade(asking)["ada"] == (FULL, FULL + 2, 1)
