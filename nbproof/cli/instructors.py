"""The commands of instructors, and of people who study from a clone: arguments in, one call, words out."""

from __future__ import annotations

import argparse
import gc
import shlex
import sys
import time
from pathlib import Path

from nbproof.command import Command, Options, course_command, option
from nbproof.errors import UsageError, may_mean
from nbproof.nbgrader.next_door import EXPORTS, HANDING_BACK, READING, reading_of
from nbproof.places import places
from nbproof.sandbox.isolation import Isolation, isolation_or_refuse, offered

__all__ = ["COMMANDS"]


def _positive(text: str) -> int:
    if text.isdecimal() and 0 < int(text) <= 1000:
        return int(text)
    raise argparse.ArgumentTypeError(f"a number from 1 to 1000 is wanted, not {text!r}")


_GRADE = Options(
    (
        option("names_of_lessons", nargs="*", metavar="LESSON", help="lessons (default: all that were handed in)"),
        option(
            "--only",
            action="append",
            default=[],
            metavar="NAME",
            help="only this learner, by id or name, or learner/lesson; * and ? are wildcards; may be repeated",
        ),
        option("--force", action="store_true", help="also grade what did not change"),
        option("--workers", type=_positive, metavar="N", help="submissions graded at a time (default: one per core)"),
        option(
            "--pool",
            default="",
            metavar="NAME[:ADDRESS]",
            help="where submissions are marked: a pool of an installed package (docs/doors.md; default: local, this machine)",
        ),
        option("--seed", type=int, help="test cases of an earlier run (default: fresh ones)"),
        option("--quiet", action="store_true", help="print only what went wrong, and one last line"),
        option(
            "--json", metavar="FILE", help="also write all results, as JSON; - is standard output (docs/grade_json.md)"
        ),
        option("--all", action="store_true", help="print every learner of a large class"),
        option("--no-feedback", action="store_true", help="write no feedback pages"),
        option(
            "--isolation",
            choices=("full", "reduced"),
            help="demand this level (default: the best there is; docs/engine.md, 'Isolation')",
        ),
        option("--unsafe", action="store_true", help="go on without isolation if the machine offers none"),
        option("--anyway", action="store_true", help="also grade a lesson if its reference answers lose marks here"),
    ),
    "Exit code 0: everything that was handed in is graded, or settled; 1: something could not be, and is listed; 2: a wrong "
    "call; 130: interrupted. A run that was interrupted, or killed, goes on when it is started again.",
)
_UPLOADS = option(
    "--from",
    dest="uploads",
    action="append",
    default=[],
    type=Path,
    metavar="PATH",
    help="collect this folder or zip, then grade; may be repeated",
)


def _grade_arguments(command: argparse.ArgumentParser) -> None:
    _GRADE(command)
    upload = command.add_argument_group("an upload first, as the command `collect` takes it")
    for names, how in (_UPLOADS, *READING):
        upload.add_argument(*names, **how)


def _grade(arguments: argparse.Namespace) -> int:
    if not (arguments.uploads or arguments.fetch) and any(reading_of(arguments).values()):
        raise UsageError(
            "--lesson, --names and --learner say how to read an upload, and there is none",
            course_command("grade"),
            f"add --from PATH; to grade one lesson only: {course_command('grade LESSON')}",
        )
    from nbproof.cli.head_start import head_start

    with head_start(arguments) as launched:
        gc.disable()  # there is no garbage in what is imported, and looking for it takes a tenth of the time
        from nbproof.cli.grade_command import grade

        gc.enable()
        return grade(arguments, launched)


_FEEDBACK = Options(
    (
        option("names", nargs="*", metavar="LEARNER", help="learners, by id or name (default: all that were graded)"),
        option("--lesson", action="append", default=[], help="only this lesson; may be repeated"),
        option("--force", action="store_true", help="also write, or hand back, what did not change"),
        *HANDING_BACK,
    ),
    "Grading writes feedback too. This is for afterwards: when people have given marks and comments in formgrader. "
    "Only pages with a change are written. Exit code 1: a page could not be written, or nothing says "
    "where it is to be handed back, and it is listed; pages that another LMS takes are no trouble.",
)


def _feedback(arguments: argparse.Namespace) -> int:
    from nbproof.terminal import progress

    with progress("feedback"):
        from nbproof.nbgrader.next_door import find_learners, hand_back_pages, late_by_lms
        from nbproof.run.batch import follow_marks

        hindered, moved = follow_marks(arguments.course, late_by_lms(arguments.course))
        arguments.names = find_learners(arguments.course, arguments.names, "feedback")
    for error in hindered:
        print("\n".join(error.lines()), file=sys.stderr)
    for line in moved:
        print(line, file=sys.stderr)
    failed = hand_back_pages(arguments) if arguments.target else _write_pages(arguments)
    return 1 if failed or hindered else 0


