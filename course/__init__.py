"""A hands-on course on PyTorch hooks and ``Module.apply``: what its lessons import."""

from __future__ import annotations

import sys

from course.vision import watch_for_torchvision
from nbproof.checks.test_cell_names import watch_test_cells
from nbproof.course_file import use_course

__all__ = ["check", "hint", "progress", "solution"]

use_course(__file__)
# Before any lesson imports torchvision; see course/vision.py for the reason.
watch_for_torchvision()
# Before any test cell runs; see nbproof/checks/test_cell_names.py.
watch_test_cells()

# What these functions need is imported when they are called: `import course` costs what torch costs, and no more.


def check(exercise: str, part: str = "") -> None:
    """Check your answer to an exercise, or one part of it: shows a panel, and raises an error if something is wrong."""
    from nbproof.checks.check import check_in

    check_in(sys._getframe(1).f_globals, exercise, part=part)


def hint(exercise: str | None = None) -> None:
    """Show the next step of help: after a check that failed, or, with an exercise's id, for a start."""
    from nbproof.display.help import show_next_step

    show_next_step(exercise)


def progress() -> None:
    """Show which exercises are solved, which were tried, and where to go on. It is kept on this disk only."""
    from nbproof.display.progress import show_progress

    show_progress()


def solution(exercise: str) -> None:
    """Show the reference answer to an exercise that you have solved, and two other right ones."""
    from nbproof.display.solution import show_solution

    show_solution(exercise)
