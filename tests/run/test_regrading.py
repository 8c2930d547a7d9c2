"""What changed is graded again, whole, and nothing else runs: counted by what the engine is asked to run."""

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
from nbproof.gradebook.marks import GradedClass
from nbproof.run import digests
from nbproof.run.batch import grade_class
from nbproof.run.intake import take_in
from nbproof.run.journal import Journal, RunState
from nbproof.run.plan import select
from nbproof.run.pool import PoolMaker
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
CHANGED = f"{LESSON}: the lesson, or what grades it, changed"


@pytest.fixture
def grade(course: Path, pool: PoolMaker) -> Grade:
    """grade(only=("ada",), force=True): one run over the small course."""

    def run(only: tuple[str, ...] = (), **options: Any) -> GradedClass:
        chosen = select(take_in(course, [LESSON], [LESSON]), [LESSON], only)
        return grade_class(course, chosen.intake, [LESSON], pool=pool, **options)

    return run


def _edit(course: Path, change: Callable[[Any], None]) -> None:
    path = course / "source" / LESSON / f"{LESSON}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    change({cell.metadata.get("nbgrader", {}).get("grade_id", "prose"): cell for cell in notebook.cells})
    nbformat.write(notebook, path)


def _scores(graded: GradedClass) -> dict[str, float]:
    return {score.learner: score.score for score in graded.marks.values()}


def _journal(course: Path, learner: str) -> dict[str, Any]:
    return json.loads((course / "autograded" / learner / LESSON / ".verdict.json").read_text())["verdict"]


def test_a_changed_test_grades_the_whole_of_its_lesson_again(
    course: Path, grade: Grade, hand_in: Callable[..., Path], asked: Counter[str]
) -> None:
    hand_in("ada", RIGHT)
    hand_in("ben", {**RIGHT, "second": "def second(x):\n    return x * 4"})
    hand_in("lou", {**RIGHT, "first": "import os\nos._exit(3)"})
    first = grade(seed=5)
    assert _scores(first) == {"ada": 4, "ben": 3, "lou": 2}
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
    assert again.reasons == (f"{CHANGED}, 3 submissions graded again",)
    assert {score.how for score in again.marks.values()} == {"graded"}
    assert all(asked[f"test_{name}"] for name in POINTS)
    assert {_journal(course, learner)["seed"] for learner in ("ada", "ben", "lou")} == {6}
    asked.clear()
    third = grade()
    assert (third.graded, third.reasons) == ((), ())
    assert not asked
    assert _scores(third) == _scores(again)


def test_changed_points_and_prose_arrive_everywhere(course: Path, grade: Grade, hand_in: Callable[..., Path]) -> None:
    hand_in("ada", RIGHT)
    hand_in("ben", {**RIGHT, "second": "def second(x):\n    return x"})
    grade()

    def change(cells: Any) -> None:
        cells["prose"].source = "# Another title"
        cells["test_third"].metadata.nbgrader["points"] = 5.0

    _edit(course, change)
    note_references(course)
    again = grade()
    assert again.reasons == (f"{CHANGED}, 2 submissions graded again",)
    assert _scores(again) == {"ada": 8, "ben": 7}
    assert {score.max_score for score in again.marks.values()} == {8}
    assert "Another title" in (course / "autograded" / "ada" / LESSON / f"{LESSON}.ipynb").read_text()
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as book:
        assert book.find_assignment(LESSON).max_score == 8
        assert book.find_submission(LESSON, "ben").score == 7


@pytest.mark.slow
def test_a_mark_given_by_hand_stays_when_its_lesson_is_graded_again(
    course: Path, grade: Grade, hand_in: Callable[..., Path]
) -> None:
    hand_in("zoe", {})
    grade()
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as book:
        book.find_grade("test_first", LESSON, LESSON, "zoe").manual_score = 1.5
        book.db.commit()

    def change(cells: Any) -> None:
        cells["prose"].source = "# Another title"

    _edit(course, change)
    note_references(course)
    (score,) = grade().marks.values()
    assert (score.how, score.score) == ("graded", 1.5)


