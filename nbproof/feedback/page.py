"""Make one learner's page of one lesson: whole, self-contained HTML without scripts, and with nothing from elsewhere.

It shows the verdict on each exercise, with the marks and comments that people gave. The words are those of the notebook: the
check's own sentence, and the misconception's name, question, idea and place to read. All that a learner may have made up goes
through :func:`nbproof.feedback.own_code.harmless`. Lines of hidden tests and solutions that are not in the learner's own answer
are taken out, wherever they came from.
"""

from __future__ import annotations

import base64
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from nbproof.authoring.secret_lines import Secrets, read_secrets
from nbproof.cells import ITS_TESTS, is_made_up
from nbproof.command import course_command
from nbproof.course_file import Course
from nbproof.display.help import Hint, all_hints, exercise_hints
from nbproof.display.outline import exercise_named, outline, title_of
from nbproof.errors import UsageError
from nbproof.feedback.own_code import (
    LARGEST_PICTURE,
    Made,
    coloured,
    harmless,
    made_in,
    own_line,
    shortened,
    visible,
)
from nbproof.feedback.page_texts import page_text, page_texts
from nbproof.feedback.page_writer import Task
from nbproof.files import digest_of
from nbproof.front_end import prose
from nbproof.gradebook.marks import CellMark, Mark
from nbproof.gradebook.typeset import Typesetter
from nbproof.handed_out import hint_files
from nbproof.marking.results import CellRun, Verdict, WrittenAnswer
from nbproof.recover.answers import OwnCell
from nbproof.run.journal import journal_of, journalled_verdict
from nbproof.sandbox.packed_place import unpack
from nbproof.text import duration, in_utc
from nbproof.values.leaf import leaves_of
from nbproof.values.results import FAULTS, Cause, Finding, Outcome, Status
from nbproof.values.words import Language, words_of

__all__ = [
    "Addressee",
    "digest_in",
    "digest_of_rules",
    "feedback_page",
    "page_of",
    "refusal_page",
]

_LONG = 110
"""Characters of a sentence that can be read at a glance."""
_PIXELS = 96
"""CSS pixels an inch."""


@dataclass(frozen=True)
class Addressee:
    """The learner of a page: the verdict, the marks, and the lines that must not be shown unless the learner wrote them."""

    course: Course
    verdict: Verdict
    marks: Mark
    secrets: Secrets

    @property
    def words(self) -> Language:
        """The language of the course."""
        return words_of(self.course)

    def clean(self, text: str, most: int = 2_000) -> str:
        """A text that a learner's code brought about, fit to be shown: with at most ``most`` characters and a little."""
        # Secrets go before ``visible`` puts signs into the text, which would make another line of it.
        own = "\n".join(self.verdict.answers.values())
        return visible(self.course, self.secrets.taken_out(shortened(text, most), own))

    def made(self, run: CellRun) -> tuple[Made, ...]:
        """The outputs of the learner's cell, fit to be shown."""
        return made_in(run.outputs, lambda text: self.clean(text, 1_500))


def _cards_of(learner: Addressee) -> list[Card]:
    """A card for each exercise and each answer that a person marks, in the notebook's order."""
    verdict = learner.verdict
    places = {name: at for at, name in enumerate(verdict.titles)}
    cards: list[tuple[str, Card]] = [(one.id, _ExerciseCard(learner, one)) for one in verdict.exercises]
    cards += [(one.id, _WrittenCard(learner, one)) for one in verdict.written]
    return [card for _, card in sorted(cards, key=lambda one: places.get(one[0], 0))]


_BY_HAND = {False: "page by hand", True: "page by hand before"}


