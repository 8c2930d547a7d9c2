"""A check's result as a learner sees it: a small panel in a notebook, plain text elsewhere.

After an exercise is solved: its reference answer, and other right ones, if the instructor's files are at hand.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from html import escape
from itertools import zip_longest
from typing import Any

from nbproof.cells import solution_of
from nbproof.course_file import Course
from nbproof.display.diary import DiaryError, entries
from nbproof.display.help import Hint, all_hints, exercise_hints, hint_for, say
from nbproof.display.outline import exercises_of, outline
from nbproof.front_end import MONO, framed, prose, shell, show, sign
from nbproof.handed_out import read_named_cells
from nbproof.lesson.from_notebook import cell_called
from nbproof.values.compare import Difference, place_of, plainly
from nbproof.values.evidence import Parts, snapshot
from nbproof.values.results import Finding, first_wrong
from nbproof.values.words import Language, words_of

__all__ = ["html_of", "say_untouched", "show_findings", "show_solution", "tables_html", "text_of"]


_GOOD = "#2f9e63"
_BAD = "#e2604c"
_NEUTRAL = "#8a8f98"
_STATUS = 'role="status"'
_SHORT = 90
"""Characters of a sentence that stands on one line."""


def _hint(course: Course, finding: Finding) -> Hint | None:
    # An id that is not there is an author's slip, which the contract finds; a learner still gets the rest.
    return all_hints(course).get(finding.hint or "")


def text_of(course: Course, finding: Finding, instead: str = "") -> str:
    """One wrong finding as a few lines of plain text: the fact and the line, or ``instead`` in their place; the misconception."""
    words = words_of(course)
    lines = [instead or words.finding(finding)]
    if finding.line and not instead:
        lines.append(f"  {words.line(finding)}")
    lines.append(f"  {words.text('asked')}: {finding.asked}")
    hint = _hint(course, finding)
    if hint is not None:
        lines.append(f"  {words.text('looks like').lower()}: {hint.name}. {hint.question}")
    return "\n".join(lines)


def html_of(
    course: Course,
    exercise: str,
    findings: Sequence[Finding],
    ask: bool = False,
    picture: str = "",
    withheld: int = 0,
    instead: str = "",
) -> str:
    """The panel as HTML: one line for each check, and below the first wrong one the difference and its misconception.

    ``ask``: whether the learner has a notebook, and can ask for the first step of help if there is a hint. Without a notebook
    that step stands in the panel. ``picture``: HTML that goes below the difference. ``withheld``: the number of checks that
    run only when it is graded. ``instead``: a sentence in place of the difference, if the first wrong check was not asked, or
    if something else matters.
    """
    wrong, words = first_wrong(findings), words_of(course)
    title, count = words.share(findings, withheld)
    rows = [
        f'<div style="font-weight:600"><span style="{MONO}">{escape(exercise)}</span>: {title}'
        f' <span style="font-weight:400;opacity:.75">{count}</span></div>'
    ]
    for finding in findings:
        mark, colour = ("✓", _GOOD) if finding.passed else ("✗", _BAD)
        rows.append(f"<div>{sign(mark, colour)} {prose(finding.asked)}</div>")
        if finding is wrong:
            facts = [_line(instead)] if instead else _facts(finding, picture, words)
            ask = ask and hint_for(course, exercise, finding.hint) is not None
            rows += [*facts, _step(_hint(course, finding), ask, words), _printed(finding, words)]
    colour = _GOOD if wrong is None else _BAD
    return framed("".join(rows), _STATUS, colour)


def _line(fact: str, style: str = "margin:.25em 0 .25em 1.3em") -> str:
    return f'<div style="{MONO};{style}">{escape(fact)}</div>' if fact else ""


def _facts(finding: Finding, picture: str, say: Language) -> list[str]:
    """HTML of the fact, the line of the learner's code, and the values that do not fit one line."""
    fact = say.finding(finding)
    difference = finding.difference
    # A short sentence says it all; longer values are easier to compare below each other, or in a picture.
    if difference is not None and difference.got and len(fact) > _SHORT:
        if difference.wanted is not None:
            summary = say.summary(difference)
            fact = f"{say.place(difference)}: {summary}" if summary else ""
        picture = picture or _table(difference, say)
    facts = [_line(fact), _line(say.line(finding), "margin-left:1.3em;opacity:.85")]
    if picture:
        facts.append(f'<div style="margin:.3em 0 .3em 1.3em">{picture}</div>')
    return facts


