"""Two distributions from one repository: the tool, and the course that is made with it."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
import zipfile
from email.message import Message
from email.parser import BytesParser
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from nbproof.authoring.bundle import contents_of
from nbproof.command import with_extra
from nbproof.display.lab import released_lessons
from tests import ROOT

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a clone holds of both."""
    folder = tmp_path_factory.mktemp("clone")
    for name in _tracked("nbproof", "nbproof_lms", "course", "pyproject.toml", "LICENSE"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    return folder


@pytest.fixture(scope="module")
def wheels(clone: Path) -> dict[str, zipfile.ZipFile]:
    """Both, built offline, by their names."""
    pip = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "--no-index"]
    done = subprocess.run(
        [*pip, "-w", "made", "./nbproof", "."], cwd=clone, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    made = {path.name for path in (clone / "nbproof").iterdir()}
    assert made == {Path(name).parts[1] for name in _tracked("nbproof")}, (
        "a build writes beside the modules, not among them"
    )
    return {path.name.partition("-")[0]: zipfile.ZipFile(path) for path in (clone / "made").iterdir()}


def _tracked(*names: str) -> list[str]:
    listed = ["git", "ls-files", "-co", "--exclude-standard", *names]
    found = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    return [name for name in found if (ROOT / name).exists()]


def _metadata(wheel: zipfile.ZipFile) -> Message:
    (name,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
    return BytesParser().parsebytes(wheel.read(name))


def _named(requirements: list[str]) -> set[str]:
    return {re.split(r"[\[ <>=;~!]", one)[0].lower() for one in requirements}


@pytest.mark.parametrize(("wheel", "package"), [("nbproof", "nbproof"), ("pytorch_hooks_course", "course")])
def test_a_wheel_holds_its_package_and_nothing_else(
    wheel: str, package: str, wheels: dict[str, zipfile.ZipFile]
) -> None:
    packages = (package, "nbproof_lms") if package == "nbproof" else (package,)
    wanted = {name for name in _tracked(*packages) if not name.endswith("pyproject.toml")}
    found = {name for name in wheels[wheel].namelist() if ".dist-info/" not in name}
    assert found == wanted


def test_the_course_s_wheel_gives_away_no_more_than_what_learners_get(wheels: dict[str, zipfile.ZipFile]) -> None:
    """The bundle is searched for every line of a solution, a hidden check and an answer; it brings the visible checks as well."""
    bundled = contents_of(ROOT, released_lessons(ROOT))
    wheel = wheels["pytorch_hooks_course"]
    held = {name: wheel.read(name) for name in wheel.namelist() if ".dist-info/" not in name}
    assert held == {
        name: data for name, data in bundled.items() if name.startswith("course/") and "/handed_out/" not in name
    }


def test_each_says_what_it_needs_and_no_pin_stands_in_the_way_of_what_is_there(
    wheels: dict[str, zipfile.ZipFile],
) -> None:
    assert set(wheels) == {"nbproof", "pytorch_hooks_course"}
    tool, course = _metadata(wheels["nbproof"]), _metadata(wheels["pytorch_hooks_course"])
    for one in (tool, course):
        assert one["Requires-Python"] == ">=3.11"
        assert not [line for line in one.get_all("Requires-Dist", []) if "==" in line.partition(";")[0]]
    plain = [line for line in tool.get_all("Requires-Dist", []) if "extra ==" not in line]
    assert not {"torch", "numpy", "matplotlib", "scikit-learn", "nbgrader", "sqlalchemy"} & _named(plain)
    assert set(tool.get_all("Provides-Extra", [])) == {
        "torch", "numpy", "pandas", "jupyterlab", "postgres", "grading", "site",
    }  # fmt: skip
    assert {"nbproof", "torch", "torchvision"} <= _named(course.get_all("Requires-Dist", []))
    entry = wheels["nbproof"].read("nbproof-1.0.0.dist-info/entry_points.txt").decode()
    assert "nbproof = nbproof.__main__:run" in entry


@pytest.mark.parametrize(("wheel", "package"), [("nbproof", "nbproof"), ("pytorch_hooks_course", "course")])
def test_every_library_that_is_imported_is_one_that_it_names(
    wheel: str, package: str, wheels: dict[str, zipfile.ZipFile]
) -> None:
    named = _named(_metadata(wheels[wheel]).get_all("Requires-Dist", []))
    providers = packages_distributions()
    imported = {
        name.split(".")[0]
        for path in (ROOT / package).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        for name in (
            [alias.name for alias in node.names] if isinstance(node, ast.Import)
            else [str(node.module)] if isinstance(node, ast.ImportFrom) else []
        )
    }  # fmt: skip
    own = {"course", "nbproof", "nbproof_lms", "__future__"}
    # Trials of lessons load matplotlib early where it is there.
    foreign = imported - set(sys.stdlib_module_names) - own - ({"matplotlib"} if package == "nbproof" else set())
    assert "nbgrader" in foreign or package == "course"
    missing = {
        name for name in foreign if not named & {one.lower().replace("_", "-") for one in providers.get(name, [name])}
    }
    assert missing == set()


def test_an_extra_is_installed_by_what_it_needs() -> None:
    assert with_extra("postgres").endswith(" -m pip install 'psycopg[binary]<4,>=3.2'")
