"""Open a lesson in JupyterLab, in a folder of the learner's own."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import shutil
import sys
from collections.abc import Collection
from pathlib import Path

from jupyter_core.paths import jupyter_config_dir, jupyter_data_dir, jupyter_runtime_dir
from platformdirs import user_config_path

from nbproof.command import course_command, this_python
from nbproof.course_file import the_course
from nbproof.display.progress import diary_path
from nbproof.errors import UsageError

_INSTEAD = Path(".course") / "home"
"""In the course's folder: what a home folder holds that cannot be written."""

_SOCKET_PATH = 103
"""Bytes that the path of a socket may have on every system; with more, no kernel starts."""
_SOCKET_NAME = len("/kernel-00000000-0000-0000-0000-000000000000-ipc-5")

__all__ = [
    "OF_TEACHERS",
    "SETTINGS",
    "folders_instead_of_home",
    "lesson_in",
    "open_lab",
    "prepare_workspace",
    "released_lessons",
    "start_server",
]

SETTINGS = {
    # No pop-ups about news and updates: a learner came for the lesson.
    "@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False},
    # Code that is wider than the window goes on in the next line, instead of out of sight.
    "@jupyterlab/notebook-extension:tracker": {"codeCellConfig": {"lineWrap": True}},
}

OF_TEACHERS = ("create-assignment", "formgrader", "course-list", "assignment-list", "menu")
"""Panels and menus of nbgrader that a learner alone has no use for. Its Validate button stays."""


def released_lessons(root: Path) -> list[str]:
    """The lessons in release/, in order, or those of the installed package. Raises UsageError if there are none."""
    place = the_course().released_in(root)
    found = sorted(path.stem for path in place.glob("*/*.ipynb") if path.stem == path.parent.name)
    if not found:
        cure = (
            course_command("build")
            if (root / "lessons").is_dir()
            else "cd into the course's folder, or add --course FOLDER"
        )
        raise UsageError("no released lessons here", str((root / "release").resolve()), cure)
    return found


def prepare_workspace(root: Path) -> Path:
    """Copy released lessons into learn/ if they are not there yet; what a learner has is never overwritten."""
    for name in released_lessons(root):
        copy = root / "learn" / name / f"{name}.ipynb"
        try:
            if not copy.exists():
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(the_course().released_in(root) / name / f"{name}.ipynb", copy)
        except OSError as error:
            raise UsageError(
                f"your copies of the lessons cannot be written: {error.strerror}",
                str(copy.parent.resolve()),
                "let your user write there, or copy the course's folder to where you may write",
            ) from None
    return root / "learn"


def folders_instead_of_home(root: Path) -> dict[str, str]:
    """Environment variables for those of a user's folders that cannot be written: such lie in the course instead.

    Empty if all is well. Raises UsageError if the course's folder cannot be written either.
    """
    wanted = {
        "JUPYTER_CONFIG_DIR": Path(jupyter_config_dir()),
        "JUPYTER_DATA_DIR": Path(jupyter_data_dir()),
        "JUPYTER_RUNTIME_DIR": Path(jupyter_runtime_dir()),
        "IPYTHONDIR": Path(os.environ.get("IPYTHONDIR") or Path("~/.ipython").expanduser()),
        "MPLCONFIGDIR": Path(os.environ.get("MPLCONFIGDIR") or user_config_path("matplotlib")),
        "COURSE_PROGRESS": diary_path().parent,
    }
    here = (root / _INSTEAD).resolve()
    instead = {name: here / name.lower() for name, place in wanted.items() if not _can_be_written(place)}
    for place in instead.values():
        if not _can_be_written(place):
            raise UsageError(
                "neither your home folder nor the course's can be written",
                str(here),
                "let your user write there, or set HOME to a folder where you may write",
            )
    return {name: str(place / "progress.db" if name == "COURSE_PROGRESS" else place) for name, place in instead.items()}


def _can_be_written(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK | os.X_OK)


