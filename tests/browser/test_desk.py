"""A teacher at the desk: sixty answers by keyboard alone, in the gradebook even if the desk is killed in between."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import ROOT
from tests.desk.classroom import LESSON, answer_anew, class_of, comments_in, marks_in

pytest.importorskip("nbproof_desk", reason="the teacher's desk is NOT tested: nbproof-desk is not installed")
pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

EVIL = "<script>alert(1)</script><img src=x onerror=alert(1)> ![x](http://evil.example/x) [y](javascript:alert(1))"
PEOPLE = [f"learner{number:02}" for number in range(60)]
ANSWERS = {name: f"Reason {number % 20}." for number, name in enumerate(PEOPLE)} | {"learner07": EVIL}
"""Of three learners each one says the same, but for one of them, and for their capital letters."""


@contextmanager
def served(course: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The command ``desk``, and the address that it prints."""
    command = [sys.executable, "-m", "course", "desk", "--no-browser", "--marker", "ann", "--course", str(course)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            line = process.stdout.readline()
            assert "http://127.0.0.1:" in line
            yield process, line.split()[-1]
        finally:
            process.kill()


@contextmanager
def opened(browser: Any, url: str, question: str, beside: Any = None) -> Iterator[Page]:
    """The page of a question, come to by keyboard. Nothing else may be asked for, and nothing may go wrong in it.

    ``beside``: the context of another page.
    """
    context = beside or browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    alarms: list[str] = []
    base = url.partition("/?")[0].rstrip("/")
    page.on("dialog", lambda dialog: alarms.append(dialog.message))
    page.on("pageerror", lambda error: alarms.append(str(error)))
    page.on("console", lambda told: alarms.append(told.text))
    page.on("request", lambda request: alarms.append(f"request: {request.url}"))
    page.goto(url)
    page.get_by_role("link", name=question, exact=True).press("Enter")
    expect(page.locator(".group.here")).to_have_count(1)
    yield page
    failed = "Failed to load resource: "
    expected = (
        f"request: {base}/",
        "request: data:",
        f"{failed}net::ERR_CONNECTION_REFUSED",
        f"{failed}net::ERR_FAILED",
        f"{failed}the server responded with a status of 409",
    )
    assert [one for one in alarms if not one.startswith(expected)] == []
    if beside is None:
        context.close()


def press(page: Page, key: str, said: str) -> None:
    """Press a key, and wait for what the page says of it."""
    page.keyboard.press(key)
    expect(page.get_by_role("status")).to_contain_text(said)


def test_sixty_answers_are_marked_by_keyboard_and_a_kill_loses_nothing(browser: Any, tmp_path: Path) -> None:
    room = class_of(tmp_path, ANSWERS, {"learner03": "def twice(x):\n    return x"})
    with served(tmp_path) as (process, url), opened(browser, url, "Why twice?") as page:
        expect(page.locator(".group")).to_have_count(21)
        expect(page.locator("#waiting")).to_have_text("60")
        # A comment, then points: it goes on by itself to what waits next.
        page.keyboard.press("c")
        page.keyboard.type("Say more.")
        page.keyboard.press("Escape")
        press(page, "1", "57 wait")
        press(page, "3", "there are 2")
        press(page, "2", "54 wait")
        press(page, "u", "Undone. 57 wait")
        # The same comment, chosen from those given before.
        page.keyboard.press("v")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        page.keyboard.press("Escape")
        press(page, "0", "with a comment. 54 wait")
        page.keyboard.press(".")
        page.keyboard.type("1.5")
        press(page, "Enter", "51 wait")
        process.send_signal(signal.SIGKILL)
        process.wait()
        page.keyboard.press("2")
        expect(page.get_by_role("status")).to_contain_text("Not kept")
    kept = [points for points, _ in marks_in(room, "why").values() if points is not None]
    assert sorted(kept) == [0.0] * 3 + [1.0] * 3 + [1.5] * 3
    assert list(comments_in(room, "why").values()).count("Say more.") == 6

    with served(tmp_path) as (process, url), opened(browser, url, "Why twice?") as page:
        # 21 groups, three of which are marked; two of them hold less than three answers.
        for _ in range(18):
            before = page.locator("#waiting").inner_text()
            page.keyboard.press("2")
            expect(page.locator("#waiting")).not_to_have_text(before)
        press(page, "n", "Names are shown")
        expect(page.locator(".group .names").first).to_contain_text("learner")
        press(page, "u", "Undone")
        page.keyboard.press("2")
        expect(page.locator("#waiting")).to_have_text("0")
        page.keyboard.press("/")
        page.keyboard.type("reason 11")
        page.keyboard.press("Enter")
        expect(page.locator(".group")).to_have_count(1)
    assert not any(waits for _, waits in marks_in(room, "why").values())
    assert {points for points, _ in marks_in(room, "why").values()} == {0.0, 1.0, 1.5, 2.0}
    lines = [json.loads(line) for line in (tmp_path / ".course" / "desk.jsonl").read_text().splitlines()]
    assert {line["marker"] for line in lines} == {"ann"}


def test_an_uncertain_exercise_and_points_of_two_digits(browser: Any, tmp_path: Path) -> None:
    room = class_of(tmp_path, dict.fromkeys(PEOPLE[:5], "It is."), {"learner03": "def twice(x):\n    return x"})
    with served(tmp_path) as (_, url), opened(browser, url, "Twice") as page:
        press(page, "3", "0 wait")
    assert marks_in(room, "test_twice_more")["learner03"] == (1.0, False)
    with served(tmp_path) as (_, url), opened(browser, url, "Plot it") as page:
        # A comma is one, in every language.
        page.keyboard.type("1,5")
        press(page, "Enter", "1.5 points")
        expect(page.locator(".group")).to_contain_text("1.5 of 12 points")
        page.keyboard.press("j")
        for text in ("13", "1,5,1", "-1", "1e1"):
            page.keyboard.type("." + text)
            press(page, "Enter", "From 0 to 12 points")
            page.keyboard.press("Escape")
        page.keyboard.type("11")
        press(page, "Enter", "11 points")
        expect(page.locator(".group")).to_contain_text("11 of 12 points")
    assert marks_in(room, "plot")["learner04"] == (11.0, False)


def test_a_rubric_is_made_and_changed_by_keyboard(browser: Any, tmp_path: Path) -> None:
    room = class_of(tmp_path, {name: f"It is {number // 2}." for number, name in enumerate(PEOPLE[:6])})
    with served(tmp_path) as (_, url), opened(browser, url, "Why twice?") as page:
        for text, points in (("Names the square.", "1"), ("Says why.", "0.5")):
            page.keyboard.press("i")
            page.keyboard.type(text)
            page.keyboard.press("Tab")
            page.keyboard.type(points)
            page.keyboard.press("Enter")
            expect(page.locator(".group.here .item", has_text=text)).to_be_visible()
        press(page, "a", "1 of 2 points")
        page.keyboard.press("c")
        page.keyboard.type("More.")
        press(page, "Control+Enter", "Comment kept")
        page.keyboard.press("Escape")
        press(page, "b", "1.5 of 2 points")
        press(page, "j", "1.5 of 2 points")
        press(page, "b", "0.5 of 2 points")
        # Without any item it waits, as before.
        press(page, "b", "waits. ")
        press(page, "u", "Undone")
        assert comments_in(room, "why")["learner00"] == "Names the square.\nSays why.\nMore."
        assert sorted(points for points, _ in marks_in(room, "why").values() if points is not None) == [
            0.5,
            0.5,
            1.5,
            1.5,
        ]
        box = page.get_by_label("Points of item b")
        box.fill("1")
        box.press("Enter")
        expect(page.get_by_role("heading")).to_have_text("Change this item?")
        expect(page.get_by_role("button")).to_be_focused()
        page.keyboard.press("Enter")
        expect(page.locator(".group", has_text="It is 0.")).to_contain_text("2 of 2 points")
    assert sorted(points for points, _ in marks_in(room, "why").values() if points is not None) == [1.0, 1.0, 2.0, 2.0]


SLOW = """() => { const asked = window.fetch;
window.fetch = async (...what) => { await new Promise((go) => setTimeout(go, 300)); return asked(...what); }; }"""
"""The server answers later than one types."""


def points_in(room: Any) -> list[float | None]:
    """What a person gave to each answer of six, in the order of the page."""
    return [points for _, (points, _) in sorted(marks_in(room, "why").items())]


def six(folder: Path, more: str = "") -> Any:
    """A class of six answers: the page shows them in this order."""
    return class_of(folder, {f"learner{one}": f"{one} is the reason.{more}" for one in "abcdef"})


def boxes(page: Page) -> list[str]:
    """What stands in the comments' boxes."""
    return [one.input_value() for one in page.locator(".comment-box").all()]


def is_here(page: Page, text: str) -> None:
    expect(page.locator(".group.here")).to_contain_text(f"{text} is the reason.")


def test_keys_that_are_typed_faster_than_the_server_answers(browser: Any, tmp_path: Path) -> None:
    room = six(tmp_path)
    with served(tmp_path) as (_, url), opened(browser, url, "Why twice?") as page:
        page.evaluate(SLOW)
        # Each key is for the group that has the focus when it is typed; what is typed for a box is no key.
        page.keyboard.type("210cunclear: 1 thing, j")
        expect(page.get_by_role("status")).to_contain_text("3 wait")
        assert boxes(page) == ["", "", "", "unclear: 1 thing, j", "", ""]
        assert page.locator(".group .names").first.is_hidden()
        assert points_in(room) == [2.0, 1.0, 0.0, None, None, None]
        # A comment is kept without points, and one goes on to type in its box.
        page.keyboard.press("Control+Enter")
        page.keyboard.type("ust so 2")
        expect(page.get_by_role("status")).to_contain_text("Comment kept")
        page.keyboard.type("u")
        assert boxes(page)[3] == "unclear: 1 thing, just so 2u"
        page.keyboard.press("Escape")
        # What stands after an undo is for what the undo brings back, which it waits for.
        page.keyboard.type("2u1")
        expect(page.get_by_role("status")).to_contain_text("1 point. 2 wait")
        assert points_in(room) == [2.0, 1.0, 0.0, 1.0, None, None]
        assert comments_in(room, "why")["learnerd"] == "unclear: 1 thing, j"
        # One key too many overwrites nothing.
        page.keyboard.type("2100")
        expect(page.get_by_role("status")).to_contain_text("0 wait")
        assert points_in(room) == [2.0, 1.0, 0.0, 1.0, 2.0, 1.0]
        page.keyboard.type("k0k")
        page.keyboard.type("j2")
        expect(page.get_by_role("status")).to_contain_text("just now")
        expect(page.locator(".group").last).to_contain_text("0 of 2 points")
    assert points_in(room) == [2.0, 1.0, 0.0, 1.0, 2.0, 0.0]


def test_a_mark_that_is_refused_within_a_burst(browser: Any, tmp_path: Path) -> None:
    room = six(tmp_path)
    with served(tmp_path) as (_, url), opened(browser, url, "Why twice?") as page:
        with room.gradebook() as book:
            grade = book.find_grade("why", LESSON, LESSON, "learnera")
            grade.manual_score, grade.needs_manual_grade = 0.5, False
            book.db.commit()
        answer_anew(room, "learnerc", "Quite another reason.")
        page.evaluate(SLOW)
        page.keyboard.type("cMine.")
        page.keyboard.press("Escape")
        page.keyboard.type("2101")
        expect(page.get_by_role("status")).to_contain_text("Not kept: 2, with a red border")
        # The text that stands there now is shown, and what was typed is not lost.
        expect(page.locator(".group.unkept")).to_have_count(2)
        assert boxes(page)[0] == "Mine."
        expect(page.locator(".group").nth(2)).to_contain_text("Quite another reason.")
        expect(page.locator(".group")).to_have_count(6)
        is_here(page, "e")
        assert points_in(room) == [0.5, 1.0, None, 1.0, None, None]
        page.keyboard.type("22")
        expect(page.get_by_role("status")).to_contain_text("1 wait")
        # It waits, and is the next one, from the top.
        expect(page.locator(".group.here")).to_contain_text("Quite another reason.")
        press(page, "2", "0 wait")
    assert points_in(room) == [0.5, 1.0, 2.0, 1.0, 2.0, 2.0]


def test_the_focus_is_on_the_screen_when_a_key_marks(browser: Any, tmp_path: Path) -> None:
    room = six(tmp_path, "\n\nAnd so on." * 40)
    with served(tmp_path) as (_, url), opened(browser, url, "Why twice?") as page:
        page.mouse.move(300, 400)
        page.mouse.wheel(0, 5000)
        expect(page.locator(".group.here")).not_to_be_in_viewport()
        press(page, "2", "were not on the screen")
        expect(page.locator(".group.here")).to_be_in_viewport()
        assert points_in(room) == [None] * 6
        press(page, "2", "5 wait")
        page.mouse.wheel(0, 5000)
        page.reload()
        # What waits comes first, and the focus is there.
        is_here(page, "b")
        expect(page.locator(".group.here")).to_be_in_viewport()
        press(page, "1", "4 wait")
    assert points_in(room) == [2.0, 1.0, None, None, None, None]


def test_what_was_skipped_is_come_to_from_the_top(browser: Any, tmp_path: Path) -> None:
    room = six(tmp_path)
    with served(tmp_path) as (_, url), opened(browser, url, "Why twice?") as page:
        page.keyboard.type("1jj2221")
        expect(page.get_by_role("status")).to_contain_text("1 wait")
        is_here(page, "c")
        press(page, "0", "0 wait")
        # None has the focus now: a key more marks nothing, and u takes the last one back.
        expect(page.locator(".group.here")).to_have_count(0)
        press(page, "2", "No answers are in focus")
        press(page, "u", "Undone. 1 wait")
        is_here(page, "c")
    assert points_in(room) == [1.0, 1.0, None, 2.0, 2.0, 2.0]


def test_arrows_choose_any_comment_and_typing_ahead_is_no_key(browser: Any, tmp_path: Path) -> None:
    six(tmp_path)
    with served(tmp_path) as (_, url), opened(browser, url, "Why twice?") as page:
        for left, text in ((5, "First."), (4, "Second."), (3, "Third.")):
            page.keyboard.type(f"c{text}")
            page.keyboard.press("Escape")
            press(page, "1", f"with a comment. {left} wait")
        page.keyboard.press("v")
        for text in ("Third.", "Second."):
            page.keyboard.press("ArrowDown")
            assert page.locator(".here .comment-box").input_value() == text
        # Esc takes the choice back.
        page.keyboard.press("Escape")
        assert page.locator(".here .comment-box").input_value() == ""
        page.keyboard.press("v")
        page.keyboard.type("Fi2")
        press(page, "Enter", "stands in the box")
        assert page.locator(".here .comment-box").input_value() == "First."
        expect(page.locator("#waiting")).to_have_text("3")
        press(page, "2", "with a comment. 2 wait")


def test_a_new_item_keeps_drafts_and_focus_and_an_old_letter_is_refused(browser: Any, tmp_path: Path) -> None:
    room = six(tmp_path)
    with served(tmp_path) as (_, url), opened(browser, url, "Why twice?") as page:
        page.keyboard.type("cA long draft")
        page.keyboard.press("Escape")
        page.keyboard.type("jjiNames it.")
        page.keyboard.press("Tab")
        page.keyboard.type("1")
        page.evaluate(SLOW)
        page.keyboard.press("Enter")
        page.keyboard.type("a")
        expect(page.get_by_role("status")).to_contain_text("1 of 2 points")
        is_here(page, "c")
        assert boxes(page)[0] == "A long draft"
        assert points_in(room) == [None, None, 1.0, None, None, None]
        with opened(browser, url.partition("?")[0], "Why twice?", page.context) as other:
            box = other.get_by_label("Points of item a")
            box.fill("0")
            box.press("Enter")
            expect(other.get_by_role("heading")).to_have_text("Change this item?")
            other.keyboard.press("Enter")
            expect(other.locator(".item b").first).to_have_text("0")
        press(page, "j", "1 of 2")
        press(page, "a", "the rubric has changed")
        is_here(page, "d")
        expect(page.locator(".here .item b")).to_have_text("0")
        expect(page.get_by_label("Points of item a")).to_have_value("0")
        assert boxes(page)[0] == "A long draft"
        press(page, "a", "0 of 2 points")
    assert points_in(room) == [None, None, 0.0, 0.0, None, None]


def test_a_click_too_many_marks_nothing_else(browser: Any, tmp_path: Path) -> None:
    room = six(tmp_path, "\n\nAnd so on." * 40)
    with served(tmp_path) as (_, url), opened(browser, url, "Why twice?") as page:
        # The page goes on at once: the second click of two falls on the next answers.
        page.evaluate("""() => { for (const id of [0, 1]) {
            document.querySelectorAll(".group")[id].querySelector(".points-button").click(); } }""")
        expect(page.get_by_role("status")).to_contain_text("5 wait")
    assert points_in(room) == [0.0, None, None, None, None, None]


def test_more_answers_that_do_not_come_take_no_marks(browser: Any, tmp_path: Path) -> None:
    room = class_of(tmp_path, {f"learner{number:02}": f"{number:02} is the reason." for number in range(42)})
    with served(tmp_path) as (_, url), opened(browser, url, "Why twice?") as page:
        expect(page.locator(".group")).to_have_count(40)
        page.route("**/part?*", lambda route: route.abort())
        page.locator(".group").last.click()
        press(page, "1", "does not answer")
        expect(page.locator(".group").last).to_contain_text("1 of 2")  # what is said of the mark itself has come, too
        page.keyboard.type("2")
        expect(page.get_by_role("status")).to_contain_text("No answers are in focus")
        page.unroute("**/part?*")
        page.keyboard.type("kj2")
        expect(page.get_by_role("status")).to_contain_text("40 wait")
    assert [points for points in points_in(room) if points is not None] in ([1.0, 2.0], [2.0, 1.0])
