"""The reference answers are graded before a class: once, in the sealed process; what they lose is said, and stops the run."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from nbproof.marking.results import Verdict
from nbproof.recover.notebook_bytes import HandIn as HandedIn
from nbproof.run.batch import grade_class
from nbproof.run.intake import take_in
from nbproof.run.journal import RunState
from nbproof.run.pool import PoolMaker
from nbproof.run.references import REFERENCE
from nbproof.sandbox.engine import Engine
from nbproof.sandbox.exceptions import GradingError
from nbproof.testing import Rehearsal
from nbproof.testing.small import LESSON, POINTS, RIGHT
from nbproof.values.results import Cause, Reason, Status
from tests import COURSE, main
from tests.run.test_any_course import SQUARES, Cells, hand_in, written
from tests.warm import Mark, shared_pool

FULL = sum(POINTS.values())
OTHER = "02_other"


@pytest.fixture(autouse=True)
def same_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is installed stays the same: other tests make files beside the modules meanwhile, and the folder's time tells."""
    monkeypatch.setattr("nbproof.run.references.environment", lambda course: b"")


@pytest.fixture
def asked(engine: Engine) -> tuple[PoolMaker, list[str]]:
    """A pool, and whose notebooks it was asked for."""
    names: list[str] = []

    def noting(mark: Mark) -> Mark:
        def one(handed_in: HandedIn) -> Verdict:
            names.append(handed_in.key.name)
            return mark(handed_in)

        return one

    return shared_pool(engine, noting), names


def _change(room: Rehearsal, before: str, after: str, lesson: str = LESSON) -> None:
    with room.edited(lesson) as cells:
        (changed,) = (cell for cell in cells.values() if before in cell["source"])
        changed["source"] = changed["source"].replace(before, after)


def _again(course: Path) -> None:
    """Forget that they were tried."""
    state = RunState(course)
    state.references.clear()
    state.save()


def test_they_come_first_and_a_second_run_does_not_pay(room: Rehearsal, asked: tuple[PoolMaker, list[str]]) -> None:
    room.pool, names = asked
    room.hand_in("ada", RIGHT)
    _again(room.root)
    assert [one.score for one in room.grade().marks.values()] == [FULL]
    assert names == [f"{REFERENCE}/{LESSON}", f"ada/{LESSON}"]
    names.clear()
    room.hand_in("ben", {})
    room.grade()
    assert names == [f"ben/{LESSON}"]
    # Another lesson is another question.
    names.clear()
    _change(room, "def third(x):", "def third(x, *, more=0):")
    room.grade(force=True)
    assert names[0] == f"{REFERENCE}/{LESSON}"
    assert not (room.root / "autograded" / REFERENCE).exists()


def test_a_wrong_reference_stops_its_lesson_and_no_other(room: Rehearsal, capsys: pytest.CaptureFixture[str]) -> None:
    room.source(OTHER).parent.mkdir()
    room.source(OTHER).write_bytes(room.source().read_bytes())
    room.hand_in("ada", RIGHT)
    room.hand_in("ada", RIGHT, OTHER)
    _change(room, "return x * 3\n", "return x * 5\n", OTHER)

    graded = room.grade((LESSON, OTHER))

    assert [(one.lesson, one.score, one.problem) for one in graded.marks.values()] == [(LESSON, FULL, "")]
    assert graded.unfit.keys() == {OTHER}
    assert "second earns 0 of 1 (failed: " in graded.unfit[OTHER]
    assert not (room.root / "autograded" / "ada" / OTHER).exists()
    with pytest.raises(GradingError, match="second earns 0 of 1") as caught:
        room.grade((OTHER,))
    assert OTHER in caught.value.place
    assert "grade --anyway" in caught.value.next_command
    assert main(["grade", "--course", str(room.root), "--no-feedback", "--force"]) == 1
    line = f"passed over {room.source(OTHER)}: its reference answers lose marks here"
    assert re.search(rf"{re.escape(line)}.* grade {OTHER} --anyway", "".join(capsys.readouterr()))
    knowingly = room.grade((OTHER,), anyway=True)
    assert [one.score for one in knowingly.marks.values()] == [FULL - POINTS["second"] + POINTS["second"]]
    assert knowingly.unfit.keys() == {OTHER}
    assert knowingly.anyway


