"""A class in the terminal, and as JSON (``grade --json``, told in ``docs/grade_json.md``): scores, what a person must look at,
totals, where everything lies.
"""

from __future__ import annotations

import json
import os
import shlex
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from nbproof.command import course_command
from nbproof.course_file import Course
from nbproof.errors import CourseError
from nbproof.feedback.page_writer import page_path
from nbproof.files import replace_file
from nbproof.gradebook.marks import ClassResults, GradedClass, Mark, by_assignment, exercise_row, submission_row
from nbproof.grouping import grouped
from nbproof.interrupt import EXIT_CODE
from nbproof.key import Key
from nbproof.marking.plain import plain_test_lines
from nbproof.marking.results import Verdict
from nbproof.nbgrader.next_door import copies_in_time, lines_of
from nbproof.places import places
from nbproof.report.attendance import Attendance
from nbproof.report.statistics import late_lines, marker_lines
from nbproof.terminal import say
from nbproof.text import counted, duration, printable
from nbproof.values.results import Status
from nbproof.values.words import Language, words_of

if TYPE_CHECKING:
    from nbproof.nbgrader.next_door import Collected

__all__ = [
    "GO_ON",
    "SCHEMA",
    "RunReport",
    "class_as_json",
    "error_as_json",
    "failed_page_lines",
    "is_incomplete",
    "print_class",
    "print_problems",
    "summary_line",
    "write_json",
]

_MANY = 40
"""Most learners for a table of everybody: a longer table helps nobody."""


@dataclass(frozen=True)
class RunReport:
    """A run that came to its end, and what was noticed on the way."""

    graded: GradedClass
    seconds: float
    feedback: Path | None = None
    """The folder; None if no pages were asked for."""
    failed_pages: Sequence[tuple[str, str, str]] = ()
    """Learner, lesson and reason, of feedback pages that could not be written."""
    collected: Collected | None = None
    """What became of an upload, if one was named."""
    attendance: Attendance = field(default_factory=Attendance)
    root: Path = Path()
    passed_over: bool = False
    """Whether a note says of something that it was passed over."""
    seen: frozenset[Key] = frozenset()
    """What a person has settled: nothing is said of it."""
    given: Mapping[Key, Mark] = field(default_factory=dict)
    """Marks that people gave for what does not lie in ``submitted/``."""

    @property
    def words(self) -> Language:
        """The language of the course."""
        return words_of(self.graded.course)


def is_incomplete(report: RunReport) -> bool:
    """Whether something that was handed in is not graded: that is what the exit code says."""
    ungraded = any(
        one.key not in report.seen and (one.problem or one.missing(report.words))
        for one in report.graded.marks.values()
    ) or bool(report.failed_pages)
    # A notebook that was taken under another name is graded all the same.
    needs_person = bool(report.collected and report.collected.needs_person)
    came = report.attendance
    return (
        ungraded
        or report.passed_over
        or needs_person
        or bool(came.nothing_gradable or came.undecided or came.without_place)
    )


def print_class(console: Console, report: RunReport, everybody: bool = False) -> None:
    """All scores, of many learners if ``everybody`` is asked for; what could not be graded and why; totals and places."""
    came = {*report.seen, *(one.key for one in report.attendance.nothing_gradable)}
    marks = {key: Mark(Verdict(*key, problem="no notebook")) for key in came if key.lesson}
    marks |= {**report.given, **report.graded.marks}
    learners = sorted({learner for learner, _ in (*came, *marks)})
    if len(learners) <= _MANY or everybody:
        console.print(_table_of(replace(report.graded, marks=marks), learners))
    else:
        say(console, f"{len(learners)} learners: --all prints the scores of all, the report sums them up")
    print_problems(console, report)
    say(console, *_totals(report))
    say(console, summary_line(report))
    say(console, f"gradebook: {report.graded.gradebook}")
    say(console, f"report:    {course_command('report', report.root)}")


