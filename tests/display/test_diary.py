"""What is kept of a learner's work, and that nothing wrong with the file does harm."""

from __future__ import annotations

import os
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from nbproof.display.progress import DiaryError, diary_path, entries, forget, note

CELLS = (("A", "B"), ("C",))


def test_nothing_was_tried_yet(diary: Path) -> None:
    assert entries() == {}
    assert not diary.exists(), "looking must not write"


def test_an_exercise_is_solved_when_every_cell_has_passed_whole() -> None:
    note("x", {"A": True, "B": False}, CELLS)
    note("x", {"C": True}, CELLS)
    assert entries()["x"].solved is None
    note("x", {"A": False, "B": True}, CELLS)
    # A in one answer, B in another: no answer had both.
    assert entries()["x"].solved is None
    note("x", {"A": True, "B": True}, CELLS)
    found = entries()["x"]
    assert found.solved is not None
    assert found.tries == 4
    assert found.first <= found.solved <= found.last


def test_what_is_solved_stays_solved() -> None:
    note("x", {"C": True}, [("C",)])
    first = entries()["x"].solved
    note("x", {"C": False}, [("C",)])
    assert entries()["x"].solved == first is not None


def test_two_notebooks_may_write_at_one_time() -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: note(f"e{number % 4}", {"A": True}, [("A",)]), range(40)))
    assert {name: entry.tries for name, entry in entries().items()} == {f"e{number}": 10 for number in range(4)}


def test_starting_afresh(diary: Path) -> None:
    assert forget() is False
    note("x", {"A": True}, [("A",)])
    assert forget() is True
    assert entries() == {}
    assert not diary.exists()


@pytest.mark.parametrize("how", ["not a database", "a folder", "no folder can be made"])
def test_a_file_that_cannot_be_used_is_said_in_one_kind_of_error(
    how: str, diary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if how == "not a database":
        diary.write_text("x" * 5000)
    elif how == "a folder":
        diary.mkdir()
    else:
        (diary.parent / "file").write_text("")
        monkeypatch.setenv("COURSE_PROGRESS", str(diary.parent / "file" / "below" / "progress.db"))
    with pytest.raises(DiaryError, match=r"progress\.db"):
        note("x", {"A": True}, [("A",)])


def test_a_table_of_another_make_is_said_too(diary: Path) -> None:
    with sqlite3.connect(diary) as connection:
        connection.execute("CREATE TABLE exercise (id TEXT)")
    connection.close()
    with pytest.raises(DiaryError):
        entries()


def test_it_lies_where_the_system_keeps_a_users_data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("COURSE_PROGRESS")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert diary_path().name == "progress.db"
    if os.name == "posix" and os.uname().sysname == "Linux":
        assert diary_path().is_relative_to(tmp_path)
