"""What changed is graded again, whole, and nothing else runs: counted by what the engine is asked to run."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from nbproof.course_file import Course
from nbproof.gradebook.writer import Penalties
from nbproof.run import digests
from nbproof.run.hand_ins import LessonBook
from nbproof.run.pool import PoolMaker
from nbproof.sandbox.worker_handle import Worker
from nbproof.testing import Rehearsal, scores
from nbproof.testing.small import LESSON, POINTS, RIGHT
from tests import COURSE, main
from tests.run.test_any_course import Cells, hand_in, written
from tests.warm import note_references


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


DOUBLED: Cells = {"f": ("answer", "def f(x):\n    ### BEGIN SOLUTION\n    return 2 * x\n    ### END SOLUTION")}
FEWER = "fewer marks for the same work, which was graded again, or has other points"
CHANGED = f"{LESSON}: the lesson, or what grades it, changed"


def test_a_changed_test_grades_the_whole_of_its_lesson_again(room: Rehearsal, asked: Counter[str]) -> None:
    room.hand_in_all(
        {
            "ada": RIGHT,
            "ben": {**RIGHT, "second": "def second(x):\n    return x * 4"},
            "lou": {**RIGHT, "first": "import os\nos._exit(3)"},
        }
    )
    first = room.grade(seed=5)
    assert scores(first) == {"ada": 4, "ben": 3, "lou": 2}
    asked.clear()

    # The test of `second` wants another factor now: ada's answer is wrong, ben's is right.
    with room.edited() as cells:
        test = cells["test_second"]["source"]
        cells["test_second"]["source"] = test.replace("range(3)", "range(4)").replace("x * 3", "x * 4")
        cells["second"]["source"] = cells["second"]["source"].replace("x * 3", "x * 4")
    note_references(room.root)
    again = room.grade(seed=6)
    assert scores(again) == {"ada": 3, "ben": 4, "lou": 1}
    assert again.reasons == (f"{CHANGED}, 3 submissions graded again",)
    assert again.remarks == (f"{FEWER}: ada/{LESSON}: 4 → 3, lou/{LESSON}: 2 → 1",)
    assert {score.how for score in again.marks.values()} == {"graded"}
    assert all(asked[f"test_{name}"] for name in POINTS)
    assert {room.verdict(learner).seed for learner in ("ada", "ben", "lou")} == {6}
    asked.clear()
    third = room.grade()
    assert (third.graded, third.reasons, third.remarks) == ((), (), ())
    assert not asked
    assert scores(third) == scores(again)


def test_changed_points_and_prose_arrive_everywhere_and_nothing_runs(room: Rehearsal, asked: Counter[str]) -> None:
    room.hand_in_all({"ada": RIGHT, "ben": {**RIGHT, "second": "def second(x):\n    return x"}})
    path = room.hand_in("lou", {**RIGHT, "third": "def third(x):\n    return x"})
    notebook = json.loads(path.read_text())
    notebook["cells"].insert(3, {"cell_type": "code", "metadata": {}, "source": "mine = 1", "outputs": []})
    path.write_text(json.dumps(notebook))
    room.grade()
    asked.clear()
    with room.gradebook() as book:
        book.find_grade("test_second", LESSON, LESSON, "ben").manual_score = 0.5
        book.db.commit()

    with room.edited() as cells:
        cells[""]["source"] = "# Another title"
        cells["test_third"]["metadata"]["nbgrader"]["points"] = 5.0
    again = room.grade()
    (told,) = again.reasons
    assert "nothing ran again" in told and "(3)" in told
    assert (again.graded, asked) == ((), {})
    assert scores(again) == {"ada": 8, "ben": 7.5, "lou": 3}
    assert {score.max_score for score in again.marks.values()} == {8}
    assert "Another title" in room.autograded("ada").read_text() and "Another title" in room.page("ada")
    texts = [cell["source"] for cell in json.loads(room.autograded("lou").read_text())["cells"]]
    assert texts.index("mine = 1") == texts.index(RIGHT["first"]) + 1
    with room.gradebook() as book:
        assert book.find_assignment(LESSON).max_score == 8
        assert book.find_submission(LESSON, "ben").score == 7.5
    assert (room.grade().reasons, again.remarks) == ((), ())
    with room.edited() as cells:
        cells["test_third"]["metadata"]["nbgrader"]["points"] = 4.0
    assert room.grade().remarks == (f"{FEWER}: ada/{LESSON}: 8 → 7, ben/{LESSON}: 7.5 → 6.5",)
    assert room.grade().remarks == ()


def test_the_stubs_of_an_older_version_are_nobodys_answers(room: Rehearsal) -> None:
    """What was handed out is kept when it is graded."""
    ben = room.hand_in("ben", {})
    room.grade()
    with room.edited() as cells:
        for name in RIGHT:
            cells[name]["source"] = cells[name]["source"].replace("# TODO:", "# TODO, in your own words:")
    note_references(room.root)
    room.hand_in("lou", {})
    assert "own words" not in ben.read_text()
    room.grade()
    for who in ("lou", "ben"):
        assert {(one.status, one.reason) for one in room.verdict(who).exercises} == {("not answered", None)}


def test_without_a_release_it_is_known_what_learners_get(room: Rehearsal) -> None:
    assert not (room.root / "release").exists()
    assert LessonBook(COURSE, room.root).guess(room.hand_in("ada", {})).untouched
    assert not LessonBook(COURSE, room.root).guess(room.hand_in("ada", RIGHT)).untouched


def test_changed_checking_code_and_limits_concern_everything(room: Rehearsal, monkeypatch: pytest.MonkeyPatch) -> None:
    room.hand_in("ada", RIGHT)
    room.grade()
    monkeypatch.setattr(digests, "grader_digest", lambda course: "another")
    assert room.grade().reasons == (f"{CHANGED}, 1 submission graded again",)
    with (room.root / "nbgrader_config.py").open("a") as file:
        file.write("\nc.GradingLimits.exercise_seconds = 3.0\n")
    assert room.grade().reasons == (f"{CHANGED}, 1 submission graded again",)


@pytest.mark.parametrize(
    ("edited", "graded"),
    [
        ("nbproof/sandbox/engine.py", True),
        ("nbproof/text.py", True),
        ("nbproof/course_file.py", True),
        ("nbproof/values/words.py", True),
        ("course/probing.py", True),
        ("lessons/02_tensor_hooks/hints.toml", False),
        # It is the lesson's: see tests/checks/test_visible.py.
        ("lessons/02_tensor_hooks/weight_grad/checks.py", False),
        ("nbproof/run/pool.py", False),
        ("nbproof/report/statistics.py", False),
        ("nbproof/cli/grade_command.py", False),
    ],
)
def test_what_regrades_a_class_follows_from_what_was_edited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, edited: str, graded: bool
) -> None:
    tool = Path(digests.__file__).resolve().parent.parent
    for folder in (tool, COURSE.folder, COURSE.texts):
        shutil.copytree(folder, tmp_path / folder.name, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(digests, "__file__", str(tmp_path / "nbproof" / "run" / "environment.py"))
    course = Course("course", tmp_path / "course", "")

    before = digests.grader_digest.__wrapped__(course)
    with (tmp_path / edited).open("r+") as file:  # it is there
        file.write(file.read() + "\n")
    assert (digests.grader_digest.__wrapped__(course) != before) is graded


def test_what_verdicts_import_regrades_a_class() -> None:
    """Python's own import is asked in another process: what it has loaded is part of the digest."""
    makers = ("marking.marker", "sandbox.judge_server", "sandbox.worker", "sandbox.fork_server", "gradebook.writer")
    lines = [f"import nbproof.{one}" for one in makers]
    program = "\n".join(
        [*lines, "import sys", "print(*(one for one in sys.modules if one.split('.')[0] == 'nbproof'))"]
    )
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    empty = {name for name in loaded if not Path(str(sys.modules.get(name, digests).__file__)).read_bytes()}
    assert len(loaded) > 50
    assert set(loaded) - empty <= set(digests.graded_by(COURSE))


