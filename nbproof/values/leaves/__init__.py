"""One module for each library: its :class:`nbproof.values.leaf.Leaf`, imported only if a course names it.

This module itself imports none of them: it lists the class names that a message may hold which otherwise tells nothing.
"""

from __future__ import annotations

from collections.abc import Mapping

from nbproof.course_file import Course

__all__ = ["class_names"]

_TYPES: Mapping[str, tuple[str, ...]] = {
    "torch": (
        "Tensor",
        "Parameter",
        "Linear",
        "ReLU",
        "Sequential",
        "Conv2d",
        "BatchNorm2d",
        "Module",
        "ModuleList",
        "ModuleDict",
        "RemovableHandle",
        "ndarray",
    ),
    "numpy": ("ndarray",),
    "pandas": ("DataFrame", "Series", "Index"),
}


def class_names(course: Course) -> tuple[str, ...]:
    """The names of the classes of all leaf types of a course."""
    known = (_TYPES[name] for name in course.leaves if name in _TYPES)
    return sum(known, ())
