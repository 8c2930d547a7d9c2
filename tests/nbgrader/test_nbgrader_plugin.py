"""nbgrader's own commands, and formgrader's buttons: on the engine, as the first ones in a fresh clone, and whatever lies in
a submission's folder.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from nbgrader.apps import NbGraderAPI

from nbproof.command import formgrader_on_a_hub
from nbproof.feedback.pages import write_feedback
from nbproof.places import course_config
from nbproof.testing import Rehearsal
from nbproof.testing.small import LESSON, POINTS, RIGHT
from tests import COURSE, ROOT, main

# nbgrader's own release of feedback leaves files open, and hands a misspelt word on.
pytestmark = pytest.mark.filterwarnings("ignore")

FULL = sum(POINTS.values())

_MEASURED = """
import atexit, re, sys
from nbgrader.apps.nbgraderapp import main
peak = lambda: re.search(r"VmHWM:\\s*(\\d+)", open("/proc/self/status").read()).group(1)
atexit.register(lambda: print("PEAK MB", int(peak()) // 1024))
main()
"""
"""The peak of this process alone: what ``getrusage`` says begins with that of the process that started it."""


def _nbgrader(course: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    tools = os.path.dirname(sys.executable)
    environment = {**os.environ, "PATH": tools + os.pathsep + os.environ["PATH"]}
    command = [sys.executable, "-c", _MEASURED, *arguments]
    return subprocess.run(
        command, cwd=course, env=environment, capture_output=True, text=True, errors="replace", timeout=900
    )


def _make_fresh(course: Path) -> None:
    """As it is cloned: without a gradebook, and nothing noted."""
    (course / "gradebook.db").unlink()
    shutil.rmtree(course / ".course")


def _fill(folder: Path, course: Path) -> None:
    """What no data file is, beside a right notebook."""
    (folder / "data.csv").symlink_to("/dev/zero")
    (folder / "neighbour").symlink_to(course / "submitted" / "ada")
    (folder / "loop").symlink_to("loop")
    (folder / "timestamp.txt").symlink_to("/dev/zero")
    os.mkfifo(folder / "pipe.csv")
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(os.path.relpath(folder / "door"))
    (folder / "huge.bin").touch()
    os.truncate(folder / "huge.bin", 1 << 40)
    (folder / "new\nline.txt").write_text("data")
    Path(os.fsdecode(os.fsencode(folder) + b"/\xff\xfe")).write_text("data")
    for number in range(1_500):
        (folder / f"many{number}.txt").touch()
    (folder / "0_mine.txt").write_text("to be kept")


def _deepen(folder: Path) -> None:
    """One folder in another, deeper than Python's own functions go."""
    here = os.open(folder, os.O_RDONLY)
    for _ in range(1_500):
        os.mkdir("d", dir_fd=here)
        below = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(os.open("deep.txt", os.O_CREAT | os.O_WRONLY, dir_fd=here))
    os.close(here)


@pytest.mark.nightly
def test_autograde_is_the_first_command_and_nothing_is_copied_or_parsed_unseen(room: Rehearsal) -> None:
    right = room.hand_in("ada", RIGHT).read_bytes()
    room.hand_in("ben", {**RIGHT, "first": "import os\nos._exit(3)"})
    forged = "import nbproof.checks.check\nnbproof.checks.check.judge_here = lambda *a, **k: None"
    cheat = room.hand_in("eve", {"first": forged})
    notebook = json.loads(cheat.read_text())
    for cell in notebook["cells"]:
        cell["metadata"]["tags"] = ["skip-execution"]
    cheat.write_text(json.dumps(notebook))
    submitted = room.root / "submitted"
    for learner, data in {
        "mal": b"not a notebook",
        "big": b"[" + b"[]," * 20_000_000 + b"[]]",
        "nan": b'{"cells": ' + b"[" * 10**6,
        "new\nline": right,
    }.items():
        (submitted / learner / LESSON).mkdir(parents=True)
        (submitted / learner / LESSON / f"{LESSON}.ipynb").write_bytes(data)
    _fill(room.hand_in("lin", RIGHT).parent, room.root)
    _deepen(room.hand_in("low", RIGHT).parent)
    # Notebooks that are links: to the solutions, to a neighbour's, to what never ends; and a pipe.
    for learner, target in {"sol": "source", "neb": "submitted/ada"}.items():
        (submitted / learner).mkdir()
        (submitted / learner / LESSON).symlink_to(room.root / target / LESSON)
    (submitted / "zed").symlink_to(room.root / "source")
    for learner in ("pip", "zer"):
        (submitted / learner / LESSON).mkdir(parents=True)
    os.mkfifo(submitted / "pip" / LESSON / f"{LESSON}.ipynb")
    (submitted / "zer" / LESSON / f"{LESSON}.ipynb").symlink_to("/dev/zero")
    _make_fresh(room.root)

    graded = _nbgrader(room.root, "autograde", LESSON)

    # pytest cannot remove what is as deep.
    subprocess.run(["rm", "-rf", submitted / "low"], check=True)
    assert graded.returncode == 1, "not everybody could be graded"
    assert graded.stderr.count("isolation: ") == 1, graded.stderr[-3000:]
    scores = room.book()
    assert (scores["ada"], scores["ben"], scores["eve"]) == (FULL, FULL - POINTS["first"], 0), graded.stderr[-3000:]
    assert (scores["lin"], scores["low"]) == (FULL, FULL), "what may not be read is left out"
    kept = {path.name for path in (room.root / "autograded/lin" / LESSON).iterdir()}
    assert kept >= {f"{LESSON}.ipynb", ".verdict.json", "timestamp.txt", "submission_secret.txt", "0_mine.txt"}
    assert not kept & {"data.csv", "neighbour", "loop", "pipe.csv", "door", "huge.bin"}
    links = dict.fromkeys(("sol", "neb", "zed", "zer"), "is a symbolic link")
    for learner, why in {**links, "pip": "is not a regular file"}.items():
        assert learner not in scores, f"{learner} has a place in the gradebook"
        assert any(f"{learner} is not graded: " in line and why in line for line in graded.stderr.splitlines()), learner
    for learner in ("mal", "big", "nan"):
        assert learner not in scores
        assert f"{learner} is not graded: " in graded.stderr
        assert not (room.root / "autograded" / learner / LESSON).exists()
    assert "passed over submitted/new\\nline" in graded.stderr
    assert int(graded.stdout.split("PEAK MB")[1]) < 1_000, "a submission was parsed by the process that grades"
    size = sum(path.stat().st_size for path in (room.root / "autograded").rglob("*"))
    assert size < 20e6, "something was copied that nobody had looked at"
    text = room.autograded("ada").read_text()
    assert "HIDDEN" not in text


def _api(course: Path) -> NbGraderAPI:
    """What formgrader's buttons call, with an exchange beside the course."""
    config = course_config(course)
    exchange = course / "exchange"
    exchange.mkdir(exist_ok=True)
    exchange.chmod(0o777)
    config.Exchange.root = str(exchange)
    return NbGraderAPI(config=config)


def _worked(outcome: dict[str, Any]) -> str:
    assert outcome["success"], f"{outcome.get('log')}\n{outcome.get('error')}"[-3000:]
    return str(outcome.get("log"))


def _released(course: Path) -> set[str]:
    """The names of the pages in the exchange: digests of a secret and the notebook's name."""
    return {path.stem for path in (course / "exchange").glob("*/feedback/*.html")}


def test_formgraders_buttons_work_in_a_fresh_clone(room: Rehearsal) -> None:
    room.hand_in("ada", RIGHT)
    by_exchange = room.hand_in("ben", {"first": "print('status', 3)"}).parent
    (by_exchange / "timestamp.txt").write_text("2026-02-03 04:05:06.000000 UTC")
    (by_exchange / "submission_secret.txt").write_text("ab" * 64)
    (room.hand_in("lin", RIGHT).parent / "data.csv").symlink_to("/dev/zero")
    room.hand_in("zer", {}).unlink()
    room.submitted("zer").symlink_to("/dev/zero")
    _make_fresh(room.root)
    api = _api(room.root)

    _worked(api.autograde(LESSON, "ada"))
    refused = api.autograde(LESSON, "*")
    assert not refused["success"]
    assert "zer is not graded: " in refused["log"]
    assert room.book() == {"ada": FULL, "ben": 0, "lin": FULL}
    _worked(api.generate_feedback(LESSON))
    page = (room.root / "feedback" / "ben" / LESSON / f"{LESSON}.html").read_text()
    assert "status 3" in page
    assert "class Shapes" not in page
    _worked(api.release_feedback(LESSON))
    assert len(_released(room.root)) == 3
    with room.gradebook() as gradebook:
        gradebook.find_grade("test_first", LESSON, LESSON, "ben").manual_score = 0.5
        gradebook.db.commit()
    _worked(api.generate_feedback(LESSON, "ben"))
    assert (room.root / "feedback/ben" / LESSON / "submission_secret.txt").read_text() == "ab" * 64
    # Nobody has said when Ada handed in, and nothing has made that up.
    with room.gradebook() as gradebook:
        assert gradebook.find_submission(LESSON, "ada").timestamp is None
        assert gradebook.find_submission(LESSON, "ben").timestamp is not None
    # Without --force nothing is graded twice, and what came later and is no file costs nobody what was graded before.
    assert f"ben/{LESSON}: 0.5 of {FULL:g}, unchanged" in _worked(api.autograde(LESSON, "ben", force=False))
    path = room.submitted("ada")
    path.unlink()
    path.symlink_to("/dev/zero")
    assert "ada is not graded: " in api.autograde(LESSON, "ada", force=False)["log"]
    assert room.autograded("ada").exists()
    assert room.book()["ada"] == FULL


@pytest.mark.usefixtures("one_engine")
def test_what_a_person_has_settled_is_no_error_of_autograde_until_it_changes(room: Rehearsal) -> None:
    picture = room.hand_in("zoe", RIGHT)
    picture.write_bytes(b"a picture")
    api = _api(room.root)
    refused = api.autograde(LESSON, "zoe")
    assert not refused["success"]
    assert "zoe is not graded: " in refused["log"]

    assert main(["settle", f"zoe/{LESSON}", "--course", str(room.root)]) == 0
    settled = _worked(api.autograde(LESSON, "zoe"))
    assert "zoe is not graded: " not in settled
    assert f"zoe/{LESSON} is settled" in settled

    picture.write_bytes(b"another picture")
    assert not api.autograde(LESSON, "zoe")["success"]


@pytest.mark.usefixtures("one_engine")
def test_feedback_is_released_after_our_grading_and_keeps_its_place_in_the_exchange(room: Rehearsal) -> None:
    room.hand_in("ada", RIGHT)
    bad = room.hand_in("mal", {}).parent
    (bad / "submission_secret.txt").write_bytes(b"\xff\xfe no text")
    (bad / "timestamp.txt").mkdir()
    (room.hand_in("ned", {}).parent / "submission_secret.txt").mkdir()
    graded = room.grade()
    write_feedback(COURSE, room.root, graded.graded, problems={("eve", LESSON): "no notebook"})
    api = _api(room.root)
    _worked(api.release_feedback(LESSON))
    first = _released(room.root)
    assert len(first) == 4
    # The button makes the pages again by force, out of autograded/.
    _worked(api.generate_feedback(LESSON))
    _worked(api.release_feedback(LESSON, "ada"))
    assert _released(room.root) == first


def test_on_a_hub_the_next_command_is_the_bookmark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUPYTERHUB_SERVICE_PREFIX", "/user/jupyter-prof/")
    monkeypatch.setenv("JUPYTERHUB_BASE_URL", "/")
    monkeypatch.delenv("JUPYTERHUB_PUBLIC_HUB_URL", raising=False)
    bookmark = "https://YOUR-HUB/hub/user-redirect/formgrader"
    assert formgrader_on_a_hub() == bookmark
    assert bookmark in Path(ROOT, "docs", "jupyterhub.md").read_text(encoding="utf-8")
    monkeypatch.setenv("JUPYTERHUB_PUBLIC_HUB_URL", "https://hub.u.edu/hub/")
    assert formgrader_on_a_hub() == "https://hub.u.edu/hub/user-redirect/formgrader"
    monkeypatch.delenv("JUPYTERHUB_SERVICE_PREFIX")
    assert formgrader_on_a_hub() == ""
