"""The desk's server: who gets in, what a learner's text does there (nothing), and what becomes of marks."""

from __future__ import annotations

import asyncio
import errno
import http.client
import io
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import bs4
import pytest

from nbproof.errors import CourseError
from nbproof.testing import Rehearsal
from tests import COURSE, main
from tests.desk.classroom import LESSON, MOST, answer_anew, class_of, comments_in, marks_in
from tests.feedback.page_rules import what_runs

pytest.importorskip("nbproof_desk", reason="the teacher's desk is NOT tested: nbproof-desk is not installed")
from nbproof_desk.marks import Change, Given
from nbproof_desk.questions import Reader, same_code, same_text
from nbproof_desk.rubric import LETTERS
from nbproof_desk.server import ADDRESS, Desk, Wanted, application, seen_as
from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets

pytestmark = pytest.mark.slow
TOKEN = "the-token"
EVIL = """</article></main><script>alert(1)</script><img src=x onerror=alert(1)><style>* { display: none }</style>
[x](javascript:alert(1)) <http://evil.example> ![y](http://evil.example/y) <a href="http://evil.example">z</a>
<div style="position:fixed;inset:0">over</div> {{ 7*7 }} \u202edesrever $\\href{javascript:alert(1)}{x}$ " onfocus="alert(1)

| a |
|--:|
| b |"""
ANSWERS = {
    "ada": "Because of it.",
    "ben": "because of  it",
    "cyd": "Because a < b.",
    "dan": "Because a > b.",
    "eve": EVIL,
    "fay": "",
}


@dataclass
class Served:
    """A desk on a class, and a client of it that keeps cookies."""

    room: Rehearsal
    desk: Desk
    port: int
    cookies: dict[str, str] = field(default_factory=dict)

    def ask(
        self, path: str, how: str = "GET", body: object = None, **headers: str
    ) -> tuple[int, Mapping[str, str], str]:
        """Status, headers and text of one answer. A header that is empty is not sent."""
        line = http.client.HTTPConnection(ADDRESS, self.port, timeout=30)
        cookies = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        told = {
            "Cookie": cookies,
            "Host": f"{ADDRESS}:{self.port}",
            **{name.replace("_", "-"): value for name, value in headers.items()},
        }
        data = body if isinstance(body, str) or body is None else json.dumps(body)
        line.request(how, path, data, {name: value for name, value in told.items() if value})
        answer = line.getresponse()
        text = answer.read().decode()
        for cookie in answer.headers.get_all("Set-Cookie") or ():
            name, _, value = cookie.partition(";")[0].partition("=")
            self.cookies[name] = value
        line.close()
        return answer.status, answer.headers, text

    def come_in(self) -> None:
        """With the token, once."""
        assert self.ask(f"/?token={TOKEN}")[0] == 302

    def page(self, path: str) -> bs4.BeautifulSoup:
        status, _, text = self.ask(path)
        assert status == 200, text
        return bs4.BeautifulSoup(text, "html.parser")

    def question(self, name: str, find: str = "") -> bs4.BeautifulSoup:
        return self.page(f"/q/{LESSON}/{name}/{find}")

    def write(self, name: str, what: str, body: object, **headers: str) -> tuple[int, dict[str, Any]]:
        """As the page's script does it."""
        xsrf = self.question(name).select_one("meta[name=xsrf]")["content"]  # type: ignore[index]
        own = {
            "Origin": f"http://{ADDRESS}:{self.port}",
            "X-XSRFToken": str(xsrf),
            "Content-Type": "application/json",
            **headers,
        }
        status, _, text = self.ask(f"/q/{LESSON}/{name}/{what}", "POST", json.dumps(body), **own)
        return status, json.loads(text)

    def seen(self, name: str, text: str) -> dict[str, str]:
        """What the page has of the group that this text stands in."""
        (group,) = [one for one in self.question(name).select(".group") if text in one.select_one(".answer").get_text()]  # type: ignore[union-attr]
        return dict(json.loads(str(group["data-seen"])))

    def mark(
        self, name: str, text: str, points: float | None = None, comment: str | None = None
    ) -> tuple[int, dict[str, Any]]:
        return self.write(name, "mark", {"answers": self.seen(name, text), "points": points, "comment": comment})


