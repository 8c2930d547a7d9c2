"""An exercise's folder: checks that two lines stand for, answers in cells, and a plain refusal of every other form."""

from __future__ import annotations

from pathlib import Path

import pytest

from nbproof.authoring.exercise_folder import read_accepted, read_mutants
from nbproof.authoring.lesson import read_lesson
from nbproof.cli.main import main
from nbproof.errors import LessonError
from nbproof.handed_out import HIDDEN
from tests.authoring.tiny import ACCEPTED, MUTANTS, Sketch, metadata, write_lesson


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_lesson(tmp_path, "00_tiny", [Sketch()])


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
    in_parts(folder)
    call, log = read_lesson(folder).exercise("catch").tests
    assert call.source.endswith("### END HIDDEN TESTS")
    assert (log.grade_id, log.source) == (
        "test_catch_log",
        '# Run this cell to check your answer.\ncheck("catch", int)',
    )


CALL = 'from course import check\ncheck("catch")'

# file, before -> after; the line at fault; the fact; the next command.
BROKEN: dict[str, tuple[str, str, str, str, str, str]] = {
    "another call": ("lesson.py", CALL, CALL + "\nprint(1)", "# %% nbgrader", "another form", "write two lines"),
    "nearly hidden": (
        "catch/checks.py", HIDDEN, "# --- Hidden checks ---", "# --- Hidden checks ---",
        "test_catch: this line nearly says that hidden checks begin", f"write exactly: {HIDDEN}",
    ),
    "no Python": (
        "catch/checks.py", "    def truth(self, case):", "    def truth(self, case)", "import torch",
        "test_catch: expected ':'", "mend the Python",
    ),
}  # fmt: skip


@pytest.mark.parametrize("broken", BROKEN)
def test_another_form_is_refused_with_fact_line_and_next_command(broken: str, folder: Path) -> None:
    file, before, after, at_fault, fact, next_command = BROKEN[broken]
    path = folder / file
    assert before in path.read_text()
    path.write_text(path.read_text().replace(before, after, 1))
    with pytest.raises(LessonError) as caught:
        read_lesson(folder)
    assert fact in caught.value.fact
    assert caught.value.next_command.startswith(next_command)
    name, _, line = caught.value.place.split(" and ")[0].rpartition(":")
    assert name == str(path)
    assert path.read_text().splitlines()[int(line) - 1].startswith(at_fault)


def test_checks_that_are_missing_or_that_nobody_calls_are_refused(folder: Path) -> None:
    checks = in_parts(folder)
    checks.write_text(checks.read_text() + "\n# %% more\nprint(1)\n")
    with pytest.raises(LessonError, match="test_catch_more: its test cell is not there") as caught:
        read_lesson(folder)
    assert checks.read_text().splitlines()[int(caught.value.place.rpartition(":")[2]) - 1] == "# %% more"
    checks.unlink()
    with pytest.raises(LessonError, match="its checks are not there"):
        read_lesson(folder)


def test_answers_are_the_texts_of_their_cells(folder: Path) -> None:
    right = read_accepted(folder / "catch")
    for found, sources in ((right, ACCEPTED), (read_mutants(folder / "catch", right), MUTANTS)):
        assert {one.name: one.source for one in found} == dict(sources)
        for one in found:
            path, _, line = one.place.rpartition(":")
            assert Path(path).read_text().splitlines()[int(line) - 1] == f"# %% {one.name}"


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
    _, second, third = read_lesson(folder).exercise("catch").mutants
    assert third.source == (
        "# misconception: hooks another module | hint: none\n"
        "add = Add()\nother = Add()\nanswer = [None]\n\n\ndef hook(module, args, output):\n    # TODO: keep the output.\n"
        "    answer[0] = output\n\n\nother.register_forward_hook(hook)\nanswer *= 2\n"
    )
    root = str(folder.parent.parent)
    assert main(["check", "catch", "--course", root, "--show", "first_and_last"]) == 0
    assert capsys.readouterr().out == f"# %% first_and_last (mutant of catch)\n{second.source}\n"
    assert main(["check", "catch", "--course", root, "--show", "first_or_last"]) == 2


@pytest.mark.parametrize(
    ("edits", "fact"),
    [
        ("# edits: nobody\n-x", "edits of 'nobody', which is no answer above it"),
        ("# edits: reference\n-answer = 5\n+x", "'answer = 5' stands there 0 times"),
        ("# edits: reference\nanswer = 5", "an edit that begins with none of '-', '+' and ' '"),
    ],
)
def test_edits_that_do_not_fit_are_told_with_their_place(folder: Path, edits: str, fact: str) -> None:
    path = folder / "catch" / "wrong.py"
    path.write_text(f"# %% one\n# misconception: x | hint: none\n{edits}\n")
    with pytest.raises(LessonError) as caught:
        read_lesson(folder)
    assert caught.value.fact.startswith(fact)
    name, _, line = caught.value.place.rpartition(":")
    assert name == str(path)
    assert path.read_text().splitlines()[int(line) - 1].startswith("# edits")