def _table(difference: Difference, say: Language) -> str:
    cells = [("where", say.place(difference)), ("got", say.brought(difference)), ("wanted", difference.wanted or "")]
    rows = "".join(
        f'<tr style="background:none"><td style="text-align:right;opacity:.75;padding:0 .8em 0 0">{say.text(name)}</td>'
        f'<td style="text-align:left;padding:0;{MONO}">{escape(value)}</td></tr>'
        for name, value in cells
        if value
    )
    return f'<table style="border:0;font-size:1em">{rows}</table>'


def _step(hint: Hint | None, ask: bool, words: Language) -> str:
    named = ""
    step = ""
    if hint is not None:
        named = f"<b>{words.text('looks like')} {prose(hint.name)}.</b> "
        step = prose(hint.question)
    if ask:
        step = prose(words.text("ask for help"))
    return f'<div style="margin:.3em 0 0 1.3em">{named}{step}</div>' if named or step else ""


def _printed(finding: Finding, words: Language) -> str:
    shown = "\n".join(finding.printed.strip().splitlines()[:20])[:2000]
    if not shown:
        return ""
    return (
        f'<details style="margin-left:1.3em"><summary>{words.text("printed")}</summary>'
        f'<pre style="{MONO};background:none;color:inherit">{escape(shown)}</pre></details>'
    )


def say_untouched(course: Course, exercise: str) -> None:
    """Show that a TODO cell is as it was handed out."""
    sentence = words_of(course).text("untouched")
    page = f'<span style="{MONO};font-weight:600">{escape(exercise)}</span> {sentence}'
    show(framed(page, _STATUS, _NEUTRAL), f"{exercise} {sentence}")


def show_findings(course: Course, exercise: str, findings: Sequence[Finding], withheld: int = 0) -> None:
    """Show the panel. If no front end can draw it, show text if all passed: what did not pass is in an error.

    ``withheld``: the number of checks that run only when it is graded.
    """
    wrong = first_wrong(findings)
    plain = f"{exercise}: {' '.join(words_of(course).share(findings, withheld)).strip()}"
    if wrong is not None:
        plain += "\n" + text_of(course, wrong)
    if wrong is None or shell() is not None:
        picture = _picture(course, wrong)
        show(html_of(course, exercise, findings, ask=True, picture=picture, withheld=withheld), plain)


def _picture(course: Course, wrong: Finding | None) -> str:
    """The learner's result beside the wanted one, if somebody is looking: not while nbgrader runs the notebook."""
    if wrong is None or wrong.compared is None or "NBGRADER_EXECUTION" in os.environ:
        return ""
    pictures = course.pictures()
    drawn = str(pictures.difference_html(*wrong.compared)) if pictures else ""
    return drawn or tables_html(*wrong.compared, words_of(course))


# If both values are tables, they are shown beside each other: the first row that differs, and a few around it.

_ROWS = 8
_COLUMNS = 8
_CELL = f"padding:.1em .6em;text-align:right;border:0;{MONO}"


def tables_html(got: object, wanted: object, words: Language) -> str:
    """HTML of both tables side by side; empty if the first difference is not between two tables."""
    place = place_of(got, wanted)
    if place is None:
        return ""
    sides = [snapshot(place.got), snapshot(plainly(place.wanted))]
    if not all(isinstance(side, Parts) for side in sides):
        return ""
    rows, wanted_rows = (_rows(side, sides[1]) for side in sides)
    left = _side(f"{place.where}: {words.text('got')}", rows, wanted_rows, words)
    right = _side(words.text("wanted"), wanted_rows, rows, words)
    return f'<div style="display:flex;flex-wrap:wrap;gap:1.5em;overflow-x:auto">{left}{right}</div>'


