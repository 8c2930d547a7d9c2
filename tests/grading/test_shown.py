"""What a sealed process sees of the machine: what Python imports from, read-only all the way down, and nothing of people."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from nbproof.sandbox import namespaces as sandbox
from nbproof.sandbox import shown
from nbproof.sandbox.exceptions import NoIsolation
from nbproof.sandbox.launch import refuse_if_exposed
from nbproof.sandbox.namespaces import probe_isolation

ONE_CELL = Path(__file__).with_name("one_cell.py")
LOOK = """
import above, inner.below
print(above.NAME, inner.below.NAME)
for place in (@LIBS@ + "/x", @LIBS@ + "/inner/x", @LIBS@ + "/inner/deeper/x"):
    try: open(place, "w"); print("written")
    except OSError as error: print(error.strerror)
"""


@pytest.mark.nightly
@pytest.mark.skipif(bool(probe_isolation()), reason=f"the sandbox is NOT tested: {probe_isolation()}")
def test_packages_from_elsewhere_are_read_only_all_the_way_down(tmp_path: Path) -> None:
    # Root of a user namespace that maps no other user, as containers have it, with mounts below a folder of packages.
    libs = tmp_path / "my libs"
    (libs / "inner").mkdir(parents=True)
    (libs / "above.py").write_text("NAME = 'above'")
    script = (
        'mount -t tmpfs none "$0/inner" && mkdir "$0/inner/deeper" && mount -t tmpfs none "$0/inner/deeper" && '
        'touch "$0/inner/__init__.py" && echo "NAME = \'below\'" > "$0/inner/below.py" && exec "$@"'
    )
    look = LOOK.replace("@LIBS@", repr(str(libs)))
    ran = subprocess.run(
        ["unshare", "-Urm", "sh", "-c", script, str(libs), sys.executable, str(ONE_CELL), look],
        capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(libs)}, cwd="/",
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout) == ["above below\n" + 3 * "Read-only file system\n"]


def test_mounts_are_found_where_the_kernel_cannot_do_it_in_one_call(monkeypatch: pytest.MonkeyPatch) -> None:
    listed = (
        "36 35 98:0 / /shown/folder rw - ext3 /dev/root rw\n"
        "37 36 98:0 / /shown/folder/with\\040blank rw - ext3 /dev/root rw\n"
        "38 36 98:0 / /shown/folder-too rw - ext3 /dev/root rw\n"
    )
    monkeypatch.setattr(Path, "read_bytes", lambda path: listed.encode())
    assert sandbox._mounts_below("/shown/folder") == ["/shown/folder", "/shown/folder/with blank"]

    def refuse(name: str, *arguments: object) -> int:
        raise OSError(38, name)

    made: list[str] = []
    monkeypatch.setattr(sandbox, "call", refuse)
    monkeypatch.setattr(sandbox, "_read_only", made.append)
    sandbox._read_only_below("/shown/folder")
    assert made == ["/shown/folder", "/shown/folder/with blank"]


def test_what_python_imports_from_is_shown_and_nothing_of_people(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, course, work = tmp_path / "people" / "ada", tmp_path / "course", tmp_path / "work"
    packages = home / ".local" / "lib" / "python3.11" / "site-packages"
    modules, zipped = tmp_path / "modules" / "lib", tmp_path / "wheel.zip"
    for folder in (packages, course / "libs", course / "submitted" / "bob", work, modules, tmp_path / "people" / "bob"):
        folder.mkdir(parents=True)
    (course / "nbgrader_config.py").touch()
    zipped.touch()
    (tmp_path / "to_home").symlink_to(home)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(work)
    wanted = [packages, modules, zipped, course / "libs"]
    closed = [
        "",
        ".",
        "/",
        "/etc",
        "/home",
        "/proc/self",
        home,
        home.parent,
        tmp_path,
        tmp_path / "to_home",
        work,
        course,
    ]
    closed += [tmp_path / "people" / "bob", "/tmp", tmp_path / "not there"]
    monkeypatch.setattr(sys, "path", [str(path) for path in (*closed, *wanted, *closed)])
    assert shown.import_path() == [str(path) for path in wanted]
    assert set(map(str, wanted)) <= set(shown.visible_folders())
    assert not {str(path) for path in closed} & set(shown.visible_folders())


@pytest.mark.parametrize("part", ["submitted", "source/lesson", "autograded", ".."])
def test_a_course_that_would_be_shown_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: str) -> None:
    course = tmp_path / "outer" / "course"
    (course / "source" / "lesson").mkdir(parents=True)
    for name in ("submitted", "autograded"):
        (course / name).mkdir()
    monkeypatch.setattr(sys, "path", [str(course / part), *sys.path])
    with pytest.raises(NoIsolation):
        refuse_if_exposed(course)
