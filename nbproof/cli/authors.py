"""The commands of authors: arguments in, one call, words out."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from nbproof.command import Command

__all__ = ["COMMANDS"]


def _bundle_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("names", nargs="*", metavar="LESSON", help="lessons (default: all that are released)")
    command.add_argument(
        "--out", type=Path, metavar="FILE", help="the zip (default: named as the course, in its folder)"
    )


def _bundle(arguments: argparse.Namespace) -> int:
    from nbproof.authoring.bundle import bundle

    made = bundle(arguments.course, arguments.names, arguments.out)
    lessons = f"{len(made.lessons)} lesson{'s' * (len(made.lessons) != 1)}"
    print(f"{made.path}: {lessons}, {made.files} files, {made.size / 1e6:.1f} MB")
    print(f"searched for {made.searched_for:,} lines of solutions, hidden tests and other answers: none is in it")
    print("learners unpack it and open START.html")
    return 0


def _wheels_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("--out", type=Path, metavar="FOLDER", help="where they are written (default: dist)")


def _wheels(arguments: argparse.Namespace) -> int:
    from nbproof.authoring.bundle import write_wheels

    for path in write_wheels(arguments.course, arguments.out or arguments.course / "dist"):
        print(f"{path}: {path.stat().st_size / 1e6:.1f} MB")
    print(
        "the wheels are for learners, and hold no hidden checks; who grades, or studies alone, unpacks the zip where they work"
    )
    return 0


def _site_arguments(command: argparse.ArgumentParser) -> None:
    _names("LESSON", "lessons (default: all)")(command)
    command.add_argument("--out", type=Path, metavar="FOLDER", help="where it is written (default: build/site)")


def _site(arguments: argparse.Namespace) -> int:
    from nbproof.authoring.shown import Shown
    from nbproof.authoring.site import make_site

    def say(shown: Shown) -> None:
        took = "shown as before" if shown.seconds is None else f"{shown.seconds:.1f} s"
        print(f"{shown.slug}: {took}", flush=True)

    made = make_site(arguments.course, arguments.names, arguments.out, say)
    print(f"{made.home}: {made.pages} pages, {made.pictures} pictures, {made.size / 1e6:.1f} MB")
    print(f"searched for {made.searched_for:,} lines of solutions, hidden tests and other answers: none is in it")
    return 0


def _build(arguments: argparse.Namespace) -> int:
    from nbproof.authoring.build import build

    changed = build(arguments.course, arguments.names)
    for path in changed:
        print(f"changed {path}")
    if not changed:
        print("all derived notebooks were fresh")
    return 0


def _check(arguments: argparse.Namespace) -> int:
    from nbproof.authoring.checkup import check_up
    from nbproof.cli.contract_table import print_contract, print_redundant
    from nbproof.terminal.progress_bar import progress

    with progress("candidates") as step:
        checkup = check_up(arguments.course, arguments.names, step)
    print_contract(checkup)
    if arguments.redundant:
        print_redundant(checkup)
    return 1 if checkup.violations else 0


def _check_arguments(command: argparse.ArgumentParser) -> None:
    _names("NAME", "lessons or exercises (default: all)")(command)
    command.add_argument(
        "--redundant", action="store_true", help="list mutants that get the same hint for just the same evidence, too"
    )


def _names(metavar: str, help_text: str) -> Callable[[argparse.ArgumentParser], None]:
    def add(command: argparse.ArgumentParser) -> None:
        command.add_argument("names", nargs="*", metavar=metavar, help=help_text)

    return add


COMMANDS = (
    Command(
        "bundle", _bundle, "make the zip that learners get: lessons, course, a page to start from", _bundle_arguments
    ),
    Command("wheels", _wheels, "make wheels of tool and course, to be installed without a clone", _wheels_arguments),
    Command("site", _site, "make a web site of lessons and pages, to be read: no answers in it", _site_arguments),
    Command("build", _build, "derive source/ and release/ from lessons/", _names("LESSON", "lessons (default: all)")),
    Command("check", _check, "prove the author contract", _check_arguments),
)  # fmt: skip
