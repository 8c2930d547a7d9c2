"""What ``python -m course grade`` does: take in, grade, write feedback, tell. The command line only asks for it."""

from __future__ import annotations

import contextlib
import gc
import os
import sys
import time
from argparse import Namespace
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from nbproof.cli.class_json import GO_ON, class_as_json, error_as_json, write_json
from nbproof.cli.class_table import (
    Told,
    failed_page_lines,
    is_incomplete,
    print_class,
    print_problems,
    summary_line,
)
from nbproof.cli.first_run import first_lines
from nbproof.cli.head_start import graded_is_the_demo
from nbproof.cli.live import Counting, watching
from nbproof.command import course_command
from nbproof.errors import CourseError, UsageError
from nbproof.files import refuse_unwritable
from nbproof.gradebook.marks import GradedClass
from nbproof.gradebook.storage_errors import trouble_with_disk
from nbproof.key import assignment_of, notebook_of
from nbproof.places import places
from nbproof.run.intake import Intake, lessons_with_source, take_in
from nbproof.run.lock import only_run
from nbproof.run.plan import Selection, select
from nbproof.sandbox.isolation import Isolation, isolation_or_refuse
from nbproof.terminal import console_for_output, progress, say
from nbproof_lms.attendance import Attendance, attend, late_by_word, people_of
from nbproof_lms.commands import reading_of
from nbproof_lms.roster import members_of

if TYPE_CHECKING:
    from nbproof.run.pool import PoolMaker
    from nbproof.sandbox.launch import Launched
    from nbproof_lms import Collected

__all__ = ["grade"]


def grade(request: Namespace, launched: Launched | None = None) -> int:
    """0 if all is graded, 1 if something could not be, 130 if it was interrupted.

    ``request``: a call of the command. ``launched``: the warm interpreter, if it is on its way; whoever started it ends it.
    Raises CourseError if nothing, or not all, could be tried.
    """
    start = time.perf_counter()
    if request.json:
        refuse_unwritable(request.json)
    desk = _Desk(request, launched)
    if request.dry_run:
        return desk.rehearse()
    try:
        told = desk.run(start)
    except CourseError as error:
        seconds = time.perf_counter() - start
        _write(request, error_as_json(error, desk.counting.marks, exit_code=error.exit_code, seconds=seconds))
        raise
    except KeyboardInterrupt:
        seconds = time.perf_counter() - start
        _write(request, error_as_json(None, desk.counting.marks, exit_code=130, seconds=seconds))
        done = f" after {desk.counting.done} of {desk.counting.total}" if desk.counting.total else ""
        print(f"interrupted{done}; what is graded is kept: {GO_ON}", file=sys.stderr)
        return 130
    code = 1 if is_incomplete(told) else 0
    if request.quiet:
        print_problems(Console(stderr=True, soft_wrap=True), told)
        say(desk.console, summary_line(told))
    _write(request, class_as_json(told, code))
    return code


def _write(request: Namespace, told: dict[str, object]) -> None:
    if not request.json:
        return
    try:
        write_json(request.json, told)
    except OSError as error:
        place = Path(request.json).absolute()
        raise trouble_with_disk(error, place) or UsageError(
            f"the JSON cannot be written: {error.strerror}", str(place), "grade again: what was graded is kept"
        ) from None


