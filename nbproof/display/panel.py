"""A check's result as a learner sees it: a small panel in a notebook, plain text elsewhere."""

from __future__ import annotations

import os
from collections.abc import Sequence
from html import escape

from nbproof.course_file import the_course
from nbproof.display.hints import Hint, all_hints
from nbproof.front_end import MONO, framed, prose, shell, show, sign
from nbproof.values.results import CheckResult

__all__ = ["html_of", "say_untouched", "show_findings", "text_of"]

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
