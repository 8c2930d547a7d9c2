"""A check's result as a learner sees it: a small panel in a notebook, plain text elsewhere.

After an exercise is solved: its reference answer, and other right ones, if the instructor's files are at hand.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Sequence
from html import escape

from nbproof.cells import BEGIN_SOLUTION, END_SOLUTION
from nbproof.course_file import the_course
from nbproof.display.help import Hint, all_hints, say
from nbproof.display.outline import outline
from nbproof.display.progress import DiaryError, entries
from nbproof.front_end import MONO, framed, prose, shell, show, sign
from nbproof.values.results import CheckResult

__all__ = ["html_of", "right_answers", "say_untouched", "show_findings", "show_solution", "text_of"]


_GOOD, _BAD, _NEUTRAL = "#2f9e63", "#e2604c", "#8a8f98"
_STATUS = 'role="status"'


def _hint(finding: CheckResult) -> Hint | None:
    # An id that is not there is an author's slip, which the contract finds; a learner still gets the rest.
    return all_hints().get(finding.hint or "")


def text_of(finding: CheckResult) -> str:
    """One wrong finding as a few lines of plain text: the fact, the place, the misconception."""
    lines = [finding.sentence]
    if finding.line:
        lines.append(f"  {finding.line}")
    lines.append(f"  asked: {finding.asked}")
    hint = _hint(finding)
    if hint is not None:
        lines.append(f"  looks like: {hint.name}. {hint.question}")
    return "\n".join(lines)


def html_of(
    exercise: str, findings: Sequence[CheckResult], ask: bool = False, picture: str = "", withheld: int = 0
) -> str:
    """The panel: one line a check, and for the first wrong one what was got, wanted, where, and its misconception.

    ``ask``: whether there is a notebook in which the learner can ask for the first step of help; without
    one the step stands in the panel. ``picture``: a piece of HTML to go below what is wrong.
    """
    wrong = next((finding for finding in findings if not finding.passed), None)
    accent = _GOOD if wrong is None else _BAD
    title, count = _outcome(findings, withheld)
    rows = [
        f'<div style="font-weight:600"><span style="{MONO}">{escape(exercise)}</span>: {title}'
        f' <span style="font-weight:400;opacity:.75">{count}</span></div>'
    ]
    for finding in findings:
        mark, colour = ("✓", _GOOD) if finding.passed else ("✗", _BAD)
        rows.append(f"<div>{sign(mark, colour)} {prose(finding.asked)}</div>")
        if finding is wrong:
            rows.append(_details(finding, ask, picture))
    return framed("".join(rows), _STATUS, accent)


def _details(finding: CheckResult, ask: bool, picture: str) -> str:
    cells = []
    fact = finding.sentence
    # A short sentence says it all; values that do not fit one line are easier to compare below each other, or in a picture.
    if finding.got and len(fact) > 90:
        _, values, rest = fact.partition(f" {finding.got}, wanted {finding.wanted}")
        if not picture:
            cells += [("where", finding.where), ("got", finding.got)]
            if finding.wanted:
                cells.append(("wanted", finding.wanted))
        if values:
            fact = f"{finding.where}: {rest.strip(' ()')}" if rest else ""
    body = f'<div style="{MONO};margin:.25em 0 .25em 1.3em">{escape(fact)}</div>' if fact else ""
    if finding.line:
        body += f'<div style="{MONO};margin-left:1.3em;opacity:.85">{escape(finding.line)}</div>'
    if cells:
        table = "".join(
            f'<tr style="background:none"><td style="text-align:right;opacity:.75;padding:0 .8em 0 0">{name}</td>'
            f'<td style="text-align:left;padding:0;{MONO}">{escape(value)}</td></tr>'
            for name, value in cells
        )
        body += f'<table style="margin:.2em 0 .2em 1.3em;border:0;font-size:1em">{table}</table>'
    if picture:
        body += f'<div style="margin:.3em 0 .3em 1.3em">{picture}</div>'
    hint = _hint(finding)
    named = f"<b>Looks like {prose(hint.name)}.</b> " if hint is not None else ""
    step = prose("Run `hint()` in a cell for help." if ask else hint.question if hint is not None else "")
    if named or step:
        body += f'<div style="margin:.3em 0 0 1.3em">{named}{step}</div>'
    if finding.printed.strip():
        shown = "\n".join(finding.printed.strip().splitlines()[:20])[:2000]
        body += (
            f'<details style="margin-left:1.3em"><summary>printed during the check</summary>'
            f'<pre style="{MONO};background:none;color:inherit">{escape(shown)}</pre></details>'
        )
    return body


def _outcome(findings: Sequence[CheckResult], withheld: int) -> tuple[str, str]:
    """What the panel's first line says: the outcome, and how many checks it rests on."""
    passed = sum(finding.passed for finding in findings)
    share = f"({passed} of {len(findings)} checks)" if len(findings) > 1 else ""
    if passed < len(findings):
        return "not yet", share
    if not withheld:
        return "passed", share
    shown = "passed the check shown here" if passed == 1 else f"passed the {passed} checks shown here"
    return shown, f"({withheld} more {'runs' if withheld == 1 else 'run'} when it is graded)"


