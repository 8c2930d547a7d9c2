"""`docs/engine.md` says what each level of isolation holds: its table is read, and every row of it tried."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from nbproof.cli.apparmor import profile, what_is_offered
from nbproof.sandbox import isolation, landlock, syscalls
from nbproof.sandbox.exceptions import NoIsolation
from nbproof.sandbox.isolation import Isolation, isolation_or_refuse, offered, why_not_isolated
from nbproof.sandbox.shown import visible_folders
from tests import some_by_day

from . import isolation_rows

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "engine.md"
HEADER = "| what a submission tries | full | reduced |\n| --- | --- | --- |\n"
ONE_CELL = Path(__file__).with_name("one_cell.py")


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
    heard: list[str] = field(default_factory=list)


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
    one = _Yours(folder, shown)
    name = f"course-{os.getpid()}"
    sleeper = subprocess.Popen(["sleep", "600"])
    listeners = [socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX), socket.socket()]
    for listener, address in zip(listeners, (str(folder / "sock"), "\0" + name, ("127.0.0.1", 0)), strict=True):
        listener.bind(address)
        listener.listen()
        threading.Thread(target=_listen, args=(listener, one.heard, repr(address)), daemon=True).start()
    port = listeners[2].getsockname()[1]
    facts = {"folder": str(folder), "shown": str(shown), "victim": sleeper.pid, "abstract": name, "port": port}
    (folder / "facts.json").write_text(json.dumps(facts))
    yield one
    assert sleeper.poll() is None
    assert sleeper.pid and os.getpriority(os.PRIO_PROCESS, sleeper.pid) == os.getpriority(os.PRIO_PROCESS, 0)
    sleeper.kill()
    sleeper.wait()
    for listener in listeners:
        listener.close()
    shutil.rmtree(shown)


def _listen(listener: socket.socket, heard: list[str], what: str) -> None:
    try:
        while True:
            listener.accept()[0].close()
            heard.append(what)
    except OSError:
        pass


_CASES = [("full", ""), ("reduced", "1"), ("reduced", ""), ("reduced", "4")]


@pytest.fixture(scope="module", params=some_by_day(_CASES, 2), ids=lambda case: "-".join(filter(None, case)))
def found(request: pytest.FixtureRequest, yours: _Yours) -> tuple[str, dict[str, str]]:
    """The level, and what each row's attempt came to."""
    level, abi = request.param
    if offered()[Isolation(level)]:
        pytest.skip(f"{level} isolation is NOT tested: {offered()[Isolation(level)]}")
    if int(abi or 0) > landlock.abi():
        pytest.skip(f"Landlock's ABI {abi} is NOT tested: the kernel has {landlock.abi()}")
    facts = (yours.folder / "facts.json").read_text()
    cells = [isolation_rows.START.replace("@FACTS@", repr(facts)) + source for source in isolation_rows.ROWS.values()]
    ran = subprocess.run(
        [sys.executable, str(ONE_CELL), *cells], capture_output=True, text=True, cwd="/",
        env={**os.environ, "PYTHONPATH": str(yours.shown), "ONE_CELL_ISOLATION": level,
             "COURSE_LANDLOCK_ABI": abi, "ONE_CELL_LIMITS": json.dumps({"disk_mb": 16}), "ONE_CELL_EACH": "1"},
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    return level, dict(zip(isolation_rows.ROWS, json.loads(ran.stdout), strict=True))


def test_every_row_is_tried() -> None:
    assert list(TABLE) == list(isolation_rows.ROWS)


@pytest.mark.parametrize("row", TABLE)
def test_the_table_is_true(found: tuple[str, dict[str, str]], row: str) -> None:
    level, said = found
    wanted = TABLE[row][level]
    if row == "write to /tmp by that name" and any(folder.startswith("/tmp/") for folder in visible_folders()):
        wanted = "refused"  # the interpreter itself lies there: TMPDIR has to do
    came_to = said[row].splitlines()[-1]
    assert ("killed" if came_to in ("disk", "processes") else came_to) == wanted


def test_nothing_of_yours_was_changed(found: tuple[str, dict[str, str]], yours: _Yours) -> None:
    shown = yours.shown / "data.txt"
    assert shown.read_text() == "keep me"
    assert shown.stat().st_mode & 0o777 in (0o644, 0o600, 0o664)
    assert shown.stat().st_mtime > 1_000_000_000
    assert (yours.folder / "secret").read_text() == "secret"
    assert yours.heard == []
    assert sorted(path.name for path in yours.folder.iterdir()) == ["facts.json", "secret", "sock"]
    assert {path.name for path in yours.shown.iterdir()} <= {"data.txt", "from_elsewhere.py", "__pycache__"}


def test_a_level_that_is_demanded_and_not_there_stops_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "nbproof.sandbox.isolation.offered", lambda: {Isolation.FULL: "the kernel refuses", Isolation.REDUCED: ""}
    )
    with pytest.raises(NoIsolation, match="no full isolation: the kernel refuses"):
        isolation_or_refuse(wanted="full")
    chosen = isolation_or_refuse()
    assert chosen.level is Isolation.REDUCED
    assert chosen.line.startswith("isolation: reduced (Landlock ABI ")
    assert "because the kernel refuses; what it lacks: docs/engine.md, 'What each level holds'" in chosen.line
    assert isolation_or_refuse(wanted="reduced").level is Isolation.REDUCED
    with pytest.raises(NoIsolation, match="no level of isolation called best"):
        isolation_or_refuse(wanted="best")


