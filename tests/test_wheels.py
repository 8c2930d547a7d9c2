"""Four distributions from one repository, and installed from wheels, without a clone: a check, help, progress, grading."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from collections.abc import Iterator
from email.message import Message
from email.parser import BytesParser
from importlib.metadata import packages_distributions
from inspect import signature
from itertools import chain
from pathlib import Path
from typing import get_origin, get_type_hints

import nbformat
import pytest

from nbproof.authoring.bundle import bundle, contents_of, write_wheels
from nbproof.cli.authors import COMMANDS as OF_AUTHORS
from nbproof.cli.instructors import COMMANDS as OF_INSTRUCTORS
from nbproof.cli.main import BROUGHT_BY
from nbproof.command import with_extra
from nbproof.course_file import find_course
from nbproof.nbgrader import next_door
from nbproof.report import alone
from nbproof_lms.commands import COMMANDS as NEXT_DOOR
from tests import COURSE, ROOT

pytestmark = pytest.mark.slow
TOOL = ("nbproof", "nbproof_grader", "nbproof_lms")
"""The tool's distributions, as the names of their wheels begin."""
ITERATORS = ROOT / "examples" / "iterators"
DOUBLE = "def func(grad):\n    return grad * 2"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The four wheels, and the zip for graders, by their names without a version."""
    paths = write_wheels(COURSE, ROOT, tmp_path_factory.mktemp("dist"))
    return {re.sub("-1.*|-course", "", path.stem) + path.suffix: path for path in paths}


class Elsewhere:
    """An environment that has the course from wheels alone; the libraries are those of this one."""

    def __init__(self, folder: Path, wheels: list[Path]) -> None:
        self.folder = folder
        venv.create(folder / "env", with_pip=False)
        self.bin = folder / "env" / ("Scripts" if os.name == "nt" else "bin")
        packages = sysconfig.get_path("purelib", vars={"base": str(folder / "env")})
        # Only names a folder: what is installed there for editing is not.
        Path(packages, "libraries.pth").write_text(sysconfig.get_path("purelib"))
        pip = [sys.executable, "-m", "pip", "--python", str(self.bin / "python")]
        pip += ["install", "-q", "--no-deps", "--no-index"]
        subprocess.run([*pip, *map(str, wheels)], check=True, cwd=folder)
        (folder / "work").mkdir()

    def run(self, *words: str, cwd: str = "work") -> subprocess.CompletedProcess[str]:
        """A command of this environment, in a folder that holds nothing of the course's."""
        kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "NBPROOF_COURSE")}
        return subprocess.run(
            [str(self.bin / words[0]), *words[1:]], cwd=self.folder / cwd, capture_output=True, text=True, check=False,
            env={**kept, "COURSE_PROGRESS": str(self.folder / "progress.db")},
        )  # fmt: skip


ASK = f"""
from course import check, hint, progress, solution
{DOUBLE}
check("double_grad")
hint("double_grad")
solution("double_grad")
"""


@pytest.mark.nightly
def test_a_check_help_and_progress_work_and_the_solution_where_it_was_unpacked(
    made: dict[str, Path], tmp_path: Path
) -> None:
    elsewhere = Elsewhere(tmp_path, [made["nbproof.whl"], made["pytorch_hooks_course.whl"]])
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(ASK)])
    nbformat.write(notebook, elsewhere.folder / "work" / "asks.ipynb")

    def said() -> str:
        """All that the notebook shows, in words."""
        done = elsewhere.run("python", "-m", "nbconvert", "--to", "notebook", "--execute", "--stdout", "asks.ipynb")
        (cell,) = nbformat.reads(done.stdout, as_version=4).cells
        return "".join(one.get("text") or one["data"]["text/plain"] + "\n" for one in cell.outputs)

    alone = said()
    assert alone.startswith("double_grad: passed")
    assert "1 of 3, a question" in alone
    assert "not part of what you were handed" in alone
    with zipfile.ZipFile(made["pytorch-hooks-solutions.zip"]) as archive:
        archive.extractall(elsewhere.folder / "work")
    assert "**The reference answer**" in said()
    assert re.search(r"double_grad\): solved", elsewhere.run("hooks-course", "progress").stdout)


