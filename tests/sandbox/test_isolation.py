"""`docs/engine.md` says what each level of isolation holds: its table is read, and every row of it tried.

A sealed process sees what Python imports from, read-only all the way, also on the Python that the system brings.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from nbproof.course_file import Course
from nbproof.sandbox import landlock, syscalls, visible_tree
from nbproof.sandbox.exceptions import NoIsolation
from nbproof.sandbox.isolation import Isolation, isolation_or_refuse, offered
from nbproof.sandbox.launch import refuse_if_exposed
from nbproof.sandbox.namespaces import probe_isolation
from nbproof.sandbox.visible_tree import visible_folders
from tests import COURSE, main, some_by_day
from tests.attacks.assault import listeners
from tests.sandbox import isolation_rows

ROOT = Path(__file__).parent.parent.parent
PAGE = ROOT / "docs" / "engine.md"
HEADER = "| what a submission tries | full | reduced |\n| --- | --- | --- |\n"
ONE_CELL = """
import json, sys
from nbproof import course_here
from nbproof.limits import GradingLimits
from nbproof.sandbox.engine import Engine
from nbproof.sandbox.exceptions import WorkerLost
from nbproof.sandbox.isolation import Isolation

def said(engine, source):
    request = {"op": "cell", "source": source, "count": 1}
    with engine.worker({}) as worker:
        try: answer, _ = worker.request(request, {"outputs": list, "error": (list, type(None))})
        except WorkerLost as loss: return loss.cause
    return "".join(str(one.get("text", "")) for one in answer["outputs"]) + ": ".join(answer["error"] or ())

with Engine(course_here(), GradingLimits(disk_mb=16), Isolation(sys.argv[1])) as engine:
    print(json.dumps([said(engine, source) for source in sys.argv[2:]]))
"""
"""Runs each cell in a sealed worker of its own, and prints what it printed, or what ended it."""


def _ran(cells: Sequence[str], level: str, packages: Path, *around: str, abi: str = "") -> list[str]:
    """What each cell printed, where Python imports from this folder as well; ``around``: what starts the process."""
    environment = {**os.environ, "PYTHONPATH": str(packages), "COURSE_LANDLOCK_ABI": abi}
    command = [*around, sys.executable, "-P", "-c", ONE_CELL, level, *cells]
    ran = subprocess.run(command, capture_output=True, text=True, cwd="/", env=environment)
    assert ran.returncode == 0, ran.stderr
    return list(json.loads(ran.stdout))


def _table() -> dict[str, dict[str, str]]:
    """What is tried -> level -> the first word of its cell."""
    lines = PAGE.read_text(encoding="utf-8").split(HEADER)[1].split("\n\n")[0].splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {tries: {"full": full.split(":")[0], "reduced": reduced.split(":")[0]} for tries, full, reduced in rows}


TABLE = _table()


@dataclass
class _Yours:
    """What the one who grades has, for a submission to reach for."""

    folder: Path
    shown: Path
    heard: list[str]


@pytest.fixture(scope="module")
def yours(tmp_path_factory: pytest.TempPathFactory) -> Iterator[_Yours]:
    folder = tmp_path_factory.mktemp("yours")
    (folder / "secret").write_text("secret")
    # Not below /tmp, which would then not be the submission's own.
    shown = Path(tempfile.mkdtemp(prefix="course-shown-", dir="/var/tmp"))
    for path in (folder, shown):
        path.chmod(0o755)
    (shown / "from_elsewhere.py").write_text("NAME = 'elsewhere'\n")
    (shown / "data.txt").write_text("keep me")
    (shown / "unread.txt").write_text("read me")
    sleeper = subprocess.Popen(["sleep", "600"])
    with listeners(folder) as (reach, heard):
        facts = {"folder": str(folder), "shown": str(shown), "victim": sleeper.pid, **reach}
        (folder / "facts.json").write_text(json.dumps(facts))
        yield _Yours(folder, shown, heard)
    assert sleeper.poll() is None
    assert sleeper.pid and os.getpriority(os.PRIO_PROCESS, sleeper.pid) == os.getpriority(os.PRIO_PROCESS, 0)
    sleeper.kill()
    sleeper.wait()
    shutil.rmtree(shown)


_CASES = [("full", ""), ("reduced", "1"), ("reduced", ""), ("reduced", "4")]


@pytest.fixture(scope="module", params=some_by_day(_CASES, 2), ids=lambda case: "-".join(filter(None, case)))
def found(request: pytest.FixtureRequest, yours: _Yours) -> tuple[str, dict[str, str]]:
    """The level, and what each row's attempt came to."""
    level, abi = request.param
    if offered()[Isolation(level)]:
        pytest.skip(f"{level} isolation is NOT tested: {offered()[Isolation(level)]}")
    if int(abi or 0) > landlock.abi():
        pytest.skip(f"Landlock's ABI {abi} is NOT tested: the kernel has {landlock.abi()}")
    # Most file systems note a reading if the last one was more than a day ago.
    os.utime(yours.shown / "unread.txt", (1, 1_000_000_001))
    facts = (yours.folder / "facts.json").read_text()
    cells = [isolation_rows.START.replace("@FACTS@", repr(facts)) + source for source in isolation_rows.ROWS.values()]
    return level, dict(zip(isolation_rows.ROWS, _ran(cells, level, yours.shown, abi=abi), strict=True))