def _totals(report: RunReport) -> Iterator[str]:
    marks = report.graded.marks
    totals = _json_totals(marks.values(), report.words)
    ended = [f"{count} {status}" for status, count in totals["exercises"].items() if count]
    if ended:
        yield "exercises: " + ", ".join(ended)
    if totals["recovered"]:
        yield (
            "(r) another copy, a damaged file, or an answer in another cell: "
            f"{counted(totals['recovered'], 'submission')}; feedback and --json say more"
        )
    scores = by_assignment(marks).values()
    for line in late_lines(scores):
        yield f"(l) {line}"
    yield from _earlier_copies(report, scores)
    yield from marker_lines([*marks.values(), *report.given.values()], report.root)


def _earlier_copies(report: RunReport, scores: Collection[Mark]) -> Iterator[str]:
    for place, key in copies_in_time(report.graded.course, report.root, scores):
        count = course_command(shlex.join(["grade", "--from", place, "--learner", key.learner]), report.root)
        yield printable(f"    {key.name} has an earlier copy: if that was in time, have it count: {count}")
        yield printable(
            f"    if not, ask no more about it: {course_command(shlex.join(['settle', place]), report.root)}"
        )


def print_problems(console: Console, report: RunReport) -> None:
    """What could not be graded or written, and which marks could be forged: a line each."""
    asked = [mark for mark in report.graded.marks.values() if mark.key not in report.seen]
    problems = [mark for mark in asked if mark.problem]
    lines = list(chain.from_iterable(_problem_lines(mark, report) for mark in problems))
    missing = grouped(chain.from_iterable(_missing(mark, report.words) for mark in asked))
    # Those of many that miss the same have a command of their own.
    few = chain.from_iterable(several for several in missing.values() if len(several) < _ALIKE)
    marks = dict.fromkeys(one.key.name for one in (*problems, *few))
    to_settle = [*marks, *(one.key.name for one in report.attendance.nothing_gradable)]
    lines += [*_missing_lines(missing, report), *lines_of(report.attendance, report.root)]
    if to_settle:
        names = to_settle if len(to_settle) < _ALIKE else ["LEARNER/LESSON"]
        lines.append(f"  seen, and nothing more to come: {course_command(shlex.join(['settle', *names]), report.root)}")
    if report.seen:
        lines.append(
            f"settled, and the same since: {len(report.seen)}; {course_command('settle', report.root)} lists them"
        )
    lines += report.graded.notes
    lines += plain_test_lines(report.graded.plain_tests)
    lines += failed_page_lines(report)
    say(console, *lines)


def _place(mark: Mark, report: RunReport) -> str:
    """Where a submission lies, who handed it in, and where to write to them."""
    who = report.attendance.contact(mark.learner)
    place = f"submitted/{mark.learner}/{mark.lesson}"
    return place if who == mark.learner else f"{place}: {who}"


def _problem_lines(mark: Mark, report: RunReport) -> Iterator[str]:
    """Lines on what could not be graded: why, and what to do or to send."""
    yield f"! not graded: {_place(mark, report)}: {mark.problem}"
    if copy := _in_place_of_a_link(report.root, mark.key):
        yield f"    did you make the link, as for a pair? Put a copy there: {copy}"
    elif closed := _closed(places(report.root).folder("submitted", *mark.key)):
        yield f"    your user may not read it: chmod -R u+rX {shlex.quote(str(closed))}; then grade again"
    elif report.feedback and not mark.verdict.grader_failed:
        yield f"    send them their page, which says what to hand in: {page_path(report.root, *mark.key)}"


_ALIKE = 5
"""From this many submissions on that miss the same for the same reason, one line tells of all."""