ASK_ALONE = """
from itertools import islice
from nbproof import check, hint
def take(items, n):
    return list(islice(items, n))
check("take")
hint("take")
"""


def test_a_check_runs_with_the_distribution_for_learners_alone(built: dict[str, Path], tmp_path: Path) -> None:
    """In a course without a package of its own; and what is not there is named."""
    place = Elsewhere(tmp_path, [built["nbproof"]])
    for name, data in contents_of(find_course(ITERATORS), ITERATORS, ["01_iterators"]).items():
        if not name.startswith("nbproof/"):
            (tmp_path / "work" / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / "work" / name).write_bytes(data)
    (tmp_path / "work" / "asks.py").write_text(ASK_ALONE)
    asked = place.run("python", "asks.py")
    assert asked.stdout.startswith("take: passed") and "1 of " in asked.stdout, asked.stderr
    listed = place.run("nbproof", "--help").stdout
    assert "lab" in listed and "grade" not in listed.partition("COMMAND")[2].partition("options")[0].split()
    assert place.run("nbproof", "lab", "--help").returncode == 0
    for package, names in BROUGHT_BY.items():
        for name in names.split():
            assert _refused(place, name) == package


def _refused(place: Elsewhere, *words: str) -> str:
    """The package that a call is told to install."""
    done = place.run("python", "-m", "nbproof", *words)
    assert done.returncode == 2, done.stdout
    return done.stderr.strip().rpartition(" -m pip install ")[2]


def test_a_course_is_graded_without_the_package_next_door(built: dict[str, Path], tmp_path: Path) -> None:
    place = Elsewhere(tmp_path, [built["nbproof"], built["nbproof_grader"]])
    shutil.copytree(ITERATORS, tmp_path / "work", dirs_exist_ok=True, ignore=shutil.ignore_patterns("demo", "*.db"))
    (tmp_path / "work" / "submitted" / "eve").mkdir(parents=True)
    handed_in = tmp_path / "work" / "submitted" / "bob" / "01_iterators"
    shutil.copytree(ITERATORS / "release" / "01_iterators", handed_in)
    for words, says in (
        ("build", "nothing to change"),
        ("check take", "holds"),
        ("grade", "nothing handed in: 01_iterators: eve"),
        ("report", "report:"),
        ("feedback bob", "1 unchanged"),
        ("bundle", "none is in it"),
    ):
        done = place.run("python", "-m", "nbproof", *words.split())
        assert done.returncode == 0 and says in done.stdout, (words, done.stdout, done.stderr)
    unknown = place.run("python", "-m", "nbproof", "feedback", "Bob")
    assert "next: write the name of their folder in submitted" in unknown.stderr
    uploads = ("collect", "roster", "grade --from x.zip", "feedback --for moodle")
    for words in (*uploads, "report --zero missing", "report --canvas x.csv"):
        assert _refused(place, *words.split()) == "nbproof-lms", words