class _Desk:
    def __init__(self, request: Namespace, launched: Launched | None) -> None:
        self.request, self.launched = request, launched
        self.root: Path = request.course
        # Standard output belongs to the JSON, where it was asked for there.
        self.console = console_for_output(stderr=request.json == "-")
        self.counting = Counting()
        self.level: Isolation | None = Isolation.NONE if request.unsafe else None
        """How far submissions are isolated on this machine; settled when the run begins."""

    def say(self, text: str) -> None:
        """Print it, unless ``--quiet`` was asked for."""
        if not self.request.quiet:
            say(self.console, text)

    def settle(self) -> None:
        """Where nobody has handed in anything, and no class is known: grade the simulated class, in a folder of its own."""
        request, root = self.request, self.root
        if not graded_is_the_demo(request):
            return
        from nbproof.authoring.simulate import DEMO, LEARNERS, prepare_demo

        if os.path.lexists(root / DEMO) and ((root / DEMO).is_symlink() or not (root / DEMO).is_dir()):
            raise UsageError(
                "the simulated class has no place: this is not a folder",
                str((root / DEMO).absolute()),
                "move it away, then run the same command again",
            )
        try:
            (root / DEMO).mkdir(exist_ok=True)
            with only_run(root / DEMO):
                self.root = prepare_demo(root)
        except OSError as error:
            raise trouble_with_disk(error, root) or error from None
        self.say(
            f"submitted/ is empty: grading a simulated class of {len(LEARNERS)} learners in a folder of its own, {DEMO}/"
        )

    def rehearse(self) -> int:
        """Say what would be collected: nothing is written, so there is nothing to grade."""
        from nbproof_lms.collected_table import print_collected

        if self.request.json:
            raise UsageError(
                "a dry run grades nothing, so there is no JSON of it",
                f"--json {self.request.json}",
                "run the same command again without --json",
            )
        collected = self._collect()
        assert collected is not None
        print_collected(collected, self.root, self.request.all)
        self.say("nothing was graded; without --dry-run it is collected, then graded")
        return 1 if collected.needs_person else 0

    def run(self, start: float) -> Told:
        """All of it, with the course locked."""
        lessons = lessons_with_source(self.root, self.request.names_of_lessons)
        known = lessons_with_source(self.root, [])
        for line in first_lines(self.root, known):
            self.say(line)
        self.say(self._isolation())
        self.settle()
        request, root = self.request, self.root
        with only_run(root):
            members_of(root)  # a roster that cannot be read stops the run now, not after hours
            collected = self._collect()
            if collected is not None:
                self._say_collected(collected)
            intake = self._intake(lessons, known)
            chosen = select(intake, lessons, request.only, people_of(root) if request.only else ())
            graded = self._graded(chosen, lessons)
            self.counting.stopped(graded.marks.values())  # should anything end it from here on
            handed_in = {one.key for one in intake.submissions}
            attendance = attend(root, people_of(root), handed_in, lessons) if not request.only else Attendance()
            intake = replace(intake, notes=(), passed_over=False) if request.only else intake
            graded = replace(graded, notes=(*_unfit(graded), *intake.notes, *chosen.absent))
            folder = places(root).base("feedback") if not request.no_feedback else None
            passed_over = intake.passed_over or bool(graded.refused or (graded.unfit and not graded.anyway))
            took = time.perf_counter() - start
            told = Told(graded, took, folder, (), collected, attendance, root, passed_over)
            # Nobody waits for pages to see a table.
            if not request.quiet:
                print_class(self.console, told, request.all)
            return self._with_pages(told) if folder is not None else told

    def _with_pages(self, told: Told) -> Told:
        """Write the pages that are missing or behind, and say where they lie."""
        told = replace(told, failed_pages=self._write_feedback(told.graded))
        for line in failed_page_lines(told):
            self.say(line)
        self.say(f"feedback:  {places(self.root).base('feedback').resolve()}")
        return told

    def _isolation(self) -> str:
        if self.request.dask and not self.request.unsafe:
            wanted = f" as wanted ({self.request.isolation})" if self.request.isolation else ""
            return f"isolation: on every Dask worker; one that cannot isolate submissions{wanted} is not used"
        chosen = isolation_or_refuse(self.request.unsafe, self.request.isolation)
        self.level = chosen.level
        return chosen.line

    def _collect(self) -> Collected | None:
        request = self.request
        if not request.uploads:
            return None
        from nbproof_lms import collect

        with progress("collecting") as step:
            return collect(self.root, request.uploads, **reading_of(request), step=step)

    def _say_collected(self, collected: Collected) -> None:
        from nbproof_lms.collected_table import print_collected

        quiet = self.request.quiet
        if collected.needs_person or not quiet:
            console = Console(stderr=True, soft_wrap=True) if quiet else self.console
            print_collected(collected, self.root, self.request.all, console)

    def _intake(self, lessons: list[str], known: list[str]) -> Intake:
        request, folder = self.request, places(self.root).base("submitted")
        intake = take_in(self.root, lessons, known)
        if not intake.submissions:
            for note in intake.notes:
                self.say(note)
            raise UsageError(
                "nothing was handed in for " + (", ".join(request.names_of_lessons) or "any lesson"),
                str(folder.resolve()),
                f"put notebooks at {_where(self.root, known[0])}, or: {course_command('collect UPLOAD')}",
            )
        return intake

    def _graded(self, chosen: Selection, lessons: list[str]) -> GradedClass:
        request = self.request
        with contextlib.ExitStack() as stack:
            # Slow to import: the engine's own process is on its way meanwhile.
            from nbproof.run.batch import grade_class

            # A lesson that is taken apart makes objects by the million: looking for garbage among them and all that was
            # imported takes as long again.
            gc.freeze()
            gc.set_threshold(20_000)
            return grade_class(
                self.root,
                chosen.intake,
                lessons,
                force=request.force,
                isolation=self.level,
                workers=request.workers,
                seed=request.seed,
                launched=self.launched,
                pool=self._cluster(stack),
                watch=self._watch(stack),
                anyway=request.anyway,
                late=late_by_word(self.root),
            )

    def _watch(self, stack: contextlib.ExitStack) -> Counting:
        self.counting = stack.enter_context(watching(self.request.quiet))
        return self.counting

    def _cluster(self, stack: contextlib.ExitStack) -> PoolMaker | None:
        if not self.request.dask:
            return None
        from nbproof.dask.pool import connect

        def say(text: str) -> None:
            print(text, file=sys.stderr, flush=True)

        wanted = Isolation.NONE if self.request.unsafe else self.request.isolation and Isolation(self.request.isolation)
        made = connect(self.request.dask, isolation=wanted or None, patience=self.request.wait, say=say)
        return stack.enter_context(made).pool

    def _write_feedback(self, graded: GradedClass) -> tuple[tuple[str, str, str], ...]:
        from nbproof.feedback.pages import write_feedback

        problems = {one.key: one.problem for one in graded.ungraded()}
        if not self.request.quiet:
            # A terminal shows a bar besides, once there is a page to count.
            print("writing feedback pages", file=sys.stderr, flush=True)
        with progress("feedback") as step:
            writers = self.launched.writers if self.launched is not None else ()
            known = [key for key in graded.marks if key not in problems]
            try:
                return write_feedback(self.root, known, step, problems=problems, writers=writers).failed
            except OSError as error:
                raise trouble_with_disk(error, places(self.root).base("feedback")) or error from None


def _where(root: Path, lesson: str) -> str:
    """Where a notebook of a learner's belongs."""
    name = notebook_of(lesson) if "/" in lesson else "<lesson>"
    place = places(root).folder("submitted", "<learner>", assignment_of(lesson) if "/" in lesson else "<lesson>")
    return f"{place.relative_to(root) if place.is_relative_to(root) else place}/{name}.ipynb"


def _unfit(graded: GradedClass) -> list[str]:
    """A line for each lesson that cannot be graded, or whose reference answers lose marks."""
    refused = [f"passed over {name}, nothing of it can be graded: {why}" for name, why in graded.refused.items()]
    if graded.anyway:
        return refused + [f"{name}: its reference answers lose marks here: {why}" for name, why in graded.unfit.items()]
    return refused + [
        f"passed over source/{name}: its reference answers lose marks here, so nothing of it is graded: {why}; "
        f"mend that, or: {course_command(f'grade {name} --anyway')}"
        for name, why in graded.unfit.items()
    ]
