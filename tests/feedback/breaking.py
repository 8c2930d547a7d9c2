"""A writer of pages that is ended from outside. In a module of its own, because other processes import it."""

from __future__ import annotations

import os
from pathlib import Path

from nbproof.feedback.page_task import PageTrouble, Task

__all__ = ["breaks_on_ben"]


def breaks_on_ben(root: Path, task: Task) -> PageTrouble:
    """As ``write_page``; ends its process where the page is ben's."""
    if task.learner == "ben":
        os._exit(9)
    return PageTrouble()
