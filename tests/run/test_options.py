"""Each option of nbgrader's is decided on: obeyed, of a command of its own, or named before anything runs."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from traitlets.config import Config, Configurable

from nbproof.gradebook.graded_notebook import copy_receipts
from nbproof.run.options import NOT_OBEYED, not_obeyed
from nbproof.run.pool import PoolMaker
from tests.run.test_any_course import SQUARES, graded, hand_in, written

_ROOMS = (
    "apps", "auth", "converters", "coursedir", "exchange", "plugins", "preprocessors", "server_extensions", "validator",
)  # fmt: skip
OBEYED = """
AssignLatePenalties.plugin_class Autograde.exclude_overwriting ClearHiddenTests.* ClearMarkScheme.* ClearSolutions.*
CourseDirectory.assignment_id CourseDirectory.autograded_directory CourseDirectory.course_id CourseDirectory.db_url
CourseDirectory.directory_structure CourseDirectory.feedback_directory CourseDirectory.ignore
CourseDirectory.max_dir_size CourseDirectory.release_directory CourseDirectory.root CourseDirectory.source_directory
CourseDirectory.student_id CourseDirectory.submitted_directory Execute.timeout GenerateAssignment.preprocessors
IgnorePattern.pattern IncludeHeaderFooter.* InstantiateTests.* LateSubmissionPlugin.penalty_method LockCells.* NotebookClient.*
OverwriteCells.add_missing_cells
"""
"""In grading, or while assignments are registered, which nbgrader does itself."""
OF_OTHER_COMMANDS = """
Authenticator.* BaseConverter.exporter_class BaseConverter.force ClearOutputPreprocessor.*
CourseDirectory.include CourseDirectory.max_file_size CourseDirectory.solution_directory
CourseDirectory.source_with_tests_directory DbAssignmentAddApp.* DbAssignmentRemoveApp.* DbStudentAddApp.*
DbStudentRemoveApp.* Exchange.* ExchangeCollect.* ExchangeFactory.* ExchangeFetchAssignment.* ExchangeList.*
ExchangeReleaseAssignment.* ExchangeSubmit.* ExportApp.* ExportPlugin.* ExtractorPlugin.* FileNameCollectorPlugin.*
FormgradeExtension.* GenerateAssignment.create_assignment GenerateAssignment.no_database GenerateAssignmentApp.*
GenerateConfigApp.* GenerateSolution.* GenerateSourceWithTests.* NbConvertBase.* NbGrader.* NbGraderAPI.* QuickStartApp.*
UpdateApp.* Validator.* ZipCollectApp.*
"""
_BELOW = ("nbgrader.", "nbclient", "nbconvert")


def _made_from(kind: type[Configurable]) -> Iterator[type[Configurable]]:
    for one in kind.__subclasses__():
        yield one
        yield from _made_from(one)


def options_of_nbgrader() -> set[str]:
    """``Class.option``, of all classes of nbgrader's and of those that they are made from."""
    for room in _ROOMS:
        importlib.import_module(f"nbgrader.{room}")
    own = {
        one
        for one in _made_from(Configurable)
        if one.__module__.startswith("nbgrader.") and ".docs." not in one.__module__
    }
    classes = {base for one in own for base in one.__mro__ if base.__module__.startswith(_BELOW)}
    return {
        f"{one.__name__}.{name}"
        for one in classes
        if issubclass(one, Configurable)
        for name in one.class_own_traits(config=True)
    }


def test_every_option_of_this_nbgrader_is_decided_on() -> None:
    others = [*OBEYED.split(), *OF_OTHER_COMMANDS.split()]
    options = options_of_nbgrader()

    def fits(pattern: str) -> set[str]:
        return {one for one in options if fnmatchcase(one, pattern)}

    assert options - set().union(*map(fits, [*others, *NOT_OBEYED])) == set()
    # What nbgrader does not have any more goes here as well.
    assert [pattern for pattern in others if not fits(pattern)] == []
    assert [
        pattern for pattern in NOT_OBEYED if not fits(pattern) and not pattern.startswith("ExecutePreprocessor")
    ] == []


@pytest.mark.parametrize(
    ("section", "option", "said"),
    [
        ("Autograde", "autograde_preprocessors", "only AssignLatePenalties is asked"),
        ("IgnorePattern", "pattern", None),
        ("ExecutePreprocessor", "kernel_name", "only timeout is asked"),
        ("Execute", "execute_retries", "only timeout is asked"),
        ("LimitOutput", "enabled", "as if this were not said"),
        ("AutogradeApp", "post_convert_hook", "`grade` does not"),
        ("Execute", "timeout", None),
        ("ClearSolutions", "code_stub", None),
        ("GradingLimits", "memory_mb", None),
    ],
)
def test_what_is_set_and_not_obeyed_is_named(section: str, option: str, said: str | None) -> None:
    lines = list(not_obeyed(Config({section: {option: 1}})))
    assert [(said or "") in line for line in lines] == [True] * (said is not None)
    assert all(line.startswith(f"c.{section}.{option} is not obeyed: ") for line in lines)


def test_a_section_of_ours_that_is_misspelt_is_named() -> None:
    (line,) = not_obeyed(Config({"GradingLimit": {"memory_mb": 1}, "Mark": {"pool": "local"}}))
    assert line == "c.GradingLimit is not obeyed: nothing is called so here; is it c.GradingLimits?"