@pytest.fixture(scope="module")
def a_class(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return class_of(
        tmp_path_factory.mktemp("class"), ANSWERS, {"ada": "def twice(x): ...", "ben": "def twice(x):\n    return 2"}
    ).root


@pytest.fixture
def served(a_class: Path, tmp_path: Path) -> Iterator[Served]:
    """A desk on a copy of the class."""
    shutil.copytree(a_class, tmp_path / "class")
    room = Rehearsal(tmp_path / "class", LESSON)
    (socket,) = bind_sockets(0, ADDRESS)
    port = socket.getsockname()[1]
    desk = Desk(Reader(COURSE, room.root), "ann")
    ready, loop = threading.Event(), asyncio.new_event_loop()

    async def run() -> None:
        HTTPServer(application(desk, port, TOKEN)).add_sockets([socket])
        ready.set()

    def serve() -> None:
        asyncio.set_event_loop(loop)
        loop.run_until_complete(run())
        loop.run_forever()

    thread = threading.Thread(target=serve)
    thread.start()
    assert ready.wait(20)
    yield Served(room, desk, port)
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    socket.close()
    loop.close()
    desk.book.close()


def test_nobody_gets_in_without_the_token(served: Served) -> None:
    for path in ("/", f"/q/{LESSON}/why/", f"/q/{LESSON}/why/names", "/static/desk.js", "/?token=wrong", "/nothing"):
        status, headers, text = served.ask(path)
        assert status == 403 and "token" in text
        assert "default-src 'none'" in headers["Content-Security-Policy"]
    served.come_in()
    assert "wait" in served.page("/").h1.get_text()  # type: ignore[union-attr]
    # The cookie is signed, and holds for this server alone.
    (name,) = (one for one in served.cookies if "xsrf" not in one)
    served.cookies[name] = served.cookies[name][:-3] + "000"
    assert served.ask("/")[0] == 403


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "127.0.0.1:1"},
        {"Host": "127.0.0.1.evil.example:{port}"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "no-cors"},
        {"Sec_Fetch_Site": "same-site", "Sec_Fetch_Mode": "cors"},
    ],
)
def test_another_name_or_another_page_is_refused(served: Served, headers: dict[str, str]) -> None:
    served.come_in()
    told = {name: value.replace("{port}", str(served.port)) for name, value in headers.items()}
    for path in ("/", f"/q/{LESSON}/why/names", "/static/desk.js"):
        assert served.ask(path, **told)[0] == 403
    assert served.ask(f"/?token={TOKEN}", **told)[0] == 403
    status, _ = served.write("why", "mark", {"answers": served.seen("why", "a < b"), "points": 1}, **told)
    assert status == 403
    assert set(marks_in(served.room, "why").values()) == {(None, True), (None, False)}


def test_a_write_needs_its_own_token_and_an_origin(served: Served) -> None:
    served.come_in()
    body = {"answers": served.seen("why", "a < b"), "points": 1}
    for headers in ({"X_XSRFToken": ""}, {"X-XSRFToken": "2|0|0|0"}, {"Origin": ""}):
        status, _ = served.write(
            "why", "mark", body, **{name.replace("_", "-"): value for name, value in headers.items()}
        )
        assert status == 403
    assert served.ask(f"/q/{LESSON}/why/mark")[0] == 405
    assert served.write("why", "mark", body)[0] == 200


def test_every_answer_has_the_policy(served: Served) -> None:
    served.come_in()
    for path in ("/", f"/q/{LESSON}/why/", f"/q/{LESSON}/why/names", "/static/desk.js", "/static/nothing", "/nothing"):
        headers = served.ask(path)[1]
        policy = headers["Content-Security-Policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'; img-src data:;")
        assert "unsafe" not in policy and "frame-ancestors 'none'" in policy
        assert headers["X-Content-Type-Options"] == "nosniff" and headers["Cache-Control"] == "no-store"
    assert served.ask("/static/..%2fserver.py")[0] == 404
    for name in ("desk.js", "desk.css", "page.css"):
        assert served.ask(f"/static/{name}")[0] == 200


def test_what_a_learner_wrote_does_nothing(served: Served) -> None:
    served.come_in()
    tree = served.question("why")
    assert [one.get("src") for one in tree.select("script")] == ["/static/desk.js"]
    assert not tree.select(
        "style, iframe, object, embed, base, [style], [onfocus], [onerror], main a, main img, main form"
    )
    (group,) = [one for one in tree.select(".group") if "desrever" in one.get_text()]
    said = group.select_one(".answer").get_text()  # type: ignore[union-attr]
    for piece in (
        "<script>alert(1)</script>",
        "javascript:alert(1)",
        "http://evil.example",
        "{{ 7*7 }}",
        '" onfocus="alert(1)',
    ):
        assert piece in said
    assert "\u202e" not in said and group.select(".answer td")
    assert what_runs(str(group.select_one(".answer"))) == ["no policy that forbids scripts"]  # the server sends it
    # As a comment, and in the search box, it does as little.
    assert served.mark("why", "a < b", comment=EVIL)[0] == 200
    tree = served.question("why", "?find=%22%3E%3Cscript%3Ealert(1)%3C/script%3E")
    assert len(tree.select("script")) == 1 and not tree.select(".group")
    tree = served.question("why")
    assert len(tree.select("script")) == 1
    assert json.loads(str(tree.select_one("main")["data-comments"])) == [EVIL]  # type: ignore[index]
    assert EVIL in [one.get_text() for one in tree.select(".group textarea")]


