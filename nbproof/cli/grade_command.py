"""What ``python -m course grade`` does: take in, grade, write feedback, tell. The command line only asks for it."""

from __future__ import annotations

import contextlib
import gc
import shlex
import sys
import time
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from nbproof.cli.class_table import (
    GO_ON,
    RunReport,
    class_as_json,
    error_as_json,
    failed_page_lines,
    is_incomplete,
    print_class,
    print_problems,
    summary_line,
    write_json,
)
from nbproof.cli.head_start import graded_is_the_demo
from nbproof.command import course_command
from nbproof.course_file import Course
from nbproof.errors import CourseError, UsageError, disk_trouble
from nbproof.feedback.page_texts import refuse_bad_language
from nbproof.gradebook.marks import GradedClass, Mark, by_assignment
from nbproof.gradebook.reader import read_marks
from nbproof.gradebook.storage_errors import trouble_with_disk
from nbproof.interrupt import EXIT_CODE
from nbproof.key import Key, assignment_of
from nbproof.marking.results import Verdict
from nbproof.nbgrader.next_door import (
    attend,
    but_settled,
    collect,
    find_learners,
    finish_broken_off,
    forget_others,
    late_by_lms,
    members_of,
    name_in_gradebook,
    people_of,
    print_collected,
    reading_of,
    two_ids_lines,
    without_place,
)
from nbproof.places import course_config, places
from nbproof.report.attendance import Attendance
from nbproof.report.records import withdrawn
from nbproof.run.intake import Intake, gradable_lessons, select, take_in
from nbproof.run.journal import Watch, only_run
from nbproof.run.options import not_obeyed
from nbproof.sandbox.isolation import Isolation, isolation_or_refuse
from nbproof.sandbox.launch import Launched
from nbproof.terminal import console_for_output, progress, say, tell
from nbproof.text import counted, printable
from nbproof.values.leaf import refuse_unknown_leaves

if TYPE_CHECKING:
    from nbproof.nbgrader.next_door import Collected
    from nbproof.run.pool import PoolMaker

__all__ = ["grade", "watching"]


def grade(request: Namespace, launched: Launched | None = None) -> int:
    """0 if all is graded, 1 if something could not be, 130 if it was interrupted.

    ``request``: a call of the command. ``launched``: the warm interpreter, if it is on its way; the caller ends it.
    Raises CourseError if nothing, or not all, could be tried.
    """
    start = time.perf_counter()
    command = _GradeCommand(request, launched)
    if request.json != "-":
        # Now, and not after hours, it is known that it can be written; and a run that is killed leaves no older results there.
        _write(request, error_as_json(request.works_for, None, seconds=0.0))
    try:
        report = command.run(start)
    except (CourseError, KeyboardInterrupt) as ended:
        error = ended if isinstance(ended, CourseError) else None
        _write(
            request,
            error_as_json(request.works_for, error, command.counting.marks, seconds=time.perf_counter() - start),
        )
        if error is not None:
            raise
        done = f" after {command.counting.done} of {command.counting.total}" if command.counting.total else ""
        print(f"interrupted{done}; what is graded is kept: {GO_ON}", file=sys.stderr)
        return EXIT_CODE
    code = 1 if is_incomplete(report) else 0
    if request.quiet:
        print_problems(command.warnings, report)
        say(command.console, summary_line(report))
    _write(request, class_as_json(report, code))
    return code


def _write(request: Namespace, results: dict[str, object]) -> None:
    if not request.json:
        return
    try:
        write_json(request.json, results)
    except OSError as error:
        place = Path(request.json).absolute()
        raise trouble_with_disk(error, place) or UsageError(
            f"the JSON cannot be written: {error.strerror}",
            str(place),
            "name another place: --json FILE; what was graded is kept",
        ) from None


