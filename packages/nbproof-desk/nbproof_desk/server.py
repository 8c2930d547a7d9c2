"""The desk's web server: on this machine alone, behind a token, with pages that run no script but the desk's own.

Every request has to name this server as its host, so no other name that leads here reads anything; a request that another page
makes is refused. The token in the address brings a cookie, which counts from then on. A write needs Tornado's XSRF token as well.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import json
import secrets
import webbrowser
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import chain
from math import ceil
from pathlib import Path
from socket import create_server, socket
from tempfile import mkstemp
from types import MappingProxyType
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from jupyter_core.paths import jupyter_runtime_dir
from tornado.httpserver import HTTPServer
from tornado.web import Application, HTTPError, RequestHandler

from nbproof import feedback
from nbproof.command import course_command
from nbproof.display.outline import title_of
from nbproof.errors import CourseError, UsageError
from nbproof.feedback.own_code import harmless
from nbproof.gradebook.marks import Person
from nbproof.key import Key
from nbproof.places import course_config
from nbproof.text import counted, printable
from nbproof_desk.difference import difference
from nbproof_desk.ledger import Apart, Entry, Ledger
from nbproof_desk.marks import Change, Given, MarksBook, OtherRubric, Overtaken, Rows
from nbproof_desk.questions import AnswerGroup, HandedIn, MarkedQuestion, Reader
from nbproof_desk.rubric import LETTERS, Item, Rubric
from nbproof_desk.settings import DeskSettings
from nbproof_desk.shown import answer_shown, instructors_text, model_shown, note_shown

__all__ = ["Desk", "Page", "Wanted", "application", "seen_as", "serve"]

ADDRESS = "127.0.0.1"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
"""Pictures of learners' are plain PNGs within the page."""
_HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_HERE = Path(__file__).parent
_LOOK = Path(feedback.__file__).parent / "templates" / "page.css"
"""What feedback pages look like: a learner's answer looks the same here."""
_FILES = {
    "desk.js": (_HERE / "static" / "desk.js", "text/javascript"),
    "drafts.js": (_HERE / "static" / "drafts.js", "text/javascript"),
    "desk.css": (_HERE / "static" / "desk.css", "text/css"),
    "page.css": (_LOOK, "text/css"),
}
_A_PART = 40
"""Groups of answers that a page gets at a time."""
_LARGE = 1_000_000
"""Characters after which a part is complete, however few groups it has."""
_LONGEST_COMMENT = 10_000
_LONGEST_ITEM = 300
_MOST_COMPARED = 6_000
"""Signs of an answer that are compared with another one."""
_MOST_OF_ONE = 300
"""Signs of an answer in the list of a group's answers."""


@dataclass(frozen=True)
class GroupView:
    """A group of answers, with what people gave for it."""

    group: AnswerGroup
    given: tuple[Given, ...]

    @property
    def waiting(self) -> int:
        """How many of its answers wait for a person."""
        return sum(one.waits for one in self.given)

    @property
    def points(self) -> float | None:
        """The points that all of them have; None if not all have the same."""
        found = {one.points for one in self.given}
        return found.pop() if len(found) == 1 else None

    @property
    def differs(self) -> bool:
        """Whether people gave its answers different points, or comments."""
        return len({(one.points, one.comment) for one in self.given}) > 1

    def has(self, find: str) -> bool:
        """Whether one of its answers has this text, in any letter case."""
        return any(find.casefold() in one.text.casefold() for one in self.group.answers)

    @property
    def comment(self) -> str:
        """The comment of the first one that has any."""
        return next(filter(None, (one.comment for one in self.given)), "")


@dataclass(frozen=True)
class _Parted:
    """The groups of a question, without the answers that were taken out of them, which are groups as well."""

    whole: tuple[AnswerGroup, ...]
    apart: Mapping[str, str]
    groups: tuple[AnswerGroup, ...]

    @cached_property
    def of(self) -> Mapping[Key, AnswerGroup]:
        """The group that each one's answer is in."""
        found: dict[Key, AnswerGroup] = {}
        for group in self.groups:
            found.update(dict.fromkeys((one.key for one in group.answers), group))
        return found


