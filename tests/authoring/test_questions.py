"""Questions that a person marks: asked above the cell, answered and marked in it, and neither reaches learners."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbgrader.utils import compute_checksum

from nbproof.authoring.build import build
from nbproof.authoring.headings import amiss
from nbproof.authoring.lesson import read_lesson
from nbproof.authoring.release import leaks
from nbproof.errors import LessonError
from tests.authoring.tiny import WRITTEN, Sketch, write_lesson

NOTEBOOK = "00_tiny/00_tiny.ipynb"


def _course(root: Path, written: str = WRITTEN) -> Path:
    folder = write_lesson(root, "00_tiny", [Sketch()])
    path = folder / "lesson.py"
    path.write_text(path.read_text() + written)
    return folder


def test_the_answer_and_the_mark_scheme_stay_with_the_instructor(tmp_path: Path) -> None:
    lesson = read_lesson(_course(tmp_path))
    assert [cell.grade_id for cell in lesson.written] == ["explain_twice"]
    assert len(lesson.exercises) == 1
    build(tmp_path, say=lambda line: None)
    source, release = (
        nbformat.read(tmp_path / step / NOTEBOOK, as_version=4).cells[-1] for step in ("source", "release")
    )
    assert source.cell_type == release.cell_type == "markdown"
    assert source.metadata.nbgrader.points == 2 and source.metadata.nbgrader.solution and source.metadata.nbgrader.grade
    assert "registered twice" in source.source
    assert release.source == "Write your answer here, in two or three sentences."
    assert release.metadata.nbgrader.checksum == compute_checksum(release)
    assert list(amiss(lesson)) == list(leaks(lesson, tmp_path / "release" / NOTEBOOK)) == []

    notebook = nbformat.read(tmp_path / "release" / NOTEBOOK, as_version=4)
    notebook.cells[-1].source = "Write here.\n- 2 points: registered twice."
    nbformat.write(notebook, tmp_path / "release" / NOTEBOOK)
    (found,) = leaks(lesson, tmp_path / "release" / NOTEBOOK)
    assert found.fact == "the release shows a private line: - 2 points: registered twice."


REFUSED = {
    "no solution": ("# ### BEGIN SOLUTION\n", "", "do not come by turns"),
    "text for learners": ("# ### BEGIN SOLUTION\n", "# Write.\n# ### BEGIN SOLUTION\n", "more than its reference answer"),
}  # fmt: skip


@pytest.mark.parametrize("broken", REFUSED)
def test_a_cell_that_nobody_could_mark_is_refused(broken: str, tmp_path: Path) -> None:
    before, after, fact = REFUSED[broken]
    assert before in WRITTEN
    folder = _course(tmp_path, WRITTEN.replace(before, after, 1))
    with pytest.raises(LessonError) as caught:
        read_lesson(folder)
    assert fact in caught.value.fact
    name, _, line = caught.value.place.rpartition(":")
    assert Path(name).read_text().splitlines()[int(line) - 1].startswith("# %% [markdown] nbgrader=")


def test_a_mark_scheme_elsewhere_is_refused(tmp_path: Path) -> None:
    answer = "x = 1\n### BEGIN SOLUTION\n### BEGIN MARK SCHEME\nx = 2\n### END MARK SCHEME\n### END SOLUTION\n"
    with pytest.raises(LessonError, match="MARK SCHEME' stands in the wrong kind of cell"):
        read_lesson(write_lesson(tmp_path, "00_tiny", [Sketch(answer=answer)]))