class _GradeCommand:
    def __init__(self, request: Namespace, launched: Launched | None) -> None:
        self.request, self.launched = request, launched
        self.root: Path = request.course
        self.course: Course = request.works_for
        # Standard output belongs to the JSON, where it was asked for there.
        self.console = console_for_output(stderr=request.json == "-")
        # What costs somebody marks is said in any case.
        self.warnings = Console(stderr=True, soft_wrap=True) if request.quiet else self.console
        self.counting = Watch()
        self.pool: PoolMaker | None = None

    def say(self, *lines: str) -> None:
        """Print lines, unless ``--quiet`` was asked for."""
        if not self.request.quiet:
            say(self.console, *lines)

    def settle(self) -> None:
        """Take the simulated class, in a folder of its own, if nobody has handed in anything and no class is known."""
        if not graded_is_the_demo(self.request):
            return
        from nbproof.authoring.simulate import DEMO, LEARNERS, prepare_demo

        demo = self.root / DEMO
        then = (
            "move away what lies in the way, free some space, or let your user write there; if nothing is built yet: "
            f"{course_command('build')}; then run the same command again"
        )
        with disk_trouble(UsageError, "the simulated class cannot be made", demo, then):
            if demo.is_symlink():
                raise OSError(0, "it is a link", str(demo))
            demo.mkdir(exist_ok=True)
            with only_run(demo):
                self.root = prepare_demo(self.course, self.root)
        self.say(
            f"submitted/ is empty: grading a simulated class of {len(LEARNERS)} learners in a folder of its own, {DEMO}/"
        )

    def run(self, start: float) -> RunReport:
        """Do everything, with the course locked."""
        request = self.request
        refuse_bad_language(self.course)
        self.course.refuse_missing_modules()
        refuse_unknown_leaves(self.course)
        _refuse_learners(self.root, request.names_of_lessons)
        lessons = gradable_lessons(self.root, request.names_of_lessons)
        self.say(*_first_lines(self.course, self.root))
        say(self.warnings, *not_obeyed(course_config(self.root)), *_unbuilt(self.course, self.root, lessons))
        chosen = isolation_or_refuse(request.unsafe, request.isolation)
        self.pool = self._pool(chosen.level)
        self.say(chosen.line)
        self.settle()
        root = self.root
        with only_run(root):
            members_of(root)  # a roster that cannot be read stops the run now, not after hours
            collected = self._collect()
            intake = self._intake(lessons)
            intended = select(intake, request.only, lambda name: find_learners(root, [name], "--only")[0])
            graded = self._graded(intended, lessons, chosen.level)
            name_in_gradebook(root)
            held = {} if request.only else read_marks(root, lessons)
            attendance, seen = self._attended(graded, intake, lessons, held)
            notes = [*graded.notes, *_unfit(graded, root), *_seedless(graded, request.seed)]
            if not request.only:
                notes += intake.notes
            feedback = None if request.no_feedback else places(root).base("feedback")
            report = RunReport(
                replace(graded, notes=tuple(notes)),
                time.perf_counter() - start,
                feedback,
                (),
                collected,
                attendance,
                root,
                self._passes_over(graded, intake),
                seen,
                {key: replace(held[key], fresh=False) for key in held.keys() - graded.marks if held[key].by_person},
            )
            # Nobody waits for pages to see a table.
            if not request.quiet:
                print_class(self.console, report, request.all)
            return self._with_pages(report) if report.feedback else report

    def _passes_over(self, graded: GradedClass, intake: Intake) -> bool:
        """Whether something that lies there is not graded, and a note says so."""
        return bool(
            graded.notes
            or graded.refused
            or (graded.unfit and not graded.anyway)
            or (intake.passed_over and not self.request.only)
        )

    def _attended(
        self, graded: GradedClass, intake: Intake, lessons: list[str], held: Mapping[Key, Mark]
    ) -> tuple[Attendance, frozenset[Key]]:
        """Who handed in nothing, without what a person has settled; and what is settled. ``held``: the gradebook's marks."""
        found = Attendance(people=people_of(self.root))
        if not self.request.only:
            found = attend(self.root, found.people, {one.key for one in intake.submissions}, lessons)
            marks = by_assignment({**held, **graded.marks}).values()
            astray = without_place(self.root, found.nothing_gradable)
            gone = (*withdrawn(self.root, marks), *two_ids_lines(found.people.values(), marks, self.root))
            found = replace(found, withdrawn=gone, without_place=astray)
        forget_others(self.root, graded.marks)
        asked, seen = but_settled(self.root, graded.marks, found)
        return asked, frozenset(seen)

    def _with_pages(self, report: RunReport) -> RunReport:
        """Write the pages that are missing or behind, and say where they lie."""
        from nbproof.feedback.pages import write_feedback

        folder = places(self.root).base("feedback")
        problems = {one.key: one.problem for one in report.graded.ungraded()}
        writers = self.launched.writers if self.launched is not None else ()
        if not self.request.quiet:
            # A terminal shows a bar besides, once there is a page to count.
            print("writing feedback pages", file=sys.stderr, flush=True)
        try:
            with progress("feedback") as step:
                keys = [*report.graded.marks, *report.given]
                pages = write_feedback(self.course, self.root, keys, step, problems=problems, writers=writers)
        except OSError as error:
            raise trouble_with_disk(error, folder) or error from None
        report = replace(report, failed_pages=pages.failed)
        self.say(*failed_page_lines(report), f"feedback:  {folder.resolve()}")
        return report

    def _collect(self) -> Collected | None:
        if not (self.request.uploads or self.request.fetch):
            say(self.warnings, *map(printable, finish_broken_off(self.root)))
            return None
        with progress("collecting") as step:
            collected = collect(self.course, self.root, self.request.uploads, **reading_of(self.request), step=step)
        if collected.needs_person or not self.request.quiet:
            print_collected(collected, self.root, self.request.uploads, self.request, self.warnings)
        return collected

    def _intake(self, lessons: list[str]) -> Intake:
        request, folder = self.request, places(self.root).base("submitted")
        intake = take_in(self.course, self.root, lessons)
        if not intake.submissions:
            self.say(*intake.notes)
            place = places(self.root).notebook("submitted", "LEARNER", lessons[0])
            raise UsageError(
                "nothing was handed in for " + (", ".join(request.names_of_lessons) or "any lesson"),
                str(folder.resolve()),
                f"put notebooks at {place}, or: {course_command('collect UPLOAD')}",
            )
        return intake

    def _pool(self, level: Isolation) -> PoolMaker | None:
        """The pool that marks; None if it is this machine."""
        request = self.request
        if not request.pool:
            return None
        from nbproof.run.pool import pool_named

        return pool_named(request.pool, "--pool", isolation=level, workers=request.workers, says=self.say)

    def _graded(self, intake: Intake, lessons: list[str], level: Isolation) -> GradedClass:
        request = self.request
        # Slow to import: the engine's own process is on its way meanwhile.
        from nbproof.run.batch import grade_class

        # A lesson that is taken apart makes objects by the million: looking for garbage among them and all that was
        # imported takes as long again.
        gc.freeze()
        gc.set_threshold(20_000)
        with watching(request.quiet) as self.counting:
            return grade_class(
                self.course,
                self.root,
                intake,
                lessons,
                force=request.force,
                isolation=level,
                workers=request.workers,
                pool=self.pool,
                seed=request.seed,
                launched=self.launched,
                watch=self.counting,
                anyway=request.anyway,
                late=late_by_lms(self.root),
            )


