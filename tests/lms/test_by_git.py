"""A class that hands in by Git, as docs/instructors.md says, 'From Git repositories': remotes, clones, pushes, the workflow's own
steps on each push, and grading from a folder of clones. GitHub itself is played by folders of this machine.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest
import yaml
from markdown_it import MarkdownIt

from nbproof.authoring.bundle import bundle
from tests import ROOT, needs_isolation, the_lesson

LESSON = "01_module_anatomy"
NOTEBOOK = f"learn/{LESSON}/{LESSON}.ipynb"
pytestmark = [
    pytest.mark.nightly,
    needs_isolation,
]


def workflow() -> str:
    """The file that the page tells to put into the repository."""
    page = MarkdownIt("commonmark").parse((ROOT / "docs" / "instructors.md").read_text(encoding="utf-8"))
    (text,) = (token.content for token in page if token.type == "fence" and token.content.startswith("on: push"))
    return text


def _git(folder: Path, *words: str) -> None:
    who = ["-c", "user.name=Somebody", "-c", "user.email=somebody@example.org"]
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(["git", *who, *words], cwd=folder, env=environment, check=True, capture_output=True)


class Hosting:
    """Repositories to push to, and whoever runs a workflow on each push."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        venv.create(folder / "env", with_pip=True)
        self._bin = folder / "env" / "bin"
        # The libraries are those of this environment, so pip has only the wheel to install.
        packages = next((folder / "env" / "lib").glob("python*/site-packages"))
        (packages / "libraries.pth").write_text(sysconfig.get_path("purelib"))
        jupyter = self._bin / "jupyter"
        jupyter.write_text(f'#!/bin/sh\nshift\nexec "{self._bin}/python" -m nbconvert "$@"\n')
        jupyter.chmod(0o755)

    def remote(self, name: str) -> Path:
        """The address of a repository."""
        return self.folder / f"{name}.git"

    def on_push(self, name: str) -> subprocess.CompletedProcess[str]:
        """Run the steps of the pushed workflow in a new checkout, as a runner does: in one shell each, which ends at an error."""
        checkout = self.folder / f"checkout-{name}"
        shutil.rmtree(checkout, ignore_errors=True)
        _git(self.folder, "clone", str(self.remote(name)), str(checkout))
        told = yaml.safe_load((checkout / ".github" / "workflows" / "checks.yml").read_text())
        kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        environment = {
            **kept,
            "PATH": f"{self._bin}{os.pathsep}{kept['PATH']}",
            "PIP_NO_INDEX": "1",
            "PIP_NO_DEPS": "1",
        }
        steps = [step for step in told["jobs"]["checks"]["steps"] if "run" in step]
        assert len(steps) == 2
        for step in steps:
            done = subprocess.run(
                ["bash", "-e", "-o", "pipefail", "-c", step["run"]],
                cwd=checkout, env={**environment, **step.get("env", {})}, capture_output=True, text=True, check=False,
            )  # fmt: skip
            if done.returncode:
                break
        return done


def _answer(notebook: Path, answers: dict[str, str]) -> None:
    """Fill these TODO cells."""
    told = json.loads(notebook.read_text(encoding="utf-8"))
    for cell in told["cells"]:
        name = cell["metadata"].get("nbgrader", {}).get("grade_id")
        if name in answers:
            cell["source"] = answers[name]
    notebook.write_text(json.dumps(told), encoding="utf-8")


def _scores(folder: Path, clones: Path) -> dict[str, float]:
    """What the command on the page writes for scripts."""
    words = ["grade", "--from", str(clones), "--json", "scores.json", "--no-feedback"]
    done = subprocess.run(
        [sys.executable, "-m", "course", *words], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    told = json.loads((folder / "scores.json").read_text(encoding="utf-8"))["submissions"]
    return {one["learner"]: sum(exercise["score"] for exercise in one["exercises"]) for one in told}


def test_a_class_hands_in_by_git(tmp_path: Path) -> None:
    lesson = the_lesson(LESSON)
    right = {one.id: one.candidates[0].source for one in lesson.exercises}
    wrong = {**right, lesson.exercises[-1].id: lesson.exercises[-1].mutants[0].source}
    hosting = Hosting(tmp_path)

    # What the learners start from: the class's notebook and wheel, and the workflow.
    start = tmp_path / "start"
    with zipfile.ZipFile(bundle(ROOT, [LESSON], tmp_path / "class.zip").path) as archive:
        archive.extractall(tmp_path / "zip")
    (unpacked,) = (tmp_path / "zip").iterdir()
    shutil.copytree(unpacked / "release" / LESSON, start / "learn" / LESSON)
    (wheel,) = unpacked.glob("*.whl")
    shutil.copy(wheel, start)
    (start / ".github" / "workflows").mkdir(parents=True)
    (start / ".github" / "workflows" / "checks.yml").write_text(workflow(), encoding="utf-8")
    _git(start, "init")
    _git(start, "add", "--all")
    _git(start, "commit", "-m", "Lesson one")

    # Three learners: all right, one answer wrong, and somebody who has done nothing but move the notebook.
    for name, answers in (("ada", right), ("ben", wrong), ("cyd", {})):
        _git(tmp_path, "clone", "--bare", str(start), str(hosting.remote(name)))
        _git(tmp_path, "clone", str(hosting.remote(name)), name)
        _answer(tmp_path / name / NOTEBOOK, answers)
        if not answers:
            _git(tmp_path / name, "mv", NOTEBOOK, "homework.ipynb")
        _git(tmp_path / name, "commit", "--all", "-m", "My answers")
        _git(tmp_path / name, "push")
    pushed = {name: hosting.on_push(name) for name in ("ada", "ben", "cyd")}
    assert pushed["ada"].returncode == 0, pushed["ada"].stderr
    told = pushed["ben"].stderr
    assert pushed["ben"].returncode and f'check("{lesson.exercises[-1].id}")' in told and "\n  asked: " in told, told
    assert pushed["cyd"].returncode, "a notebook that is not where it belongs is not green"

    # The instructor: a folder of clones.
    folder, clones = tmp_path / "class", tmp_path / "clones"
    for part in ("source", "release"):
        shutil.copytree(ROOT / part / LESSON, folder / part / LESSON)
    shutil.copy(ROOT / "nbgrader_config.py", folder)
    clones.mkdir()
    for name in pushed:
        _git(clones, "clone", str(hosting.remote(name)), name)
    full = sum(one.points for one in lesson.exercises if one.tests)
    before = _scores(folder, clones)
    assert (before["ada"], before["cyd"]) == (full, 0)
    assert before["ben"] == full - lesson.exercises[-1].points

    # Somebody mends an answer and pushes again.
    _answer(tmp_path / "ben" / NOTEBOOK, right)
    _git(tmp_path / "ben", "commit", "--all", "-m", "Mended")
    _git(tmp_path / "ben", "push")
    assert hosting.on_push("ben").returncode == 0
    _git(clones / "ben", "pull")
    assert _scores(folder, clones) == {**before, "ben": full}
