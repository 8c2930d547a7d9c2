"""Written answers: markdown cells that a person marks. Their text is taken, and shown as text; nothing in it runs.

The mark that a person gives stands in nbgrader's gradebook: ``find_grade(question.id, lesson, lesson, learner)``
has ``manual_score`` and ``needs_manual_grade``, ``find_comment`` (with the same arguments) has ``manual_comment``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nbproof.cells import CellKind, grading_of, kind_of, name_of
from nbproof.marking.results import WrittenAnswer
from nbproof.text import code_parts

__all__ = ["HEADER", "Question", "is_blank", "questions_in", "shown", "written_in"]

HEADER = re.compile(r"^### In your own words: (?P<title>.+)$", re.MULTILINE)
"""How the prose in front of a written answer begins."""


@dataclass(frozen=True)
class Question:
    """What a written answer answers."""

    id: str
    points: float
    stub: str
    """The cell's text as it is handed out."""
    kind: CellKind = CellKind.WRITTEN
    """WRITTEN, MANUAL or TASK."""


def questions_in(instructor: Any, learner: Any) -> dict[str, Question]:
    """The questions of a notebook: points from the instructor's version, stubs from the learner's."""
    stubs = {name_of(cell): cell.source for cell in learner.cells}
    found: dict[str, Question] = {}
    for cell in instructor.cells:
        kind, name = kind_of(cell), name_of(cell)
        if kind in (CellKind.WRITTEN, CellKind.MANUAL, CellKind.TASK):
            found[name] = Question(name, float(grading_of(cell).get("points") or 0), stubs[name], kind)
    return found


def written_in(questions: Mapping[str, Question], answers: Mapping[str, str]) -> tuple[WrittenAnswer, ...]:
    """For each question, whether there is something to mark among the answers."""
    return tuple(
        WrittenAnswer(name, one.points, not is_blank(one, answers.get(name, one.stub)), one.kind is CellKind.MANUAL)
        for name, one in questions.items()
    )


def is_blank(question: Question, text: str) -> bool:
    """Whether nobody has written anything: the stub stands there. Who has deleted it may mean something by that."""
    return question.kind is not CellKind.TASK and text.strip() == question.stub.strip()


_LONGEST = 20_000
"""Characters of an answer that a page shows."""
_PICTURE = re.compile(r"\(attachment:|<img\b|!\[[^\]\n]*\]\(\S")
_TURNING = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""Signs that turn the direction of text: what is read would not be what was written."""


def shown(text: str) -> str:
    """Markdown that looks like the text as it was typed, with `code` in backticks, and cannot do anything.

    Instructors read it logged in. All is one line of HTML, so that markdown leaves it alone; every character that
    means something to markdown, HTML or MathJax is an entity.
    """
    kept = text.encode("utf-8", "backslashreplace").decode()
    kept = _TURNING.sub(lambda sign: f"\\u{ord(sign[0]):04x}", kept)
    if len(kept) > _LONGEST:
        kept = kept[:_LONGEST] + "\n[cut off: a page shows no more of it; the whole text is in the submission]"
    if _PICTURE.search(kept):
        kept = kept.rstrip("\n") + "\n[pictures are not shown here: open the submitted notebook to see them]"
    lines = [_line(line) for line in kept.strip("\n").splitlines()]
    return f'<div class="tex2jax_ignore mathjax_ignore">{"<br>".join(lines)}</div>'


def _line(line: str) -> str:
    indent = len(line) - len(line.lstrip())
    marked = [
        f"<code>{_entities(part)}</code>" if at % 2 and part else _entities(part)
        for at, part in enumerate(code_parts(line.lstrip()))
    ]
    return "&nbsp;" * min(indent, 40) + "".join(marked)


def _entities(text: str) -> str:
    return "".join(sign if sign.isalnum() or sign == " " else f"&#{ord(sign)};" for sign in text)
