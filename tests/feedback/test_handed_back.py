"""What was marked again is told against what the learner was handed back last, for as long as it is the same hand-in."""

from __future__ import annotations

from pathlib import Path

import pytest

from nbproof.feedback import handed_back
from nbproof.feedback.handed_back import Earlier, forget_handed_back, note_handed_back, note_marked_again
from nbproof.gradebook.marks import CellMark, Mark, nothing_of
from nbproof.run.journal import journal_of

KEY = ("ada", "01_small")


class Course:
    """A course's folder with one submission, whose points a test sets."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root, self.days = root, iter(())
        self._marks: dict[tuple[str, str], Mark] = {}
        monkeypatch.setattr(handed_back, "read_marks", lambda *_: self._marks)
        self.hand_in("first")

    def hand_in(self, digest: str) -> None:
        path = journal_of(self.root, *KEY)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f'{{"handed_in": "{digest}", "source": "x"}}')

    def page(self, *, waits: bool = False, **points: float) -> dict[str, tuple[float, float]]:
        """Mark, and say what the page tells: cell -> points before and now."""
        cells = {name: CellMark(name, 2.0, points[name], listed=waits and name == "words") for name in points}
        self._marks = {KEY: Mark(nothing_of(*KEY), 4.0, cells)}
        told = note_marked_again(self.root, self._marks).get(KEY, Earlier(""))
        return {
            name: (told.before[name], told.after[name])
            for name in told.before if told.before[name] != told.after[name]
        }  # fmt: skip

    def back(self) -> None:
        note_handed_back(self.root, [KEY])


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Course:
    return Course(tmp_path, monkeypatch)


def test_a_change_before_anything_was_handed_back_is_none(course: Course) -> None:
    assert course.page(test=0.0) == course.page(test=2.0) == {}
    course.back()
    assert course.page(test=2.0) == {}


def test_a_change_stays_on_the_page_when_that_is_handed_back(course: Course) -> None:
    course.page(test=0.0, other=1.0)
    course.back()
    assert course.page(test=2.0, other=1.0) == {"test": (0.0, 2.0)}
    course.back()
    assert course.page(test=2.0, other=1.0) == {"test": (0.0, 2.0)}
    assert course.page(test=1.0, other=1.0) == {"test": (2.0, 1.0)}, "against what was handed back last"


def test_what_was_changed_back_before_it_went_out_was_not_changed(course: Course) -> None:
    course.page(test=0.0)
    course.back()
    course.page(test=2.0)
    assert course.page(test=0.0) == {}


def test_marking_what_waited_and_a_new_hand_in_are_no_second_marking(course: Course) -> None:
    course.page(waits=True, test=1.0, words=0.0)
    course.back()
    assert course.page(test=1.0, words=2.0) == {}
    course.back()
    course.hand_in("second")
    assert course.page(test=2.0, words=2.0) == {}
    course.back()
    assert course.page(test=1.0, words=2.0) == {"test": (2.0, 1.0)}


def test_of_what_nbgrader_graded_the_file_says_whether_it_is_the_same_hand_in(course: Course) -> None:
    journal_of(course.root, *KEY).unlink()
    path = course.root / "submitted" / "ada" / "01_small" / "01_small.ipynb"
    path.parent.mkdir(parents=True)
    path.write_text("first")
    course.page(test=0.0)
    course.back()
    assert course.page(test=2.0) == {"test": (0.0, 2.0)}
    path.write_text("second")
    assert course.page(test=2.0) == {}


def test_a_change_is_dated_once(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    course.page(test=0.0)
    course.back()
    course.page(test=2.0)
    (course.root / ".course" / "handed_back.json").write_text(
        (course.root / ".course" / "handed_back.json").read_text().replace('"day": "20', '"day": "19')
    )
    told = note_marked_again(course.root, course._marks)
    assert told[KEY].day.startswith("19")


def test_whoever_is_removed_is_forgotten(course: Course) -> None:
    course.page(test=0.0)
    course.back()
    forget_handed_back(course.root, ["ada"])
    assert "ada" not in (course.root / ".course" / "handed_back.json").read_text()
    assert course.page(test=2.0) == {}
