"""Groups at the desk, by keys and by mouse: how they differ, and one answer taken out of its group and put back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.test_desk import EVIL, opened, points_in, press, served
from tests.desk.classroom import class_of, comments_in

pytest.importorskip("nbproof_desk", reason="the teacher's desk is NOT tested: nbproof-desk is not installed")
pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
ANSWERS = {
    "learnera": "It adds up.",
    "learnerb": "it adds up",
    "learnerc": "It adds  up!",
    "learnerd": "It adds it up twice.",
    "learnere": EVIL,
}


def heads(page: Page) -> list[str]:
    """The headings of the groups."""
    return page.locator(".group h2").all_inner_texts()


def test_a_difference_is_shown_and_hidden_by_a_key_and_a_button(browser: Any, tmp_path: Path) -> None:
    class_of(tmp_path, ANSWERS)
    with served(tmp_path) as (_, url), opened(browser, url, "Why twice?") as page:
        press(page, "-", "No answer stands above")
        page.keyboard.press("j")
        press(page, "-", "words and signs added: 2, taken away: 0.")
        here = page.locator(".group.here")
        told = [" ".join(one.split()) for one in here.locator("ins").all_inner_texts()]
        assert told == ["added: it (end of added)", "added: twice (end of added)"]
        # It is marked by a sign and a line, not by colour alone.
        style = """(one) => getComputedStyle(one, "::before").content + getComputedStyle(one).textDecorationLine"""
        assert here.locator("ins").first.evaluate(style) == '"+"underline'
        button = here.get_by_role("button", name="Difference")
        expect(button).to_have_attribute("aria-expanded", "true")
        press(page, "Escape", "Hidden")
        expect(here.locator(".panel")).to_be_hidden()
        button.click()
        expect(here.locator(".panel")).to_be_visible()
        press(page, "-", "Hidden")
        # What learners wrote is text here, too.
        page.keyboard.press("j")
        press(page, "-", "added")
        expect(here.locator(".panel")).to_contain_text("<script>alert(1)</script>")
        # It stays while one gives items of a rubric, and is no reason to lose a draft.
        page.keyboard.type("cMine")
        press(page, "Control+Enter", "Comment kept")
        expect(here.locator(".panel")).to_be_visible()


def test_one_answer_is_taken_out_marked_alone_and_put_back(browser: Any, tmp_path: Path) -> None:
    room = class_of(tmp_path, ANSWERS)
    with served(tmp_path) as (_, url), opened(browser, url, "Why twice?") as page:
        assert heads(page) == ["3 answers that say the same", "1 answer", "1 answer"]
        page.keyboard.type("cA draft")
        page.keyboard.press("Escape")
        press(page, ",", "3 answers, one by one")
        # By keyboard: the first one has the focus, the others follow.
        expect(page.get_by_role("button", name="Take out answer 1")).to_be_focused()
        press(page, "n", "Names are shown")
        assert page.locator(".who").all_inner_texts() == ["learnera", "learnerb", "learnerc"]
        press(page, "n", "Names are hidden")
        page.keyboard.press("Tab")
        press(page, "Enter", "Taken out")
        assert heads(page) == [
            "2 answers that say the same",
            "1 answer, taken out of its group",
            "1 answer",
            "1 answer",
        ]
        expect(page.locator("#waiting")).to_have_text("5")
        # It has the focus; what was typed for its group stays there.
        press(page, "0", "4 wait")
        assert page.locator(".comment-box").first.input_value() == "A draft"
        page.locator(".group").first.get_by_role("button", name="2", exact=True).click()
        expect(page.get_by_role("status")).to_contain_text("2 wait")
        assert points_in(room)[:3] == [2.0, 0.0, 2.0]
        assert comments_in(room, "why")["learnerb"] is None

        # Another marker sees it.
        with opened(browser, url.partition("?")[0], "Why twice?", page.context) as other:
            assert "1 answer, taken out of its group" in heads(other)
        page.get_by_role("button", name="Put back").click()
        expect(page.get_by_role("status")).to_contain_text("Put back")
        assert heads(page) == ["3 answers that say the same", "1 answer", "1 answer"]
        expect(page.locator(".group").first).to_contain_text("marks differ")
        # Both steps are undone like marks.
        press(page, "u", "Undone. 2 wait")
        assert len(heads(page)) == 4
        expect(page.locator(".group.here h2")).to_have_text("1 answer, taken out of its group")
        press(page, ",", "Put back")
        expect(page.locator(".group.here h2")).to_have_text("3 answers that say the same")
        press(page, "1", "2 wait")
    assert points_in(room) == [1.0, 1.0, 1.0, None, None]


def test_an_answer_that_somebody_else_has_taken_out_is_shown_alone(browser: Any, tmp_path: Path) -> None:
    room = class_of(tmp_path, ANSWERS)
    with served(tmp_path) as (_, url), opened(browser, url, "Why twice?") as page:
        with opened(browser, url.partition("?")[0], "Why twice?", page.context) as other:
            press(other, ",", "one by one")
            press(other, "Enter", "Taken out")
        press(page, "2", "Not kept: somebody else")
        assert heads(page)[:2] == ["2 answers that say the same", "1 answer, taken out of its group"]
        assert points_in(room) == [None] * 5
        page.locator(".group").first.locator(".points-button").last.click()
        expect(page.get_by_role("status")).to_contain_text("3 wait")
    assert points_in(room) == [None, 2.0, 2.0, None, None]
