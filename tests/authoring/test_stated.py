"""What the prose states of points, numbers and times is what the cells have; what it demands is broken by a mutant."""

from __future__ import annotations

from pathlib import Path

import pytest

from nbproof.authoring.build import build
from nbproof.authoring.demands import demands_of, sentences, unbroken, untried
from nbproof.authoring.derived_files import outline_of
from nbproof.authoring.lesson import Lesson, read_lesson
from nbproof.authoring.stated import contradictions, heading_of, unannounced
from nbproof.command import course_command
from nbproof.errors import LessonError
from tests import the_lessons
from tests.authoring.tiny import MUTANTS, WRITTEN, Sketch, metadata, write_lesson

ROOT = Path(__file__).parent.parent.parent
OPENING = """\
# # A tiny lesson
#
# - **Time** about 20 minutes: two
#   exercises for 4 points, and one question in your
#   own words, 2 points.
"""


def lesson_with(root: Path, *changes: tuple[str, str]) -> Lesson:
    """Two exercises and a question, all of it stated in the opening, with changes to its text."""
    folder = write_lesson(root, "00_tiny", [Sketch(), Sketch("again")])
    path = folder / "lesson.py"
    text = path.read_text().replace("# # A tiny lesson\n", OPENING) + WRITTEN
    for before, after in changes:
        assert before in text
        text = text.replace(before, after, 1)
    path.write_text(text)
    return read_lesson(folder)