def test_changed_checking_code_and_limits_concern_everything(
    course: Path, grade: Grade, hand_in: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    hand_in("ada", RIGHT)
    grade()
    monkeypatch.setattr(digests, "grader_digest", lambda: "another")
    assert grade().reasons == (f"{CHANGED}, 1 submission graded again",)
    with (course / "nbgrader_config.py").open("a") as file:
        file.write("\nc.GradingLimits.exercise_seconds = 3.0\n")
    assert grade().reasons == (f"{CHANGED}, 1 submission graded again",)


def test_hints_are_part_of_the_checking_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A verdict names its hint."""
    monkeypatch.setattr(digests, "the_course", lambda: CourseFile("made_up", tmp_path, ""))
    found = set()
    (tmp_path / "handed_out").mkdir()
    for text in ("", "# A remark."):
        (tmp_path / "handed_out" / "hints.toml").write_text(text)
        found.add(digests.grader_digest.__wrapped__())
    assert len(found) == 2


@pytest.mark.parametrize(
    ("edited", "graded"),
    [
        ("nbproof/sandbox/engine.py", True),
        ("nbproof/sandbox/worker.py", True),
        ("nbproof/marking/verdicts.py", True),
        ("nbproof/recover/pieces.py", True),
        ("nbproof/checks/diagnosis.py", True),
        ("nbproof/values/compare.py", True),
        ("nbproof/cells.py", True),
        ("course/probing.py", True),
        ("course/course.toml", True),
        ("lessons/hints.toml", True),
        ("lessons/02_tensor_hooks/hints.toml", True),
        ("nbproof/gradebook/writer.py", True),
        ("nbproof/display/panel.py", True),
        # It is the lesson's: see tests/checks/test_visible.py.
        ("lessons/02_tensor_hooks/weight_grad/checks.py", False),
        ("course/pictures/canvas.py", False),
        ("nbproof/run/pool.py", False),
        ("nbproof/report/findings.py", False),
        ("nbproof/cli/main.py", False),
        ("nbproof/errors.py", False),
    ],
)
def test_what_regrades_a_class_follows_from_the_room_that_was_edited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, edited: str, graded: bool
) -> None:
    tool = Path(digests.__file__).resolve().parent.parent
    for folder in (tool, the_course().folder, the_course().texts):
        shutil.copytree(folder, tmp_path / folder.name, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(digests, "__file__", str(tmp_path / "nbproof" / "run" / "environment.py"))
    monkeypatch.setattr(digests, "the_course", lambda: CourseFile("course", tmp_path / "course", ""))

    before = digests.grader_digest.__wrapped__()
    with (tmp_path / edited).open("r+") as file:  # it is there
        file.write(file.read() + "\n")
    assert (digests.grader_digest.__wrapped__() != before) is graded


def test_what_regrades_a_class_is_there() -> None:
    assert all((Path(nbproof.__file__).parent / place).exists() for place in digests.GRADED_BY)


def test_the_state_of_a_run_is_not_written_for_each_submission(
    grade: Grade, hand_in: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    saved: list[int] = []
    monkeypatch.setattr(RunState, "save", lambda self: saved.append(1))
    counts = []
    for learners in (("ada",), ("ben", "cem", "dora")):
        for learner in learners:
            hand_in(learner, RIGHT)
        grade()
        counts.append(len(saved))
        saved.clear()
    assert counts[0] == counts[1] == 2, "when it begins, and when it is complete"


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


def test_what_an_earlier_version_wrote_down_is_graded_again_and_not_forgotten(
    course: Path, grade: Grade, hand_in: Callable[..., Path]
) -> None:
    """Its answers say which written ones have changed: only those wait for a person once more."""
    hand_in("ada", RIGHT)
    grade()
    path = course / "autograded" / "ada" / LESSON / ".verdict.json"
    kept = json.loads(path.read_text()) | {"basis": {}, "tests": {}, "source": "of then"}
    path.write_text(json.dumps(kept))
    entry = Journal(course).read("ada", LESSON)
    assert entry is not None and entry.verdict.answers["first"] == RIGHT["first"]
    assert grade().graded == (("ada", LESSON),)
    assert grade().graded == ()
