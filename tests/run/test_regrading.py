"""A change touches what it touches, and nothing else runs: counted by what the engine is asked to run."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbgrader.api import Gradebook

import nbproof
from nbproof.course_file import CourseFile, the_course
from nbproof.marking.results import GradedClass
from nbproof.run import digests
from nbproof.run.batch import grade_class
from nbproof.run.class_run import PoolMaker
from nbproof.run.intake import take_in
from nbproof.run.plan import select
from nbproof.sandbox.worker_handle import Worker
from tests import needs_isolation
from tests.conftest import LESSON, POINTS, RIGHT, note_references

pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    needs_isolation,
]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Iterator[Counter[str]]:
    """How often each cell ran ("cell"), and how often each test cell was probed (its id)."""
    counts: Counter[str] = Counter()
    plain = Worker.request

    def count(self: Worker, header: dict[str, Any], *rest: Any, **more: Any) -> Any:
        counts[header.get("test", "") if header["op"] == "probe" else header["op"]] += 1
        return plain(self, header, *rest, **more)

    monkeypatch.setattr(Worker, "request", count)
    yield counts


Grade = Callable[..., GradedClass]


@pytest.fixture
def grade(course: Path, pool: PoolMaker) -> Grade:
    """grade(only=("ada",), force=True): one run over the small course."""

    def run(only: tuple[str, ...] = (), **options: Any) -> GradedClass:
        chosen = select(course, take_in(course, [LESSON], [LESSON]), [LESSON], only)
        return grade_class(
            course, chosen.intake, [LESSON], exercises=chosen.exercises, whole_class=not only, pool=pool, **options
        )

    return run


def _edit(course: Path, change: Callable[[Any], None]) -> None:
    path = course / "source" / LESSON / f"{LESSON}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    change({cell.metadata.get("nbgrader", {}).get("grade_id", "prose"): cell for cell in notebook.cells})
    nbformat.write(notebook, path)


def _scores(graded: GradedClass) -> dict[str, float]:
    return {score.learner: score.score for score in graded.scores}


def _journal(course: Path, learner: str) -> dict[str, Any]:
    return json.loads((course / "autograded" / learner / LESSON / ".verdict.json").read_text())["verdict"]


def test_a_changed_test_is_run_again_and_no_other(
    course: Path, grade: Grade, hand_in: Callable[..., Path], asked: Counter[str]
) -> None:
    hand_in("ada", RIGHT)
    hand_in("ben", {**RIGHT, "second": "def second(x):\n    return x * 4"})
    hand_in("lou", {**RIGHT, "first": "import os\nos._exit(3)"})
    first = grade(seed=5)
    assert _scores(first) == {"ada": 4, "ben": 3, "lou": 2}
    before = {name: _journal(course, name) for name in ("ada", "ben", "lou")}
    asked.clear()

    # The test of `second` wants another factor now: ada's answer is wrong, ben's is right.
    def change(cells: Any) -> None:
        cells["test_second"].source = (
            cells["test_second"].source.replace("range(3)", "range(4)").replace("x * 3", "x * 4")
        )
        cells["second"].source = cells["second"].source.replace("x * 3", "x * 4")

    _edit(course, change)
    note_references(course)
    again = grade(seed=6)
    assert _scores(again) == {"ada": 3, "ben": 4, "lou": 1}
    assert again.reasons == ("second: its test changed, 3 submissions graded again",)
    assert {score.how for score in again.scores} == {"regraded"}
    assert asked["test_second"] > 0
    assert asked["test_first"] == asked["test_third"] == 0
    # Setup, first and second of ada and ben; lou's first ends the process, and is known to.
    assert asked["cell"] == 3 + 3 + 2
    for name, old in before.items():
        new = _journal(course, name)
        for kept, now in zip(old["exercises"], new["exercises"], strict=True):
            if kept["id"] == "second":
                assert now["seed"] == 6
            else:
                assert now == kept
        assert new["seed"] == 5
    asked.clear()
    third = grade()
    assert (third.graded, third.rewritten, third.reasons) == ((), (), ())
    assert not asked
    assert _scores(third) == _scores(again)
    # What a whole run says of the same.
    assert _scores(grade(force=True)) == _scores(again)


def test_changed_points_and_prose_run_nothing_and_arrive_everywhere(
    course: Path, grade: Grade, hand_in: Callable[..., Path], asked: Counter[str]
) -> None:
    hand_in("ada", RIGHT)
    hand_in("ben", {**RIGHT, "second": "def second(x):\n    return x"})
    grade()
    asked.clear()

    def change(cells: Any) -> None:
        cells["prose"].source = "# Another title"
        cells["test_third"].metadata.nbgrader["points"] = 5.0

    _edit(course, change)
    again = grade()
    assert not asked
    assert again.graded == ()
    assert again.rewritten == (("ada", LESSON), ("ben", LESSON))
    assert again.reasons == (f"{LESSON}: text or points changed, 2 submissions; nothing runs",)
    assert _scores(again) == {"ada": 8, "ben": 7}
    assert {score.max_score for score in again.scores} == {8}
    assert "Another title" in (course / "autograded" / "ada" / LESSON / f"{LESSON}.ipynb").read_text()
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as book:
        assert book.find_assignment(LESSON).max_score == 8
        assert book.find_submission(LESSON, "ben").score == 7


def test_changed_setup_concerns_the_whole_lesson(
    course: Path, grade: Grade, hand_in: Callable[..., Path], asked: Counter[str]
) -> None:
    hand_in("ada", RIGHT)
    grade()
    asked.clear()

    def change(cells: Any) -> None:
        cells["setup_imports"].source += "\nimport math"

    _edit(course, change)
    again = grade()
    assert again.reasons == (f"{LESSON}: its setup cells changed, 1 submission graded again",)
    assert all(asked[f"test_{name}"] for name in POINTS)


def test_changed_checking_code_and_limits_concern_everything(
    course: Path, grade: Grade, hand_in: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    hand_in("ada", RIGHT)
    grade()
    monkeypatch.setattr(digests, "grader_digest", lambda: "another")
    assert grade().reasons == (f"{LESSON}: the course's checking code changed, 1 submission graded again",)
    with (course / "nbgrader_config.py").open("a") as file:
        file.write("\nc.GradingLimits.exercise_seconds = 3.0\n")
    assert grade().reasons == (f"{LESSON}: the limits in nbgrader_config.py changed, 1 submission graded again",)


def test_the_hints_that_a_build_derives_are_part_of_the_checking_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A verdict names its hint. What they are written in, lessons/, no grader reads."""
    monkeypatch.setattr(digests, "the_course", lambda: CourseFile("made_up", tmp_path, ""))
    found = set()
    for text in ("{}", "{} "):
        (tmp_path / "hints.json").write_text(text)
        found.add(digests.grader_digest.__wrapped__())
    assert len(found) == 2