@pytest.mark.slow
def test_what_runs_sealed_is_the_tool_that_grades(tmp_path: Path) -> None:
    for one in ("nbproof", "course"):
        shutil.copytree(ROOT / one, tmp_path / one, ignore=shutil.ignore_patterns("__pycache__"))
    asked = "import nbproof.sandbox.worker, nbproof.text; print(nbproof.sandbox.worker.__file__, nbproof.text.__file__)"
    for level in (one.value for one in (Isolation.FULL, Isolation.REDUCED) if not offered()[one]):
        (said,) = _ran([asked], level, tmp_path)
        assert said.split() == [str(tmp_path / "nbproof" / one) for one in ("sandbox/worker.py", "text.py")]


def test_every_row_is_tried() -> None:
    assert list(TABLE) == list(isolation_rows.ROWS)


@pytest.mark.slow
@pytest.mark.parametrize("row", TABLE)
def test_the_table_is_true(found: tuple[str, dict[str, str]], yours: _Yours, row: str) -> None:
    level, said = found
    wanted = TABLE[row][level]
    if row == "write to /tmp by that name" and any(folder.startswith("/tmp/") for folder in visible_folders(())):
        wanted = "refused"  # the interpreter itself lies there: TMPDIR has to do
    if row == "leave a date on a file by reading it" and os.statvfs(yours.shown).f_flag & os.ST_NOATIME:
        wanted = "no effect"
    came_to = said[row].splitlines()[-1]
    assert ("killed" if came_to in ("disk", "processes") else came_to) == wanted


@pytest.mark.slow
def test_nothing_of_yours_was_changed(found: tuple[str, dict[str, str]], yours: _Yours) -> None:
    shown = yours.shown / "data.txt"
    assert shown.read_text() == "keep me"
    assert shown.stat().st_mode & 0o777 in (0o644, 0o600, 0o664)
    assert shown.stat().st_mtime > 1_000_000_000
    assert (yours.folder / "secret").read_text() == "secret"
    assert yours.heard == []
    assert sorted(path.name for path in yours.folder.iterdir()) == ["facts.json", "listener.sock", "secret"]
    left = {path.name for path in yours.shown.iterdir()}
    assert left <= {"data.txt", "unread.txt", "from_elsewhere.py", "__pycache__"}


def test_a_level_that_is_demanded_and_not_there_stops_the_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    reasons = {Isolation.FULL: "the kernel refuses", Isolation.REDUCED: ""}
    monkeypatch.setattr("nbproof.sandbox.isolation.why_not", reasons.get)
    with pytest.raises(NoIsolation, match="no full isolation: the kernel refuses"):
        isolation_or_refuse(wanted="full")
    chosen = isolation_or_refuse()
    assert chosen.level is Isolation.REDUCED
    assert chosen.line.startswith("isolation: reduced (Landlock ABI ")
    assert "because the kernel refuses; what it lacks: docs/engine.md, 'What each level holds'" in chosen.line
    assert isolation_or_refuse(wanted="reduced").level is Isolation.REDUCED
    with pytest.raises(NoIsolation, match="no level of isolation called best") as told:
        isolation_or_refuse(wanted="best")
    monkeypatch.setattr("nbproof.sandbox.isolation.why_not", {}.get)
    assert told.value.next_command == "choose from: full, reduced"
    for level in ("full", "reduced"):
        assert isolation_or_refuse(wanted=level).level.value == level
    monkeypatch.setattr("nbproof.sandbox.isolation.why_not", reasons.get)
    # The command says what is there, and why.
    assert main(["isolation", "--course", str(ROOT)]) == 1
    said = capsys.readouterr().out
    assert "full isolation:    no: the kernel refuses\nreduced isolation: yes" in said
    assert "docs/engine.md" in said