def test_the_reduced_level_is_not_tried_where_full_works(monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes a process, and some 40 ms, of each run."""
    tried: list[str] = []
    monkeypatch.setattr("nbproof.sandbox.namespaces.probe_isolation", lambda: tried.append("full") or "")
    monkeypatch.setattr("nbproof.sandbox.reduced.probe_reduced", lambda: tried.append("reduced") or "no")
    isolation._why_not.cache_clear()
    try:
        assert isolation_or_refuse().level is Isolation.FULL
        assert why_not_isolated() == ""
        assert tried == ["full"]
        assert dict(offered()) == {Isolation.FULL: "", Isolation.REDUCED: "no"}
        assert tried == ["full", "reduced"], "each once"
    finally:
        isolation._why_not.cache_clear()


def test_the_filter_knows_every_call_that_it_names() -> None:
    table = {entry.split()[0] for entry in syscalls._NUMBERS.split(",")}
    for abi in (None, 1, 6):
        assert set(syscalls._rules(abi)) <= table
    for machine in ("x86_64", "aarch64"):
        numbers = syscalls._numbers(machine)
        assert len(set(numbers.values())) == len(numbers)


def test_the_profile_of_the_page_is_the_one_that_is_printed() -> None:
    printed = [line for line in profile().splitlines() if not line.startswith("#")]
    page = PAGE.read_text(encoding="utf-8")
    for line in printed:
        if not line.startswith("profile "):
            assert line in page
    assert "  userns," in printed


def test_the_command_says_what_is_there_and_why(monkeypatch: pytest.MonkeyPatch) -> None:
    refused = {Isolation.FULL: "the kernel refuses", Isolation.REDUCED: ""}
    monkeypatch.setattr("nbproof.sandbox.isolation.offered", lambda: refused)
    monkeypatch.setattr("nbproof.cli.apparmor.offered", lambda: refused)
    monkeypatch.setattr("nbproof.cli.apparmor._says", lambda path, text: text == "1")
    said = what_is_offered()
    assert "full isolation:    no: the kernel refuses\nreduced isolation: yes" in said
    assert "isolation --apparmor" in said


@pytest.mark.nightly
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_root_gives_each_submission_a_user_of_its_own() -> None:
    if offered()[Isolation.REDUCED]:
        pytest.skip(f"reduced isolation is NOT tested: {offered()[Isolation.REDUCED]}")
    # Where the interpreter lies below /root others could not reach it: in a mount namespace of its own they can.
    code = (
        f"import os, sys; sys.path.insert(0, {str(ROOT / 'tests' / 'attacks')!r}); from as_ordinary import open_the_way\n"
        f"open_the_way([sys.prefix, sys.base_prefix, *{[str(ROOT / name) for name in ('course', 'nbproof', 'tests')]!r}])\n"
        "os.execv(sys.executable, [sys.executable, *sys.argv[1:]])"
    )
    cell = "import os; open('mine', 'w').close(); print(os.getresuid(), os.getresgid(), os.getgroups())"
    ran = subprocess.run(
        [sys.executable, "-c", code, str(ONE_CELL), cell, cell], capture_output=True, text=True,
        env={**os.environ, "ONE_CELL_ISOLATION": "reduced", "ONE_CELL_EACH": "1"},
    )  # fmt: skip
    if "unshare" in ran.stderr or "mount" in ran.stderr:
        pytest.skip("this machine does not let root mount")
    assert ran.returncode == 0, ran.stderr
    first, second = json.loads(ran.stdout)
    user = int(first[1:].split(",")[0])
    assert user >= 10_000
    assert first.strip() == f"({user}, {user}, {user}) ({user}, {user}, {user}) []"
    assert first != second
