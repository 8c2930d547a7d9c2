"""A writer of pages that is ended from outside. In a module of its own, because other processes import it."""

from __future__ import annotations

import os
from typing import Any

from nbproof.feedback.pages import PageTrouble

__all__ = ["breaks_on_ben"]


def breaks_on_ben(root: str, tasks: list[Any]) -> list[PageTrouble]:
    """As ``_write`` of nbproof.feedback.pages; ends its process where ben's page is among the tasks."""
    if any(task.learner == "ben" for task in tasks):
        os._exit(9)
    return [PageTrouble()] * len(tasks)
