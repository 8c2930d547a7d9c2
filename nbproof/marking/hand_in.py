"""What is to be marked of one submission: its bytes, read once."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from nbproof.key import Key
from nbproof.limits import GradingLimits
from nbproof.marking.blueprint import read_attachments, read_file

__all__ = ["HandIn", "read_hand_in"]


@dataclass(frozen=True)
class HandIn:
    """All that a marker knows of one submission. Can be sent to another machine."""

    key: Key
    notebook: bytes
    files: dict[str, bytes] = field(default_factory=dict)
    """The submission's own data files by relative path."""


def read_hand_in(key: Key, notebook: Path, limits: GradingLimits) -> HandIn:
    """Read a submission's notebook, and what lies beside it. Raises Damaged or OSError."""
    data = read_file(notebook, limits.notebook_mb << 20)
    return HandIn(key, data, read_attachments(notebook.parent, notebook, limits.attachment_mb << 20))
