"""The command line: help for everything, and for wrong calls fact, place and a next command that runs as it is printed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from nbproof import command
from nbproof.command import course_command, course_in
from tests import ROOT, main, some_by_day


def test_every_command_has_help(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    commands = re.findall(r"^    ([a-z-]+) ", capsys.readouterr().out, re.MULTILINE)
    assert {"lab", "grade", "check", "roster"} <= {*commands}
    for name in commands:
        with pytest.raises(SystemExit) as end:
            main([name, "--help"])
        assert end.value.code == 0 and "usage: " in capsys.readouterr().out


@pytest.mark.parametrize("words", ["report --canvas a --canvas b", "collect up --names a --names b"])
def test_of_an_option_with_one_value_a_second_one_is_refused(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words.split()) == 2 and "given twice" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("check nonsense --course {root}", ("no lesson or exercise is called 'nonsense'", "choose from: ")),
        (
            "check init_one --course {root}",
            ("no lesson or exercise is called 'init_one', and may mean: init_ones", "choose from: "),
        ),
        ("grade nonsense --course {root}", ("no lesson is called 'nonsense'", "choose from: 01_module_anatomy")),
        *(
            (f"{command} --course {{root}}", ("and may mean: 02_tensor_hooks", "02_tensor_hooks"))
            for command in ("grade 2", "lab 02", "check tensor", "check-notebook 2")
        ),
        ("--nonsense", ("--nonsense is no command: a call begins with one", "--help")),
        ("--course {root} grade", ("--course is no command: a call begins with one", "--help")),
        *((f"{command} --course {{empty}}", ("{empty}", "")) for command in ("lab", "grade", "build", "check")),
        ("check --course {empty}/none", ("there is no such folder", "")),
        ("check-notebook 04_apply --course {bare}", ("no notebook is called '04_apply'\n", "lab LESSON")),
        ("check-notebook {bare}/mine --course {bare}", ("this is a folder", "mine/04_apply.ipynb")),
        ("grade --names class.csv", ("say how to read an upload", "add --from PATH")),
        ("grad", ("no command is called 'grad', and may mean: grade\n", "choose from: lab, ")),
        (
            "feedback --for mooodle",
            ("no value of --for is called 'mooodle', and may mean: moodle\n", ": canvas, moodle"),
        ),
        ("grade --seed abc", ("error: argument --seed: no whole number: 'abc'\n", "grade --help")),
        ("grade --wokers=2", ("unrecognized arguments: --wokers=2, and may mean: --workers", "grade --help")),
        ("lab --port 80x --course {root}", ("'80x' is no port", "--port 8899")),
    ],
)
def test_a_wrong_call_is_told_fact_place_and_next_command(
    words: str, told: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    places = {name: str(tmp_path / name) for name in ("empty", "bare")} | {"root": str(ROOT)}
    (tmp_path / "empty").mkdir()
    shutil.copytree(ROOT / "source" / "04_apply", tmp_path / "bare" / "source" / "04_apply")
    shutil.copytree(ROOT / "release" / "04_apply", tmp_path / "bare" / "mine")
    shutil.copy(ROOT / "nbgrader_config.py", tmp_path / "bare")
    assert main([word.format(**places) for word in words.split()]) == 2
    said = capsys.readouterr().err
    fact, then = (text.format(**places) for text in told)
    assert "error: " in said and fact in said and "  at:   " in said
    assert then in said[said.index("  next: ") :]


def test_grading_says_what_it_does_before_it_imports_for_seconds() -> None:
    """Run as a user would, until the first of these imports: it is refused, so that nothing else happens."""
    program = f"""
import sys
from pathlib import Path
class Refused:
    def find_spec(self, name, path=None, target=None):
        if name in ("nbgrader", "nbformat", "sqlalchemy"):
            sys.stderr.flush()
            import os
            os._exit(77)
sys.meta_path.insert(0, Refused())
from nbproof.cli.main import main
from nbproof.course_file import read_course
main(["grade", "--course", {str(ROOT)!r}], read_course(Path({str(ROOT / "course")!r})))
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 77, done.stderr
    assert done.stderr.startswith("grading: ")


