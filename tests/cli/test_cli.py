"""The command line: help for everything, and for wrong calls fact, place and next command, without a traceback."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from nbproof.cli.main import main
from nbproof.run.lock import only_run
from tests import ROOT


def test_every_command_has_help(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    commands = re.findall(r"^    ([a-z-]+) ", capsys.readouterr().out, re.MULTILINE)
    assert {"lab", "grade", "check", "roster"} <= {*commands}
    for command in commands:
        with pytest.raises(SystemExit) as end:
            main([command, "--help"])
        assert end.value.code == 0 and "usage: " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("check nonsense --course {root}", ("no lesson or exercise is called 'nonsense'", "choose from: ")),
        ("build nonsense --course {root}", ("no lesson is called 'nonsense'", "choose from: 01_module_anatomy")),
        ("grade nonsense --course {root}", ("no lesson is called 'nonsense'", "choose from: 01_module_anatomy")),
        ("lab nonsense --course {root}", ("no lesson is called 'nonsense'", "choose from: 01_module_anatomy")),
        ("report --moodle 1.csv --moodle 2.csv", ("one table of an LMS at a time", "run it once for each")),
        *((f"{command} --course {{empty}}", ("{empty}", "")) for command in ("lab", "grade", "build", "check")),
        *(
            (f"{command} --course {{empty}}/none", ("there is no such folder", ""))
            for command in ("progress", "roster", "feedback", "check")
        ),
        ("check-notebook 04_apply --course {bare}", ("there is no such notebook", "lab 04_apply")),
        ("grade --names class.csv", ("this says how to read an upload", "add --from PATH")),
        ("grade --course {root} --json {empty}/none/out.json", ("no file can be written there", "")),
        ("grade --course {root} --json {empty}", ("no file can be written there", "")),
    ],
)
def test_a_wrong_call_is_told_fact_place_and_next_command(
    words: str, told: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    places = {name: str(tmp_path / name) for name in ("empty", "bare")} | {"root": str(ROOT)}
    (tmp_path / "empty").mkdir()
    shutil.copytree(ROOT / "source" / "04_apply", tmp_path / "bare" / "source" / "04_apply")
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
class Refused:
    def find_spec(self, name, path=None, target=None):
        if name in ("nbgrader", "nbformat", "sqlalchemy"):
            sys.stderr.flush()
            import os
            os._exit(77)
sys.meta_path.insert(0, Refused())
from nbproof.cli.main import main
main(["grade", "--dask", "tcp://127.0.0.1:1", "--course", {str(ROOT)!r}])
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 77, done.stderr
    assert done.stderr.startswith("grading: ")


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


def test_a_reader_who_has_enough_ends_a_command_without_a_word() -> None:
    # Rich's tables end a command by themselves; this is what is printed without them, such as JSON.
    asked = "import sys; from nbproof.cli import main; main.run_command = lambda *a: print('{}') or 0; sys.exit(main.main([]))"
    words = [sys.executable, "-c", asked]
    with subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--workers", "0"], "a number from 1 to 1000 is wanted, not '0'"),
        (["--seed", "one"], "invalid int value: 'one'"),
        (["--nonsense"], "unrecognized arguments: --nonsense"),
    ],
)
def test_wrong_values_are_refused_before_anything_is_read(
    arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        main(["grade", *arguments])
    assert end.value.code == 2
    assert told in capsys.readouterr().err
