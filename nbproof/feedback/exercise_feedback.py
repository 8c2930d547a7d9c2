"""What a feedback page tells about each exercise: the verdict, with the marks and comments that people gave.

The words are those of the notebook: the check's own sentence, and the misconception's name, question, idea and
place to read. All that a learner may have made up goes through :func:`nbproof.feedback.own_code.harmless`; lines
of hidden tests and solutions that are not in their own answer are taken out, wherever they came from.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from nbproof.authoring.secret_lines import Secrets
from nbproof.cells import ITS_TESTS, is_made_up
from nbproof.course_file import the_course
from nbproof.display.help import Hint, all_hints, exercise_hints
from nbproof.display.outline import exercise_named
from nbproof.display.words import words
from nbproof.feedback.own_code import Made, harmless, made_in, own_line, shortened, visible
from nbproof.gradebook.marks import Mark
from nbproof.marking.results import FAULTS, CellRun, Verdict, WrittenAnswer, unpack
from nbproof.values.results import Cause, Finding, Outcome, Status

__all__ = ["Addressee", "Card", "ExerciseCard", "cards_of", "drawn"]

_WAITS, _BY_HAND = "Waits for your instructor", "Marked by your instructor"
_ADVICE = {
    Status.TIMEOUT: "The usual reason is a loop that never ends: while such a cell runs, `[*]` stands beside it. Your other "
    "exercises were graded without it.",
    Status.OUT_OF_MEMORY: "The usual reasons are a list that grows in every pass, or values much larger than they need to "
    "be. Your other exercises were graded without it.",
    Status.KILLED: "`exit()`, `quit()` and `os._exit()` end Python itself, and with it the check. Your other exercises were "
    "graded without it.",
}
_LONG = 110
"""Characters of a sentence that can be read at a glance."""
_PIXELS = 96
"""CSS pixels an inch."""


@dataclass(frozen=True)
class Addressee:
    """Whose page it is: the verdict, what people gave, and what must not be shown unless they wrote it."""

    verdict: Verdict
    marks: Mark
    secrets: Secrets

    def clean(self, text: str, most: int = 2_000) -> str:
        """A text that a learner's code brought about, fit to be shown."""
        # Secrets before marks are put into the text, which would make another line of it.
        own = "\n".join(self.verdict.answers.values())
        return visible(self.secrets.taken_out(shortened(text, most), own))

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

    def __init__(self, learner: Addressee, name: str, title: str, cells: Sequence[str], max_score: float) -> None:
        self.learner, self.id, self.max_score = learner, "" if is_made_up(name) else name, max_score
        verdict, comments = learner.verdict, learner.marks.comments
        self.title = verdict.titles.get(name) or title or name.replace("_", " ")
        written = dict.fromkeys(comments[one] for one in (name, *cells) if one in comments)
        self.comment = harmless("\n\n".join(written), 10_000)
        # How an answer was found that was not in its place, or why there is none.
        self.note = harmless(verdict.lost.get(name) or verdict.recovered.get(name, ""))
        self.answer = verdict.answers.get(name, "")
        self.marks = [learner.marks.cells.get(cell) for cell in cells]
        self.by_hand = any(mark is not None and mark.given is not None for mark in self.marks)
        self.score = 0.0
        self.waits = False

    @property
    def kind(self) -> str:
        """passed, partly or wrong: what colour it has."""
        if self.score >= self.max_score:
            return "passed"
        return "partly" if self.score > 0 else "wrong"

    @property
    def shows(self) -> bool:
        """Whether its cell made something to be looked at."""
        return any(one.picture for one in self.made)

    @property
    def lines(self) -> int:
        """Lines of the answer."""
        return self.answer.strip("\n").count("\n") + 1


