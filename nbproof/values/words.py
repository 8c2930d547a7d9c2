"""All that a learner reads in a notebook: panel, help and progress, in English sentences. No code reads them again.

Another language is one more module: ``WORDS = Language({...})`` with the texts of :data:`TEXTS` in that language. A package
next door has it (:data:`nbproof.doors.LANGUAGES`), or the course's own: ``course.toml`` names it, ``language = "german"`` or
``language = "my_course.german"``. What it leaves out is said in English; where its grammar wants
more than other texts, a subclass has methods of its own.
"""

from __future__ import annotations

import importlib
import importlib.util
import re
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import chain
from string import Formatter
from typing import Any

from nbproof.course_file import Course
from nbproof.doors import LANGUAGES
from nbproof.errors import UsageError
from nbproof.values.compare import Detail, Difference, Differs
from nbproof.values.results import UNANSWERED, UNTOLD, Finding, Outcome, ProbeError, Status

__all__ = ["ENGLISH", "TEXTS", "WORDS", "Language", "refuse_misfits", "words_of"]

TEXTS: Mapping[str, Any] = {
    # What a value is, by its type; a value of a leaf type ("value torch") is called as that says, if it has no noun here.
    "value str": "a string",
    "value bool": "a bool",
    "value int": "an int",
    "value float": "a float",
    "value NoneType": "None",
    "value list": "a list of {of}",
    "value tuple": "a tuple of {of}",
    "value dict": "a dict of {of}",
    "value function": "a function ({of})",
    "value long text": "a string of {of} characters",
    "value object": ("a {name}", "an {name}"),
    "items": ("{count} item", "{count} items"),
    "of shape": "{what} of shape {shape}",
    "something else": "something else",
    # The first difference.
    "the result": "the result",
    "found shape": "{where} has shape {got}",
    "found dtype": "{where} has dtype {got}",
    "found count": "{where} has {got}",
    "found key missing": "{where} has {got}",
    "found key extra": "{where} has {got}",
    "found missing": "{where} is missing",
    "found extra": "{where} is there",
    "found": "{where} is {got}",
    "the keys": "the keys {got}",
    "not right": "{found}, which is not right",
    "instead of what": "{found}, wanted {wanted}",
    "one too many": "{found}, wanted only {wanted}",
    "more": "{found} ({detail})",
    "detail of count": "got {got}",
    "detail of key missing": "{got} is missing",
    "detail of key extra": "{got} is one too many",
    "detail of nonfinite": "{got} at index {index}",
    "both": "{got} instead of {wanted}",
    "elements": "{differ} of {of} elements differ, first at index {index}: {both}",
    # What ended a check.
    "line": "line {line} of your cell",
    "line and code": "line {line} of your cell: {code}",
    "stands": "`{name}` is {what}",
    "not defined": "`{name}` is not defined",
    "to define": "{stands}. Run the exercise's TODO cell, then this cell again.",
    "not asked for": "{stands}, wanted {wanted}.",
    "to be list": "a list",
    "to be function": "a function",
    "to be module": "an nn.Module",
    "hidden stands": "{stands} when a hidden check asks for it",
    "hidden error": "{error}, in a hidden check",
    "another error": "An error of another kind",
    "hidden failed": "A hidden check failed.",
    "not comparable": "What your code brought cannot be compared with what is wanted ({error}); please report this",
    "too large": "What your code brought cannot be compared: that takes more memory or time than there is for it",
    # How an exercise ended.
    "status passed": "Passed",
    "status failed": "Not yet",
    "status error": "Ended with an error",
    "status timeout": "Ran out of time",
    "status out of memory": "Ran out of memory",
    "status killed": "Stopped by itself",
    "status not answered": "Not answered",
    "status uncertain": "Waits for your instructor",
    "every check passed": "Every check passed.",
    "as handed out": "The TODO cell is as it was handed out.",
    "because of exercise time": "Your code was still running after {limit:g} seconds, the limit for one exercise.",
    "because of notebook time": "The time for the whole notebook, {limit:g} seconds, was over.",
    "because of memory": "Your code used more than {limit:.0f} MB of memory.",
    "because of disk": "Your code wrote more than {limit:.0f} MB of files, or {detail} of them.",
    "because of processes": "Your code started more than {limit:.0f} processes and threads.",
    "because of protocol": "Your code interfered with the process that it ran in: {detail}.",
    "because of ended": "Your code ended the process that it ran in: {detail}.",
    "because of error": "Your cell ended with an error: {detail}",
    "because of early": "Your code ended before every check had run.",
    "because of lost": "{detail}",
    "because of newer Python": "Your cell is of Python {detail}. An older one cannot read its f-string: a person has to look.",
    "because of rigged": "Your answer changes a library for everybody, and a wrong answer passes beside it: a person looks.",
    "because of names of the engine": "Your notebook names {detail}, a part of what checks answers: a person looks.",
    # The panel.
    "asked": "asked",
    "looks like": "Looks like",
    "where": "where",
    "got": "got",
    "wanted": "wanted",
    "passed": "passed",
    "not yet": "not yet",
    "share": "({passed} of {of} checks)",
    "passed what is shown": ("passed the check shown here", "passed the {count} checks shown here"),
    "withheld": ("({count} more runs when it is graded)", "({count} more run when it is graded)"),
    "printed": "printed during the check",
    "more rows": ("{count} more row", "{count} more rows"),
    "ask for help": "Run `hint()` in a cell for help.",
    "untouched": "is still as you got it. Write your answer in the TODO cell above, run that cell, then this one.",
    "see above": "not yet, see above",
    "the check of": "the check of {exercise}",
    "later": "{what}: not shown while grading",
    # Help. Each pair is a fact, and what to do about it.
    "steps": ("a question", "the idea", "where to read"),
    "step": "{number} of 3, {name}",
    "a way in": "A way in.",
    "next step": "Run this cell again for the next step.",
    "last step": "That is all the help there is. What the check says about your result tells the rest.",
    "no check": (
        "No check has run yet.",
        "Run the cell below an exercise to check it; after that `hint()` knows what went wrong. "
        'To find a beginning, give the name that stands below an exercise\'s heading: `hint("its_name")`.',
    ),
    "no hints": ("`{exercise}` has no hints.", "Read what its check says, and the paragraph above the exercise."),
    "unknown": ("No exercise is called `{exercise}`.", "Its name stands in the panel that its check shows."),
    "one has passed": ("This check of `{exercise}` has passed.", "The exercise has another one: run it, too."),
    "all have passed": (
        "`{exercise}` has passed all of its checks.",
        "There is nothing to help with. On to the next one.",
    ),
    "shown have passed": (
        "`{exercise}` has passed all checks that are shown here.",
        "{more}, on other inputs: read once more what the text asks for. Then on to the next one.",
    ),
    "more run": ("{count} more check runs when it is graded", "{count} more run when it is graded"),
    # Right answers.
    "reference": "The reference answer",
    "also right": "Also right: {name}",
    "no diary": ("The file that keeps your progress cannot be read.", "{error}"),
    "not solved": ("`{exercise}` is not solved yet.", "Solve it first, then compare."),
    "hint helps": '`hint("{exercise}")` helps you to start.',
    "not handed out": (
        "The right answers are not part of what you were handed.",
        "Your instructor has them. Yours is one of them.",
    ),
    # Progress.
    "your progress": "Your progress",
    "on this computer": "kept on this computer only",
    "not kept": "Progress is not kept: {error}",
    "cannot be used": "{path} cannot be used: {error}",
    "state solved": "solved",
    "state tried": "tried",
    "state untried": "untried",
    "lesson": "lesson {number}",
    "row": "{title} ({id}): {state}, {minutes} min",
    "go on": "Go on with {title} in {lesson} ({minutes} minutes).",
    "total": "{solved} of {of} exercises solved{more}, {points:g} of {most:g} points, {rest}",
    "more when graded": (
        "; {count} more check runs when they are graded",
        "; {count} more checks run when they are graded",
    ),
    "left": "about {time} left",
    "nothing left": "nothing left to do",
    "minutes": "{count} minutes",
    "hours": "{count:.0f} hours",
}
"""Every sentence by what it is about. Of two, the first is for one, unless it says something else."""


