"""The overview of a learner's own work: what is solved, what was tried, where to go on.

It is kept in one small file on the learner's own disk, and never sent anywhere. The file is an SQLite database, so that two
notebooks may write at one time; it lies where the system keeps a user's data, or where the environment variable
COURSE_PROGRESS says. If anything is wrong with it (a full disk, a folder that is read-only), a learner loses the overview and
nothing else.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from nbproof.course_file import Course
from nbproof.display.outline import OutlinedExercise, OutlinedLesson, exercises_of, outline
from nbproof.front_end import MONO, framed, prose, show, sign
from nbproof.values.words import words_of

__all__ = [
    "DiaryError",
    "diary_path",
    "entries",
    "forget",
    "html_of",
    "note",
    "overview",
    "show_progress",
    "text_of",
]


class DiaryError(Exception):
    """The file cannot be read or written; the text says why and where."""


@dataclass(frozen=True)
class _StoredTry:
    """One exercise: how often it was checked, when last, and when it was solved (seconds since 1970)."""

    exercise: str
    tries: int
    last: float
    solved: float | None


def diary_path(course: Course) -> Path:
    """The path of the file."""
    chosen = os.environ.get("COURSE_PROGRESS")
    if chosen:
        return Path(chosen).expanduser()
    import platformdirs

    return platformdirs.user_data_path(course.name, appauthor=False) / "progress.db"


_TABLES = """
CREATE TABLE IF NOT EXISTS exercise (id TEXT PRIMARY KEY, tries INTEGER NOT NULL, first REAL, last REAL, solved REAL);
CREATE TABLE IF NOT EXISTS cell (exercise TEXT, checks TEXT, passed INTEGER NOT NULL, PRIMARY KEY (exercise, checks));
"""


@contextlib.contextmanager
def _opened(course: Course) -> Iterator[sqlite3.Connection]:
    """A connection to the file, made if there is none, for one transaction. Raises DiaryError."""
    path = diary_path(course)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.closing(sqlite3.connect(path, timeout=2)) as connection, connection:
            connection.executescript(_TABLES)
            yield connection
    except (OSError, sqlite3.Error) as error:
        raise DiaryError(words_of(course).text("cannot be used", path=path, error=error)) from None


def note(course: Course, exercise: str, passed: Mapping[str, bool], cells: Sequence[Sequence[str]]) -> bool:
    """Write down one run of a test cell. Returns whether its exercise is solved. Raises DiaryError.

    ``passed``: for each check of that cell whether it passed. ``cells``: the checks of each test cell of the exercise. An
    exercise is solved once every cell's checks have passed together, and stays so.
    """
    key = ",".join(passed)
    now = time.time()
    with _opened(course) as connection:
        connection.execute(
            "INSERT INTO exercise VALUES (?, 1, ?, ?, NULL) ON CONFLICT (id) DO UPDATE SET tries = tries + 1, last = ?",
            (exercise, now, now, now),
        )
        connection.execute(
            "INSERT INTO cell VALUES (?, ?, ?) ON CONFLICT (exercise, checks) DO UPDATE SET passed = excluded.passed",
            (exercise, key, int(all(passed.values()))),
        )
        rows = connection.execute("SELECT checks FROM cell WHERE exercise = ? AND passed", (exercise,))
        whole = {row[0] for row in rows}
        if {",".join(cell) for cell in cells} <= whole:
            connection.execute("UPDATE exercise SET solved = ? WHERE id = ? AND solved IS NULL", (now, exercise))
        (solved,) = connection.execute("SELECT solved FROM exercise WHERE id = ?", (exercise,)).fetchone()
        return solved is not None


def entries(course: Course) -> dict[str, _StoredTry]:
    """The exercises that were tried, by their ids. Raises DiaryError."""
    with contextlib.suppress(OSError):
        if not diary_path(course).exists():
            return {}
    with _opened(course) as connection:
        rows = connection.execute("SELECT id, tries, last, solved FROM exercise").fetchall()
    return {row[0]: _StoredTry(*row) for row in rows}


def forget(course: Course) -> None:
    """Delete the file, if there is one. Raises DiaryError."""
    path = diary_path(course)
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise DiaryError(f"{path} cannot be removed: {error}") from None


_MARKS = {"solved": ("✓", "#2f9e63"), "tried": ("…", "#c8851a"), "untried": ("○", "#8a8f98")}


@dataclass(frozen=True)
class _Overview:
    """Every exercise with its state, and where to go on."""

    course: Course
    lessons: tuple[OutlinedLesson, ...]
    states: Mapping[str, str]
    """Exercise id -> 'untried', 'tried' or 'solved'."""
    next: tuple[OutlinedLesson, OutlinedExercise] | None
    """The first exercise that is not solved after the one that was worked on last, with its lesson; None if all are solved."""
    trouble: str
    """Why progress is not kept; empty if it is."""

    @property
    def go_on(self) -> str:
        """One sentence that says where to go on; empty if everything is solved."""
        if self.next is None:
            return ""
        lesson, exercise = self.next
        words = words_of(self.course)
        where = words.text("lesson", number=_number(lesson))
        return words.text("go on", title=exercise.title, lesson=where, minutes=exercise.minutes)

    @property
    def total(self) -> str:
        """One sentence with the exercises and points so far, and the minutes that are left."""
        every = [exercise for _, exercise in exercises_of(self.lessons)]
        solved = [one for one in every if self.states[one.id] == "solved"]
        at_hand = any(self.course.source_of(lesson.slug).exists() for lesson in self.lessons)
        withheld = 0 if at_hand else sum(sum(one.hidden) for one in solved)
        points = sum(one.points for one in solved)
        most = sum(one.points for one in every)
        left = sum(one.minutes for one in every) - sum(one.minutes for one in solved)
        return words_of(self.course).total(len(solved), len(every), withheld, points, most, left)


def overview(course: Course) -> _Overview:
    """The overview of all lessons, from what the diary says about them."""
    trouble = ""
    known: Mapping[str, _StoredTry] = {}
    try:
        known = entries(course)
    except DiaryError as error:
        trouble = words_of(course).text("not kept", error=error)
    lessons = outline(course)
    states = {exercise.id: _state_of(known.get(exercise.id)) for _, exercise in exercises_of(lessons)}
    return _Overview(course, lessons, states, _next(lessons, states, known), trouble)


def _state_of(tried: _StoredTry | None) -> str:
    if tried is None:
        return "untried"
    return "tried" if tried.solved is None else "solved"


def _next(
    lessons: tuple[OutlinedLesson, ...], states: Mapping[str, str], known: Mapping[str, _StoredTry]
) -> tuple[OutlinedLesson, OutlinedExercise] | None:
    """The first exercise that is open, from the one that was worked on last onwards, then from the beginning."""
    order = list(exercises_of(lessons))
    tried = {at: known[one.id].last for at, (_, one) in enumerate(order) if one.id in known}
    start = max(tried, key=lambda at: tried[at], default=0)
    return next((pair for pair in order[start:] + order[:start] if states[pair[1].id] != "solved"), None)


def text_of(seen: _Overview) -> str:
    """The overview as plain text: a line for each lesson, exercise and sentence."""
    say = words_of(seen.course)
    lines = []
    for lesson in seen.lessons:
        lines.append(f"{_number(lesson)} {lesson.title}".replace("`", ""))
        for one in lesson.exercises:
            state = seen.states[one.id]
            row = say.text("row", title=one.title, id=one.id, state=say.text(f"state {state}"), minutes=one.minutes)
            lines.append(f"  {_MARKS[state][0]} {row}")
    return "\n".join([*lines, *filter(None, (seen.total, seen.go_on, seen.trouble))])


def _number(lesson: OutlinedLesson) -> str:
    return lesson.slug.split("_")[0]


def html_of(seen: _Overview) -> str:
    """The overview as HTML of a panel, with a row for each lesson and a chip for each exercise."""
    say = words_of(seen.course)
    rows = "".join(_row(seen, lesson) for lesson in seen.lessons)
    legend = " &nbsp; ".join(
        f"{sign(mark, colour)}&nbsp;{say.text(f'state {state}')}" for state, (mark, colour) in _MARKS.items()
    )
    after = f"<div><b>{escape(seen.total)}.</b></div>"
    if seen.next is not None:
        slug = escape(seen.next[0].slug)
        link = f'<a style="color:inherit;text-decoration:underline" href="../{slug}/{slug}.ipynb">'
        after += f"<div>{link}{escape(seen.go_on)}</a></div>"
    after += f"<div>{escape(seen.trouble)}</div>"
    title = say.text("your progress")
    heading = f'{title} <span style="font-weight:400">({say.text("on this computer")}) &nbsp; {legend}</span>'
    page = f'<div style="font-weight:600">{heading}</div>{rows}{after}'
    return framed(page, f'role="region" aria-label="{title}"', width=64)


def _row(seen: _Overview, lesson: OutlinedLesson) -> str:
    chips = "".join(_chip(one, seen) for one in lesson.exercises)
    solved = sum(seen.states[one.id] == "solved" for one in lesson.exercises)
    # Beside each other where there is room, below each other on a phone.
    return (
        f'<div style="display:flex;flex-wrap:wrap;margin:.3em 0"><div style="flex:0 1 15em;margin-right:.8em">'
        f"{_number(lesson)} {prose(lesson.title)}"
        f' <span style="opacity:.75">{solved}/{len(lesson.exercises)}</span></div>'
        f'<div style="flex:1 1 22em">{chips}</div></div>'
    )


def _chip(one: OutlinedExercise, seen: _Overview) -> str:
    mark, colour = _MARKS[seen.states[one.id]]
    return (
        f'<span title="{escape(one.title)}" style="display:inline-block;border:1px solid {colour};border-radius:.6em;'
        f'padding:0 .5em;margin:.1em .3em .1em 0;{MONO}">{sign(mark, colour)} {escape(one.id)}</span>'
    )


def show_progress(course: Course) -> None:
    """Show the overview, as a panel or as plain text."""
    seen = overview(course)
    show(html_of(seen), text_of(seen))
