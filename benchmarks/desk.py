"""How long the teacher's desk takes for many answers to one question: ``python -m benchmarks.desk FOLDER``.

In FOLDER, if it is empty, a graded class is made first, without grading: that takes a minute or more. Measured in Chromium: from
the link to the first answer in focus, and from a key to the page's word that its mark is kept.

With --formgrader, 60 answers are marked twice instead, in two classes in FOLDER, which must be empty: in formgrader, and at the
desk. Each answer gets points, and every third one of four comments. Both gradebooks must have these marks in the end. Keys,
clicks and page loads are counted. The keystroke-level model makes a time of them: 0.2 s a key (Ctrl is one, too), 1.3 s to point
and click, 1.35 s to decide, and the time in which the page shows no new answer. Reading takes as long in both, and is left out.
In formgrader each answer is reached by Ctrl+. from the box for points, and its comment by Tab: nothing there is faster.
``comments pasted`` is reckoned: a comment that was typed before is copied from a list in another window.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import nbformat
from playwright.sync_api import Browser, Locator, Page, sync_playwright

from nbproof.authoring.simulate import hand_in
from nbproof.testing import Rehearsal
from tests import ROOT
from tests.browser.conftest import CHROMIUM, FLAGS, Lab, running
from tests.browser.test_desk import served
from tests.desk.classroom import LESSON, class_of, comments_in, marks_in

WORDS = (
    "gradient",
    "hook",
    "module",
    "optimizer",
    "twice",
    "because",
    "backward",
    "adds",
    "registered",
    "layer",
    "graph",
)
_FROM_KEY = """() => new Promise(done => {
  const said = document.getElementById("said");
  const began = performance.now();
  new MutationObserver((_, watch) => {
    if (said.textContent) { watch.disconnect(); done(performance.now() - began); }
  }).observe(said, { childList: true });
  document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: "1", bubbles: true }));
})"""


def make(folder: Path, learners: int) -> None:
    """A class in which everybody says something else."""
    draw = random.Random(1)
    texts = {}
    for number in range(learners):
        start = "The gradient is $x^2$, **because** `loss.backward()` adds: " * (number % 2)
        texts[f"learner{number:05}"] = f"{start}{' '.join(draw.choices(WORDS, k=40))} {number}"
    class_of(folder, texts)


def measure(page: Page, url: str, keys: int) -> tuple[float, list[float]]:
    """Seconds to the question's page, and milliseconds of each key."""
    page.goto(url)
    link = page.get_by_role("link", name="Why twice?")
    link.wait_for()
    began = time.perf_counter()
    link.click()
    page.locator(".group.here").wait_for()
    seconds = time.perf_counter() - began
    took = []
    for _ in range(keys):
        took.append(float(page.evaluate(_FROM_KEY)))
        page.wait_for_timeout(50)
    return seconds, took


KEY, CLICK, DECISION = 0.2, 1.3, 1.35
"""Seconds of the keystroke-level model (Card, Moran and Newell, 1980)."""
PASTE_KEYS, PASTE_CLICKS = 8, 1
"""A comment from a list in another window: Alt+Tab, a click on its line, Ctrl+C, Alt+Tab, Ctrl+V."""
COMMENTS = (
    "Right, but say why autograd adds and does not replace.",
    "The hook is called once for each use of the module.",
    "What does the optimizer do in between?",
    "Not the weight, its gradient. See the second picture.",
)


@dataclass(frozen=True)
class Wanted:
    """What an answer is to get."""

    points: int
    comment: str | None


@dataclass
class Tally:
    """What the hands of somebody who marks do, and how long the eyes have nothing to read."""

    keys: int = 0
    clicks: int = 0
    loads: int = 0
    decisions: int = 0
    waited: float = 0.0

    @property
    def seconds(self) -> float:
        """By the model."""
        return self.keys * KEY + self.clicks * CLICK + self.decisions * DECISION + self.waited

    def told(self, name: str) -> str:
        """A line of the table."""
        counts = f"{self.keys:>6}{self.clicks:>8}{self.loads:>12}{self.decisions:>11}"
        return f"{name:<28}{counts}{self.waited:>12.1f}{self.seconds:>9.1f}"


