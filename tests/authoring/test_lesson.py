"""Reading a lesson: cells, exercises, their checks and answers out of the text, and a plain refusal of every other form."""

from __future__ import annotations

from pathlib import Path

import pytest

from nbproof.errors import LessonError, UsageError
from nbproof.handed_out import HIDDEN
from nbproof.lesson.exercise_folder import read_accepted, read_mutants
from nbproof.lesson.from_text import find_lessons, read_lesson
from tests import COURSE, main
from tests.authoring.tiny import ACCEPTED, MUTANTS, WRITTEN, Sketch, metadata, write_lesson


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_lesson(tmp_path, "00_tiny", [Sketch(), Sketch("catch_again")])


def line_at(place: str) -> str:
    """The line that a place names."""
    path, _, number = place.split(" and ")[0].rpartition(":")
    return Path(path).read_text().splitlines()[int(number) - 1]


def test_a_lesson_is_its_cells_and_its_exercises(folder: Path) -> None:
    lesson = read_lesson(COURSE, folder)
    assert [cell.kind for cell in lesson.cells] == ["prose", "setup", "show", *["prose", "answer", "test"] * 2]
    assert lesson.cells[2].source.startswith("%matplotlib inline")
    assert all(line_at(cell.place).startswith("# %%") for cell in lesson.cells)
    exercise = lesson.exercise("catch")
    assert (exercise.points, exercise.lesson, len(exercise.tests)) == (2, "00_tiny", 1)
    roles = [(one.role, one.name) for one in exercise.candidates]
    assert roles[:3] == [("reference", "reference"), ("stub", "stub"), ("accepted", "extends")]
    hints = {one.name: (one.misconception, one.hint) for one in exercise.mutants}
    assert hints["formula"] == ("types the visible forward", None)
    assert hints["misspelt"] == ("typo", "undefined_name")


def test_answers_are_the_texts_of_their_cells(folder: Path) -> None:
    right = read_accepted(folder / "catch")
    for found, sources in ((right, ACCEPTED), (read_mutants(folder / "catch", right), MUTANTS)):
        assert {one.name: one.source for one in found} == dict(sources)
        assert all(line_at(one.place) == f"# %% {one.name}" for one in found)


def test_a_test_cell_belongs_to_the_longest_id_that_fits(folder: Path) -> None:
    path = folder / "lesson.py"
    extra = f'\n# %% {metadata("test_catch_again_part", grade=True, points=0.5)}\nprint("a part")\n'
    path.write_text(path.read_text() + extra)
    found = {
        one.id: ([cell.grade_id for cell in one.tests], one.points) for one in read_lesson(COURSE, folder).exercises
    }
    assert found == {
        "catch": (["test_catch"], 2),
        "catch_again": (["test_catch_again", "test_catch_again_part"], 2.5),
    }


def test_lessons_are_found_by_name(tmp_path: Path) -> None:
    write_lesson(tmp_path, "01_b", [])
    write_lesson(tmp_path, "00_a", [])
    assert [path.name for path in find_lessons(tmp_path)] == ["00_a", "01_b"]
    assert [path.name for path in find_lessons(tmp_path, ["01_b"])] == ["01_b"]
    with pytest.raises(UsageError, match=r"(?s)no lesson is called 'c'.*lessons.*choose from: 00_a, 01_b"):
        find_lessons(tmp_path, ["c"])
    with pytest.raises(UsageError, match=r"(?s)no lessons here.*cd into the course"):
        find_lessons(tmp_path / "lessons")


def in_parts(folder: Path) -> Path:
    """The exercise with its points split between two test cells."""
    lesson, checks = folder / "lesson.py", folder / "catch" / "checks.py"
    again = f"\n# %% {metadata('test_catch_log', grade=True, points=1)}\nfrom course import check\n\n"
    text = lesson.read_text().replace('"test_catch"', '"test_catch_call"')
    text = text.replace('check("catch")', 'check("catch", part="call")')
    lesson.write_text(text + again + 'check("catch", part="log")\n')
    checks.write_text(f'# %% call\n{checks.read_text()}\n# %% log\ncheck("catch", int)\n')
    return checks