class Desk:
    """What the pages ask: the answers, the gradebook, the journal."""

    def __init__(self, reader: Reader, marker: str) -> None:
        self.reader = reader
        self.course = reader.course
        self.book = MarksBook(reader.root)
        self.ledger = Ledger(reader.root, marker)
        self.settings = DeskSettings.read(course_config(reader.root))
        self._parted: dict[tuple[str, str], _Parted] = {}
        self._kept: set[str] = set()
        """Lines of the journal that the gradebook surely has: of others a killed desk may have written the line alone."""
        self._passed_over: set[str] = set()
        """Lines of the journal that could not be taken back, and of which the marker was told."""

    def read(self) -> None:
        """Read what has come or changed."""
        self.reader.read(self.book.again())

    def question(self, lesson: str, name: str) -> MarkedQuestion:
        """The question at this place, as it was read last. Raises HTTPError if nobody has answered it."""
        found = self.reader.questions().get((lesson, name))
        if found is None:
            raise HTTPError(404, "no such question has an answer")
        return found

    def groups(self, question: MarkedQuestion) -> tuple[AnswerGroup, ...]:
        """The groups of answers to a question, in the order of the page."""
        return self.parted(question).groups

    def parted(self, question: MarkedQuestion) -> _Parted:
        """The groups of answers to a question, and which of them an answer is in."""
        whole, apart = self.reader.groups(question), self.ledger.apart(question)
        known = self._parted.get(question.place)
        if known is None or known.whole is not whole or known.apart != apart:
            known = _Parted(whole, dict(apart), tuple(self.reader.parted(whole, apart)))
            self._parted[question.place] = known
        return known

    def views(
        self,
        question: MarkedQuestion,
        groups: Sequence[AnswerGroup] | None = None,
        known: Mapping[str, Given] = MappingProxyType({}),
    ) -> list[GroupView]:
        """The groups of answers to a question; only answers that the gradebook has cells for.

        ``known``: what it has for some learners. It is read only if that is not enough.
        """
        groups = self.groups(question) if groups is None else groups
        answers = chain.from_iterable(group.answers for group in groups)
        learners = [one.key.learner for one in answers]
        given = known
        if not known.keys() >= set(learners):
            given = self.book.given(question, learners)
        found = []
        for one in groups:
            there = tuple(answer for answer in one.answers if answer.key.learner in given)
            if there:
                found.append(GroupView(replace(one, answers=there), tuple(given[one.key.learner] for one in there)))
        return found

    def mark(self, question: MarkedQuestion, asked: Wanted) -> dict[str, Given]:
        """Give points, a comment or both to answers. Returns what their learners have now.

        Raises Overtaken if one is not as it was seen, or OtherRubric.
        """
        learners = self._read_again(question, asked.answers)
        rubric = self.ledger.rubric(question)
        if asked.letters is not None and asked.rubric != rubric.version:
            raise OtherRubric
        if not set(asked.letters or "") <= set(rubric.items):
            raise HTTPError(400, "no item of the rubric has this letter")
        with self.book.rows(question, learners) as rows:
            given = rows.given()
            changes = []
            for alias, seen in asked.answers.items():
                learner = self._as_seen(question, alias, seen, given).key.learner
                changes.append(asked.change(question, learner, given[learner], rubric))
            self._write(rows, question, changes)
        return {one.learner: one.after for one in changes}

    def _read_again(self, question: MarkedQuestion, aliases: Iterable[str]) -> list[str]:
        """Read these answers again, if they have changed. Returns their learners."""
        shown = [self.reader.answer(question, alias) for alias in aliases]
        keys = [one.key for one in shown if one is not None]
        self.reader.read_again(keys)
        return [one.learner for one in keys]

    def _as_seen(self, question: MarkedQuestion, alias: str, seen: str, given: Mapping[str, Given]) -> HandedIn:
        """The answer that a page calls so. Raises Overtaken if it, its mark or its group is not as the page has it."""
        answer = self.reader.answer(question, alias)
        if answer is None or answer.key.learner not in given:
            raise Overtaken
        is_apart = self.parted(question).of[answer.key].apart
        if seen != seen_as(answer, given[answer.key.learner], apart=is_apart):
            raise Overtaken
        return answer

    def take_out(self, question: MarkedQuestion, alias: str, seen: str, *, out: bool) -> str:
        """Take an answer out of its group, or, if not ``out``, put it back. Returns what its group shares.

        Raises Overtaken if it is not as it was seen.
        """
        given = self.book.given(question, self._read_again(question, [alias]))
        answer = self._as_seen(question, alias, seen, given)
        self.change(question, [], apart=Apart(answer.key.learner, answer.sameness, out))
        return answer.sameness

    def change(self, question: MarkedQuestion, changes: Sequence[Change], **told: Any) -> None:
        """Write these changes and their line, with what else the line tells (:meth:`Ledger.note`). Raises Overtaken."""
        with self.book.rows(question, [one.learner for one in changes]) as rows:
            self._write(rows, question, changes, **told)

    def _write(self, rows: Rows, question: MarkedQuestion, changes: Sequence[Change], **told: Any) -> None:
        noted: list[str] = []
        rows.write(changes, lambda: noted.append(self.ledger.note(question, changes, **told)))
        self._kept.update(noted)

    def undo(self, question: MarkedQuestion) -> Entry | None:
        """Take back this marker's last line on a question. Returns the line; None if there is none.

        Raises Overtaken if somebody has changed it since; the next time it is passed over.
        """
        now = self.ledger.rubric(question)
        lost: set[str] = set()
        for entry in self.ledger.to_undo(question):
            learners = {one.learner for one in entry.changes}
            if entry.id in self._passed_over:
                lost |= learners  # what stands there is somebody else's
                continue
            given = self.book.given(question, [one.learner for one in entry.changes])
            back = [one.back for one in entry.changes]
            is_change = any(one.before != one.after for one in back)
            if is_change and entry.id not in self._kept and all(given.get(one.learner) == one.after for one in back):
                continue  # it never came about
            rubric: tuple[Rubric, ...] = ()
            if entry.rubric is not None:
                rubric = now, replace(now, items=entry.rubric[0])
            is_other = entry.rubric is not None and now.items != entry.rubric[1]
            if entry.apart is not None:
                is_other = self.ledger.is_apart(question, entry.apart) != entry.apart.out
            if is_other or learners & lost or any(given.get(one.learner) != one.before for one in back):
                self._passed_over.add(entry.id)
                raise Overtaken(learners)
            apart = None if entry.apart is None else entry.apart.back
            self.change(question, back, undoes=entry.id, rubric=rubric, apart=apart)
            return entry
        return None

    def resting_on(
        self, question: MarkedQuestion, letter: str, item: Item | None
    ) -> tuple[Rubric, Rubric, list[Change]]:
        """What a changed item changes: the rubric before and after, and the marks that rest on the item."""
        before = self.ledger.rubric(question)
        after = before.with_item(letter, item)
        changes = []
        for learner, given in self.book.given(question).items():
            letters = before.letters_of(learner, given)
            if letter in letters:
                changes.append(after.change(question, learner, given, letters, None, before))
        return before, after, changes

    def groups_of(
        self,
        question: MarkedQuestion,
        answers: Iterable[HandedIn],
        known: Mapping[str, Given] = MappingProxyType({}),
    ) -> list[GroupView]:
        """The groups that these answers are in, as they are now. ``known``: as for :meth:`views`."""
        of = self.parted(question).of
        found = [of[one.key] for one in answers if one.key in of]
        return self.views(question, list({one.id: one for one in found}.values()), known)

    def groups_from(self, question: MarkedQuestion, says: str) -> list[GroupView]:
        """The group of answers that say this, and those of them that were taken out of it."""
        return self.views(question, [one for one in self.groups(question) if one.first.sameness == says])

    def seconds_left(self, question: MarkedQuestion, groups: int) -> float | None:
        """How long so many of its groups take, at the pace on this question, or else on those of its kind; None if nobody
        knows yet."""
        kin = [one.place for one in self.reader.questions().values() if one.kind is question.kind]
        each = self.ledger.pace([question.place]) or self.ledger.pace(kin)
        return None if each is None else groups * each


