"""Our feedback page out of nbgrader's own ``generate_feedback``, and so out of formgrader's button for it.

nbgrader_config.py names :class:`FeedbackPage` as the exporter. nbgrader's preprocessors run as ever; what they make
of the notebook is not shown, because it would show all of it.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import Any

from nbconvert.exporters import Exporter
from nbformat import NotebookNode
from traitlets import default

__all__ = ["FeedbackPage"]


class FeedbackPage(Exporter):  # type: ignore[misc]
    """An exporter for ``c.GenerateFeedback.exporter_class``."""

    output_mimetype = "text/html"

    @default("file_extension")  # type: ignore[untyped-decorator]
    def _html(self) -> str:
        return ".html"

    def from_notebook_node(
        self, nb: NotebookNode, resources: Any | None = None, **kwargs: Any
    ) -> tuple[str, dict[str, Any]]:
        """The page of the submission that ``resources`` names; beside it, what `nbgrader release_feedback` wants."""
        from nbproof.feedback.page import page_of
        from nbproof.feedback.page_writer import page_path
        from nbproof.feedback.pages import task_of
        from nbproof.gradebook.graded_notebook import hand_on
        from nbproof.key import Key

        _, resources = super().from_notebook_node(nb, resources, **kwargs)
        told = resources["nbgrader"]
        key = Key(str(told["student"]), str(told["assignment"]))
        root = Path(getattr(getattr(self.parent, "coursedir", None), "root", "") or os.getcwd())
        marks = _marks(str(root), key.lesson, id(self)).get(key)
        page_path(root, *key).parent.mkdir(parents=True, exist_ok=True)
        hand_on(root, *key)
        return page_of(root, task_of(root, key, marks)), resources


@cache
def _marks(root: str, lesson: str, exporter: int) -> Any:
    """The whole class's marks, read once for each exporter, that is for each press of the button."""
    from nbproof.gradebook.reader import read_marks

    return read_marks(Path(root), [lesson])
