"""The pictures that README and docs show, taken in a real JupyterLab: ``python -m tests.browser.portraits``.

The class report is that of a class: ``python -m tests.browser.portraits --report demo/report/index.html`` takes its first
part. ``--desk`` takes a question at the teacher's desk.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Locator, Page, sync_playwright

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
ASKED = {
    "Say why: $x^2$.": "`loss.backward()` runs twice, and nobody calls `zero_grad()`. What is in `weight.grad`, and why?",
    "MODEL-ANSWER": "The sum of both gradients: each backward **adds** to what `.grad` has. Only `zero_grad()` takes it away.",
    "MARK-SCHEME": "1 point: the sum.\\n- 1 point: `backward` adds.",
}
SAID = {
    "The sum of both gradients, because each backward **adds** to `.grad`.": 9,
    "The sum of both gradients, $g_1 + g_2$.": 4,
    "The sum of both gradients, because nobody has called `zero_grad()`.": 3,
    "The gradient of the second backward.": 2,
}
"""Answer -> how many learners gave it."""


def take_desk(page: Page, folder: Path) -> None:
    """A question whose first answers are marked by a rubric, with a difference."""
    from tests.browser.test_desk import served
    from tests.desk.classroom import class_of

    texts = [text for text, times in SAID.items() for _ in range(times)]
    source = class_of(folder, {f"learner{number:02}": text for number, text in enumerate(texts)}).source()
    asked = source.read_text(encoding="utf-8")
    for old, new in ASKED.items():
        asked = asked.replace(old, new)
    source.write_text(asked, encoding="utf-8")
    with served(folder) as (_, url):
        page.goto(url)
        page.get_by_role("link", name="Why twice?").click()
        for text in ("Says that it is the sum.", "Says that backward adds."):
            page.keyboard.press("i")
            page.keyboard.type(text)
            page.keyboard.press("Tab")
            page.keyboard.type("1")
            page.keyboard.press("Enter")
            page.locator(".group.here .item", has_text=text).wait_for()
        for key in ("a", "b", "j", "a", "j"):
            page.keyboard.press(key)
            page.wait_for_timeout(500)
        page.keyboard.press("-")
        page.locator(".panel:visible").wait_for()
        page.evaluate("() => scrollTo(0, 0)")
        page.wait_for_timeout(500)
        page.screenshot(path=OUT / "desk.png")


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
    parser.add_argument("--desk", action="store_true", help="only the desk")
    asked = parser.parse_args()
    if CHROMIUM is None:
        print("error: no Chromium here\n  next: apt-get install chromium", file=sys.stderr)
        return 1
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        if asked.desk:
            context = chromium.new_context(viewport={"width": 1180, "height": 1080}, device_scale_factor=1.5)
            with tempfile.TemporaryDirectory() as name:
                take_desk(context.new_page(), Path(name))
            return 0
        if asked.report:
            window = chromium.new_page(viewport={"width": 1100, "height": 1560})
            window.goto(asked.report.resolve().as_uri())
            window.screenshot(path=OUT / "class_report.png")
            return 0
        with tempfile.TemporaryDirectory() as name, running_lab(Path(name)) as lab:
            context = chromium.new_context(viewport={"width": 1180, "height": 1280}, device_scale_factor=1.5)
            take(Learner(context.new_page(), lab))
    return 0


if __name__ == "__main__":
    sys.exit(main())
