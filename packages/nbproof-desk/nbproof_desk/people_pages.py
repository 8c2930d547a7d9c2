"""The desk's pages with names: everybody who needs a word, and one learner with all that they have.

They need no script. The page that a learner will see comes as it is, with styles of its own, in a sandbox: nothing in it runs.
"""

from __future__ import annotations

import asyncio
import json
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from threading import Lock
from typing import Any
from urllib.parse import quote, urlencode

from markupsafe import Markup
from tornado.web import HTTPError

from nbproof.command import course_command
from nbproof.display.outline import title_of
from nbproof.gradebook.marks import CellMark, Mark, Person
from nbproof.grouping import grouped
from nbproof.key import Key
from nbproof.marking.results import Verdict
from nbproof.run.journal import journalled_verdict
from nbproof_desk.ledger import Entry
from nbproof_desk.marks import Change, Given, Overtaken
from nbproof_desk.people import ClassNow, Why, mail_table, on_pages, page_now, settle
from nbproof_desk.questions import HandedIn, work_in
from nbproof_desk.server import Page, Wanted, seen_as
from nbproof_desk.shown import answer_shown, note_shown

__all__ = ["ROUTES"]

_AS_LEARNERS_SEE_IT = (
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; sandbox"
)
"""That page brings its own styles. Nothing else is let in, and no script runs in a sandbox."""
_ONE_AT_A_TIME = Lock()
"""Pictures of a page are drawn by a library that knows one drawing at a time."""
_HOW = ("zero", "open", "undo")


@dataclass(frozen=True)
class _Item:
    """One answer, or one exercise, of one learner, with what it got. ``given``: None if the gradebook has no cells of it."""

    answer: HandedIn
    cells: Sequence[CellMark]
    given: Given | None
    takes_comment: bool
    body: Markup
    note: str

    @property
    def score(self) -> float:
        """The points that count now."""
        return sum(one.score for one in self.cells)

    @property
    def by_person(self) -> bool:
        """Whether a person gave points."""
        return any(one.by_person for one in self.cells)

    @property
    def waits(self) -> bool:
        """Whether it waits for a person."""
        return any(one.waits_for_person for one in self.cells)

    @property
    def seen(self) -> str:
        """What the form knows it by; empty if nothing can be given here."""
        return "" if self.given is None else seen_as(self.answer, self.given)

    @property
    def look(self) -> str:
        """The class that gives it its colour, as on a page of feedback."""
        if self.waits:
            return "person"
        if self.score >= self.answer.question.most:
            return "passed"
        return "partly" if self.score > 0 else "wrong"


@dataclass(frozen=True)
class _Work:
    """All of one learner's for one lesson."""

    mark: Mark
    title: str
    items: Sequence[_Item]
    is_on_page: bool | None
    """Whether the page in ``feedback/`` says the same; None if there is no page."""


@dataclass(frozen=True)
class _Told:
    """One change of a mark, out of the journal. ``is_last``: it stands in the gradebook now, and can be taken back."""

    entry: Entry
    change: Change
    place: tuple[str, str]
    title: str
    is_last: bool
    is_other: bool
    """Whether it is the last line on its question, and the gradebook has something else."""


@dataclass(frozen=True)
class _Refused:
    """A form that was not obeyed: of which question, why, and what was typed into it. ``comment``: None if it has no box."""

    place: tuple[str, str]
    said: str
    comment: str | None
    points: str


class _NamedPage(Page):
    """What the pages with names share."""

    async def class_now(self) -> ClassNow:
        """Read the class, while other pages are answered."""
        return await asyncio.to_thread(ClassNow.read, self.desk.course, self.desk.reader.root)

    def show(self, template: str, **values: Any) -> None:
        """Answer with a page."""
        super().show(
            template,
            said=partial(note_shown, self.desk.course),
            title_of=partial(title_of, self.desk.course),
            **values,
        )

    def there(self, learner: str) -> str:
        """The address of a learner's page."""
        return f"/learner/{quote(learner, safe='')}/"


