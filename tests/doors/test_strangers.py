"""Packages of strangers that are wrong: what they raise names them, and stops only what needs them."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from nbproof.command import this_python
from nbproof.doors import blamed, for_learners
from nbproof.errors import CourseError, UsageError
from nbproof.feedback.page_texts import refuse_bad_language
from nbproof.values.leaf import leaves_of
from nbproof.values.words import ENGLISH
from nbproof_lms.system import System, systems
from tests import COURSE, main, typed

MODULE = """\
import decimal
from nbproof.report.report import Format
from nbproof.values.leaf import Leaf
from nbproof.values.words import Language
from nbproof_lms.system import System


class Decimals(Leaf):
    __slots__ = ()
    name, mark, noun, folder = "decimal", "D", "a decimal", decimal.__file__
    kinds = (decimal.Decimal,)

    def taken(self, value, room):
        return value.no_such_thing


class Classroom(System):
    name = "Google Classroom"


class Cold(Leaf):
    __slots__ = ()
    name, mark, noun, folder, kinds = "colorsys", "C", "a colour", "colorsys", ()

    def prepare(self):
        raise ValueError("it is cold")


class Nameless(Leaf):
    noun = "something"


DECIMAL, NAMELESS, COLD = Decimals(), Nameless(), Cold()
TABLE = {"not yet": "pas encore"}
BRACES = Language({"instead of what": "{found}, il fallait {voulu}"})
PAGE = Language({"page title": "{titre}"})
OPEN = Language({"not yet": "pas {"})
ONE = Language({"items": "des choses"})
RAISES = Format("raises.md", lambda report: report["no"].encode())
INDEX = Format("index.html", lambda report: b"mine")
"""
ENTRIES = """\
[nbproof.leaves]
decimal = stranger:DECIMAL
fractions = stranger:NAMELESS
colorsys = stranger:COLD
statistics = stranger:nothing_there
[nbproof.systems]
classroom = stranger:Classroom
[nbproof.languages]
dict = stranger:TABLE
braces = stranger:BRACES
page = stranger:PAGE
open = stranger:OPEN
one = stranger:ONE
[nbproof.formats]
raises = stranger:RAISES
index = stranger:INDEX
"""


@pytest.fixture(scope="module")
def stranger() -> Iterator[Path]:
    """A folder for ``PYTHONPATH`` with a package in it, as pip installs one."""
    # Not in a folder for temporary files: no sealed process sees those.
    with tempfile.TemporaryDirectory(prefix="stranger-", dir=sys.prefix) as folder:
        told = Path(folder) / "nbproof_stranger-1.dist-info"
        told.mkdir()
        (told / "METADATA").write_text("Metadata-Version: 2.1\nName: nbproof-stranger\nVersion: 1\n")
        (told / "entry_points.txt").write_text(ENTRIES)
        (Path(folder) / "stranger.py").write_text(MODULE)
        yield Path(folder)


@pytest.fixture
def here(stranger: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same, for this process."""
    from nbproof import doors

    systems()  # which a process finds once: without this stranger's, for the tests that come after
    monkeypatch.syspath_prepend(stranger)
    doors.modules.cache_clear()
    return stranger


Ran = Callable[..., subprocess.CompletedProcess[str]]


def _ran(folder: Path, stranger: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return typed(folder, *words, given={"PYTHONPATH": str(stranger)})


@pytest.fixture(scope="module")
def made(stranger: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course's folder, which works."""
    folder = tmp_path_factory.mktemp("stranger") / "knots"
    new = _ran(folder.parent, stranger, "new", "knots")
    assert new.returncode == 0, new.stderr
    built = _ran(folder, stranger, "build")
    assert built.returncode == 0, built.stderr
    for place in (folder / "submitted" / "ada" / "01_first", folder / "upload"):
        place.mkdir(parents=True)
        shutil.copy(folder / "release" / "01_first" / "01_first.ipynb", place)
    return folder


@pytest.fixture
def course(made: Path, tmp_path: Path) -> Path:
    """A copy of it. Tests change its settings, which a process reads once."""
    return Path(shutil.copytree(made, tmp_path / "knots"))


@pytest.fixture
def ran(course: Path, here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Ran:
    """A command of the course, in this process: another one imports for seconds."""
    monkeypatch.chdir(course)

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        capsys.readouterr()
        return subprocess.CompletedProcess(words, main([*words]), *capsys.readouterr())

    return run


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "fact"),
    [
        ("index", "a format would write index.html over another file of the report"),
        ("raises", "the package nbproof-stranger raised KeyError: 'no'"),
    ],
)
def test_a_format_that_is_wrong_is_told_in_three_lines(course: Path, ran: Ran, name: str, fact: str) -> None:
    _set(course, "")
    ended = ran("report", "--format", name)
    assert ended.returncode and f"error: {fact}" in ended.stderr, ended.stderr
    assert "Traceback" not in ended.stderr and "  next: " in ended.stderr


def _set(course: Path, settings: str) -> None:
    (course / "course.toml").write_text(f'says = "Knots"\n{settings}\n', encoding="utf-8")


@pytest.mark.slow
def test_a_system_that_is_none_stops_only_what_needs_systems(course: Path, stranger: Path) -> None:
    _set(course, "")
    fact = "what nbproof-stranger has as the system 'classroom' is none: <class 'stranger.Classroom'>"
    for words in ("--help", "build"):
        ended = _ran(course, stranger, words)
        assert (ended.returncode, ended.stderr.count(fact)) == (0, 1), ended.stderr
    collected = _ran(course, stranger, "collect", "upload")
    assert collected.returncode == 2 and f"error: {fact}" in collected.stderr
    assert "Traceback" not in collected.stderr and "(no class)" in collected.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("settings", "fact"),
    [
        ('leaves = ["statistics"]', "the leaf type 'statistics' of nbproof-stranger cannot be loaded: AttributeError"),
        ('leaves = ["fractions"]', "what nbproof-stranger has as the leaf type 'fractions' is none"),
        ('language = "dict"', "what nbproof-stranger has as the language 'dict' is none"),
        ('language = "braces"', "the language has a text for 'instead of what' that names {voulu}"),
        ('language = "nowhere"', "no language is called 'nowhere'"),
    ],
)
def test_check_tells_a_leaf_type_or_language_that_cannot_be_had_in_three_lines(
    course: Path, ran: Ran, settings: str, fact: str
) -> None:
    _set(course, settings)
    ended = ran("check")
    assert ended.returncode == 2 and f"error: {fact}" in ended.stderr, ended.stderr
    assert "Traceback" not in ended.stderr and "course.toml: l" in ended.stderr and "  next: " in ended.stderr


