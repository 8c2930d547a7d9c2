"""Open a lesson in JupyterLab, in a folder of the learner's own."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

from jupyter_core.paths import jupyter_runtime_dir

from course.errors import UsageError

_SOCKET_PATH = 103
"""Bytes that the path of a socket may have on every system; with more, no kernel starts."""
_SOCKET_NAME = len("/kernel-00000000-0000-0000-0000-000000000000-ipc-5")

__all__ = ["open_lab", "prepare_workspace", "released_lessons", "start_server"]

_SETTINGS = {
    # No pop-ups about news and updates: a learner came for the lesson.
    "@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False},
    # Code that is wider than the window goes on in the next line, instead of out of sight.
    "@jupyterlab/notebook-extension:tracker": {"codeCellConfig": {"lineWrap": True}},
}


def released_lessons(root: Path) -> list[str]:
    """The lessons in release/, in order. Raises UsageError where there are none."""
    found = sorted(path.stem for path in (root / "release").glob("*/*.ipynb") if path.stem == path.parent.name)
    if not found:
        raise UsageError("no released lessons here", str((root / "release").resolve()), "make build")
    return found


def prepare_workspace(root: Path) -> Path:
    """Copy released lessons into learn/ where they are not there yet; what a learner has is never overwritten."""
    for name in released_lessons(root):
        copy = root / "learn" / name / f"{name}.ipynb"
        if not copy.exists():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(root / "release" / name / f"{name}.ipynb", copy)
    return root / "learn"


def _is_ours(overrides: Path) -> bool:
    """Whether the file is missing, or was written by an earlier version of this course."""
    try:
        return set(json.loads(overrides.read_text(encoding="utf-8"))) <= set(_SETTINGS)
    except FileNotFoundError:
        return True
    except (OSError, ValueError, TypeError):
        return False


def open_lab(root: Path, lesson: str | None, extra: list[str]) -> int:
    """Start JupyterLab on a lesson, by default the first; returns when it ends."""
    lessons = released_lessons(root)
    if lesson is not None and lesson not in lessons:
        raise UsageError(f"no lesson is called {lesson!r}", str(root / "release"), f"choose from: {', '.join(lessons)}")
    prepare_workspace(root)
    name = lesson or lessons[0]
    settings = Path(sys.prefix) / "share" / "jupyter" / "lab" / "settings"
    if sys.prefix != sys.base_prefix and _is_ours(settings / "overrides.json"):
        # Only in an environment of our own; a Jupyter that serves other courses keeps its settings.
        settings.mkdir(parents=True, exist_ok=True)
        (settings / "overrides.json").write_text(json.dumps(_SETTINGS, indent=1), encoding="utf-8")
    return start_server(root, f"/lab/tree/learn/{name}/{name}.ipynb", extra)


def start_server(root: Path, page: str, extra: list[str]) -> int:
    """Start JupyterLab in ``root`` and open ``page`` of it in the browser; returns when it ends."""
    arguments = [
        sys.executable, "-m", "jupyterlab", f"--ServerApp.root_dir={root.resolve()}",
        f"--LabApp.default_url={page}", *extra,
    ]  # fmt: skip
    if hasattr(os, "geteuid") and os.geteuid() == 0 and "--allow-root" not in extra:
        arguments.append("--allow-root")
    environment = dict(os.environ)
    if os.name == "posix" and len(os.fsencode(jupyter_runtime_dir())) + _SOCKET_NAME <= _SOCKET_PATH:
        arguments.append("--KernelManager.transport=ipc")  # no port to race for, and no warning about TCP
    environment["PATH"] = os.path.dirname(sys.executable) + os.pathsep + environment.get("PATH", "")
    if os.name == "posix":
        os.chdir(root)
        os.execve(sys.executable, arguments, environment)  # noqa: S606 (Ctrl-C goes straight to JupyterLab)
    import subprocess

    return subprocess.call(arguments, cwd=root, env=environment)