def say_untouched(exercise: str) -> None:
    """What a check says of a TODO cell that is as it was handed out."""
    said = "is still as you got it. Write your answer in the TODO cell above, run that cell, then this one."
    page = f'<span style="{MONO};font-weight:600">{escape(exercise)}</span> {said}'
    show(framed(page, _STATUS, _NEUTRAL), f"{exercise} {said}")


def show_findings(exercise: str, findings: Sequence[CheckResult], withheld: int = 0) -> None:
    """Show the panel if a front end can draw it, else the same in words.

    ``withheld``: how many more checks run when it is graded.
    """
    wrong = next((finding for finding in findings if not finding.passed), None)
    plain = f"{exercise}: {' '.join(_outcome(findings, withheld)).strip()}"
    if wrong is not None:
        plain += "\n" + text_of(wrong)
    if shell() is not None:
        show(html_of(exercise, findings, ask=True, picture=_picture(wrong), withheld=withheld), plain)
    elif wrong is None:
        print(plain)


def _picture(wrong: CheckResult | None) -> str:
    """The learner's result beside the wanted one, if somebody is looking: not while nbgrader runs the notebook."""
    if wrong is None or wrong.compared is None or "NBGRADER_EXECUTION" in os.environ:
        return ""
    pictures = the_course().pictures()
    return str(pictures.difference_html(*wrong.compared)) if pictures else ""


_OTHERS = 2
"""Other right answers that are shown beside the reference."""
_MARKER = re.compile(r"^# ?%% ?(?P<name>.*)$\n?", re.MULTILINE)


def right_answers(slug: str, exercise: str) -> list[tuple[str, str]]:
    """Names and texts: the reference answer first, then two others; nothing if the instructor's files are not here."""
    lines = the_course().source_cell(slug, exercise).split("\n")
    reference = "\n".join(line for line in lines if line.strip() not in (BEGIN_SOLUTION, END_SOLUTION))
    found = [("The reference answer", reference)]
    if not reference:
        return []
    try:
        path = the_course().beside("lessons", slug, exercise, "right.py")
        parts = _MARKER.split(path.read_text(encoding="utf-8"))
    except OSError:
        return found
    others = [(name, text.strip("\n")) for name, text in zip(parts[1::2], parts[2::2], strict=True)]
    # Short ones that look least like the reference: what they have in common with it needs no second reading.
    most = len(reference) * 3 // 2 + 40
    others = [one for one in others if len(one[1]) <= most]
    others.sort(key=lambda one: difflib.SequenceMatcher(None, reference, one[1], autojunk=False).ratio())
    return found + [(f"Also right: {name.replace('_', ' ')}", text) for name, text in others[:_OTHERS]]


def show_solution(exercise: str) -> None:
    """Show the right answers to an exercise that is solved; says what to do if it is not, or if they are not here."""
    known = {one.id: lesson.slug for lesson in outline() for one in lesson.exercises}
    if exercise not in known:
        near = difflib.get_close_matches(str(exercise), known, n=1)
        return say(
            f"No exercise is called `{exercise}`.",
            f'Did you mean `solution("{near[0]}")`?' if near else "Its name stands in its check cell.",
        )
    try:
        tried = entries().get(exercise)
    except DiaryError as error:
        return say("The file that keeps your progress cannot be read.", str(error))
    if tried is None or tried.solved is None:
        return say(
            f"`{exercise}` is not solved yet.",
            f'Solve it first, then compare. `hint("{exercise}")` helps you to start.',
        )
    answers = right_answers(known[exercise], exercise)
    if not answers:
        return say(
            "The right answers are not part of what you were handed.", "Your instructor has them. Yours is one of them."
        )
    text = "\n\n".join(f"**{name}**\n\n```python\n{source}\n```" for name, source in answers)
    if shell() is None:
        return print(text)
    from IPython.display import display

    display({"text/markdown": text, "text/plain": text}, raw=True)
