"""What ``python -m course report`` does: read the class, write page and files, fill grade files."""

from __future__ import annotations

import sys
from argparse import Namespace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from nbproof.cli.report_table import Filled, print_report, tell_absent, tell_file
from nbproof.command import with_extra
from nbproof.errors import CourseError, UsageError
from nbproof.files import replace_file

if TYPE_CHECKING:
    pass

__all__ = ["report"]

_LIBRARIES = ("matplotlib", "numpy")
"""What grading needs none of: an extra of the tool's."""


def report(request: Namespace) -> int:
    """0 if all is written; 1 if something is missing, which is listed. Raises CourseError.

    ``request``: a call of the command.
    """
    missing = [name for name in _LIBRARIES if find_spec(name) is None]
    if missing:
        raise UsageError(
            "a report computes and draws with libraries that are not installed",
            ", ".join(missing),
            with_extra("report"),
        )
    from nbproof.terminal import progress

    with progress("reading"):
        from nbproof.report.records import read_class
        from nbproof.report.report import folder_of, make_report
        from nbproof.run.batch import follow_marks
        from nbproof_lms.attendance import known_of
        from nbproof_lms.grades_command import columns_of, exports_of, grade_files, known_elsewhere

    exports = exports_of(request)
    if request.anonymous and exports:
        raise UsageError(
            "grade files name learners, and --anonymous hides them",
            str(min(exports.values())),
            "run it twice: once with --anonymous, once with the grade file",
        )
    chosen = columns_of(request.column, exports)
    with progress("reading") as step:
        follow_marks(request.course)
        records = read_class(request.course, request.names, step, known_of(request.course))
    made, refused = grade_files(request.course, exports, records, chosen, request.names)
    folder = folder_of(request.course, request.out, request.anonymous)
    with progress("report"):
        found = make_report(request.course, records, folder, anonymous=request.anonymous, excel=request.excel)
    for name, file in made.items():
        _save(folder / f"{name}.csv", file.data)
    if request.json:
        print((folder / "report.json").read_text(encoding="utf-8"))
    else:
        print_report(found, folder / "index.html")
    complete = not (refused or records.unreadable)
    for name, file in made.items():
        elsewhere = known_elsewhere(request.course, name, made)
        call = Filled(exports[name], len(made), request.json)
        whole = tell_file(name, file, folder / f"{name}.csv", elsewhere, call)
        tell_absent(found, file, quiet=request.json)
        complete = complete and whole
    for error in (*records.unreadable, *refused):
        print("\n".join(error.lines()), file=sys.stderr)
    return 0 if complete else 1


def _save(path: Path, data: bytes) -> None:
    try:
        replace_file(path, data)
    except OSError as error:
        raise CourseError(
            f"the grade file cannot be written: {error.strerror}", str(path), "choose a place: --out DIR"
        ) from None
