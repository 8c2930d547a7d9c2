"""The command line: arguments in, one call, words out."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

from course.errors import CourseError

__all__ = ["main"]


def main(argv: list[str] | None = None) -> int:
    """Run one command; 0 where it succeeded, 1 where something failed, 2 for a wrong call."""
    parser = argparse.ArgumentParser(prog="python -m course", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, run, help_text, add in (
        ("build", _build, "derive source/ and release/ from lessons/", _names("LESSON", "lessons (default: all)")),
        ("check", _check, "prove the author contract", _names("NAME", "lessons or exercises (default: all)")),
    ):
        command = commands.add_parser(name, help=help_text, description=help_text)
        add(command)
        command.set_defaults(run=run)
    arguments = parser.parse_args(argv)
    try:
        return int(arguments.run(arguments))
    except CourseError as error:
        print("\n".join(error.lines()), file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted; run the same command again to go on", file=sys.stderr)
        return 130


def _names(metavar: str, help_text: str) -> Callable[[argparse.ArgumentParser], None]:
    def add(command: argparse.ArgumentParser) -> None:
        command.add_argument("names", nargs="*", metavar=metavar, help=help_text)
        command.add_argument("--course", type=Path, default=Path(), help="the course's folder (default: this one)")

    return add


def _build(arguments: argparse.Namespace) -> int:
    from course.authoring.build import build

    changed = build(arguments.course, arguments.names)
    for path in changed:
        print(f"changed {path}")
    if not changed:
        print("all derived notebooks were fresh")
    return 0


def _check(arguments: argparse.Namespace) -> int:
    from course.authoring.contract import check_contract, check_release, select
    from course.reporting.table import print_contract, progress

    start = time.perf_counter()
    pairs = select(arguments.course, arguments.names)
    with progress("candidates") as step:
        records = check_contract(pairs, step)
    lessons = list({lesson.slug: lesson for lesson, _ in pairs}.values())
    named = set(arguments.names)
    whole = [lesson for lesson in lessons if not named or lesson.slug in named]
    violations = [violation for record in records for violation in record.violations]
    violations += check_release(arguments.course, whole)
    print_contract(records, violations, time.perf_counter() - start)
    return 1 if violations else 0
