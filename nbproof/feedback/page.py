"""One learner's page of one lesson. Whole, self-contained HTML; no script, nothing from elsewhere.

It tells of each exercise the verdict, with the marks and comments that people gave. The words are those of the notebook: the
check's own sentence, and the misconception's name, question, idea and place to read. All that a learner may have made up goes
through :func:`nbproof.feedback.own_code.harmless`; lines of hidden tests and solutions that are not in their own answer are
taken out, wherever they came from.
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
    "feedback_page",
    "made_of",
    "page_of",
    "refusal_page",
]

_LONG = 110
"""Characters of a sentence that can be read at a glance."""
_PIXELS = 96
"""CSS pixels an inch."""


@dataclass(frozen=True)
class Addressee:
    """The learner of a page: the verdict, what people gave, and what must not be shown unless the learner wrote it."""

    course: Course
    verdict: Verdict
    marks: Mark
    secrets: Secrets

    @property
    def words(self) -> Language:
        """The language of the course."""
        return words_of(self.course)

    def clean(self, text: str, most: int = 2_000) -> str:
        """A text that a learner's code brought about, fit to be shown."""
        # Secrets before marks are put into the text, which would make another line of it.
        own = "\n".join(self.verdict.answers.values())
        return visible(self.course, self.secrets.taken_out(shortened(text, most), own))

    def made(self, run: CellRun) -> tuple[Made, ...]:
        """What their cell made, fit to be shown."""
        return made_in(run.outputs, lambda text: self.clean(text, 1_500))


def cards_of(learner: Addressee) -> list[Card]:
    """A card for each exercise and each answer that a person marks, in the notebook's order."""
    verdict, places = learner.verdict, {name: at for at, name in enumerate(learner.verdict.titles)}
    cards: list[tuple[str, Card]] = [(one.id, ExerciseCard(learner, one)) for one in verdict.exercises]
    cards += [(one.id, WrittenCard(learner, one)) for one in verdict.written]
    return [card for _, card in sorted(cards, key=lambda one: places.get(one[0], 0))]


class Card:
    """One exercise, or one written answer: what the template asks for."""

    code = True
    sentence = line = advice = ""
    way_in: Hint | None = None
    checks: tuple[tuple[bool, str], ...] = ()
    faults: tuple[Finding, ...] = ()
    made: tuple[Made, ...] = ()
    cells: tuple[tuple[OwnCell, tuple[Made, ...]], ...] = ()
    """Those of the learner's own that a person reads there, with what they made."""

    def __init__(self, learner: Addressee, name: str, points: Mapping[str, float], most: float, status: Status) -> None:
        """``points``: what tests gave to each cell. ``status``: *uncertain* if only a person can mark it."""
        verdict, comments = learner.verdict, learner.marks.comments
        outlined = exercise_named(learner.course, name)
        self.learner, self.id, self.max_score, self.status = learner, "" if is_made_up(name) else name, most, status
        self.title = verdict.titles.get(name) or (outlined.title if outlined else name.replace("_", " "))
        written = dict.fromkeys(filter(None, map(comments.get, (name, *points))))
        self.comment = "\n\n".join(written)
        # How an answer was found that was not in its place, or why there is none.
        self.note = harmless(learner.course, verdict.lost.get(name) or verdict.recovered.get(name, ""))
        self.answer = verdict.answers.get(name, "")
        self.run = verdict.runs.get(name, CellRun())
        held = learner.marks.cells
        marks = [held.get(cell) or CellMark(cell, most, of_tests) for cell, of_tests in points.items()]
        self.score = sum(mark.score for mark in marks)
        self.by_hand = any(mark.given is not None for mark in marks)
        # A person who gave points has looked: nothing waits any more.
        self.waits = status is Status.UNCERTAIN and not self.by_hand

    @property
    def kind(self) -> str:
        """What colour it has: open if not answered, person if it waits for one, else passed, partly or wrong."""
        if self.status is Status.NOT_ANSWERED and not self.score:
            return "open"
        if self.waits:
            return "person"
        if self.score >= self.max_score:
            return "passed"
        return "partly" if self.score > 0 else "wrong"

    @property
    def words(self) -> str:
        """How it ended. Beside a person's points the engine's word would be another opinion."""
        if self.by_hand:
            return page_text(self.learner.words, "page by hand")
        partly = self.score and self.status is not Status.PASSED
        words = self.learner.words
        return page_text(words, "page partly") if partly else words.text(f"status {self.status}")

    def tell(self, sentence: str) -> None:
        """Say what ended it, and where in the learner's cell."""
        self.sentence = self.learner.clean(sentence)
        self.line = self.learner.clean(own_line(self.run.outputs), 300)