def test_a_package_that_the_sealed_process_does_not_see_is_named_with_its_folder(
    room: Rehearsal, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path_factory.mktemp("elsewhere")
    (folder / "layers_of_ours.py").write_text("TWICE = 2\n")
    (folder / "submitted").mkdir()  # the folder of a course: nothing in it is shown
    monkeypatch.setattr(sys, "path", [*sys.path, str(folder)])
    room.hand_in("ada", RIGHT)
    # As lessons do it: imported in a setup cell, used in an answer.
    _change(room, "import torch\n", "import torch\nimport layers_of_ours\n")
    _change(room, "return x * 2\n", "return x * layers_of_ours.TWICE\n")
    with pytest.raises(GradingError) as caught:
        room.grade()
    assert "No module named 'layers_of_ours'" in caught.value.fact
    assert str(folder) in caught.value.fact
    assert not (room.root / "autograded" / "ada").exists()
    _change(room, "return x * layers_of_ours.TWICE\n", "import nowhere_at_all\n    return x * nowhere_at_all.TWICE\n")
    with pytest.raises(GradingError, match="'nowhere_at_all': it is not installed"):
        room.grade()


@pytest.mark.parametrize("text", ["def third(x):\n    raise NotImplementedError", "pass  # TODO: your code"])
def test_an_exercise_without_a_reference_answer_is_not_asked_for(room: Rehearsal, text: str) -> None:
    room.hand_in("ada", RIGHT)
    with room.edited() as cells:
        cells["third"]["source"] = text
    assert not room.grade().unfit


@pytest.mark.parametrize("by_the_grader", [False, True])
def test_what_ended_by_chance_is_tried_again_before_it_counts(
    room: Rehearsal, engine: Engine, by_the_grader: bool
) -> None:
    """A busy machine must not stop a class that it would grade a minute later."""
    tried: list[int] = []

    def slow(mark: Mark) -> Mark:
        def one(handed_in: HandedIn) -> Verdict:
            verdict = mark(handed_in)
            if handed_in.key.learner != REFERENCE:
                return verdict
            tried.append(1)
            if len(tried) > 1:
                return verdict
            if by_the_grader:
                return Verdict(*handed_in.key, problem="the grader failed on it", grader_failed=True)
            first, *others = verdict.exercises
            none, reason = dict.fromkeys(first.points, 0.0), Reason(Cause.LOST, "too slow")
            late = replace(first, status=Status.TIMEOUT, points=none, reason=reason)
            return replace(verdict, exercises=(late, *others))

        return one

    room.pool = shared_pool(engine, slow)
    room.hand_in("ada", RIGHT)
    _again(room.root)
    assert [one.score for one in room.grade().marks.values()] == [FULL]
    assert len(tried) == 2
    assert RunState(room.root).references


RAISES = "raise NotImplementedError()"
UNTOLD = {
    "in a function": {"squares": ("answer", f"def squares(n):\n    {RAISES}"), "test_a": ("test", "assert squares(2) == [0, 1]")},
    "in its cell, and a name is missed below": {
        "squares": ("answer", RAISES), "test_a": ("test", "assert squares(2) == [0, 1]"),
        "more": ("answer", "### BEGIN SOLUTION\nmore = squares(1)\n### END SOLUTION"), "test_more": ("test", "assert more"),
    },
    "in a method that the test's helper calls": {
        "box": ("answer", f"class Box:\n    def size(self):\n        {RAISES}"),
        "test_b": ("test", "def sizes(box):\n    return [box.size()]\nassert sizes(Box())"),
    },
}  # fmt: skip


@pytest.mark.parametrize("step", ["source", "release"])
@pytest.mark.parametrize("cells", UNTOLD.values(), ids=list(UNTOLD))
def test_a_stub_that_stands_for_the_reference_has_nothing_to_prove(
    tmp_path: Path, pool: PoolMaker, cells: Cells, step: str
) -> None:
    source = written(tmp_path / step / "ps1" / "ps1.ipynb", cells)
    hand_in(source, tmp_path / "submitted" / "ada" / "ps1" / "ps1.ipynb")
    told = grade_class(COURSE, tmp_path, take_in(COURSE, tmp_path, ["ps1"]), ["ps1"], pool=pool)
    assert not told.unfit and [one.score for one in told.marks.values()] == [0]


def test_a_reference_that_misses_a_name_of_its_own_is_still_stopped(
    tmp_path: Path, pool: PoolMaker, capsys: pytest.CaptureFixture[str]
) -> None:
    made: dict[str, Cells] = {
        "source/ps1": {
            "more": ("answer", "### BEGIN SOLUTION\nmore = nowhere\n### END SOLUTION"),
            "test_more": ("test", "assert more"),
        },
        "release/ps2": {"test_more": ("test", "assert nowhere")},
        "source/ps3": SQUARES,
    }
    for name, cells in made.items():
        lesson = Path(name).name
        hand_in(
            written(tmp_path / name / f"{lesson}.ipynb", cells), tmp_path / "submitted/ada" / lesson / f"{lesson}.ipynb"
        )
    with pytest.raises(GradingError, match="nowhere"):
        grade_class(COURSE, tmp_path, take_in(COURSE, tmp_path, ["ps1"]), ["ps1"], pool=pool)
    assert main(["grade", "--course", str(tmp_path), "--no-feedback"]) == 1
    told = re.findall(f"passed over {tmp_path}/(.*?): its reference", capsys.readouterr().out)
    assert sorted(told) == ["release/ps2/ps2.ipynb", "source/ps1/ps1.ipynb"]


@pytest.mark.parametrize("step", ["source", "release"])
def test_marks_that_an_untouched_notebook_earns_are_told_once(tmp_path: Path, pool: PoolMaker, step: str) -> None:
    cells = {**SQUARES, "test_given": ("test", "assert 1 + 1 == 2")}
    if step == "release":
        cells["squares"] = ("answer", "def squares(n):\n    pass")
    cells["test_part"] = ("test", "float('squares' in globals()) / 2")
    hand_in(written(tmp_path / step / "ps1" / "ps1.ipynb", cells), tmp_path / "submitted" / "ada" / "ps1" / "ps1.ipynb")

    def given_away() -> dict[str, str]:
        told = grade_class(
            COURSE, tmp_path, take_in(COURSE, tmp_path, ["ps1"]), ["ps1"], pool=pool, anyway=True, force=True
        )
        return dict(told.given_away)

    assert given_away() == {"ps1": "an untouched notebook earns 2.5 points: test_given (2), test_part (0.5)"}
    assert given_away() == {}


@pytest.mark.parametrize(("helper", "is_told"), [("", True), ("release", False), ("submitted", True)])
def test_a_test_that_misses_its_module_is_named_where_no_reference_answer_shows_it(
    helper: str, is_told: bool, tmp_path: Path, pool: PoolMaker
) -> None:
    cells = {
        "squares": ("answer", "def squares(n):\n    # YOUR CODE HERE\n    raise NotImplementedError()"),
        "test_squares": ("test", "from its_helper import two\nassert squares(two) == [0, 1]"),
    }
    released, mine = (tmp_path / place / "ps1" / "ps1.ipynb" for place in ("release", "submitted/ada"))
    hand_in(written(released, cells), mine)
    if helper:
        {"release": released, "submitted": mine}[helper].with_name("its_helper.py").write_text("two = 2\n")
    told = grade_class(COURSE, tmp_path, take_in(COURSE, tmp_path, ["ps1"]), ["ps1"], pool=pool).given_away
    assert ("No module named 'its_helper'" in told.get("ps1", "")) is is_told, told