def test_a_part_of_the_points_has_a_cell_of_the_checks(folder: Path) -> None:
    checks = in_parts(folder)
    call, log = read_lesson(COURSE, folder).exercise("catch").tests
    assert call.source.endswith("### END HIDDEN TESTS") and log.grade_id == "test_catch_log"
    assert log.source == '# Run this cell to check your answer.\ncheck("catch", int)'
    checks.write_text(checks.read_text() + "\n# %% more\nmore = 1\n")
    with pytest.raises(LessonError, match="test_catch_more: its test cell is not there") as caught:
        read_lesson(COURSE, folder)
    assert line_at(caught.value.place) == "# %% more"
    checks.unlink()
    with pytest.raises(LessonError, match="its checks are not there"):
        read_lesson(COURSE, folder)


EDITS = """\
# %% nothing_kept
# misconception: keeps nothing | hint: none
# breaks: it holds the output
# edits: reference
-    answer.append(output)
+    pass

# %% first_and_last
# misconception: keeps the first only, and a copy of it | hint: none
# edits: nothing_kept
-answer = []
+answer = [None]
@@
-    pass
+    answer[0] = output

# %% on_another
# misconception: hooks another module | hint: none
# edits: first_and_last
 add = Add()
+other = Add()
@@
-add.register_forward_hook(hook)
+other.register_forward_hook(hook)
@@
+answer *= 2
"""


def test_a_mutant_may_be_edits_of_another_answer(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "catch" / "wrong.py").write_text(EDITS)
    _, second, third = read_lesson(COURSE, folder).exercise("catch").mutants
    assert third.source == (
        "# misconception: hooks another module | hint: none\n"
        "add = Add()\nother = Add()\nanswer = [None]\n\n\ndef hook(module, args, output):\n    # TODO: keep the output.\n"
        "    answer[0] = output\n\n\nother.register_forward_hook(hook)\nanswer *= 2\n"
    )
    root = str(folder.parent.parent)
    assert main(["check", "catch", "--course", root, "--show", "first_and_last"]) == 0
    assert capsys.readouterr().out == f"# %% first_and_last (mutant of catch)\n{second.source}\n"
    assert main(["check", "catch", "--course", root, "--show", "first_or_last"]) == 2


LONELY = "def f():\n    ### BEGIN SOLUTION\n    return 1\n    ### END SOLUTION\n"
TESTED = f"\n# %% {metadata('test_catch', grade=True, points=2)}\n"
SOLVED = "    ### BEGIN SOLUTION\n    answer.append(output)\n    ### END SOLUTION\n"
IN_BRACKETS = "    return (\n    ### BEGIN SOLUTION\n    1\n    ### END SOLUTION\n    )\n"
CALL = 'from course import check\ncheck("catch")'
FIRST = MUTANTS["formula"].partition("\n")[0] + "\n"
OPENING, SCHEME = "# ### BEGIN SOLUTION\n# Because", "    ### BEGIN MARK SCHEME\n"

ALONE = f"\n# %% {metadata('lonely', solution=True)}\n{LONELY}{TESTED}"
TEST_CELL = metadata("test_catch", grade=True, points=2)
BY_HAND = metadata("test_catch", grade=True, points=2, solution=True)
# nbgrader would clear this one as well, and the contract's own stub would not.
MISSPELT = "    # BEGIN SOLUTION now\n"

