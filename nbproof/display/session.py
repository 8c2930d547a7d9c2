"""What a notebook's kernel remembers of its checks, in one place."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
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
    calls: list[tuple[str, Any]] | None = None
    """A list for (exercise, check), in which ``check`` notes its calls instead of running them; None if it runs them."""
    collected: list[Finding] | None = None
    """A list in which findings gather instead of being shown; None if they are shown."""
    seed: int = 0
    """The seed that the collector of findings has set; 0 if it has set none."""
    variables: dict[str, Any] | None = None
    """The learner's variables, if they are not those of the cell that calls."""
    exercise: str = ""
    """The exercise of the check cell that ran last."""
    last: Finding | None = None
    """The first check of that cell that failed, or else its last check."""
    withheld: int = 0
    """The number of checks that run only when that exercise is graded."""
    solved: bool = True
    """Whether the exercise's other check cells have passed."""
    steps: dict[tuple[str, str], int] = field(default_factory=dict)
    """(exercise, hint) -> how many steps of help were shown."""

    def remember(self, exercise: str, finding: Finding, withheld: int = 0, solved: bool = True) -> None:
        """Note the outcome of a check cell."""
        self.exercise = exercise
        self.last = finding
        self.withheld = withheld
        self.solved = solved
        if finding.passed:
            # A learner who comes back to an exercise later starts at its first step again.
            self.steps = {key: count for key, count in self.steps.items() if key[0] != exercise}

    @contextmanager
    def changed(self, **fields: object) -> Iterator[None]:
        """Within this block, give these fields these values; afterwards they have their values from before."""
        before = {name: getattr(self, name) for name in fields}
        vars(self).update(fields)
        try:
            yield
        finally:
            vars(self).update(before)


SESSION = Session()
"""The state of this process."""
