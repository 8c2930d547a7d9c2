"""Opens a lesson in JupyterLab, in a folder of the learner's own."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import re
import shlex
import shutil
import sys
from pathlib import Path

from nbproof.command import course_command, nbgrader_command, not_built, this_python
from nbproof.course_file import Course
from nbproof.errors import UsageError, disk_trouble, refuse_unknown

__all__ = [
    "SETTINGS",
    "open_lab",
    "prepare_workspace",
    "refuse_bad_port",
    "released_lessons",
    "start_server",
]

SETTINGS = {
    # No pop-ups about news and updates: a learner came for the lesson.
    "@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False},
    # Code that is wider than the window goes on in the next line, instead of out of sight.
    "@jupyterlab/notebook-extension:tracker": {"codeCellConfig": {"lineWrap": True}},
}

_OF_TEACHERS = ("create-assignment", "formgrader", "course-list", "assignment-list", "menu")
"""Panels and menus of nbgrader that learners do not need. Its Validate button stays."""


def released_lessons(course: Course, root: Path) -> list[str]:
    """The names of the lessons in ``root``/release, or in the installed package. Raises UsageError if there are none."""
    folder = course.released_in(root)
    lessons = sorted(path.stem for path in folder.glob("*/*.ipynb") if path.stem == path.parent.name)
    if not lessons:
        raise UsageError("no released lessons here", str((root / "release").resolve()), _how_to_release(root))
    return lessons


def _how_to_release(root: Path) -> str:
    """The next step for somebody who has no released lessons."""
    if (root / "lessons").is_dir():
        return course_command("build")
    names = [path.name for path in sorted(root.glob("source/*/"))]
    if not names:
        return "cd into the course's folder, or add --course FOLDER"
    command = nbgrader_command(shlex.join(["generate_assignment", names[0]]))
    return f"{command}, in the course's folder"


def prepare_workspace(course: Course, root: Path) -> Path:
    """Copy the released lessons into ``root``/learn, without those that are there already. Returns that folder."""
    for name in released_lessons(course, root):
        copy = root / "learn" / name / f"{name}.ipynb"
        with disk_trouble(
            UsageError,
            "your copies of the lessons cannot be written",
            copy.parent.resolve(),
            "move away what lies there and is no folder, or let your user write there",
        ):
            if not copy.exists():
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(course.released_in(root) / name / f"{name}.ipynb", copy)
    return root / "learn"


def open_lab(course: Course, root: Path, lesson: str | None, extra: list[str]) -> int:
    """Start JupyterLab on a lesson, by default the first one. Returns its exit code when it ends.

    ``extra``: more arguments for JupyterLab. Raises UsageError if there is no such lesson.
    """
    lessons = released_lessons(course, root)
    name = lesson or lessons[0]
    if name not in lessons and (root / "lessons" / name / "lesson.py").exists():
        raise not_built(root, name)
    refuse_unknown([name], "lesson", lessons, root / "release")
    refuse_bad_port(extra)
    print(f"JupyterLab: opening {name}", flush=True)
    if not (root / "release").is_dir():  # an installed course: a folder of the learner's own, wherever that is
        root = root / course.name
        print(f"your copies of the lessons lie in {(root / 'learn').resolve()}")
    prepare_workspace(course, root)
    return start_server(course, root, f"/lab/tree/learn/{name}/{name}.ipynb", extra, _for_learners(root))


def refuse_bad_port(extra: list[str]) -> None:
    """Raise UsageError if these arguments for JupyterLab name a port that is no number."""
    port = re.search(r"--(?:ServerApp\.)?port[= ](\S+)", " ".join(extra))
    if port and not port[1].isdecimal():
        raise UsageError(f"{port[1]!r} is no port", "--port", "name a number, such as --port 8899")


def _for_learners(root: Path) -> Path:
    """Write a folder with settings for this start of JupyterLab alone: teachers who use this environment keep the panels."""
    folder = root.resolve() / ".course" / "learner"
    hidden = {f"@jupyter/nbgrader:{name}": True for name in _OF_TEACHERS}
    settings = {"page_config": {"disabledExtensions": hidden}, "default_setting_overrides": SETTINGS}
    with contextlib.suppress(OSError):  # without them a learner can work as well
        (folder / "labconfig").mkdir(parents=True, exist_ok=True)
        for name, data in settings.items():
            (folder / "labconfig" / f"{name}.json").write_text(json.dumps(data, indent=1), encoding="utf-8")
    return folder


def start_server(course: Course, root: Path, page: str, extra: list[str], settings: Path | None = None) -> int:
    """Start JupyterLab in ``root`` and open its ``page`` in the browser. Returns its exit code when it ends.

    ``extra``: more arguments for JupyterLab. ``settings``: a folder of Jupyter's configuration for this start, before all
    others.
    """
    if importlib.util.find_spec("jupyterlab") is None:
        raise UsageError("JupyterLab is not installed", sys.executable, f"{this_python()} -m pip install jupyterlab")
    arguments = [
        sys.executable,
        "-m",
        "jupyterlab",
        f"--ServerApp.root_dir={root.resolve()}",
        f"--LabApp.default_url={page}",
        "--Application.log_level=ERROR",  # below the address stands only what went wrong
        *extra,
    ]
    if hasattr(os, "geteuid") and os.geteuid() == 0 and "--allow-root" not in extra:
        arguments.append("--allow-root")
    environment = dict(os.environ)
    if settings is not None:
        paths = filter(None, (str(settings), environment.get("JUPYTER_CONFIG_PATH", "")))
        environment["JUPYTER_CONFIG_PATH"] = os.pathsep.join(paths)
    # Notebooks find the course even if its folder was moved since it was installed.
    packages = dict.fromkeys((str(course.root), str(Path(__file__).resolve().parents[2])))
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, (*packages, environment.get("PYTHONPATH", ""))))
    environment["PATH"] = os.path.dirname(sys.executable) + os.pathsep + environment.get("PATH", "")
    if os.name == "posix":
        os.chdir(root)
        sys.stdout.flush()
        os.execve(sys.executable, arguments, environment)  # noqa: S606 (Ctrl-C goes straight to JupyterLab)
    import subprocess

    return subprocess.call(arguments, cwd=root, env=environment)