def _refuse_learners(root: Path, names: Sequence[str]) -> None:
    """Raise UsageError for a learner, or a path in submitted/, where a lesson has to stand."""
    here = places(root)
    known = dict.fromkeys(chain.from_iterable((one, assignment_of(one)) for one in here.lessons()))
    learners, handed_in = here.learners(), here.base("submitted").name
    for name in names:
        learner, *inside = name.removeprefix(f"{handed_in}/").rstrip("/").split("/")
        if name not in known and learner in learners:
            lessons = inside[:1] or [one for one in names if one in known]
            wanted = [f"{learner}/{one}" for one in lessons] or [learner]
            words = shlex.join(["grade", *chain.from_iterable(("--only", one) for one in wanted)])
            fact = f"no lesson is called {name!r}, but a learner is called {learner!r}"
            raise UsageError(fact, "grade", course_command(words, root))


def _seedless(graded: GradedClass, seed: int | None) -> Iterator[str]:
    """A line if a seed was asked for, and not everything was marked with it."""
    unchanged = [one for one in graded.marks.values() if one.how == "unchanged"]
    if seed is not None and unchanged:
        yield f"--seed {seed} does nothing for {counted(len(unchanged), 'unchanged submission')}: --force marks these again"


def _first_lines(course: Course, root: Path) -> list[str]:
    """What the first run over somebody's nbgrader course says: what was found, what is taken for granted, what could be told.

    Nothing if the course has a ``course.toml``, or was graded before.
    """
    if (root / ".course" / "run.json").exists() or list(course.folder.glob("course.toml")):
        return []
    here, lessons = places(root), places(root).lessons()
    released = [one for one in lessons if here.is_released_only(one)]
    step = "source" if len(released) < len(lessons) else "release"
    assignments = {assignment_of(one) for one in lessons}
    learners = counted(len(here.learners()), "learner")
    taken = "cells run as Python; the limits of docs/engine.md, and those of nbgrader_config.py"
    if released:
        taken += f"; no instructor's version of {', '.join(released)}: graded by the release, which has no hidden tests"
    return [
        f"found:     {counted(len(assignments), 'assignment')} with {counted(len(lessons), 'notebook')} in {here.base(step)}, "
        f"{learners} in {here.base('submitted')}",
        f"taken for granted: {taken}",
        "a course.toml beside them is not needed; it could say what the course is called (says) and which modules to import "
        "beforehand (warm): docs/instructors.md",
    ]


