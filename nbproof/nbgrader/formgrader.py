"""nbgrader's formgrader on this course, in the browser: look through graded notebooks, mark what people wrote."""

from __future__ import annotations

from pathlib import Path

from nbproof.command import course_command
from nbproof.display.lab import start_server
from nbproof.errors import UsageError
from nbproof.nbgrader_setup import course_config

__all__ = ["open_formgrader"]

# Handing out and fetching by nbgrader's exchange, a folder that all users of a machine share, is not what this course does.
_EXCHANGE = ("assignment_list", "course_list")


def open_formgrader(root: Path, extra: list[str]) -> int:
    """Start a Jupyter server in the course's folder and open formgrader; returns when it ends."""
    course_config(root)
    if not any(root.glob("source/*/*.ipynb")):
        raise UsageError(
            "there are no lessons to mark", f"{(root / 'source').resolve()} is empty", course_command("build")
        )
    if not any(root.glob("autograded/*/*/*.ipynb")):
        print(f"nothing is graded yet: formgrader shows the lessons, and submissions after `{course_command('grade')}`")
    print("nbgrader's exchange is not used: what formgrader says about it, and its Release and Collect, do not matter")
    off = [f"--ServerApp.jpserver_extensions=nbgrader.server_extensions.{name}=False" for name in _EXCHANGE]
    return start_server(root, "/formgrader", [*off, *extra])
