"""What a notebook's kernel remembers of its checks, in one place."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from nbproof.course_file import Course
from nbproof.values.results import Finding

__all__ = ["SESSION", "Session"]


@dataclass
class Session:
    """The state of check cells, and of the help that follows them."""

    course: Course | None = None
    """The course that checks are run for by somebody who knows it; None in a notebook, which finds its own."""
    listed: list[tuple[str, Any]] | None = None
    """Where ``check`` notes what it was called with, instead of running it; None if it runs."""
    collected: list[Finding] | None = None
    """Where findings gather, instead of being shown; None if they are shown."""
    seed: int = 0
    """The seed that the collector of findings has set; 0 if none has."""
    variables: dict[str, Any] | None = None
    """The learner's, if they are not those of the cell that calls."""
    exercise: str = ""
    """What the check cell that ran last is about."""
    last: Finding | None = None
    """The first check of that cell that failed, or else its last check."""
    withheld: int = 0
    """How many more checks run when that exercise is graded."""
    solved: bool = True
    """Whether the exercise's other check cells have passed."""
    steps: dict[tuple[str, str], int] = field(default_factory=dict)
    """(exercise, hint) -> how many steps of help were shown."""

    def remember(self, exercise: str, finding: Finding, withheld: int = 0, solved: bool = True) -> None:
        """Note the outcome of a check cell."""
        self.exercise, self.last, self.withheld, self.solved = exercise, finding, withheld, solved
        if finding.passed:
            # A learner who comes back to an exercise later starts at its first step again.
            self.steps = {key: count for key, count in self.steps.items() if key[0] != exercise}


SESSION = Session()
"""Of this process."""