HEADING = "# ### Exercise: again\n# easy · 5 min · 2 points · `again`\n"
PART = metadata("test_again_part", grade=True, points=1)
STATED = {
    "as it is": [],
    "a part": [(HEADING, HEADING + "# Spare it (2 of the 2 points).\n")],
    "digits": [("two\n#   exercises", "2\n#   exercises")],
    "another count": [("4 points,", "4 points, of seven exercises in all,")],
    "all of it": [("2 points.", "2 points. 6 points in all.")],
    "points of a curve": [(HEADING, HEADING + "# Draw 100 points of the curve.\n")],
}
CONTRADICTIONS = {
    "heading": (
        [(HEADING, HEADING.replace("2 points", "3 points"))],
        "again: the prose says 3 points, its test cells have 2: 2 (test_again)",
        "# easy · 5 min · 3 points · `again`",
    ),
    "metadata": (
        [(metadata("test_catch", grade=True, points=2), metadata("test_catch", grade=True, points=2.5)), ("4 p", "4.5 p")],
        "catch: the prose says 2 points, its test cells have 2.5: 2.5 (test_catch)",
        "# easy · 5 min · 2 points · `catch`",
    ),
    "a part of others": (
        [(HEADING, HEADING + "# Spare it (1 of the 3 points).\n")],
        "again: the prose says 3 points, its test cells have 2: 2 (test_again)",
        "# Spare it (1 of the 3 points).",
    ),
    "a part that is none": (
        [(HEADING, HEADING + "# Spare it: 1 of the 2 points.\n")],
        "again: the prose says 1 of them for a part, its test cells have 2: 2 (test_again)",
        "# Spare it: 1 of the 2 points.",
    ),
    "worth": (
        [(HEADING, HEADING + "#\n# It is worth 5 points.\n")],
        "again: the prose says 5 points, its test cells have 2: 2 (test_again)",
        "# It is worth 5 points.",
    ),
    "a heading of another form": (
        [(HEADING, HEADING.replace("easy · 5 min · 2", "Easy, 5 minutes, 3").replace("###", "####"))],
        "again: the prose says 3 points, its test cells have 2: 2 (test_again)",
        "# Easy, 5 minutes, 3 points · `again`",
    ),
    "number of exercises": (
        [("two\n#", "three\n#")],
        "00_tiny: its opening says three exercises, its cells say 2",
        "# - **Time** about 20 minutes: three",
    ),
    "points of exercises": (
        [("4 points", "5 points")],
        "00_tiny: its opening says 5 points for its exercises, its cells say 4",
        "#   exercises for 5 points, and one question in your",
    ),
    "points of questions": (
        [("own words, 2", "own words, 3")],
        "00_tiny: its opening says 3 points for its questions in your own words, its cells say 2",
        "#   own words, 3 points.",
    ),
    "number of questions": (
        [("one question", "two questions")],
        "00_tiny: its opening says two questions in your own words, its cells say 1",
        "#   exercises for 4 points, and two questions in your",
    ),
    "all points": (
        [("2 points.", "2 points: 8 points altogether.")],
        "00_tiny: its opening says 8 points in all, its cells say 6",
        "#   own words, 2 points: 8 points altogether.",
    ),
    "time": (
        [("20 minutes", "10 minutes")],
        "00_tiny: its opening says 10 minutes, its cells say 16, if one reads 200 words or 15 lines of code a minute",
        "# - **Time** about 10 minutes: two",
    ),
    "question": (
        [("# 5 min · 2 points", "# 5 min · 3 points")],
        "explain_twice: the question says 3 points, its cell has 2",
        "# 5 min · 3 points",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", STATED)
def test_what_is_stated_as_it_is_is_no_contradiction(name: str, tmp_path: Path) -> None:
    assert list(contradictions(lesson_with(tmp_path, *STATED[name]))) == []


@pytest.mark.parametrize("name", CONTRADICTIONS)
def test_the_build_stops_at_the_line_that_contradicts_the_cells(name: str, tmp_path: Path) -> None:
    changes, fact, line = CONTRADICTIONS[name]
    lesson = lesson_with(tmp_path, *changes)
    (found,) = contradictions(lesson)
    assert (found.fact, found.lesson) == (fact, "00_tiny")
    assert found.next_command.endswith(f"; then: {course_command('build')}")
    path, _, number = found.place.rpartition(":")
    assert Path(path).read_text().splitlines()[int(number) - 1] == line
    with pytest.raises(LessonError) as caught:
        build(tmp_path, say=lambda said: None)
    assert (caught.value.fact, caught.value.place) == (fact, found.place)
    assert not (tmp_path / "source").exists()


def test_points_that_are_split_are_added_up(tmp_path: Path) -> None:
    extra = f"\n# %% {PART}\nprint('a part')\n\n# %% [markdown]\n# # The end\n"
    lesson = lesson_with(
        tmp_path,
        ("\n# %% [markdown]\n# ### In your own", extra + "\n# %% [markdown]\n# ### In your own"),
        (HEADING, HEADING.replace("2 points", "3 points") + "# The rest (1 of the 3 points).\n"),
        ("4 points", "5 points"),
    )
    assert list(contradictions(lesson)) == []


CORE, FURTHER = (
    "about 11 minutes for the core path, 5 more for what goes further",
    HEADING.replace(" · `", " · further · `"),
)


@pytest.mark.parametrize(
    ("time", "fact"),
    [
        (CORE, ""),
        (
            CORE.replace("11", "4"),
            "4 minutes and 5 more, its cells say 11 for the core path and 5 more, if one reads",
        ),
        (CORE.replace("5 more", "3 more"), "11 minutes and 3 more"),
        ("about 20 minutes", "one time for all of it, its cells say some exercises go further"),
    ],
)
def test_what_goes_further_has_minutes_of_its_own(tmp_path: Path, time: str, fact: str) -> None:
    lesson = lesson_with(tmp_path, (HEADING, FURTHER), ("about 20 minutes", time))
    found = [one.fact for one in contradictions(lesson)]
    assert [fact in one for one in found] == ([True] if fact else [])


LONG = "word " * 2000


@pytest.mark.parametrize(
    ("added", "counts"),
    [
        (f"# %% [markdown]\n# {LONG}", True),
        ("# %%\n" + "x = 1\n" * 150, True),
        (f"# %% [markdown]\n# <details><summary>More</summary>{LONG}</details>", False),
    ],
    ids=["prose", "code", "folded"],
)
def test_reading_takes_time_but_for_what_is_folded(tmp_path: Path, added: str, counts: bool) -> None:
    question = "\n# %% [markdown]\n# ### In your own"
    lesson = lesson_with(tmp_path, (question, f"\n{added}\n{question}"))
    assert ["its cells say 26" in one.fact for one in contradictions(lesson)] == [True] * counts


def test_the_line_above_an_exercise_says_its_id(tmp_path: Path) -> None:
    (found,) = unannounced(lesson_with(tmp_path, (HEADING, HEADING.replace("`again`", "`other`"))))
    assert 'hint("again")' in found.fact
    assert found.next_command == "end the line with ' · `again`'"


def test_an_exercise_has_no_heading_of_its_neighbours(tmp_path: Path) -> None:
    lesson = lesson_with(tmp_path, (HEADING, "# Once more.\n"))
    again = lesson.exercise("again")
    assert heading_of(lesson, again) is None
    assert outline_of(lesson)["exercises"][1]["title"] == "again"
    (found,) = unannounced(lesson)
    assert found.fact == "again: no heading above its TODO cell says its title, difficulty, minutes and points"
    assert found.place == again.answer.place
    assert "'### Exercise: <title>', and below that 'easy · 5 min · 2 points · `again`'" in found.next_command


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (HEADING, "# ### Exercise: Gone\n# easy · 1 min · 1 point\n\n# %% [markdown]\n" + HEADING),
        ("# Why does the hook run twice?", "# Why does the hook run twice?\n#\n# ### Exercise: Gone"),
    ],
)
def test_a_heading_without_an_exercise_is_named(before: str, after: str, tmp_path: Path) -> None:
    (found,) = unannounced(lesson_with(tmp_path, (before, after)))
    assert found.fact == "the heading '### Exercise: Gone' has no TODO cell before the next one"
    path, _, number = found.place.rpartition(":")
    assert Path(path).read_text().splitlines()[int(number) - 1] == "# ### Exercise: Gone"