def _unbuilt(course: Course, root: Path, lessons: Sequence[str]) -> Iterator[str]:
    """A line for each lesson that was edited after its notebook was built."""
    if any(map(places(root).is_edited, lessons)):
        # Slow to import.
        from nbproof.authoring.build import unbuilt

        for one in unbuilt(course, root, lessons):
            yield f"! {one.fact} ({one.place}): graded by the notebook as it was built; to build it: {one.next_command}"


def _unfit(graded: GradedClass, root: Path) -> list[str]:
    """A line for each lesson that cannot be graded, gives marks away, or loses marks to its own reference answers."""
    lines = [f"passed over {name}, nothing of it can be graded: {why}" for name, why in graded.refused.items()]
    lines += [*graded.remarks, *(f"{name}: {what}" for name, what in graded.given_away.items())]
    if graded.anyway:
        return lines + [f"{name}: its reference answers lose marks here: {why}" for name, why in graded.unfit.items()]
    return lines + [
        f"passed over {places(root).source(name)}: its reference answers lose marks here, so nothing of it is graded: {why}; "
        f"mend that, or: {course_command(shlex.join(['grade', name, '--anyway']))}"
        for name, why in graded.unfit.items()
    ]


class _Telling(Watch):
    """Says first what there is to do, then, by a ``step``, how far the run is."""

    def __init__(self, step: Callable[[int, int, str], None]) -> None:
        self._step = step

    def planned(self, total: int, kept: int, reasons: Sequence[str]) -> None:
        super().planned(total, kept, reasons)
        tell(*reasons)
        if total:
            tell(f"grading {counted(total, 'submission')}; {kept} need no grading")

    def started(self, name: str) -> None:
        self._step(self.done, self.total, name)

    def marked(self, name: str, verdict: Verdict) -> None:
        super().marked(name, verdict)
        self._step(self.done, self.total, name)


@contextlib.contextmanager
def watching(quiet: bool = False) -> Iterator[Watch]:
    """What tells how far a run is, as long as this block lasts."""
    with progress("grading", quiet) as step:
        watch = Watch() if quiet else _Telling(step)
        yield watch