class ExerciseCard(Card):
    """One exercise, with what its checks found."""

    def __init__(self, learner: Addressee, outcome: Outcome) -> None:
        outlined = exercise_named(outcome.id)
        super().__init__(learner, outcome.id, outlined.title if outlined else "", [*outcome.most], outcome.max_score)
        self.outcome, status = outcome, outcome.status
        pairs = zip(outcome.points.values(), self.marks, strict=True)
        self.score = sum(points if mark is None else mark.score for points, mark in pairs)
        run = learner.verdict.runs.get(outcome.id, CellRun())
        if status is not Status.PASSED:
            self.made = learner.made(run)
            self.advice = _ADVICE.get(status, "")
        if status is Status.NOT_ANSWERED:
            self.sentence, self.answer = "Nothing was written into this cell.", ""
            self.way_in = exercise_hints().get(outcome.id)
        elif status is Status.UNCERTAIN:
            self.note = ""  # its own sentence says why
            # Whoever gave points has looked: nothing waits any more.
            self.waits = not self.by_hand
            if self.waits:
                self._tell(run)
        elif status in FAULTS or self.is_broken:
            self._tell(run)
        else:
            self.checks = _checks(outcome)
        if status in (Status.FAILED, Status.ERROR):
            self.faults = _different(outcome.costly)
        if {asked for _, asked in self.checks} <= {fault.asked for fault in self.faults}:
            self.checks = ()  # each was told above, and none of them is right

    @property
    def is_broken(self) -> bool:
        """Whether the cell's own error has said it all."""
        reason = self.outcome.reason
        return reason is not None and reason.cause is Cause.ERROR and not self.score

    @property
    def kind(self) -> str:
        """open: not answered; person: waits for one; else as any other."""
        waiting = {Status.NOT_ANSWERED: "open", Status.UNCERTAIN: "person"}
        return super().kind if self.score else waiting.get(self.outcome.status, super().kind)

    @property
    def words(self) -> str:
        """How it ended. Beside a person's points the engine's word would be another opinion."""
        if self.by_hand:
            return _BY_HAND
        partly = self.score and self.outcome.status is not Status.PASSED
        return "Partly right" if partly else words().text(f"status {self.outcome.status}")

    def _tell(self, run: CellRun) -> None:
        self.sentence = self.learner.clean(words().outcome(self.outcome))
        self.line = self.learner.clean(own_line(run.outputs), 300)

    def fact(self, fault: Finding) -> str:
        """What is wrong, in a sentence; nothing if the cell's own error was told."""
        if self.is_broken:
            return ""
        difference = fault.difference
        if difference is None or not self.is_long(fault):
            return self.learner.clean(words().finding(fault) or words().outcome(self.outcome), 600)
        more = words().summary(difference)
        said = f"`{words().place(difference)}` is not what was asked for{': ' if more else ''}{more}."
        return self.learner.clean(said, 600)

    def asked(self, fault: Finding) -> str:
        """What was asked; nothing if the test cell does not say it."""
        return "" if fault.asked == ITS_TESTS else fault.asked

    def is_long(self, fault: Finding) -> bool:
        """Whether its values are easier to compare below each other, or in a picture."""
        return fault.difference is not None and len(words().finding(fault)) > _LONG

    def help(self, fault: Finding) -> Hint | None:
        """The misconception. Where the cell's own error was told, nobody has to say once more that it ended early."""
        return None if self.is_broken and fault.hint == "cell_stopped" else all_hints().get(fault.hint or "")


class WrittenCard(Card):
    """One answer that a person marks."""

    def __init__(self, learner: Addressee, one: WrittenAnswer) -> None:
        super().__init__(learner, one.id, "", [one.id], one.max_score)
        (mark,) = self.marks
        self.answered, self.score = one.answered, mark.score if mark else 0.0
        self.code = one.code
        self.waits = one.answered and not self.by_hand
        read = "A person reads this answer. Its points come with their marks." if self.waits else ""
        run = learner.verdict.runs.get(one.id, CellRun())
        if not one.answered:
            self.sentence, self.answer = "Nothing was written here.", ""
        elif run.error:
            self.sentence, self.advice = learner.clean(words().text("because of error", detail=run.error)), read
            self.line = learner.clean(own_line(run.outputs), 300)
        else:
            self.sentence = read
        self.made = learner.made(run) if one.answered else ()

    @property
    def kind(self) -> str:
        """open: not answered; person: waits for one; else as any other."""
        if not self.answered and not self.score:
            return "open"
        return "person" if self.waits else super().kind

    @property
    def words(self) -> str:
        """How far it is."""
        if self.waits:
            return _WAITS
        return _BY_HAND if self.answered else words().text(f"status {Status.NOT_ANSWERED}")


def _different(faults: Sequence[Finding]) -> tuple[Finding, ...]:
    """Those that say something else than the ones before."""
    found = {(words().finding(fault), fault.asked, fault.line, fault.hint): fault for fault in reversed(faults)}
    return tuple(reversed(found.values()))


def _checks(outcome: Outcome) -> tuple[tuple[bool, str], ...]:
    """What was asked and whether it was right, in the order of the test cells."""
    told: dict[str, bool] = {}
    for one in outcome.findings:
        told[one.asked] = told.get(one.asked, True) and one.passed
    return tuple((right, asked) for asked, right in told.items())


@dataclass(frozen=True)
class Drawn:
    """A PNG in base64, what it shows in words, and how wide and high it is to be shown, in CSS pixels."""

    png: str
    alt: str
    width: int
    height: int


def drawn(picture: dict[str, Any] | None) -> Drawn | None:
    """Yours beside wanted; None if it carries nothing, or nothing that can be drawn."""
    place = unpack(picture)
    if place is None or not the_course().picture:
        return None
    made = the_course().pictures().draw_place(place)
    if made is None:
        return None
    png = base64.b64encode(made.pngs(colours=32)[0]).decode("ascii")  # pages of feedback are light
    width, height = (round(float(inches) * _PIXELS) for inches in made.get_size_inches())
    return Drawn(png, harmless(made.alt, 1_500), width, height)
