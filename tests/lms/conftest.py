"""A small course, and a short way to collect into it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from nbproof_lms import Collected, collect
from tests import COURSE
from tests.lms.uploads import folder_of, make_course, zipped


@pytest.fixture
def course(tmp_path: Path) -> Path:
    return make_course(tmp_path / "course")


Collecting = Callable[..., Collected]


@pytest.fixture
def collecting(course: Path, tmp_path: Path) -> Collecting:
    """Collect files as a zip (or as a folder, or bytes as a file) called ``name``; returns what ``collect`` returns."""

    def run(files: Mapping[str, bytes] | bytes, name: str = "upload.zip", **options: Any) -> Collected:
        path = tmp_path / "came" / name
        if isinstance(files, bytes):
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(files)
        elif path.suffix == ".zip":
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(zipped(files))
        else:
            folder_of(path, files)
        return collect(COURSE, course, [path], **options)

    return run
