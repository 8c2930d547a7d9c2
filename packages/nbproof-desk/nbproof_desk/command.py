"""The command ``desk``."""

from __future__ import annotations

import argparse
import getpass
import os

from nbproof.command import Command, Options, course_command, formgrader_on_a_hub, option
from nbproof.errors import UsageError

__all__ = ["COMMAND"]


def _port(text: str) -> int:
    if text.isdecimal() and int(text) < 65_536:
        return int(text)
    raise argparse.ArgumentTypeError(f"a number from 0 to 65535 is wanted, not {text!r}")


_OPTIONS = Options(
    (
        option("--port", type=_port, default=0, help="where to listen on this machine (default: any free port)"),
        option("--no-browser", action="store_true", help="only print the address"),
        option("--marker", default="", metavar="NAME", help="who marks, for the journal (default: your user's name)"),
    ),
    "Runs until Ctrl-C, and listens on this machine alone. Marks and comments go into nbgrader's gradebook, as formgrader puts "
    "them there; each stands in .course/desk.jsonl as well, with its time and its marker. The command `feedback` puts them "
    "on the learners' pages.",
)


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container may run as a user without a name
        return f"user {os.getuid()}" if hasattr(os, "getuid") else "somebody"


def _desk(arguments: argparse.Namespace) -> int:
    if there := formgrader_on_a_hub():
        # It would listen where no browser of the hub's users comes to.
        raise UsageError("the desk has no page on a hub yet", "JUPYTERHUB_SERVICE_PREFIX", f"use formgrader: {there}")
    from nbproof.terminal import progress

    with progress("reading"):
        from nbproof.gradebook.reader import opened_gradebook
        from nbproof_desk.questions import Reader
        from nbproof_desk.server import Desk, serve

        root = arguments.course.resolve()
        with opened_gradebook(root) as book:
            is_graded = book is not None
        desk = Desk(Reader(arguments.works_for, root), arguments.marker or _user())
        if is_graded:
            desk.read()
        # The first page is to be there at once.
        answered = is_graded and [one for one in desk.reader.questions().values() if desk.views(one)]
        if not answered:
            fact = "nothing waits for a person: nothing is graded yet, or all of it by tests"
            raise UsageError(fact, str(root), course_command("grade"))
    return serve(desk, arguments.port, opens=not arguments.no_browser)


COMMAND = Command(
    "desk", _desk, "mark written answers and uncertain exercises, question by question, in the browser", _OPTIONS
)
