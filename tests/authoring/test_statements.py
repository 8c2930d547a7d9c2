"""What is said above an exercise: title, difficulty, minutes, to which the build adds points, ids and sums; and its demands."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from nbproof.authoring.build import build
from nbproof.authoring.statements import (
    SUM,
    amiss,
    demands_of,
    minutes_of,
    over_budget,
    prose_of,
    sentences,
    unbroken,
    words_in,
)
from nbproof.errors import LessonError
from nbproof.lesson.from_text import read_lesson
from nbproof.lesson.lesson import Lesson
from tests import COURSE
from tests.authoring.tiny import WRITTEN, Sketch, write_lesson

HEADING = "# ### Exercise: again\n# easy · 5 min\n"
FURTHER = HEADING.replace("min", "min · further")
QUESTION = "\n# %% [markdown]\n# ### In your own"
LONG = "word " * 1200


def lesson_with(root: Path, *changes: tuple[str, str]) -> Lesson:
    """Two exercises and a question, with changes to the text of the lesson."""
    folder = write_lesson(root, "00_tiny", [Sketch(), Sketch("again")])
    path = folder / "lesson.py"
    text = path.read_text().replace("# # A tiny lesson\n", f"# # A tiny lesson\n#\n# {SUM}.\n") + WRITTEN
    for before, after in changes:
        assert before in text
        text = text.replace(before, after, 1)
    path.write_text(text)
    return read_lesson(COURSE, folder)


def told(lesson: Lesson) -> str:
    return "\n".join(prose_of(lesson).values())


def test_what_the_cells_bring_is_written_beside_the_minutes(tmp_path: Path) -> None:
    text = told(lesson_with(tmp_path))
    assert "about 15 minutes: 2 exercises for 4 points, and 1 question in your own words, 2 points." in text
    assert "### Exercise: again\neasy · 5 min · 2 points · `again`\n" in text
    assert "5 min · 2 points\n\nWhy does the hook run twice?" in text


def test_what_goes_further_has_minutes_of_its_own(tmp_path: Path) -> None:
    text = told(lesson_with(tmp_path, (HEADING, FURTHER)))
    assert "about 10 minutes for the core path (1 exercise), and 5 minutes for the further parts (1 exercise)." in text
    assert "In all: 2 exercises for 4 points" in text
    assert "easy · 5 min · 2 points · further · `again`" in text


def test_reading_takes_time_but_for_what_is_folded(tmp_path: Path) -> None:
    before, _ = minutes_of(lesson_with(tmp_path / "short"))
    added = f"# %% [markdown]\n# {LONG}\n# <details><summary>More</summary>{LONG}</details>\n\n# %%\n" + "x = 1\n" * 150
    after, _ = minutes_of(lesson_with(tmp_path / "long", (QUESTION, f"\n{added}\n{QUESTION}")))
    assert after - before == 20


AMISS = {
    "no heading": (
        (HEADING, "# Once more.\n"),
        "again: no heading above its TODO cell says its title, difficulty and minutes",
    ),
    "no question": (("# ### In your own words: ", "# ### "), "explain_twice: nothing right above it asks for it"),
}


@pytest.mark.parametrize("name", AMISS)
def test_the_build_stops_where_nothing_announces_what_stands_below(name: str, tmp_path: Path) -> None:
    change, fact = AMISS[name]
    lesson = lesson_with(tmp_path, change)
    (found,) = amiss(lesson)
    assert found.fact == fact
    with pytest.raises(LessonError) as caught:
        build(COURSE, tmp_path, say=lambda said: None)
    assert (caught.value.fact, caught.value.place) == (fact, found.place)
    assert not (tmp_path / "source").exists()


STATEMENT = """\
Write `hook(module, args, output)`. It keeps the output, e.g. `x * 2`, in `answer`; the output stays as it is.

- **Once** a call, *in order.* (A second call
  adds another one.)
- What do you expect? Ask `hint("catch")`.

| key | value |
| --- | --- |
| `"first"` | the first name |

| key | value |
| --- | --- |
| `"last"` | the last name |

