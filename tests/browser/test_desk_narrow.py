"""The desk at 200 % zoom, which leaves 640 pixels of 1,280, and on a phone: nothing is cut off, nothing covers anything."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.test_desk import press, served
from tests.desk.classroom import class_of

pytest.importorskip("nbproof_desk", reason="the teacher's desk is NOT tested: nbproof-desk is not installed")
pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

ANSWERS = {
    "ada": "It adds: $\\sum_i \\frac{\\partial L}{\\partial y_i} \\frac{\\partial y_i}{\\partial x} + \\sum_j z_j$.",
    "ben": "It adds, because each use of it has a gradient of its own.",
    "cid": "It adds, because each use of it has a gradient of its own.",
    "dan": "gradient" * 40,
    "eve": "| a | b | c | d |\n|---|---|---|---|\n| something | something | something | something |",
    "fay": "```\nfor name, parameter in model.named_parameters(): print(name, parameter.grad.norm())\n```",
}
WRONG = """() => {
  const wide = document.documentElement.clientWidth;
  const inBox = (one) => one.closest(".answer, .panel, .text, #said");
  const parts = [...document.querySelectorAll("h1, h2, button, input, select, textarea, a, summary, .chip, .answer, .panel")];
  const seen = parts.filter((one) => one.checkVisibility() && one.getBoundingClientRect().width > 1);
  const place = (one) => one.getBoundingClientRect();
  const cut = seen.filter((one) => !inBox(one.parentElement) && (place(one).left < 0 || place(one).right > wide));
  const short = seen.filter((one) => one.matches("input[name=text], textarea, button") && one.scrollWidth > one.clientWidth + 1);
  const on = [];
  for (const one of seen) for (const other of seen) {
    const [a, b] = [place(one), place(other)];
    const apart = a.right <= b.left + 1 || b.right <= a.left + 1 || a.bottom <= b.top + 1 || b.bottom <= a.top + 1;
    if (one !== other && !apart && !one.contains(other) && !other.contains(one)) on.push(one);
  }
  const broken = [...document.querySelectorAll(".answer td")].filter((one) => place(one).height > 60);
  return [...cut, ...short, ...on, ...broken].map((one) => one.outerHTML.slice(0, 120));
}"""


def is_whole(page: Page) -> None:
    """All of it stands beside or below one another, and nobody has to scroll to the right."""
    assert page.evaluate("() => document.documentElement.scrollWidth - document.documentElement.clientWidth") == 0
    assert page.evaluate(WRONG) == []


@pytest.mark.parametrize(
    ("width", "height"), [(390, 844), pytest.param(640, 450, marks=pytest.mark.nightly)], ids=["phone", "zoom"]
)
def test_nothing_is_cut_off_or_covered(browser: Any, tmp_path: Path, width: int, height: int) -> None:
    class_of(tmp_path, ANSWERS, {"dan": "def twice(x):\n    return x  # " + "a" * 200})
    with served(tmp_path) as (_, url):
        page = browser.new_page(viewport={"width": width, "height": height})
        page.goto(url)
        is_whole(page)
        page.get_by_role("link", name="Why twice?").press("Enter")
        expect(page.locator(".group.here")).to_have_count(1)
        page.keyboard.type("iNames the square of x.")
        page.keyboard.press("Tab")
        page.keyboard.type("1")
        page.keyboard.press("Enter")
        expect(page.locator(".group.here .item")).to_be_visible()
        press(page, "a", "1 of 2 points")
        press(page, "n", "Names are shown")
        for key in "jjj":
            page.keyboard.type(key)
            page.keyboard.type("cSay more: this is longer than one line of the box.")
            box, said = (page.locator(one).bounding_box() for one in (".here .comment-box", "#said"))
            assert box and said
            assert box["y"] + box["height"] <= said["y"]
            page.keyboard.press("Escape")
        page.locator(".single").first.click()
        page.locator(".differs").last.click()
        expect(page.locator(".panel:visible")).to_have_count(2)
        page.keyboard.type("?")
        page.evaluate("() => document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        is_whole(page)
        page.goto(f"{url.partition('?')[0]}people/")
        is_whole(page)
        page.get_by_role("link", name="dan").first.press("Enter")
        expect(page.get_by_role("heading", level=1)).to_have_text("dan")
        is_whole(page)
