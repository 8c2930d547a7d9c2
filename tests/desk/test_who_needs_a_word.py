"""The desk's pages with names: who needs a word, one learner with all that they have, and names as the course says."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from urllib.parse import urlencode

import bs4
import pytest

from nbproof.places import course_config
from nbproof.run.journal import settled_in
from nbproof_lms.handback import MAIL_TABLE, email_of
from tests import main
from tests.desk.classroom import LESSON, comments_in, hand_in_no_notebook, marks_in
from tests.desk.test_desk_server import EVIL, Served, a_class, served
from tests.feedback.page_rules import what_runs

pytest.importorskip("nbproof_desk", reason="the teacher's desk is NOT tested: nbproof-desk is not installed")
from nbproof_desk.settings import DeskSettings

__all__ = ["a_class", "served"]
pytestmark = pytest.mark.slow
ROSTER = """learner,name,email,also
ada,"King, Ada",ada@u.edu,
ben,Ben Roe,,
gus,"O'Neil <b>Gus</b>",gus@u.edu,
zoe,=Zoe Zed,zoe@u.edu,
"""


@pytest.fixture
def named(served: Served) -> Served:
    """The class on a roster. Gus has handed in what is no notebook, and Zoe nothing."""
    root = served.room.root
    (root / "roster.csv").write_text(ROSTER)
    hand_in_no_notebook(served.room, "gus")
    served.come_in()
    return served


def send(served: Served, path: str, **fields: str) -> tuple[int, str]:
    """Send a form of a page with names: the status, and what is shown, or where it leads."""
    xsrf = str(served.page("/people/").select_one("[name=_xsrf], meta[name=xsrf]")["content"])  # type: ignore[index]
    headers = {"Origin": f"http://127.0.0.1:{served.port}", "Content-Type": "application/x-www-form-urlencoded"}
    status, told, shown = served.ask(path, "POST", urlencode({"_xsrf": xsrf, **fields}), **headers)
    return status, told.get("Location", shown)


def rows(served: Served, heading: str) -> list[str]:
    """The rows of the table below a heading, each as one text."""
    for section in served.page("/people/").select("section"):
        if heading in section.h2.get_text():  # type: ignore[union-attr]
            return [" ".join(one.get_text(" ").split()) for one in section.select("tbody tr")]
    return []


def table(served: Served, what: str = "") -> list[dict[str, str]]:
    status, headers, text = served.ask(f"/people/words.csv?what={what}")
    assert status == 200 and "attachment" in headers["Content-Disposition"]
    return list(csv.DictReader(io.StringIO(text)))


def card(served: Served, learner: str, question: str) -> bs4.Tag:
    """What a learner's page has of one question."""
    (found,) = served.page(f"/learner/{learner}/").select(f'article[aria-label="{question}"]')
    return found


def answer(served: Served, learner: str, question: str, /, **fields: str) -> tuple[int, str]:
    """Send the form of one question as it is shown, with other fields."""
    form = card(served, learner, question).form
    assert form is not None
    shown = {str(one["name"]): str(one.get("value", "")) for one in form.select("input")}
    box = form.textarea
    if box is not None:
        shown["comment"] = box.get_text()
    return send(served, str(form["action"]), **(shown | fields))


def test_everybody_who_needs_a_word_stands_there_with_name_and_address(named: Served) -> None:
    assert rows(named, "Nothing handed in") == ["=Zoe Zed zoe zoe@u.edu 01 desk no due date"]
    (gus,) = rows(named, "Cannot be graded")
    assert gus.startswith("O'Neil <b>Gus</b> gus gus@u.edu 01 desk it is no notebook") and "Their page" in gus
    assert len(rows(named, "Waits for marks")) == 6
    tree = named.page("/people/")
    assert "2 of 8 learners need a word" in tree.h1.get_text()  # type: ignore[union-attr]
    assert not tree.select("script, [style], td b, th b") and "shows names" in tree.get_text()
    # Its page in the sandbox says what to hand in.
    assert "hand in the .ipynb file itself" in named.ask(f"/learner/gus/page/{LESSON}")[2]


