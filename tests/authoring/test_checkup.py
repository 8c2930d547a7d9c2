"""``python -m course check``: no exercise holds in a lesson that is broken, and what was looked at is said."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from nbproof.authoring.build import build
from nbproof.authoring.contract import Record
from nbproof.authoring.lesson import Exercise, Lesson
from nbproof.cli.main import main
from nbproof.errors import Violation
from tests.authoring.tiny import Sketch, write_lesson


@pytest.fixture(scope="module")
def two_lessons(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("two")
    write_lesson(root, "00_tiny", [Sketch(), Sketch("again")])
    write_lesson(root, "01_other", [Sketch("other")])
    build(root, say=lambda line: None)
    return root


@pytest.fixture
def two(two_lessons: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy, of which no candidate is run, and whose exercises have no way in: other tests are about that."""
    monkeypatch.setattr("nbproof.authoring.checkup.check_hints", lambda lessons: [])
    monkeypatch.setattr("nbproof.authoring.checkup.check_contract", lambda pairs, step, told: [])
    return Path(shutil.copytree(two_lessons, tmp_path / "course"))


def no_heading(root: Path) -> None:
    path = root / "lessons" / "00_tiny" / "lesson.py"
    path.write_text(path.read_text().replace("# ### Exercise: again", "# ## Again", 1))


def test_no_exercise_is_sound_in_a_lesson_that_is_broken(two: Path, capsys: pytest.CaptureFixture[str]) -> None:
    no_heading(two)
    assert main(["check", "--course", str(two), "catch"]) == 1
    out = capsys.readouterr().out
    assert "again: no heading above its TODO cell says its title, difficulty and minutes" in out


def test_another_lesson_is_not_told_of_it(two: Path, capsys: pytest.CaptureFixture[str]) -> None:
    no_heading(two)
    assert main(["check", "--course", str(two), "other"]) == 0
    assert "error: " not in capsys.readouterr().out


def test_what_was_found_is_told_at_once(
    two: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stopped(pairs: list[tuple[Lesson, Exercise]], step: object, told: Callable[[Record], None]) -> None:
        told(Record(pairs[0][1], violations=[Violation("nobody breaks it", "lesson.py:7", "break it")]))
        raise KeyboardInterrupt

    monkeypatch.setattr("nbproof.authoring.checkup.check_contract", stopped)
    assert main(["check", "--course", str(two), "00_tiny"]) == 130
    assert capsys.readouterr().out.splitlines() == [
        "[1/2] catch: 0 of 6 mutants killed, 0.0 s: 1 violation",
        "error: nobody breaks it",
        "  at:   lesson.py:7",
        "  next: break it",
    ]