def test_what_waits_is_told_by_question(served: Served) -> None:
    served.come_in()
    tree = served.page("/")
    rows = [[cell.get_text() for cell in row.select("th, td")] for row in tree.select("tbody tr")]
    assert rows == [
        ["Why twice?", "written answer", "5", "4", "0", "5"],
        ["Plot it", "task", "6", "6", "0", "6"],
        ["Twice", "uncertain exercise", "2", "2", "0", "2"],
    ]
    assert tree.h1 is not None and tree.h1.get_text() == "13 answers wait for you"
    served.mark("why", "Because of it.", 2)
    assert [row.select("td")[3].get_text() for row in served.page("/").select("tbody tr")] == ["2", "0", "0"]


def test_a_question_shows_what_is_asked_and_the_model_answer(served: Served) -> None:
    served.come_in()
    for name, asked, model in (
        ("why", "Say why", "MODEL-ANSWER"),
        ("plot", "TASK-TEXT", ""),
        ("twice", "Double it", "return 2 * x"),
    ):
        side = served.question(name).aside.get_text()  # type: ignore[union-attr]
        assert asked in side and model in side and "BEGIN" not in side
    tree = served.question("why")
    assert "MARK-SCHEME" in tree.aside.get_text()  # type: ignore[union-attr]
    # Nobody's name is there until it is asked for.
    assert not {*ANSWERS} & set(tree.get_text().split())
    with served.room.gradebook() as book:
        book.update_or_create_student("ada", first_name="Ada", last_name="<b>L\u202e")
    names = json.loads(served.ask(f"/q/{LESSON}/why/names")[2])["names"]
    assert sorted(names.values()) == ["ada (Ada <b>L\\u202e)", "ben", "cyd", "dan", "eve"]
    assert "Its cell is missing" in served.question("twice").get_text()


def test_equal_answers_are_marked_once_as_formgrader_marks_them(served: Served) -> None:
    served.come_in()
    status, told = served.mark("why", "Because of it.", 1.5, "Nearly.")
    assert status == 200 and "1.5 of 2 points" in next(iter(told["groups"].values()))
    assert json.loads(str(served.question("why").select_one("main")["data-comments"])) == ["Nearly."]  # type: ignore[index]
    marks = marks_in(served.room, "why")
    assert marks["ada"] == marks["ben"] == (1.5, False) and marks["cyd"] == (None, True)
    assert comments_in(served.room, "why")["ben"] == "Nearly."
    (line,) = (served.room.root / ".course" / "desk.jsonl").read_text().splitlines()
    noted = json.loads(line)
    assert (
        noted["marker"] == "ann"
        and noted["time"].startswith("20")
        and [one["learner"] for one in noted["marks"]] == ["ada", "ben"]
    )
    assert noted["marks"][0]["before"] == {"scores": {"why": [None, True]}, "comment": None}
    assert noted["marks"][0]["after"] == {"scores": {"why": [1.5, False]}, "comment": "Nearly."}


def test_a_comment_alone_leaves_points_and_waiting_as_they_are(served: Served) -> None:
    served.come_in()
    assert served.mark("why", "a < b", comment="Why?")[0] == 200
    assert marks_in(served.room, "why")["cyd"] == (None, True) and comments_in(served.room, "why")["cyd"] == "Why?"
    assert served.mark("why", "a < b", comment=" ")[0] == 200
    assert comments_in(served.room, "why")["cyd"] is None


def test_an_uncertain_exercise_fills_its_test_cells(served: Served) -> None:
    served.come_in()
    assert served.mark("twice", "return 2", 2.5, "By hand.")[0] == 200
    assert marks_in(served.room, "test_twice")["ben"] == (2.0, False)
    assert marks_in(served.room, "test_twice_more")["ben"] == (0.5, False)
    assert comments_in(served.room, "twice")["ben"] == "By hand."
    assert served.mark("plot", "plot of a", MOST["plot"])[0] == 200
    assert marks_in(served.room, "plot")["ada"] == (12.0, False)


@pytest.mark.parametrize("body", [{}, {"answers": {}}, [], {"answers": {"x": "y"}}, {"points": 1}, None])
def test_what_is_no_mark_is_refused(served: Served, body: object) -> None:
    served.come_in()
    assert served.write("why", "mark", body)[0] == 400