def test_the_table_for_a_mail_merge_has_first_and_last_names(named: Served) -> None:
    every = table(named)
    assert list(every[0]) == [*MAIL_TABLE, "what", "why"]
    (zoe,) = table(named, "missing")
    # No spreadsheet takes a name for a formula.
    assert zoe["name"] == "'=Zoe Zed" and zoe["email"] == "zoe@u.edu" and zoe["lesson"] == LESSON
    ada = next(one for one in every if one["learner"] == "ada")
    assert (ada["first_name"], ada["last_name"], ada["what"]) == ("Ada", "King", "waits")
    ben = next(one for one in every if one["learner"] == "ben")
    assert (ben["name"], ben["first_name"], ben["email"]) == ("Ben Roe", "", "")
    assert named.ask("/people/words.csv?what=nothing")[0] == 404


def test_nothing_is_missing_before_it_is_due_or_while_an_extension_runs(named: Served) -> None:
    root = str(named.room.root)
    assert main(["roster", "extend", "zoe", LESSON, "2999-12-31", "--course", root]) == 2, "no due date yet"
    assert main(["roster", "due", LESSON, "2020-01-01", "--course", root]) == 0
    assert "due 2020-01-01" in rows(named, "Nothing handed in")[0]
    assert main(["roster", "extend", "zoe", LESSON, "2999-12-31", "--course", root]) == 0
    assert rows(named, "Nothing handed in") == []
    assert main(["roster", "extend", "zoe", LESSON, "none", "--course", root]) == 0
    assert len(rows(named, "Nothing handed in")) == 1
    assert main(["roster", "due", LESSON, "2999-01-01", "--course", root]) == 0
    assert rows(named, "Nothing handed in") == []


def test_what_was_seen_counts_0_and_can_be_asked_about_again(named: Served) -> None:
    fields = {"learner": "gus", "lesson": LESSON}
    assert send(named, "/people/settle", how="zero", **fields) == (303, "/people/?noted=1")
    assert settled_in(named.room.root)[f"gus/{LESSON}"]["open"] is False
    assert rows(named, "Cannot be graded") == []
    (seen,) = rows(named, "Seen, and nothing more to come")
    assert "counts 0; noted 20" in seen and "UTC by ann" in seen
    assert "gus" in named.page("/people/").select_one("[aria-labelledby=zeros]").get_text()  # type: ignore[union-attr]
    assert send(named, "/people/settle", how="open", **fields)[0] == 303
    assert "left open" in rows(named, "Seen, and nothing more to come")[0]
    assert send(named, "/people/settle", how="undo", **fields)[0] == 303
    assert len(rows(named, "Cannot be graded")) == 1 and rows(named, "Seen, and nothing more to come") == []
    lines = [json.loads(one) for one in (named.room.root / ".course" / "desk.jsonl").read_text().splitlines()]
    assert [(one["marker"], one["settled"], one["how"]) for one in lines] == [
        ("ann", "gus", "zero"),
        ("ann", "gus", "open"),
        ("ann", "gus", "undo"),
    ]
    # Marks are read out of such a journal as before.
    assert named.mark("why", "a < b", 1)[0] == 200 and named.write("why", "undo", {})[1]["said"] == "undone"


@pytest.mark.parametrize(
    ("learner", "how", "status"),
    [("gus", "all", 400), ("*", "zero", 400), ("nobody", "zero", 503), ("ada", "zero", 503)],
)
def test_what_cannot_be_settled_is_refused(named: Served, learner: str, how: str, status: int) -> None:
    assert send(named, "/people/settle", learner=learner, lesson=LESSON, how=how)[0] == status
    assert settled_in(named.room.root) == {}