def test_data_files_are_part_of_a_submission(room: Rehearsal) -> None:
    path = room.hand_in("ada", RIGHT)
    room.grade()
    made = room.autograded("ada").parent
    for name in ("numbers.txt", "data/more.txt", "plot.html"):
        (path.parent / name).parent.mkdir(exist_ok=True)
        (path.parent / name).write_text("42")
    again = room.grade()
    assert again.remarks == (f"not put into autograded/, as a browser may run it: ada/{LESSON}/plot.html",)
    assert (made / "numbers.txt").read_text() == (made / "data" / "more.txt").read_text() == "42"
    (path.parent / "numbers.txt").rename(path.parent / "renamed.txt")
    shutil.rmtree(path.parent / "data")
    assert room.grade().graded == (("ada", LESSON),)
    assert {one.name for one in made.rglob("*.*")} == {
        path.name,
        ".verdict.json",
        "submission_secret.txt",
        "renamed.txt",
    }
    assert (room.grade().graded, room.grade().remarks) == ((), ())
    (room.source().parent / "renamed.txt").write_text("43")
    (path.parent / "plot.html").unlink()
    room.hand_in("ben", RIGHT).with_name("renamed.txt").write_text("44")
    told = f"{LESSON}/renamed.txt: the lesson's own counts, and not what these handed in: ada, ben"
    assert room.grade().remarks == (told,)
    (path.parent / "renamed.txt").write_text("43")
    assert room.grade().remarks == ()


