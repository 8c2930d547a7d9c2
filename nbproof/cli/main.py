"""The command line: which commands there are, and what becomes of their errors."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn

from nbproof import doors
from nbproof.command import (
    Command,
    Options,
    called_for,
    course_in,
    not_installed,
    option,
    pip_install,
    this_program,
    with_extra,
)
from nbproof.course_file import Course
from nbproof.errors import CourseError, UsageError, may_mean, refuse_unknown
from nbproof.interrupt import EXIT_CODE, told_to_stop

__all__ = ["BROUGHT_BY", "course_parser", "main"]

BROUGHT_BY = {
    "nbproof-grader": "grade feedback formgrader report isolation check-notebook bundle wheels site build check new adopt "
    "new-exercise",
    "nbproof-lms": "collect settle roster",
}
"""Distribution -> its commands, to be named where it is not installed."""

_CLOSED = 141
"""The exit code that a shell gives a program that wrote to a pipe after its reader had gone."""


def main(argv: list[str] | None, course: Course | UsageError) -> int:
    """Run one command; 0 if it succeeded, 1 if something failed, 2 for a wrong call, 130 if it was interrupted.

    ``course``: that of the commands, or why there is none. Only a command that needs none runs then.
    """
    if isinstance(course, Course):
        called_for(course)
    try:
        with doors.answerable():
            code = run_command(argv, course)
        sys.stdout.flush()  # here, where it is known what to say if nobody reads it
        return code
    except KeyboardInterrupt:
        return _interrupted()
    except ModuleNotFoundError as error:
        wanting = (error.name or "").partition(".")[0]
        has_own = isinstance(course, Course) and course.commands != "nbproof"
        if has_own or wanting in ("", "nbproof"):  # a course's package has words of its own
            raise
        print(
            "\n".join(UsageError(f"{wanting} is not installed", sys.executable, with_extra("grading")).lines()),
            file=sys.stderr,
        )
        return UsageError.exit_code
    except CourseError as error:
        if told_to_stop():
            return _interrupted()
        print("\n".join(error.lines()), file=sys.stderr)
        return error.exit_code
    except BrokenPipeError:
        # The reader, such as `head`, has enough. What Python itself writes at its end must find a place, too.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _CLOSED
    except (Exception, SystemExit):
        # Libraries make errors of their own of an interrupt that comes while they are imported or called.
        if told_to_stop():
            return _interrupted()
        raise


def _interrupted() -> int:
    print("interrupted; run the same command again to go on", file=sys.stderr)
    return EXIT_CODE


class _Once(argparse.Action):
    """An option with one value. It refuses a second value: argparse would drop the first one without a word."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        if option_string and getattr(namespace, self.dest, self.default) not in (self.default, values):
            raise argparse.ArgumentError(self, "given twice, and one value counts: run the command once for each")
        setattr(namespace, self.dest, values)


class _Parser(argparse.ArgumentParser):
    """A parser with such options. Its subcommands have parsers of this kind, too."""

    def __init__(self, *args: Any, **how: Any) -> None:
        super().__init__(*args, **how)
        self.register("action", None, _Once)

    def error(self, message: str) -> NoReturn:
        """Raise UsageError. What argparse misses is the last word of a call, and another one may be left out."""
        order = [str(one.metavar or one.dest) for one in self._get_positional_actions()]
        if order[1:] and message.endswith(f"are required: {order[-1]}"):
            message += f"; that, or a word before it, is missing: the order is {' '.join(order)}"
        message = message.replace("invalid int value:", "no whole number:")
        message = message.replace("invalid float value:", "no number:")
        raise UsageError(message, self.prog, f"{self.prog} --help")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None:
            what = "command"
            if action.option_strings:
                what = f"value of {'/'.join(action.option_strings)}"
            refuse_unknown([value], what, list(action.choices), self.prog)


def course_parser(course: Course | UsageError) -> argparse.ArgumentParser:
    """What reads the command line: every command with its options."""
    parser = _Parser(prog=this_program(), description=_says(course))
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for one in _commands():
        command = commands.add_parser(one.name, help=one.says, description=one.says)
        if one.needs_course:
            # A command that was printed may have it already.
            says = "the course's folder (default: this one)"
            command.add_argument("--course", action="store", type=Path, default=Path(), help=says)
        else:
            command.set_defaults(course=Path())
        one.add_arguments(command)
        command.set_defaults(chosen=one, parser=command)
    return parser