class Language:
    """Makes sentences of findings, differences, outcomes and progress, in one language."""

    def __init__(self, texts: Mapping[str, Any]) -> None:
        self.own = frozenset(texts)
        self.texts = {**TEXTS, **texts}

    def text(self, key: str, **about: object) -> str:
        """One sentence, or a part of one."""
        return str(self.texts[key].format(**about))

    def text_in(self, table: Mapping[str, Any], key: str, **about: object) -> str:
        """One sentence of a room that has a table of its own; empty for a key that nobody has."""
        return str(self.texts.get(key) or table.get(key, "")).format(**about)

    def counted(self, key: str, count: int) -> str:
        """One text for a count of 1, another one for other counts."""
        forms = self.texts[key]
        form = forms[0] if count == 1 else forms[1]
        return str(form.format(count=count))

    def pair(self, key: str, **about: object) -> tuple[str, ...]:
        """Two sentences: a fact, and what to do about it."""
        return tuple(one.format(**about) for one in self.texts[key])

    # What a value is.

    def sort(self, sort: str, of: object = "", otherwise: str = "") -> str:
        """The words for a sort of value; ``otherwise``, or the sort itself, if there are none. ``of``: a name, or how many."""
        if sort == "object":
            return self.one(str(of))
        return self.text(f"value {sort}", of=of) if f"value {sort}" in self.texts else otherwise or sort

    def one(self, name: str) -> str:
        """An object of the class of this name."""
        if name == "NoneType":
            return self.text("value NoneType")
        if name == UNTOLD:
            return self.text("something else")
        before_consonant, before_vowel = self.texts["value object"]
        form = before_vowel if name[:1].lower() in "aeiou" else before_consonant
        return str(form.format(name=name))

    # What a check found.

    def finding(self, finding: Finding) -> str:
        """Say what is wrong: ``answer[1] has shape (3,), wanted (3, 1)``; empty if nothing is, or if it was not asked."""
        if finding.unjudged is not None:
            key = "not comparable" if finding.unjudged else "too large"
            return self.text(key, error=finding.unjudged)
        if finding.trouble is not None:
            return self.hidden_trouble(finding.trouble) if finding.hidden else self.trouble(finding.trouble)
        if finding.difference is not None:
            return self.difference(finding.difference)
        return self.text("hidden failed") if finding.hidden and not finding.passed else ""

    def difference(self, one: Difference) -> str:
        """The first difference in one sentence."""
        sentence = self.found(one)
        if one.wanted is None:
            return self.text("not right", found=sentence)
        if one.wanted:
            key = "one too many" if one.kind is Differs.EXTRA else "instead of what"
            sentence = self.text(key, found=sentence, wanted=one.wanted)
        detail = self.detail(one)
        return self.text("more", found=sentence, detail=detail) if detail else sentence

    def place(self, one: Difference) -> str:
        """Say where the difference is, as the learner would write it."""
        return one.where if one.where.partition("[")[0] else self.text("the result") + one.where

    def found(self, one: Difference) -> str:
        """Say what was found, and where."""
        key = f"found {one.kind}"
        if key not in self.texts:
            key = "found"
        return self.text(key, where=self.place(one), got=self.brought(one))

    def brought(self, one: Difference) -> str:
        """Say what was got there."""
        if one.kind is Differs.COUNT:
            return self.counted("items", int(one.got)) if one.got.isdigit() else one.got
        keys = one.kind in (Differs.KEY_MISSING, Differs.KEY_EXTRA)
        return self.text("the keys", got=one.got) if keys else one.got

    def summary(self, one: Difference) -> str:
        """Say what tells two values apart that are shown below each other; empty if nothing does."""
        shown = one.wanted is not None and one.kind in (Differs.VALUE, Differs.NONFINITE)
        return self.detail(one) if shown else ""

    def detail(self, one: Difference) -> str:
        """Say more about a difference than the two sides; empty if there is nothing more to say."""
        detail = one.detail
        if detail is None:
            return ""
        if f"detail of {one.kind}" in self.texts:
            return self.text(f"detail of {one.kind}", got=detail.got, index=_index(detail))
        both = self.text("both", got=detail.got, wanted=detail.wanted)
        if detail.of == 1:
            return both
        return self.text("elements", differ=detail.differ, of=detail.of, index=_index(detail), both=both)

    def line(self, finding: Finding) -> str:
        """Say where in the learner's code an error was raised; empty if that is not known."""
        trouble = finding.trouble
        if trouble is None or not trouble.line:
            return ""
        key = "line and code" if trouble.code else "line"
        return self.text(key, line=trouble.line, code=trouble.code)

    def trouble(self, trouble: ProbeError) -> str:
        """Say which error the learner's code raised, or which name a check needs."""
        if trouble.kind != UNANSWERED:
            return ": ".join(part for part in (trouble.kind, trouble.message) if part)
        wanted = self.texts.get(f"to be {trouble.wanted}", "")
        key = "not asked for" if trouble.message else "to define"
        return self.text(key, stands=self.stands(trouble), wanted=wanted)

    def stands(self, trouble: ProbeError) -> str:
        """Say which value a name has that a check needs."""
        key = "stands" if trouble.message else "not defined"
        return self.text(key, name=trouble.name, what=self.one(trouble.message))

    def hidden_trouble(self, trouble: ProbeError) -> str:
        """Say which error a hidden check met, no more than its form."""
        if trouble.kind == UNANSWERED:
            return self.text("hidden stands", stands=self.stands(trouble))
        kind = trouble.kind or self.text("another error")
        return self.text("hidden error", error=": ".join(part for part in (kind, trouble.message) if part))

    def outcome(self, one: Outcome) -> str:
        """Say in one sentence how an exercise ended."""
        if one.reason is not None:
            return self.text(f"because of {one.reason.cause}", limit=one.reason.limit, detail=one.reason.detail)
        if one.status is Status.PASSED:
            return self.text("every check passed")
        if one.status is Status.NOT_ANSWERED:
            return self.text("as handed out")
        fault = next((fault for fault in one.faults if fault.tells), None)
        if fault is None:
            return ""
        sentence = self.finding(fault)
        line = self.line(fault)
        return f"{sentence} ({line})" if line else sentence

    # In a notebook.

    def share(self, findings: Sequence[Finding], withheld: int) -> tuple[str, str]:
        """The two parts of a panel's first line: the outcome, and the number of checks that it rests on."""
        passed = sum(finding.passed for finding in findings)
        share = self.text("share", passed=passed, of=len(findings)) if len(findings) > 1 else ""
        if passed < len(findings):
            return self.text("not yet"), share
        if not withheld:
            return self.text("passed"), share
        return self.counted("passed what is shown", passed), self.counted("withheld", withheld)

    def total(self, solved: int, of: int, withheld: int, points: float, most: float, left: int) -> str:
        """Say how many exercises and points there are so far, and how many minutes are ``left``."""
        time = self.text("minutes", count=left) if left < 100 else self.text("hours", count=left / 60)
        rest = self.text("left", time=time) if left else self.text("nothing left")
        more = self.counted("more when graded", withheld) if withheld else ""
        return self.text("total", solved=solved, of=of, more=more, points=points, most=most, rest=rest)


