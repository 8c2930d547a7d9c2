"""Each lesson in JupyterLab, as a learner goes through it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from nbproof.display.diary import entries
from tests import COURSE, SLUGS, some_by_day, the_lesson
from tests.browser.conftest import Lab
from tests.browser.people import Learner, a_wrong_answer

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


@pytest.fixture
def learner(browser, lab: Lab) -> Iterator[Learner]:  # type: ignore[no-untyped-def]
    """A new browser window, and whoever sits in front of it."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    yield Learner(context.new_page(), lab)
    context.close()


def test_the_first_start_has_nothing_in_the_way(learner: Learner) -> None:
    page, first = learner.page, SLUGS[0]
    page.goto(f"{learner.lab.url}/?token=lab")  # the address that `make lab` opens
    assert "\n[I " not in (learner.lab.course / "lab.log").read_text(), "the address is not the last line"
    learner.is_ready()
    expect(page.locator(".jp-mod-current[role=tab]").filter(has_text=first)).to_be_visible()
    expect(page.locator(".jp-Notebook h1:visible").first).to_be_visible()
    # No news, no update, no word about an exchange folder.
    page.wait_for_timeout(2_000)
    assert page.locator(".jp-toast, .Toastify__toast").count() == 0
    assert page.locator(".jp-Dialog").count() == 0
    assert "exchange directory" not in page.locator("body").inner_text().lower()


@pytest.mark.parametrize("slug", some_by_day(SLUGS, 7))
def test_a_learner_goes_through_the_lesson(learner: Learner, slug: str, monkeypatch: pytest.MonkeyPatch) -> None:
    lesson = the_lesson(slug)
    exercise = lesson.exercises[0]
    test = exercise.tests[0].grade_id
    monkeypatch.setenv("COURSE_PROGRESS", str(learner.lab.course / "progress.db"))
    learner.open(lesson.slug)

    # Run All goes to the end: each check says one friendly sentence about a TODO cell that nobody has touched.
    learner.run_all()
    panel = learner.go_to(test).locator("[role=status]")
    expect(panel).to_contain_text(f"{exercise.id} is still as you got it.")
    for cell in learner.saved()["cells"]:
        tagged = "raises-exception" in cell["metadata"].get("tags", [])  # it shows a tool that is not there yet
        for output in cell.get("outputs", []):
            assert tagged or output["output_type"] != "error", (cell["source"], output)
            assert output.get("name") != "stderr", (cell["source"], output)
        assert cell["cell_type"] != "code" or not "".join(cell["source"]) or cell["execution_count"], cell["source"]
    assert exercise.id not in entries(COURSE), "Run All on untouched cells is no try"
    assert "Nbgrader" not in learner.page.locator(".lm-MenuBar-itemLabel").all_inner_texts()
    assert learner.page.locator("[title='Create Assignment']").count() == 0

    # Wrong: the panel names the misconception, Run All goes on; help comes step by step.
    answer, misconception = a_wrong_answer(lesson, exercise)
    learner.type_into(exercise.id, answer)
    learner.run_all()
    panel = learner.go_to(test).locator("[role=status]")
    expect(panel).to_contain_text(f"Looks like {misconception.replace('`', '')}.")
    said = learner.in_a_new_cell("hint()", times=3)
    assert [f"{step} of 3" in text for step, text in enumerate(said, 1)] == [True] * 3
    assert "2 of 3" not in said[0]

    # The right one passes; run twice, nothing stacks up.
    learner.type_into(exercise.id, exercise.candidates[0].source)
    learner.run(exercise.id)
    learner.run(exercise.id)
    expect(learner.run(test).locator("[role=status]")).to_contain_text("passed")
    assert entries(COURSE)[exercise.id].solved is not None
    assert f"✓ {exercise.id}" in learner.in_a_new_cell("progress()")[0]

    # Validate tells of the exercises that are open, and of no other.
    validated = learner.validate()
    assert "CheckFailed" in validated or len(lesson.exercises) == 1
    assert f'check("{exercise.id}"' not in validated
