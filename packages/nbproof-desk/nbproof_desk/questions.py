"""What a person has to mark: questions, the answers to them, and the groups of answers that say the same.

A question is a written answer, code or a task that only people mark, or an exercise that a run could not mark for somebody
(*uncertain*). The answers come from the verdicts that runs have kept. Answers that nobody wrote are none.
"""

from __future__ import annotations

import hmac
import re
import secrets
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any

from nbproof.cells import BEGIN_SCHEME, BEGIN_SOLUTION, END_SCHEME, END_SOLUTION, CellKind, solution_of
from nbproof.course_file import Course
from nbproof.files import digest_of
from nbproof.grouping import grouped
from nbproof.key import Key
from nbproof.lesson.from_notebook import read_cells
from nbproof.lesson.heading import asks_at
from nbproof.lesson.lesson import Cell
from nbproof.marking.results import CellRun, Verdict, WrittenAnswer
from nbproof.places import places
from nbproof.run.journal import journal_of, journalled_verdict, problems_of
from nbproof.values.results import Outcome, Status
from nbproof.values.words import words_of
from nbproof_desk.likeness import alike_together

__all__ = ["AnswerGroup", "HandedIn", "Kind", "MarkedQuestion", "Part", "Reader", "work_in"]


class Kind(StrEnum):
    """What a person marks."""

    WRITTEN = "written answer"
    CODE = "code"
    TASK = "task"
    UNCERTAIN = "uncertain exercise"
    AGAIN = "exercise to look at again"
    TESTED = "exercise that tests mark"


@dataclass(frozen=True)
class MarkedQuestion:
    """One question of one lesson. ``cells``: the graded cells that hold its points, in the order of the notebook."""

    lesson: str
    name: str
    """The grade_id of the cell with the answer, and with the comment."""
    kind: Kind
    title: str
    cells: Mapping[str, float] = field(hash=False)

    @property
    def most(self) -> float:
        """All its points."""
        return sum(self.cells.values())

    @property
    def place(self) -> tuple[str, str]:
        """What no other question has."""
        return self.lesson, self.name

    def shared(self, points: float) -> dict[str, float]:
        """These points, cell by cell: the first cells are filled first, and what is left over is with the last."""
        given = {}
        for name, most in self.cells.items():
            given[name] = min(points, most)
            points -= given[name]
        given[name] += points
        return given


@dataclass(frozen=True)
class Part:
    """A cell that a learner wrote, with what running it left behind."""

    code: bool
    text: str
    outputs: tuple[dict[str, Any], ...] = ()

    @cached_property
    def sameness(self) -> str:
        """What two cells share if they say the same."""
        return same_code(self.text) if self.code else same_text(self.text)


