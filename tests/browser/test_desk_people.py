"""A teacher writes to the class: who needs a word, and an answer to a complaint, by keyboard alone."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.test_desk import class_of, press, served
from tests.desk.classroom import LESSON, comments_in, hand_in_no_notebook, marks_in

pytest.importorskip("nbproof_desk", reason="the teacher's desk is NOT tested: nbproof-desk is not installed")
pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

EVIL = "<script>alert(1)</script><img src=x onerror=alert(1)> ![x](http://evil.example/x)"
ROSTER = (
    'learner,name,email\nada,"King, Ada",ada@u.edu\nben,Ben Roe,\ngus,<b>Gus</b>,gus@u.edu\nzoe,Zoe Zed,zoe@u.edu\n'
)


def class_with_names(folder: Path) -> Any:
    """Ada, Ben and Eve have handed in; Gus has, what is no notebook; Zoe has not."""
    room = class_of(folder, {"ada": "It is.", "ben": "It is.", "eve": EVIL}, {"ben": "def twice(x): ..."})
    (folder / "roster.csv").write_text(ROSTER)
    hand_in_no_notebook(room, "gus")
    return room


def follow(page: Page, name: str) -> None:
    """Go to a link by keyboard."""
    page.get_by_role("link", name=name).first.press("Enter")


def test_an_answer_to_a_complaint_by_keyboard(browser: Any, tmp_path: Path) -> None:
    room = class_with_names(tmp_path)
    alarms: list[str] = []
    with served(tmp_path) as (_, url):
        page = browser.new_page()
        page.on("dialog", lambda dialog: alarms.append(dialog.message))
        page.on("pageerror", lambda error: alarms.append(str(error)))
        page.on("console", lambda told: alarms.append(told.text))
        page.goto(url)
        follow(page, "People")
        expect(page.get_by_role("heading", level=1)).to_have_text("2 of 5 learners need a word")
        page.get_by_role("button", name=re.compile("counts 0.*Gus")).press("Enter")
        expect(page.get_by_role("status")).to_be_focused()
        expect(page.get_by_role("row", name="Gus")).to_contain_text("by ann")
        follow(page, "Ben Roe")
        twice = page.get_by_role("article", name="Twice", exact=True)
        twice.get_by_label("Comment").press_sequentially("You are right.")
        page.keyboard.press("Tab")
        page.keyboard.type("2")
        page.keyboard.press("Enter")
        expect(page.get_by_role("status")).to_be_focused()
        expect(twice).to_contain_text("2 of 3")
        expect(page.locator(".history")).to_contain_text("no points by hand → 2 points")
        follow(page, "The page as Ben Roe will see it")
        expect(page.get_by_text("You are right.")).to_be_visible()
        page.go_back()
        page.get_by_role("button", name="Take this back").press("Enter")
        expect(twice).to_contain_text("waits")
        page.goto(f"{url.partition('?')[0]}learner/eve/")
        page.get_by_text("What eve wrote").first.press("Enter")
        expect(page.locator(".answer").first).to_contain_text("<script>alert(1)</script>")
        page.close()
    assert alarms == []
    assert comments_in(room, "twice")["ben"] is None and marks_in(room, "test_twice")["ben"] == (None, True)


def test_what_was_typed_and_not_kept_stays(browser: Any, tmp_path: Path) -> None:
    room = class_with_names(tmp_path)
    asked: list[str] = []
    with served(tmp_path) as (_, url):
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.on("dialog", lambda dialog: asked.append(dialog.type) or dialog.dismiss())
        page.goto(url)
        page.goto(f"{url.partition('?')[0]}learner/ben/")
        twice, plot = (page.get_by_role("article", name=name, exact=True) for name in ("Twice", "Plot it"))
        plot.get_by_label("Comment").press_sequentially("A draft.")
        twice.get_by_label("Comment").press_sequentially("x" * 200)
        twice.get_by_label("Other points").press_sequentially("99")
        page.keyboard.press("Enter")
        page.wait_for_timeout(500)
        assert asked == ["beforeunload"]
        plot.get_by_label("Comment").fill("")
        twice.get_by_role("button", name="Keep").click()
        expect(page.get_by_role("alert")).to_be_focused()
        expect(twice.get_by_label("Comment")).to_have_value("x" * 200)
        follow(page, "People")
        page.wait_for_timeout(500)
        assert asked == ["beforeunload"] * 2
        twice.get_by_label("Other points").fill("2")
        page.keyboard.press("Enter")
        expect(page.get_by_role("status")).to_be_focused()
        # A comment of one long word, such as an address, is no wider than its answer.
        page.goto(f"{url.partition('?')[0]}q/{LESSON}/twice/")
        expect(page.locator(".group.here")).to_have_count(1)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        page.close()
    assert comments_in(room, "twice")["ben"] == "x" * 200 and len(asked) == 2


def test_names_are_shown_as_the_course_says_and_lead_to_the_learner(browser: Any, tmp_path: Path) -> None:
    class_with_names(tmp_path)
    (tmp_path / "nbgrader_config.py").write_text('c = get_config()\nc.DeskSettings.names = "shown"\n')
    with served(tmp_path) as (_, url):
        page = browser.new_page()
        page.goto(url)
        follow(page, "Why twice?")
        expect(page.locator(".group .names").first).to_be_visible()
        press(page, "n", "Names are hidden")
        expect(page.locator(".group .names").first).to_be_hidden()
        press(page, "n", "Names are shown")
        follow(page, "ben")
        expect(page).to_have_url(f"{url.partition('?')[0]}learner/ben/")
        page.close()


@pytest.mark.parametrize(
    ("scheme", "width"),
    [
        ("dark", 390),
        pytest.param("light", 390, marks=pytest.mark.nightly),
        pytest.param("dark", 1280, marks=pytest.mark.nightly),
        pytest.param("light", 1280, marks=pytest.mark.nightly),
    ],
)
def test_pages_with_names_are_readable_by_everybody(browser: Any, tmp_path: Path, scheme: str, width: int) -> None:
    from axe_playwright_python.sync_playwright import Axe

    class_with_names(tmp_path)
    with served(tmp_path) as (_, url):
        context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 900}, bypass_csp=True)
        page = context.new_page()
        page.goto(url)
        for path in ("people/", "learner/ben/", "learner/eve/", f"learner/eve/page/{LESSON}"):
            page.goto(url.partition("?")[0] + path)
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path
            if "page" not in path:  # no script runs there, axe neither
                assert Axe().run(page).response["violations"] == [], path
        context.close()
