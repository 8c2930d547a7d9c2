"""The commands ``collect`` and ``roster``, for the command line: arguments in, one call, words out."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from nbproof.command import Command, Option, Options, course_command, option
from nbproof.errors import UsageError
from nbproof_lms.grade_files import NO_GRADE
from nbproof_lms.system import offered

__all__ = ["COMMANDS", "EXPORTS", "HANDING_BACK", "READING", "reading_of"]


READING = (
    option("--lesson", help="the lesson or assignment that it was handed in for (default: told by its content)"),
    option(
        "--names",
        type=Path,
        metavar="CSV",
        help="which names stand for which learner: a CSV with a column 'learner', Canvas's gradebook export, or "
        "Moodle's participants",
    ),
    option(
        "--learner",
        dest="learners",
        action="append",
        default=[],
        metavar="NAME",
        help="all of it is this learner's (id or name), and counts, also if names say other things; may be repeated, for a group",
    ),
    option(
        "--fetch",
        action="append",
        default=[],
        metavar="NAME:ADDRESS",
        help="have a system fetch what was handed in, such as one of an installed package (docs/doors.md); may be repeated",
    ),
)
"""How an upload is read, for `collect` and for `grade --from`."""

EXPORTS = (
    *(
        option(
            f"--{system.option}",
            dest=system.option,
            type=Path,
            metavar="CSV",
            help=f"fill this table that {system.name} wants grades in ({system.export})",
        )
        for system in offered().values()
        if system.export
    ),
    option(
        "--column",
        action="append",
        default=[],
        metavar="LESSON=COLUMN",
        help="which column of the export is a lesson's, where its name does not tell: name, or number as #6; repeatable",
    ),
    option(
        "--zero",
        action="append",
        default=[],
        choices=tuple(NO_GRADE),
        help="grade files give 0, not nothing, to those who handed in nothing (missing), or only what cannot be graded "
        "(ungraded; what was settled gets 0 anyway); a grade that the LMS has, or excused, stays; may be repeated",
    ),
)
"""The exports of an LMS that `report` fills."""

HANDING_BACK = (
    option(
        "--for",
        dest="target",
        choices=(*(one.option for one in offered().values() if one.upload), "folder"),
        help="hand back what is new or changed: one zip per lesson for Moodle's 'Upload multiple feedback files in a zip' or "
        "Canvas's 'Re-Upload Submissions'; or a CSV for a mail merge, which names the pages in feedback/",
    ),
)
"""How `feedback` hands pages back."""

_COLLECT = Options(
    (
        option(
            "paths",
            nargs="*",
            type=Path,
            metavar="PATH",
            help=f"a folder or a zip as an LMS hands it over ({', '.join(offered())}), or notebooks",
        ),
        *READING,
    ),
    "Nothing is changed or dropped: collected/ keeps all that came, byte for byte. "
    "Exit code 0: everything has its place; 1: something needs a person; 2: a wrong call.",
)


def reading_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """The options of :data:`READING` in a call, as ``nbproof_lms.collect`` takes them."""
    return {name: getattr(arguments, name) for name in ("lesson", "names", "learners", "fetch")}


def _collect(arguments: argparse.Namespace) -> int:
    from nbproof.run.journal import only_run
    from nbproof.terminal import progress
    from nbproof_lms import collect
    from nbproof_lms.collected_table import print_collected

    if not arguments.paths and not arguments.fetch:
        raise UsageError("nothing to collect is named", course_command("collect"), course_command("collect PATH"))
    with only_run(arguments.course), progress("collecting") as step:
        collected = collect(arguments.works_for, arguments.course, arguments.paths, **reading_of(arguments), step=step)
    print_collected(collected, arguments.course, arguments.paths, arguments)
    return 1 if collected.needs_person else 0


_LEARNERS = option("learners", nargs="+", metavar="NAME", help="learners: ids or names, as `roster` prints them")
_WHEN: dict[str, Any] = {
    "metavar": "WHEN",
    "help": "a day, as 2026-11-20: its last second; or '2026-11-20 18:00'. In UTC, or with a zone: +01:00, Europe/Berlin. "
    "'none' takes it away",
}
_LESSON = option("lesson", metavar="LESSON")
_COURSE = option("--course", type=Path, default=argparse.SUPPRESS, help="the course's folder (default: this one)")


def _roster_arguments(command: argparse.ArgumentParser) -> None:
    kinds = command.add_subparsers(dest="what", metavar="{add,import,due,extend,remove}")

    def kind(name: str, says: str, *given: Option) -> None:
        Options((*given, _COURSE))(kinds.add_parser(name, help=says, description=says))

    kind(
        "add",
        "put a learner on the roster",
        option("learner", metavar="NAME", help="the learner's id: the name of their folder in submitted/"),
        option("--name", default="", help="the learner's name, as people and file names have it"),
        option("--email", default="", help="the learner's e-mail address"),
        option("--also", action="append", default=[], metavar="OTHER", help="another name or id of theirs"),
    )
    kind(
        "import",
        "put everybody of a table on the roster",
        option("file", type=Path, metavar="FILE", help="a CSV as `collect --names` reads it"),
    )
    kind("due", "set when a lesson is due", _LESSON, option("when", nargs="+", **_WHEN))
    kind(
        "extend",
        "give learners more time for a lesson, whether they have handed in or not",
        _LEARNERS,
        _LESSON,
        option("when", nargs="+", **_WHEN),
    )
    kind(
        "remove",
        "take learners out of the course: folders, gradebook, roster. Says what will go, and asks",
        _LEARNERS,
        option(
            "--lesson", metavar="LESSON", default="", help="only what they have of this one: they stay in the class"
        ),
        option("--yes", action="store_true", help="do not ask"),
    )
    command.epilog = (
        "Alone, it prints the class, who has handed in what, due dates and extensions. The roster is roster.csv in the "
        "course's folder; `collect --names` and `grade --names` put their learners there. Exit code 0: done; 1: the answer was "
        "no; 2: a wrong call."
    )


def _roster(arguments: argparse.Namespace) -> int:
    from nbproof_lms.roster_command import run_roster

    return run_roster(arguments)


def _settle_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help="learner/lesson, a learner with all that waits, or a file's path in its upload; * and ? stand for what they do in "
        "file names (default: list what waits, and what is settled)",
    )
    how = command.add_mutually_exclusive_group()
    how.add_argument(
        "--open",
        dest="how",
        action="store_const",
        const="open",
        default="zero",
        help="seen, and left open: it counts nothing, not 0",
    )
    how.add_argument("--undo", dest="how", action="store_const", const="undo", help="ask about it again")
    command.epilog = (
        "Of what cannot be graded, is missing or uncertain, or has no place: no run asks about it again, and none ends with exit "
        "code 1 for it, until something else is handed in. Marks that were given stay. Exit code 0: done; 2: a wrong call."
    )


def _settle(arguments: argparse.Namespace) -> int:
    from nbproof_lms.settling import run_settle

    return run_settle(arguments)


COMMANDS = (
    Command("collect", _collect, "sort what an LMS handed over into submitted/, by learner and lesson", _COLLECT),
    Command("settle", _settle, "what cannot be graded was seen: no run asks about it again", _settle_arguments),
    Command(
        "roster",
        _roster,
        "show who belongs to the class; add, import, remove learners; set due dates",
        _roster_arguments,
    ),
)
