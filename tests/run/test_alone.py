"""A learner's own notebook, graded with the hidden tests: by the engine."""

from __future__ import annotations

import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest

from nbproof.cli.self_study import check_notebook, print_notebook
from nbproof.errors import UsageError
from nbproof.sandbox import isolation
from nbproof.sandbox.engine import Engine
from nbproof.sandbox.exceptions import NoIsolation
from nbproof.sandbox.isolation import Isolation
from nbproof.testing import Rehearsal
from nbproof.testing.small import LESSON, RIGHT
from nbproof.values.words import ENGLISH
from tests import COURSE, main
from tests.lms.uploads import everything

# A visible check alone is satisfied by this one.
ONE_SHAPE = "def second(x):\n    return x * 3 if x.dim() == 1 else x"
ANSWERS = {"first": RIGHT["first"], "second": ONE_SHAPE}


@pytest.fixture
def warm(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """The session's engine is taken: the command starts one of its own in one test, which takes seconds."""
    monkeypatch.setattr("nbproof.sandbox.engine.Engine", lambda course, limits, level=None: nullcontext(engine))


def test_nothing_is_written(room: Rehearsal, warm: None, diary: Path) -> None:
    file = room.hand_in("me", ANSWERS)
    before = everything(room.root)
    verdict = check_notebook(COURSE, room.root, file, [LESSON], seed=5)
    assert {one.id: (one.status, one.score) for one in verdict.exercises} == {
        "first": ("passed", 2.0),
        "second": ("failed", 0.0),
        "third": ("not answered", 0.0),
    }
    assert "result" in ENGLISH.outcome(verdict.exercises[1])
    assert everything(room.root) == before
    assert not diary.exists()


def test_a_terminal_obeys_nothing_that_was_handed_in(
    room: Rehearsal, warm: None, capsys: pytest.CaptureFixture[str]
) -> None:
    sign = "\x1b[2J\x1b]0;mine\x07\x9b31m\u202e"
    raises = f"raise type({sign!r}, (Exception,), {{}})({sign!r})  # {sign}"
    file = room.hand_in(
        "me", {"first": raises, "second": f"def second(x):\n    {raises}", "third": f"answer = {sign!r}"}
    )
    print_notebook(COURSE, check_notebook(COURSE, room.root, file, [LESSON], seed=5), 1.0)
    said = capsys.readouterr().out
    assert "\\x1b[2J" in said
    assert [line for line in said.splitlines() if not line.isprintable()] == []


def test_the_command_says_it_in_words_and_in_its_exit_code(
    room: Rehearsal, capsys: pytest.CaptureFixture[str], request: pytest.FixtureRequest
) -> None:
    file = room.hand_in("me", ANSWERS)
    assert main(["check-notebook", "--course", str(room.root), str(file)]) == 1
    said = capsys.readouterr().out
    assert "✓ first  2 of 2" in said
    assert "✗ second  0 of 1" in said
    assert "asked: It works for any shape, and leaves x alone." in said
    assert "○ third  0 of 1" in said
    assert f"{LESSON}: 2 of 4 points" in said
    request.getfixturevalue("warm")
    assert main(["check-notebook", "--course", str(room.root), str(room.hand_in("me", RIGHT))]) == 0


def test_what_is_wrong_with_a_lesson_is_not_to_be_mended_in_the_notebook(room: Rehearsal, warm: None) -> None:
    file = room.hand_in("me", RIGHT)
    with room.edited() as cells:
        cells["test_first"]["source"] = cells["test_first"]["source"].replace(
            'return {"result": sum', "return {1 / 0: sum"
        )
    with pytest.raises(UsageError, match=r"this cannot be checked: .*ZeroDivisionError") as told:
        check_notebook(COURSE, room.root, file, [LESSON], seed=5)
    assert told.value.next_command == "send this message to the people who made the course"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "this is no notebook"),
        ('{"cells": [{"cell_type": "code", "source": "x = 1", "metadata": {}}]}', "belongs to no lesson"),
        (None, "no notebook is called"),
    ],
)
def test_what_is_no_notebook_of_the_course(
    course: Path, tmp_path: Path, text: str | None, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mine.ipynb"
    if text is not None:
        file.write_text(text)
    assert main(["check-notebook", "--course", str(course), str(file)]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert "at:" in error
    assert "next:" in error


AS_IF_MACOS = """
import sys
import nbgrader.apps  # itself looks at the platform while it is imported
sys.modules["resource"] = None  # as on Windows
sys.platform = "darwin"
from course.__main__ import run
sys.exit(run())
"""


def test_another_system_is_told_what_works_there(course: Path) -> None:
    words = [sys.executable, "-c", AS_IF_MACOS, "grade", "--course", str(course)]
    told = subprocess.run(words, capture_output=True, text=True, cwd=course)
    assert told.returncode == 1
    assert "runs on Linux only, and this is darwin" in told.stderr
    assert "next: grade in a container: docs/engine.md, 'In a container'\n" in told.stderr


def test_linux_without_namespaces_stops_and_unsafe_goes_on_aloud(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    refused = dict.fromkeys((Isolation.FULL, Isolation.REDUCED), "the kernel refuses user namespaces")
    monkeypatch.setattr(isolation, "why_not", refused.get)
    with pytest.raises(NoIsolation) as refusal:
        isolation.isolation_or_refuse(unsafe=False)
    assert "refuses user namespaces" in refusal.value.fact
    assert "--unsafe" in refusal.value.next_command
    assert isolation.isolation_or_refuse(unsafe=True).line.startswith("isolation: NONE")


def test_what_python_imports_from_is_asked_as_for_a_class(room: Rehearsal, monkeypatch: pytest.MonkeyPatch) -> None:
    file = room.hand_in("me", RIGHT)
    monkeypatch.setattr(sys, "path", [str(room.root / "source" / LESSON), *sys.path])
    with pytest.raises(NoIsolation) as refusal:
        check_notebook(COURSE, room.root, file, [LESSON], seed=5)
    assert refusal.value.fact.startswith("Python imports from ")