class ExerciseCard(Card):
    """One exercise, with what its checks found."""

    def __init__(self, learner: Addressee, outcome: Outcome) -> None:
        super().__init__(learner, outcome.id, outcome.points, outcome.max_score, outcome.status)
        self.outcome, status, reason = outcome, outcome.status, outcome.reason
        # The cell's own error has said it all.
        self.is_broken = reason is not None and reason.cause is Cause.ERROR and not self.score
        words = learner.words
        self.advice = page_text(words, f"page advice {status}")
        if status is not Status.PASSED:
            self.made = learner.made(self.run)
        if status is Status.NOT_ANSWERED:
            self.sentence, self.answer = page_text(words, "page unwritten cell"), ""
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
        """What is wrong, in a sentence; nothing if the cell's own error was told."""
        if self.is_broken:
            return ""
        difference, words = fault.difference, self.learner.words
        if difference is None or not self.is_long(fault):
            return self.learner.clean(words.finding(fault) or words.outcome(self.outcome), 600)
        more = words.summary(difference)
        key = "page not asked for more" if more else "page not asked for"
        said = page_text(words, key, where=words.place(difference), more=more)
        return self.learner.clean(said, 600)

    def is_long(self, fault: Finding) -> bool:
        """Whether its values are easier to compare below each other, or in a picture."""
        return fault.difference is not None and len(self.learner.words.finding(fault)) > _LONG

    def help(self, fault: Finding) -> Hint | None:
        """The misconception. Where the cell's own error was told, nobody has to say once more that it ended early."""
        if self.is_broken and fault.hint == "cell_stopped":
            return None
        return all_hints(self.learner.course).get(fault.hint or "")


class WrittenCard(Card):
    """One answer that a person marks."""

    def __init__(self, learner: Addressee, one: WrittenAnswer) -> None:
        status = Status.UNCERTAIN if one.answered else Status.NOT_ANSWERED
        super().__init__(learner, one.id, {one.id: 0.0}, one.max_score, status)
        self.code = one.code
        own = [(at, cell) for at, cell in enumerate(learner.verdict.own) if one.id in cell.questions]
        runs = learner.verdict.runs
        self.cells = tuple((cell, learner.made(runs.get(f"own {at}", CellRun()))) for at, cell in own)
        if self.answer == "\n\n".join(cell.source for _, cell in own):
            self.answer = ""  # of a task: its cells say it
        if not one.answered:
            self.sentence, self.answer = page_text(learner.words, "page unwritten"), ""
            return
        self.made = learner.made(self.run)
        read = page_text(learner.words, "page is read") if self.waits else ""
        if self.run.error:
            self.tell(learner.words.text("because of error", detail=self.run.error))
            self.advice = read
        else:
            self.sentence = read


def _different(faults: Sequence[Finding], words: Language) -> tuple[Finding, ...]:
    """Those that say something else than the ones before."""
    found = {(words.finding(fault), fault.asked, fault.line, fault.hint): fault for fault in reversed(faults)}
    return tuple(reversed(found.values()))


def _checks(outcome: Outcome) -> tuple[tuple[bool, str], ...]:
    """What was asked and whether it was right, in the order of the test cells."""
    wrong = {one.asked for one in outcome.findings if not one.passed}
    return tuple((asked not in wrong, asked) for asked in dict.fromkeys(one.asked for one in outcome.findings))


def drawn(course: Course, picture: dict[str, Any] | None) -> Markup | None:
    """Yours beside wanted, as a PNG that says in words what it shows; None if it carries nothing that can be drawn."""
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
        "prose": _prose,
        "points": _points,
        "share": _share,
        "coloured": partial(coloured, course),
    }
    found.globals["css"] = Markup((_FOLDER / "page.css").read_text(encoding="utf-8"))  # noqa: S704 ours
    found.globals |= {"drawn": partial(drawn, course), "unsaid": ITS_TESTS, "points": _points}
    found.globals |= {
        "text": partial(page_text, words),
        "texts": partial(page_texts, words),
        "filled": partial(_filled, words),
    }
    return found