class Card:
    """One exercise, or one written answer: what the template asks for."""

    code = True
    sentence = line = advice = ""
    way_in: Hint | None = None
    checks: tuple[tuple[bool, str], ...] = ()
    faults: tuple[Finding, ...] = ()
    made: tuple[Made, ...] = ()
    cells: tuple[tuple[OwnCell, tuple[Made, ...]], ...] = ()
    """The cells that the learner added and a person reads there, with their outputs."""

    def __init__(self, learner: Addressee, name: str, points: Mapping[str, float], most: float, status: Status) -> None:
        """Describe what the exercise ``name`` has in common with written answers.

        ``points``: cell -> points that tests gave. ``most``: all points. ``status``: *uncertain* if only a person can mark it.
        """
        verdict = learner.verdict
        self.learner = learner
        self.id = "" if is_made_up(name) else name
        self.max_score = most
        self.status = status
        self.title = verdict.titles.get(name, "")
        if not self.title:
            outlined = exercise_named(learner.course, name)
            self.title = outlined.title if outlined else name.replace("_", " ")
        written = dict.fromkeys(filter(None, map(learner.marks.comments.get, (name, *points))))
        self.comment = "\n\n".join(written)
        # It says how an answer was found that was not in its place, or why there is none.
        self.note = harmless(learner.course, verdict.lost.get(name) or verdict.recovered.get(name, ""))
        self.answer = verdict.answers.get(name, "")
        self.run = verdict.runs.get(name, CellRun())
        held = learner.marks.cells
        marks = [held.get(cell) or CellMark(cell, most, of_tests) for cell, of_tests in points.items()]
        self.score = sum(mark.score for mark in marks)
        self.by_hand = any(mark.given is not None for mark in marks)
        self.is_of_before = any(mark.given is not None and mark.waits_for_person for mark in marks)
        # A person who gave points has looked: nothing waits any more.
        self.waits = status is Status.UNCERTAIN and not self.by_hand

    @property
    def kind(self) -> str:
        """The class that gives it its colour: open if not answered, person if it waits for one, else passed, partly or wrong."""
        if self.status is Status.NOT_ANSWERED and not self.score:
            return "open"
        if self.waits:
            return "person"
        if self.score >= self.max_score:
            return "passed"
        return "partly" if self.score > 0 else "wrong"

    @property
    def words(self) -> str:
        """The words for how it ended. Beside a person's points the engine's word would be another opinion."""
        if self.by_hand:
            return page_text(self.learner.words, _BY_HAND[self.is_of_before])
        if self.score and self.status is not Status.PASSED:
            return page_text(self.learner.words, "page partly")
        return self.learner.words.text(f"status {self.status}")

    def tell(self, sentence: str) -> None:
        """Show the sentence that says what ended it, and the line of the learner's cell."""
        self.sentence = self.learner.clean(sentence)
        self.line = self.learner.clean(own_line(self.run.outputs), 300)


class _ExerciseCard(Card):
    """One exercise, with the findings of its checks."""

    def __init__(self, learner: Addressee, outcome: Outcome) -> None:
        super().__init__(learner, outcome.id, outcome.points, outcome.max_score, outcome.status)
        self.outcome = outcome
        status = outcome.status
        reason = outcome.reason
        words = learner.words
        # The cell's own error says it all.
        self.is_broken = reason is not None and reason.cause is Cause.ERROR and not self.score
        self.advice = page_text(words, f"page advice {status}")
        if status is not Status.PASSED:
            self.made = learner.made(self.run)
        if status is Status.NOT_ANSWERED:
            self.sentence = page_text(words, "page unwritten cell")
            self.answer = ""
            self.way_in = exercise_hints(learner.course).get(outcome.id)
        elif self.waits or status in FAULTS or self.is_broken:
            self.tell(words.outcome(outcome))
        elif status is not Status.UNCERTAIN:
            self.checks = _checks(outcome)
        if status is Status.UNCERTAIN:
            self.note = ""  # its own sentence says why
        if status in (Status.FAILED, Status.ERROR):
            self.faults = _different(outcome.costly, words)
        if {asked for _, asked in self.checks} <= {fault.asked for fault in self.faults}:
            self.checks = ()  # each was told above, and none of them is right

    def fact(self, fault: Finding) -> str:
        """A sentence that says what is wrong; empty if the cell's own error was shown."""
        if self.is_broken:
            return ""
        difference = fault.difference
        words = self.learner.words
        if difference is None or not self.is_long(fault):
            return self.learner.clean(words.finding(fault) or words.outcome(self.outcome), 600)
        more = words.summary(difference)
        key = "page not asked for more" if more else "page not asked for"
        said = page_text(words, key, where=words.place(difference), more=more)
        return self.learner.clean(said, 600)

    def is_long(self, fault: Finding) -> bool:
        """Whether its two values are easier to compare below each other, or in a picture, than in a sentence."""
        return fault.difference is not None and len(self.learner.words.finding(fault)) > _LONG

    def help(self, fault: Finding) -> Hint | None:
        """The hint on the misconception. If the cell's own error was shown, there is none that says that the cell ended early."""
        if self.is_broken and fault.hint == "cell_stopped":
            return None
        return all_hints(self.learner.course).get(fault.hint or "")


class _WrittenCard(Card):
    """One answer that a person marks."""

    def __init__(self, learner: Addressee, one: WrittenAnswer) -> None:
        status = Status.UNCERTAIN if one.answered else Status.NOT_ANSWERED
        super().__init__(learner, one.id, {one.id: 0.0}, one.max_score, status)
        self.code = one.code
        own = [(at, cell) for at, cell in enumerate(learner.verdict.own) if one.id in cell.questions]
        runs = learner.verdict.runs
        self.cells = tuple((cell, learner.made(runs.get(f"own {at}", CellRun()))) for at, cell in own)
        if self.answer == "\n\n".join(cell.source for _, cell in own):
            self.answer = ""  # it is a task: its cells say it
        if not one.answered:
            self.sentence = page_text(learner.words, "page unwritten")
            self.answer = ""
            return
        self.made = learner.made(self.run)
        read = page_text(learner.words, "page is read") if self.waits else ""
        if self.run.error:
            self.tell(learner.words.text("because of error", detail=self.run.error))
            self.advice = read
        else:
            self.sentence = read


