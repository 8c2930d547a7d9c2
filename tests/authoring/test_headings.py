"""Title, difficulty and minutes stand above an exercise; points, ids and sums are written beside by the build."""

from __future__ import annotations

from pathlib import Path

import pytest

from nbproof.authoring.build import build
from nbproof.authoring.headings import SUM, amiss, minutes_of, prose_of
from nbproof.authoring.lesson import Lesson, read_lesson
from nbproof.errors import LessonError
from tests.authoring.tiny import WRITTEN, Sketch, write_lesson

HEADING = "# ### Exercise: again\n# easy · 5 min\n"
FURTHER = HEADING.replace("min", "min · further")
QUESTION = "\n# %% [markdown]\n# ### In your own"
LONG = "word " * 2000


def lesson_with(root: Path, *changes: tuple[str, str]) -> Lesson:
    """Two exercises and a question, with changes to the text of the lesson."""
    folder = write_lesson(root, "00_tiny", [Sketch(), Sketch("again")])
    path = folder / "lesson.py"
    text = path.read_text().replace("# # A tiny lesson\n", f"# # A tiny lesson\n#\n# {SUM}.\n") + WRITTEN
    for before, after in changes:
        assert before in text
        text = text.replace(before, after, 1)
    path.write_text(text)
    return read_lesson(folder)


def told(lesson: Lesson) -> str:
    return "\n".join(prose_of(lesson).values())


def test_what_the_cells_bring_is_written_beside_the_minutes(tmp_path: Path) -> None:
    text = told(lesson_with(tmp_path))
    assert "about 15 minutes: two exercises for 4 points, and one question in your own words, 2 points." in text
    assert "### Exercise: again\neasy · 5 min · 2 points · `again`\n" in text
    assert "5 min · 2 points\n\nWhy does the hook run twice?" in text


def test_what_goes_further_has_minutes_of_its_own(tmp_path: Path) -> None:
    text = told(lesson_with(tmp_path, (HEADING, FURTHER)))
    assert "about 10 minutes for the core path, 5 more for what goes further: two exercises" in text
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
        build(tmp_path, say=lambda said: None)
    assert (caught.value.fact, caught.value.place) == (fact, found.place)
    assert not (tmp_path / "source").exists()
