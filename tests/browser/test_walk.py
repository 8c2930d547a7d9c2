"""Each lesson walked through in JupyterLab, twice: by somebody who gets every exercise wrong, then by somebody who follows
it.

``HOOKS_WALK_PICTURES=FOLDER`` keeps a picture of every exercise with its panel, light and dark, and of the whole lesson as
VS Code shows it, and says how long the learner waited.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from playwright.sync_api import expect

from tests import SLUGS, the_lesson
from tests.browser.conftest import Lab
from tests.browser.people import Learner, a_wrong_answer
from tests.browser.test_places import EMPTY, INK, LOOKS, OUTPUTS

pytestmark = [pytest.mark.browser, pytest.mark.nightly, pytest.mark.filterwarnings("ignore")]

PANEL = "[role=status]"
DESK = {"width": 1280, "height": 900}


@pytest.fixture
def learner(browser: Any, lab: Lab) -> Iterator[Learner]:
    """A new browser window, and whoever sits in front of it."""
    context = browser.new_context(viewport=DESK)
    yield Learner(context.new_page(), lab)
    context.close()


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    """Where pictures go."""
    folder = Path(os.environ.get("HOOKS_WALK_PICTURES") or tmp_path)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _in_theme(learner: Learner, theme: str) -> None:
    learner.page.evaluate(f"() => window.jupyterapp.commands.execute('apputils:change-theme', {{theme: '{theme}'}})")
    light = str("Light" in theme).lower()
    expect(learner.page.locator(f"body[data-jp-theme-light={light}]")).to_be_attached()


def _faint(where: Any, selector: str) -> set[tuple[str, float]]:
    """What cannot be read well there. A mark beside a sentence that says the same is a picture: 3 is enough for it."""
    seen = where.eval_on_selector_all(selector, INK)
    return {(one["text"], round(one["ratio"], 2)) for one in seen if one["ratio"] < (4.5 if one["word"] else 3)}


@pytest.mark.parametrize("slug", SLUGS)
def test_every_exercise_can_be_failed_and_followed(
    learner: Learner, slug: str, pictures: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lesson = the_lesson(slug)
    wrong = {exercise.id: a_wrong_answer(lesson, exercise) for exercise in lesson.exercises}
    learner.open(slug)
    began = time.monotonic()
    learner.run_all()
    opened = time.monotonic() - began

    # Wrong everywhere: each panel names the misconception, and no exercise takes another one down with it.
    for exercise in lesson.exercises:
        learner.type_into(exercise.id, wrong[exercise.id][0])
    learner.run_all()
    learner.has_run_all()
    for theme in ("JupyterLab Light", "JupyterLab Dark"):
        _in_theme(learner, theme)
        for exercise in lesson.exercises:
            for test in exercise.tests[:1]:
                panel = learner.go_to(test.grade_id).locator(PANEL)
                expect(panel).to_contain_text(f"Looks like {wrong[exercise.id][1].replace('`', '')}.")
                shot = pictures / f"{slug}_{exercise.id}_{theme.split()[1].lower()}.png"
                learner.page.screenshot(path=shot)
                faint = _faint(learner.page, f".jp-mod-active {PANEL}")
                assert faint == set(), (exercise.id, theme)
    _as_vs_code_shows_it(learner, pictures / slug)
    _in_theme(learner, "JupyterLab Light")

    # Then as the lesson goes: from the top to the next exercise, the answer, its check.
    learner.restart()
    waits = {}
    for exercise in lesson.exercises:
        began = time.monotonic()
        learner.run_up_to(exercise.id)
        learner.type_into(exercise.id, exercise.candidates[0].source)
        learner.run(exercise.id)
        for test in exercise.tests:
            expect(learner.run(test.grade_id).locator(PANEL)).to_contain_text("passed")
        waits[exercise.id] = round(time.monotonic() - began, 1)
    began = time.monotonic()
    learner.restart()
    learner.run_all()
    again = time.monotonic() - began
    for exercise in lesson.exercises:
        for test in exercise.tests:
            expect(learner.go_to(test.grade_id).locator(PANEL)).to_contain_text("passed")
    with capsys.disabled():
        print(f"\n{slug}: first Run All {opened:.1f} s, of the solved lesson {again:.1f} s; up to each check {waits}")


def _as_vs_code_shows_it(learner: Learner, stem: Path) -> None:
    """What was saved, with outputs, drawn as VS Code does it: nothing folded, its own colours, no variable of Jupyter's."""
    notebook = nbformat.reads(json.dumps(learner.saved()), as_version=4)
    for place in ("VS Code, dark", "VS Code, light"):
        window = learner.page.context.new_page()
        window.set_content(LOOKS[place](notebook))
        assert window.eval_on_selector_all(OUTPUTS, EMPTY) == []
        assert window.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        window.screenshot(path=f"{stem}_vs_code_{place.split()[-1]}.png", full_page=True)
        assert _faint(window, OUTPUTS) == set(), place
        window.close()
