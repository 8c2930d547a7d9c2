"""Grading with stock nbgrader, from the committed notebooks: marks, and no word on stderr."""

from __future__ import annotations

import shutil
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook
from traitlets.config import Config

from benchmarks.stock import grade_plainly
from nbproof.authoring.simulate import hand_in
from nbproof.places import course_config
from tests import SLUGS, some_by_day, the_lesson

ROOT = Path(__file__).parent.parent.parent


def _submit(course: Path, learner: str, slug: str, answers: dict[str, str]) -> Path:
    path = course / "submitted" / learner / slug / f"{slug}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(hand_in(ROOT / "release" / slug / f"{slug}.ipynb", answers), path)
    return path


def _said(notebook: Path, kind: str) -> list[nbformat.NotebookNode]:
    """Its outputs of one kind: errors, or what stands on stderr."""
    outputs = [output for cell in nbformat.read(notebook, as_version=4).cells for output in cell.get("outputs", [])]
    return [output for output in outputs if kind in (output.output_type, output.get("name"))]


@pytest.fixture(scope="module")
def plain_course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty course of somebody who has only nbgrader, for all lessons: nbgrader takes seconds to make a gradebook."""
    return tmp_path_factory.mktemp("plain")


@pytest.mark.stock
@pytest.mark.parametrize("slug", some_by_day(SLUGS, len(SLUGS)))
def test_plain_nbgrader_gives_the_references_full_marks_and_the_release_none(
    slug: str, plain_course: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Whatever a machine has in its home (downloaded weights, a matplotlib style) must not be what makes this pass.
    monkeypatch.setenv("HOME", str(plain_course))
    monkeypatch.setenv("TORCH_HOME", str(plain_course / "torch"))
    course_config(ROOT)  # for PATH only: nbgrader starts alembic by name
    plain = Config()
    plain.CourseDirectory.course_id = "anything"
    plain.CourseDirectory.root = str(plain_course)
    plain.ClearSolutions.text_stub = course_config(ROOT).ClearSolutions.text_stub  # what the release was made with
    shutil.copytree(ROOT / "source" / slug, plain_course / "source" / slug)
    lesson = the_lesson(slug)
    (question,) = lesson.questions
    right = {one.id: one.answer.source for one in lesson.exercises}
    _submit(plain_course, "reference", slug, {**right, question.grade_id: "Because."})
    _submit(plain_course, "untouched", slug, {})
    assert grade_plainly(plain, [slug]) == {}
    assert not list(plain_course.rglob("*.pth")), "a lesson downloaded weights"
    with Gradebook(f"sqlite:///{plain_course / 'gradebook.db'}") as gradebook:
        maximum = sum(exercise.points for exercise in lesson.exercises)
        reference, untouched = (gradebook.find_submission(slug, name) for name in ("reference", "untouched"))
        assert (reference.score, reference.max_score) == (maximum, maximum + question.points)
        assert untouched.score == 0
        written = [gradebook.find_grade(question.grade_id, slug, slug, name) for name in ("reference", "untouched")]
        assert [(one.auto_score, one.needs_manual_grade) for one in written] == [(None, True), (0, False)]
    for learner in ("reference", "untouched"):
        assert _said(plain_course / "autograded" / learner / slug / f"{slug}.ipynb", "stderr") == []
    assert _said(plain_course / "autograded" / "reference" / slug / f"{slug}.ipynb", "error") == []
