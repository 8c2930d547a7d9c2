"""Somebody who marks: formgrader's pages, with mouse and keys, and everything that a page says or does meanwhile."""

from __future__ import annotations

from dataclasses import dataclass, field

from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Lab

__all__ = ["Instructor"]

_HARMLESS = ("cdnjs.cloudflare.com/ajax/libs/mathjax",)
"""What formgrader's own pages load from elsewhere."""


@dataclass
class Instructor:
    """One browser page on a course's formgrader."""

    page: Page
    desk: Lab
    alarms: list[str] = field(default_factory=list)
    """Dialogs, script errors, and requests to anybody else: what a page must not do for a learner's sake."""

    def __post_init__(self) -> None:
        self.page.on("dialog", lambda dialog: (self.alarms.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        self.page.on("pageerror", lambda error: self._hear(str(error)))
        self.page.on("request", lambda request: self._look_at(request.url))

    def _hear(self, error: str) -> None:
        # Without a network formgrader has no MathJax, and says so after each comment.
        if "MathJax is not defined" not in error:
            self.alarms.append(f"error: {error}")

    def _look_at(self, url: str) -> None:
        if not url.startswith((self.desk.url, "data:", "blob:")) and not any(known in url for known in _HARMLESS):
            self.alarms.append(f"request: {url}")

    def come_in(self) -> None:
        """What the command opens: with the token, then formgrader's list of assignments."""
        self.page.goto(f"{self.desk.url}/?token=lab")
        expect(self.page).to_have_url(f"{self.desk.url}/formgrader/manage_assignments")

    def assignment(self, lesson: str) -> Locator:
        """Its row in the list of assignments."""
        self.page.goto(f"{self.desk.url}/formgrader/manage_assignments")
        row = self.page.locator("tr", has=self.page.get_by_role("link", name=lesson, exact=True))
        expect(row).to_be_visible()
        return row

    def rows(self, lesson: str) -> dict[str, Locator]:
        """The submissions of a lesson in formgrader's gradebook, by learner."""
        self.page.goto(f"{self.desk.url}/formgrader/gradebook/{lesson}/{lesson}")
        expect(self.page.locator("td.score").first).to_be_visible()
        self.page.get_by_role("button", name="Show All Names").click()
        found = self.page.locator("tr", has=self.page.locator("td.score"))
        return {row.locator("td.name a.name-shown").inner_text(): row for row in found.all()}

    def read(self, lesson: str, learner: str) -> Locator:
        """Open a submission; the body of its page, once marks and comments are there to be changed."""
        self.rows(lesson)[learner].locator("td.name a:visible").click()
        expect(self.page.locator("input.score").first).to_be_visible()
        self.page.wait_for_function("() => typeof grades_loaded === 'undefined' || grades_loaded")
        return self.page.locator("body")

    def mark(self, name: str, points: str, comment: str) -> None:
        """Give points and a comment for the cell with this grade_id."""
        with self.page.expect_response(lambda answer: "/api/grade/" in answer.url and answer.request.method == "PUT"):
            self.page.locator(f"input#{name}").fill(points)
            self.page.locator(f"input#{name}").press("Tab")
        with self.page.expect_response(lambda answer: "/api/comment/" in answer.url and answer.request.method == "PUT"):
            self.page.locator(f"textarea#{name}-comment").fill(comment)
            self.page.locator(f"textarea#{name}-comment").press("Tab")
            self.page.locator("body").click(position={"x": 5, "y": 300})

    def generate_feedback(self, lesson: str) -> str:
        """Press the button; what formgrader says."""
        self.assignment(lesson).locator(".generate-feedback a").click()
        dialog = self.page.locator(".modal-dialog")
        # `expect` would describe the whole page at each look; nbgrader takes seconds.
        dialog.get_by_text("eedback").first.wait_for(timeout=60_000)
        expect(dialog.locator(".modal-title")).to_have_text("Success", timeout=60_000)
        return dialog.inner_text()
