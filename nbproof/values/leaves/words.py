"""How the libraries of values are spoken of. Imports none of them: whoever tells of a verdict needs the words alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

from nbproof.course_file import the_course

__all__ = ["Words", "leaf_words"]


@dataclass(frozen=True)
class Words:
    """What of a library may stand in a message that otherwise tells nothing."""

    form: tuple[str, ...] = ()
    """Words that say what form its values have."""
    types: tuple[str, ...] = ()
    """Names of its classes."""
    messages: tuple[str, ...] = ()
    """Its errors, as patterns in which nothing but small numbers, ``<n>``, can differ."""


_WORDS: Mapping[str, Words] = {
    "torch": Words(
        form=("tensor", "torch", "grad_fn", "requires_grad"),
        types=(
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
        messages=(
            r"mat1 and mat2 shapes cannot be multiplied \(<n>x<n> and <n>x<n>\)",
            r"The size of tensor a \(<n>\) must match the size of tensor b \(<n>\) at non-singleton dimension <n>",
            r"element <n> of tensors does not require grad and does not have a grad_fn",
            r"Boolean value of Tensor with more than one value is ambiguous",
            r"a leaf Variable that requires grad is being used in an in-place operation\.?",
            r"Only Tensors of floating point and complex dtype can require gradients",
        ),
    ),
    "numpy": Words(types=("ndarray",)),
    "pandas": Words(types=("DataFrame", "Series", "Index")),
}


def leaf_words() -> Words:
    """The words of all leaf types of this course."""
    known = [_WORDS[name] for name in the_course().leaves if name in _WORDS]
    return Words(*(sum((getattr(one, each.name) for one in known), ()) for each in fields(Words)))