def test_the_lessons_state_what_they_have() -> None:
    assert [one for lesson in the_lessons() for one in (*contradictions(lesson), *unannounced(lesson))] == []


STATEMENT = """\
Write `hook(module, args, output)`. It keeps the output, e.g. `x * 2`, in `answer`; the output stays as it is.

- **Once** a call, *in order.* (A second call
  adds another one.)
- What do you expect? Ask `hint("catch")`.

| key | value |
| --- | --- |
| `"first"` | the first name |

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
    "Any model will do.",
]


def test_a_statement_is_taken_apart_into_sentences_items_and_rows() -> None:
    assert list(sentences(STATEMENT)) == SENTENCES


def stated(root: Path, statement: str, breaks: str = "", head: str = "", stub: str = "", checks: str = "") -> Lesson:
    """A lesson whose exercise has this statement; ``breaks``: what its first mutant quotes."""
    first, *others = MUTANTS
    line, _, rest = MUTANTS[first].partition("\n")
    quoting = {first: "\n".join([line, *(f"# breaks: {one}" for one in filter(None, [breaks])), rest])}
    sketch = Sketch(mutants={**quoting, **{one: MUTANTS[one] for one in others}})
    sketch.answer = sketch.answer.replace("def hook(", f"{stub}def hook(")
    folder = write_lesson(root, "00_tiny", [sketch])
    lesson, wrong, tests = folder / "lesson.py", folder / "catch" / "wrong.py", folder / "catch" / "checks.py"
    prose = "".join(f"# {one}".rstrip() + "\n" for one in ["", *statement.splitlines()])
    effort = "2 points · `catch`\n"
    assert effort in lesson.read_text()
    lesson.write_text(lesson.read_text().replace(effort, effort + prose))
    wrong.write_text(head + wrong.read_text())
    tests.write_text(checks + tests.read_text())
    return read_lesson(folder)


def test_a_demand_is_broken_quoted_or_demands_nothing(tmp_path: Path) -> None:
    lesson = stated(tmp_path, STATEMENT, "the output stays as it is", "# nothing to break: Any model will do.\n")
    found = demands_of(lesson, lesson.exercises[0])
    assert found.broken == (SENTENCES[1],)
    assert found.unbroken == tuple(SENTENCES[at] for at in (0, 2, 3, 6))
    assert (found.nothing, found.count) == (3, 5)


def test_what_nobody_breaks_is_named_with_what_to_do(tmp_path: Path) -> None:
    lesson = stated(tmp_path, "Return it. Return it twice.", "Return it twice.")
    (found,) = unbroken(lesson, lesson.exercises[0])
    assert "'Return it.'" in found.fact
    assert found.lesson == "00_tiny"
    assert "# breaks:" in found.next_command


@pytest.mark.parametrize(("breaks", "head"), [("Return it thrice", ""), ("", "# nothing to break: Return it thrice\n")])
def test_a_quote_that_the_statement_does_not_hold_is_named_with_its_place(
    tmp_path: Path, breaks: str, head: str
) -> None:
    lesson = stated(tmp_path, "Return it.", breaks, head)
    (found,) = [one for one in unbroken(lesson, lesson.exercises[0]) if "does not say" in one.fact]
    assert "'Return it thrice'" in found.fact
    assert "catch/wrong.py:" in found.place


KINDS = {"model": ("tied", "shared", "one_dim"), "optimizer": ("groups",)}


def test_kinds_of_arguments_are_tried_or_said_not_to_apply(tmp_path: Path) -> None:
    checks = "# awkward: one_dim: no input is involved\nTRIED = ['tied']\n"
    lesson = stated(tmp_path, "Return it.", stub="def take(model): ...\n\n\n", checks=checks)
    (found,) = untried(lesson, lesson.exercises[0], KINDS)
    assert found.fact == "catch: its answer takes any model, and no check tries: shared"
    assert found.place.endswith("catch/checks.py")


def test_who_takes_no_such_argument_is_not_asked(tmp_path: Path) -> None:
    lesson = stated(tmp_path, "Return it.")
    assert not list(untried(lesson, lesson.exercises[0], KINDS))


def test_a_kind_that_nobody_knows_and_one_that_is_both_are_named(tmp_path: Path) -> None:
    checks = "# awkward: one_dim, shared, bent: no input\nTRIED = ['tied', 'shared']\n"
    lesson = stated(tmp_path, "Return it.", stub="def take(model): ...\n\n\n", checks=checks)
    both, unknown = sorted(untried(lesson, lesson.exercises[0], KINDS), key=lambda one: one.fact)
    assert "'shared' is tried, and said not to apply" in both.fact
    assert "no kind is called 'bent'" in unknown.fact