def _missing_lines(missing: Mapping[tuple[str, str, str, str], Sequence[Mark]], report: RunReport) -> Iterator[str]:
    for (what, lesson, exercises, reason), several in missing.items():
        if len(several) < _ALIKE:
            yield from (f"! {what}: {_place(one, report)}: {exercises}: {reason}" for one in several)
        else:
            yield f"! {what}: {lesson}: {exercises}: in {len(several)} submissions: {reason}"
            names = shlex.join(["settle", *(one.key.name for one in several)])
            yield f"    seen, all of them: {course_command(names, report.root)}"


def _missing(mark: Mark, words: Language) -> Iterator[tuple[tuple[str, str, str, str], Mark]]:
    """What is the matter, the lesson, its exercises and the reason; each with the mark."""
    uncertain = {one.id for one in mark.verdict.exercises if one.status is Status.UNCERTAIN}
    for reason, exercises in grouped((reason, exercise) for exercise, reason in mark.missing(words).items()).items():
        what = "missing" if uncertain.isdisjoint(exercises) else Status.UNCERTAIN
        yield (what, mark.lesson, ", ".join(exercises), reason), mark


def _in_place_of_a_link(root: Path, key: Key) -> str:
    """What puts a copy where the first link to a notebook is; empty if there is none."""
    notebook = places(root).notebook("submitted", *key)
    copies = (
        f"rm {shlex.quote(str(path))} && {shlex.join(['cp', '-rL', str(path.resolve()), str(path)])}"
        for path in (notebook.parent.parent, notebook.parent, notebook)
        if os.path.islink(path) and os.path.exists(path)
    )
    return next(copies, "")


def _closed(folder: Path) -> Path | None:
    """The folder, if there is something in it that the user may not read: no link that leads nowhere, nor what is missing."""
    faults: list[OSError] = []
    files: list[str] = []
    for place, _, names in os.walk(folder, onerror=faults.append):
        files += [os.path.join(place, name) for name in names]
    denied = any(isinstance(one, PermissionError) for one in faults)
    return folder if denied or not all(os.access(one, os.R_OK) or os.path.islink(one) for one in files) else None


def failed_page_lines(report: RunReport) -> list[str]:
    """A line for each feedback page that could not be written."""
    return [f"! not written: feedback/{learner}/{lesson}: {reason}" for learner, lesson, reason in report.failed_pages]


def summary_line(report: RunReport) -> str:
    """One line for the whole run."""
    counts = Counter(mark.how for mark in report.graded.marks.values())
    parts = [f"{name} {counts[name]}" for name in ("graded", "unchanged")]
    others = {
        "not graded": counts["not graded"],
        # These are no submissions that a run begins with: it has not counted them there.
        "nothing that can be graded": len(report.attendance.nothing_gradable),
    }
    parts += [f"{name} {count}" for name, count in others.items() if count]
    time = duration(report.seconds) if report.seconds >= 60 else f"{report.seconds:.1f} s"
    parts.append(time)
    if report.graded.graded:
        parts.append(f"seed {report.graded.seed}")
    return ", ".join(parts)


def _table_of(results: ClassResults, learners: Sequence[str]) -> Table:
    marks = by_assignment(results.marks)
    # Of a lesson's marks the last one in this order counts, which has the most points.
    most = {mark.lesson: mark.max_score for mark in sorted(marks.values(), key=lambda one: one.max_score)}
    # A notebook that nobody handed in is a part of its assignment all the same.
    most |= {one.slug: one.max_score for one in results.lessons if one.slug in most}
    table = Table(title="scores")
    table.add_column("learner", overflow="fold", max_width=30)
    for lesson in sorted(most):
        table.add_column(Text(f"{lesson}\nof {most[lesson]:g}"), justify="right", overflow="fold")
    table.add_column("total", justify="right")
    for learner in learners:
        own = [marks.get(Key(learner, lesson)) for lesson in sorted(most)]
        total = sum(mark.score for mark in own if mark is not None)
        table.add_row(Text(learner), *map(_shown, own), f"{total:g}")
    return table


