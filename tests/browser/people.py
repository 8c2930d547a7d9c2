"""People in a browser: somebody at a notebook in JupyterLab, and somebody who marks in formgrader. With mouse and keys."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import Locator, Page, expect

from nbproof.authoring.secret_lines import Secrets, read_secrets
from nbproof.cells import visible_and_hidden
from nbproof.checks.check import collecting
from nbproof.display.help import all_hints
from nbproof.lesson.lesson import Exercise, Lesson
from tests import COURSE
from tests.browser.conftest import ROOT, Lab

__all__ = ["Instructor", "Learner", "a_wrong_answer", "hidden_lines"]


@dataclass
class Instructor:
    """One browser page on a course's formgrader."""

    page: Page
    desk: Lab
    alarms: list[str] = field(default_factory=list)
    """Dialogs, script errors, and requests to anybody else: what a page must not do for a learner's sake."""

    def __post_init__(self) -> None:
        self.page.on("dialog", lambda dialog: (self.alarms.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        self.page.on("pageerror", lambda error: self._hear(f"error: {error}"))
        self.page.on("request", lambda request: self._hear(f"request: {request.url}"))

    def _hear(self, said: str) -> None:
        ours = said.startswith(tuple(f"request: {start}" for start in (self.desk.url, "data:", "blob:")))
        if not ours:
            self.alarms.append(said)

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
        # A click is lost on what moves: formgrader scrolls to the box that has the focus.
        self.page.wait_for_function("() => MathJax.loaded && $(':animated').length === 0")
        return self.page.locator("body")

    def mark(self, name: str, points: str, comment: str) -> None:
        """Give points and a comment for the cell with this grade_id."""
        with self.page.expect_response(lambda answer: "/api/grade/" in answer.url and answer.request.method == "PUT"):
            self.page.locator(f"input#{name}").fill(points)
            self.page.locator(f"input#{name}").press("Tab")
        # What a mark has changed is drawn anew when it is kept, on a busy machine over the comment.
        self.page.wait_for_load_state("networkidle")
        self.page.wait_for_timeout(500)
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


_LOOK_AGAIN_MS = 50
_TRIES = 3
# Where a cell is: JupyterLab keeps only the cells in view on the page. The app itself knows all of them.
_NOTEBOOK = "const nb = window.jupyterapp.shell.currentWidget.content;"
_FIND = _NOTEBOOK + "const at = nb.widgets.findIndex(c => (c.model.getMetadata('nbgrader') || {}).grade_id === name);"


@dataclass
class Learner:
    """One browser page with one lesson."""

    page: Page
    lab: Lab
    slug: str = ""

    def open(self, slug: str) -> None:
        """The lesson, in a JupyterLab window of its own, its kernel ready."""
        self.slug = slug
        self.page.goto(f"{self.lab.url}/lab/workspaces/{slug}/tree/learn/{slug}/{slug}.ipynb?token=lab")
        self.is_ready()

    def is_ready(self) -> None:
        """Wait for the notebook, and for a kernel that waits for us."""
        self.page.locator(".jp-Notebook .jp-Cell:visible").first.wait_for(timeout=60_000)
        self.is_idle()

    def is_idle(self, seconds: float = 300) -> None:
        """Wait until nothing runs and nothing is queued."""
        self._wait_until(
            _NOTEBOOK
            + """
            const state = window.jupyterapp.shell.currentWidget.sessionContext.session?.kernel?.status;
            const busy = nb.widgets.some(c => c.model.type === 'code' && c.model.executionState === 'running');
            return state === 'idle' && !busy""",
            seconds,
        )

    def _wait_until(self, holds: str, seconds: float = 60, before: Any = None) -> None:
        # By the clock: Playwright's default is each frame, which makes Chromium draw frames without end.
        self.page.wait_for_function(
            f"before => {{ {holds} }}", arg=before, timeout=seconds * 1000, polling=_LOOK_AGAIN_MS
        )

    def menu(self, name: str, entry: str) -> None:
        """Choose from the menu bar."""
        self.page.locator(".lm-MenuBar-itemLabel").get_by_text(name, exact=True).click()
        self.page.locator(".lm-Menu-itemLabel").get_by_text(entry, exact=True).click()

    def run_all(self) -> None:
        """Run > Run All Cells, to the last one. A check that fails does not end it: somebody is looking."""
        self.menu("Run", "Run All Cells")
        self._wait_until(_NOTEBOOK + "return nb.widgets.some(c => c.model.executionCount)")
        self.is_idle()
        # After an error JupyterLab takes the marks from those that wait, though they run.
        self._wait_until(
            _NOTEBOOK + "return nb.widgets.every(c => c.model.type !== 'code' || c.model.executionCount)", 300
        )
        self.is_idle()

    def run_up_to(self, name: str) -> None:
        """Run > Run All Above Selected Cell."""
        self.go_to(name)
        self.menu("Run", "Run All Above Selected Cell")
        self.is_idle()

    def go_to(self, name: str) -> Locator:
        """Select the cell with this grade_id, in command mode, and bring it into view."""
        index = self.page.evaluate(
            "async name => {" + _FIND + " nb.deselectAll(); nb.activeCellIndex = at; nb.mode = 'command';"
            " await nb.scrollToItem(at, 'start'); return at }",
            name,
        )
        assert index >= 0, f"no cell {name} in {self.slug}"
        cell = self.page.locator(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-Cell.jp-mod-active")
        cell.wait_for()
        return cell

    def type_into(self, name: str, text: str) -> None:
        """Replace the text of a TODO cell."""
        for _ in range(_TRIES):
            cell = self.go_to(name)
            cell.locator(".cm-content").click()
            self.page.keyboard.press("Control+A")
            self.page.keyboard.insert_text(text)
            self.page.keyboard.press("Escape")
            # JupyterLab may be drawing the cell anew just then; a person sees it, and types again.
            if self.page.evaluate("() => {" + _NOTEBOOK + " return nb.activeCell.model.sharedModel.source }") == text:
                return
        raise AssertionError(f"what is typed into {name} does not stay there")

    def run(self, name: str) -> Locator:
        """Run one cell where it stands; returns its outputs."""
        return self._run(self.go_to(name))

    def _run(self, cell: Locator) -> Locator:
        before = self.page.evaluate("() => {" + _NOTEBOOK + " return nb.activeCell.model.executionCount }")
        self.page.keyboard.press("Control+Enter")
        self._wait_until(
            _NOTEBOOK + "const c = nb.activeCell.model;"
            " return c.executionCount && c.executionCount !== before && c.executionState !== 'running'",
            before=before,
        )
        self.is_idle()
        return cell.locator(".jp-OutputArea")

    def in_a_new_cell(self, text: str, times: int = 1) -> list[str]:
        """Press B for a new cell below, run the text in it as often as asked; the outputs in words. The cell goes again."""
        cell = self._new_cell(text)
        said = [self._run(cell).inner_text() for _ in range(times)]
        self.page.keyboard.press("Escape")
        self.page.keyboard.press("d")
        self.page.keyboard.press("d")
        return said

    def keep_in_a_new_cell(self, text: str, times: int = 1) -> Locator:
        """The same with a cell that stays; its output."""
        cell = self._new_cell(text)
        return [self._run(cell) for _ in range(times)][-1]

    def _new_cell(self, text: str) -> Locator:
        self.page.keyboard.press("Escape")
        self.page.keyboard.press("b")
        cell = self.page.locator(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-Cell.jp-mod-active")
        cell.locator(".cm-content").click()
        self.page.keyboard.insert_text(text)
        return cell

    def validate(self) -> str:
        """nbgrader's Validate button; what its dialog says."""
        self.page.get_by_role("button", name="Validate").click()
        dialog = self.page.locator(".jp-Dialog")
        # Not by `expect`: at each look that finds nothing yet, it describes the whole page for its error message.
        self._wait_until(
            "return /success|passed|failed|problem/i.test(document.querySelector('.jp-Dialog')?.innerText)", 180
        )
        said = dialog.inner_text()
        dialog.get_by_role("button").last.click()
        return said

    def save(self) -> None:
        """Ctrl+S, until it lies on disk."""
        self.page.keyboard.press("Escape")
        self.page.keyboard.press("Control+s")
        self._wait_until("return !window.jupyterapp.shell.currentWidget.context.model.dirty", 30)

    def saved(self) -> dict[str, Any]:
        """The notebook as it lies on disk, in a learner's own folder of lessons."""
        self.save()
        return dict(
            json.loads((self.lab.course / "learn" / self.slug / f"{self.slug}.ipynb").read_text(encoding="utf-8"))
        )


def a_wrong_answer(lesson: Lesson, exercise: Exercise) -> tuple[str, str]:
    """One that the checks in the learner's own notebook find, and the name of its misconception."""
    setup = [cell.source for cell in lesson.cells[: lesson.cells.index(exercise.answer)] if cell.kind == "setup"]
    for mutant in exercise.mutants:
        space: dict[str, object] = {"__name__": "__main__"}
        try:
            with collecting(COURSE) as findings:
                for source in [*setup, mutant.source, visible_and_hidden(exercise.tests[0].source)[0]]:
                    exec(source, space)
        except Exception:  # the cell itself raises, so no check is asked
            continue
        wrong = next((finding for finding in findings if not finding.passed), None)
        if wrong is not None and wrong.hint is not None and not mutant.source.count("input("):
            return mutant.source, all_hints(COURSE)[wrong.hint].name
    raise AssertionError(f"no mutant of {exercise.id} is found by what learners have")


def hidden_lines(slug: str) -> Secrets:
    """The lines of a lesson's hidden checks."""
    return read_secrets(COURSE, ROOT, [slug], candidates=False).only(lambda line, origin: ": test_" in origin)