@pytest.mark.nightly
def test_nbgraders_own_first_course_is_graded_by_two_commands(made: dict[str, Path], tmp_path: Path) -> None:
    """`nbgrader quickstart`, a class that hands in, the grader from its wheels alone: `grade`, then `feedback`."""
    place = Elsewhere(tmp_path, [made["nbproof.whl"], made["nbproof_grader.whl"]])
    course = tmp_path / "work" / "course101"
    for words, cwd in ((("quickstart", "course101"), "work"), (("generate_assignment", "ps1"), "work/course101")):
        done = place.run("python", "-m", "nbgrader", *words, cwd=cwd)
        assert done.returncode == 0, done.stderr
    shutil.copytree(course / "release" / "ps1", course / "submitted" / "blank" / "ps1")
    shutil.copytree(course / "source" / "ps1", course / "submitted" / "solved" / "ps1")
    graded = place.run("python", "-m", "nbproof", "grade", "--json", "scores.json", cwd="work/course101")
    assert graded.returncode == 0, graded.stdout + graded.stderr
    assert graded.stdout.startswith("found:     1 assignment with 2 notebooks in source, 2 learners in submitted")
    scores = {
        (one["learner"], one["lesson"]): one["score"]
        for one in json.loads((course / "scores.json").read_text(encoding="utf-8"))["submissions"]
    }
    assert scores["solved", "ps1/problem1"] > scores["blank", "ps1/problem1"] == 0
    assert place.run("python", "-m", "nbproof", "feedback", cwd="work/course101").returncode == 0
    assert (course / "feedback" / "solved" / "ps1" / "problem2.html").is_file()


def test_a_class_s_one_wheel_runs_a_check_and_holds_nothing_that_learners_must_not_see(tmp_path: Path) -> None:
    with zipfile.ZipFile(bundle(COURSE, ROOT, ["02_tensor_hooks"], tmp_path / "class.zip").path) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".whl"))
        path = tmp_path / Path(name).name
        path.write_bytes(archive.read(name))
    wheel = zipfile.ZipFile(path)
    names, told = wheel.namelist(), _metadata(path)
    assert not [one for one in names if re.search(r"(^|/)(source|lessons|sandbox|marking|authoring)/", one)]
    assert [one for one in names if one.endswith(".ipynb")] == ["course/release/02_tensor_hooks/02_tensor_hooks.ipynb"]
    assert told["Version"] == "1.0.0+class"
    assert not [one for one in told.get_all("Requires-Dist", []) if one.startswith(("nbproof", "nbgrader"))]
    place = Elsewhere(tmp_path, [path])
    (tmp_path / "work" / "asks.py").write_text(ASK)
    assert place.run("python", "asks.py").stdout.startswith("double_grad: passed")
    assert "lab" in place.run("hooks-course", "--help").stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The wheels of the distributions as pip builds them, offline, by their names without a version."""
    clone = tmp_path_factory.mktemp("clone")
    for name in _tracked("nbproof", "nbproof_lms", "packages", "course", "pyproject.toml", "LICENSE"):
        (clone / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, clone / name)
    pip = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*pip, "-w", "made", *map(str, clone.glob("packages/*")), "."], cwd=clone, check=True)
    return {path.name.partition("-")[0]: path for path in (clone / "made").iterdir()}


def _tracked(*names: str) -> list[str]:
    listed = ["git", "ls-files", "-co", "--exclude-standard", *names]
    found = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    return [name for name in found if (ROOT / name).exists()]


def _metadata(path: Path) -> Message:
    wheel = zipfile.ZipFile(path)
    (name,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
    return BytesParser().parsebytes(wheel.read(name))


def _named(requirements: list[str]) -> set[str]:
    return {re.split(r"[\[ <>=;~!]", one)[0].lower() for one in requirements}


def _files_in(wheel: Path) -> list[str]:
    return sorted(name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name)


def test_every_file_of_the_tool_is_in_one_distribution_and_the_wheels_made_by_hand_hold_the_same(
    built: dict[str, Path], made: dict[str, Path]
) -> None:
    held = {name: _files_in(built[name]) for name in TOOL}
    assert sorted(chain.from_iterable(held.values())) == sorted(_tracked("nbproof", "nbproof_lms"))
    assert held == {name: _files_in(made[f"{name}.whl"]) for name in TOOL}
    assert _files_in(built["pytorch_hooks_course"]) == sorted(_tracked("course"))


def test_learners_get_what_the_distribution_nbproof_holds(built: dict[str, Path]) -> None:
    handed_out = contents_of(COURSE, ROOT, ["02_tensor_hooks"])
    assert [name for name in handed_out if name.startswith("nbproof")] == _files_in(built["nbproof"])
    installs = [line for line in handed_out["requirements.txt"].decode().splitlines() if line.startswith("-e")]
    assert installs == ["-e ./packages/nbproof[jupyterlab,torch]", "-e ."]
    assert "packages/nbproof/pyproject.toml" in handed_out


BESIDE = {
    "nbproof_grader": ["nbproof"],
    "nbproof_lms": ["nbproof", "nbproof_grader"],
    "nbproof_dask": ["nbproof", "nbproof_grader"],
    "nbproof_desk": ["nbproof", "nbproof_grader", "nbproof_lms"],
}
"""What a distribution stands on: what it needs of these it need not name again."""


@pytest.mark.parametrize("name", [*TOOL, "nbproof_dask", "nbproof_desk", "pytorch_hooks_course"])
def test_a_distribution_names_what_it_imports(name: str, built: dict[str, Path]) -> None:
    told = _metadata(built[name])
    assert told["Requires-Python"] == ">=3.11"
    requires = told.get_all("Requires-Dist", [])
    assert not [line for line in requires if "==" in line.partition(";")[0]], (
        "no pin stands in the way of what is there"
    )
    assert {one.replace("_", "-") for one in BESIDE.get(name, [])} <= _named(requires)
    imported = set[str]()
    for file in _files_in(built[name]):
        if file.endswith(".py"):
            imported.update(_imported(ast.parse(zipfile.ZipFile(built[name]).read(file))))
    # Trials of lessons load matplotlib early where it is there; the configuration of a gradebook is read where one is.
    own = {"course", "nbproof", "nbproof_lms", "nbproof_dask", "nbproof_desk", "__future__"}
    own |= {"nbproof": {"sqlalchemy"}, "nbproof_grader": {"matplotlib"}}.get(name, set())
    providers, foreign = packages_distributions(), imported - set(sys.stdlib_module_names) - own
    there = {one: {other.lower().replace("_", "-") for other in providers.get(one, [one])} for one in foreign}
    assert {one for one in foreign if not _named(requires) & there[one]} == set()


def _imported(tree: ast.Module) -> Iterator[str]:
    """The packages that a module imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield str(node.module).split(".")[0]


