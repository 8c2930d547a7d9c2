"""The tests of tool and course."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

import course
from nbproof.command import called_for
from nbproof.course_file import read_course
from nbproof.sandbox.isolation import why_not_isolated

if TYPE_CHECKING:
    from nbproof.lesson.lesson import Lesson

ROOT = Path(__file__).parent.parent
COURSE = read_course(Path(course.__file__).parent)
"""The course that they work for."""
called_for(COURSE)
SLUGS = sorted(path.parent.name for path in ROOT.glob("lessons/*/lesson.py"))
"""The course's lessons."""


needs_isolation = pytest.mark.skipif(bool(why_not_isolated()), reason=f"the engine is NOT tested: {why_not_isolated()}")


OLDER_CPUS = {
    "AVX2": {"ONEDNN_MAX_CPU_ISA": "AVX2", "ATEN_CPU_CAPABILITY": "avx2"},  # most laptops
    "SSE4.1": {"ONEDNN_MAX_CPU_ISA": "SSE41", "ATEN_CPU_CAPABILITY": "default"},
}
"""What holds a CPU down to older instructions, by their name: the environment of a process in which torch is not there yet."""


def some_by_day(values: Iterable[Any], step: int) -> list[Any]:
    """For ``parametrize``: every ``step``-th value for each run of tests, the others for the nightly one."""
    nightly = pytest.mark.nightly
    return [pytest.param(value, marks=[nightly] if at % step else []) for at, value in enumerate(values)]


@cache
def the_lesson(slug: str) -> Lesson:
    """One of them, with all its candidates. Reading it takes a part of a second, which a run of tests spends once."""
    from nbproof.lesson.from_text import read_lesson

    return read_lesson(COURSE, ROOT / "lessons" / slug)


def without_demonstrations(path: Path) -> None:
    """Take what a notebook only shows out of it: pictures and training take nine tenths of the time that grading it takes.

    A run begins with the lesson's reference answers, which have to earn full marks like this.
    """
    notebook = json.loads(path.read_text(encoding="utf-8"))
    cells = notebook["cells"]
    notebook["cells"] = [cell for cell in cells if cell["cell_type"] != "code" or "nbgrader" in cell["metadata"]]
    assert len(notebook["cells"]) < len(cells)
    path.write_text(json.dumps(notebook), encoding="utf-8")


def main(argv: list[str] | None = None) -> int:
    """A command of the course, in this process; its exit code. Where one stands in another course, it is a command of that."""
    from nbproof.cli.main import main as run

    return run(argv, read_course(Path.cwd()) if Path("course.toml").is_file() else COURSE)


def said(capsys: pytest.CaptureFixture[str], root: Path, words: str) -> tuple[int, str]:
    """Exit code and output of a command for the course in this folder, in this process."""
    code = main([*words.split(), "--course", str(root)])
    return code, "".join(capsys.readouterr())


def typed(folder: Path, *words: str, given: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """``python -m nbproof WORDS``, typed there by somebody who has not said which course it is.

    ``given``: variables of their environment.
    """
    return python(folder, "-m", "nbproof", *words, given=given)


def printed(folder: Path, *words: str, given: Mapping[str, str] | None = None) -> str:
    """What ``python -m nbproof WORDS`` prints there; it has to succeed."""
    done = typed(folder, *words, given=given)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def python(folder: Path, *words: str, given: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """``python WORDS``, started in the same way."""
    kept = {name: value for name, value in os.environ.items() if name not in ("NBPROOF_COURSE", "NBPROOF_WARM_FOR")}
    command, env = [sys.executable, *words], {**kept, **(given or {})}
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)


def loaded(path: Path) -> ModuleType:
    """A program that lies in no package, as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def the_lessons() -> list[Lesson]:
    """All of them."""
    return [the_lesson(slug) for slug in SLUGS]
