"""Make ``import torchvision`` work where pip paired its CUDA build with a CPU-only torch.

The wheel's compiled operators then fail to load, and the import ends in "operator torchvision::nms
does not exist". No lesson uses these operators; it is enough that their schemas exist. Where the
two builds fit each other nothing is touched, because defining an operator twice is an error.

``import course`` only watches for the import: torch itself is loaded when somebody needs it, so
that the command line and nbgrader's configuration stay quick.
"""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

__all__ = ["Watcher", "make_torchvision_importable", "watch_for_torchvision"]

_SCHEMA = "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"


def make_torchvision_importable() -> None:
    """Define the operator schemas that are missing where a CUDA build stands beside a CPU-only torch."""
    import torch

    if torch.version.cuda is None and _built_for_cuda():
        torch.library.define("torchvision::nms", _SCHEMA)
        torch.library.define("torchvision::qnms", _SCHEMA)


def _built_for_cuda() -> bool:
    """Whether the installed torchvision is a CUDA build, read off its version file without importing it."""
    spec = importlib.util.find_spec("torchvision")
    if spec is None or spec.origin is None:
        return False
    version = Path(spec.origin).with_name("version.py")
    return version.exists() and re.search(r"\+cu\d+", version.read_text(encoding="utf-8")) is not None


class Watcher(MetaPathFinder):
    """Finds nothing itself; steps in once, just before torchvision is imported."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname == "torchvision":
            sys.meta_path.remove(self)
            make_torchvision_importable()
        return None


def watch_for_torchvision() -> None:
    """Apply the cure when torchvision is imported for the first time, by whomever. Calling it again changes nothing."""
    if not any(isinstance(finder, Watcher) for finder in sys.meta_path):
        sys.meta_path.insert(0, Watcher())