def run_command(argv: list[str] | None, course: Course | UsageError) -> int:
    """Find the command, and run it; returns its exit code."""
    # An optional part of jsonschema that checks internationalised URLs: every import of nbformat would pay 0.8 s for it.
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
    words = sys.argv[1:] if argv is None else argv
    name, *_ = [*words, ""]
    for package in _absent():
        if name in BROUGHT_BY[package].split():
            error = not_installed(f"the command {name!r}", package)
            if isinstance(course, Course) and course.handed_out.is_dir():  # as learners get a course
                lab = f"{this_program()} lab, and run the check cells there"
                raise UsageError(error.fact, error.place, f"{lab}; teachers install it: {error.next_command}")
            raise error
    parser = course_parser(course)
    if name.startswith("-") and name not in ("-h", "--help"):
        raise UsageError(
            f"{name} is no command: a call begins with one, and options stand behind it",
            parser.prog,
            f"{parser.prog} --help",
        )
    arguments, rest = parser.parse_known_args(argv)
    if rest and not arguments.chosen.passes_on:
        near = may_mean(rest[0], arguments.parser._option_string_actions)
        if not rest[0].startswith("-"):
            near = "; a name or a text of several words needs quotation marks, such as 'Ada King'"
        then = f"{arguments.parser.prog} --help"
        if absent := list(_absent()):
            near += f"; more come with {' and '.join(absent)}"
            then = f"{then}; or {pip_install(*absent)}"
        raise UsageError(f"unrecognized arguments: {' '.join(rest)}{near}", arguments.parser.prog, then)
    arguments.rest = rest
    if isinstance(course, UsageError) and arguments.chosen.needs_course:
        raise course
    arguments.works_for = course
    if not arguments.course.is_dir():
        raise UsageError(
            "there is no such folder", str(arguments.course.absolute()), "name the course's own: --course FOLDER"
        )
    with course_in(arguments.course):
        return int(arguments.chosen.run(arguments))


def _says(course: Course | UsageError) -> str:
    if isinstance(course, Course):
        return f"{course.says}. Each command explains itself: COMMAND --help"
    return "Checks, feedback and grading for an nbgrader course. Each command explains itself: COMMAND --help"


def _commands() -> list[Command]:
    found = list(COMMANDS)
    absent = list(_absent())
    if "nbproof-lms" not in absent:
        from nbproof_lms.commands import COMMANDS as NEXT_DOOR

        found += NEXT_DOOR
    if "nbproof-grader" not in absent:
        from nbproof.cli.authors import COMMANDS as OF_AUTHORS
        from nbproof.cli.instructors import COMMANDS as OF_INSTRUCTORS

        found += [*OF_INSTRUCTORS, *OF_AUTHORS]
    return [*found, *_from_next_door({one.name for one in found})]


def _absent() -> Iterator[str]:
    """The distributions that are not installed, of those that bring commands."""
    # What learners are handed has neither graders nor authors in it.
    has_grader = (Path(__file__).parent.parent / "sandbox").is_dir()
    if not has_grader:
        yield "nbproof-grader"
    if not has_grader or find_spec("nbproof_lms") is None:
        yield "nbproof-lms"


def _from_next_door(taken: set[str]) -> Iterator[Command]:
    """The commands of other packages. One that cannot be had is named, and the others work.

    ``taken``: names that are not free.
    """
    place = f"entry points {doors.COMMANDS.group}"
    for name in sorted(doors.COMMANDS.installed()):
        try:
            command = doors.COMMANDS.load(name, place)
        except UsageError as error:
            print(f"! {error.fact}", file=sys.stderr)
            continue
        if name in taken:
            package = doors.package_of(doors.COMMANDS.installed()[name][0])
            print(f"! {package} has a command {name!r}, and there is one: the package's is left out", file=sys.stderr)
        elif isinstance(command, Command) and command.name == name:
            yield command
        else:
            print(f"! what is installed as the command {name!r} is none: {command!r:.60}", file=sys.stderr)


def _lab_arguments(command: argparse.ArgumentParser) -> None:
    # No positional argument: argparse would take the value of JupyterLab's option for it, as in `--port 8899`.
    command.usage = f"{command.prog} [-h] [--course COURSE] [LESSON] [JupyterLab's options]"
    command.epilog = (
        "LESSON: the lesson (default: the first). Every other option goes to JupyterLab, such as --no-browser or --port "
        "8899."
    )


def _lab(arguments: argparse.Namespace) -> int:
    from nbproof.display.lab import open_lab

    lesson, rest = None, arguments.rest
    if rest and not rest[0].startswith("-"):
        lesson, *rest = rest
    return open_lab(arguments.works_for, arguments.course, lesson, rest)


_PROGRESS = Options(
    (
        option("--forget", action="store_true", help="delete the progress that is kept, and start afresh"),
        option("--yes", action="store_true", help="do not ask"),
    )
)


def _progress(arguments: argparse.Namespace) -> int:
    from nbproof.display.diary import DiaryError, diary_path, forget, overview, text_of
    from nbproof.terminal import agreed, console_for_output, say

    course = arguments.works_for
    if not arguments.forget:
        say(console_for_output(), text_of(overview(course)))
        return 0
    path = diary_path(course)
    if not os.path.exists(path):
        print(f"nothing was kept at {path}")
        return 0
    print(f"{path}, for every folder of this course: {overview(course).total}")
    if not arguments.yes and not agreed("delete it?", "progress --forget"):
        print("nothing was deleted")
        return 1
    try:
        forget(course)
    except DiaryError as error:
        raise UsageError(str(error), str(path), "delete the file yourself") from None
    print(f"deleted {path}")
    return 0


COMMANDS = (
    Command("lab", _lab, "open a lesson in JupyterLab", _lab_arguments, passes_on=True),
    Command("progress", _progress, "show what you have solved and tried, and where to go on", _PROGRESS),
)
