"""How PyTorch is spoken of. Imports nothing of it: whoever tells of a verdict needs the words alone."""

from __future__ import annotations

from nbproof.values.leaf import Words

__all__ = ["WORDS"]

WORDS = Words(
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
    aliases=("torch", "nn", "F", "np", "numpy"),
    called=("pytorch",),
)
