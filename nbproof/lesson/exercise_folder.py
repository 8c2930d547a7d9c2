"""An exercise's folder, ``lessons/<slug>/<exercise>/``: its checks, right and wrong answers, and help.

=============  ===========================================================================================
``checks.py``  the visible checks and, below the line :data:`HIDDEN`, those that learners do not get
``right.py``   accepted answers, ``wrong.py`` mutants: a cell each, ``# %% name``
=============  ===========================================================================================

An exercise with split points has a test cell for each part, and a cell ``# %% part`` for each in ``checks.py``.

Answers stand there as somebody might hand them in: a cell is the whole text of the TODO cell. The first line of a wrong one
names its misconception, and the hint that its learner should get::

    # %% rebinds_output
    # misconception: rebinds the name | hint: rebinds_output
    # breaks: adds 5 to the output
    add = Add()
    ...

Lines below it say which words of the statement it breaks (:mod:`nbproof.authoring.statements`), and which answer it is made
of, if edits of that one follow, as ``diff`` writes them: the reference, an accepted answer, or a mutant above it::

    # edits: reference
    -    return output + 5
    +    output = output + 5

Lines with ``-`` go, lines with ``+`` come in their place, and lines with a space stay: they say where. Lines that stand
together there stand together in the answer, and there only once; a line ``@@`` parts them from the next ones, further down.
Edits with ``+`` alone are added at the end.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from nbproof.course_file import Course
from nbproof.errors import LessonError
from nbproof.handed_out import CHECKS, HIDDEN, HINTS, NamedCell, key_of, read_named_cells
from nbproof.lesson.check_cell import grade_id_of, import_lines, left_out, the_call
from nbproof.lesson.lesson import FILES, Candidate
from nbproof.syntax import parsed

__all__ = [
    "EXPLORE",
    "RIGHT",
    "WRONG",
    "key_called",
    "nothing_to_break",
    "read_accepted",
    "read_checks",
    "read_mutants",
    "refuse_no_python",
    "refuse_unexpected",
    "refuse_unmatched",
]


RIGHT, WRONG, EXPLORE = "right.py", "wrong.py", "explore.py"

_LEFT_OVER = ("__pycache__", ".ipynb_checkpoints")
"""What Python and Jupyter leave behind."""

_NEARLY = re.compile(r"#.*hidden checks", re.IGNORECASE)


def read_checks(folder: Path, ids: Collection[str]) -> dict[str, NamedCell]:
    """By their keys, the checks in the folders of these exercises. Raises LessonError for some that cannot be cut, or run."""
    found: dict[str, NamedCell] = {}
    for exercise in sorted(ids):
        for cell in read_named_cells(folder / exercise / CHECKS):
            key = key_of(exercise, cell.name)
            _refuse_uncut(cell, grade_id_of(key))
            found[key] = cell
    return found


def _refuse_uncut(cell: NamedCell, grade_id: str) -> None:
    lines = cell.source.split("\n")
    for number, line in enumerate(lines, cell.line):
        if _NEARLY.match(line) and line != HIDDEN:
            raise LessonError(
                f"{grade_id}: this line nearly says that hidden checks begin: {line!r}",
                f"{cell.path}:{number}",
                f"write exactly: {HIDDEN}; or other words",
            )
    for part, start in ((cell.visible, cell.line), (cell.hidden, cell.line + cell.visible.count("\n") + 2)):
        refuse_no_python(part, f"{cell.path}:{start}", grade_id)
    stray = left_out(cell.source)
    if stray:
        number = stray[0].lineno - 1
        raise LessonError(
            f"{grade_id}: where it is graded, this line does not run: {lines[number].strip()!r}",
            f"{cell.path}:{cell.line + number}",
            "bind each name once, by an import, def, class or one assignment; compute the value there, or in a function",
        )


def refuse_no_python(source: str, place: str, name: str) -> None:
    """Raise LessonError, with this place, if a text is no Python; ``name``: of the cell."""
    try:
        parsed(source)
    except SyntaxError as error:
        raise LessonError(
            f"{name}: {error.msg} in its line {error.lineno}: {(error.text or '').strip()}",
            place,
            "mend the Python",
        ) from None


def key_called(course: Course, source: str, grade_id: str, place: str) -> str:
    """The key of the checks that a test cell's two lines stand for; empty if it has its own tests.

    Raises LessonError if its two lines stand for none.
    """
    if not set(import_lines(course)) & set(source.split("\n")):
        return ""
    call = the_call(course, source.strip())
    if call is None:
        raise LessonError(
            f"{grade_id}: a check cell of another form",
            place,
            "write two lines: from nbproof import check, and "
            'check("<id>"); in test_<id>_<part>: check("<id>", part="<part>")',
        )
    key = key_of(call["id"], call["part"] or "")
    if grade_id != grade_id_of(key):
        raise LessonError(
            f"{grade_id} calls the checks of {grade_id_of(key)}",
            place,
            "write its own exercise there, and its own part, if it is one",
        )
    return key


def refuse_unmatched(called: Mapping[str, str], checks: Mapping[str, NamedCell], folder: Path) -> None:
    """Raise LessonError for a test cell that calls checks which are not there, and for checks that no test cell calls.

    ``called``: key -> place of the test cell.
    """
    for key in sorted(called.keys() ^ checks.keys()):
        exercise, _, part = key.partition("/")
        missing, place = ("its checks are", called[key]) if key in called else ("its test cell is", checks[key].place)
        raise LessonError(
            f"{grade_id_of(key)}: {missing} not there",
            place,
            f"write both, or neither: two lines in lesson.py, and {part or 'checks'} in {folder / exercise / CHECKS}",
        )


def refuse_unexpected(folder: Path, ids: Collection[str]) -> None:
    """Raise LessonError for what lies in a lesson's folder, and belongs to none of its exercises."""
    of_lesson = ("lesson.py", HINTS, FILES, *ids)
    beside = [path for path in folder.iterdir() if path.name not in of_lesson]
    beside += [
        path
        for path in folder.glob("*/*")
        if path.parent.name in ids and path.name not in (CHECKS, RIGHT, WRONG, EXPLORE)
    ]
    for path in beside:
        if path.name not in _LEFT_OVER and any(one.is_file() for one in (path, *path.rglob("*"))):
            raise LessonError(
                "something unexpected in a lesson folder",
                str(path),
                f"rename it if its exercise has another id now; if that is gone: git rm -r {path}. A lesson has lesson.py and "
                f"{HINTS}, an exercise's folder {CHECKS}, {RIGHT}, {WRONG} and {EXPLORE}. Exercises: {', '.join(sorted(ids))}",
            )


