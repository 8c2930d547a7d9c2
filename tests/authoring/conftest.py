"""A course of one tiny lesson."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from nbproof.authoring.build import build
from tests import COURSE
from tests.authoring.tiny import Sketch, write_lesson


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course of one sound lesson, built. Copy it before changing anything in it."""
    root = tmp_path_factory.mktemp("course")
    write_lesson(root, "00_tiny", [Sketch()])
    build(COURSE, root, say=lambda line: None)
    return root


@pytest.fixture
def course(built: Path, tmp_path: Path) -> Path:
    """A copy of the built course, to be broken."""
    return Path(shutil.copytree(built, tmp_path / "course"))
