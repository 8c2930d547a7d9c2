"""The command line: help for everything, and for wrong calls fact, place and next command, without a traceback."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from nbproof.cli.main import main
from nbproof.errors import UsageError
from nbproof.nbgrader_setup import course_config
from nbproof.run.lock import only_run

ROOT = Path(__file__).parent.parent.parent


@pytest.mark.parametrize(
    "command",
    [
        "lab",
        "progress",
        "collect",
        "roster",
        "grade",
        "feedback",
        "formgrader",
        "report",
        "isolation",
        "check-notebook",
        "bundle",
        "build",
        "check",
    ],
)
def test_every_command_has_help(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main([command, "--help"])
    assert end.value.code == 0
    assert "--course" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "fact", "next_command"),
    [
        (["check", "nonsense"], "no lesson or exercise is called 'nonsense'", "choose from: "),
        (["build", "nonsense"], "no lesson is called 'nonsense'", "choose from: 01_module_anatomy"),
        (["grade", "nonsense"], "no lesson is called 'nonsense'", "choose from: 01_module_anatomy"),
        (["lab", "nonsense"], "no lesson is called 'nonsense'", "choose from: 01_module_anatomy"),
        (["report", "--moodle", "1.csv", "--moodle", "2.csv"], "one table of an LMS at a time", "run it once for each"),
    ],
)
def test_a_wrong_call_is_told_what_there_is(
    arguments: list[str], fact: str, next_command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*arguments, "--course", str(ROOT)]) == 2
    told = capsys.readouterr().err
    assert f"error: {fact}" in told
    assert "  at:   " in told
    assert f"  next: {next_command}" in told


@pytest.mark.parametrize("command", ["lab", "grade", "build", "check"])
def test_outside_a_course_every_command_says_so(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command, "--course", str(tmp_path)]) == 2
    told = capsys.readouterr().err
    assert told.startswith("error: ")
    assert str(tmp_path) in told
    assert "  next: " in told


@pytest.mark.parametrize(
    ("words", "heavy", "said"),
    [
        (["grade", "--dask", "tcp://127.0.0.1:1"], ("nbgrader", "nbformat", "sqlalchemy"), "grading: "),
        (["site"], ("nbformat", "jinja2", "nbproof.authoring.site"), "site: "),
    ],
    ids=["grade", "site"],
)
def test_a_command_says_what_it_does_before_it_imports_for_seconds(
    words: list[str], heavy: tuple[str, ...], said: str
) -> None:
    """Run as a user would, until the first of these imports: it is refused, so that nothing else happens."""
    program = f"""
import sys
class Refused:
    def find_spec(self, name, path=None, target=None):
        if name in {heavy!r}:
            sys.stderr.flush()
            import os
            os._exit(77)
sys.meta_path.insert(0, Refused())
from nbproof.cli.main import main
main({[*words, "--course", str(ROOT)]!r})
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 77, done.stderr
    assert done.stderr.startswith(said)


def test_who_comes_second_is_told_before_anything_is_imported_for_seconds(tmp_path: Path) -> None:
    (tmp_path / "source" / "a").mkdir(parents=True)
    (tmp_path / "source" / "a" / "a.ipynb").write_text("{}")
    (tmp_path / "submitted" / "ada").mkdir(parents=True)
    (tmp_path / "course.toml").write_text('says = "a"\n')
    program = f"""
import sys
from nbproof.cli.main import main
code = main(["grade", "--course", {str(tmp_path)!r}])
sys.exit(9 if "sqlalchemy" in sys.modules or "nbgrader" in sys.modules else code)
"""
    with only_run(tmp_path):
        done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 1, done.stderr
    assert f"another run is grading this course (process {os.getpid()}" in done.stderr
    assert "next: wait until it has ended" in done.stderr


@pytest.mark.parametrize("command", ["progress", "roster", "feedback", "check"])
def test_a_folder_that_is_not_there_is_said(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "--course", str(tmp_path / "none")]) == 2
    told = capsys.readouterr().err
    assert told.startswith("error: there is no such folder\n") and "  next: " in told


def test_what_lies_in_the_way_of_wheels_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    assert main(["wheels", "--course", str(ROOT), "--out", str(tmp_path / "file")]) == 2
    assert "error: the wheels cannot be written: File exists" in capsys.readouterr().err


def test_a_lesson_that_was_never_opened_is_opened_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copytree(ROOT / "source", tmp_path / "source")
    shutil.copy(ROOT / "nbgrader_config.py", tmp_path)
    assert main(["check-notebook", "04_apply", "--course", str(tmp_path)]) == 2
    assert "lab 04_apply" in capsys.readouterr().err


def test_a_reader_who_has_enough_ends_a_command_without_a_word() -> None:
    # Rich's tables end a command by themselves; this is what is printed without them, such as JSON.
    asked = "import sys; from nbproof.cli import main; main._run = lambda *a: print('{}') or 0; sys.exit(main.main([]))"
    words = [sys.executable, "-c", asked]
    with subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


def test_an_unknown_option_is_refused_except_for_jupyterlab() -> None:
    with pytest.raises(SystemExit) as end:
        main(["grade", "--nonsense"])
    assert end.value.code == 2


def test_the_module_runs_as_a_command() -> None:
    told = subprocess.run([sys.executable, "-m", "course", "--help"], capture_output=True, text=True, cwd=ROOT)
    assert told.returncode == 0
    assert "grade" in told.stdout


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--workers", "0"], "a number from 1 to 1000 is wanted, not '0'"),
        (["--workers", "many"], "a number from 1 to 1000 is wanted, not 'many'"),
        (["--seed", "-1"], "a whole number from 0 on is wanted"),
        (["--seed", "one"], "a whole number from 0 on is wanted"),
    ],
)
def test_wrong_values_are_refused_before_anything_is_read(
    arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        main(["grade", *arguments])
    assert end.value.code == 2
    assert told in capsys.readouterr().err


def test_options_of_an_upload_need_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["grade", "--names", "class.csv"]) == 2
    assert "add --from PATH" in capsys.readouterr().err


def test_no_place_for_the_json_is_told_before_grading(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["grade", "--course", str(ROOT), "--json", str(tmp_path / "none" / "out.json")]) == 2
    assert "there is no such folder" in capsys.readouterr().err
    assert main(["grade", "--course", str(ROOT), "--json", str(tmp_path)]) == 2
    assert "there is a folder of this name" in capsys.readouterr().err


def test_a_configuration_of_an_earlier_version_is_told(tmp_path: Path) -> None:
    (tmp_path / "nbgrader_config.py").write_text("from course.grading.nbgrader_plugin import Mark\n")
    with pytest.raises(UsageError) as told:
        course_config(tmp_path)
    assert "nbgrader_config.py imports what is not there: No module named 'course.grading" in str(told.value)
    assert "next: take its imports from" in str(told.value)