def test_the_learners_part_brings_no_library_of_graders_or_lessons(built: dict[str, Path]) -> None:
    plain = [line for line in _metadata(built["nbproof"]).get_all("Requires-Dist", []) if "extra ==" not in line]
    assert not {"torch", "numpy", "matplotlib", "scikit-learn", "nbgrader", "sqlalchemy"} & _named(plain)
    course = _named(_metadata(built["pytorch_hooks_course"]).get_all("Requires-Dist", []))
    assert {"nbproof", "torch", "torchvision"} <= course
    assert with_extra("postgres").endswith(" -m pip install 'psycopg[binary]<4,>=3.2'")
    grading = [line for line in _metadata(built["nbproof"]).get_all("Requires-Dist", []) if "grading" in line]
    assert _named(grading) == {"nbproof-grader", "nbproof-lms"}


def test_each_command_is_named_with_the_distribution_that_brings_it() -> None:
    assert BROUGHT_BY["nbproof-lms"].split() == [one.name for one in NEXT_DOOR]
    assert {*BROUGHT_BY["nbproof-grader"].split()} == {one.name for one in (*OF_INSTRUCTORS, *OF_AUTHORS)}


@pytest.mark.parametrize("name", sorted({*next_door.__all__} - {"Collected", "GradeFile"}))
def test_without_the_package_next_door_a_name_takes_the_same(name: str) -> None:
    """For each name that is asked for there, but for two types that only a type checker wants."""
    here, there = getattr(alone, name), getattr(next_door, name)
    if name not in vars(alone):
        kind = get_type_hints(there)["return"]
        assert isinstance(here(), get_origin(kind) or kind)  # it takes anything
    elif callable(here) and name != "collect":
        assert [*signature(here).parameters] == [*signature(there).parameters]