_points = "{:.4g}".format


def _filled(words: Language, key: str, **about: tuple[str, str]) -> Markup:
    """A sentence with elements of HTML in it. ``about``: of each place in it the element, with its attributes, and its text."""
    made = {name: _element(*one) for name, one in about.items()}
    return escape(page_text(words, key, **{name: f"{{{name}}}" for name in about})).format_map(made)


def _element(element: str, text: str) -> Markup:
    if not element:
        return escape(text)
    return Markup(f"<{element}>{escape(text)}</{element.partition(' ')[0]}>")  # noqa: S704 ours, and escaped


def _prose(text: str) -> Markup:
    return Markup(prose(text))  # noqa: S704 escaped there


def _share(score: float, most: float) -> str:
    return f"{min(100.0, max(0.0, 100 * score / most)) if most else 0.0:.1f}"


@cache
def made_of(course: Course) -> str:
    """Changes whenever anything does that ends up in a page."""
    here = Path(__file__).parent
    others = [here.parent / "values" / "words.py", here.parent / "gradebook" / "typeset.py"]
    files = sorted([*here.glob("*.py"), *_FOLDER.glob("*.*"), *hint_files(course.texts), *others])
    return digest_of(repr((outline(course), words_of(course).texts)).encode(), *(path.read_bytes() for path in files))


def digest_in(path: Path) -> str:
    """What the page there was made from; empty if there is none, or none of ours."""
    try:
        with path.open("rb") as file:
            head = file.read(600).decode("utf-8", "replace")
    except OSError:
        return ""
    return head.partition(_STAMP)[2].partition('"')[0] if _STAMP in head else ""


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
    """The page of one submission. ``graded``: when, in seconds since 1970."""
    verdict, marks, cards = learner.verdict, learner.marks, cards_of(learner)
    setter = Typesetter({name: png for name, png in verdict.pictures.items() if len(png) <= LARGEST_PICTURE})
    tested = [card for card in cards if isinstance(card, ExerciseCard)]
    right = [card for card in cards if card.score >= card.max_score]
    points = sum(card.score for card in cards)
    score = marks.counted(points)
    return _render(
        learner.course,
        verdict.lesson,
        verdict.learner,
        digest,
        cards=cards,
        clean=learner.clean,
        typeset=lambda text, whole=False: Markup(setter.typeset(visible(learner.course, text), whole)),  # noqa: S704 nothing in it does anything
        say=learner.words,
        score=score,
        points_below=min(points, 0.0) if score > points else 0.0,
        most=sum(card.max_score for card in cards),
        waits=sum(card.max_score for card in cards if card.waits),
        solved=sum(card in right for card in tested),
        tasks=len(tested),
        damage=harmless(learner.course, verdict.damage, 500),
        when=_when(marks, learner.words),
        seed=verdict.seed,
        graded=in_utc(datetime.fromtimestamp(graded, UTC)),
        helps=any(exercise_named(learner.course, one.id) for one in verdict.exercises),
        goal=page_text(learner.words, "page full marks") if cards and right == cards else "",
    )


def refusal_page(
    course: Course, learner: str, lesson: str, problem: str, digest: str, marks: Mark | None = None
) -> str:
    """The page of what could not be graded: the reason, and what people gave all the same."""
    marks, setter = marks or Mark(Verdict(learner, lesson)), Typesetter({})
    return _render(
        course,
        lesson,
        learner,
        digest,
        problem=harmless(course, problem, 1_000),
        given=marks if marks.by_person else None,
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
    """When it was handed in and when it was due, and what being late costs; as far as that is known."""
    late, penalty = marks.late, marks.penalty
    told = [page_text(words, "page handed in", when=in_utc(late.handed_in))] if late.handed_in else []
    if late.due:
        told.append(page_text(words, "page due extended" if late.extended else "page due", when=in_utc(late.due)))
    if late.seconds > 0 or penalty:
        # Who was late only by an LMS's word has a second of lateness, and no time of handing in.
        by_word = late.handed_in is None and late.seconds <= 1
        how = page_text(words, "page late" if by_word else "page late by", time=duration(late.seconds))
        told.append(
            page_text(words, "page late costs" if penalty else "page late is free", how=how, points=f"{penalty:.4g}")
        )
    return " ".join(told)
