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
from tests.desk.classroom import class_of, comments_in, marks_in

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
def opened(browser: Any, url: str, question: str) -> Iterator[Page]:
    """The page of a question, come to by keyboard. Nothing else may be asked for, and nothing may go wrong in it."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    alarms: list[str] = []
    base = url.partition("/?")[0]
    page.on("dialog", lambda dialog: alarms.append(dialog.message))
    page.on("pageerror", lambda error: alarms.append(str(error)))
    page.on("console", lambda told: alarms.append(told.text))
    page.on("request", lambda request: alarms.append(f"request: {request.url}"))
    page.goto(url)
    page.get_by_role("link", name=question, exact=True).press("Enter")
    expect(page.locator(".group.here")).to_have_count(1)
    yield page
    expected = (f"request: {base}/", "request: data:", "Failed to load resource: net::ERR_CONNECTION_REFUSED")
    assert [one for one in alarms if not one.startswith(expected)] == []
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
        page.keyboard.type("11")
        press(page, "Enter", "0 wait")
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
        press(page, "b", "1.5 of 2 points")
        press(page, "j", "1.5 of 2 points")
        press(page, "b", "0.5 of 2 points")
        press(page, "b", "0 of 2 points")
        press(page, "u", "Undone")
        assert comments_in(room, "why")["learner00"] == "Names the square.\nSays why."
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
        page.keyboard.press("Enter")
        expect(page.locator(".group", has_text="It is 0.")).to_contain_text("2 of 2 points")
    assert sorted(points for points, _ in marks_in(room, "why").values() if points is not None) == [1.0, 1.0, 2.0, 2.0]
