"""What exercises are called: by the headings above them, in other people's notebooks as in ours."""

from __future__ import annotations

from typing import Any

import pytest

from nbproof.marking.titles import headings_in, is_made_up, titles_in


def text(source: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": source}


def answer(name: str) -> dict[str, Any]:
    grading = {"grade_id": name, "solution": True, "grade": False, "locked": False}
    return {"cell_type": "code", "metadata": {"nbgrader": grading}, "source": "# not a heading"}


def task(name: str, source: str) -> dict[str, Any]:
    grading = {"grade_id": name, "solution": False, "grade": False, "task": True, "locked": True}
    return {"cell_type": "markdown", "metadata": {"nbgrader": grading}, "source": source}


@pytest.mark.parametrize(
    ("source", "headings"),
    [
        ("# One\n\ntext\n\n## Two ##\n", ["One", "Two"]),
        ("### Exercise: Catch the `grad`\n", ["Catch the `grad`"]),
        ("### In your own words: Why?\n", ["Why?"]),
        ("## Exercise: images", ["Images"]),
        ("## **Part A** (2 points)", ["Part A (2 points)"]),
        ('# <a id="x"></a>[Loops](#loops) &amp; *lists*', ["Loops & lists"]),
        ("<h2 style='color:red'>Plots</h2>", ["Plots"]),
        ("# 2 * 3 * 4 of a_b_c", ["2 * 3 * 4 of a_b_c"]),
        ("```\n# a comment\n```\n# After", ["After"]),
        ("~~~python\n# a comment", []),
        ("    # code", []),
        ("#hashtag", []),
        ("# <img src='x.png'>", []),
    ],
)
def test_headings_are_read_as_people_see_them(source: str, headings: list[str]) -> None:
    assert headings_in(source) == headings


def test_each_exercise_is_called_by_the_heading_above_it() -> None:
    cells = [
        answer("cell-0123456789abcdef"),
        text("# Lists\n\n## First"),
        answer("cell-1123456789abcdef"),
        text("No heading."),
        answer("untested"),
        text("## Second"),
        answer("cell-2123456789abcdef"),
        answer("cell-3123456789abcdef"),
        answer("with_a_name"),
        task("cell-4123456789abcdef", "## Part E\n\nDraw it."),
    ]
    names = {cell["metadata"]["nbgrader"]["grade_id"] for cell in cells if cell["metadata"]} - {"untested"}
    assert titles_in(cells, names) == {
        "cell-0123456789abcdef": "Exercise 1",
        "cell-1123456789abcdef": "First",
        "cell-2123456789abcdef": "Second: part 1 of 3",
        "cell-3123456789abcdef": "Second: part 2 of 3",
        "with_a_name": "Second: with a name",
        "cell-4123456789abcdef": "Part E",
    }


def test_which_names_nobody_chose() -> None:
    assert is_made_up("cell-d0be99db1c88ce43") and is_made_up("cell-4020c13e6761cb4r")
    assert not any(map(is_made_up, ("squares", "part-a", "cell-a", "Q1-test")))