@pytest.mark.slow
def test_check_tells_a_leaf_type_that_cannot_prepare_itself(course: Path, stranger: Path) -> None:
    _set(course, 'leaves = ["colorsys"]')
    ended = _ran(course, stranger, "check")
    assert ended.returncode and "error: the package nbproof-stranger raised ValueError: it is cold" in ended.stderr
    assert "Traceback" not in ended.stderr and "stranger.py, line " in ended.stderr


@pytest.mark.parametrize(
    ("name", "fact"),
    [
        ("page", "the language has a text for 'page title' that names {titre}, which nobody fills in"),
        ("open", "the language has a text for 'not yet' that cannot be filled in"),
        ("one", "the language has a text for 'items' that is str, not tuple"),
    ],
)
def test_texts_that_cannot_be_filled_in_are_refused_at_once(here: Path, name: str, fact: str) -> None:
    with pytest.raises(UsageError) as told:
        refuse_bad_language(replace(COURSE, language=name))
    assert told.value.fact.startswith(fact) and told.value.place.endswith(f"language {name}")


def test_what_a_leaf_type_raises_names_its_package(here: Path) -> None:
    from decimal import Decimal

    (leaf,) = leaves_of(replace(COURSE, leaves=("decimal",)))
    with pytest.raises(AttributeError) as raised:
        leaf.taken(Decimal(1), 1)
    told = blamed(raised.value)
    assert isinstance(told, CourseError)
    assert told.fact.startswith("the package nbproof-stranger raised AttributeError: ")
    assert told.place == f"{here / 'stranger.py'}, line 14" and "its author has to mend it" in told.next_command


@pytest.mark.slow
def test_grade_names_a_leaf_type_that_cannot_take_a_value(course: Path, ran: Ran) -> None:
    _set(course, 'leaves = ["decimal"]')
    checks = course / "lessons" / "01_first" / "last_word_first" / "checks.py"
    before = checks.read_text()
    checks.write_text(before.replace('nb.function("last_word_first")(', '__import__("decimal").Decimal(1) or ('))
    built, ended = ran("build"), ran("grade")
    assert built.returncode == 0 and ended.returncode == 1, built.stderr
    assert "the package nbproof-stranger raised AttributeError: " in ended.stdout + ended.stderr


def test_an_error_of_our_own_stays_what_it_is(here: Path) -> None:
    with pytest.raises(KeyError) as raised:
        ENGLISH.text("no such text")
    assert blamed(raised.value) is raised.value


def test_a_notebook_shows_an_error_in_its_own_lines() -> None:
    told = UsageError("no language is called 'x'", "course.toml", "install it")
    assert told._render_traceback_() == told.lines()


def test_systems_have_options_without_spaces() -> None:
    system = System()
    system.name = "Google Classroom"
    assert system.option == "google-classroom"


def test_learners_need_leaf_types_and_languages_only(here: Path) -> None:
    assert for_learners("nbproof_stranger") and for_learners("numpy")
    (here / "nbproof_stranger-1.dist-info" / "entry_points.txt").write_text(
        ENTRIES[ENTRIES.index("[nbproof.formats]") :]
    )
    try:
        assert not for_learners("nbproof-stranger")
    finally:
        (here / "nbproof_stranger-1.dist-info" / "entry_points.txt").write_text(ENTRIES)


@pytest.mark.slow
def test_the_zip_for_learners_keeps_requirements_of_leaf_types_and_languages(course: Path, ran: Ran) -> None:
    _set(course, "")
    lines = [
        "nbproof",
        "nbproof[grading]>=1",
        "nbproof-lms==1.0",
        "nbproof_grader",
        "nbproof-stranger>=1",
        "nbproof-french",
    ]
    (course / "requirements.txt").write_text("\n".join([*lines, "jupyterlab"]))
    ended = ran("bundle", "--out", "learners.zip")
    assert ended.returncode == 0, ended.stderr
    with zipfile.ZipFile(course / "learners.zip") as made:
        (name,) = (one for one in made.namelist() if one.endswith("/requirements.txt"))
        kept = made.read(name).decode().splitlines()[1:]
    assert kept == ["nbproof-stranger>=1", "nbproof-french", "jupyterlab"]


@pytest.mark.slow
def test_a_course_is_made_on_a_leaf_type_of_a_package(tmp_path: Path, stranger: Path) -> None:
    made = _ran(tmp_path, stranger, "new", "sums", "--leaves", "decimal")
    assert made.returncode == 0, made.stderr
    assert 'leaves = ["decimal"]' in (tmp_path / "sums" / "course.toml").read_text()
    assert "nbproof-stranger" in (tmp_path / "sums" / "requirements.txt").read_text().splitlines()


def test_a_process_at_the_top_prints_whole_paths(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/")
    assert this_python() == sys.executable
