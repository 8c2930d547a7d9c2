"""Installed from wheels, elsewhere and without a clone: a lesson, a check, a hint, progress, a solution, grading."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from email.parser import BytesParser
from pathlib import Path

import nbformat
import pytest

from nbproof.authoring.bundle import bundle, write_wheels
from tests import ROOT

pytestmark = pytest.mark.slow
DOUBLE = "def func(grad):\n    return grad * 2"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The two wheels, and the zip for graders, by the first word of their names."""
    return {
        re.split(r"[-_]", path.name)[0] + path.suffix: path
        for path in write_wheels(ROOT, tmp_path_factory.mktemp("dist"))
    }


class Elsewhere:
    """An environment that has the course from wheels alone; the libraries are those of this one."""

    def __init__(self, folder: Path, wheels: list[Path]) -> None:
        self.folder = folder
        venv.create(folder / "env", with_pip=False)
        self.bin = folder / "env" / ("Scripts" if os.name == "nt" else "bin")
        packages = subprocess.run(
            [self.bin / "python", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
            capture_output=True, text=True, check=True,
        ).stdout.strip()  # fmt: skip
        # Only names a folder: what is installed there for editing is not.
        Path(packages, "libraries.pth").write_text(sysconfig.get_path("purelib"))
        pip = [
            sys.executable,
            "-m",
            "pip",
            "--python",
            str(self.bin / "python"),
            "install",
            "-q",
            "--no-deps",
            "--no-index",
        ]
        subprocess.run([*pip, *map(str, wheels)], check=True, cwd=folder)
        (folder / "work").mkdir()

    def run(self, *words: str, cwd: str = "work") -> subprocess.CompletedProcess[str]:
        """A command of this environment, in a folder that holds nothing of the course's."""
        kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "NBPROOF_COURSE")}
        return subprocess.run(
            [str(self.bin / words[0]), *words[1:]], cwd=self.folder / cwd, capture_output=True, text=True, check=False,
            env={**kept, "COURSE_PROGRESS": str(self.folder / "progress.db")},
        )  # fmt: skip


@pytest.fixture(scope="module")
def elsewhere(made: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Elsewhere:
    return Elsewhere(
        tmp_path_factory.mktemp("elsewhere"), [path for name, path in made.items() if name.endswith(".whl")]
    )


ASK = f"""
from course import check, hint, progress, solution
{DOUBLE}
check("double_grad")
hint("double_grad")
solution("double_grad")
"""


@pytest.mark.nightly
def test_a_check_help_and_progress_work_and_the_solution_where_it_was_unpacked(
    elsewhere: Elsewhere, made: dict[str, Path]
) -> None:
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
    with zipfile.ZipFile(made["pytorch.zip"]) as archive:
        archive.extractall(elsewhere.folder / "work")
    assert "**The reference answer**" in said()
    assert re.search(r"solved +.*double_grad", elsewhere.run("hooks-course", "progress").stdout)


@pytest.mark.nightly
def test_a_class_is_graded_from_the_zip_for_graders(elsewhere: Elsewhere, made: dict[str, Path]) -> None:
    folder = elsewhere.folder / "class"
    with zipfile.ZipFile(made["pytorch.zip"]) as archive:
        archive.extractall(folder)
    lesson = "02_tensor_hooks"
    copy = folder / "submitted" / "ada" / lesson / f"{lesson}.ipynb"
    copy.parent.mkdir(parents=True)
    handed_in = json.loads((folder / "release" / lesson / f"{lesson}.ipynb").read_text(encoding="utf-8"))
    for cell in handed_in["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("grade_id") == "double_grad":
            cell["source"] = DOUBLE
    copy.write_text(json.dumps(handed_in))
    done = elsewhere.run("hooks-course", "grade", lesson, "--no-feedback", "--json", "scores.json", cwd="class")
    assert done.returncode == 0, done.stdout + done.stderr
    told = json.loads((folder / "scores.json").read_text())
    exercises = {one["id"]: one["score"] for one in told["submissions"][0]["exercises"]}
    assert exercises.pop("double_grad") > 0
    assert set(exercises.values()) == {0}


@pytest.mark.nightly
def test_nbgraders_own_first_course_is_graded_by_two_commands(made: dict[str, Path], tmp_path: Path) -> None:
    """`nbgrader quickstart`, a class that hands in, the tool from its wheel alone: `grade`, then `feedback`."""
    place = Elsewhere(tmp_path, [made["nbproof.whl"]])
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


def _wheel_of(zipped: Path) -> Path:
    """The one wheel in a class's zip, beside it."""
    with zipfile.ZipFile(zipped) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".whl"))
        wheel = zipped.parent / Path(name).name
        wheel.write_bytes(archive.read(name))
    return wheel


def test_a_class_s_wheel_holds_nothing_that_learners_must_not_see(tmp_path: Path) -> None:
    with zipfile.ZipFile(_wheel_of(bundle(ROOT, ["02_tensor_hooks"], tmp_path / "class.zip").path)) as wheel:
        names = wheel.namelist()
        metadata = BytesParser().parsebytes(wheel.read(next(one for one in names if one.endswith("METADATA"))))
    assert not [one for one in names if re.search(r"(^|/)(source|lessons|sandbox|marking|authoring)/", one)]
    assert [one for one in names if one.endswith(".ipynb")] == ["course/release/02_tensor_hooks/02_tensor_hooks.ipynb"]
    assert metadata["Version"] == "1.0.0+class"
    assert not [one for one in metadata.get_all("Requires-Dist", []) if one.startswith(("nbproof", "nbgrader"))]


def test_a_class_s_one_wheel_runs_a_check(tmp_path: Path) -> None:
    place = Elsewhere(tmp_path, [_wheel_of(bundle(ROOT, [], tmp_path / "class.zip").path)])
    (tmp_path / "work" / "asks.py").write_text(ASK)
    assert place.run("python", "asks.py").stdout.startswith("double_grad: passed")
    assert "lab" in place.run("hooks-course", "--help").stdout
