"""What a feedback page tells about each exercise, as frozen data: words only, no HTML.

The words are those of the notebook: the check's own sentence, and the misconception's name, question, idea and
place to read. All that a learner may have made up goes through :func:`nbproof.feedback.own_code.harmless`; lines
of hidden tests and solutions that are not in their own answer are taken out, wherever they came from.
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from nbproof.authoring.secret_lines import Secrets
from nbproof.course_file import the_course
from nbproof.display.help import Hint, all_hints, exercise_hints
from nbproof.display.outline import exercise_named
from nbproof.feedback.handed_back import Earlier
from nbproof.feedback.own_code import harmless, own_line, printed_in, shortened, visible
from nbproof.gradebook.marks import CellMark, Mark
from nbproof.marking.results import (
    FAULTS,
    UNCERTAIN,
    CellRun,
    ExerciseVerdict,
    SubmissionVerdict,
    TestVerdict,
    WrittenAnswer,
)

__all__ = ["Card", "FaultShown", "cards_of"]

_WORDS = {
    "passed": "Passed",
    "failed": "Not yet",
    "error": "Ended with an error",
    "timeout": "Ran out of time",
    "out of memory": "Ran out of memory",
    "killed": "Stopped by itself",
    "not answered": "Not answered",
    UNCERTAIN: "Waits for your instructor",
}
_BY_HAND = "Marked by your instructor"
_ADVICE = {
    "timeout": "The usual reason is a loop that never ends: while such a cell runs, `[*]` stands beside it. Your other "
    "exercises were graded without it.",
    "out of memory": "The usual reasons are a list that grows in every pass, or values much larger than they need to "
    "be. Your other exercises were graded without it.",
    "killed": "`exit()`, `quit()` and `os._exit()` end Python itself, and with it the check. Your other exercises were "
    "graded without it.",
}
_LONG = 110
"""Characters of a sentence that can be read at a glance."""
_PIXELS = 96
"""CSS pixels an inch."""


@dataclass(frozen=True)
class Drawn:
    """A PNG in base64, what it shows in words, and how wide and high it is to be shown, in CSS pixels."""

    png: str
    alt: str
    width: int
    height: int


@dataclass(frozen=True)
class FaultShown:
    """One test cell that lost marks: its first check that failed."""

    sentence: str
    asked: str = ""
    line: str = ""
    got: str = ""
    wanted: str = ""
    picture: Drawn | None = None
    help: Hint | None = None
    printed: str = ""


@dataclass(frozen=True)
class Card:
    """One exercise, or one written answer."""

    id: str
    title: str
    kind: str
    """passed, partly, open, wrong or person: what colour it has."""
    words: str
    score: float
    max_score: float
    sentence: str = ""
    line: str = ""
    advice: str = ""
    checks: tuple[tuple[bool, str], ...] = ()
    faults: tuple[FaultShown, ...] = ()
    way_in: Hint | None = None
    note: str = ""
    """How the answer was found, if it was not in its place."""
    answer: str = ""
    code: bool = True
    printed: str = ""
    comment: str = ""
    remark: str = ""
    """What a person did to the marks."""
    again: str = ""
    """When it was marked again since it was handed back, and what changed."""
    waits: bool = False
    """Whether a person is still to mark it."""

    @property
    def lines(self) -> int:
        """Lines of the answer."""
        return self.answer.strip("\n").count("\n") + 1


def cards_of(
    verdict: SubmissionVerdict, marks: Mark | None, secrets: Secrets, earlier: Earlier | None = None
) -> tuple[Card, ...]:
    """A card for each exercise in the lesson's order, then one for each written answer."""
    own = "\n".join(verdict.answers.values())
    made = _Cards(verdict, marks, secrets, own, earlier)
    told = [made.exercise(exercise) for exercise in verdict.exercises]
    told += [made.written(one) for one in verdict.written]
    return tuple(told)


