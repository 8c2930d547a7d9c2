"""The first five minutes in JupyterLab, as a learner has them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from course.authoring.lesson import find_lessons, read_lesson

ROOT = Path(__file__).parent.parent.parent
FIRST = read_lesson(find_lessons(ROOT)[0])

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


@pytest.fixture
def page(browser, lab):  # type: ignore[no-untyped-def]
    """The address that `make lab` opens."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.goto(f"{lab.url}/?token=lab")
    yield page
    context.close()


def _ready(page: Page) -> None:
    expect(page.locator(".jp-Notebook .jp-Cell:visible").first).to_be_visible(timeout=60_000)
    expect(page.get_by_text(re.compile(r"Python 3 \(ipykernel\) \| Idle"))).to_be_visible(timeout=60_000)


def test_the_first_lesson_opens_runs_and_validates(page: Page, lab) -> None:  # type: ignore[no-untyped-def]
    _ready(page)
    expect(page.locator(".jp-mod-current[role=tab]").filter(has_text=FIRST.slug)).to_be_visible()
    expect(page.locator(".jp-Notebook h1:visible").first).to_be_visible()

    # Nothing in the way: no news, no update, no word about an exchange folder.
    page.wait_for_timeout(2_000)
    assert page.locator(".jp-toast, .Toastify__toast").count() == 0
    assert page.locator(".jp-Dialog").count() == 0
    assert "exchange directory" not in page.locator("body").inner_text().lower()

    # Run All reaches the first check, which fails kindly: a panel, and no traceback of the checker's insides.
    page.get_by_text("Run", exact=True).first.click()
    page.get_by_text("Run All Cells", exact=True).click()
    panel = page.locator(".jp-OutputArea [role=status]").first
    expect(panel).to_contain_text("not yet", timeout=60_000)
    expect(panel).to_contain_text(FIRST.exercises[0].id)
    assert "Traceback" not in page.locator(".jp-Notebook").inner_text()

    # Validate saves, runs the notebook as a grader would, and tells what failed.
    page.get_by_role("button", name="Validate").click()
    dialog = page.locator(".jp-Dialog")
    expect(dialog).to_contain_text("failed", timeout=120_000)
    expect(dialog).to_contain_text("CheckFailed")
