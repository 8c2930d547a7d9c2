"""A hands-on course on PyTorch hooks and ``Module.apply``: what its lessons import."""

from __future__ import annotations

from course.vision import watch_for_torchvision
from nbproof import check, hint, progress, solution
from nbproof.course_file import use_course

__all__ = ["check", "hint", "progress", "solution"]

use_course(__file__)
# Before any lesson imports torchvision; see course/vision.py for the reason.
watch_for_torchvision()