class _Cards:
    def __init__(
        self, verdict: SubmissionVerdict, marks: Mark | None, secrets: Secrets, own: str, earlier: Earlier | None
    ) -> None:
        self.verdict, self.marks, self.secrets, self.own, self.earlier = verdict, marks, secrets, own, earlier
        self.uncertain = {one.id for one in verdict.exercises if one.status == UNCERTAIN}

    def clean(self, text: object, most: int = 2_000) -> str:
        # Secrets before marks are put into the text, which would make another line of it.
        whole = text if isinstance(text, str) else str(text or "")
        return visible(self.secrets.taken_out(shortened(whole, most), self.own))

    def exercise(self, exercise: ExerciseVerdict) -> Card:
        outlined = exercise_named(exercise.id)
        most = sum(test.max_score for test in exercise.tests)
        given = [self._mark(test.grade_id) for test in exercise.tests]
        score = sum(
            test.score if mark is None else mark.score for test, mark in zip(exercise.tests, given, strict=True)
        )
        run = self.verdict.runs.get(exercise.id, CellRun())
        passed, untouched = exercise.status == "passed", exercise.status == "not answered"
        by_hand = any(mark is not None and mark.given is not None for mark in given)
        partly = not passed and score != 0
        waits = exercise.id in self.uncertain and any(mark is None or mark.waits for mark in given)
        lost = exercise.status in (*FAULTS, UNCERTAIN)
        sentence, line = "", ""
        faults: tuple[FaultShown, ...] = ()
        broken = exercise.status == "error" and bool(run.error) and not score
        if not passed and not untouched:
            # Whoever gave points has looked: nothing waits any more.
            if (lost or broken) and not (by_hand and exercise.status == UNCERTAIN):
                sentence, line = exercise.sentence, own_line(run.outputs)
            if not lost:
                faults = self._faults(exercise, bare=broken)
        answer = self.verdict.answers.get(exercise.id, "")
        words = "Partly right" if partly else _WORDS.get(exercise.status, exercise.status)
        # Beside a person's points the engine's word would be another opinion.
        if by_hand:
            words = _BY_HAND
        return Card(
            exercise.id, outlined.title if outlined else exercise.id.replace("_", " "), _kind(exercise.status, score, most),
            words, score, most,
            "Nothing was written into this TODO cell." if untouched else self.clean(sentence), self.clean(line, 300),
            _ADVICE.get(exercise.status, ""), () if untouched or lost or broken else _checks(exercise), faults,
            exercise_hints().get(exercise.id) if untouched else None, harmless(self._note(exercise.id)),
            "" if untouched else answer, True, "" if passed else self.clean(printed_in(run.outputs), 1_500),
            self._comment(exercise.id, *(test.grade_id for test in exercise.tests)), _remark(given), waits=waits,
            again=self._again(*(test.grade_id for test in exercise.tests)),
        )  # fmt: skip

    def written(self, one: WrittenAnswer) -> Card:
        mark = self._mark(one.id)
        score = mark.score if mark else 0.0
        waits = one.answered and (mark is None or (mark.given is None and mark.waits))
        words = "Waits for your instructor" if waits else _BY_HAND if one.answered else "Not answered"
        kind = "person" if waits or (one.answered and mark and mark.given is None) else _kind("", score, one.max_score)
        if not one.answered and score == 0:
            kind = "open"
        text = self.verdict.answers.get(one.id, "") if one.answered else ""
        return Card(
            one.id, one.title or one.id.replace("_", " "), kind, words, score, one.max_score,
            "A person reads this answer. Its points come with their marks." if waits
            else "" if one.answered else "Nothing was written here.",
            note=harmless(self._note(one.id)), answer=text, code=False, comment=self._comment(one.id), waits=waits,
            again=self._again(one.id),
        )  # fmt: skip

    def _mark(self, name: str) -> CellMark | None:
        return self.marks.cells.get(name) if self.marks else None

    def _again(self, *names: str) -> str:
        """``Marked again on 2026-11-24: 2 instead of 0.``, of all that belongs to one exercise."""
        if self.earlier is None:
            return ""
        known = [name for name in names if name in self.earlier.before]
        before, after = (sum(one[name] for name in known) for one in (self.earlier.before, self.earlier.after))
        return f"Marked again on {self.earlier.day}: {after:.4g} instead of {before:.4g}." if before != after else ""

    def _comment(self, *names: str) -> str:
        texts = [self.marks.comments[name] for name in names if self.marks and name in self.marks.comments]
        return harmless("\n\n".join(dict.fromkeys(texts)), 10_000)

    def _note(self, name: str) -> str:
        lost, found = getattr(self.verdict, "lost", {}).get(name, ""), self.verdict.recovered.get(name, "")
        # Of what is uncertain its own sentence says why.
        how = "" if lost and name in self.uncertain else lost or found
        return how[:1].upper() + how[1:] + ("" if how.endswith((".", "!", "?")) else ".") if how else ""

    def _faults(self, exercise: ExerciseVerdict, bare: bool) -> tuple[FaultShown, ...]:
        """One for each test cell that lost marks, equal ones once. ``bare``: the cell's own error has said it all."""
        found: list[FaultShown] = []
        for test in exercise.tests:
            if test.score == test.max_score:
                continue
            fault = self._fault(test, exercise)
            if bare:
                # The checks only found names missing. That a cell has to run to its last line was said above.
                fault = FaultShown("", help=fault.help if test.hint != "cell_stopped" else None)
            if fault not in found and (fault.sentence or fault.help):
                found.append(fault)
        return tuple(found)

    def _fault(self, test: TestVerdict, exercise: ExerciseVerdict) -> FaultShown:
        sentence = test.sentence or exercise.sentence
        got, wanted = test.got, test.wanted
        long = len(sentence) > _LONG and bool(test.where)
        if long:
            # Values that do not fit a line are easier to compare below each other, or in a picture.
            whole = f"{test.where} is {got}, wanted {wanted}"
            detail = sentence[len(whole) :].strip(" ()") if sentence.startswith(whole) else ""
            sentence = f"`{test.where}` is not what was asked for{': ' + detail if detail else ''}."
        return FaultShown(
            self.clean(sentence, 600), test.asked, self.clean(test.line, 300), self.clean(got, 400) if long else "",
            self.clean(wanted, 400) if long else "", _picture(test.compared), all_hints().get(test.hint or ""),
            self.clean(test.printed, 1_500).strip(),
        )  # fmt: skip


