"""What ``python -m course report`` does: read the class, write page and files, fill grade files, tell what stands in them."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from nbproof.command import course_command
from nbproof.errors import UsageError
from nbproof.gradebook.marks import ClassResults, Person, by_assignment
from nbproof.key import Key
from nbproof.nbgrader.next_door import (
    astray_lines,
    background_of,
    columns_of,
    exports_of,
    grade_files,
    known_elsewhere,
    members_of,
    nothing_gradable_in,
    options_of_exports,
    seen_in,
    two_ids_lines,
    without_place,
    zeros,
    zeros_apart,
    zeros_lines,
)
from nbproof.report.records import outdated, read_class, withdrawn
from nbproof.report.report import find_formats, make_report
from nbproof.report.statistics import late_lines, marker_lines, missing_lines
from nbproof.run.batch import follow_marks
from nbproof.terminal import console_for_output, progress, say
from nbproof.text import counted, printable

if TYPE_CHECKING:
    from nbproof.nbgrader.next_door import GradeFile

__all__ = ["report"]


def report(request: Namespace) -> int:
    """0 if all is written; 1 if something is missing, which is listed. Raises CourseError.

    ``request``: a call of the command.
    """
    exports = exports_of(request)
    formats = find_formats(request.formats)
    chosen = columns_of(request.column)
    with progress("reading") as step:
        known = background_of(request.works_for, request.course)
        hindered, moved = follow_marks(request.course, known.late)
        results = read_class(request.works_for, request.course, request.names, step, known)
    handed_in = results.marks.keys() - known.problems.keys()
    # Of these lessons alone it would have more: who has handed in another one is known by that.
    others = [one for one in nothing_gradable_in(request.course, handed_in) if one.key in known.problems]
    seen = seen_in(request.course, results.marks, others)
    given, notes = zeros(results, request.zero, seen, [one.key for one in others])
    if exports:
        results = replace(results, notes=(*results.notes, *notes))
    made, refused = grade_files(request.course, exports, results, chosen, request.names, given)
    # The report of the term stays what it is.
    folder = request.out or request.course / "report" / "+".join(request.names).replace("/", "-")
    _refuse_to_write_over(exports, folder)
    with progress("report"):
        files = {f"{name}.csv": file.data for name, file in made.items()}
        told = make_report(request.course, results, folder, files, request.excel, request.names, formats)
    if request.json:
        print((folder / "report.json").read_text(encoding="utf-8"))
    else:
        _print_report(request.course, results, told, folder / "index.html", seen)
    out = sys.stderr if request.json else sys.stdout
    for one in formats:
        print(f"written:   {(folder / one.file).resolve()}", file=out)
    outrun = outdated(results)
    astray = astray_lines(without_place(request.course, others), request.course)
    lines = [*moved, *outrun, *astray, *marker_lines(results.marks.values(), request.course)]
    lines += _of_before(folder, made)
    lines += _zero_for_nothing(request.zero, exports)
    if lines:
        say(console_for_output(stderr=request.json), "\n".join(lines))
    complete = _tell_files(request.course, made, folder, results.people, out)
    errors = (*hindered, *results.unreadable, *refused)
    for error in errors:
        print("\n".join(error.lines()), file=sys.stderr)
    return 1 if errors or (exports and outrun) or not complete else 0


def _refuse_to_write_over(exports: Mapping[str, Path], folder: Path) -> None:
    """Raise UsageError if a grade file of the report in ``folder`` would take the place of one of these exports."""
    for name, export in exports.items():
        if export.resolve() == (folder / f"{name}.csv").resolve():
            raise UsageError(
                "the report would write over this export",
                str(export),
                "move it to another folder, or name another one for the report: --out DIR",
            )


def _of_before(folder: Path, made: Collection[str]) -> Iterator[str]:
    """A line for each grade file that lies there and was not made now."""
    for path in (folder / f"{name}.csv" for name in options_of_exports() if name not in made):
        if path.exists():
            yield f"! not of now: {path.resolve()} is of an earlier report: do not import it"


def _zero_for_nothing(zero: Collection[str], exports: Collection[str]) -> Iterator[str]:
    """A line if a 0 was asked for, and no grade file that could have it."""
    if zero and not exports:
        which = " or ".join(f"--{option} FILE" for option in options_of_exports())
        yield f"! --zero: its 0 stands in grade files alone, and none was asked for: add {which}"


def _print_report(
    root: Path,
    results: ClassResults,
    tables: Mapping[str, Sequence[Mapping[str, Any]]],
    page: Path,
    seen: Collection[Key],
) -> None:
    """A plain summary on standard output. ``tables``: what stands on the page. ``seen``: what was settled, and is not told."""
    console = console_for_output()
    called = {person.id: person.contact for person in results.people}
    needy = [row for row in tables["needs_help"] if row["first"]]
    first = [f"  {printable(called[row['learner']])}: {'; '.join(row['reasons'])}" for row in needy]
    if needy:
        first.insert(0, "talk first to")
    scores = by_assignment(results.marks).values()
    missing = {row["lesson"]: row["missing"] for row in tables["lessons"]}
    waiting = [one for one in results.ungraded() if not (one.behind or one.key in seen)]
    lines = (
        *missing_lines(missing, called.__getitem__),
        *late_lines(scores),
        *withdrawn(root, scores),
        *two_ids_lines(results.people, scores, root),
        *zeros_lines(results.people),
        *(f"! not graded: {called[one.learner]}: {one.lesson}: {one.problem}" for one in waiting),
        *first,
        *(f"note: {note}" for note in results.notes),
        f"report:    {page.resolve()}",
    )
    say(console, "\n".join(lines))


def _tell_files(
    root: Path, made: Mapping[str, GradeFile], folder: Path, people: Sequence[Person], out: IO[str]
) -> bool:
    """What stands in each grade file in ``folder``, and whether nobody has to do anything about the rest of any."""
    alike = {one.id for one in chain.from_iterable(zeros_apart(people))}
    enrolled = {member.learner for member in members_of(root)}
    complete = [
        _tell_file(name, file, folder / f"{name}.csv", known_elsewhere(name, made), (alike, enrolled), out)
        for name, file in made.items()
    ]
    return all(complete)


def _tell_file(
    name: str, file: GradeFile, path: Path, elsewhere: frozenset[str], known: tuple[set[str], set[str]], out: IO[str]
) -> bool:
    """What stands in the file, and whether nobody has to do anything about the rest. ``elsewhere``: learners of another LMS.
    ``known``: learners with an id that differs from another one only in zeros, and all of the roster.
    """
    lines = [f"{(name + ':').ljust(10)} {path.resolve()}  ({counted(file.filled, 'grade')})"]
    lines += [f"  {lesson}: in the column {printable(column)!r}" for lesson, column in file.columns.items()]
    lines += [f"  note: {note}" for note in file.notes]
    if elsewhere:
        lines.append(f"  {counted(len(elsewhere), 'learner')} of another LMS: their grades are not for this file")
    unknown = [learner for learner in file.unmatched if learner not in elsewhere]
    theirs = f"{name.capitalize()}'s export"
    lines += [f"  ! {printable(who)}: has a grade, and {theirs} has no such person" for who in unknown]
    several = f"fits several rows of {theirs}, or shares a row with another learner"
    lines += [f"  ! {printable(who)}: has a grade, and {several}" for who in file.unclear]
    alike, enrolled = known
    lines += _about_rows({*unknown, *file.unclear}, alike, bool(file.unclear) or not enrolled.issuperset(unknown))
    print("\n".join(lines), file=out)
    return not (unknown or file.unclear)


def _about_rows(who: set[str], alike: set[str], may_be_group: bool) -> list[str]:
    """What to do for these learners: no grade is written into their rows. ``alike``: as in :func:`_tell_file`."""
    if not who:
        return []
    if who <= alike:
        return ["  about ids that differ only in zeros: see above; then run the same report again"]
    each = 'for one in GROUP/*; do ls -d "MEMBER/${one#*/}" 2>/dev/null || cp -r "$one" MEMBER; done'
    copy, gone = f"(cd submitted && mkdir -p MEMBER && {each})", course_command("roster remove GROUP")
    add = course_command("roster add ID --name '...' --email ...")
    told = [
        "  next: nothing for learners who have left the class there. For others:",
        f"        {add}, with the name or the address that stands in the row, or",
        "        --also and an id or a number that stands there, then run the same report again;",
        "        where two rows differ in nothing but the order of a name: type these grades in yourself;",
        "        or, if the class is in two LMSs: name the other's export as well;",
        "        or, if it is one person in several rows: leave one of these rows in the export, then the same report",
    ]
    group = [
        f"  a group that handed in as one: {copy} for each member, then: {gone}; then: {course_command('grade')};",
        "        a folder that this names is the member's own work, and stays: if the group's work counts, move it out of",
        "        submitted/, and copy once more, before the group is removed;",
        "        marks and an extension that people gave to the group go with it: give them to each member; the extension by",
        f"        {course_command('roster extend MEMBER LESSON DATE')}",
    ]
    return [*told, *group] if may_be_group else told
