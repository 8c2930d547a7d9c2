"""One module a library: what :mod:`nbproof.values.leaf` asks of it, imported only where a course names it.

Here stands what classes of these libraries may be called in a message that otherwise tells nothing. That imports none of them.
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
    """The names of classes, of all leaf types of a course."""
    known = (_TYPES[name] for name in course.leaves if name in _TYPES)
    return sum(known, ())