class Marker:
    """Somebody who marks at a page."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.tally = Tally()
        page.on("load", self._count_load)

    def _count_load(self, _: Page) -> None:
        self.tally.loads += 1

    def press(self, key: str) -> None:
        """One key, or some at once, such as ``Control+.``."""
        self.page.keyboard.press(key)
        self.tally.keys += len(key.split("+"))

    def write(self, text: str) -> None:
        """A key for each character; those for capital letters are not counted."""
        self.page.keyboard.type(text)
        self.tally.keys += len(text)

    def click(self, what: Locator) -> None:
        """Point at it, and click."""
        what.click()
        self.tally.clicks += 1

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """The marker has nothing to read until the block ends."""
        began = time.perf_counter()
        yield
        self.tally.waited += time.perf_counter() - began


def sixty(alike: int) -> tuple[dict[str, str], dict[str, Wanted]]:
    """Learner -> answer; answer -> what it is to get. So many learners each say the same."""
    answers = {f"learner{number:02}": f"Reason {number // alike} is the reason." for number in range(60)}
    wanted = {}
    for place, text in enumerate(dict.fromkeys(answers.values())):
        comment = COMMENTS[place // 3 % len(COMMENTS)] if place % 3 == 0 else None
        wanted[text] = Wanted(place % 3, comment)
    return answers, wanted


def at_the_desk(marker: Marker, url: str, wanted: dict[str, Wanted]) -> None:
    """From *What waits* until none waits. A comment is typed once, and chosen from then on."""
    page = marker.page
    typed = set()
    page.goto(url)
    with marker.waiting():
        marker.click(page.get_by_role("link", name="Why twice?"))
        page.locator(".group.here").wait_for()
    while here := page.evaluate("() => document.querySelector('.group.here')?.id"):
        one = wanted[page.locator(".group.here .answer").inner_text().strip()]
        marker.tally.decisions += 1
        if one.comment is not None:
            marker.tally.decisions += 1
            if one.comment in typed:
                marker.press("v")
                marker.write(one.comment[0])
                marker.press("Enter")
            else:
                marker.press("c")
                marker.write(one.comment)
                marker.press("Escape")
            typed.add(one.comment)
        with marker.waiting():
            marker.press(str(one.points))
            page.wait_for_function("(id) => document.querySelector('.group.here')?.id !== id", arg=here)
    with marker.waiting():
        page.get_by_text(". 0 wait.").wait_for()


_SAME_BOX = "() => document.activeElement?.id === 'why'"
_LOADED = "() => formgrader.loaded && formgrader.grades.loaded && formgrader.comments.loaded"
_UNSEEN = "(old) => window.submission_id !== old && document.querySelector('#why, #toggle_names')"


def in_formgrader(marker: Marker, lab: Lab, wanted: dict[str, Wanted]) -> list[str]:
    """From the list of assignments until none waits. Returns the comments that had been typed before, each time."""
    page = marker.page
    typed = set()
    again = []
    page.goto(f"{lab.url}/?token=lab")
    page.get_by_role("link", name=LESSON, exact=True).wait_for()
    with marker.waiting():
        marker.click(page.get_by_role("link", name="Manual Grading"))
        marker.click(page.get_by_role("link", name=LESSON, exact=True))
        marker.click(page.get_by_role("link", name=LESSON, exact=True).last)
        marker.click(page.locator("td.name a:visible").first)
        page.locator("#why").wait_for()
    page.wait_for_function(_LOADED)
    while not page.evaluate(_SAME_BOX):
        marker.press("Tab")
    while page.locator("#why").count():
        page.wait_for_function(_LOADED)
        page.wait_for_function(_SAME_BOX)
        cell = page.locator(".nbgrader_cell", has=page.locator("#why"))
        one = wanted[cell.locator(".rendered_html").inner_text().strip().splitlines()[0]]
        marker.tally.decisions += 1
        marker.write(str(one.points))
        if one.comment is not None:
            marker.tally.decisions += 1
            if one.comment in typed:
                again.append(one.comment)
            with page.expect_response(lambda answer: answer.request.method == "PUT"):
                marker.press("Tab")
            marker.press("Tab")
            marker.write(one.comment)
            typed.add(one.comment)
        old = page.evaluate("() => submission_id")
        with marker.waiting():
            marker.press("Control+.")
            page.wait_for_function(_UNSEEN, arg=old)
    return again


def class_to_mark(folder: Path, answers: dict[str, str]) -> Rehearsal:
    """A class with graded notebooks, as formgrader needs them, and this course's own configuration."""
    folder.mkdir()
    room = class_of(folder, answers)
    config = (ROOT / "nbgrader_config.py").read_text(encoding="utf-8")
    (folder / "nbgrader_config.py").write_text(f'{config}c.CourseDirectory.course_id = "course"\n', encoding="utf-8")
    for learner, text in answers.items():
        path = room.autograded(learner)
        path.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(hand_in(room.source(), {"why": text}), path)
    return room


