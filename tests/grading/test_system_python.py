"""The course on the Python that the system brings, which is another than the one that runs these tests.

Its environment holds the packages of this one: both take the same wheels, so nothing is downloaded.
"""

from __future__ import annotations

import os
import re
import shutil
import site
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
SERIES = f"python3.{sys.version_info[1]}"
LESSON = "02_tensor_hooks"


def _system_python() -> str:
    """The system's interpreter of this series, where it is another release than this one; skips where there is none."""
    for folder in ("/usr/bin", "/usr/local/bin"):
        path = Path(folder, SERIES)
        if path.exists():
            version = subprocess.run([path, "-c", "import sys; print(sys.version)"], capture_output=True, text=True)
            if version.returncode == 0 and version.stdout.strip() != sys.version.strip():
                return str(path)
    pytest.skip(f"no other {SERIES} on this machine: the course is NOT tested on a system's own Python")


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """A fresh clone with one lesson, and the environment that the system's Python has made in it."""
    python = _system_python()
    folder = tmp_path / "course"
    for name in ("course", "nbproof", f"source/{LESSON}", f"release/{LESSON}", f"lessons/{LESSON}"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "nbgrader_config.py", folder)
    subprocess.run([python, "-m", "venv", "--without-pip", folder / ".venv"], check=True)
    packages = folder / ".venv" / "lib" / SERIES / "site-packages"
    shared = [place for place in site.getsitepackages() if Path(place).is_dir()]
    # The course's own folder first: these packages hold a link to the course that is tested from here.
    (packages / "shared.pth").write_text("\n".join([str(folder), *shared]) + "\n")
    return folder


@pytest.mark.nightly
@pytest.mark.skipif(sys.platform != "linux", reason="grading is for Linux")
def test_a_class_is_graded_and_the_next_command_runs_as_printed(course: Path) -> None:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    environment = {**kept, "OMP_NUM_THREADS": "1", "PATH": "/usr/bin:/bin", "HOME": str(course.parent)}

    def run(command: str) -> str:
        ended = subprocess.run(
            ["sh", "-c", command], cwd=course, env=environment, capture_output=True, text=True, check=False
        )
        assert ended.returncode == 0, ended.stderr + ended.stdout
        return ended.stdout

    said = run(f".venv/bin/python -m course grade {LESSON}")
    assert "graded 8, unchanged 0" in said
    where = run(".venv/bin/python -c 'import course, sys; print(course.__file__, sys.version)'")
    assert where.startswith(str(course)) and sys.version not in where
    printed = re.search(r"^report: +(.+)$", said, re.MULTILINE)
    assert printed is not None and printed[1] == ".venv/bin/python -m course report --course demo"
    run(printed[1])
    assert (course / "demo" / "report" / "index.html").exists()
