"""The command line: arguments in, one call, words out."""

from __future__ import annotations

import argparse
import contextlib
import sys
import time
from collections.abc import Callable
from pathlib import Path

from course.errors import CourseError, UsageError

__all__ = ["main"]


def main(argv: list[str] | None = None) -> int:
    """Run one command; 0 where it succeeded, 1 where something failed, 2 for a wrong call."""
    # An optional part of jsonschema that checks internationalised URLs: every import of nbformat would pay 0.8 s for it.
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
    parser = argparse.ArgumentParser(prog="python -m course", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, run, help_text, add in (
        ("lab", _lab, "open a lesson in JupyterLab", _lab_arguments),
        ("grade", _grade, "grade submitted/ (where it is empty: a simulated class)", _grade_arguments),
        ("formgrader", _formgrader, "mark written answers, and see what is graded, in the browser", _formgrader_arguments),
        ("check-notebook", _alone, "check one notebook of your own, with the hidden tests too", _alone_arguments),
        ("progress", _progress, "what you have solved, tried, and where to go on", _progress_arguments),
        ("build", _build, "derive source/ and release/ from lessons/", _names("LESSON", "lessons (default: all)")),
        ("check", _check, "prove the author contract", _names("NAME", "lessons or exercises (default: all)")),
    ):
        command = commands.add_parser(name, help=help_text, description=help_text)
        command.add_argument("--course", type=Path, default=Path(), help="the course's folder (default: this one)")
        add(command)
        command.set_defaults(run=run)
    arguments, rest = parser.parse_known_args(argv)
    if rest and arguments.run not in (_lab, _formgrader):
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    arguments.rest = rest
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

    return add


def _lab_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("lesson", nargs="?", help="the lesson (default: the first)")
    command.epilog = "Every other option goes to JupyterLab, such as --no-browser or --port=8899."


def _lab(arguments: argparse.Namespace) -> int:
    from course.lab import open_lab

    return open_lab(arguments.course, arguments.lesson, arguments.rest)


def _grade_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("names", nargs="*", metavar="LESSON", help="lessons (default: all that were handed in)")
    command.add_argument("--force", action="store_true", help="grade again what did not change")
    command.add_argument("--workers", type=int, metavar="N", help="submissions at one time (default: one a core)")
    command.add_argument("--seed", type=int, help="test cases of an earlier run (default: fresh ones)")
    command.add_argument("--no-feedback", action="store_true", help="write no feedback pages")
    command.add_argument("--unsafe", action="store_true", help="go on without isolation where the machine offers none")
    command.add_argument("--stock", action="store_true", help="with stock nbgrader: slow, not isolated, needs --unsafe")


def _grade(arguments: argparse.Namespace) -> int:
    from course.grading.intake import anything_new, lessons_with_source, take_in
    from course.reporting.table import print_class, progress

    start = time.perf_counter()
    root = arguments.course
    lessons, known = lessons_with_source(root, arguments.names), lessons_with_source(root, [])
    print(_isolation(arguments), flush=True)
    intake = take_in(root, lessons, known)
    if not intake.submissions and not any((root / "submitted").glob("*")):
        from course.authoring.simulate import LEARNERS, simulate_class

        print(f"submitted/ is empty: handing in for a simulated class of {len(LEARNERS)} learners (seed 0)")
        simulate_class(root, known)
        intake = take_in(root, lessons, known)
    if not intake.submissions:
        raise UsageError(
            "nothing was handed in for " + (", ".join(arguments.names) or "any lesson"),
            str((root / "submitted").resolve()),
            "put notebooks at submitted/<learner>/<lesson>/<lesson>.ipynb",
        )
    launched = None
    if not arguments.stock and (arguments.force or anything_new(root, intake)):
        from course.grading.launch import launch

        launched = launch(isolated=not arguments.unsafe)
    with contextlib.ExitStack() as stack, progress("grading") as step:
        if launched is not None:
            stack.callback(launched.end)
        if arguments.stock:
            from course.grading.stock import grade_with_stock_nbgrader

            graded = grade_with_stock_nbgrader(root, intake, lessons, arguments.force, step)
        else:
            from course.grading.batch import grade_class

            graded = grade_class(
                root, intake, lessons, force=arguments.force, isolated=not arguments.unsafe,
                workers=arguments.workers, seed=arguments.seed, launched=launched, step=step,
            )  # fmt: skip
    if not arguments.no_feedback:
        from course.reporting.feedback import write_feedback

        with progress("feedback") as step:
            write_feedback(root, graded.graded, step)
    print_class(graded, intake.notes, root / "feedback", time.perf_counter() - start)
    return 1 if any(score.problem for score in graded.scores) else 0


def _isolation(arguments: argparse.Namespace) -> str:
    if not arguments.stock:
        from course.grading.launch import isolation_or_refuse

        return isolation_or_refuse(arguments.unsafe)
    if arguments.unsafe:
        return "isolation: NONE (--stock --unsafe): submissions run as you, with your files and network in reach"
    raise UsageError(
        "stock nbgrader runs submissions as you, with your files and network in reach",
        "python -m course grade --stock",
        "leave --stock out, or add --unsafe if you would run every submission yourself",
    )


def _formgrader_arguments(command: argparse.ArgumentParser) -> None:
    command.epilog = (
        "Runs until Ctrl-C. Every option that is not listed goes to JupyterLab, such as --no-browser or --port=8899. "
        "Marks and comments stay when you grade again; `python -m course feedback` puts them on the learners' pages."
    )


def _formgrader(arguments: argparse.Namespace) -> int:
    from course.grading.formgrader import open_formgrader

    return open_formgrader(arguments.course, arguments.rest)


def _alone_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("notebook", metavar="FILE", help="the notebook, or a lesson's name for the one in learn/")
    command.add_argument("--seed", type=int, help="test cases of an earlier run (default: fresh ones)")
    command.epilog = "Nothing is written, nothing is sent. Exit code 0: every exercise is right; 1: not yet."


def _alone(arguments: argparse.Namespace) -> int:
    from course.grading.alone import check_notebook
    from course.grading.intake import lessons_with_source
    from course.grading.launch import why_not_isolated
    from course.reporting.self_study import print_notebook
    from course.reporting.table import progress

    start = time.perf_counter()
    root, file = arguments.course, Path(arguments.notebook)
    lessons = lessons_with_source(root, [])
    if arguments.notebook in lessons:
        file = root / "learn" / arguments.notebook / f"{arguments.notebook}.ipynb"
    if not file.is_file():
        raise UsageError(
            "there is no such notebook", str(file.absolute()), f"choose a file, or one of: {', '.join(lessons)}"
        )
    # It is the learner's own code, on the learner's own machine: isolation is welcome, and not needed.
    isolated = not why_not_isolated()
    with progress("checking") as step:
        verdict = check_notebook(root, file, lessons, seed=arguments.seed, isolated=isolated, step=step)
    print_notebook(verdict, time.perf_counter() - start)
    return 0 if all(exercise.status == "passed" for exercise in verdict.exercises) else 1


def _progress_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("--forget", action="store_true", help="delete what is kept, and start afresh")


def _progress(arguments: argparse.Namespace) -> int:
    from course.diary import DiaryError, diary_path, forget
    from course.progress import overview
    from course.reporting.self_study import print_progress

    if arguments.forget:
        try:
            print(f"deleted {diary_path()}" if forget() else f"nothing was kept at {diary_path()}")
        except DiaryError as error:
            raise UsageError(str(error), str(diary_path()), "delete the file yourself") from None
        return 0
    print_progress(overview())
    return 0


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
    from course.authoring.hinting import check_hints, check_share
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
    violations += check_hints(whole)
    if not named:
        violations += check_share(records)
    print_contract(records, violations, time.perf_counter() - start)
    return 1 if violations else 0