def _index(detail: Detail) -> str:
    return str(detail.index[0]) if len(detail.index) == 1 else str(detail.index)


WORDS = ENGLISH = Language({})


def words_of(course: Course) -> Language:
    """The language of a course. Raises UsageError if it cannot be read."""
    return _language(course.language, f"{course.file}: language") if course.language else ENGLISH


@cache
def _language(name: str, place: str) -> Language:
    """The language of this name. What is installed is looked up once: a sealed process cannot look."""
    installed = LANGUAGES.installed()
    if name in installed:
        language: Language = LANGUAGES.load(name, place, fits=lambda it: isinstance(it, Language))
        refuse_misfits(language, TEXTS, f"{place} {name}")
        return language
    cure = "name a module of the course's package, with WORDS in it"
    if "." not in name and importlib.util.find_spec(name) is None:
        raise LANGUAGES.unknown(name, place, installed, cure)
    try:
        found = importlib.import_module(name).WORDS
        if not isinstance(found, Language):
            raise TypeError(f"its WORDS are a {type(found).__name__}, no Language")
    except (ImportError, AttributeError, TypeError) as error:
        raise UsageError(f"the language {name} cannot be read: {error}", place, cure) from None
    refuse_misfits(found, TEXTS, f"{place} {name}")
    return found


