"""Reading a lesson: cells and exercises out of the text, and a plain refusal of every form that is not one."""

from __future__ import annotations

from pathlib import Path

import pytest

from nbproof.authoring.lesson import find_lessons, read_lesson
from nbproof.errors import LessonError, UsageError
from tests.authoring.tiny import MUTANTS, Sketch, metadata, write_lesson


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_lesson(tmp_path, "00_tiny", [Sketch(), Sketch("catch_again")])


def test_a_lesson_is_its_cells_and_its_exercises(folder: Path) -> None:
    lesson = read_lesson(folder)
    assert [cell.kind for cell in lesson.cells] == ["prose", "setup", "show", *["prose", "answer", "test"] * 2]
    assert lesson.cells[2].source.startswith("%matplotlib inline")
    for cell in lesson.cells:
        path, _, line = cell.place.rpartition(":")
        assert path == str(folder / "lesson.py")
        assert (folder / "lesson.py").read_text().splitlines()[int(line) - 1].startswith("# %%")
    exercise = lesson.exercise("catch")
    assert (exercise.points, exercise.lesson, len(exercise.tests)) == (2, "00_tiny", 1)
    roles = [(one.role, one.name) for one in exercise.candidates]
    assert roles[:3] == [("reference", "reference"), ("stub", "stub"), ("accepted", "extends")]
    mutant = next(one for one in exercise.mutants if one.name == "formula")
    assert (mutant.misconception, mutant.hint) == ("types the visible forward", None)
    assert next(one for one in exercise.mutants if one.name == "misspelt").hint == "undefined_name"


def test_a_test_cell_belongs_to_the_longest_id_that_fits(folder: Path) -> None:
    path = folder / "lesson.py"
    extra = f'\n# %% {metadata("test_catch_again_part", grade=True, points=0.5)}\nprint("a part")\n'
    path.write_text(path.read_text() + extra)
    lesson = read_lesson(folder)
    assert [cell.grade_id for cell in lesson.exercise("catch").tests] == ["test_catch"]
    assert [cell.grade_id for cell in lesson.exercise("catch_again").tests] == [
        "test_catch_again",
        "test_catch_again_part",
    ]
    assert lesson.exercise("catch_again").points == 2.5


def test_lessons_are_found_by_name(tmp_path: Path) -> None:
    write_lesson(tmp_path, "01_b", [])
    write_lesson(tmp_path, "00_a", [])
    assert [path.name for path in find_lessons(tmp_path)] == ["00_a", "01_b"]
    assert [path.name for path in find_lessons(tmp_path, ["01_b"])] == ["01_b"]
    with pytest.raises(UsageError, match=r"(?s)no lesson is called 'c'.*lessons.*choose from: 00_a, 01_b"):
        find_lessons(tmp_path, ["c"])
    with pytest.raises(UsageError, match=r"(?s)no lessons here.*cd into the course"):
        find_lessons(tmp_path / "lessons")


LONELY = "def f():\n    ### BEGIN SOLUTION\n    return 1\n    ### END SOLUTION\n"
TESTED = f"\n# %% {metadata('test_catch', grade=True, points=2)}\n"
SOLVED = "    ### BEGIN SOLUTION\n    answer.append(output)\n    ### END SOLUTION\n"

