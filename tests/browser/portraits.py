"""The pictures that README and docs show, taken in a real JupyterLab: ``python -m tests.browser.portraits``.

The class report is that of a class: ``python -m tests.browser.portraits --report demo/report/index.html`` takes its first
part.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Locator, sync_playwright

from nbproof.lesson.from_text import read_lesson
from tests import COURSE
from tests.browser.conftest import CHROMIUM, FLAGS, ROOT, running_lab
from tests.browser.people import Learner

OUT = ROOT / "docs" / "pictures"
LESSON, EXERCISE = "02_tensor_hooks", "double_grad"
WRONG = """def func(grad):
    grad = grad * 2
"""
TIMELINE = (
    "from course.pictures.timeline import draw_hook_timeline\n"
    "draw_hook_timeline(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)), torch.randn(3, 4, requires_grad=True))"
)


def take(learner: Learner) -> None:
    """A wrong answer with its panel and a hint; the overview; a timeline."""
    lesson = read_lesson(COURSE, ROOT / "lessons" / LESSON)
    exercise = lesson.exercise(EXERCISE)
    test = exercise.tests[0].grade_id
    learner.open(LESSON)
    learner.run_up_to(EXERCISE)
    for other in lesson.exercises[: lesson.exercises.index(exercise)]:
        learner.type_into(other.id, other.candidates[0].source)
        learner.run(other.id)
        learner.run(other.tests[0].grade_id)
    learner.type_into(EXERCISE, WRONG)
    learner.run(EXERCISE)
    learner.run(test)
    learner.keep_in_a_new_cell("hint()", times=2)
    learner.go_to(EXERCISE)
    learner.page.wait_for_timeout(500)
    _shot(learner, learner.page.locator(".jp-NotebookPanel:not(.lm-mod-hidden)"), "wrong_answer")
    learner.type_into(EXERCISE, exercise.candidates[0].source)
    learner.run(EXERCISE)
    learner.run(test)
    _shot(learner, learner.keep_in_a_new_cell("progress()").locator("[role=region]"), "progress")
    _shot(learner, learner.keep_in_a_new_cell(TIMELINE).locator("img").first, "timeline")


def _shot(learner: Learner, what: Locator, name: str) -> None:
    learner.page.wait_for_timeout(300)
    what.screenshot(path=OUT / f"{name}.png")
    print(f"wrote {(OUT / name).relative_to(ROOT)}.png")


def main() -> int:
    """See the module's text."""
    parser = argparse.ArgumentParser(prog="python -m tests.browser.portraits", description=__doc__)
    parser.add_argument("--report", type=Path, metavar="PAGE", help="only the class report, of this page")
    page = parser.parse_args().report
    if CHROMIUM is None:
        print("error: no Chromium here\n  next: apt-get install chromium", file=sys.stderr)
        return 1
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        if page:
            window = chromium.new_page(viewport={"width": 1100, "height": 1560})
            window.goto(page.resolve().as_uri())
            window.screenshot(path=OUT / "class_report.png")
            return 0
        with tempfile.TemporaryDirectory() as name, running_lab(Path(name)) as lab:
            context = chromium.new_context(viewport={"width": 1180, "height": 1280}, device_scale_factor=1.5)
            take(Learner(context.new_page(), lab))
    return 0


if __name__ == "__main__":
    sys.exit(main())
