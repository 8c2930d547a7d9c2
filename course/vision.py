"""Make ``import torchvision`` work where pip paired its CUDA build with a CPU-only torch.

The wheel's compiled operators then fail to load, and the import ends in "operator torchvision::nms
does not exist". No lesson uses these operators; it is enough that their schemas exist. Where the
two builds fit each other nothing is touched, because defining an operator twice is an error.
"""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path

import torch

__all__ = ["make_torchvision_importable"]

_SCHEMA = "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"


def make_torchvision_importable() -> bool:
    """Define the missing operator schemas if, and only if, they are missing. True where that was needed."""
    if torch.version.cuda is not None or "torchvision" in sys.modules or not _built_for_cuda():
        return False
    if hasattr(torch.ops.torchvision, "nms"):
        return False
    torch.library.define("torchvision::nms", _SCHEMA)
    torch.library.define("torchvision::qnms", _SCHEMA)
    return True


def _built_for_cuda() -> bool:
    """Whether the installed torchvision is a CUDA build, read off its version file without importing it."""
    spec = importlib.util.find_spec("torchvision")
    if spec is None or spec.origin is None:
        return False
    version = Path(spec.origin).with_name("version.py")
    return version.exists() and re.search(r"\+cu\d+", version.read_text(encoding="utf-8")) is not None