# before -> after in the text of a sound lesson; the fact; the next command; how the line at fault begins, if not as most do.
BROKEN: dict[str, tuple[str, ...]] = {
    "duplicate id": (
        '"setup_imports"',
        '"catch"',
        "grade_id 'catch' is used twice",
        "rename one of them",
        f"# %% {metadata('catch', solution=True, locked=False)}",
    ),
    "missing test cell": (
        TESTED,
        f"\n# %% {metadata('lonely', solution=True)}\n{LONELY}{TESTED}",
        "the exercise lonely has no test cell",
        "add one: test_lonely",
    ),
    "no solution region": (
        SOLVED,
        "    answer.append(output)\n",
        "the exercise catch has no solution region: it would be released solved",
        "put '### BEGIN SOLUTION'",
    ),
    # nbgrader would clear this one as well, and the contract's own stub would not.
    "another spelling": (
        "    ### BEGIN SOLUTION\n",
        "    # BEGIN SOLUTION now\n",
        "catch: nbgrader takes this line for a marker: '# BEGIN SOLUTION now'",
        "write exactly one of",
    ),
    "solution in a cell without metadata": (
        'print("shown")\n',
        LONELY,
        "'BEGIN SOLUTION' stands in a cell without nbgrader metadata: it would be released",
        "give the cell its nbgrader metadata",
        "# %%",
    ),
    "the stub is no Python": (
        SOLVED,
        "    return (\n    ### BEGIN SOLUTION\n    1\n    ### END SOLUTION\n    )\n",
        "catch as released, with the stub for the solution: ",
        "mend the Python",
    ),
    "graded by hand": (
        '"solution": false, "task": false, "grade_id": "test_catch"',
        '"solution": true, "task": false, "grade_id": "test_catch"',
        "test_catch is a kind of cell that lessons do not use",
        "see docs/authors.md, 'Cells'",
    ),
}


def refused(folder: Path, before: str, after: str) -> tuple[LessonError, str]:
    """How a sound lesson is refused after a change, and the line that is at fault then."""
    path = folder / "lesson.py"
    before = before.replace("NAME", "catch")
    assert before in path.read_text()
    path.write_text(path.read_text().replace(before, after, 1))
    with pytest.raises(LessonError) as caught:
        read_lesson(folder)
    name, _, line = caught.value.place.split(" and ")[0].rpartition(":")
    assert name == str(path)
    return caught.value, path.read_text().splitlines()[int(line) - 1]


@pytest.fixture
def inline(tmp_path: Path) -> Path:
    """A sound lesson whose test cell holds its tests itself."""
    return write_lesson(tmp_path, "00_tiny", [Sketch(inline=True)])


@pytest.mark.parametrize("broken", BROKEN)
def test_a_broken_lesson_is_refused_with_fact_place_and_next_command(broken: str, inline: Path) -> None:
    before, after, fact, next_command, *start = BROKEN[broken]
    error, line = refused(inline, before, after)
    assert fact in error.fact
    assert error.next_command.startswith(next_command)
    assert line.startswith(*start or ["# %% nbgrader"])


def test_a_mutant_without_its_first_line_is_refused(folder: Path) -> None:
    path = folder / "catch" / "wrong.py"
    path.write_text("# %% formula\n" + MUTANTS["formula"].split("\n", 1)[1])
    with pytest.raises(LessonError) as caught:
        read_lesson(folder)
    assert caught.value.lines() == [
        "error: a mutant's first line names its misconception and the hint expected for it",
        f"  at:   {path}:2",
        "  next: write: # misconception: <in a few words> | hint: <id, or none>",
    ]


def test_an_unexpected_file_is_refused_but_for_what_jupyter_leaves_behind(folder: Path) -> None:
    for left_over in ("__pycache__/x.pyc", ".ipynb_checkpoints/x.py", "catch/__pycache__/x.pyc"):
        (folder / left_over).parent.mkdir()
        (folder / left_over).write_bytes(b"")
    assert len(read_lesson(folder).exercises) == 2
    for stray in ("catch/notes.txt", "other/right.py"):
        (folder / stray).parent.mkdir(exist_ok=True)
        (folder / stray).write_text("")
        with pytest.raises(LessonError, match="something unexpected in a lesson folder") as caught:
            read_lesson(folder)
        assert str(folder / stray).startswith(caught.value.place)
        (folder / stray).unlink()


def test_a_file_that_is_no_text_is_refused(folder: Path) -> None:
    (folder / "lesson.py").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(LessonError, match=r"(?s)jupytext cannot read it.*lesson\.py.*next: open it in an editor"):
        read_lesson(folder)
