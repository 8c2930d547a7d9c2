"""What an author makes holds on older CPUs as well. By day: the lesson that asks most of a CPU, on one that most laptops have."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from nbproof.authoring.shown import shown_by
from tests import OLDER_CPUS, ROOT, SLUGS


@pytest.mark.nightly
@pytest.mark.parametrize("cpu", OLDER_CPUS)
def test_the_author_contract_holds(cpu: str) -> None:
    command = [sys.executable, "-m", "course", "check"]
    done = subprocess.run(command, cwd=ROOT, env=os.environ | OLDER_CPUS[cpu], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cpu", "slugs"),
    [("AVX2", ["06_capstones"]), *(pytest.param(cpu, SLUGS, marks=pytest.mark.nightly) for cpu in OLDER_CPUS)],
)
def test_every_solved_lesson_runs_whole_for_its_chapter(
    cpu: str, slugs: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in OLDER_CPUS[cpu].items():
        monkeypatch.setenv(name, value)
    shown = shown_by(ROOT, slugs, lambda one: None)
    assert sorted(shown) == sorted(slugs)
    assert [one.stopped for one in shown.values() if one.stopped] == []