def _kind(status: str, score: float, most: float) -> str:
    if status in ("not answered", UNCERTAIN) and score == 0:
        return "open" if status != UNCERTAIN else "person"
    return "passed" if score >= most else "partly" if score > 0 else "wrong"


def _checks(exercise: ExerciseVerdict) -> tuple[tuple[bool, str], ...]:
    """What was asked and whether it was right, in the order of the test cells."""
    told: dict[str, bool] = {}
    for test in exercise.tests:
        for right, asked in [*((True, one) for one in test.passed), *((False, one) for one in test.failed)]:
            told[asked] = told.get(asked, True) and right
    return tuple((right, asked) for asked, right in told.items())


def _remark(marks: list[CellMark | None]) -> str:
    given = [mark for mark in marks if mark is not None and mark.given is not None]
    extra = sum(mark.extra for mark in marks if mark is not None)
    parts = ["Your instructor gave the points of this exercise by hand."] if given else []
    return " ".join([*parts, f"{extra:g} of them {'is' if extra == 1 else 'are'} extra." if extra else ""]).strip()


def _picture(compared: dict[str, Any] | None) -> Drawn | None:
    """Yours beside wanted, equal ones drawn once; None if it carries nothing, or nothing that can be drawn."""
    return _drawn(json.dumps(compared, sort_keys=True)) if compared else None


@lru_cache(maxsize=512)
def _drawn(packed: str) -> Drawn | None:
    # Here and not above: most pages of a class have no picture, and what draws them costs seconds.
    from nbproof.marking.results import unpack

    place, pictures = unpack(json.loads(packed)), the_course().pictures()
    picture = None if place is None or pictures is None else pictures.draw_place(place)
    if picture is None:
        return None
    png = base64.b64encode(picture.png(colours=32, scale=1.5)).decode("ascii")
    width, height = (round(float(inches) * _PIXELS) for inches in picture.get_size_inches())
    return Drawn(png, harmless(picture.alt, 1_500), width, height)