class _People(_NamedPage):
    """Everybody who needs a word, and everybody."""

    async def get(self) -> None:
        now = await self.class_now()
        find = self.get_query_argument("find", "")
        everybody = now.people.values()
        found = [one for one in everybody if find.casefold() in f"{one.contact} {one.name}".casefold()]
        words = now.words()
        seen = [
            (now.person(key.learner) or Person(key.learner), key, is_open, self.desk.ledger.seen_by(key)[-1:])
            for key, is_open in sorted(now.seen.items())
        ]
        self.show(
            "people.html.j2",
            groups=grouped((one.why, one) for one in words),
            in_need={one.person.id for one in words if one.why is not Why.WAITS},
            seen=seen,
            everybody=sorted(found, key=lambda one: (one.last_name or one.name or one.id).casefold()),
            of=len(everybody),
            find=find,
            lines=now.lines(),
            without=now.zeros[1],
            report=course_command("report --zero missing", now.root),
            noted=self.get_query_argument("noted", ""),
            why=Why,
        )


class _Words(_NamedPage):
    """The same as a table for a mail merge."""

    async def get(self) -> None:
        what = self.get_query_argument("what", "")
        if what not in {"", *(one.name.lower() for one in Why)}:
            raise HTTPError(404, "there is no such table")
        words = (await self.class_now()).words()
        asked = [one for one in words if what in ("", one.why.name.lower())]
        self.set_header("Content-Type", "text/csv; charset=utf-8")
        self.set_header("Content-Disposition", f'attachment; filename="{what or "everybody"}.csv"')
        self.finish(mail_table(asked))


class _Settle(_NamedPage):
    """Say that something was seen, and counts 0 or nothing; or that one wants to be asked again."""

    def post(self) -> None:
        key = Key(self.get_body_argument("learner"), self.get_body_argument("lesson", ""))
        how = self.get_body_argument("how")
        if how not in _HOW:
            raise HTTPError(400, "that is nothing that can be noted")
        if set("*?[") & set(key.name):
            raise HTTPError(
                400, f"this name may mean others as well: {course_command('settle', self.desk.reader.root)}"
            )
        settle(self.desk.course, self.desk.reader.root, key, how)
        self.desk.ledger.note_seen(key, how)
        self.redirect("/people/?noted=1", status=303)


class _Learner(_NamedPage):
    """One learner: work, marks, comments, and what was changed."""

    async def get(self, learner: str) -> None:
        await self.show_learner(learner)

    async def show_learner(self, learner: str, refused: _Refused | None = None) -> None:
        """Answer with the page, and with what was typed and not kept."""
        now = await self.class_now()
        person = now.person(learner)
        if person is None:
            raise HTTPError(404, "nobody in the class has this id")
        marks = now.marks_of(person)
        on_page = await asyncio.to_thread(on_pages, self.desk.course, now.root, [one.key for one in marks])
        works = [self._work(one, on_page.get(one.key)) for one in marks]
        self.show(
            "learner.html.j2",
            person=person,
            works=works,
            words=[one for one in now.words() if one.person == person],
            history=list(self._history(person, works)),
            kept=self.get_query_argument("kept", ""),
            refused=refused,
            feedback=partial(_feedback, now),
            there=self.there,
        )

    def _work(self, mark: Mark, is_on_page: bool | None) -> _Work:
        desk, key = self.desk, mark.key
        verdict = None if mark.problem else journalled_verdict(desk.reader.root, *key)
        items: list[_Item] = []
        if verdict is not None:
            items = [self._item(mark, one) for one in work_in(desk.course, verdict)]
        return _Work(mark, title_of(desk.course, key.lesson), items, is_on_page)

    def _item(self, mark: Mark, answer: HandedIn) -> _Item:
        desk, question = self.desk, answer.question
        return _Item(
            answer,
            [mark.cells[name] for name in question.cells if name in mark.cells],
            desk.book.given(question, [mark.learner]).get(mark.learner),
            desk.book.takes_comment(question, mark.learner),
            answer_shown(desk.course, answer),
            note_shown(desk.course, answer.note),
        )

    def _history(self, person: Person, works: Sequence[_Work]) -> Iterator[_Told]:
        items: dict[tuple[str, str, str], _Item] = {}
        for work in works:
            items |= {(work.mark.learner, *one.answer.question.place): one for one in work.items}
        seen = set()
        lines = chain.from_iterable(map(self.desk.ledger.of_learner, sorted(person.ids)))
        for place, entry, change in sorted(lines, key=lambda line: line[1].time, reverse=True):
            name = (change.learner, *place)
            item = items.get(name)
            title, given = place[1], None
            if item is not None:
                title, given = item.answer.question.title, item.given
            is_last = name not in seen
            seen.add(name)
            stands = given == change.after
            yield _Told(entry, change, place, title, is_last and stands, is_last and not stands)


def _feedback(now: ClassNow, key: Key) -> str:
    """The command that brings one page up to date."""
    return course_command(shlex.join(["feedback", key.learner, "--lesson", key.lesson]), now.root)


