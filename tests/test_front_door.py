"""The front door of tests, and through it a thin slice of all of grading: what `make quick` has of the engine."""

from __future__ import annotations

from pathlib import Path

import pytest

from nbproof.sandbox.isolation import Isolation, offered
from nbproof.testing import Bench, Rehearsal, scores, small_course
from nbproof.testing.small import LESSON, RIGHT, WRONG


@pytest.mark.parametrize("level", [Isolation.FULL, Isolation.REDUCED], ids=lambda level: level.value)
def test_a_class_is_graded_at_each_level(level: Isolation, tmp_path: Path) -> None:
    if offered()[level]:
        pytest.skip(f"{level.value} isolation is NOT tested: {offered()[level]}")
    room = Rehearsal.of(small_course(tmp_path / "made"), tmp_path / "class")
    room.hand_in_all({"ada": RIGHT, "ben": {**RIGHT, "second": WRONG["second"]}, "zoe": {}})
    graded = room.grade(isolation=level, workers=1)
    assert scores(graded) == room.book() == {"ada": 4, "ben": 3, "zoe": 0}
    assert [one.status for one in room.verdict("ben").exercises] == ["passed", "failed", "passed"]
    assert "wanted" in room.page("ben")
    assert "wanted" not in room.page("ada")
    assert room.autograded("zoe").is_file()
    assert scores(room.grade(only=["ben"], isolation=level)) == {"ben": 3}
    with pytest.raises(FileNotFoundError, match="nothing of eve was graded"):
        room.verdict("eve")


@pytest.mark.slow
def test_a_bench_marks_one_hand_in_after_another(tmp_path: Path) -> None:
    with Bench.of(small_course(tmp_path), LESSON) as bench:
        assert bench.mark(RIGHT).score == 4
        assert bench.mark({"first": RIGHT["first"]}).score == 2
