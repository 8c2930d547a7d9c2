"""The command line: help for everything, and for wrong calls fact, place and next command, without a traceback."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from nbproof.cli.main import main
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
        *((f"{command} --course {{empty}}", ("{empty}", "")) for command in ("lab", "grade", "build", "check")),
        ("check --course {empty}/none", ("there is no such folder", "")),
        ("check-notebook 04_apply --course {bare}", ("there is no such notebook", "lab LESSON")),
        ("grade --names class.csv", ("say how to read an upload", "add --from PATH")),
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
main(["grade", "--course", {str(ROOT)!r}])
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 77, done.stderr
    assert done.stderr.startswith("grading: ")


def test_a_reader_who_has_enough_ends_a_command_without_a_word() -> None:
    # Rich's tables end a command by themselves; this is what is printed without them, such as JSON.
    asked = "import sys; from nbproof.cli import main; main.run_command = lambda *a: print('{}') or 0; sys.exit(main.main([]))"
    words = [sys.executable, "-c", asked]
    with subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141
