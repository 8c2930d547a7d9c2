"""Somebody of a class on a hub, in a browser window of their own: logs in, fetches, hands in, reads what comes back."""

from __future__ import annotations

from dataclasses import dataclass

from playwright.sync_api import Page, expect

from tests.browser.conftest import Lab
from tests.browser.people import Instructor, Learner
from tests.hub.machine import PASSWORD, Hub

__all__ = ["Member"]

_SPAWN_MS = 180_000


@dataclass
class Member:
    """One browser page, and whose it is."""

    page: Page
    hub: Hub
    name: str

    @property
    def base(self) -> str:
        """Of this user's own server."""
        return f"{self.hub.url}/user/{self.name}"

    def log_in(self) -> None:
        """Name, password, and a JupyterLab of one's own."""
        self.page.goto(f"{self.hub.url}/hub/login")
        self.page.fill("#username_input", self.name)
        self.page.fill("#password_input", PASSWORD)
        self.page.click("#login_submit")
        self.page.wait_for_url("**/user/*/lab**", timeout=_SPAWN_MS)
        self.page.locator(".lm-MenuBar-itemLabel", has_text="Nbgrader").wait_for(timeout=_SPAWN_MS)

    def assignments(self) -> None:
        """Nbgrader > Assignment List, in JupyterLab, asked anew."""
        self.page.goto(f"{self.base}/lab/workspaces/list")
        self.page.locator(".lm-MenuBar-itemLabel").get_by_text("Nbgrader", exact=True).click(timeout=60_000)
        self.page.locator(".lm-Menu-itemLabel").get_by_text("Assignment List", exact=True).click()
        expect(self.page.get_by_text("Downloaded assignments", exact=True)).to_be_visible()

    def fetch(self, lesson: str) -> None:
        """The button in the list's first part."""
        self.assignments()
        row = self.page.locator("#released_assignments_list .list_item", has_text=lesson)
        row.get_by_role("button", name="Fetch", exact=True).click()
        expect(self.page.locator("#fetched_assignments_list .list_item", has_text=lesson).first).to_be_visible()

    def submit(self, lesson: str) -> None:
        """The button in the list's second part."""
        self.assignments()
        row = self.page.locator("#fetched_assignments_list > .list_item", has_text=lesson)
        row.get_by_role("button", name="Submit", exact=True).click()
        expect(self.page.locator("#submitted_assignments_list > .list_item", has_text=lesson).first).to_be_visible()

    def fetch_feedback(self, lesson: str) -> str:
        """The button in the list's third part; where the page lies, from the home folder on."""
        self.assignments()
        row = self.page.locator("#submitted_assignments_list > .list_item", has_text=lesson)
        row.get_by_role("button", name="Fetch Feedback").click()
        row.get_by_text(lesson).first.click()
        expect(self.page.get_by_text("view feedback").first).to_be_visible(timeout=60_000)
        (page,) = (self.hub.home(self.name) / lesson / "feedback").rglob("*.html")
        return str(page.relative_to(self.hub.home(self.name)))

    def at(self, lesson: str) -> Learner:
        """The lesson's notebook, its kernel ready."""
        self.page.goto(f"{self.base}/lab/workspaces/work/tree/{lesson}/{lesson}.ipynb")
        learner = Learner(self.page, Lab(self.base, self.hub.home(self.name)), lesson)
        learner.is_ready()
        return learner

    def formgrader(self) -> Instructor:
        """Formgrader's own page, by the address that docs/jupyterhub.md names."""
        self.page.goto(f"{self.hub.url}/hub/user-redirect/formgrader")
        expect(self.page).to_have_url(f"{self.base}/formgrader/manage_assignments")
        return Instructor(self.page, Lab(self.base, self.hub.course))

    def press(self, lesson: str, button: str) -> str:
        """A button of formgrader's list of assignments; what it says then."""
        row = self.formgrader().assignment(lesson)
        row.locator(f".{button} a").click()
        dialog = self.page.locator(".modal-dialog")
        expect(dialog.locator(".modal-title")).to_have_text("Success", timeout=120_000)
        said = dialog.inner_text()
        dialog.get_by_role("button", name="OK").click()
        expect(self.page.locator(".modal-backdrop")).to_have_count(0)
        return said

    def in_a_terminal(self, line: str, done: str, seconds: float) -> None:
        """Type a line into a terminal of JupyterLab, and wait until the file ``done`` is there, in the home folder."""
        self.page.goto(f"{self.base}/lab/workspaces/desk")
        self.page.locator(".jp-LauncherCard[title*='terminal']").first.click(timeout=60_000)
        screen = self.page.locator(".jp-Terminal .xterm-screen")
        screen.wait_for(timeout=60_000)
        self.page.wait_for_timeout(2_000)  # the shell's first prompt
        screen.click()
        self.page.keyboard.type(f"{line}; touch ~/{done}\n")
        for _ in range(int(seconds)):
            if (self.hub.home(self.name) / done).exists():
                return
            self.page.wait_for_timeout(1_000)
        raise AssertionError(f"it did not end: {line}")