_MUTANT = re.compile(
    r"#\s*misconception:\s*(?P<name>.+?)\s*\|\s*hint:\s*(?P<hint>[a-z0-9_]+|none)\s*(?P<canary>\| canary)?$"
)
_BREAKS = re.compile(r"#\s*breaks:\s*(?P<quote>.+?)\s*$")
_EDITS = re.compile(r"#\s*edits:\s*(?P<answer>\w+)\s*$")
_NOTHING = re.compile(r"#\s*nothing to break:\s*(?P<quote>.+?)\s*$")


def read_accepted(folder: Path) -> tuple[Candidate, ...]:
    """The accepted answers in an exercise's folder, in their order."""
    cells = _answers(folder / RIGHT)
    return tuple(Candidate(cell.name, "accepted", cell.source + "\n", cell.place) for cell in cells)


def read_mutants(folder: Path, right: Iterable[Candidate]) -> tuple[Candidate, ...]:
    """The mutants in an exercise's folder, in their order, as whole texts: some are edits of an answer that is ``right``.

    Raises LessonError for one without a misconception, and for edits that do not fit.
    """
    answers = {one.name: one.source.rstrip("\n").split("\n") for one in right}
    found = []
    for cell in _answers(folder / WRONG):
        mutant = _mutant(cell, answers)
        if mutant.name in answers:
            raise LessonError(f"two answers are called {mutant.name!r}", cell.place, "rename one of them")
        found.append(mutant)
        lines = mutant.source.rstrip("\n").split("\n")
        answers[cell.name] = lines[1 + len(mutant.breaks) :]
    return tuple(found)


