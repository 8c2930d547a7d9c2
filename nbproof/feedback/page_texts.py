"""The sentences of a feedback page. A language (:mod:`nbproof.values.words`) may have other ones under the same keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from nbproof.course_file import Course
from nbproof.recover.search_texts import SEARCH_TEXTS
from nbproof.text import counted, some_of
from nbproof.values.words import TEXTS, Language, refuse_misfits, words_of

__all__ = ["PAGE_TEXTS", "language_notes", "page_text", "page_texts", "refuse_bad_language"]

PAGE_TEXTS: Mapping[str, Any] = {
    "page language": "en",
    "page title": "{title}: feedback for {learner}",
    "page over": "Feedback on {lesson} for {learner}",
    "page of points": "{score} of {most} points",
    "page total": "Total",
    "page marked": "Your instructor has marked your work.",
    "page note": "Note: {what}",
    "page note on file": "Note on your file: {what}",
    "page refused by itself": "what you handed in could not be graded by itself: {problem}",
    "page refused": "This could not be graded",
    "page refused advice": "What you handed in is kept as it is. Save the notebook of this lesson in JupyterLab, and hand in "
    "the .ipynb file itself once more. If you cannot tell what is wrong, ask your instructor and show them this page.",
    "page waits": (
        "{points} of them is still to be marked by a person",
        "{points} of them are still to be marked by a person",
    ),
    "page below 0": "the points below make {points}, and less than 0 counts as 0",
    "page solved": "{solved} of {of} exercises solved.",
    "page full marks": "Full marks.",
    "page instructor says": "Your instructor says",
    "page exercises": "Exercises",
    "page exercise": "Exercise",
    "page how": "How it ended",
    "page points": "Points",
    "page short points": "{score} of {most}",
    "page by hand": "Marked by your instructor",
    "page by hand before": "Marked by your instructor before something changed",
    "page partly": "Partly right",
    "page points by hand": "Your instructor gave the points. The rest is what the tests have found.",
    "page asked": "Asked:",
    "page in numbers": "The same in numbers",
    "page yours": "yours",
    "page wanted": "wanted",
    "page looks like": "Looks like {what}",
    "page printed": "Printed during the check",
    "page way in": "A way in",
    "page hint": "In the notebook, {command} in any cell shows the same, one step at a time.",
    "page right": "right: ",
    "page not yet": "not yet: ",
    "page answer": "Your answer",
    "page long answer": "Your answer, {lines} lines",
    "page cells below": "Your cells below it",
    "page made": "What your cell made",
    "page cell printed": "What your cell printed",
    "page picture": "a picture that your cell made",
    "page steps": ("A question", "The idea", "Where to read"),
    "page graded": "Graded {when}.",
    "page graded by seed": "Graded {when}, test cases of seed {seed}.",
    "page shows panels": "Run the cells of your notebook, and its checks show the same panels; {command} goes on from there.",
    "page tests say": "The tests that your notebook holds say the same when you run its cells.",
    "page unwritten cell": "Nothing was written into this cell.",
    "page unwritten": "Nothing was written here.",
    "page is read": "A person reads this answer. Its points come with their marks.",
    "page not asked for": "`{where}` is not what was asked for.",
    "page not asked for more": "`{where}` is not what was asked for: {more}.",
    "page advice timeout": "The usual reason is a loop that never ends: while such a cell runs, `[*]` stands beside it. Your "
    "other exercises were graded without it.",
    "page advice out of memory": "The usual reasons are a list that grows in every pass, or values much larger than they "
    "need to be. Your other exercises were graded without it.",
    "page advice killed": "`exit()`, `quit()` and `os._exit()` end Python itself, and with it the check. Your other exercises "
    "were graded without it.",
    "page handed in": "Handed in {when}.",
    "page due": "Due {when}.",
    "page due extended": "Due {when}, with your extension.",
    "page late": "Late",
    "page late by": "Late by {time}",
    "page late costs": "{how}; points taken off: {points}.",
    "page late is free": "{how}; no points are taken off.",
}
"""Every sentence by what it is about. Of two, the first is for one."""


def refuse_bad_language(course: Course) -> None:
    """Raise UsageError if a text that the course's language has cannot be filled in, before learners' work needs it."""
    for table in (PAGE_TEXTS, SEARCH_TEXTS):
        refuse_misfits(words_of(course), table, f"{course.file}: language {course.language}")


def language_notes(course: Course) -> Iterator[str]:
    """Sentences on texts of the course's language that the tool does not know, and on those that it leaves out."""
    known = {*TEXTS, *PAGE_TEXTS, *SEARCH_TEXTS}
    own = words_of(course).own
    name = course.language
    for key in sorted(own - known):
        if not key.startswith("value "):
            meant = "".join(f": is it {one!r}?" for one in get_close_matches(key, known - own, 1))
            yield f"the language {name} has a text for {key!r}, which nothing here is called{meant}"
    left = sorted(known - own)
    if name and left:
        yield f"the language {name} leaves {counted(len(left), 'text')} to English: {some_of(left, 8)}"


def page_text(words: Language, key: str, **about: object) -> str:
    """One sentence in a language; empty for a key that no page has."""
    return words.text_in(PAGE_TEXTS, key, **about)


def page_texts(words: Language, key: str, **about: object) -> tuple[str, ...]:
    """Several sentences that belong together, in the course's language."""
    return tuple(one.format(**about) for one in words.texts.get(key) or PAGE_TEXTS[key])
