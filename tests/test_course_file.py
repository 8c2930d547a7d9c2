"""What the tool learns of a course from its ``course.toml``."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from nbproof import course_file
from nbproof.course_file import find_course, read_course, the_course, use_course
from nbproof.errors import UsageError
from nbproof.values.words import words_of
from tests import COURSE, ROOT, typed


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that works for no course yet."""
    monkeypatch.setenv("NBPROOF_COURSE", "")
    monkeypatch.setattr(course_file, "used", [""])
    monkeypatch.setattr(sys, "path", list(sys.path))


def _course(root: Path, package: str, told: str) -> Path:
    (root / package).mkdir(parents=True)
    (root / package / "course.toml").write_text(told)
    (root / package / "__init__.py").write_text("")
    return root / package / "__init__.py"


def test_a_package_says_which_course_it_is(nowhere: None, tmp_path: Path) -> None:
    use_course(str(_course(tmp_path, "knots", 'says = "Knots"')))
    one = the_course()
    assert (one.package, one.folder, one.says, one.leaves) == ("knots", tmp_path / "knots", "Knots", ())
    assert one.pictures() is None
    use_course(str(_course(tmp_path / "other", "knots", 'says = "Others"\npicture = "json"')))
    assert the_course().says == "Others"
    assert the_course().pictures() is json


def test_what_becomes_of_the_environment_does_not_change_the_course(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sealed process empties its environment, and a learner's code may write anything into it."""
    before = the_course()
    monkeypatch.delenv("NBPROOF_COURSE")
    assert before == the_course()
    monkeypatch.setenv("NBPROOF_COURSE", "/nowhere")
    assert before == the_course()


def test_a_folder_tells_its_course(nowhere: None, tmp_path: Path) -> None:
    _course(tmp_path, "knots", 'says = "Knots"')
    (tmp_path / "inner").mkdir()
    with pytest.raises(UsageError, match="no course here"):
        find_course(tmp_path / "inner")  # no package of a folder above is imported
    found = find_course(tmp_path)
    found.enter()
    assert found.package == "knots"
    assert str(tmp_path) in sys.path, "sealed processes are shown it from there"


def test_a_course_needs_no_package_of_its_own(nowhere: None, tmp_path: Path) -> None:
    (tmp_path / "course.toml").write_text('says = "Knots"\nname = "tied"')
    (tmp_path / "demo").mkdir()
    one = find_course(tmp_path / "demo")
    assert (one.package, one.folder, one.root, one.name) == ("", tmp_path, tmp_path, "tied")
    assert one.own_code == (), "submissions are shown no folder in which solutions lie"
    assert one.lies_in(tmp_path) and not one.lies_in(tmp_path / "demo")


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({}, "no course here"),
        ({"one": 'says = "x"', "two": 'says = "x"'}, "more than one course here"),
        ({"one": "says = x"}, "cannot be read"),
    ],
)
def test_what_is_no_course_is_refused(
    nowhere: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, told: dict[str, str], said: str
) -> None:
    for package, text in told.items():
        _course(tmp_path, package, text)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=said):
        the_course()


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ('leafs = ["numpy"]', "nothing is called 'leafs' there\n.*: leafs\n.*call it leaves, or delete it"),
        ('package = "knots"', "nothing is called 'package' there"),
        (
            'leaves = "numpy"',
            r"leaves has to be a list of texts, such as \['one', 'two'\], .* 'numpy'\n.*: leaves\n.*write a list of texts",
        ),
        ("warm = 3", "warm has to be a list of texts, .*, and there is 3"),
        ("name = 7", "name has to be a text"),
        ('errors = ["x"]', "errors has to be a list of tables"),
        ('errors = [{hint = "x"}]', "errors, entry 1, text has to be a text, and there is none"),
        (
            'errors = [{text = "x", hint = "y"}, {text = "(", hint = "y"}]',
            "errors, entry 2, text has to be a regular expression",
        ),
        (
            'errors = [{text = "x", hint = "y", lines = ""}]',
            "nothing is called 'lines' in errors, entry 1\n.*\n.*call it line",
        ),
        ("[budget]\nmutant = 1", "nothing is called 'mutant' in budget\n.*\n.*call it mutants"),
        ("[budget]\nwords = 'x'", "budget, words has to be a number, and there is 'x'"),
        ("[budget]\nknots = { demands = true }", "budget, knots, demands has to be a number"),
    ],
)
def test_an_entry_that_is_none_is_said_with_what_may_be_there(
    nowhere: None, tmp_path: Path, told: str, said: str
) -> None:
    folder = _course(tmp_path, "knots", told).parent
    with pytest.raises(UsageError, match=said):
        read_course(folder)


@pytest.mark.parametrize("there", ["nbgrader_config.py", "source/ps1/problem1.ipynb"])
def test_a_folder_in_which_nbgrader_works_is_a_course(nowhere: None, tmp_path: Path, there: str) -> None:
    """Nothing has to be written for it: what a course.toml would say is taken for granted."""
    folder = tmp_path / "physics"
    (folder / there).parent.mkdir(parents=True)
    (folder / there).write_text("")
    one = find_course(folder)
    assert (one.says, one.name, one.package, one.root) == ("physics", "physics", "", folder)
    assert one.own_code == () and one.warm == ()


def test_the_tool_has_the_same_commands_for_the_course_of_a_folder(tmp_path: Path) -> None:
    asked = typed(tmp_path, "grade", "--help")
    assert asked.returncode == 0 and "-m nbproof grade" in asked.stdout
    here = typed(tmp_path, "progress", "--course", str(ROOT))
    assert here.returncode == 0 and "0 of " in here.stdout, here.stderr
    nowhere = typed(tmp_path, "progress")
    assert nowhere.returncode == 2
    assert "no course here" in nowhere.stderr and "Traceback" not in nowhere.stderr


def test_all_that_lessons_import_of_the_course_is_there_before_learners_code() -> None:
    """What is warm is put back before each probe: what one answer patched cost another one its hidden checks."""
    wanted = {
        found
        for path in ROOT.glob("source/*/*.ipynb")
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]
        for found in re.findall(r"^from (course\.[\w.]+) import", "".join(cell["source"]), re.MULTILINE)
    }
    assert {"course.models", "course.tree"} <= wanted
    # What only truths use is never there at all.
    wanted -= set(COURSE.truths)
    warm = COURSE.warm
    assert {one for one in wanted if one not in warm and f"{one.rpartition('.')[0]}.*" not in warm} == set()


def test_a_language_that_is_none_is_said(nowhere: None, tmp_path: Path) -> None:
    module = "json"
    course = read_course(_course(tmp_path, "knots", f'says = "Knots"\nlanguage = "{module}"').parent)
    with pytest.raises(UsageError, match=f"the language {module} cannot be read"):
        words_of(course)
