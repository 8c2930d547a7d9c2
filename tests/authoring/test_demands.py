"""What a statement demands is broken by a mutant; what an argument can be is tried."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from nbproof.authoring.demands import demands_of, over_budget, sentences, unbroken
from nbproof.authoring.lesson import Lesson, read_lesson
from nbproof.course_file import the_course
from tests.authoring.tiny import MUTANTS, Sketch, write_lesson

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


def stated(root: Path, statement: str, breaks: str = "", head: str = "") -> Lesson:
    """A lesson whose exercise has this statement; ``breaks``: what its first mutant quotes."""
    first, *others = MUTANTS
    line, _, rest = MUTANTS[first].partition("\n")
    quoting = {first: "\n".join([line, *(f"# breaks: {one}" for one in filter(None, [breaks])), rest])}
    sketch = Sketch(mutants={**quoting, **{one: MUTANTS[one] for one in others}})
    folder = write_lesson(root, "00_tiny", [sketch])
    lesson, wrong = folder / "lesson.py", folder / "catch" / "wrong.py"
    prose = "".join(f"# {one}".rstrip() + "\n" for one in ["", *statement.splitlines()])
    effort = "easy · 5 min\n"
    lesson.write_text(lesson.read_text().replace(effort, effort + prose))
    wrong.write_text(head + wrong.read_text())
    return read_lesson(folder)


def test_a_demand_is_broken_quoted_or_demands_nothing(tmp_path: Path) -> None:
    lesson = stated(tmp_path, STATEMENT, "the output stays as it is", "# nothing to break: Any model will do.\n")
    found = demands_of(lesson, lesson.exercises[0])
    assert found.broken == (SENTENCES[1],)
    assert found.unbroken == tuple(SENTENCES[at] for at in (0, 2, 3, 6))
    assert (found.nothing, found.count) == (3, 5)


@pytest.mark.parametrize(("breaks", "head"), [("Return it thrice", ""), ("", "# nothing to break: Return it thrice\n")])
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
    course = replace(the_course(), budget={"words": 8, "mutants": 30, lesson.slug: {"words": 7, "check_lines": 1}})
    words, lines = over_budget(lesson, exercise, course.budget_of(lesson.slug))
    assert words.fact == "catch: 9 words, at most 7 are allowed"
    assert lines.fact.endswith("check lines, at most 1 are allowed")
    assert not list(over_budget(lesson, exercise, {}))
