"""What is to be marked of one submission: its bytes, read once."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from nbproof.limits import GradingLimits
from nbproof.marking.blueprint import read_attachments, read_file

__all__ = ["Order", "order_of"]


@dataclass(frozen=True)
class Order:
    """What a marker needs to know of one submission. Can be sent to another machine."""

    learner: str
    lesson: str
    data: bytes
    """The notebook as it was handed in."""
    files: dict[str, bytes] = field(default_factory=dict)
    """The submission's own data files by relative path."""


def order_of(learner: str, lesson: str, notebook: Path, limits: GradingLimits) -> Order:
    """Read a submission's notebook, and what lies beside it. Raises Damaged or OSError."""
    data = read_file(notebook, limits.notebook_mb << 20)
    files = read_attachments(notebook.parent, notebook, limits.attachment_mb << 20)
    return Order(learner, lesson, data, files)