def seen_as(answer: HandedIn, given: Given, *, apart: bool = False) -> str:
    """What a page knows an answer and its mark by: another text, or another mark, has another; so has one that is ``apart``
    from its group."""
    return f"{answer.sameness[:6]}{given.version}{'-' * apart}"


@dataclass(frozen=True)
class Wanted:
    """What a page asks for. ``answers``: alias -> as what it was seen; ``letters``: of the rubric's items."""

    answers: Mapping[str, str]
    points: float | None
    comment: str | None
    letters: str | None = None
    rubric: str = ""
    """The version of the rubric that the page has shown."""

    def change(self, question: MarkedQuestion, learner: str, given: Given, rubric: Rubric) -> Change:
        """The change of one learner's mark."""
        if self.letters is not None:
            change = rubric.change(question, learner, given, self.letters, self.comment, rubric)
            if not self.letters:  # all items were taken away again: that is no mark
                change = replace(change, after=change.after.waiting)
            return change
        after, letters = given, rubric.letters_of(learner, given)
        kept = letters
        if self.points is not None:
            after = after.with_points(question.shared(self.points))
            kept = ""
        if self.comment is not None:
            after = replace(after, comment=self.comment.strip() or None)
        return Change(learner, given, after, letters, kept)

    @classmethod
    def read(cls, body: bytes, most: float) -> Wanted:
        """Raises HTTPError if the body is anything else."""
        try:
            told = json.loads(body)
            answers = {str(name): str(seen) for name, seen in told["answers"].items()}
            points = None if told.get("points") is None else float(told["points"])
            comment = None if told.get("comment") is None else str(told["comment"])
            (comment or "").encode()  # half a character is no text
            letters = None if told.get("letters") is None else str(told["letters"])
            rubric = str(told.get("rubric"))
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
            raise HTTPError(400, "this is no mark") from None
        if not answers or (points, comment, letters) == (None, None, None):
            raise HTTPError(400, "this is no mark")
        if points is not None and not 0 <= points <= most:
            raise HTTPError(400, f"{points:g} points: from 0 to {most:g} can be given here")
        if comment is not None and len(comment) > _LONGEST_COMMENT:
            raise HTTPError(400, f"a comment has at most {_LONGEST_COMMENT} characters")
        return cls(answers, points, comment, letters, rubric)


