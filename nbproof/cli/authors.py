"""The commands of authors: arguments in, one call, words out."""

from __future__ import annotations

import argparse
import contextlib
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from nbproof.command import Command, Options, course_command, option, this_program
from nbproof.doors import LEAVES
from nbproof.text import counted

if TYPE_CHECKING:
    from nbproof.authoring.site import Shown

__all__ = ["COMMANDS"]


_BUNDLE = Options(
    (
        option("names", nargs="*", metavar="LESSON", help="lessons (default: all that are released)"),
        option(
            "--out", type=Path, metavar="FILE", help="the zip to write (default: named after the course, in its folder)"
        ),
    )
)


def _bundle(arguments: argparse.Namespace) -> int:
    from nbproof.terminal import progress

    with progress("making the zip, and searching it for answers"):
        from nbproof.authoring.bundle import bundle

        made = bundle(arguments.works_for, arguments.course, arguments.names, arguments.out)
    lessons = f"{counted(len(made.lessons), 'lesson')} ({', '.join(made.lessons)})"
    print(f"{made.path}: {lessons}, {made.files} files, {made.size / 1e6:.1f} MB")
    print(f"searched for {made.searched_for:,} lines of solutions, hidden tests and other answers: none is in it")
    print("learners unpack it and open START.html")
    return 0


def _wheels(arguments: argparse.Namespace) -> int:
    from nbproof.terminal import progress

    with progress("making wheels, and searching them for answers"):
        from nbproof.authoring.bundle import write_wheels

        made = write_wheels(arguments.works_for, arguments.course, arguments.course / "dist")
    for path in made:
        print(f"{path}: {path.stat().st_size / 1e3:,.0f} kB")
    print("the wheels, for learners, hold no hidden checks; to grade, or to study alone, unpack the zip where you work")
    return 0


_SITE = Options(
    (
        option("names", nargs="*", metavar="LESSON", help="lessons (default: all)"),
        option("--out", type=Path, metavar="FOLDER", help="the folder to write into (default: build/site)"),
    )
)


def _site(arguments: argparse.Namespace) -> int:
    # Before what takes seconds to import.
    print("site: running the lessons", file=sys.stderr, flush=True)
    from nbproof.terminal import progress

    def say(shown: Shown) -> None:
        how = "! not run to its end" if shown.stopped else f"{shown.seconds:.1f} s"
        print(f"{shown.slug}: {how}", flush=True)

    with progress("site"):
        from nbproof.authoring.site import make_site

        made = make_site(arguments.works_for, arguments.course, arguments.names, arguments.out, say)
    print(f"{made.home}: {made.pages} pages")
    print(f"searched for {made.searched_for:,} lines of solutions, hidden tests and other answers: none is in it")
    for error in made.flaws:
        print(
            f"! {error.fact}; its page is there as far as it goes\n  at:   {error.place}\n  next: {error.next_command}"
        )
    return 1 if made.flaws else 0


_BUILD = Options((option("names", nargs="*", metavar="LESSON", help="lessons (default: all)"),))


def _build(arguments: argparse.Namespace) -> int:
    from nbproof.terminal import progress

    with progress("building"):
        from nbproof.authoring.build import build

        changed = build(arguments.works_for, arguments.course, arguments.names)
    for path in changed:
        print(f"changed {path}")
    if not changed:
        print("nothing to change: all derived notebooks are up to date")
    return 0


_CHECK = Options(
    (
        option("names", nargs="*", metavar="NAME", help="lessons or exercises (default: all)"),
        option("--show", metavar="ANSWER", help="print the answers of this name, whole, and check nothing"),
        option(
            "--explore",
            action="store_true",
            help="draw what the statements allow, and look whether reference, accepted answers and truth agree on it",
        ),
        option("--minutes", type=float, default=1.0, help="explore each exercise so long (default: 1)"),
        option(
            "--draws", type=int, default=0, help="explore with so many draws instead, for a run that is the same again"
        ),
        option("--seed", type=int, default=0, help="explore other draws (default: 0)"),
    )
)


def _show(arguments: argparse.Namespace) -> int:
    from nbproof.authoring.checkup import answers_called

    for exercise, answer in answers_called(arguments.works_for, arguments.course, arguments.names, arguments.show):
        print(f"# %% {answer.name} ({answer.role} of {exercise.id})\n{answer.source}")
    return 0


def _explore(arguments: argparse.Namespace) -> int:
    from nbproof.authoring.checkup import explored
    from nbproof.cli.contract_table import tell_explored
    from nbproof.terminal import progress

    with progress("explorations") as step:
        found = explored(
            arguments.works_for,
            arguments.course,
            arguments.names,
            step,
            (arguments.minutes, arguments.draws, arguments.seed),
        )
        agree = [tell_explored(one) for one in found]
    print(f"explored: {counted(len(agree), 'exercise')}, {counted(agree.count(False), 'disagreement')}")
    return 0 if all(agree) else 1


