"""Every attack, by family; and those of which docs/engine.md says that nobody sees them."""

from __future__ import annotations

from tests.attacks import arsenal_facts, arsenal_folder, arsenal_notebook, arsenal_oracle, arsenal_own, forger
from tests.attacks.arsenal import Attack, programs

ATTACKS: tuple[Attack, ...] = (
    *programs("verdict", "verdict"),
    *programs("shell", "verdict"),
    *programs("inputs", "inputs"),
    *programs("evidence", "evidence"),
    *arsenal_facts.ATTACKS,
    *programs("answers", "evidence", keeps=True),
    *arsenal_notebook.ATTACKS,
    *arsenal_folder.ATTACKS,
    *forger.ATTACKS,
    *programs("steady", "steady", expects=("failed", "error", "uncertain")),
    *programs("secrets", "secrets", keeps=True),
    *programs("escape", "escape", keeps=True),
    *programs("reach", "escape", keeps=True),
    *programs("resources", "resources", keeps=True),
    *programs("memory", "resources", keeps=True),
    *programs("html", "html", keeps=True),
    *arsenal_own.ATTACKS,
    *arsenal_oracle.ATTACKS,
)

UNSEEN = programs("unseen", "steady")
"""What reaches a right result by other means, for the learner's own function alone."""
