"""The overview: what is solved, what was tried, where to go on; nothing that is wrong with its file does harm."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from course import progress
from nbproof.course_file import Course
from nbproof.display.diary import DiaryError, entries, forget, html_of, note, overview, text_of
from nbproof.display.outline import OutlinedExercise, OutlinedLesson
from tests import COURSE, main


def one(name: str, minutes: int) -> OutlinedExercise:
    return OutlinedExercise(name, f"The <{name}>", minutes, 2.0, (("A",),), (3,), "")


LESSONS = (
    OutlinedLesson("01_first", "First & foremost", (one("a", 5), one("b", 10))),
    OutlinedLesson("02_second", "Second", (one("c", 20),)),
)


@pytest.fixture(autouse=True)
def lessons(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nbproof.display.diary.outline", lambda course: LESSONS)


def solve(name: str, passed: bool = True) -> None:
    note(COURSE, name, {"A": passed}, [("A",)])


def test_states_and_what_is_left() -> None:
    solve("a")
    solve("b", passed=False)
    seen = overview(COURSE)
    assert seen.states == {"a": "solved", "b": "tried", "c": "untried"}
    assert seen.total == (
        "1 of 3 exercises solved; 3 more checks run when they are graded, 2 of 6 points, about 30 minutes left"
    )


def test_where_hidden_checks_are_at_hand_none_remains(tmp_path: Path) -> None:
    (tmp_path / "source" / "01_first").mkdir(parents=True)
    (tmp_path / "source" / "01_first" / "01_first.ipynb").touch()
    solve("a")
    assert overview(Course("x", tmp_path / "x", "")).total.startswith("1 of 3 exercises solved, 2 of 6 points")


@pytest.mark.parametrize(
    ("done", "next_one"), [(["a"], "b"), (["c"], "a"), (["a", "c"], "b"), (["b"], "c"), (["a", "b", "c"], None)]
)
def test_where_to_go_on_from_what_was_worked_on_last(done: list[str], next_one: str | None) -> None:
    for name in done:
        solve(name)
    found = overview(COURSE).next
    assert (found and found[1].id) == next_one


def test_words_and_picture_say_the_same() -> None:
    solve("a")
    solve("b", passed=False)
    words = text_of(overview(COURSE))
    assert "✓ The <a> (a): solved, 5 min" in words
    assert "… The <b> (b): tried, 10 min" in words
    assert "Go on with The <b> in lesson 01 (10 minutes)." in words

    page = BeautifulSoup(html_of(overview(COURSE)), "html.parser").get_text()
    assert "First & foremost 1/2" in page
    assert "Go on with The <b>" in page
    assert "1 of 3 exercises solved" in page
    assert 'href="../01_first/01_first.ipynb"' in html_of(overview(COURSE))


def test_a_diary_that_cannot_be_read_costs_the_overview_nothing(
    diary: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    diary.write_text("x" * 5000)
    progress()
    said = capsys.readouterr().out
    assert "Progress is not kept" in said
    assert "0 of 3 exercises solved" in said


CELLS = (("A", "B"), ("C",))


def test_an_exercise_is_solved_when_every_cell_has_passed_whole() -> None:
    note(COURSE, "x", {"A": True, "B": False}, CELLS)
    note(COURSE, "x", {"C": True}, CELLS)
    assert entries(COURSE)["x"].solved is None
    note(COURSE, "x", {"A": False, "B": True}, CELLS)
    # A in one answer, B in another: no answer had both.
    assert entries(COURSE)["x"].solved is None
    note(COURSE, "x", {"A": True, "B": True}, CELLS)
    found = entries(COURSE)["x"]
    assert found.solved is not None and found.tries == 4 and found.solved <= found.last
    note(COURSE, "x", {"C": False}, CELLS)
    assert entries(COURSE)["x"].solved == found.solved, "what is solved stays solved"


def test_two_notebooks_may_write_at_one_time() -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: note(COURSE, f"e{number % 4}", {"A": True}, [("A",)]), range(40)))
    assert {name: entry.tries for name, entry in entries(COURSE).items()} == {f"e{number}": 10 for number in range(4)}


def test_starting_afresh(diary: Path) -> None:
    note(COURSE, "x", {"A": True}, [("A",)])
    forget(COURSE)
    assert entries(COURSE) == {} and not diary.exists(), "looking must not write"


def test_the_command_says_how_much_it_would_delete_and_asks(
    diary: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    note(COURSE, "a", {"A": True}, [("A",)])
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    for answer, code, left in (("", 1, True), ("y", 0, False)):
        monkeypatch.setattr("builtins.input", lambda question, said=answer: said)
        assert main(["progress", "--forget"]) == code and diary.exists() is left
        assert f"{diary}, for every folder of this course: 1 of 3 exercises" in capsys.readouterr().out
    assert main(["progress", "--forget"]) == 0 and "nothing was kept" in capsys.readouterr().out


def test_a_file_that_cannot_be_used_is_said_in_one_kind_of_error(diary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (diary.parent / "file").write_text("")
    monkeypatch.setenv("COURSE_PROGRESS", str(diary.parent / "file" / "below" / "progress.db"))
    with pytest.raises(DiaryError, match=r"progress\.db"):
        note(COURSE, "x", {"A": True}, [("A",)])