def test_what_changes_marks_is_said_in_a_quiet_run_too(tmp_path: Path) -> None:
    written(tmp_path / "source" / "ps1" / "ps1.ipynb", SQUARES)
    (tmp_path / "submitted" / "ada").mkdir(parents=True)
    (tmp_path / "nbgrader_config.py").write_text("c = get_config()\nc.Autograde.create_student = False\n")
    command = [sys.executable, "-m", "nbproof", "grade", "--quiet", "--course", str(tmp_path)]
    told = subprocess.run(command, capture_output=True, text=True)
    assert "c.Autograde.create_student is not obeyed" in told.stderr
    assert "found:" not in told.stderr and told.stdout == ""


@pytest.mark.slow
def test_what_is_said_on_nbgraders_command_line_and_not_obeyed_is_named(tmp_path: Path) -> None:
    source = written(tmp_path / "source" / "ps1" / "ps1.ipynb", SQUARES)
    hand_in(source, tmp_path / "submitted" / "ada" / "ps1" / "ps1.ipynb")
    asks = "from nbproof.nbgrader.settings import use_engine\nuse_engine(c)\n"
    (tmp_path / "nbgrader_config.py").write_text(f"c = get_config()\n{asks}")
    command = [
        sys.executable,
        "-W",
        "ignore",
        "-m",
        "nbgrader",
        "autograde",
        "ps1",
        "--notebook",
        "ps1",
        "--no-execute",
    ]
    told = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    for name in ("CourseDirectory.notebook_id", "Execute.enabled"):
        assert f"c.{name} is not obeyed" in told.stderr, told.stderr


@pytest.mark.parametrize(
    ("theirs", "score"), [("def zero():\n    return 0\n", 2), ("def zero():\n    return 9\n", 0), (None, 0)]
)
def test_a_file_that_learners_write_is_not_overwritten(
    tmp_path: Path, pool: PoolMaker, theirs: str | None, score: float
) -> None:
    """As nbgrader's ``exclude_overwriting`` says, which a course sets whose learners hand in modules."""
    cells = {
        "": ("show", "from helper import zero"),
        **SQUARES,
        "test_squares": ("test", "assert zero() == squares(1)[0] == 0"),
    }
    source = written(tmp_path / "source" / "ps1" / "ps1.ipynb", cells)
    (source.parent / "helper.py").write_text("def zero():\n    return 0\n")
    (tmp_path / "nbgrader_config.py").write_text(
        "c = get_config()\nc.Autograde.exclude_overwriting = {'ps1': ['helper.py']}\n"
    )
    handed_in = hand_in(source, tmp_path / "submitted" / "ada" / "ps1" / "ps1.ipynb")
    if theirs is None:
        (handed_in.parent / "helper.py").unlink()
    else:
        (handed_in.parent / "helper.py").write_text(theirs)
    told = graded(tmp_path, pool)
    assert [mark.score for mark in told.marks.values()] == [score] and not told.unfit
    with Gradebook(f"sqlite:///{tmp_path}/gradebook.db") as book:
        assert book.find_submission("ps1", "ada").score == score


def test_what_nbgrader_copies_lies_beside_the_graded_notebook(tmp_path: Path) -> None:
    """The learner's files, and in their place the instructor's; nothing that a browser would run for who opens it there."""
    source = written(tmp_path / "source" / "ps1" / "ps1.ipynb", SQUARES)
    (tmp_path / "nbgrader_config.py").write_text(
        "c = get_config()\nc.Autograde.exclude_overwriting = {'ps1': ['mine.py']}\n"
    )
    theirs = hand_in(source, tmp_path / "submitted" / "ada" / "ps1" / "ps1.ipynb").parent
    made = tmp_path / "autograded" / "ada" / "ps1"
    for folder in (source.parent, theirs, theirs / "data", theirs / "both.csv", made):
        folder.mkdir(parents=True, exist_ok=True)
        for name in ("helper.py", "mine.py", "a.csv"):
            (folder / name).write_text(folder.name)
    (source.parent / "both.csv").write_text("ps1")
    (theirs / "helper.py").write_text("changed")
    for name in (
        "a.html",
        "data/B.SVG",
        "c.xhtml",
        "d.xml",
        "e.js",
        ".verdict.json",
        "f.ipynb",
        "submission_secret.txt",
    ):
        (theirs / name).write_text("<script>")
    (theirs / "link.csv").symlink_to("/etc/hostname")
    (made / "mine.py").unlink()
    (theirs / "mine.py").write_text("theirs")
    assert copy_receipts(tmp_path, "ada", "ps1", "autograded") == {
        **dict.fromkeys(("a.html", "c.xhtml", "d.xml", "data/B.SVG", "e.js"), False),
        "helper.py": True,
    }
    found = {str(path.relative_to(made)): path.read_text() for path in made.rglob("*") if path.is_file()}
    assert len(found.pop("submission_secret.txt")) == 128 and "timestamp.txt" not in found
    beside = {"helper.py": "ps1", "mine.py": "theirs", "a.csv": "ps1", "both.csv": "ps1"}
    assert found == beside | dict.fromkeys(("data/helper.py", "data/mine.py", "data/a.csv"), "data")
    # What was handed in anew holds less. Where nbgrader was told something else, that counts.
    for name in ("data/mine.py", "data/a.csv", "a.csv"):
        (theirs / name).unlink()
    (source.parent / "a.csv").unlink()
    (made / "ps1.ipynb").write_text("{}")
    config = Config(Autograde={"exclude_overwriting": {"ps1": ["helper.py"]}})
    copy_receipts(tmp_path, "ada", "ps1", "autograded", config)
    left = {str(path.relative_to(made)) for path in made.rglob("*") if path.is_file()}
    assert left == {"helper.py", "mine.py", "both.csv", "data/helper.py", "ps1.ipynb", "submission_secret.txt"}
    assert (made / "helper.py").read_text() == "changed"
