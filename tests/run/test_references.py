"""The reference answers are graded before a class: once, in the sealed process; what they lose is said, and stops the run."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from nbproof.marking.hand_in import HandIn as HandedIn
from nbproof.marking.results import Verdict
from nbproof.run.batch import grade_class
from nbproof.run.intake import take_in
from nbproof.run.journal import RunState
from nbproof.run.pool import PoolMaker
from nbproof.run.references import REFERENCE, ReferencesFail
from nbproof.sandbox.engine import Engine
from nbproof.values.results import Cause, Reason, Status
from tests.conftest import LESSON, POINTS, RIGHT, Mark, shared_pool

pytestmark = pytest.mark.filterwarnings("ignore")

FULL = sum(POINTS.values())
OTHER = "02_other"
HandIn = Callable[..., Path]


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


def _source(course: Path, lesson: str = LESSON) -> Path:
    return course / "source" / lesson / f"{lesson}.ipynb"


def _change(course: Path, before: str, after: str, lesson: str = LESSON) -> None:
    path = _source(course, lesson)
    notebook = json.loads(path.read_text())
    changed = 0
    for cell in notebook["cells"]:
        text = "".join(cell["source"])
        changed += before in text
        cell["source"] = text.replace(before, after)
    assert changed == 1, f"{before!r} stands in {changed} cells"
    path.write_text(json.dumps(notebook))


def _again(course: Path) -> None:
    """Forget that they were tried."""
    state = RunState(course)
    state.references.clear()
    state.save()


def _grade(course: Path, pool: PoolMaker, lessons: Sequence[str] = (LESSON,), **more: bool):
    return grade_class(course, take_in(course, list(lessons), list(lessons)), list(lessons), pool=pool, **more)


def test_they_come_first_and_a_second_run_does_not_pay(
    course: Path, hand_in: HandIn, asked: tuple[PoolMaker, list[str]]
) -> None:
    pool, names = asked
    hand_in("ada", RIGHT)
    _again(course)
    assert [one.score for one in _grade(course, pool).marks.values()] == [FULL]
    assert names == [f"{REFERENCE}/{LESSON}", f"ada/{LESSON}"]
    names.clear()
    hand_in("ben", {})
    _grade(course, pool)
    assert names == [f"ben/{LESSON}"]
    # Another lesson is another question.
    names.clear()
    _change(course, "def third(x):", "def third(x, *, more=0):")
    _grade(course, pool, force=True)
    assert names[0] == f"{REFERENCE}/{LESSON}"
    assert not (course / "autograded" / REFERENCE).exists()


def test_a_wrong_reference_stops_its_lesson_and_no_other(course: Path, hand_in: HandIn, pool: PoolMaker) -> None:
    _source(course, OTHER).parent.mkdir()
    _source(course, OTHER).write_bytes(_source(course).read_bytes())
    path = hand_in("ada", RIGHT)
    (course / "submitted" / "ada" / OTHER).mkdir()
    (course / "submitted" / "ada" / OTHER / f"{OTHER}.ipynb").write_bytes(path.read_bytes())
    _change(course, "return x * 3\n", "return x * 5\n", OTHER)

    graded = _grade(course, pool, (LESSON, OTHER))

    assert [(one.lesson, one.score, one.problem) for one in graded.marks.values()] == [(LESSON, FULL, "")]
    assert graded.unfit.keys() == {OTHER}
    assert "second earns 0 of 1 (failed: " in graded.unfit[OTHER]
    assert not (course / "autograded" / "ada" / OTHER).exists()
    with pytest.raises(ReferencesFail, match="second earns 0 of 1") as caught:
        _grade(course, pool, (OTHER,))
    assert OTHER in caught.value.place
    assert "grade --anyway" in caught.value.next_command
    knowingly = _grade(course, pool, (OTHER,), anyway=True)
    assert [one.score for one in knowingly.marks.values()] == [FULL - POINTS["second"] + POINTS["second"]]
    assert knowingly.unfit.keys() == {OTHER}
    assert knowingly.anyway


def test_a_package_that_the_sealed_process_does_not_see_is_named_with_its_folder(
    course: Path,
    hand_in: HandIn,
    pool: PoolMaker,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = tmp_path_factory.mktemp("elsewhere")
    (folder / "layers_of_ours.py").write_text("TWICE = 2\n")
    monkeypatch.setattr(sys, "path", [*sys.path, str(folder)])
    hand_in("ada", RIGHT)
    # As lessons do it: imported in a setup cell, used in an answer.
    _change(course, "import torch\n", "import torch\nimport layers_of_ours\n")
    _change(course, "return x * 2\n", "return x * layers_of_ours.TWICE\n")
    with pytest.raises(ReferencesFail) as caught:
        _grade(course, pool)
    assert "No module named 'layers_of_ours'" in caught.value.fact
    assert str(folder) in caught.value.fact
    assert not (course / "autograded" / "ada").exists()
    _change(course, "return x * layers_of_ours.TWICE\n", "import nowhere_at_all\n    return x * nowhere_at_all.TWICE\n")
    with pytest.raises(ReferencesFail, match="'nowhere_at_all': it is not installed"):
        _grade(course, pool)


@pytest.mark.parametrize("text", ["def third(x):\n    raise NotImplementedError", "pass  # TODO: your code"])
def test_an_exercise_without_a_reference_answer_is_not_asked_for(
    course: Path, hand_in: HandIn, pool: PoolMaker, text: str
) -> None:
    hand_in("ada", RIGHT)
    path = _source(course)
    notebook = json.loads(path.read_text())
    for cell in notebook["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("grade_id") == "third":
            cell["source"] = text
    path.write_text(json.dumps(notebook))
    assert not _grade(course, pool).unfit


def test_submissions_marked_meanwhile_wait_for_the_verdict_on_the_references(
    course: Path, hand_in: HandIn, engine: Engine
) -> None:
    """With several workers a learner's verdict may come first."""

    learners = threading.Semaphore(0)

    def references_last(mark: Mark) -> Mark:
        def one(handed_in: HandedIn) -> Verdict:
            if handed_in.key.learner == REFERENCE:
                assert learners.acquire(timeout=60) and learners.acquire(timeout=60)
                return mark(handed_in)
            try:
                return mark(handed_in)
            finally:
                learners.release()

        return one

    make = shared_pool(engine, references_last, threads=3)
    hand_in("ada", RIGHT)
    hand_in("ben", {})
    _again(course)
    assert [one.score for one in _grade(course, make).marks.values()] == [FULL, 0]
    _change(course, "return x * 3\n", "return x * 5\n")
    with pytest.raises(ReferencesFail):
        _grade(course, make, force=True)
    journal = json.loads((course / "autograded" / "ada" / LESSON / ".verdict.json").read_text())
    assert sum(sum(one["points"].values()) for one in journal["verdict"]["exercises"]) == FULL


def test_what_a_limit_has_ended_is_tried_again_before_it_counts(course: Path, hand_in: HandIn, engine: Engine) -> None:
    """A busy machine must not stop a class that it would grade a minute later."""
    tried: list[int] = []

    busy = 1

    def slow(mark: Mark) -> Mark:
        def one(handed_in: HandedIn) -> Verdict:
            verdict = mark(handed_in)
            if handed_in.key.learner != REFERENCE:
                return verdict
            tried.append(1)
            if len(tried) > busy:
                return verdict
            first, *others = verdict.exercises
            none, reason = dict.fromkeys(first.points, 0.0), Reason(Cause.LOST, "too slow")
            late = replace(first, status=Status.TIMEOUT, points=none, reason=reason)
            return replace(verdict, exercises=(late, *others))

        return one

    make = shared_pool(engine, slow)
    hand_in("ada", RIGHT)
    _again(course)
    assert [one.score for one in _grade(course, make).marks.values()] == [FULL]
    assert len(tried) == 2
    assert RunState(course).references
    _again(course)
    tried.clear()
    busy = 2
    with pytest.raises(ReferencesFail, match="too slow"):
        _grade(course, make, force=True)