def lesson_in(words: list[str], lessons: Collection[str]) -> tuple[str | None, list[str]]:
    """The lesson that a call names, and what is JupyterLab's: what follows an option is its value, if no lesson is called so."""
    for at, word in enumerate(words):
        before = words[at - 1] if at else ""
        is_value = before.startswith("-") and "=" not in before
        if not word.startswith("-") and (word in lessons or not is_value):
            return word, [*words[:at], *words[at + 1 :]]
    return None, words


def open_lab(root: Path, lesson: str | None, extra: list[str]) -> int:
    """Start JupyterLab on a lesson, by default the first; returns when it ends."""
    lessons = released_lessons(root)
    if lesson is not None and lesson not in lessons:
        raise UsageError(f"no lesson is called {lesson!r}", str(root / "release"), f"choose from: {', '.join(lessons)}")
    print(f"JupyterLab: opening {lesson or lessons[0]}", flush=True)
    if not (root / "release").is_dir():  # an installed course: a folder of the learner's own, wherever that is
        root = root / the_course().name
        print(f"your copies of the lessons lie in {(root / 'learn').resolve()}")
    prepare_workspace(root)
    name = lesson or lessons[0]
    return start_server(root, f"/lab/tree/learn/{name}/{name}.ipynb", extra, _for_learners(root))


def _for_learners(root: Path) -> Path:
    """A folder with settings for this start of JupyterLab alone: whoever teaches with this environment keeps the panels."""
    folder = root.resolve() / ".course" / "learner"
    hidden = {f"@jupyter/nbgrader:{name}": True for name in OF_TEACHERS}
    settings = {"page_config": {"disabledExtensions": hidden}, "default_setting_overrides": SETTINGS}
    with contextlib.suppress(OSError):  # without them a learner can work as well
        (folder / "labconfig").mkdir(parents=True, exist_ok=True)
        for name, data in settings.items():
            (folder / "labconfig" / f"{name}.json").write_text(json.dumps(data, indent=1), encoding="utf-8")
    return folder


def start_server(root: Path, page: str, extra: list[str], settings: Path | None = None) -> int:
    """Start JupyterLab in ``root`` and open ``page`` of it in the browser; returns when it ends.

    ``settings``: a folder of Jupyter's configuration that counts for this start, before all others.
    """
    if importlib.util.find_spec("jupyterlab") is None:
        raise UsageError("JupyterLab is not installed", sys.executable, f"{this_python()} -m pip install jupyterlab")
    arguments = [
        sys.executable,
        "-m",
        "jupyterlab",
        f"--ServerApp.root_dir={root.resolve()}",
        f"--LabApp.default_url={page}",
        *extra,
    ]
    if hasattr(os, "geteuid") and os.geteuid() == 0 and "--allow-root" not in extra:
        arguments.append("--allow-root")
    instead = folders_instead_of_home(root)
    if instead:
        print(f"your home folder cannot be written: Jupyter's settings lie in {(root / _INSTEAD).resolve()} instead")
    environment = os.environ | instead
    if settings is not None:
        paths = filter(None, (str(settings), environment.get("JUPYTER_CONFIG_PATH", "")))
        environment["JUPYTER_CONFIG_PATH"] = os.pathsep.join(paths)
    runtime = environment.get("JUPYTER_RUNTIME_DIR") or jupyter_runtime_dir()
    # Notebooks find the course even if its folder was moved since it was installed.
    packages = dict.fromkeys((str(the_course().root), str(Path(__file__).resolve().parents[2])))
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, (*packages, environment.get("PYTHONPATH", ""))))
    if os.name == "posix" and len(os.fsencode(runtime)) + _SOCKET_NAME <= _SOCKET_PATH:
        arguments.append("--KernelManager.transport=ipc")  # no port to race for, and no warning about TCP
    environment["PATH"] = os.path.dirname(sys.executable) + os.pathsep + environment.get("PATH", "")
    if os.name == "posix":
        os.chdir(root)
        sys.stdout.flush()
        os.execve(sys.executable, arguments, environment)  # noqa: S606 (Ctrl-C goes straight to JupyterLab)
    import subprocess

    return subprocess.call(arguments, cwd=root, env=environment)
