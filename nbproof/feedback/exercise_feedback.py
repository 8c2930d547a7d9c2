"""What a feedback page tells about each exercise: the verdict, with the marks and comments that people gave.

The words are those of the notebook: the check's own sentence, and the misconception's name, question, idea and
place to read. All that a learner may have made up goes through :func:`nbproof.feedback.own_code.harmless`; lines
of hidden tests and solutions that are not in their own answer are taken out, wherever they came from.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from nbproof.authoring.secret_lines import Secrets
from nbproof.cells import is_made_up
from nbproof.course_file import the_course
from nbproof.display.help import Hint, all_hints, exercise_hints
from nbproof.display.outline import exercise_named
from nbproof.display.words import words
from nbproof.feedback.own_code import Made, harmless, made_in, own_line, shortened, visible
from nbproof.gradebook.marks import CellMark, Mark
from nbproof.marking.results import CellRun, Verdict, WrittenAnswer, unpack
from nbproof.recover.answers import OwnCell
from nbproof.values.results import FAULTS, Cause, Finding, Outcome, Status

__all__ = ["Addressee", "Card", "ExerciseCard", "cards_of", "drawn"]

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
    cells: tuple[tuple[OwnCell, tuple[Made, ...]], ...] = ()
    """Those of the learner's own that a person reads there, with what they made."""

    def __init__(self, learner: Addressee, name: str, points: Mapping[str, float], most: float, status: Status) -> None:
        """``points``: what tests gave to each cell. ``status``: *uncertain* of whatever only a person can mark."""
        verdict, comments = learner.verdict, learner.marks.comments
        outlined = exercise_named(name)
        self.learner, self.id, self.max_score, self.status = learner, "" if is_made_up(name) else name, most, status
        self.title = verdict.titles.get(name) or (outlined.title if outlined else name.replace("_", " "))
        written = dict.fromkeys(filter(None, map(comments.get, (name, *points))))
        self.comment = "\n\n".join(written)
        # How an answer was found that was not in its place, or why there is none.
        self.note = harmless(verdict.lost.get(name) or verdict.recovered.get(name, ""))
        self.answer = verdict.answers.get(name, "")
        self.run = verdict.runs.get(name, CellRun())
        held = learner.marks.cells
        marks = [held.get(cell) or CellMark(cell, most, of_tests) for cell, of_tests in points.items()]
        self.score = sum(mark.score for mark in marks)
        self.by_hand = any(mark.given is not None for mark in marks)
        # Whoever gave points has looked: nothing waits any more.
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
            return "Marked by your instructor"
        partly = self.score and self.status is not Status.PASSED
        return "Partly right" if partly else words().text(f"status {self.status}")

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
        self.advice = _ADVICE.get(status, "")
        if status is not Status.PASSED:
            self.made = learner.made(self.run)
        if status is Status.NOT_ANSWERED:
            self.sentence, self.answer = "Nothing was written into this cell.", ""
            self.way_in = exercise_hints().get(outcome.id)
        elif self.waits or status in FAULTS or self.is_broken:
            self.tell(words().outcome(outcome))
        elif status is not Status.UNCERTAIN:
            self.checks = _checks(outcome)
        if status is Status.UNCERTAIN:
            self.note = ""  # its own sentence says why
        if status in (Status.FAILED, Status.ERROR):
            self.faults = _different(outcome.costly)
        if {asked for _, asked in self.checks} <= {fault.asked for fault in self.faults}:
            self.checks = ()  # each was told above, and none of them is right

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

    def is_long(self, fault: Finding) -> bool:
        """Whether its values are easier to compare below each other, or in a picture."""
        return fault.difference is not None and len(words().finding(fault)) > _LONG

    def help(self, fault: Finding) -> Hint | None:
        """The misconception. Where the cell's own error was told, nobody has to say once more that it ended early."""
        return None if self.is_broken and fault.hint == "cell_stopped" else all_hints().get(fault.hint or "")


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
            self.sentence, self.answer = "Nothing was written here.", ""
            return
        self.made = learner.made(self.run)
        read = "A person reads this answer. Its points come with their marks." if self.waits else ""
        if self.run.error:
            self.tell(words().text("because of error", detail=self.run.error))
            self.advice = read
        else:
            self.sentence = read


def _different(faults: Sequence[Finding]) -> tuple[Finding, ...]:
    """Those that say something else than the ones before."""
    found = {(words().finding(fault), fault.asked, fault.line, fault.hint): fault for fault in reversed(faults)}
    return tuple(reversed(found.values()))


def _checks(outcome: Outcome) -> tuple[tuple[bool, str], ...]:
    """What was asked and whether it was right, in the order of the test cells."""
    wrong = {one.asked for one in outcome.findings if not one.passed}
    return tuple((asked not in wrong, asked) for asked in dict.fromkeys(one.asked for one in outcome.findings))


def drawn(picture: dict[str, Any] | None) -> Markup | None:
    """Yours beside wanted, as a PNG that says in words what it shows; None if it carries nothing that can be drawn."""
    place = unpack(picture)
    if place is None or not the_course().picture:
        return None
    made = the_course().pictures().draw_place(place)
    if made is None:
        return None
    png = base64.b64encode(made.pngs(colours=32)[0]).decode("ascii")  # pages of feedback are light
    width, height = (round(float(inches) * _PIXELS) for inches in made.get_size_inches())
    image = Markup('<img src="data:image/png;base64,{}" alt="{}" width="{}" height="{}">')
    return image.format(png, harmless(made.alt, 1_500), width, height)
