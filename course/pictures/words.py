"""Numbers, tensors and lists in words, as pictures and their alt texts say them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate

import torch

__all__ = ["brief", "cut", "deepest", "listed", "number", "power_of_ten", "size_in_bytes", "told"]

_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def number(value: float) -> str:
    """Three digits, as short as they can be: ``0.0123``, ``4.5e-06``, ``NaN``, ``inf``."""
    if math.isnan(value):
        return "NaN"
    text = f"{value:.3g}"
    return text.replace("e+0", "e").replace("e-0", "e-").replace("e+", "e")


def power_of_ten(value: float) -> str:
    """A tick of a logarithmic axis: ``10⁻³``; simple numbers as they are."""
    if 0.01 <= value <= 100:
        return f"{value:g}"
    exponent = round(math.log10(value)) if value > 0 else 0
    return "10" + str(exponent).translate(_SUPERSCRIPT)


def size_in_bytes(size: float) -> str:
    """``0 B``, ``1.5 KiB``, ``2.34 MiB``."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(size) < (1024 if unit == "B" else 1000) or unit == "GiB":
            break
        size /= 1024
    return f"{size:.0f} {unit}" if unit == "B" else f"{size:.3g} {unit}"


def deepest(levels: Iterable[int], most: int) -> int:
    """The deepest of these levels, counted from 0, down to which there are no more than ``most`` things; at least 0."""
    counts = Counter(levels)
    totals = accumulate(counts[level] for level in range(max(counts, default=0) + 1))
    return max(0, sum(total <= most for total in totals) - 1)


def cut(text: str, most: int) -> str:
    """A text of at most ``most`` letters; of a longer one the end, which tells dotted names apart, and a start."""
    if len(text) <= most:
        return text
    start = max(0, (most - 1) // 3)
    return f"{text[:start]}…{text[len(text) - (most - 1 - start) :]}"


def listed(items: Iterable[str], most: int = 20) -> str:
    """The items with semicolons between; of many the first and the last ones, and how many there are between."""
    given: Sequence[str] = list(items)
    if len(given) <= most:
        return "; ".join(given)
    head, tail = given[: most - most // 3], given[-(most // 3) :]
    return "; ".join([*head, f"{len(given) - len(head) - len(tail)} more", *tail])


def told(value: object) -> str:
    """What a value is, for an error message."""
    if isinstance(value, torch.Tensor):
        return f"a tensor of shape {tuple(value.shape)}"
    if isinstance(value, Mapping) and not value:
        return "an empty dict"
    name = type(value).__name__
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"


def brief(value: object) -> str:
    """A value as a hook gets it, on one line: of a small tensor its numbers, of a larger one its shape and its norm."""
    if isinstance(value, torch.Tensor):
        return _brief_tensor(value.detach())
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key!r}: {brief(one)}" for key, one in list(value.items())[:6]) + "}"
    if isinstance(value, (tuple, list)):
        parts = ", ".join(brief(one) for one in value[:6]) + (", …" if len(value) > 6 else "")
        return f"[{parts}]" if isinstance(value, list) else f"({parts}{',' if len(value) == 1 else ''})"
    return value.__name__ if isinstance(value, type) else cut(repr(value), 40)


def _brief_tensor(value: torch.Tensor) -> str:
    if value.is_meta or value.is_complex() or value.is_sparse:
        return f"tensor {tuple(value.shape)}"
    if value.numel() <= 4:
        return f"tensor({_nested(value.tolist())})"
    if value.is_floating_point():
        return f"tensor {tuple(value.shape)}, norm {number(float(value.double().norm()))}"
    return f"tensor {tuple(value.shape)}"


def _nested(value: object) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_nested, value))}]"
    return number(value) if isinstance(value, float) else str(value)