def test_letters_that_no_item_has_and_half_characters_are_refused(served: Served) -> None:
    served.come_in()
    seen = served.seen("why", "a < b")
    version = str(served.question("why").select_one(".group")["data-rubric"])  # type: ignore[index]
    for body in ({"letters": "zz%", "rubric": version}, {"comment": "\ud800", "points": 1}):
        assert served.write("why", "mark", {"answers": seen, **body})[0] == 400
    assert marks_in(served.room, "why")["cyd"] == (None, True)


def test_deep_json_is_refused(served: Served) -> None:
    served.come_in()
    xsrf = str(served.question("why").select_one("meta[name=xsrf]")["content"])  # type: ignore[index]
    own = {
        "Origin": f"http://{ADDRESS}:{served.port}",
        "X-XSRFToken": xsrf,
        "Content-Type": "application/json",
    }
    status, _, text = served.ask(f"/q/{LESSON}/why/mark", "POST", "[" * 100_000, **own)
    assert (status, json.loads(text)) == (400, {"said": "this is no mark"})


def test_points_that_are_not_there_are_refused(served: Served) -> None:
    served.come_in()
    for points in (-1, 2.5, float("nan"), float("inf"), "many", 10**400):
        assert served.mark("why", "a < b", points)[0] == 400  # type: ignore[arg-type]
    assert marks_in(served.room, "why")["cyd"] == (None, True)
    assert served.ask(f"/q/{LESSON}/nothing/")[0] == 404


def test_undo_takes_back_marks_one_after_another(served: Served) -> None:
    served.come_in()
    served.mark("why", "Because of it.", 2, "Good.")
    served.mark("why", "Because of it.", 1)
    served.mark("why", "a < b", 0)
    for mark, comment in (((1.0, False), "Good."), ((2.0, False), "Good."), ((None, True), None)):
        status, told = served.write("why", "undo", {})
        assert (status, told["said"]) == (200, "undone")
        assert marks_in(served.room, "why")["ben"] == mark and comments_in(served.room, "why")["ben"] == comment
        assert marks_in(served.room, "why")["cyd"] == (None, True)
    assert served.write("why", "undo", {})[1]["said"] == "There is nothing to undo."
    assert len((served.room.root / ".course" / "desk.jsonl").read_text().splitlines()) == 6


def test_a_mark_that_was_changed_meanwhile_is_not_overwritten(served: Served) -> None:
    served.come_in()
    seen = served.seen("why", "a < b")
    with served.room.gradebook() as book:  # as formgrader does it
        grade = book.find_grade("why", LESSON, LESSON, "cyd")
        grade.manual_score, grade.needs_manual_grade = 2.0, False
        book.db.commit()
    status, told = served.write("why", "mark", {"answers": seen, "points": 0})
    assert status == 409 and "somebody else" in told["said"]
    (shown,) = told["groups"].values()
    assert "2 of 2 points" in shown
    assert marks_in(served.room, "why")["cyd"] == (2.0, False)
    # Neither is one of another marker's that an undo would take away.
    assert served.mark("why", "a > b", 1)[0] == 200
    with served.room.gradebook() as book:
        book.find_grade("why", LESSON, LESSON, "dan").manual_score = 1.5
        book.db.commit()
    status, told = served.write("why", "undo", {})
    assert status == 409 and marks_in(served.room, "why")["dan"] == (1.5, False)
    # It says so once, and shows theirs; then the one before it is taken back.
    (shown,) = told["groups"].values()
    assert "1.5 of 2 points" in shown and "before it" in told["said"]


def test_an_undo_goes_past_a_mark_that_it_cannot_take_back(served: Served) -> None:
    served.come_in()
    served.mark("why", "a < b", 1)
    served.mark("why", "a > b", 1)
    served.mark("why", "a > b", 2)
    with served.room.gradebook() as book:  # the same points as this marker's first ones: they are theirs all the same
        book.find_grade("why", LESSON, LESSON, "dan").manual_score = 1.0
        book.db.commit()
    assert [served.write("why", "undo", {})[0] for _ in range(3)] == [409, 409, 200]
    assert marks_in(served.room, "why")["dan"] == (1.0, False)
    assert marks_in(served.room, "why")["cyd"] == (None, True)
    # A mark that is given after that is undone as ever.
    served.mark("why", "a > b", 0)
    assert served.write("why", "undo", {})[0] == 200
    assert marks_in(served.room, "why")["dan"] == (1.0, False)


