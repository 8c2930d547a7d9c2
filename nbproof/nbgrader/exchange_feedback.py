"""Releasing feedback through nbgrader's exchange. If there is no page to release, nbgrader's own command says nothing at all."""

from __future__ import annotations

import glob
import os
from pathlib import Path

from nbgrader.exchange.default import ExchangeReleaseFeedback

from nbproof.nbgrader.next_step import step_before

__all__ = ["ReleaseFeedbackOrSay"]


class ReleaseFeedbackOrSay(ExchangeReleaseFeedback):  # type: ignore[misc]
    """What `nbgrader release_feedback`, and formgrader's button, do instead: ``c.ExchangeFactory.release_feedback`` names it."""

    def copy_files(self) -> None:
        """As nbgrader does it; fails if no page is there."""
        if not glob.glob(os.path.join(self.src_path, "*.html")):
            # Said here, because formgrader shows what this class says, and none of the filters of a program's log.
            do = step_before("feedback", Path(self.coursedir.root), self.coursedir.assignment_id)
            self.fail(f"There is no feedback to release in {self.src_path}\n  next: {do}")
        super().copy_files()