class Page(RequestHandler):
    """What every page of the desk does before it answers."""

    desk: Desk

    def initialize(self) -> None:
        self.desk = self.settings["desk"]

    def set_default_headers(self) -> None:
        for name, value in _HEADERS.items():
            self.set_header(name, value)
        self.clear_header("Server")

    def prepare(self) -> None:
        """Raise HTTPError for everybody but the desk's own pages."""
        asked = self.request.headers
        if asked.get("Host", "") not in self.settings["hosts"]:
            raise HTTPError(403, "this server has another name")
        origin = asked.get("Origin")
        writes = self.request.method not in ("GET", "HEAD")
        if (writes or origin is not None) and origin != f"http://{asked['Host']}":
            raise HTTPError(403, "another page asks for this")
        comes_from = asked.get("Sec-Fetch-Site", "none")
        if comes_from not in ("none", "same-origin") and asked.get("Sec-Fetch-Mode") != "navigate":
            raise HTTPError(403, "another page asks for this")
        token = self.get_query_argument("token", "")
        if token and hmac.compare_digest(token.encode(), self.settings["token"].encode()):
            self.set_signed_cookie(self.settings["cookie"], "in", expires_days=None, httponly=True, samesite="Lax")
            self.redirect("/")
        elif self.get_signed_cookie(self.settings["cookie"], max_age_days=31) != b"in":
            raise HTTPError(403, "the token is missing: open the address that the command has printed")

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        """One sentence: for a script as JSON, for somebody who came in as a page, and for all others as text."""
        error = kwargs.get("exc_info", (None, None))[1]
        said = "the desk has failed: see the terminal"
        if isinstance(error, HTTPError):
            said = error.log_message or error.reason or "this is not possible"
        elif isinstance(error, CourseError):
            self.set_status(503)
            kind = "This cannot be shown" if self.request.method == "GET" else "Nothing was kept"
            said = f"{kind}: {_trouble(error)}"
        if "json" in self.request.headers.get("Content-Type", ""):
            self.finish({"said": said})
        elif self.request.headers.get("Sec-Fetch-Mode") == "navigate" and status_code != 403:
            self.show("refused.html.j2", said=said)
        else:
            self.set_header("Content-Type", "text/plain; charset=utf-8")
            self.finish(f"{said}\n")

    def log_exception(self, *told: Any) -> None:
        """A course's trouble is told on the page; all else in the terminal."""
        if not isinstance(told[1], CourseError):
            super().log_exception(*told)

    def show(self, template: str, **values: Any) -> None:
        """Answer with a page."""
        self.finish(_templates().get_template(template).render(xsrf=self.xsrf_token.decode(), **values))

    def shown_group(self, question: MarkedQuestion, view: GroupView) -> str:
        """One group of answers as HTML."""
        reader, group = self.desk.reader, view.group
        rubric = self.desk.ledger.rubric(question)
        first = rubric.letters_of(group.first.key.learner, view.given[0])
        seen = {
            reader.alias(answer): seen_as(answer, given, apart=group.apart)
            for answer, given in zip(group.answers, view.given, strict=True)
        }
        return (
            _templates()
            .get_template("group.html.j2")
            .render(
                question=question,
                view=view,
                count=counted(len(group.answers), "answer"),
                seen=json.dumps(seen),
                body=answer_shown(self.desk.course, group.first),
                note=note_shown(self.desk.course, group.first.note),
                choices=_choices(question.most),
                rubric=rubric,
                letters=first,
            )
        )