def refuse_misfits(found: Language, english: Mapping[str, Any], place: str) -> None:
    """Raise UsageError for the first text in place of an English one that cannot be filled in as that one is."""
    for key, ours in english.items():
        trouble = _misfit(found.texts.get(key, ours), ours)
        if trouble:
            fact = f"the language has a text for {key!r} that {trouble}"
            raise UsageError(fact, place, f"its author has to give it the fields and the form of: {ours!r}")


def _misfit(text: object, english: object) -> str:
    """What is wrong with a text in place of the English one; empty if nothing is."""
    if isinstance(text, str) != isinstance(english, str):
        return f"is {type(text).__name__}, not {type(english).__name__}"
    forms, ours = _forms(text), _forms(english)
    if len(forms) < len(ours) or not all(isinstance(form, str) for form in forms):
        return f"has not {len(ours)} forms"
    try:
        more = _fields(forms) - _fields(ours)
    except ValueError as error:
        return f"cannot be filled in: {error}"
    return "".join(f"names {{{field}}}, which nobody fills in" for field in sorted(more)[:1])


def _forms(text: Any) -> tuple[Any, ...]:
    return tuple(text) if isinstance(text, (tuple, list)) else (text,)


def _fields(forms: Sequence[str]) -> set[str]:
    parts = chain.from_iterable(Formatter().parse(form) for form in forms)
    return {re.split(r"[.\[]", field)[0] for _, field, _, _ in parts if field is not None}
