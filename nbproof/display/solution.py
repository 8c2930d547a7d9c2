"""After an exercise is solved: its reference answer, and other right ones, if the instructor's files are at hand."""

from __future__ import annotations

import difflib
import re

from nbproof.course_file import the_course
from nbproof.display.help import say
from nbproof.display.outline import outline
from nbproof.display.progress_store import DiaryError, entries
from nbproof.front_end import shell
from nbproof.regions import BEGIN_SOLUTION, END_SOLUTION

__all__ = ["right_answers", "show_solution"]

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