def _trouble(error: CourseError) -> str:
    """One sentence of an error. What a command would be run again for, a page asks for again."""
    cure = error.next_command.partition(_AGAIN)[0]
    return f"{error.fact} ({error.place}). Next: {cure}{_AGAIN} try again."


_AGAIN = ", then"


def _choices(most: float) -> list[float]:
    """The points that have a button: whole ones, if they are few; all or nothing otherwise."""
    whole = [float(points) for points in range(int(most) + 1)] if most < 10 else [0.0]
    return sorted({*whole, most})


class _Waits(Page):
    """What waits, by lesson and question."""

    def get(self) -> None:
        desk = self.desk
        desk.read()
        lessons: dict[str, list[dict[str, Any]]] = {}
        for question in desk.reader.questions().values():
            views = desk.views(question)
            answers = sum(len(one.given) for one in views)
            waiting = sum(one.waiting for one in views)
            row = {"question": question, "answers": answers, "groups": len(views), "waiting": waiting}
            row["left"] = desk.seconds_left(question, sum(one.waiting > 0 for one in views))
            lessons.setdefault(question.lesson, []).append(row)
        titles = {one: title_of(desk.course, one) for one in lessons}
        rows = list(chain.from_iterable(lessons.values()))
        left = [row["left"] for row in rows if row["waiting"]]
        whole = None if None in left else sum(left)
        self.show(
            "waits.html.j2",
            lessons=lessons,
            titles=titles,
            total=sum(row["waiting"] for row in rows),
            left=whole,
            tells_time=any(one is not None for one in left),
        )


class _Question(Page):
    """One question: what is asked, and all answers, the first part of them at once."""

    def get(self, lesson: str, name: str) -> None:
        desk = self.desk
        desk.read()
        question = desk.question(lesson, name)
        find = self.get_query_argument("find", "")
        every = desk.views(question)
        views = sorted(every, key=lambda one: not one.waiting)  # what waits comes first
        if find:
            views = [one for one in views if one.has(find)]
        first = _part(self, question, views)
        self.show(
            "question.html.j2",
            question=question,
            lesson_title=title_of(desk.course, lesson),
            find=find,
            groups=first,
            order=[one.group.id for one in views],
            waiting=sum(one.waiting for one in views),
            answers=sum(len(one.given) for one in views),
            comments=_comments(every),
            rubric=desk.ledger.rubric(question),
            names=desk.settings.names,
            statement=instructors_text(desk.reader.statement(question)),
            model=model_shown(desk.course, desk.reader.model(question)),
        )


def _part(page: Page, question: MarkedQuestion, views: Sequence[GroupView]) -> list[str]:
    """The first of these groups as HTML, as many as a page gets at a time."""
    made: list[str] = []
    for one in views[:_A_PART]:
        made.append(page.shown_group(question, one))
        if sum(map(len, made)) > _LARGE:
            break
    return made


def _comments(views: Iterable[GroupView]) -> list[str]:
    """The comments given before, those given most often first."""
    given = chain.from_iterable(one.given for one in views)
    counts = Counter(one.comment for one in given if one.comment)
    return [comment for comment, _ in counts.most_common()]


