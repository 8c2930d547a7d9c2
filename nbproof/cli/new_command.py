"""What ``new`` and ``new-exercise`` say: what was made, and the next command."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

from nbproof.command import Command, course_command, this_python

__all__ = ["COMMANDS"]


def _new_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("folder", type=Path, metavar="FOLDER", help="where: a new folder, or one without a course")
    command.add_argument("--title", default="", help="what the course is called (default: as the folder)")
    command.add_argument(
        "--leaves", action="append", default=[], choices=("torch", "numpy"),
        help="a library whose values exercises compare, besides Python's own; may be given again",
    )  # fmt: skip
    command.epilog = "It makes one lesson with one exercise, which is graded as it stands. Nothing is ever overwritten."


def _new(arguments: argparse.Namespace) -> int:
    from nbproof.authoring.new import FIRST, new_course

    made = new_course(arguments.folder, arguments.title, list(dict.fromkeys(arguments.leaves)))
    print(f"made {arguments.folder}: {len(made)} files, one lesson ({FIRST[0]}) with one exercise ({FIRST[1]})")
    # The command is for another folder: there, a relative path to the interpreter leads nowhere.
    python = this_python() if "/" not in this_python() else str(Path(this_python()).absolute())
    there = shlex.quote(str(arguments.folder))
    print(f"next: cd {there} && {python} -m nbproof build && {python} -m nbproof check")
    return 0


def _new_exercise_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("lesson", metavar="LESSON", help="the folder below lessons/")
    command.add_argument("name", metavar="NAME", help="the exercise's id: letters a-z, digits and _")
    command.add_argument("--title", default="", help="of its heading (default: as the name)")
    command.epilog = (
        "It is complete, a small exercise about words: change it piece by piece into yours. Nothing is overwritten."
    )


def _new_exercise(arguments: argparse.Namespace) -> int:
    from nbproof.authoring.new import new_exercise

    made, left = new_exercise(arguments.course, arguments.lesson, arguments.name, arguments.title)
    print(f"added to {made[0]}: prose, a TODO cell and a check cell, behind those of the last exercise")
    print(f"made {made[1].parent}: " + ", ".join(path.name for path in made[1:]))
    for one in left:
        print(f"to do: {one.fact}\n  at:   {one.place}")
    print(f"next: {course_command('build')}, then: {course_command(f'check {arguments.name}')}")
    return 0


COMMANDS = (
    Command("new", _new, "make a course with one lesson that works", _new_arguments, needs_course=False),
    Command("new-exercise", _new_exercise, "add an exercise that holds to a lesson", _new_exercise_arguments),
)