def test_of_a_group_all_is_written_or_nothing(served: Served) -> None:
    served.come_in()
    seen = served.seen("why", "Because of it.")
    with served.room.gradebook() as book:
        book.find_comment("why", LESSON, LESSON, "ben").manual_comment = "Theirs"
        book.db.commit()
    assert served.write("why", "mark", {"answers": seen, "points": 2})[0] == 409
    assert marks_in(served.room, "why")["ada"] == (None, True)
    assert not (served.room.root / ".course" / "desk.jsonl").exists()


def test_two_desks_at_once(served: Served) -> None:
    served.come_in()
    seen = served.seen("why", "Because of it.")
    other = Desk(Reader(COURSE, served.room.root), "bob")
    other.read()
    question = other.question(LESSON, "why")
    (view,) = [one for one in other.views(question) if len(one.group.answers) == 2]
    mine = {
        other.reader.alias(one): seen_as(one, given) for one, given in zip(view.group.answers, view.given, strict=True)
    }
    other.mark(question, Wanted(mine, 1.0, "Theirs"))
    other.book.close()
    status, told = served.write("why", "mark", {"answers": seen, "points": 2})
    assert status == 409 and "Theirs" in next(iter(told["groups"].values()))
    assert marks_in(served.room, "why")["ada"] == (1.0, False)
    # Nobody undoes another one's mark.
    assert served.write("why", "undo", {})[1]["said"] == "There is nothing to undo."


def test_a_mark_on_an_exercise_that_ended_otherwise_since_waits_here_too(served: Served) -> None:
    with served.room.gradebook() as book:
        grade = book.find_grade("test_twice_more", LESSON, LESSON, "cyd")
        grade.manual_score, grade.needs_manual_grade = 0.0, True
        book.db.commit()
    served.come_in()
    assert [row.select("td")[4].get_text() for row in served.page("/").select("tbody tr")] == ["5", "6", "3"]
    (group,) = [one for one in served.question("twice").select(".group") if "A person gave points" in one.get_text()]
    seen = json.loads(str(group["data-seen"]))
    assert served.write("twice", "mark", {"answers": seen, "points": 3})[0] == 200
    assert marks_in(served.room, "test_twice_more")["cyd"] == (1.0, False)
    assert [row.select("td")[4].get_text() for row in served.page("/").select("tbody tr")] == ["5", "6", "2"]


def test_an_answer_that_is_another_one_now_is_not_marked(served: Served) -> None:
    served.come_in()
    seen = served.seen("why", "a < b")
    answer_anew(served.room, "cyd", "Quite another answer.")
    assert served.write("why", "mark", {"answers": seen, "points": 2})[0] == 409
    assert marks_in(served.room, "why")["cyd"] == (None, True)


def test_a_mark_of_which_only_the_journal_tells_is_no_mark(served: Served) -> None:
    """The process was killed before the gradebook had it, within a line, too."""
    served.come_in()
    served.mark("why", "a < b", 1)
    path = served.room.root / ".course" / "desk.jsonl"
    line = json.loads(path.read_text())
    line["id"], line["marks"][0] = (
        "later",
        {"learner": "dan", "before": line["marks"][0]["before"], "after": line["marks"][0]["after"]},
    )
    path.write_text(f"{path.read_text()}{json.dumps(line)}\n{json.dumps(line)[:40]}")
    assert served.write("why", "undo", {})[1]["said"] == "undone"
    assert marks_in(served.room, "why")["cyd"] == (None, True)
    assert len([one for one in path.read_text().splitlines() if one.endswith("}")]) == 3


def _refused_by_the_disk(served: Served) -> None:
    """A mark and an undo say so in a sentence, and the gradebook has neither."""
    for what, body in (("mark", {"answers": served.seen("why", "a > b"), "points": 2}), ("undo", {})):
        status, told = served.write("why", what, body)
        assert status == 503 and told["said"].startswith("Nothing was kept: the journal cannot be used: ")
        assert "desk.jsonl" in told["said"] and told["said"].endswith(", then try again.")
    assert marks_in(served.room, "why")["dan"] == (None, True) and marks_in(served.room, "why")["cyd"] == (1.0, False)