def test_a_reader_who_has_enough_ends_a_command_without_a_word() -> None:
    # Rich's tables end a command by themselves; this is what is printed without them, such as JSON.
    asked = "import sys; from nbproof.cli import main; main.run_command = lambda *_: print('{}') or 0; "
    asked += "sys.exit(main.main([], None))"
    words = [sys.executable, "-c", asked]
    with subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


@pytest.fixture
def not_activated(monkeypatch: pytest.MonkeyPatch) -> None:
    # For this process, and for those that tests start: others have put this environment on PATH.
    monkeypatch.setattr(command, "PATH_AT_START", "/usr/bin:/bin")
    monkeypatch.setenv("PATH", "/usr/bin:/bin")


def test_a_course_in_another_folder_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with course_in(tmp_path / "a b"):
        assert course_command("grade").endswith(f" -m course grade --course '{tmp_path}/a b'")
    with course_in(tmp_path):
        assert course_command("grade").endswith(" -m course grade")


@pytest.mark.usefixtures("not_activated")
def test_what_an_error_tells_to_do_next_runs_as_it_is_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "empty").mkdir()
    shutil.copy(ROOT / "nbgrader_config.py", tmp_path / "empty")
    monkeypatch.chdir(tmp_path)
    assert main(["feedback", "--course", "empty"]) == 2
    told = capsys.readouterr().err.splitlines()[-1].rpartition("then: ")[2]
    run = subprocess.run(["sh", "-c", f"{told} --help"], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert "usage: " in run.stdout and "course grade" in told


def _bare(tmp_path: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """A Python in which nothing is installed, on a course that has no environment."""
    for package in ("course", "nbproof"):
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "install.py", tmp_path)
    return subprocess.run([sys.executable, "-S", "-m", "course", *words], cwd=tmp_path, capture_output=True, text=True)


def test_a_python_without_the_packages_says_so(tmp_path: Path) -> None:
    told = _bare(tmp_path, "grade")
    assert told.returncode == 1
    assert "Traceback" not in told.stderr
    fact, place, then = told.stderr.splitlines()
    assert fact.startswith("error: this Python cannot run the course: ") and "is not installed" in fact
    assert place == f"  at:   {sys.executable}"
    assert then == f"  next: {sys.executable} install.py"


@pytest.mark.usefixtures("not_activated")
@pytest.mark.parametrize("words", some_by_day(["command -v alembic", "nbgrader db upgrade"], 2))
def test_nbgrader_finds_alembic_though_nothing_is_activated(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = command.nbgrader_command("db upgrade").replace("nbgrader db upgrade", words)
    run = subprocess.run(["sh", "-c", told], cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    monkeypatch.setattr(command, "PATH_AT_START", str(Path(sys.executable).parent))
    assert command.nbgrader_command("db upgrade") == "nbgrader db upgrade"


@pytest.mark.parametrize("script", some_by_day(["nbproof", "hooks-course"], 2))
@pytest.mark.parametrize("on_path", [True, False])
def test_the_next_command_begins_as_the_user_began(tmp_path: Path, script: str, on_path: bool) -> None:
    """By the name that pip has given it; by its path where that is not on PATH."""
    tools = Path(sys.executable).parent
    (tmp_path / "source" / "ps1").mkdir(parents=True)
    shutil.copy(ROOT / "nbgrader_config.py", tmp_path)
    own = {**os.environ, "PATH": f"{tools}:/usr/bin:/bin" if on_path else "/usr/bin:/bin"}
    called = script if on_path else f"{tools}/{script}"
    asked = {"cwd": tmp_path, "env": own, "capture_output": True, "text": True, "shell": True}
    told = subprocess.run(f"{called} grade --names x.csv", **asked).stderr  # type: ignore[call-overload]
    assert f"  at:   {called} grade\n" in told and f"to grade one lesson only: {called} grade LESSON\n" in told
    made = subprocess.run(f"{called} new a/b", **asked)  # type: ignore[call-overload]
    then = re.search("next: (.*)", made.stdout)
    assert then and then[1].startswith(f"cd a/b && {called} build"), made.stderr


def test_json_that_cannot_be_written_is_told_before_anything_is_graded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["grade", "--course", str(ROOT), "--json", str(tmp_path / "none" / "grades.json")]) == 2
    told = capsys.readouterr()
    assert "the JSON cannot be written" in told.err and "isolation" not in told.out