class _AsTheySeeIt(_NamedPage):
    """The page of feedback, as `feedback` would write it now."""

    async def get(self, learner: str, lesson: str) -> None:
        page = await asyncio.to_thread(self._made, Key(learner, lesson))
        self.set_header("Content-Security-Policy", _AS_LEARNERS_SEE_IT)
        self.finish(page)

    def _made(self, key: Key) -> str:
        with _ONE_AT_A_TIME:
            return page_now(self.desk.course, self.desk.reader.root, key)


class _OneMark(_Learner):
    """Give one learner's answer points, a comment, or both."""

    async def post(self, learner: str) -> None:
        answer = self.answer(learner)
        given = self.given(answer)
        try:
            self.keep(answer, given)
        except HTTPError as error:
            self.set_status(error.status_code)
            comment, points = self.get_body_argument("comment", None), self.get_body_argument("points", "")
            said = f"Not kept: {str(error.log_message).removesuffix('.')}."
            refused = _Refused(answer.question.place, said, comment, points)
            await self.show_learner(learner, refused)
            return
        self.back_to(answer)

    def keep(self, answer: HandedIn, given: Given) -> None:
        """Do what the form asks for. Raises HTTPError with the reason if that cannot be."""
        question = answer.question
        points = self.get_body_argument("points", "").replace(",", ".") or None
        # A form sends other line ends than it was given.
        comment: str | None = self.get_body_argument("comment", "").replace("\r\n", "\n").strip()
        if comment == (given.comment or "").strip():
            comment = None
        if points is not None or comment is not None:
            told = {"answers": {"it": self.get_body_argument("seen", "")}, "points": points, "comment": comment}
            wanted = Wanted.read(json.dumps(told).encode(), question.most)
            if wanted.answers["it"] != seen_as(answer, given):
                raise HTTPError(409, _OVERTAKEN)
            rubric = self.desk.ledger.rubric(question)
            self.write_change(answer, wanted.change(question, answer.key.learner, given, rubric))

    def answer(self, learner: str) -> HandedIn:
        """The learner's answer that the form is about, as it is now. Raises HTTPError if there is none."""
        place = self.get_body_argument("lesson", ""), self.get_body_argument("question", "")
        verdict: Verdict | None = journalled_verdict(self.desk.reader.root, learner, place[0])
        if verdict is not None:
            for one in work_in(self.desk.course, verdict):
                if one.question.place == place:
                    return one
        raise HTTPError(404, "there is no such answer")

    def given(self, answer: HandedIn) -> Given:
        """What people gave for it. Raises HTTPError if the gradebook has no cells of it."""
        learner = answer.key.learner
        found = self.desk.book.given(answer.question, [learner]).get(learner)
        if found is None:
            raise HTTPError(404, "the gradebook has no cells of this answer")
        return found

    def write_change(self, answer: HandedIn, change: Change) -> None:
        """Write it and its line. Raises HTTPError if somebody was quicker."""
        try:
            self.desk.change(answer.question, [change])
        except Overtaken:
            raise HTTPError(409, _OVERTAKEN) from None

    def back_to(self, answer: HandedIn) -> None:
        """Lead back to the learner's page, and to this answer there."""
        kept = urlencode({"kept": "/".join(answer.question.place)})
        self.redirect(f"{self.there(answer.key.learner)}?{kept}", status=303)


_OVERTAKEN = "somebody else has changed this mark, or the answer, since the page showed it. Now you see theirs."


class _TakeBack(_OneMark):
    """Take back the last change of one learner's mark, by anybody, for this learner alone."""

    def keep(self, answer: HandedIn, given: Given) -> None:
        """Do what the form asks for. Raises HTTPError with the reason if that cannot be."""
        place, asked = answer.question.place, self.get_body_argument("entry")
        lines = (line for line in self.desk.ledger.of_learner(answer.key.learner) if line[0] == place)
        line = next(lines, None)
        if line is None or line[1].id != asked or line[2].after != given:
            raise HTTPError(409, _OVERTAKEN)
        self.write_change(answer, line[2].back)


ROUTES = [
    (r"/people/", _People),
    (r"/people/words\.csv", _Words),
    (r"/people/settle", _Settle),
    (r"/learner/([^/?]+)/", _Learner),
    (r"/learner/([^/?]+)/mark", _OneMark),
    (r"/learner/([^/?]+)/back", _TakeBack),
    (r"/learner/([^/?]+)/page/([^?]+)", _AsTheySeeIt),
]