def compare(chromium: Browser, folder: Path, alike: int) -> bool:
    """Mark the same answers in both ways, and print what that took; whether both gradebooks have what was wanted."""
    answers, wanted = sixty(alike)
    there, here = (class_to_mark(folder / name, answers) for name in ("formgrader", "desk"))
    with running(there.root, "formgrader") as lab:
        marker = Marker(chromium.new_page())
        again = in_formgrader(marker, lab, wanted)
    typed = marker.tally
    times = len(again)
    pasted = replace(
        typed,
        keys=typed.keys - sum(map(len, again)) + PASTE_KEYS * times,
        clicks=typed.clicks + PASTE_CLICKS * times,
    )
    with served(here.root) as (_, url):
        marker = Marker(chromium.new_page())
        at_the_desk(marker, url, wanted)
    desk = marker.tally
    print(f"{len(answers)} answers, {len(wanted)} of them different")
    print(f"{'':<28}  keys  clicks  page loads  decisions  waiting, s  time, s")
    print(typed.told("formgrader"))
    print(pasted.told("formgrader, comments pasted"))
    print(desk.told("desk"))
    for name, other in (("formgrader", typed), ("formgrader, comments pasted", pasted)):
        hands = (desk.keys + desk.clicks) / (other.keys + other.clicks)
        whole = desk.seconds / other.seconds
        own = (desk.seconds - desk.waited) / (other.seconds - other.waited)
        print(f"desk / {name}: keys and clicks {hands:.2f}, time {whole:.2f}, without waiting {own:.2f}")
    wrong = [*not_held(there, answers, wanted), *not_held(here, answers, wanted)]
    print("\n".join(wrong) or "both gradebooks have the wanted marks and comments")
    return not wrong


def not_held(room: Rehearsal, answers: dict[str, str], wanted: dict[str, Wanted]) -> list[str]:
    """What the gradebook has otherwise than wanted, in words."""
    marks = marks_in(room, "why")
    comments = comments_in(room, "why")
    wrong = []
    for learner, text in answers.items():
        one = wanted[text]
        if (marks[learner], comments[learner]) != ((one.points, False), one.comment):
            wrong.append(f"{room.root.name}, {learner}: {marks[learner]}, {comments[learner]}, and not {one}")
    return wrong


def main() -> int:
    """See the module's text."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.desk", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--learners", type=int, default=1_000)
    parser.add_argument("--keys", type=int, default=60)
    parser.add_argument("--formgrader", action="store_true", help="compare marking there and at the desk")
    parser.add_argument(
        "--alike", type=int, default=1, help="with --formgrader: so many learners say the same each time"
    )
    asked = parser.parse_args()
    if CHROMIUM is None:
        print("error: no Chromium here\n  next: apt-get install chromium", file=sys.stderr)
        return 1
    asked.folder.mkdir(exist_ok=True)
    if asked.formgrader:
        with sync_playwright() as playwright:
            chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
            return 0 if compare(chromium, asked.folder, asked.alike) else 1
    if not any(asked.folder.iterdir()):
        make(asked.folder, asked.learners)
    began = time.perf_counter()
    with served(asked.folder) as (_, url), sync_playwright() as playwright:
        started = time.perf_counter() - began
        page = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS).new_page()
        seconds, took = measure(page, url, asked.keys)
    worst = statistics.quantiles(took, n=20)[-1]
    print(
        f"start {started:.1f} s, page {seconds:.2f} s, a key {statistics.median(took):.0f} ms, 19 of 20 within {worst:.0f} ms"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
