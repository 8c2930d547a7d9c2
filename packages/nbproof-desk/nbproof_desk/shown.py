"""What a learner wrote, and what an instructor asks, as HTML for the desk's pages.

A learner's text goes through what feedback pages use: HTML and links stay as they were typed, nothing turns or hides, nothing is
fetched. These pages allow no style in an attribute, so the few that come with it are taken out: the style sheet has them.
"""

from __future__ import annotations

import re
from functools import partial

from markdown_it import MarkdownIt
from markupsafe import Markup

from nbproof.course_file import Course
from nbproof.feedback.own_code import Made, coloured, harmless, made_in, visible
from nbproof.gradebook.typeset import Typesetter, with_formulas
from nbproof_desk.questions import HandedIn, Part

__all__ = ["answer_shown", "instructors_text", "model_shown", "note_shown"]

_STYLE = re.compile(r' style="[^"<>]*"')
"""What is escaped has no quotes: this stands in tags alone."""
_MOST_PRINTED = 1_500


def answer_shown(course: Course, answer: HandedIn) -> Markup:
    """All cells of an answer, with their outputs."""
    setter = Typesetter(answer.pictures)
    return Markup("").join(_part_shown(course, one, setter) for one in answer.parts)


def _part_shown(course: Course, part: Part, setter: Typesetter) -> Markup:
    """One cell, with its outputs."""
    if part.code:
        page = Markup('<pre class="code">{}</pre>').format(coloured(course, part.text))
    else:
        page = Markup('<div class="text">{}</div>').format(_plain(setter.typeset(visible(course, part.text))))
    clean = partial(harmless, course, most=_MOST_PRINTED)
    return page + Markup("").join(map(_made_shown, made_in(part.outputs, clean)))


def _made_shown(one: Made) -> Markup:
    if one.picture:
        return Markup('<figure><img class="own" src="{}" alt="a picture that this code made"></figure>').format(
            one.picture
        )
    return Markup('<pre class="printed">{}</pre>').format(one.text)


def _plain(page: str) -> Markup:
    return Markup(_STYLE.sub("", page))  # noqa: S704 nothing in it does anything


def note_shown(course: Course, note: str) -> str:
    """A sentence on an answer, fit to be shown."""
    return harmless(course, note, 600)


def instructors_text(text: str) -> Markup:
    """The instructor's own Markdown. It may hold HTML; the page's policy lets none of it run, or fetch anything."""
    made = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render(with_formulas(text))
    return _plain(made)


def model_shown(course: Course, part: Part) -> Markup:
    """The instructor's own answer."""
    if part.code:
        return _part_shown(course, part, Typesetter())
    if not part.text.strip():
        return Markup("")
    return Markup('<div class="text">{}</div>').format(instructors_text(part.text))
