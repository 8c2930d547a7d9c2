"""How PyTorch is spoken of. Imports nothing of it: whoever tells of a verdict needs the words alone."""

from __future__ import annotations

from nbproof.values.leaf import Words

__all__ = ["WORDS"]

WORDS = Words(
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
    aliases=("torch", "nn", "F", "np", "numpy"),
    called=("pytorch",),
)