def test_an_answer_to_a_complaint_goes_into_the_gradebook_and_onto_the_page(named: Served) -> None:
    status, there = answer(named, "ben", "Twice", comment="You are right: $x^2$.\r\nSorry.", points="2,5")
    assert (status, there) == (303, f"/learner/ben/?kept={LESSON}%2Ftwice")
    assert marks_in(named.room, "test_twice")["ben"] == (2.0, False)
    assert marks_in(named.room, "test_twice_more")["ben"] == (0.5, False)
    assert comments_in(named.room, "twice")["ben"] == "You are right: $x^2$.\nSorry."
    tree = named.page(there)
    assert "stands in the gradebook" in tree.select_one("#kept").get_text()  # type: ignore[union-attr]
    assert "2.5 of 3" in card(named, "ben", "Twice").get_text()
    page = bs4.BeautifulSoup(named.ask(f"/learner/ben/page/{LESSON}")[2], "html.parser")
    assert "You are right" in page.select_one(".comment").get_text()  # type: ignore[union-attr]
    assert main(["feedback", "ben", "--course", str(named.room.root)]) == 0
    written = named.room.root / "feedback" / "ben" / LESSON / f"{LESSON}.html"
    assert "You are right" in written.read_text()
    assert "The one in feedback/ is the same" in named.page("/learner/ben/").get_text()
    # Of a group only this one has changed; it can be marked alone.
    assert answer(named, "ada", "Why twice?", points="1")[0] == 303
    assert marks_in(named.room, "why")["ada"] == (1.0, False) and marks_in(named.room, "why")["ben"] == (None, True)
    # What tests have marked is changed, too.
    assert answer(named, "cyd", "Twice", points="0")[0] == 303
    assert marks_in(named.room, "test_twice")["cyd"] == (0.0, False)
    assert answer(named, "ben", "Twice", comment="Once more.")[0] == 303
    assert "The one in feedback/ is of before" in named.page("/learner/ben/").get_text()


def test_nothing_new_writes_nothing(named: Served) -> None:
    assert answer(named, "ben", "Twice")[0] == 303
    assert not (named.room.root / ".course" / "desk.jsonl").exists()


@pytest.mark.parametrize("points", ["4", "-1", "nan", "many"])
def test_points_that_are_not_there_are_refused_on_a_learners_page(named: Served, points: str) -> None:
    status, shown = answer(named, "ben", "Twice", points=points, comment="A long <b>word</b>.")
    form = bs4.BeautifulSoup(shown, "html.parser").select_one("form.typed")
    assert status == 400 and form is not None
    # The page is there, with the reason, and what was typed.
    assert form.textarea.get_text() == "A long <b>word</b>." and form.select_one("[name=points]")["value"] == points  # type: ignore[union-attr, index]
    assert form.find_previous_sibling(role="alert").get_text().startswith("Not kept: ")  # type: ignore[union-attr]
    assert marks_in(named.room, "test_twice")["ben"] == (None, True)


def test_a_mark_that_was_changed_meanwhile_is_not_overwritten_on_a_learners_page(named: Served) -> None:
    assert answer(named, "ben", "Twice", comment="Theirs.")[0] == 303
    status, shown = answer(named, "ben", "Twice", seen="another", comment="Mine.")
    tree = bs4.BeautifulSoup(shown, "html.parser")
    assert status == 409 and [one.get_text() for one in tree.select("form.typed textarea")] == ["Mine."]
    assert "The comment that counts: Theirs." in tree.select_one("[role=alert]").get_text()  # type: ignore[union-attr]
    assert answer(named, "ben", "Twice", question="nothing")[0] == 404
    assert comments_in(named.room, "twice")["ben"] == "Theirs."
    assert named.ask("/learner/nobody/")[0] == 404


def test_what_was_changed_stands_there_with_time_and_marker_and_is_taken_back(named: Served) -> None:
    named.mark("why", "Because of it.", 2, "Good.")
    named.desk.ledger.marker = "bob"
    named.mark("why", "Because of it.", 1)
    history = named.page("/learner/ada/").select(".history li")
    assert [one.b.get_text().rpartition(" ")[2] for one in history] == ["bob", "ann"]  # type: ignore[union-attr]
    assert "Why twice?: 2 points → 1 point" in history[0].get_text()
    assert "no points by hand → 2 points; comment: “Good.”" in history[1].get_text()
    assert history[1].form is None and history[0].form is not None
    form = history[0].form
    fields = {str(one["name"]): str(one["value"]) for one in form.select("input")}
    # For this learner alone; the other one of the group keeps the mark.
    assert send(named, str(form["action"]), **fields)[0] == 303
    marks = marks_in(named.room, "why")
    assert marks["ada"] == (2.0, False) and marks["ben"] == (1.0, False)
    # What is not the last one any more is refused.
    assert send(named, str(form["action"]), **fields)[0] == 409
    with named.room.gradebook() as book:
        book.find_grade("why", LESSON, LESSON, "ada").manual_score = 0.5
        book.db.commit()
    (last, *_) = named.page("/learner/ada/").select(".history li")
    assert "somebody has changed it since, such as in formgrader" in last.get_text() and last.form is None