def test_the_filter_knows_every_call_that_it_names() -> None:
    table = {entry.split()[0] for entry in syscalls.NUMBERS.split(",")}
    for abi in (None, 1, 6):
        assert set(syscalls.rules_of(abi)) <= table
    for machine in ("x86_64", "aarch64"):
        numbers = syscalls.numbers_on(machine)
        assert len(set(numbers.values())) == len(numbers)
        assert max(numbers.values()) <= syscalls.NEWEST, "what came later is unknown to the filter anyway"


LOOK = """
import above, inner.below
print(above.NAME, inner.below.NAME)
for place in (@LIBS@ + "/x", @LIBS@ + "/inner/x", @LIBS@ + "/inner/deeper/x"):
    try: open(place, "w"); print("written")
    except OSError as error: print(error.strerror)
"""


@pytest.mark.nightly
@pytest.mark.skipif(bool(probe_isolation()), reason=f"the sandbox is NOT tested: {probe_isolation()}")
def test_packages_from_elsewhere_are_read_only_all_the_way_down(tmp_path: Path) -> None:
    # Root of a user namespace that maps no other user, as containers have it, with mounts below a folder of packages.
    libs = tmp_path / "my libs"
    (libs / "inner").mkdir(parents=True)
    (libs / "above.py").write_text("NAME = 'above'")
    script = (
        'mount -t tmpfs none "$0/inner" && mkdir "$0/inner/deeper" && mount -t tmpfs none "$0/inner/deeper" && '
        'touch "$0/inner/__init__.py" && echo "NAME = \'below\'" > "$0/inner/below.py" && exec "$@"'
    )
    look = LOOK.replace("@LIBS@", repr(str(libs)))
    said = _ran([look], "full", libs, "unshare", "-Urm", "sh", "-c", script, str(libs))
    assert said == ["above below\n" + 3 * "Read-only file system\n"]


def test_what_python_imports_from_is_shown_and_nothing_of_people(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, course, work = tmp_path / "people" / "ada", tmp_path / "course", tmp_path / "work"
    packages = home / ".local" / "lib" / "python3.11" / "site-packages"
    modules, zipped = tmp_path / "modules" / "lib", tmp_path / "wheel.zip"
    for folder in (packages, course / "libs", course / "submitted" / "bob", work, modules, tmp_path / "people" / "bob"):
        folder.mkdir(parents=True)
    (course / "nbgrader_config.py").touch()
    zipped.touch()
    (tmp_path / "to_home").symlink_to(home)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(work)
    wanted = [packages, modules, zipped, course / "libs"]
    closed = ["", ".", "/", "/etc", "/home", "/tmp", home, home.parent, tmp_path, tmp_path / "to_home", work, course]
    closed += [tmp_path / "people" / "bob", tmp_path / "not there"]
    monkeypatch.setattr(sys, "path", [str(path) for path in (*closed, *wanted, *closed)])
    assert visible_tree.import_path() == [str(path) for path in wanted]
    assert set(map(str, wanted)) <= set(visible_tree.visible_folders(()))
    assert not {str(path) for path in closed} & set(visible_tree.visible_folders(()))


def test_what_was_handed_out_of_a_course_is_not_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a clone it lies in lessons/, which nothing shows; an installed package has it among its modules."""
    (tmp_path / "knots" / "handed_out").mkdir(parents=True)
    (tmp_path / "knots" / "data.py").touch()
    monkeypatch.setattr(visible_tree, "visible_folders", list)
    course = Course("knots", tmp_path / "knots", "")
    assert visible_tree.shown(course.own_code, course.withheld).whole == (str(tmp_path / "knots" / "data.py"),)


@pytest.mark.parametrize("part", ["solutions", "exchange", "exchange/x/submitted/ada/ps1", "autograded", ".."])
def test_a_course_that_would_be_shown_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: str) -> None:
    course = tmp_path / "outer" / "course"
    for name in ("library", "exchange/x/submitted/ada/ps1", "solutions", "source/lesson", "autograded"):
        (course / name).mkdir(parents=True)
    (course / "nbgrader_config.py").write_text(
        "c = get_config()\nc.CourseDirectory.source_directory = 'solutions'\n"
        "c.CourseDirectory.submitted_directory = 'exchange/x/submitted'\n"
    )
    monkeypatch.setattr(visible_tree.tempfile, "gettempdir", lambda: "/nowhere")
    monkeypatch.setattr(sys, "path", [str(course / "library"), *sys.path])
    refuse_if_exposed(COURSE, course)
    monkeypatch.setattr(sys, "path", [str(course / part), *sys.path])
    with pytest.raises(NoIsolation):
        refuse_if_exposed(COURSE, course)