def _different(faults: Sequence[Finding], words: Language) -> tuple[Finding, ...]:
    """The findings that say something else than the ones before them."""
    found = {(words.finding(fault), fault.asked, fault.line, fault.hint): fault for fault in reversed(faults)}
    return tuple(reversed(found.values()))


def _checks(outcome: Outcome) -> tuple[tuple[bool, str], ...]:
    """Whether each demand was met, and the demand, in the order of the test cells."""
    is_right: dict[str, bool] = {}
    for one in outcome.findings:
        is_right[one.asked] = one.passed and is_right.get(one.asked, True)
    return tuple((right, asked) for asked, right in is_right.items())


def _draw_picture(course: Course, picture: dict[str, Any] | None) -> Markup | None:
    """The learner's value beside the wanted one, as a PNG with a text of what it shows; None if there is nothing to draw."""
    place = unpack(picture, leaves_of(course))
    if place is None or not course.picture:
        return None
    made = course.pictures().draw_place(place)
    if made is None:
        return None
    png = base64.b64encode(made.pngs(colours=32)[0]).decode("ascii")  # pages of feedback are light
    width, height = (round(float(inches) * _PIXELS) for inches in made.get_size_inches())
    image = Markup('<img src="data:image/png;base64,{}" alt="{}" width="{}" height="{}">')
    return image.format(png, harmless(course, made.alt, 1_500), width, height)


_FOLDER = Path(__file__).parent / "templates"
_STAMP = '<meta name="course-feedback" content="'


@cache
def _templates(course: Course) -> Environment:
    words = words_of(course)
    found = Environment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters |= {
        "prose": lambda text: Markup(prose(text)),  # noqa: S704 escaped there
        "points": _points,
        "share": _share,
        "coloured": partial(coloured, course),
    }
    found.globals["css"] = Markup((_FOLDER / "page.css").read_text(encoding="utf-8"))  # noqa: S704 ours
    found.globals |= {"drawn": partial(_draw_picture, course), "unsaid": ITS_TESTS, "points": _points}
    found.globals |= {
        "text": partial(page_text, words),
        "texts": partial(page_texts, words),
        "filled": partial(_filled, words),
    }
    return found


_points = "{:.4g}".format


def _filled(words: Language, key: str, **about: tuple[str, str]) -> Markup:
    """A sentence with elements of HTML in it. ``about``: place in it -> the element, with its attributes, and its text."""
    made = {name: _element(*one) for name, one in about.items()}
    return escape(page_text(words, key, **{name: f"{{{name}}}" for name in about})).format_map(made)


def _element(element: str, text: str) -> Markup:
    """A text in an element, such as ``b`` or ``a href="..."``; without one if that is empty."""
    if not element:
        return escape(text)
    return Markup(f"<{element}>{escape(text)}</{element.partition(' ')[0]}>")  # noqa: S704 ours, and escaped


def _share(score: float, most: float) -> str:
    """A score in percent of all points, from 0 to 100."""
    percent = 100 * score / most if most else 0.0
    return f"{min(100.0, max(0.0, percent)):.1f}"


@cache
def digest_of_rules(course: Course) -> str:
    """A digest of all that pages are made with: sentences, hints, look and code. It changes if any of these does."""
    here = Path(__file__).parent
    others = [here.parent / "values" / "words.py", here.parent / "gradebook" / "typeset.py"]
    files = sorted([*here.glob("*.py"), *_FOLDER.glob("*.*"), *hint_files(course.texts), *others])
    return digest_of(repr((outline(course), words_of(course).texts)).encode(), *(path.read_bytes() for path in files))


def digest_in(path: Path) -> str:
    """The digest in a page; empty if there is no page, or one that we did not write."""
    try:
        with path.open("rb") as file:
            head = file.read(600).decode("utf-8", "replace")
    except OSError:
        return ""
    return head.partition(_STAMP)[2].partition('"')[0]


def page_of(course: Course, root: Path, task: Task) -> str:
    """The page of a task. Raises UsageError if there is no record of how it was graded."""
    verdict = journalled_verdict(root, *task.key)
    journal = journal_of(root, *task.key)
    if task.problem or (verdict is None and task.marks and task.marks.by_person):
        return refusal_page(course, *task.key, task.problem, task.digest, task.marks)
    if verdict is None:
        raise UsageError(
            "there is no record of how the engine graded this",
            str(journal),
            course_command(shlex.join(["grade", task.key.lesson]), root),
        )
    learner = Addressee(course, verdict, task.marks or Mark(verdict), _secrets(course, root, task.key.lesson))
    return feedback_page(learner, task.digest, journal.stat().st_mtime)