class _Part(Page):
    """Groups of a question, and its rubric: those with the ids that are asked for, as many as there is room for."""

    def get(self, lesson: str, name: str) -> None:
        question = self.desk.question(lesson, name)
        wanted = {one: place for place, one in enumerate(self.get_query_argument("ids").split(","))}
        groups = [one for one in self.desk.groups(question) if one.id in wanted]
        groups.sort(key=lambda one: wanted[one.id])
        shown = _part(self, question, self.desk.views(question, groups[:_A_PART]))
        values = {"xsrf": self.xsrf_token.decode(), "question": question, "rubric": self.desk.ledger.rubric(question)}
        self.finish({"groups": shown, "rubric": _templates().get_template("rubric.html.j2").render(values)})


class _Names(Page):
    """Who wrote what, for a marker who asks."""

    def get(self, lesson: str, name: str) -> None:
        question = self.desk.question(lesson, name)
        people = self.desk.book.people()
        found, pages = {}, {}
        for one in self.desk.reader.answers(question):
            person = people.get(one.key.learner, Person(one.key.learner))
            alias = self.desk.reader.alias(one)
            found[alias] = printable(person.called)
            pages[alias] = f"/learner/{quote(one.key.learner, safe='')}/"
        self.finish({"names": found, "pages": pages})


_OTHER_RUBRIC = "the rubric has changed since the page showed it."
_OVERTAKEN = (
    "somebody else has changed this mark, the answer or its group since the page showed it. Now you see theirs."
)


_CHANGED = "these answers have changed since: load the page again"


class _Members(Page):
    """The answers of a group one by one, as each was typed, with their marks."""

    def get(self, lesson: str, name: str) -> None:
        desk, question = self.desk, self.desk.question(lesson, name)
        wanted = self.get_query_argument("of")
        views = desk.views(question, [one for one in desk.groups(question) if one.id == wanted])
        if not views:
            raise HTTPError(404, _CHANGED)
        pairs = zip(views[0].group.answers, views[0].given, strict=True)
        members = [
            (desk.reader.alias(one), harmless(desk.course, one.text, _MOST_OF_ONE), given) for one, given in pairs
        ]
        page = _templates().get_template("members.html.j2").render(members=members, most=question.most)
        self.finish({"said": f"{counted(len(members), 'answer')}, one by one.", "html": page})


class _Difference(Page):
    """What a group of answers says otherwise than the one above it."""

    def get(self, lesson: str, name: str) -> None:
        desk, question = self.desk, self.desk.question(lesson, name)
        groups = {one.id: one.first for one in desk.groups(question)}
        ids = self.get_query_argument("above"), self.get_query_argument("of")
        if not groups.keys() >= set(ids):
            raise HTTPError(404, _CHANGED)
        pair = [groups[one] for one in ids]
        above, below = (harmless(desk.course, one.text, _MOST_COMPARED) for one in pair)
        parts = chain.from_iterable(one.parts for one in pair)
        has_code = any(one.code for one in parts)
        passages = difference(above, below, spaces_count=has_code)
        added, gone = sum(one.added for one in passages), sum(one.gone for one in passages)
        said = f"Against the answer above, words and signs added: {added}, taken away: {gone}."
        if not added and not gone:
            said = "No word differs from the answer above."
        values = {"passages": passages, "said": said, "has_code": has_code}
        page = _templates().get_template("difference.html.j2").render(values)
        self.finish({"said": said, "html": page})


class _Mark(Page):
    """Give points, a comment or both."""

    def post(self, lesson: str, name: str) -> None:
        question = self.desk.question(lesson, name)
        wanted = Wanted.read(self.request.body, question.most)
        said = "kept"
        known: Mapping[str, Given] = {}
        try:
            known = self.desk.mark(question, wanted)
        except OtherRubric:
            self.set_status(409)
            self.finish({"said": f"Not kept: {_OTHER_RUBRIC} Now you see it.", "rubric": True})
            return
        except Overtaken:
            self.set_status(409)
            said = f"Not kept: {_OVERTAKEN}"
        self.answer(question, said, self.groups_with(question, wanted.answers, known))

    def groups_with(
        self, question: MarkedQuestion, aliases: Iterable[str], known: Mapping[str, Given] = MappingProxyType({})
    ) -> list[GroupView]:
        """The groups of the answers that the page calls so."""
        found = [self.desk.reader.answer(question, alias) for alias in aliases]
        return self.desk.groups_of(question, [one for one in found if one is not None], known)

    def answer(
        self, question: MarkedQuestion, said: str, views: Sequence[GroupView], gone: Sequence[str] | None = None
    ) -> None:
        """What became of it, and these groups as they are now. ``gone``: ids of groups that are not there any more, if groups
        have parted or come together."""
        groups = {one.group.id: self.shown_group(question, one) for one in views}
        self.finish({"said": said, "groups": groups, "gone": gone})