def _shown(mark: Mark | None) -> str:
    if mark is None:
        return "-"
    if mark.unmarked:
        return "[red]![/]"
    signs = {"!": mark.problem, "(l)": mark.is_late, "(r)": mark.is_mended}
    shown = "".join(sign for sign, holds in signs.items() if holds)
    return f"{shown} {mark.score:g}".strip()


# The same as JSON: everything that a script needs.

GO_ON = "run the same command again to go on"
"""What to do after an interruption."""
SCHEMA = 3
"""Rises when a field is renamed, taken away or means something else; not when one is added."""


def class_as_json(report: RunReport, exit_code: int) -> dict[str, Any]:
    """The JSON of a run that came to its end."""
    graded = report.graded
    marks = {**graded.marks, **report.given}.values()
    seed = graded.seed if graded.graded else None
    feedback = str(report.feedback.resolve()) if report.feedback else None
    collected = report.collected.as_dict() if report.collected else None
    return {
        **_head(exit_code, report.seconds),
        "seed": seed,
        "gradebook": graded.gradebook,
        "feedback": feedback,
        "regraded_because": list(graded.reasons),
        "plain_tests": graded.plain_tests,
        "totals": _json_totals(marks, report.words),
        "submissions": _submissions(marks, report.words),
        "nothing_handed_in": {lesson: list(who) for lesson, who in report.attendance.missing.items() if who},
        "nothing_gradable": [asdict(one) for one in report.attendance.nothing_gradable],
        "undecided": [key._asdict() | {"copies": copies} for key, copies in report.attendance.undecided.items()],
        "without_place": list(report.attendance.without_place),
        "passed_over": list(graded.notes),
        "settled": sorted(key.name for key in report.seen),
        "feedback_not_written": [list(page) for page in report.failed_pages],
        "collected": collected,
    }


def error_as_json(
    course: Course, error: CourseError | None, reached: Iterable[Mark] = (), *, seconds: float
) -> dict[str, Any]:
    """The JSON of a run that did not come to its end, and what it had ``reached``; ``error`` is None if it was interrupted."""
    ended = error or CourseError("interrupted", "", GO_ON)
    fact = {"fact": ended.fact, "place": ended.place, "next": ended.next_command}
    code = EXIT_CODE if error is None else error.exit_code
    return {**_head(code, seconds), "error": fact, "submissions": _submissions(reached, words_of(course))}


def _head(exit_code: int, seconds: float) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "command": "grade",
        "ended": datetime.now(UTC).isoformat(timespec="seconds"),
        "exit_code": exit_code,
        "seconds": round(seconds, 3),
        "error": None,
    }


def _json_totals(marks: Collection[Mark], words: Language) -> dict[str, Any]:
    how = Counter(mark.how for mark in marks)
    exercises = chain.from_iterable(mark.verdict.exercises for mark in marks)
    statuses = Counter(one.status for one in exercises)
    return {
        "submissions": len(marks),
        "graded": how["graded"],
        "unchanged": how["unchanged"],
        "not_graded": how["not graded"],
        "recovered": sum(mark.is_mended for mark in marks),
        "with_lost_answers": sum(bool(mark.missing(words)) for mark in marks),
        "late": sum(mark.is_late for mark in marks),
        "waiting_for_marks": sum(mark.waiting for mark in marks),
        "exercises": {status: statuses[status] for status in Status},
    }


def _submissions(marks: Iterable[Mark], words: Language) -> list[dict[str, Any]]:
    rows = []
    for mark in marks:
        exercises = [exercise_row(one, words) for one in mark.verdict.exercises]
        rows.append({**submission_row(mark, words), "exercises": exercises})
    return rows


def write_json(target: str, results: dict[str, Any]) -> None:
    """Write it to a file, whole or not at all, or to standard output if ``target`` is ``-``. Raises OSError."""
    # Names may hold halves of surrogate pairs, which no file does: they are escaped.
    text = json.dumps(results, indent=1)
    if target == "-":
        print(text, flush=True)
    else:
        replace_file(Path(target), text + "\n")