# Before -> after in lesson.py, and the fact; the line at fault is the head of a cell.
IN_LESSON = {
    "duplicate id": ('"setup_imports"', '"catch"', "grade_id 'catch' is used twice"),
    "missing test cell": (TESTED, ALONE, "the exercise lonely has no test cell"),
    "no solution region": (SOLVED, "    pass\n", "it would be released solved"),
    "another spelling": (
        "    ### BEGIN SOLUTION\n",
        MISSPELT,
        "catch: nbgrader takes this line for a marker: '# BEGIN",
    ),
    "solution without metadata": (
        'print("shown")\n',
        LONELY,
        "'BEGIN SOLUTION' stands in a cell without nbgrader metadata",
    ),
    "the stub is no Python": (SOLVED, IN_BRACKETS, "catch as released, with the stub"),
    "graded by hand": (TEST_CELL, BY_HAND, "test_catch is a kind of cell that lessons do not use"),
    "a written answer that is handed out": (OPENING, f"# Write.\n{OPENING}", "more than its reference answer"),
    "a written answer that never begins": (OPENING, "# Because", "do not come by turns"),
    "a mark scheme elsewhere": (SOLVED, SOLVED + SCHEME, "MARK SCHEME' stands in the wrong kind of cell"),
    "another call": (CALL, CALL + "\nprint(1)", "another form"),
}
AT_CLASS = ("catch/checks.py", "class Call(Check):")
NOT_RUN = ("MORE |= {1: 2}", "MORE[1] = 2", "MORE.update({1: 2})", "from course.probing import *")
# The file, before -> after in it; the fact; how the line at fault begins.
BESIDE = {
    "nearly hidden": ("catch/checks.py", HIDDEN, "# --- Hidden checks ---", "nearly says", "# --- Hidden checks ---"),
    "checks that are no Python": (
        "catch/checks.py",
        "truth(self, case):",
        "truth(self, case)",
        "expected ':'",
        "import",
    ),
    **{
        f"a graded cell without {line}": (*AT_CLASS, f"MORE = {{}}\n{line}\n\n\n{AT_CLASS[1]}", "does not run", line)
        for line in NOT_RUN
    },
    "a check without a line of its own": (
        *AT_CLASS,
        f"{AT_CLASS[1]}\n    del MORE",
        "does not run: 'del MORE'",
        "    del MORE",
    ),
    "no misconception": ("catch/wrong.py", FIRST, "", "a mutant's first line names its misconception", "add, answer"),
    "edits of nobody": ("catch/wrong.py", FIRST, f"{FIRST}# edits: nobody\n", "which is no answer above it", "# edits"),
    "no edits": (
        "catch/wrong.py",
        FIRST,
        f"{FIRST}# edits: reference\n",
        "begins with none of '-', '+' and ' '",
        "# edits",
    ),
}
BROKEN = {**{name: ("lesson.py", *row, "# %%") for name, row in IN_LESSON.items()}, **BESIDE}


@pytest.mark.parametrize("broken", BROKEN)
def test_another_form_is_refused_with_fact_place_and_next_command(broken: str, folder: Path) -> None:
    file, before, after, fact, at_fault = BROKEN[broken]
    lesson, path = folder / "lesson.py", folder / file
    lesson.write_text(lesson.read_text() + WRITTEN)
    assert before in path.read_text()
    path.write_text(path.read_text().replace(before, after, 1))
    with pytest.raises(LessonError) as caught:
        read_lesson(COURSE, folder)
    assert fact in caught.value.fact and caught.value.next_command
    assert caught.value.place.startswith(str(path))
    assert line_at(caught.value.place).startswith(at_fault)


def test_edits_stand_where_one_place_fits(folder: Path) -> None:
    path = folder / "catch" / "wrong.py"
    path.write_text("# %% one\n# misconception: x | hint: none\n# edits: reference\n-answer = 5\n+x\n")
    with pytest.raises(LessonError, match="'answer = 5' stands there 0 times"):
        read_lesson(COURSE, folder)


def test_an_unexpected_file_is_refused_but_for_what_jupyter_leaves_behind(folder: Path) -> None:
    for left_over in ("__pycache__/x.pyc", ".ipynb_checkpoints/x.py", "catch/__pycache__/x.pyc"):
        (folder / left_over).parent.mkdir()
        (folder / left_over).write_bytes(b"")
    assert len(read_lesson(COURSE, folder).exercises) == 2
    for stray in ("catch/notes.txt", "other/right.py"):
        (folder / stray).parent.mkdir(exist_ok=True)
        (folder / stray).write_text("")
        with pytest.raises(LessonError, match="something unexpected in a lesson folder") as caught:
            read_lesson(COURSE, folder)
        assert str(folder / stray).startswith(caught.value.place)
        (folder / stray).unlink()


def test_a_file_that_is_no_text_is_refused(folder: Path) -> None:
    (folder / "lesson.py").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(LessonError, match=r"(?s)jupytext cannot read it.*lesson\.py.*next: open it in an editor"):
        read_lesson(COURSE, folder)