def _rows(parts: Any, wanted: Any) -> list[list[Any]]:
    """The labels of its columns, or the name of a Series if one is wanted, then each row with its label in front."""
    columns = [part for step, part in parts.items() if ".iloc" in step]
    name = parts.get(".name") if ".name" in wanted else ""
    heads = parts.get(".columns", [name])
    return [["", *heads], *map(list, zip(parts.get(".index", ()), *columns, strict=False))]


def _side(name: str, rows: list[list[Any]], others: list[list[Any]], words: Language) -> str:
    differing = [number for number, (row, other) in enumerate(zip_longest(rows, others)) if row != other and number]
    first = max(1, min(differing, default=1) - _ROWS // 2)
    shown = [0, *range(first, min(len(rows), first + _ROWS))]
    lines = "".join(_cells(rows[number], others[number : number + 1], number) for number in shown)
    more = len(rows) - len(shown)
    rest = f'<div style="opacity:.75">{words.counted("more rows", more)}</div>' if more else ""
    return (
        f'<div><b>{escape(name)}</b><table style="border-collapse:collapse;font-size:1em">{lines}</table>{rest}</div>'
    )


def _cells(row: list[Any], others: list[list[Any]], number: int) -> str:
    """One row as HTML; ``others``: the row of the other table, if there is one. What differs is red and bold."""
    other = others[0] if others else []
    cells = []
    for at, value in enumerate(row[:_COLUMNS]):
        differs = at >= len(other) or other[at] != value
        weight = 700 if differs or number == 0 else 400
        colour = f";color:{_BAD}" if differs else ""
        text = escape(_cell_text(value)[:40])
        cells.append(f'<td style="{_CELL};font-weight:{weight}{colour}">{text}</td>')
    return f'<tr style="background:none">{"".join(cells)}</tr>'


def _cell_text(value: object) -> str:
    if isinstance(value, str):
        return value
    return f"{value:.6g}" if isinstance(value, float) else repr(value)


_OTHERS = 2
"""Other right answers that are shown beside the reference."""


def _right_answers(course: Course, slug: str, exercise: str) -> list[tuple[str, str]]:
    """The right answers as (name, code): the reference answer, then two others; empty if the instructor's files are not here."""
    answer = solution_of(cell_called(course.source_of(slug), exercise).source)
    reference = "\n".join(line for line in answer.split("\n") if not line.strip().startswith("# TODO"))
    if not reference:
        return []
    accepted = read_named_cells(course.beside("lessons", slug, exercise, "right.py"))
    others = sorted(accepted, key=lambda one: len(one.source))[:_OTHERS]
    words = words_of(course)
    also = [(words.text("also right", name=one.name.replace("_", " ")), one.source.strip("\n")) for one in others]
    return [(words.text("reference"), reference), *also]


def show_solution(course: Course, exercise: str) -> None:
    """Show the right answers to an exercise that is solved; say what to do if it is not, or if they are not here."""
    words = words_of(course)
    known = {one.id: lesson.slug for lesson, one in exercises_of(outline(course))}
    if exercise not in known:
        return say(*words.pair("unknown", exercise=exercise))
    try:
        tried = entries(course).get(exercise)
    except DiaryError as error:
        return say(*words.pair("no diary", error=error))
    if tried is None or tried.solved is None:
        fact, then = words.pair("not solved", exercise=exercise)
        more = f" {words.text('hint helps', exercise=exercise)}" if exercise in exercise_hints(course) else ""
        return say(fact, then + more)
    answers = _right_answers(course, known[exercise], exercise)
    if not answers:
        return say(*words.pair("not handed out"))
    text = "\n\n".join(f"**{name}**\n\n```python\n{source}\n```" for name, source in answers)
    show(text, text, "text/markdown")