def _write_pages(arguments: argparse.Namespace) -> int:
    """Write the pages that have changed, and say what waits; 1 if one could not be written."""
    from nbproof.terminal import progress

    start = time.perf_counter()
    with progress("feedback") as step:
        from nbproof.feedback.pages import chosen_submissions, print_feedback, write_feedback
        from nbproof.nbgrader.next_door import background_of
        from nbproof.report.records import outdated, read_class, up_to_date
        from nbproof.report.statistics import marker_lines
        from nbproof.run.journal import problems_of
        from nbproof.text import printable

        pairs = chosen_submissions(arguments.course, arguments.names, arguments.lesson)
        # What was handed in last may be what could not be graded, over a verdict on what came before.
        problems = {key: one.problem for key, one in problems_of(arguments.course).items() if key in set(pairs)}
        background = background_of(arguments.works_for, arguments.course)
        results = read_class(arguments.works_for, arguments.course, arguments.lesson, background=background)
        pairs, held = up_to_date(results, pairs), results.marks
        feedback = write_feedback(
            arguments.works_for, arguments.course, pairs, step, problems=problems, force=arguments.force
        )
    marked = marker_lines([held[key] for key in pairs if key in held], arguments.course)
    asked = (*map(printable, outdated(results, arguments.names)), *marked)
    print_feedback(feedback, places(arguments.course).base("feedback"), time.perf_counter() - start, asked)
    return 1 if feedback.failed else 0


_FORMGRADER = Options(
    epilog="Runs until Ctrl-C. Every option that is not listed goes to JupyterLab, such as --no-browser or --port=8899. "
    "Marks and comments stay when you grade again; the command `feedback` puts them on the learners' pages."
)


def _formgrader(arguments: argparse.Namespace) -> int:
    from nbproof.nbgrader.formgrader import open_formgrader

    return open_formgrader(arguments.works_for, arguments.course, arguments.rest)


_REPORT = Options(
    (
        option("names", nargs="*", metavar="LESSON", help="lessons (default: all that were handed in)"),
        option(
            "--out", type=Path, metavar="DIR", help="where to write (default: report/; of named lessons a folder there)"
        ),
        *EXPORTS,
        option(
            "--format",
            action="append",
            default=[],
            dest="formats",
            metavar="NAME",
            help="also write the report as a format of an installed package (docs/doors.md); may be repeated",
        ),
        option("--excel", action="store_true", help="CSV files with the mark that Excel needs to read UTF-8"),
        option("--json", action="store_true", help="print report.json instead of the table"),
    ),
    "Nothing is graded, nothing handed in is changed. Name the exports of two LMSs together, if a class is in both. Exit "
    "code 0: all is written; 1: something is missing in it, a learner or a lesson, and is listed; 2: a wrong call.",
)


def _report(arguments: argparse.Namespace) -> int:
    from nbproof.terminal import progress

    with progress("reading"):
        from nbproof.cli.report_command import report
    return report(arguments)


_ISOLATION = Options(epilog="Exit code 0: full isolation; 1: reduced, or none.")


def _isolation(arguments: argparse.Namespace) -> int:
    reasons = dict(offered())
    for level, reason in reasons.items():
        answer = f"no: {reason}" if reason else "yes"
        print(f"{level.value} isolation:".ljust(19) + answer)
    if not all(reasons.values()):
        print(f"a run begins with: {isolation_or_refuse()}")
    if reasons[Isolation.FULL]:
        print(
            "Full isolation needs user namespaces. How to allow them, and what each level holds: docs/engine.md, 'Isolation'"
        )
    return 1 if reasons[Isolation.FULL] else 0


_ALONE = Options(
    (
        option("notebook", metavar="FILE", help="the notebook, or a lesson's name for the one in learn/"),
        option("--seed", type=int, help="test cases of an earlier run (default: fresh ones)"),
    ),
    "Nothing is written, nothing is sent. Exit code 0: every exercise is right; 1: not yet.",
)


def _alone(arguments: argparse.Namespace) -> int:
    from nbproof.cli.self_study import check_notebook, print_notebook
    from nbproof.run.intake import gradable_lessons

    start = time.perf_counter()
    root, file = arguments.course, Path(arguments.notebook)
    lessons = gradable_lessons(root, [])
    near = may_mean(arguments.notebook, lessons)
    if arguments.notebook in lessons:
        near, file = "", root / "learn" / arguments.notebook / f"{arguments.notebook}.ipynb"
    if len(inside := sorted(file.glob("*.ipynb"))) == 1:
        then = course_command(f"check-notebook {shlex.quote(str(inside[0]))}")
        raise UsageError("this is a folder, and the notebook lies in it", str(file.absolute()), then)
    if not file.is_file():
        choose = f"{course_command('lab LESSON')} makes one; lessons: {', '.join(lessons)}"
        raise UsageError(f"no notebook is called {arguments.notebook!r}{near}", str(file.absolute()), choose)
    print("checking", file=sys.stderr, flush=True)
    verdict = check_notebook(arguments.works_for, root, file, lessons, seed=arguments.seed)
    print_notebook(arguments.works_for, verdict, time.perf_counter() - start)
    return 0 if all(exercise.status == "passed" for exercise in verdict.exercises) else 1


COMMANDS = (
    Command("grade", _grade, "grade submitted/ (if it is empty: a simulated class, in demo/)", _grade_arguments),
    Command(
        "feedback", _feedback, "update feedback pages with marks and comments of people; hand them back", _FEEDBACK
    ),
    Command(
        "formgrader",
        _formgrader,
        "mark written answers, and see what is graded, in the browser",
        _FORMGRADER,
        passes_on=True,
    ),
    Command("report", _report, "write the class report: page, CSV, JSON, grade files for Canvas and Moodle", _REPORT),
    Command("isolation", _isolation, "show how far this machine can isolate submissions, and why", _ISOLATION),
    Command("check-notebook", _alone, "check one notebook of your own, with the hidden tests too", _ALONE),
)