```
not = "a sentence. Nor this."
```
<details><summary>Fine print</summary>

Any model will do. <!-- not. This. -->

</details>
"""
SENTENCES = [
    "Write `hook(module, args, output)`.",
    "It keeps the output, e.g. `x * 2`, in `answer`; the output stays as it is.",
    "**Once** a call, *in order.",
    "(A second call adds another one.)",
    "What do you expect?",
    'Ask `hint("catch")`.',
    '`"first"` | the first name',
    '`"last"` | the last name',
    "Any model will do.",
]


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("Write a hook, e.g. Double it. It may not print.", ["Write a hook, e.g. Double it.", "It may not print."]),
        ("훅을 하나 쓰세요. 다른 것은 그대로 둡니다.", ["훅을 하나 쓰세요.", "다른 것은 그대로 둡니다."]),
        ("写一个钩子。它把梯度加倍。", ["写一个钩子。", "它把梯度加倍。"]),
        ("Er verdoppelt. Übrige bleiben, z.B. Tensoren.", ["Er verdoppelt.", "Übrige bleiben, z.B. Tensoren."]),
    ],
)
def test_sentences_are_counted_in_any_script(statement: str, found: list[str]) -> None:
    assert list(sentences(statement)) == found


def test_where_no_space_parts_words_their_characters_are_counted() -> None:
    assert words_in("Write a *hook*, twice.") == 4
    assert words_in("훅을 하나 쓰세요.") == 3
    assert 4 < words_in("写一个 hook 并返回它。") < 8


def test_a_statement_is_taken_apart_into_sentences_items_and_rows() -> None:
    assert list(sentences(STATEMENT)) == SENTENCES


def stated(root: Path, statement: str, breaks: str = "", head: str = "") -> Lesson:
    """A lesson whose exercise has this statement; ``breaks``: the line below the first one of a mutant."""
    folder = write_lesson(root, "00_tiny", [Sketch()])
    lesson, wrong = folder / "lesson.py", folder / "catch" / "wrong.py"
    prose = "".join(f"# {one}".rstrip() + "\n" for one in ["", *statement.splitlines()])
    effort, first = "easy · 5 min\n", "hint: hook_arguments\n"
    lesson.write_text(lesson.read_text().replace(effort, effort + prose))
    wrong.write_text(head + wrong.read_text().replace(first, first + breaks))
    return read_lesson(COURSE, folder)


def test_a_demand_is_broken_quoted_or_demands_nothing(tmp_path: Path) -> None:
    lesson = stated(
        tmp_path, STATEMENT, "# breaks: the output stays as it is\n", "# nothing to break: Any model will do.\n"
    )
    found = demands_of(lesson, lesson.exercises[0])
    assert found.broken == (SENTENCES[1],)
    assert found.unbroken == tuple(SENTENCES[at] for at in (0, 2, 3, 6, 7))
    assert found.count == 6


@pytest.mark.parametrize(
    ("breaks", "head"), [("# breaks: Return it thrice\n", ""), ("", "# nothing to break: Return it thrice\n")]
)
def test_a_quote_that_the_statement_does_not_hold_is_named_with_its_place(
    tmp_path: Path, breaks: str, head: str
) -> None:
    lesson = stated(tmp_path, "Return it.", breaks, head)
    (found,) = [one for one in unbroken(lesson, lesson.exercises[0]) if "does not say" in one.fact]
    assert "'Return it thrice'" in found.fact
    assert "catch/wrong.py:" in found.place


def test_an_exercise_that_is_more_than_the_budget_allows_is_named(tmp_path: Path) -> None:
    lesson = stated(tmp_path, "Return it. Do so twice. And a third time.")
    exercise = lesson.exercises[0]
    course = replace(COURSE, budget={"words": 8, "mutants": 30, lesson.slug: {"words": 7, "check_lines": 1}})
    words, lines = over_budget(lesson, exercise, course.budget_of(lesson.slug))
    assert words.fact == "catch: 9 words, at most 7 are allowed"
    assert lines.fact.endswith("check lines, at most 1 are allowed")
    assert not list(over_budget(lesson, exercise, {}))