def _answers(path: Path) -> Iterator[NamedCell]:
    """The cells of a file of answers."""
    for cell in read_named_cells(path):
        if cell.name:
            yield cell
        elif not all(line.startswith("#") for line in cell.source.split("\n") if line.strip()):
            raise LessonError("an answer without a name", cell.place, "put a '# %% name' above each answer")


def _mutant(cell: NamedCell, answers: Mapping[str, list[str]]) -> Candidate:
    head, *lines = cell.source.split("\n")
    first = f"{cell.path}:{cell.line}"
    match = _MUTANT.match(head)
    if match is None:
        raise LessonError(
            "a mutant's first line names its misconception and the hint expected for it",
            first,
            "write: # misconception: <in a few words> | hint: <id, or none>",
        )
    quoted = list(itertools.takewhile(_BREAKS.match, lines))
    body = lines[len(quoted) :]
    edits = _EDITS.match(body[0]) if body else None
    if edits is not None:
        place = f"{cell.path}:{cell.line + 1 + len(quoted)}"
        if edits["answer"] not in answers:
            cure = f"name one of: {', '.join(answers)}"
            raise LessonError(f"edits of {edits['answer']!r}, which is no answer above it", place, cure)
        body = _edited(answers[edits["answer"]], body[1:], place)
    hint = None if match["hint"] == "none" else match["hint"]
    return Candidate(
        cell.name,
        "mutant",
        "\n".join([head, *quoted, *body]) + "\n",
        cell.place,
        match["name"],
        hint,
        tuple(found["quote"] for line in quoted if (found := _BREAKS.match(line))),
        match["canary"] is not None,
    )


_FURTHER_DOWN = "@@"


def _edited(answer: Sequence[str], edits: Sequence[str], place: str) -> list[str]:
    """The lines of ``answer`` with these edits. Raises LessonError, with this place, for one that does not fit."""
    lines, below = list(answer), 0
    for parted, group in itertools.groupby(edits, _FURTHER_DOWN.__eq__):
        if parted:
            continue
        edit = list(group)
        strange = [line for line in edit if line[:1] not in " -+"]
        if strange:
            raise LessonError(
                f"an edit that begins with none of '-', '+' and ' ': {strange[0]!r}", place, "write one of them"
            )
        old = [line[1:] for line in edit if not line.startswith("+")]
        new = [line[1:] for line in edit if not line.startswith("-")]
        start = _only_place(lines, old, below, place) if old else len(lines)
        lines[start : start + len(old)] = new
        below = start + len(new)
    return lines


def _only_place(lines: list[str], old: list[str], below: int, place: str) -> int:
    """Where these lines stand, from line ``below`` on."""
    found = [at for at in range(below, len(lines) - len(old) + 1) if lines[at : at + len(old)] == old]
    if len(found) != 1:
        raise LessonError(
            f"{old[0]!r} stands there {len(found)} times, and has to stand there once",
            place,
            "quote the answer as it is now (the reference: in lesson.py); a line above or below, with a space, says which one",
        )
    return found[0]


def nothing_to_break(folder: Path) -> Iterator[tuple[str, str]]:
    """What the head of an exercise's wrong.py quotes of the statement as no demand, each with its place."""
    path = folder / WRONG
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("# %%"):
            return
        quoted = _NOTHING.match(line)
        if quoted is not None:
            yield quoted["quote"], f"{path}:{number}"