class _Apart(_Mark):
    """Take an answer out of its group, or put it back."""

    def post(self, lesson: str, name: str) -> None:
        desk, question = self.desk, self.desk.question(lesson, name)
        try:
            told = json.loads(self.request.body)
            alias, seen, out = str(told["answer"]), str(told["seen"]), told["out"] is True
        except (ValueError, KeyError, TypeError, RecursionError):
            raise HTTPError(400, "this is no answer") from None
        before = [one.id for one in desk.groups(question)]
        try:
            says = desk.take_out(question, alias, seen, out=out)
        except Overtaken:
            self.set_status(409)
            self.answer(question, f"Not done: {_OVERTAKEN}", self.groups_with(question, [alias]))
            return
        self.answer(question, "done", desk.groups_from(question, says), self.gone(question, before))

    def gone(self, question: MarkedQuestion, before: Iterable[str]) -> list[str]:
        """Those of the groups before that are not there any more."""
        return sorted(set(before) - {one.id for one in self.desk.groups(question)})


class _Undo(_Apart):
    """Take back the last mark."""

    def post(self, lesson: str, name: str) -> None:
        question = self.desk.question(lesson, name)
        before = [one.id for one in self.desk.groups(question)]
        try:
            entry = self.desk.undo(question)
        except Overtaken as error:
            self.set_status(409)
            said = "Not undone: somebody else has changed this mark since. The next undo is of the mark before it."
            self.answer(question, said, self._groups(question, error.learners))
            return
        if entry is None:
            self.answer(question, "There is nothing to undo.", [])
        elif entry.rubric is not None:
            self.finish({"said": "undone", "rubric": True})
        elif entry.apart is not None:
            groups = self.desk.groups_from(question, entry.apart.says)
            self.answer(question, "undone", groups, self.gone(question, before))
        else:
            self.answer(question, "undone", self._groups(question, {one.learner for one in entry.changes}))

    def _groups(self, question: MarkedQuestion, learners: Collection[str]) -> list[GroupView]:
        """The groups that these learners' answers are in."""
        changed = [one for one in self.desk.reader.answers(question) if one.key.learner in learners]
        return self.desk.groups_of(question, changed)


class _Rubric(Page):
    """Add, change or remove an item of a rubric; if marks rest on it, only after a question. A form, which needs no script."""

    def post(self, lesson: str, name: str) -> None:
        desk, question = self.desk, self.desk.question(lesson, name)
        letter = self.get_body_argument("letter", "") or desk.ledger.rubric(question).free
        item = self._item(question.most)
        if not letter:
            raise HTTPError(400, f"a rubric has at most {len(LETTERS)} items")
        if letter not in set(LETTERS):
            raise HTTPError(400, "no item of a rubric has this letter")
        before, after, changes = desk.resting_on(question, letter, item)
        seen = self.get_body_argument("seen", "")
        if seen not in ("", before.version):
            raise HTTPError(409, f"{_OTHER_RUBRIC} Nothing was changed: go back, and reload the page")
        sure = self.get_body_argument("sure", "0")
        if changes and sure != str(len(changes)):
            was, count = before.items[letter], counted(len(changes), "mark")
            self.show(
                "ask.html.j2",
                letter=letter,
                item=item,
                was=was,
                count=count,
                sure=len(changes),
                seen=before.version,
            )
            return
        try:
            desk.change(question, changes, rubric=(before, after))
        except Overtaken:
            raise HTTPError(
                409, "somebody else marks at this moment, so nothing was changed: go back, and try again"
            ) from None
        self.redirect("./", status=303)

    def _item(self, most: float) -> Item | None:
        """The item that was typed; None if its text was taken away."""
        text = " ".join(self.get_body_argument("text", "").split())
        if not text:
            return None
        try:
            points = float(self.get_body_argument("points", "").replace(",", "."))
        except ValueError:
            raise HTTPError(400, "an item needs points, as 1 or 0.5") from None
        if len(text) > _LONGEST_ITEM or not -most <= points <= most:
            raise HTTPError(
                400, f"an item has at most {_LONGEST_ITEM} characters, and from {-most:g} to {most:g} points"
            )
        return Item(text, points)


