"""The overview of a learner's own work: what is solved, what was tried, where to go on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape

from nbproof.course_file import the_course
from nbproof.display.outline import OutlinedExercise, OutlinedLesson, outline
from nbproof.display.progress_store import DiaryError, StoredTry, entries
from nbproof.front_end import MONO, framed, prose, show, sign
from nbproof.text import counted

__all__ = ["Overview", "html_of", "overview", "show_progress", "text_of"]

_MARKS = {"solved": ("✓", "#2f9e63"), "tried": ("…", "#c8851a"), "untried": ("○", "#8a8f98")}


@dataclass(frozen=True)
class Overview:
    """Every exercise with its state, and the first that is not solved after the one that was worked on last."""

    lessons: tuple[OutlinedLesson, ...]
    states: Mapping[str, str]
    """Exercise id -> 'untried', 'tried' or 'solved'."""
    tries: Mapping[str, int]
    next: tuple[OutlinedLesson, OutlinedExercise] | None
    trouble: str = ""

    @property
    def total(self) -> str:
        """Exercises and points so far, and the minutes that are left, in one sentence."""
        everything = [one for lesson in self.lessons for one in lesson.exercises]
        solved = [one for one in everything if self.states[one.id] == "solved"]
        left = sum(one.minutes for one in everything) - sum(one.minutes for one in solved)
        points = f"{sum(one.points for one in solved):g} of {sum(one.points for one in everything):g} points"
        rest = f"about {_time(left)} left" if left else "nothing left to do"
        withheld = sum(
            sum(one.hidden)
            for lesson in self.lessons
            for one in lesson.exercises
            if one in solved and not the_course().source_of(lesson.slug).exists()
        )
        runs = "run" if withheld > 1 else "runs"
        more = f"; {counted(withheld, 'more check')} {runs} when they are graded" if withheld else ""
        return f"{len(solved)} of {len(everything)} exercises solved{more}, {points}, {rest}"


def _time(minutes: int) -> str:
    return f"{minutes} minutes" if minutes < 100 else f"{minutes / 60:.0f} hours"


def overview() -> Overview:
    """What the diary says about the lessons that there are."""
    trouble = ""
    try:
        known = entries()
    except DiaryError as error:
        known, trouble = {}, str(error)
    lessons = outline()
    states = {
        one.id: "untried" if one.id not in known else "solved" if known[one.id].solved is not None else "tried"
        for lesson in lessons
        for one in lesson.exercises
    }
    tries = {name: entry.tries for name, entry in known.items()}
    return Overview(lessons, states, tries, _next(lessons, states, known), trouble)


def _next(
    lessons: tuple[OutlinedLesson, ...], states: Mapping[str, str], known: Mapping[str, StoredTry]
) -> tuple[OutlinedLesson, OutlinedExercise] | None:
    """The first exercise that is open, from the one that was worked on last onwards, then from the beginning."""
    order = [(lesson, one) for lesson in lessons for one in lesson.exercises]
    last = max((entry for entry in known.values() if entry.exercise in states), key=lambda e: e.last, default=None)
    start = next((i for i, (_, one) in enumerate(order) if last is not None and one.id == last.exercise), 0)
    return next((pair for pair in order[start:] + order[:start] if states[pair[1].id] != "solved"), None)


def text_of(seen: Overview) -> str:
    """The overview in words."""
    lines = []
    for lesson in seen.lessons:
        lines.append(f"{_number(lesson)} {lesson.title}".replace("`", ""))
        for one in lesson.exercises:
            state = seen.states[one.id]
            count = f", {seen.tries[one.id]} checks" if seen.tries.get(one.id, 0) > 1 else ""
            lines.append(f"  {_MARKS[state][0]} {one.title} ({one.id}): {state}{count}, {one.minutes} min")
    lines.append(seen.total)
    if seen.next is not None:
        lines.append(f"go on with: lesson {_number(seen.next[0])}, {seen.next[1].title} ({seen.next[1].minutes} min)")
    if seen.trouble:
        lines.append(f"Progress is not kept: {seen.trouble}")
    return "\n".join(lines)


def _number(lesson: OutlinedLesson) -> str:
    return lesson.slug.split("_")[0]


def html_of(seen: Overview) -> str:
    """The overview as a panel: a row a lesson, a chip an exercise."""
    rows = "".join(_row(seen, lesson) for lesson in seen.lessons)
    legend = " &nbsp; ".join(f"{sign(mark, colour)}&nbsp;{state}" for state, (mark, colour) in _MARKS.items())
    after = f"<div><b>{escape(seen.total)}.</b></div>"
    if seen.next is not None:
        lesson, one = seen.next
        link = f'<a style="color:inherit;text-decoration:underline" href="../{escape(lesson.slug)}/{escape(lesson.slug)}.ipynb">'
        after += (
            f"<div>Go on with <b>{escape(one.title)}</b> in {link}lesson {_number(lesson)}</a>"
            f" ({escape(one.difficulty)}, {one.minutes} minutes).</div>"
        )
    if seen.trouble:
        after += f"<div>Progress is not kept: {escape(seen.trouble)}</div>"
    title = f'Your progress <span style="font-weight:400">(kept on this computer only) &nbsp; {legend}</span>'
    page = f'<div style="font-weight:600">{title}</div>{rows}{after}'
    return framed(page, 'role="region" aria-label="Your progress"', width=64)


def _row(seen: Overview, lesson: OutlinedLesson) -> str:
    chips = "".join(_chip(one, seen) for one in lesson.exercises)
    solved = sum(seen.states[one.id] == "solved" for one in lesson.exercises)
    # Beside each other where there is room, below each other on a phone.
    return (
        f'<div style="display:flex;flex-wrap:wrap;margin:.3em 0"><div style="flex:0 1 15em;margin-right:.8em">'
        f"{_number(lesson)} {prose(lesson.title)}"
        f' <span style="opacity:.75">{solved}/{len(lesson.exercises)}</span></div>'
        f'<div style="flex:1 1 22em">{chips}</div></div>'
    )


def _chip(one: OutlinedExercise, seen: Overview) -> str:
    state = seen.states[one.id]
    mark, colour = _MARKS[state]
    tip = f"{one.title}: {state}, {one.difficulty}, {one.minutes} minutes, {one.points:g} points"
    return (
        f'<span title="{escape(tip)}" style="display:inline-block;border:1px solid {colour};border-radius:.6em;'
        f'padding:0 .5em;margin:.1em .3em .1em 0;{MONO}">{sign(mark, colour)} {escape(one.id)}</span>'
    )


def show_progress() -> None:
    """Show the overview if a front end can draw it, else print it."""
    seen = overview()
    if not show(html_of(seen), text_of(seen)):
        print(text_of(seen))