@pytest.mark.parametrize(
    ("own", "cut"),
    [(False, False), pytest.param(True, False, marks=pytest.mark.nightly), (False, True)],
    ids=["as handed out", "fewer answers, and a cell of their own before", "by a run that is cut off"],
)
def test_a_mark_that_falls_with_a_new_hand_in_is_named_and_what_counted_is_kept(
    own: bool, cut: bool, room: Rehearsal, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = room.hand_in("ada", RIGHT)
    path.with_name("data.csv").write_text("1")
    if own:
        notebook = json.loads(path.read_text())
        notebook["cells"].append({"cell_type": "code", "source": "mine = 3", "metadata": {}, "outputs": []})
        path.write_text(json.dumps(notebook))
    room.hand_in("ben", {})
    room.grade()
    path.with_name("data.csv").unlink()
    room.hand_in("ada", {"first": RIGHT["first"]} if own else {})
    room.hand_in("ben", RIGHT)
    if cut:
        cut_off(room, monkeypatch)
    (told,) = room.grade().remarks
    assert told.startswith(f"fewer marks with a new hand-in: ada/{LESSON}: 4 → {2 if own else 0}. ")
    kept = Path(told.partition("--from ")[2].split()[0])
    assert (kept / "data.csv").read_text() == "1"
    assert ("mine = 3" in (kept / path.name).read_text()) is own
    # What the line says.
    assert main(shlex.split(told.partition(" -m course ")[2])) == 0
    assert [*room.root.glob("collected/*/replaced/ada/*")] and "was in time" not in capsys.readouterr().out
    assert room.book() == {"ada": 4, "ben": 4} and (path.parent / "data.csv").is_file()
    room.hand_in("ben", {**RIGHT, "first": RIGHT["first"] + "\n# the same once more"})
    assert room.grade().remarks == (), "it earns as much"
    assert main(["roster", "remove", "ada", "--yes", "--course", str(room.root)]) == 0
    assert not kept.exists()


def cut_off(room: Rehearsal, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a run mark all that there is, and end before it sets late penalties."""
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Penalties, "assign", Mock(side_effect=KeyboardInterrupt))
        room.grade()


@pytest.mark.parametrize(
    ("ending", "ran"), [("assert f(2) == 4", 0), ("x = f(2)\nassert x", 0), ("vars().update(y=f(2))", 1)]
)
def test_of_plain_tests_other_points_run_those_again_that_end_in_a_value(
    tmp_path: Path, pool: PoolMaker, ending: str, ran: int
) -> None:
    path = written(tmp_path / "source" / "ps1" / "ps1.ipynb", {**DOUBLED, "test_f": ("test", ending)})
    hand_in(path, tmp_path / "submitted" / "ada" / "ps1" / "ps1.ipynb")
    room = Rehearsal(tmp_path, "ps1", pool)
    room.grade()
    with room.edited() as cells:
        cells["test_f"]["metadata"]["nbgrader"]["points"] = 4
    again = room.grade()
    assert (len(again.graded), scores(again), room.book()) == (ran, {"ada": 4}, {"ada": 4})
    assert ("nothing ran again" in again.reasons[0]) == (not ran)


def test_a_lost_gradebook_is_filled_from_the_journals_and_nothing_runs(room: Rehearsal, asked: Counter[str]) -> None:
    for learner in ("ada", "ben"):
        room.hand_in(learner, RIGHT if learner == "ada" else {})
    first = room.grade()
    asked.clear()
    (room.root / "gradebook.db").rename(room.root / "gradebook.db.broken")
    again = room.grade()
    assert not asked
    assert again.graded == ()
    assert scores(again) == scores(first) == {"ada": 4, "ben": 0}
    with room.gradebook() as book:
        assert book.find_submission(LESSON, "ada").score == 4