class _File(Page):
    """The style sheets and the script."""

    def get(self, name: str) -> None:
        if name not in _FILES:
            raise HTTPError(404, "there is no such file")
        path, kind = _FILES[name]
        self.set_header("Content-Type", f"{kind}; charset=utf-8")
        self.finish(path.read_bytes())


class _Nothing(Page):
    """Any other address."""

    def get(self) -> None:
        raise HTTPError(404, "there is no such page")


def _minutes(seconds: float) -> str:
    minutes = ceil(seconds / 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60} min"


@cache
def _templates() -> Environment:
    found = Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        auto_reload=False,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters |= {"points": "{:g}".format, "counted": counted, "minutes": _minutes, "printable": printable}
    return found


def application(desk: Desk, port: int, token: str) -> Application:
    """The web application, which answers at this port to those who have the token."""
    from nbproof_desk.people_pages import ROUTES  # its pages are pages of this module

    place = r"/q/([^?]+)/([^/?]+)"
    return Application(
        [
            (r"/", _Waits),
            (r"/static/([\w.]+)", _File),
            (f"{place}/part", _Part),
            (f"{place}/names", _Names),
            (f"{place}/mark", _Mark),
            (f"{place}/undo", _Undo),
            (f"{place}/apart", _Apart),
            (f"{place}/members", _Members),
            (f"{place}/difference", _Difference),
            (f"{place}/rubric", _Rubric),
            (rf"{place}/", _Question),
            *ROUTES,
        ],
        default_handler_class=_Nothing,
        desk=desk,
        token=token,
        hosts={f"{name}:{port}" for name in (ADDRESS, "localhost")},
        cookie=f"nbproof-desk-{port}",
        cookie_secret=secrets.token_hex(32),
        xsrf_cookies=True,
        # Cookies are shared by all servers of a machine, such as Jupyter.
        xsrf_cookie_name=f"nbproof-desk-xsrf-{port}",
        xsrf_cookie_kwargs={"httponly": True, "samesite": "Strict"},
        log_function=lambda handler: None,
    )


def serve(desk: Desk, port: int, *, opens: bool) -> int:
    """Answer until Ctrl-C. Returns the exit code. Raises UsageError if the port is taken."""
    try:
        listening = create_server((ADDRESS, port))
    except OSError as error:
        raise UsageError(
            f"nothing can listen there: {error.strerror or error}",
            f"{ADDRESS}:{port}",
            course_command("desk --port 0"),
        ) from None
    with contextlib.closing(desk.book), contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_serve(desk, listening, opens=opens))
    return 0


async def _serve(desk: Desk, listening: socket, *, opens: bool) -> None:
    listening.setblocking(False)
    port = listening.getsockname()[1]
    token = secrets.token_hex(24)
    server = HTTPServer(application(desk, port, token), max_body_size=4 << 20)
    server.add_socket(listening)
    url = f"http://{ADDRESS}:{port}/?token={token}"
    print(f"the desk, for {printable(desk.ledger.marker)}, until Ctrl-C: {url}", flush=True)
    with contextlib.ExitStack() as stack:
        if opens:
            webbrowser.open(stack.enter_context(_redirect_to(url)))
        await asyncio.Event().wait()


@contextlib.contextmanager
def _redirect_to(url: str) -> Iterator[str]:
    """The address of a file that only this user may read, and that leads there: everybody can read a process's arguments."""
    folder = Path(jupyter_runtime_dir())
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, name = mkstemp(prefix="nbproof-desk-", suffix=".html", dir=folder)
    with open(handle, "w", encoding="utf-8") as file:
        file.write(f'<!DOCTYPE html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url={url}">')
        file.write(f'<title>The desk</title><a href="{url}">The desk</a>')
    try:
        yield Path(name).as_uri()
    finally:
        Path(name).unlink(missing_ok=True)