def test_a_full_disk_takes_no_mark(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    served.come_in()
    served.mark("why", "a < b", 1)
    # A write that is cut short raises nothing by itself.
    monkeypatch.setattr(Path, "open", lambda path, *_, **__: _Short(io.FileIO(path, "ab+")))
    question, change = served.desk.question(LESSON, "why"), Change("dan", Given({}), Given({}))
    with pytest.raises(CourseError, match="No space left"):
        served.desk.ledger.note(question, [change])
    monkeypatch.undo()
    path = served.room.root / ".course" / "desk.jsonl"
    assert not path.read_bytes().endswith(b"\n")
    # What was cut off tells nothing, and hides nothing that comes after it.
    served.mark("why", "a > b", 2)
    assert [served.write("why", "undo", {})[1]["said"] for _ in range(2)] == ["undone", "undone"]
    assert marks_in(served.room, "why")["cyd"] == (None, True)


class _Short:
    """A file on a disk that is full after twenty characters."""

    def __init__(self, file: io.FileIO) -> None:
        self._file = file

    def __enter__(self) -> _Short:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def write(self, data: Any) -> int:
        return self._file.write(data[:20])

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


def test_a_disk_that_fails_is_told_in_a_sentence(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    served.come_in()
    served.mark("why", "a < b", 1)

    def fails(_: int) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(os, "fsync", fails)
    _refused_by_the_disk(served)


def test_a_journal_that_is_a_folder_is_told_in_a_sentence(served: Served, capfd: pytest.CaptureFixture[str]) -> None:
    served.come_in()
    path = served.room.root / ".course" / "desk.jsonl"
    seen = served.seen("why", "a > b")
    xsrf = str(served.question("why").select_one("meta[name=xsrf]")["content"])  # type: ignore[index]
    path.mkdir(parents=True)
    status, _, text = served.ask(f"/q/{LESSON}/why/")
    assert status == 503 and text.startswith("This cannot be shown: ") and "Is a directory" in text
    own = {"Origin": f"http://{ADDRESS}:{served.port}", "X-XSRFToken": xsrf, "Content-Type": "application/json"}
    body = json.dumps({"answers": seen, "points": 2})
    status, _, text = served.ask(f"/q/{LESSON}/why/mark", "POST", body, **own)
    assert status == 503 and "desk.jsonl" in json.loads(text)["said"]
    assert marks_in(served.room, "why")["dan"] == (None, True)
    assert "Traceback" not in capfd.readouterr().err


def test_a_gradebook_that_is_in_use_is_told_in_a_sentence_for_a_page(served: Served) -> None:
    served.come_in()
    seen = served.seen("why", "a > b")
    with sqlite3.connect(served.room.root / "gradebook.db") as other:
        other.execute("BEGIN IMMEDIATE")
        status, told = served.write("why", "mark", {"answers": seen, "points": 2})
        other.rollback()
    assert status == 503
    place = served.room.root / "gradebook.db"
    said = f"Nothing was kept: another program is using the gradebook ({place}). Next: close it, then try again."
    assert told["said"] == said
    assert served.write("why", "mark", {"answers": seen, "points": 2})[0] == 200


def test_search_and_parts(served: Served) -> None:
    served.come_in()
    assert len(served.question("why", "?find=BECAUSE+a").select(".group")) == 2
    # Also in an answer that its group does not show.
    assert len(served.question("why", "?find=of++it").select(".group")) == 1
    order = str(served.question("why").select_one("main")["data-order"]).split(",")  # type: ignore[index]
    groups = json.loads(served.ask(f"/q/{LESSON}/why/part?ids={order[2]},{order[0]},nothing")[2])["groups"]
    assert [one.partition('id="g-')[2][:16] for one in groups] == [order[2], order[0]]


def _item(served: Served, text: str, points: str, letter: str = "", sure: str = "", seen: str = "") -> tuple[int, str]:
    """Send the form of a rubric's item; the status, and what is shown."""
    xsrf = str(served.question("why").select_one("[name=_xsrf]")["value"])  # type: ignore[index]
    fields = urlencode({"_xsrf": xsrf, "text": text, "points": points, "letter": letter, "sure": sure, "seen": seen})
    headers = {"Origin": f"http://{ADDRESS}:{served.port}", "Content-Type": "application/x-www-form-urlencoded"}
    status, _, shown = served.ask(f"/q/{LESSON}/why/rubric", "POST", fields, **headers)
    return status, shown


def _rest(served: Served, text: str, letters: str, comment: str | None = None) -> int:
    """Have the marks of a group rest on these items; the status."""
    shown = str(served.question("why").select_one(".group")["data-rubric"])  # type: ignore[index]
    body = {"answers": served.seen("why", text), "letters": letters, "comment": comment, "rubric": shown}
    return served.write("why", "mark", body)[0]


def _why(served: Served, learner: str) -> tuple[float | None, str | None]:
    return marks_in(served.room, "why")[learner][0], comments_in(served.room, "why")[learner]


def test_a_changed_item_changes_the_marks_that_rest_on_it_after_a_question(served: Served) -> None:
    served.come_in()
    assert _item(served, "Names the square.", "1")[0] == _item(served, "Says no cause.", "-0.5")[0] == 303
    shown = served.question("why").select_one(".group").select(".item")  # type: ignore[union-attr]
    assert [one.get_text() for one in shown] == [
        "a Names the square. 1",
        "b Says no cause. -0.5",
    ]  # type: ignore[union-attr]
    assert _rest(served, "Because of it.", "ab", "Own words.") == _rest(served, "a < b", "a") == 200
    assert _rest(served, "a > b", "b") == 200
    assert _why(served, "ben") == (0.5, "Names the square.\nSays no cause.\nOwn words.")
    assert _why(served, "cyd") == (1.0, "Names the square.") and _why(served, "dan") == (0.0, "Says no cause.")
    # What a person has marked by points since rests on nothing.
    assert served.mark("why", "a < b", 1.5)[0] == 200

    status, shown = _item(served, "Names x squared.", "2", "a")
    assert status == 200 and "2 marks rest on" in shown and _why(served, "ben")[0] == 0.5
    assert _item(served, "Names x squared.", "2", "a", sure="2")[0] == 303
    assert _why(served, "ada") == _why(served, "ben") == (1.5, "Names x squared.\nSays no cause.\nOwn words.")
    assert _why(served, "cyd") == (1.5, "Names the square.")
    # All of it is undone at once; so is the removal of an item.
    assert served.write("why", "undo", {})[1] == {"said": "undone", "rubric": True}
    assert _why(served, "ben") == (0.5, "Names the square.\nSays no cause.\nOwn words.")
    assert "3 marks" in _item(served, "", "", "b")[1]
    assert _item(served, "", "", "b", sure="3")[0] == 303
    assert _why(served, "ben") == (1.0, "Names the square.\nOwn words.") and _why(served, "dan") == (0.0, None)
    assert len(served.question("why").select_one(".group").select(".item")) == 1  # type: ignore[union-attr]
    served.write("why", "undo", {})
    assert _why(served, "dan") == (0.0, "Says no cause.")
    # Another desk reads the same rubric out of the journal.
    question = served.desk.question(LESSON, "why")
    assert Desk(served.desk.reader, "bob").ledger.rubric(question).items == served.desk.ledger.rubric(question).items


def test_a_mark_changed_in_formgrader_does_not_follow_the_rubric(served: Served) -> None:
    served.come_in()
    _item(served, "One.", "1")
    _rest(served, "Because of it.", "a")
    with served.room.gradebook() as book:
        book.find_grade("why", LESSON, LESSON, "ben").manual_score = 2.0
        book.db.commit()
    assert "1 mark rests on" in _item(served, "One.", "0", "a")[1]
    assert _item(served, "One.", "0", "a", sure="1")[0] == 303
    assert _why(served, "ada")[0] == 0.0 and _why(served, "ben")[0] == 2.0


def test_a_letter_of_another_rubric_than_the_page_has_shown_is_refused(served: Served) -> None:
    served.come_in()
    _item(served, "Right idea.", "2")
    shown = served.question("why")
    version = str(shown.select_one(".group")["data-rubric"])  # type: ignore[index]
    _item(served, "Wrong idea.", "0", "a")
    body = {"answers": served.seen("why", "a < b"), "letters": "a", "rubric": version}
    status, told = served.write("why", "mark", body)
    assert status == 409 and told["rubric"] is True and "rubric has changed" in told["said"]
    assert marks_in(served.room, "why")["cyd"] == (None, True)
    # The page gets the new one, with its forms.
    order = str(shown.select_one("main")["data-order"])  # type: ignore[index]
    part = json.loads(served.ask(f"/q/{LESSON}/why/part?ids={order}")[2])
    assert "Wrong idea." in part["rubric"] and all("Wrong idea." in one for one in part["groups"])
    # Neither does a form that has shown another one change it.
    assert _item(served, "Old thought.", "1", "a", seen=version)[0] == 409
    assert _rest(served, "a < b", "a") == 200
    assert _why(served, "cyd") == (0.0, "Wrong idea.")


def test_without_any_item_an_answer_waits_again(served: Served) -> None:
    served.come_in()
    _item(served, "Right idea.", "2")
    assert _rest(served, "a < b", "a", "Well.") == 200 and _why(served, "cyd") == (2.0, "Right idea.\nWell.")
    assert _rest(served, "a < b", "") == 200 and _why(served, "cyd") == (None, "Well.")
    assert marks_in(served.room, "why")["cyd"] == (None, True)
    assert served.write("why", "undo", {})[0] == 200 and _why(served, "cyd") == (2.0, "Right idea.\nWell.")


def test_a_rubric_has_an_item_for_each_letter_and_no_other(served: Served) -> None:
    served.come_in()
    for number in range(len(LETTERS)):
        assert _item(served, f"Item {number}", "0")[0] == 303
    assert served.question("why").select_one("#new-item") is None
    assert "at most 19 items" in served.question("why").aside.get_text()  # type: ignore[union-attr]
    assert _item(served, "One more", "0") == (400, "a rubric has at most 19 items\n")
    for letter in ("ab", "c", "A", "?"):
        assert _item(served, "x", "0", letter) == (400, "no item of a rubric has this letter\n")


@pytest.mark.parametrize(("text", "points"), [("x", "3"), ("x", "many"), ("x", "nan"), ("x" * 301, "1")])
def test_what_is_no_item_is_refused(served: Served, text: str, points: str) -> None:
    served.come_in()
    assert _item(served, text, points)[0] == 400
    status, _, shown = served.ask("/nothing", Sec_Fetch_Mode="navigate")
    assert status == 404 and bs4.BeautifulSoup(shown, "html.parser").select_one(".warned") is not None
    assert _item(served, "<script>alert(1)</script>", "1")[0] == 303
    assert len(served.question("why").select("script")) == 1
    xsrf = served.ask(f"/q/{LESSON}/why/rubric", "POST", "text=x&points=1", Origin=f"http://{ADDRESS}:{served.port}")[0]
    assert xsrf == 403


SAME = [
    ("A b, c.", "a  B c"),
    ('He said "yes"!', "he said yes"),
    ("It is **so**", "it is so"),
    ("one\n\ntwo", "one two"),
    ("so $x$.", "so $x$"),
    ("I don't know, the users' 'x' - sorry", "i dont know the users x sorry"),
    ("_so_, ***so*** (*so*)", "so so (so)"),
]
OTHER = [
    ("1.5", "15"),
    ("a < b", "a > b"),
    ("-1", "1"),
    ("a != b", "a = b"),
    ("$X$", "$x$"),
    ("`A`", "`a`"),
    ("x*y", "xy"),
    ("f(x)", "fx"),
    ("x.add_(1) is in place", "x.add(1) is in place"),
    ("2**3", "23"),
    ("pass **kwargs", "pass kwargs"),
    ("__call__", "call"),
    ("module._hooks", "module.hooks"),
    ("f'(x) is 2", "f(x) is 2"),
    ("y' = 2", "y = 2"),
    ("it is - 2", "it is 2"),
    ("a - b", "a b"),
]


@pytest.mark.parametrize(("one", "two"), SAME)
def test_answers_that_say_the_same_are_one(one: str, two: str) -> None:
    assert same_text(one) == same_text(two)


@pytest.mark.parametrize(("one", "two"), OTHER)
def test_answers_that_say_something_else_are_two(one: str, two: str) -> None:
    assert same_text(one) != same_text(two)


def test_code_is_the_same_but_for_blanks_at_ends() -> None:
    assert same_code("a = 1  \n\nb = 2\n") == same_code("a = 1\nb = 2")
    assert same_code("if a:\n    b") != same_code("if a:\nb") and same_code("A") != same_code("a")


def test_without_graded_work_the_command_says_what_to_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "nbgrader_config.py").write_text("c = get_config()\n")
    assert main(["desk", "--course", str(tmp_path), "--no-browser"]) == 2
    assert "nothing is graded yet" in capsys.readouterr().err


def test_a_port_that_is_taken_is_told_in_one_line(a_class: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (socket,) = bind_sockets(0, ADDRESS)
    port = str(socket.getsockname()[1])
    assert main(["desk", "--course", str(a_class), "--no-browser", "--port", port]) == 2
    socket.close()
    assert "nothing can listen there" in capsys.readouterr().err


def test_the_token_is_in_no_arguments_of_the_browsers(a_class: Path, tmp_path: Path) -> None:
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/told.new\nmv {tmp_path}/told.new {tmp_path}/told\n')
    browser.chmod(0o755)
    own = {**os.environ, "BROWSER": f"{browser} %s", "JUPYTER_RUNTIME_DIR": str(tmp_path / "runtime")}
    command = [sys.executable, "-m", "course", "desk", "--course", str(a_class)]
    with subprocess.Popen(command, env=own, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        url = process.stdout.readline().split()[-1]
        deadline = time.monotonic() + 20
        while not (tmp_path / "told").exists() and time.monotonic() < deadline:
            time.sleep(0.1)
        told = (tmp_path / "told").read_text().strip()
        (file,) = (tmp_path / "runtime").iterdir()
        assert told == file.as_uri() and f'url={url}"' in file.read_text()
        assert file.stat().st_mode & 0o777 == 0o600
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0
    assert not file.exists()