def _check(arguments: argparse.Namespace) -> int:
    from nbproof.feedback.page_texts import language_notes, refuse_bad_language
    from nbproof.terminal import progress

    if arguments.show:
        return _show(arguments)
    if arguments.explore:
        return _explore(arguments)
    refuse_bad_language(arguments.works_for)
    arguments.works_for.refuse_missing_modules()
    for note in language_notes(arguments.works_for):
        print(f"note: {note}", flush=True)

    with progress("candidates") as step:
        from nbproof.authoring.checkup import check_up
        from nbproof.cli.contract_table import Found, print_contract

        checkup = check_up(arguments.works_for, arguments.course, arguments.names, step, Found().tell)
    print_contract(checkup)
    return 1 if checkup.violations else 0


_NEW = Options(
    (
        option("folder", type=Path, metavar="FOLDER", help="a new folder, or one that holds no course yet"),
        option("--title", default="", help="the course's title (default: the folder's name)"),
        option(
            "--leaves",
            action="append",
            default=[],
            choices=("torch", "numpy", "pandas", *sorted(LEAVES.installed())),
            help="a library with values that exercises compare, besides Python's own: torch, numpy, pandas, or one of an "
            "installed package (docs/doors.md); may be repeated",
        ),
    ),
    "It makes one lesson with one exercise, and both work as they stand. Nothing is ever overwritten.",
)


def _new(arguments: argparse.Namespace) -> int:
    from nbproof.authoring.new import FIRST, new_course

    made = new_course(arguments.folder, arguments.title, list(dict.fromkeys(arguments.leaves)))
    print(f"made {arguments.folder}: {len(made)} files, one lesson ({FIRST[0]}) with one exercise ({FIRST[1]})")
    with contextlib.chdir(arguments.folder):  # there, a relative path to the interpreter leads nowhere
        program = this_program("nbproof")
    print(f"next: cd {shlex.quote(str(arguments.folder))} && {program} build && {program} check")
    return 0


_NEW_EXERCISE = Options(
    (
        option("lesson", metavar="LESSON", help="the folder below lessons/"),
        option("name", metavar="NAME", help="the exercise's id: letters a-z, digits and _"),
    ),
    "The new exercise is small and complete: change it into yours piece by piece. Nothing is overwritten.",
)


def _new_exercise(arguments: argparse.Namespace) -> int:
    from nbproof.authoring.new import new_exercise

    lesson, *files = new_exercise(arguments.works_for, arguments.course, arguments.lesson, arguments.name)
    print(f"added to {lesson}: prose, a TODO cell and a check cell, at its end: move them to where they belong")
    print(f"made {files[0].parent}: " + ", ".join(path.name for path in files))
    print(f"next: {course_command('build')}, then: {course_command(f'check {arguments.name}')}")
    return 0


_ADOPT = Options(
    (
        option(
            "notebook", type=Path, metavar="NOTEBOOK", help="the instructor's version, such as source/ps1/ps1.ipynb"
        ),
        option("--name", default="", help="the lesson's folder (default: made of the notebook's name)"),
    ),
    "Asserts stay as they are; the reference solution is the right answer. The notebook is not changed.",
)


def _adopt(arguments: argparse.Namespace) -> int:
    from nbproof.authoring.adopt import adopt

    made = adopt(arguments.notebook, arguments.name)
    print(f"made lessons/{made.slug}: {counted(len(made.exercises), 'exercise')}: {', '.join(made.exercises)}")
    for remark in made.remarks:
        print(f"  note: {remark}")
    print("next: write two wrong answers in each wrong.py, or as many as course.toml asks for, then:")
    print(f"  {course_command('build', made.root)} && {course_command(f'check {made.slug}', made.root)}")
    return 0


COMMANDS = (
    Command("bundle", _bundle, "make the zip that learners get: lessons, course, and a page to start from", _BUNDLE),
    Command("wheels", _wheels, "make wheels of the tool and the course, to install without a clone", Options()),
    Command("site", _site, "make a web site to read: the lessons and docs/, without answers", _SITE),
    Command("build", _build, "derive source/ and release/ from lessons/", _BUILD),
    Command("check", _check, "prove the author contract", _CHECK),
    Command("new", _new, "make a course with one lesson that works", _NEW, needs_course=False),
    Command("adopt", _adopt, "make a lesson of an nbgrader notebook, asserts and all", _ADOPT, needs_course=False),
    Command("new-exercise", _new_exercise, "add a small, complete exercise to a lesson", _NEW_EXERCISE),
)