@pytest.mark.parametrize(
    ("edited", "marked", "shown"),
    [
        ("nbproof/sandbox/engine.py", True, False),
        ("nbproof/sandbox/worker.py", True, False),
        ("nbproof/marking/verdicts.py", True, False),
        ("nbproof/recover/pieces.py", True, False),
        ("nbproof/checks/diagnosis.py", True, False),
        ("nbproof/values/compare.py", True, False),
        ("nbproof/cells.py", True, False),
        ("course/probing.py", True, False),
        ("course/course.toml", True, False),
        ("course/hints.json", True, False),
        ("nbproof/gradebook/writer.py", False, True),
        ("nbproof/display/panel.py", False, True),
        ("course/outline.json", False, False),
        ("course/checks.json", False, False),  # it is the lesson's: see tests/checks/test_visible.py
        ("course/pictures/canvas.py", False, False),
        ("nbproof/run/pool.py", False, False),
        ("nbproof/report/charts.py", False, False),
        ("nbproof/cli/main.py", False, False),
        ("nbproof/errors.py", False, False),
    ],
)
def test_what_regrades_a_class_follows_from_the_room_that_was_edited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, edited: str, marked: bool, shown: bool
) -> None:
    tool = Path(digests.__file__).resolve().parent.parent
    for folder in (tool, the_course().folder):
        shutil.copytree(folder, tmp_path / folder.name, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(digests, "__file__", str(tmp_path / "nbproof" / "run" / "environment.py"))
    monkeypatch.setattr(digests, "the_course", lambda: CourseFile("course", tmp_path / "course", ""))

    def both() -> tuple[str, str]:
        return digests.grader_digest.__wrapped__(), digests._showing_digest.__wrapped__()

    before = both()
    with (tmp_path / edited).open("r+") as file:  # it is there
        file.write(file.read() + "\n")
    assert [one != other for one, other in zip(before, both(), strict=True)] == [marked, shown]


def test_what_regrades_a_class_is_there() -> None:
    assert all((Path(nbproof.__file__).parent / place).exists() for place in (*digests.MARKED_BY, *digests.SHOWN_BY))


def test_force_with_an_exercise_marks_that_one_again(
    course: Path, grade: Grade, hand_in: Callable[..., Path], asked: Counter[str]
) -> None:
    for learner in ("ada", "ben"):
        hand_in(learner, RIGHT)
    grade()
    asked.clear()
    again = grade(only=("third", "ben"), force=True, seed=9)
    assert [(score.learner, score.how) for score in again.scores] == [("ben", "regraded")]
    assert asked["test_third"] and not asked["test_first"] and not asked["test_second"]
    assert [one["seed"] for one in _journal(course, "ben")["exercises"]] == [None, None, 9]
    assert grade().graded == ()


def test_a_changed_test_that_was_left_out_is_not_forgotten(
    course: Path, grade: Grade, hand_in: Callable[..., Path]
) -> None:
    hand_in("ada", RIGHT)
    grade()

    def change(cells: Any) -> None:
        for name in ("test_first", "test_third"):
            cells[name].source += "\n# another line"

    _edit(course, change)
    assert grade(only=("third",)).reasons == ("third: its test changed, 1 submission graded again",)
    assert grade().reasons == ("first: its test changed, 1 submission graded again",)
    assert grade().reasons == ()


def test_data_files_are_part_of_a_submission(course: Path, grade: Grade, hand_in: Callable[..., Path]) -> None:
    path = hand_in("ada", RIGHT)
    grade()
    (path.parent / "numbers.txt").write_text("42")
    assert grade().graded == (("ada", LESSON),)
    assert grade().graded == ()


def test_a_lost_gradebook_is_filled_from_the_journals_and_nothing_runs(
    course: Path, grade: Grade, hand_in: Callable[..., Path], asked: Counter[str]
) -> None:
    for learner in ("ada", "ben"):
        hand_in(learner, RIGHT if learner == "ada" else {})
    first = grade()
    asked.clear()
    (course / "gradebook.db").rename(course / "gradebook.db.broken")
    again = grade()
    assert not asked
    assert again.graded == ()
    assert _scores(again) == _scores(first) == {"ada": 4, "ben": 0}
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as book:
        assert book.find_submission(LESSON, "ada").score == 4
