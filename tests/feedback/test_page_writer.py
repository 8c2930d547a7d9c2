"""Pages are written by forks of the warm interpreter: what grades imports nothing that draws."""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
from multiprocessing import Pipe
from pathlib import Path

import pytest

from nbproof.feedback.page_task import Task, page_path
from nbproof.feedback.page_writer import serve, written
from nbproof.key import Key
from nbproof.testing import Rehearsal
from nbproof.testing.small import LESSON, RIGHT
from tests import ROOT

TASKS = [Task(Key(name, LESSON), "digest", problem="it cannot be read") for name in ("ada", "ben", "eve")]


def test_a_writer_writes_until_its_line_is_cut(tmp_path: Path) -> None:
    ours, theirs = Pipe()
    writer = threading.Thread(target=serve, args=(theirs,))
    writer.start()
    told = [(task.key.learner, reason) for task, reason in written(tmp_path, TASKS, [ours])]
    assert told == [("ada", ""), ("ben", ""), ("eve", "")]
    assert all("it cannot be read" in page_path(tmp_path, name, LESSON).read_text() for name, _ in told)
    ours.close()
    writer.join(10)
    assert not writer.is_alive()


def test_a_page_that_ends_its_writer_is_told_apart_from_those_that_wait(tmp_path: Path) -> None:
    ours, theirs = Pipe()

    def end() -> None:
        theirs.recv()
        theirs.close()

    threading.Thread(target=end).start()
    told = {task.key.learner: reason for task, reason in written(tmp_path, TASKS, [ours])}
    assert "ended from outside" in told.pop("ada")
    assert told == {"ben": "", "eve": ""}, "written by this process"


@pytest.mark.slow
def test_what_grades_imports_nothing_that_draws(room: Rehearsal) -> None:
    room.hand_in("ben", {**RIGHT, "first": "def first(x):\n    return x"})
    program = (
        "import sys; from nbproof.cli.main import main; code = main(sys.argv[1:]); "
        "print('imported:', sorted({'torch', 'matplotlib'} & set(sys.modules))); sys.exit(code)"
    )
    words = ["grade", "--course", str(room.root), "--seed", "3"]
    shutil.rmtree(room.root / "feedback", ignore_errors=True)
    ran = subprocess.run([sys.executable, "-c", program, *words], cwd=ROOT, capture_output=True, text=True, check=False)
    assert "imported: []" in ran.stdout, ran.stdout + ran.stderr
    page = page_path(room.root, "ben", LESSON).read_text()
    assert "data:image/png" in page
