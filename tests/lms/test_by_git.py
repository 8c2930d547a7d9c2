"""A class that hands in by Git, as docs/instructors.md says, 'From Git repositories': the workflow's own steps on what was
pushed, and grading from a folder of clones. GitHub itself is played by folders of this machine.
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
from tests import COURSE, ROOT, needs_isolation, the_lesson

LESSON = "01_module_anatomy"
NOTEBOOK = f"learn/{LESSON}/{LESSON}.ipynb"
pytestmark = [pytest.mark.nightly, needs_isolation]


def _git(folder: Path, *words: str) -> None:
    who = ["-c", "user.name=Somebody", "-c", "user.email=somebody@example.org"]
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(["git", *who, *words], cwd=folder, env=environment, check=True, capture_output=True)


def _steps() -> list[dict[str, dict[str, str]]]:
    """What the workflow runs that the page tells to put into the repository."""
    page = MarkdownIt("commonmark").parse((ROOT / "docs" / "instructors.md").read_text(encoding="utf-8"))
    (text,) = (token.content for token in page if token.type == "fence" and token.content.startswith("on: push"))
    return [step for step in yaml.safe_load(text)["jobs"]["checks"]["steps"] if "run" in step]


def _runner(folder: Path) -> dict[str, str]:
    """The environment of a runner. The libraries are those of this one, so pip has only the wheel to install."""
    venv.create(folder / "env", with_pip=True)
    packages = next((folder / "env" / "lib").glob("python*/site-packages"))
    (packages / "libraries.pth").write_text(sysconfig.get_path("purelib"))
    jupyter = folder / "env" / "bin" / "jupyter"
    jupyter.write_text(f'#!/bin/sh\nshift\nexec "{jupyter.parent}/python" -m nbconvert "$@"\n')
    jupyter.chmod(0o755)
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    path = f"{jupyter.parent}{os.pathsep}{kept['PATH']}"
    return {**kept, "PATH": path, "PIP_NO_INDEX": "1", "PIP_NO_DEPS": "1"}


def _pushed(folder: Path, runner: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run the workflow in a folder, as a runner does: each step in a shell of its own, until one fails."""
    for step in _steps():
        words = ["bash", "-e", "-o", "pipefail", "-c", str(step["run"])]
        environment = {**runner, **step.get("env", {})}
        done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            break
    return done


def _answer(notebook: Path, answers: dict[str, str]) -> None:
    told = json.loads(notebook.read_text(encoding="utf-8"))
    for cell in told["cells"]:
        cell["source"] = answers.get(cell["metadata"].get("nbgrader", {}).get("grade_id"), cell["source"])
    notebook.write_text(json.dumps(told), encoding="utf-8")


def test_a_class_hands_in_by_git(tmp_path: Path) -> None:
    lesson = the_lesson(LESSON)
    right = {one.id: one.candidates[0].source for one in lesson.exercises}
    wrong = {**right, lesson.exercises[-1].id: lesson.exercises[-1].mutants[0].source}
    start, clones = tmp_path / "start", tmp_path / "clones"
    with zipfile.ZipFile(bundle(COURSE, ROOT, [LESSON], tmp_path / "class.zip").path) as archive:
        archive.extractall(tmp_path / "zip")
    (unpacked,) = (tmp_path / "zip").iterdir()
    shutil.copytree(unpacked / "release" / LESSON, start / "learn" / LESSON)
    (wheel,) = unpacked.glob("*.whl")
    shutil.copy(wheel, start)
    _git(start, "init")
    _git(start, "add", "--all")
    _git(start, "commit", "-m", "Lesson one")
    clones.mkdir()
    for name, answers in (("ada", right), ("ben", wrong)):
        _git(clones, "clone", str(start), name)
        _answer(clones / name / NOTEBOOK, answers)
        _git(clones / name, "commit", "--all", "-m", "My answers")

    runner = _runner(tmp_path)
    green, red = (_pushed(clones / name, runner) for name in ("ada", "ben"))
    assert green.returncode == 0, green.stderr
    assert red.returncode and f'check("{lesson.exercises[-1].id}")' in red.stderr and "\n  asked: " in red.stderr

    course = tmp_path / "class"
    for part in ("source", "release"):
        shutil.copytree(ROOT / part / LESSON, course / part / LESSON)
    shutil.copy(ROOT / "nbgrader_config.py", course)
    words = ["-m", "course", "grade", "--from", str(clones), "--json", "scores.json", "--no-feedback"]
    done = subprocess.run([sys.executable, *words], cwd=course, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    told = json.loads((course / "scores.json").read_text(encoding="utf-8"))["submissions"]
    scores = {one["learner"]: sum(exercise["score"] for exercise in one["exercises"]) for one in told}
    full = sum(one.points for one in lesson.exercises if one.tests)
    assert scores == {"ada": full, "ben": full - lesson.exercises[-1].points}