@lru_cache(maxsize=32)
def _secrets(course: Course, root: Path, lesson: str) -> Secrets:
    # Other people's answers and known mistakes are no secret of the grader's: what is to be kept out of a page is
    # what its own process has seen.
    return read_secrets(course, root, [lesson], candidates=False)


def feedback_page(learner: Addressee, digest: str, graded: float) -> str:
    """The page of one submission. ``digest``: of all that it is made from. ``graded``: when, in seconds since 1970."""
    verdict = learner.verdict
    cards = _cards_of(learner)
    setter = Typesetter({name: png for name, png in verdict.pictures.items() if len(png) <= LARGEST_PICTURE})
    return _render(
        learner.course,
        verdict.lesson,
        verdict.learner,
        digest,
        cards=cards,
        clean=learner.clean,
        typeset=lambda text, whole=False: Markup(setter.typeset(visible(learner.course, text), whole)),  # noqa: S704 nothing in it does anything
        say=learner.words,
        damage=harmless(learner.course, verdict.damage, 500),
        when=_when(learner.marks, learner.words),
        seed=verdict.seed,
        graded=in_utc(datetime.fromtimestamp(graded, UTC)),
        helps=any(exercise_named(learner.course, one.id) for one in verdict.exercises),
        **_sums(cards, learner.marks, learner.words),
    )


def _sums(cards: Sequence[Card], marks: Mark, words: Language) -> dict[str, Any]:
    """The sums over all cards of a page, by the names that the template has for them."""
    right = [card for card in cards if card.score >= card.max_score]
    points = sum(card.score for card in cards)
    score = marks.counted(points)
    sums: dict[str, Any] = {
        "score": score,
        "points_below": 0.0,
        "most": sum(card.max_score for card in cards),
        "waits": sum(card.max_score for card in cards if card.waits),
        "solved": sum(isinstance(card, _ExerciseCard) for card in right),
        "tasks": sum(isinstance(card, _ExerciseCard) for card in cards),
        "goal": "",
    }
    if score > points:
        sums["points_below"] = min(points, 0.0)
    if cards and len(right) == len(cards) and not marks.penalty:
        sums["goal"] = page_text(words, "page full marks")
    return sums


def refusal_page(
    course: Course, learner: str, lesson: str, problem: str, digest: str, marks: Mark | None = None
) -> str:
    """The page of a submission that could not be graded: the reason, and what people gave all the same."""
    marks = marks or Mark(Verdict(learner, lesson))
    setter = Typesetter({})
    given = marks if marks.by_person else None
    return _render(
        course,
        lesson,
        learner,
        digest,
        problem=harmless(course, problem, 1_000),
        given=given,
        comments=[Markup(setter.typeset(visible(course, one), True)) for one in marks.comments.values()],  # noqa: S704 as above
        when=_when(marks, words_of(course)),
        cards=(),
        graded="",
        helps=any(one.slug == lesson for one in outline(course)),
    )


def _render(
    course: Course,
    lesson: str,
    learner: str,
    digest: str,
    *,
    problem: str = "",
    given: Mark | None = None,
    comments: Sequence[Markup] = (),
    **values: Any,
) -> str:
    template = _templates(course).get_template("feedback.html.j2")
    return template.render(
        lesson=harmless(course, lesson, 200),
        learner=harmless(course, learner, 200),
        title=title_of(course, lesson),
        digest=digest,
        problem=problem,
        given=given,
        comments=comments,
        **values,
    )


def _when(marks: Mark, words: Language) -> str:
    """Sentences on when it was handed in and when it was due, and what being late costs, as far as that is known."""
    late = marks.late
    told = []
    if late.handed_in:
        told.append(page_text(words, "page handed in", when=in_utc(late.handed_in)))
    if late.due:
        key = "page due extended" if late.extended else "page due"
        told.append(page_text(words, key, when=in_utc(late.due)))
    if late.seconds > 0 or marks.penalty:
        told.append(_what_late_costs(marks, words))
    return " ".join(told)


def _what_late_costs(marks: Mark, words: Language) -> str:
    """A sentence on how late it was, and what that costs."""
    late = marks.late
    how = page_text(words, "page late by", time=duration(late.seconds))
    if late.handed_in is None and late.seconds <= 1:
        # Only an LMS's word says so: then there is a second of lateness, and no time of handing in.
        how = page_text(words, "page late", time=duration(late.seconds))
    key = "page late costs" if marks.penalty else "page late is free"
    return page_text(words, key, how=how, points=f"{marks.penalty:.4g}")
