"""The front door of tests, and through it a thin slice of all of grading: what `make quick` has of the engine."""

from __future__ import annotations

from pathlib import Path

import pytest

from nbproof.sandbox.isolation import Isolation, offered
from nbproof.testing import Bench, Rehearsal, scores, small_course
from nbproof.testing.small import LESSON, RIGHT, WRONG
from tests import ROOT, needs_isolation, python


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


_TWO = """
import sys
from pathlib import Path
from nbproof.testing import Rehearsal, scores, small_course
from nbproof.testing.small import RIGHT

if __name__ == "__main__":
    one = Rehearsal.of(small_course(Path("made")), Path("one"))
    other = Rehearsal.of(sys.argv[1], Path("other"))
    stub = {"last_word_first": "def last_word_first(text):\\n    return 5"}
    one.hand_in("ada", RIGHT)
    other.hand_in("ada", stub)
    for _ in range(2):
        print(scores(one.grade()), scores(other.grade()))
    print("Iterators" in other.page("ada"), "Iterators" in one.page("ada"), [mark.how for mark in one.grade().marks.values()])
"""


@pytest.mark.slow
@needs_isolation
def test_two_courses_in_one_process_that_has_none_around_it(tmp_path: Path) -> None:
    """Of the other course neither a leaf type nor a title is left behind, and nothing is graded again for it."""
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "course.toml").write_text("")
    (tmp_path / "two.py").write_text(_TWO)
    done = python(tmp_path, "two.py", str(ROOT / "examples" / "iterators"))
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["{'ada': 4.0} {'ada': 0.0}"] * 2 + ["True False ['unchanged']"]


@pytest.mark.slow
def test_a_bench_marks_one_hand_in_after_another(tmp_path: Path) -> None:
    with Bench.of(small_course(tmp_path), LESSON) as bench:
        assert bench.mark(RIGHT).score == 4
        assert bench.mark({"first": RIGHT["first"]}).score == 2
