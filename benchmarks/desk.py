"""How long the teacher's desk takes for many answers to one question: ``python -m benchmarks.desk FOLDER``.

In FOLDER, if it is empty, a graded class is made first, without grading: that takes a minute or more. Measured in Chromium: from
the link to the first answer in focus, and from a key to the page's word that its mark is kept.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import time
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from tests.browser.conftest import CHROMIUM, FLAGS
from tests.browser.test_desk import served
from tests.desk.classroom import class_of

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


def main() -> int:
    """See the module's text."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.desk", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--learners", type=int, default=1_000)
    parser.add_argument("--keys", type=int, default=60)
    asked = parser.parse_args()
    if CHROMIUM is None:
        print("error: no Chromium here\n  next: apt-get install chromium", file=sys.stderr)
        return 1
    asked.folder.mkdir(exist_ok=True)
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
