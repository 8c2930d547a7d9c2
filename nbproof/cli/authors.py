"""The commands of authors: arguments in, one call, words out."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Callable
from pathlib import Path

from nbproof.command import Command, course_command, this_python
from nbproof.errors import CourseError
from nbproof.text import counted

__all__ = ["COMMANDS"]


def _bundle_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("names", nargs="*", metavar="LESSON", help="lessons (default: all that are released)")
    command.add_argument(
        "--out", type=Path, metavar="FILE", help="the zip to write (default: named after the course, in its folder)"
    )


def _bundle(arguments: argparse.Namespace) -> int:
    from nbproof.terminal import progress

    with progress("making the zip, and searching it for answers"):
        from nbproof.authoring.bundle import bundle

        made = bundle(arguments.course, arguments.names, arguments.out)
    print(f"{made.path}: {counted(len(made.lessons), 'lesson')}, {made.files} files, {made.size / 1e6:.1f} MB")
    print(f"searched for {made.searched_for:,} lines of solutions, hidden tests and other answers: none is in it")
    print("learners unpack it and open START.html")
    for error in made.left_out:
        _tell(error, "the zip has the others")
    return 1 if made.left_out else 0


def _wheels_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("--out", type=Path, metavar="FOLDER", help="the folder to write into (default: dist)")


def _wheels(arguments: argparse.Namespace) -> int:
    from nbproof.terminal import progress

    with progress("making wheels, and searching them for answers"):
        from nbproof.authoring.bundle import write_wheels

        made = write_wheels(arguments.course, arguments.out or arguments.course / "dist")
    for path in made:
        print(f"{path}: {path.stat().st_size / 1e3:,.0f} kB")
    print("the wheels, for learners, hold no hidden checks; to grade, or to study alone, unpack the zip where you work")
    return 0


def _site_arguments(command: argparse.ArgumentParser) -> None:
    _names("LESSON", "lessons (default: all)")(command)
    command.add_argument("--out", type=Path, metavar="FOLDER", help="the folder to write into (default: build/site)")


def _site(arguments: argparse.Namespace) -> int:
    # Before what takes seconds to import.
    print("site: running the lessons; what did not change is shown as before", file=sys.stderr, flush=True)
    from nbproof.terminal import progress

    with progress("site"):
        from nbproof.authoring.shown import Shown
        from nbproof.authoring.site import make_site

    def say(shown: Shown) -> None:
        took = "shown as before" if shown.seconds is None else f"{shown.seconds:.1f} s"
        print(f"{shown.slug}: {'! not run to its end' if shown.stopped else took}", flush=True)

    made = make_site(arguments.course, arguments.names, arguments.out, say, bar=progress)
    print(f"{made.home}: {made.pages} pages, {made.pictures} pictures, {made.size / 1e6:.1f} MB")
    print(f"searched for {made.searched_for:,} lines of solutions, hidden tests and other answers: none is in it")
    for error in made.flaws[:_SHOWN]:
        _tell(error, "the page is there as far as it goes")
    if len(made.flaws) > _SHOWN:
        print(f"! and {len(made.flaws) - _SHOWN} more of that kind")
    for slug, error in made.left_out.items():
        _tell(error, f"{slug} has no chapter")
    for slug, stopped in made.stopped.items():
        print(f"! {stopped.error.fact}; the chapter of {slug} says so, and shows what came before")
        print(f"  at:   {stopped.error.place}")
    for slug, stopped in made.stopped.items():
        which = f"{slug} (cell {stopped.cell})" if stopped.cell else slug
        print(f"not run to the end: {which}; next: {stopped.error.next_command} && {course_command('site')}")
    return 0 if made.whole else 1


_SHOWN = 5
"""Flaws of pages that are told one by one."""


def _tell(error: CourseError, made: str) -> None:
    """What failed, what there is all the same, where, and what to do next."""
    print(f"! {error.fact}; {made}\n  at:   {error.place}\n  next: {error.next_command}")


def _build(arguments: argparse.Namespace) -> int:
    from nbproof.terminal import progress

    with progress("building"):
        from nbproof.authoring.build import build

        changed = build(arguments.course, arguments.names)
    for path in changed:
        print(f"changed {path}")
    if not changed:
        print("nothing to change: all derived notebooks are up to date")
    return 0


def _check(arguments: argparse.Namespace) -> int:
    from nbproof.terminal import progress

    with progress("candidates") as step:
        from nbproof.authoring.checkup import check_up
        from nbproof.cli.contract_table import print_contract, print_redundant

        checkup = check_up(arguments.course, arguments.names, step)
    print_contract(checkup)
    if arguments.redundant:
        print_redundant(checkup)
    return 1 if checkup.violations else 0


def _check_arguments(command: argparse.ArgumentParser) -> None:
    _names("NAME", "lessons or exercises (default: all)")(command)
    command.add_argument(
        "--redundant", action="store_true", help="also list mutants that get the same hint for the same evidence"
    )


def _names(metavar: str, help_text: str) -> Callable[[argparse.ArgumentParser], None]:
    def add(command: argparse.ArgumentParser) -> None:
        command.add_argument("names", nargs="*", metavar=metavar, help=help_text)

    return add


def _new_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("folder", type=Path, metavar="FOLDER", help="a new folder, or one that holds no course yet")
    command.add_argument("--title", default="", help="the course's title (default: the folder's name)")
    command.add_argument(
        "--leaves", action="append", default=[], choices=("torch", "numpy"),
        help="a library whose values exercises compare, besides Python's own; may be repeated",
    )  # fmt: skip
    command.epilog = "It makes one lesson with one exercise, and both work as they stand. Nothing is ever overwritten."


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
    command.add_argument("--title", default="", help="the title in its heading (default: made from the name)")
    command.epilog = (
        "The new exercise is small and complete: change it into yours piece by piece. Nothing is overwritten."
    )


def _new_exercise(arguments: argparse.Namespace) -> int:
    from nbproof.authoring.new import new_exercise

    made, left = new_exercise(arguments.course, arguments.lesson, arguments.name, arguments.title)
    print(f"added to {made[0]}: prose, a TODO cell and a check cell, after those of the last exercise")
    print(f"made {made[1].parent}: " + ", ".join(path.name for path in made[1:]))
    for one in left:
        print(f"to do: {one.fact}\n  at:   {one.place}")
    print(f"next: {course_command('build')}, then: {course_command(f'check {arguments.name}')}")
    return 0


COMMANDS = (
    Command(
        "bundle", _bundle, "make the zip that learners get: lessons, course, and a page to start from", _bundle_arguments
    ),
    Command("wheels", _wheels, "make wheels of the tool and the course, to install without a clone", _wheels_arguments),
    Command("site", _site, "make a web site to read: the lessons and docs/, without answers", _site_arguments),
    Command("build", _build, "derive source/ and release/ from lessons/", _names("LESSON", "lessons (default: all)")),
    Command("check", _check, "prove the author contract", _check_arguments),
    Command("new", _new, "make a course with one lesson that works", _new_arguments, needs_course=False),
    Command("new-exercise", _new_exercise, "add a small, complete exercise to a lesson", _new_exercise_arguments),
)  # fmt: skip