@dataclass(frozen=True)
class HandedIn:
    """One learner's answer to one question."""

    key: Key
    question: MarkedQuestion
    parts: tuple[Part, ...]
    note: str = ""
    """Why no test could mark it, or how it was found; empty if there is nothing to say."""
    pictures: Mapping[str, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """All that the learner wrote."""
        return "\n\n".join(part.text for part in self.parts)

    @cached_property
    def sameness(self) -> str:
        """A digest that two answers share if they say the same."""
        said = [(part.code, part.sameness) for part in self.parts]
        shown = []
        if "attachment:" in self.text:
            shown = sorted(self.pictures.items())
        return digest_of(repr((self.question.place, said, self.note, shown)).encode("utf-8", "replace"))[:16]


_HEADING = re.compile(r"\s*(?:#{1,6} |<h[1-6])")
_MARKERS = re.compile(
    rf"^[^\S\n]*(?:{BEGIN_SOLUTION}|{END_SOLUTION}|{BEGIN_SCHEME}|{END_SCHEME})[^\S\n]*\n?", re.MULTILINE
)
_EXACT = re.compile(
    r"(\$\$.*?\$\$|\$[^$\n]+\$|```.*?```|`[^`\n]+`|__[A-Za-z]\w*?__"
    r"|(?<![\w\"'“”„‘’«»])[^\W\d_]['’]{1,2}(?!\w)|\w['’]{1,2}(?=\())",
    re.DOTALL,
)
"""Formulas and code within a text, also __init__ and f'(x): a sign or a capital letter in these means something."""
_EMPHASIS = re.compile(r"(?<![\w*])([*_]{1,3})(?=[^\s*_])(.{1,100}?)(?<=[^\s*_])\1(?![\w*])")
"""Signs in pairs around what they emphasise: the one of add_ or **kwargs is part of a name."""
_QUOTES = re.compile("[\"'“”„‘’«»]")
_STOPS = re.compile(r"(?:(?<=\w)|\A)[.,;:!?…]+(?=\s|$)|(?<=[\w.,;:!?)]\s)[-–—](?=\s+[^\W\d_]{2})", re.MULTILINE)
"""Stops at the ends of words, and dashes between words: before a number, or one letter, a dash is a minus."""


def same_text(text: str) -> str:
    """A text without what makes no difference to its reader: spaces, capital letters, quotes, stops at the ends of words.

    Signs within numbers, between words, in formulas, in code and in names stay: 1.5 is not 15, a < b is not a > b, and add_ is
    not add.
    """
    pieces = _EXACT.split(unicodedata.normalize("NFC", text))
    pieces[::2] = [_STOPS.sub(" ", _QUOTES.sub("", _EMPHASIS.sub(r"\2", piece))).casefold() for piece in pieces[::2]]
    return " ".join("".join(pieces).split()) or text.strip()


def same_code(text: str) -> str:
    """Code without blank lines, and without blanks at the ends of lines."""
    return "\n".join(line.rstrip() for line in text.splitlines() if line.strip())


@dataclass(frozen=True)
class AnswerGroup:
    """Answers that say the same. ``id``: the same as long as the answers are. ``apart``: one that was taken out of its group."""

    id: str
    answers: tuple[HandedIn, ...]
    apart: bool = False

    @property
    def first(self) -> HandedIn:
        """The one that is shown."""
        return self.answers[0]

    @property
    def said(self) -> str:
        """What its answers share."""
        return "\n".join(part.sameness for part in self.first.parts)


@dataclass(frozen=True)
class _Kept:
    """What was read of one verdict, where, and of which state of its file."""

    path: Path
    stamp: tuple[int, int] | None = None
    again: frozenset[str] = frozenset()
    """The cells that wait although a person has given points."""
    answers: tuple[HandedIn, ...] = ()


class Reader:
    """Reads the answers of a course. What it has read it keeps until the file is another one."""

    def __init__(self, course: Course, root: Path) -> None:
        self.course, self.root = course, root
        self._secret = secrets.token_bytes(32)
        self._again: Mapping[Key, frozenset[str]] = {}
        self._kept: dict[Key, _Kept] = {}
        self._lessons: dict[str, tuple[int, tuple[Cell, ...]]] = {}
        self._questions: dict[tuple[str, str], MarkedQuestion] = {}
        self._groups: dict[tuple[str, str], tuple[AnswerGroup, ...]] = {}
        self._orders: dict[tuple[str, str], tuple[list[str], list[int]]] = {}
        """The ids of groups, and the order that puts together what is alike: it takes a while to find."""
        self._aliases: dict[tuple[str, str], dict[str, HandedIn]] = {}

    def read(self, again: Mapping[Key, frozenset[str]] = MappingProxyType({})) -> None:
        """Read what has come or changed since it was read last. ``again``: the cells that wait although a person has given
        points."""
        self._again = again
        refused = problems_of(self.root)
        here = places(self.root)
        known = here.lessons()
        lying = chain.from_iterable(here.lessons_in(folder, known) for folder in here.handed_in("autograded"))
        # What was handed in last could not be graded: nobody marks what lies there from before.
        keys = [key for key in lying if key not in refused]
        for gone in self._kept.keys() - set(keys):
            self._keep(gone, None)
        self.read_again(keys)

    def read_again(self, keys: Iterable[Key]) -> None:
        """The same for these alone."""
        for key in keys:
            kept = self._kept.get(key) or _Kept(journal_of(self.root, *key))
            stamp, again = _stamp(kept.path), self._again.get(key, frozenset())
            if key not in self._kept or (kept.stamp, kept.again) != (stamp, again):
                verdict = None
                if stamp is not None:
                    verdict = journalled_verdict(self.root, *key)
                answers: tuple[HandedIn, ...] = ()
                if verdict is not None and not verdict.problem:
                    answers = tuple(_answers_of(self.course, verdict, again))
                self._keep(key, _Kept(kept.path, stamp, again, answers))

    def _keep(self, key: Key, kept: _Kept | None) -> None:
        """Keep what was read; None: it is not there any more."""
        if kept is None:
            del self._kept[key]
        else:
            self._kept[key] = kept
        self._questions = {}
        self._groups.clear()
        self._aliases.clear()

    def questions(self) -> dict[tuple[str, str], MarkedQuestion]:
        """Every question that somebody has answered, by its place, of what was read: lessons by name, questions as in the
        notebook."""
        if not self._questions:
            found = {}
            for key in sorted(self._kept, key=lambda one: one.lesson):
                found.update({one.question.place: one.question for one in self._kept[key].answers})
            order = sorted(found, key=lambda one: (one[0], self._at(*one), one[1]))
            self._questions = {place: found[place] for place in order}
        return self._questions

    def _at(self, lesson: str, name: str) -> int:
        """The index of a question's cell in the instructor's notebook; -1 if that has none."""
        return next((at for at, cell in enumerate(self._cells(lesson)) if cell.grade_id == name), -1)

    def _cells(self, lesson: str) -> tuple[Cell, ...]:
        path = places(self.root).source(lesson)
        stamp = path.stat().st_mtime_ns if path.exists() else 0
        if self._lessons.get(lesson, (-1, ()))[0] != stamp:
            self._lessons[lesson] = stamp, read_cells(path)
        return self._lessons[lesson][1]

    def statement(self, question: MarkedQuestion) -> str:
        """What is asked, as Markdown: the prose above the answer, from the heading on; of a task its own text."""
        cells, at = self._cells(question.lesson), self._at(question.lesson, question.name)
        if at >= 0 and cells[at].kind is CellKind.TASK:
            return cells[at].source
        above: list[str] = []
        for cell in reversed(cells[: max(at, 0)]):
            if cell.kind is not CellKind.PROSE:
                break
            start = max(asks_at(cell.source), 0)
            above.insert(0, cell.source[start:])
            if start or _HEADING.match(cell.source):
                break
        return "\n\n".join(above)

    def model(self, question: MarkedQuestion) -> Part:
        """The instructor's own answer, with the mark scheme if there is one; empty if there is none."""
        at = self._at(question.lesson, question.name)
        cell = self._cells(question.lesson)[at] if at >= 0 else None
        if cell is None or cell.kind is CellKind.TASK:
            return Part(False, "")
        if cell.is_code:
            return Part(True, solution_of(cell.source))
        return Part(False, _MARKERS.sub("", cell.source.replace(BEGIN_SCHEME, f"\n---\n\n{BEGIN_SCHEME}")))

    def groups(self, question: MarkedQuestion) -> tuple[AnswerGroup, ...]:
        """The answers to a question, those that say the same together: large groups first, and below each those like it."""
        if question.place not in self._groups:
            kept = (one.answers for key, one in sorted(self._kept.items()) if key.lesson == question.lesson)
            answers = [one for one in chain.from_iterable(kept) if one.question.name == question.name]
            found = grouped((one.sameness, one) for one in answers)
            made = [AnswerGroup(name, tuple(group)) for name, group in found.items()]
            made.sort(key=lambda one: (-len(one.answers), one.said, one.id))
            self._groups[question.place] = tuple(made[at] for at in self._order(question, made))
            self._aliases[question.place] = {self.alias(one): one for one in answers}
        return self._groups[question.place]

    def _order(self, question: MarkedQuestion, groups: Sequence[AnswerGroup]) -> list[int]:
        """The indices of these groups, in the order of the page."""
        ids = [one.id for one in groups]
        if self._orders.get(question.place, ([], []))[0] != ids:
            self._orders[question.place] = ids, alike_together([one.said for one in groups])
        return self._orders[question.place][1]

    def parted(self, groups: Iterable[AnswerGroup], apart: Mapping[str, str]) -> Iterator[AnswerGroup]:
        """The groups, each followed by those of its answers that are apart. ``apart``: learner -> what their answer has to
        say to be so."""
        for group in groups:
            alone = [one for one in group.answers if apart.get(one.key.learner) == group.id]
            others = tuple(one for one in group.answers if one not in alone)
            if others:
                yield replace(group, answers=others)
            for one in alone:
                name = digest_of(f"{group.id} {self.alias(one)}".encode())[:16]
                yield AnswerGroup(name, (one,), apart=True)

    def answer(self, question: MarkedQuestion, alias: str) -> HandedIn | None:
        """The answer that pages call so; None if there is none."""
        self.groups(question)
        return self._aliases[question.place].get(alias)

    def answers(self, question: MarkedQuestion) -> tuple[HandedIn, ...]:
        """All answers to a question."""
        return tuple(chain.from_iterable(one.answers for one in self.groups(question)))

    def alias(self, answer: HandedIn) -> str:
        """What a page calls an answer: nobody reads a learner's name out of it."""
        return hmac.digest(
            self._secret, f"{answer.key.name}\0{answer.question.name}".encode(errors="replace"), "sha256"
        ).hex()[:16]


def _answers_of(course: Course, verdict: Verdict, again: frozenset[str]) -> Iterator[HandedIn]:
    """All in a verdict that a person marks. ``again``: the cells that wait although a person has given points."""
    for one in verdict.written:
        if one.answered:
            yield _written(verdict, one)
    for outcome in verdict.exercises:
        if outcome.status is Status.UNCERTAIN:
            yield _exercise(course, verdict, outcome, Kind.UNCERTAIN)
        elif not again.isdisjoint(outcome.most):
            yield _exercise(course, verdict, outcome, Kind.AGAIN)


def work_in(course: Course, verdict: Verdict) -> list[HandedIn]:
    """All that a learner has answered or could have, in the order of the notebook, also what no person has to mark."""
    order = {name: at for at, name in enumerate(verdict.titles)}
    found = [_written(verdict, one) for one in verdict.written]
    for outcome in verdict.exercises:
        kind = Kind.UNCERTAIN if outcome.status is Status.UNCERTAIN else Kind.TESTED
        found.append(_exercise(course, verdict, outcome, kind))
    return sorted(found, key=lambda one: order.get(one.question.name, len(order)))


def _written(verdict: Verdict, one: WrittenAnswer) -> HandedIn:
    own = [(at, cell) for at, cell in enumerate(verdict.own) if one.id in cell.questions]
    parts = [Part(cell.code, cell.source, _outputs(verdict, f"own {at}")) for at, cell in own]
    answer = verdict.answers.get(one.id, "")
    kind = Kind.CODE if one.code else Kind.WRITTEN
    if own and answer == "\n\n".join(cell.source for _, cell in own):
        kind = Kind.TASK
    elif answer.strip():
        parts.insert(0, Part(one.code, answer, _outputs(verdict, one.id)))
    question = MarkedQuestion(verdict.lesson, one.id, kind, _title(verdict, one.id), {one.id: one.max_score})
    return HandedIn(
        _key(verdict), question, tuple(parts[:_MOST_PARTS]), verdict.recovered.get(one.id, ""), verdict.pictures
    )


def _exercise(course: Course, verdict: Verdict, outcome: Outcome, kind: Kind) -> HandedIn:
    answer = verdict.answers.get(outcome.id, "")
    parts = [Part(one.code, one.source) for one in verdict.own if one.code]
    if answer.strip():  # if not, one of the learner's own cells may be the answer
        parts = [Part(True, answer, _outputs(verdict, outcome.id))]
    note = words_of(course).outcome(outcome)
    if kind is Kind.AGAIN:
        note = f"{_AGAIN} {note}".strip()
    question = MarkedQuestion(verdict.lesson, outcome.id, kind, _title(verdict, outcome.id), dict(outcome.most))
    return HandedIn(_key(verdict), question, tuple(parts[:_MOST_PARTS]), note)


_AGAIN = "A person gave points; the answer, its tests or their points have changed since."
_MOST_PARTS = 12
"""Cells of one answer that a page shows."""


def _stamp(path: Path) -> tuple[int, int] | None:
    """What changes with a file; None if it is not there."""
    try:
        about = path.stat()
    except OSError:
        return None
    return about.st_mtime_ns, about.st_size


def _key(verdict: Verdict) -> Key:
    return Key(verdict.learner, verdict.lesson)


def _title(verdict: Verdict, name: str) -> str:
    return verdict.titles.get(name, "") or name.replace("_", " ")


def _outputs(verdict: Verdict, name: str) -> tuple[dict[str, Any], ...]:
    return tuple(verdict.runs.get(name, CellRun()).outputs)