def test_a_learners_page_shows_and_does_nothing(named: Served) -> None:
    tree = named.page("/learner/eve/")
    assert [one.get("src") for one in tree.select("script")] == ["/static/drafts.js"]
    assert not tree.select("style, iframe, object, embed, base, [style], [onfocus], [onerror]")
    assert not tree.select(".answer a, .answer img, .answer form")
    assert "<script>alert(1)</script>" in tree.get_text() and "\u202e" not in tree.get_text()
    assert answer(named, "eve", "Why twice?", comment=EVIL, points="1")[0] == 303
    tree = named.page("/learner/eve/")
    assert len(tree.select("script")) == 1
    assert not tree.select(".history a, .history img") and EVIL in tree.select_one("textarea").get_text()  # type: ignore[union-attr]
    assert send(named, "/people/settle", learner=EVIL, lesson=EVIL, how="zero")[0] in (400, 503)


def test_the_page_as_they_will_see_it_is_in_a_sandbox(named: Served) -> None:
    status, headers, page = named.ask(f"/learner/eve/page/{LESSON}")
    assert status == 200 and what_runs(page) == []
    policy = headers["Content-Security-Policy"]
    assert policy.endswith("; sandbox") and "default-src 'none'" in policy and "script" not in policy
    assert not (named.room.root / "feedback").exists()
    assert "There is none in feedback/ yet" in named.page("/learner/eve/").get_text()
    assert named.ask(f"/learner/nobody/page/{LESSON}")[0] in (404, 503)


@pytest.mark.parametrize(
    "path", ["/people/", "/people/words.csv", "/learner/ada/", f"/learner/ada/page/{LESSON}", "/learner/../people/"]
)
def test_pages_with_names_ask_for_the_token(served: Served, path: str) -> None:
    status, headers, text = served.ask(path)
    assert status == 403 and "token" in text and "default-src 'none'" in headers["Content-Security-Policy"]
    served.come_in()
    assert served.ask(path, Host="evil.example")[0] == 403
    origin = f"http://127.0.0.1:{served.port}"
    for there in ("/people/settle", "/learner/ada/mark", "/learner/ada/back"):
        assert served.ask(there, "POST", "learner=ada", Origin=origin)[0] == 403
    assert served.ask("/people/settle")[0] == 405


def test_names_stand_beside_answers_as_the_course_says(named: Served) -> None:
    assert named.question("why").main["data-names"] == "hidden"  # type: ignore[index]
    told = json.loads(named.ask(f"/q/{LESSON}/why/names")[2])
    assert sorted(told["pages"].values())[:2] == ["/learner/ada/", "/learner/ben/"]
    config = named.room.root / "nbgrader_config.py"
    config.write_text('c = get_config()\nc.DeskSettings.names = "shown"\n')
    named.desk.settings = DeskSettings.read(course_config(named.room.root))
    assert named.question("why").main["data-names"] == "shown"  # type: ignore[index]


@pytest.mark.parametrize("line", ['names = "some"', 'name = "shown"'])
def test_a_setting_that_is_none_is_told(
    a_class: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], line: str
) -> None:
    (tmp_path / "nbgrader_config.py").write_text(f"c = get_config()\nc.DeskSettings.{line}\n")
    (tmp_path / "gradebook.db").write_bytes((a_class / "gradebook.db").read_bytes())
    assert main(["desk", "--course", str(tmp_path), "--no-browser"]) == 2
    assert "the desk's settings cannot be used" in capsys.readouterr().err


def test_an_id_that_is_an_address_is_one() -> None:
    from nbproof.gradebook.marks import Person

    assert email_of(Person("zoe@u.edu")) == "zoe@u.edu" and email_of(Person("zoe", email="none")) == ""
