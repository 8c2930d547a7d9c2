"""Numbers, tensors and lists in words, as pictures and their alt texts say them; and what of a tensor can be drawn."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import torch

__all__ = ["cut", "deepest", "level_of", "listed", "number", "ranged", "real", "size_in_bytes", "span", "told"]


def number(value: float, digits: int = 3) -> str:
    """The number with so many digits, as short as it can be: ``0.0123``, ``4.5e-6``, ``NaN``, ``inf``."""
    text = f"{value:.{digits}g}".replace("nan", "NaN")
    return text.replace("e+0", "e").replace("e-0", "e-").replace("e+", "e")


def size_in_bytes(size: float) -> str:
    """``0 B``, ``1.5 KiB``, ``2.34 MiB``."""
    if abs(size) < 1024:
        return f"{size:.0f} B"
    units = ["KiB", "MiB", "GiB"]
    size /= 1024
    while abs(size) >= 1000 and len(units) > 1:
        size /= 1024
        del units[0]
    return f"{size:.3g} {units[0]}"


def level_of(name: str) -> int:
    """How deep a module lies, by its dotted name. The root has an empty name and lies at 0."""
    return name.count(".") + bool(name)


def deepest(levels: Iterable[int], most: int) -> int:
    """The deepest level that can be drawn: down to it there are no more than ``most`` things. It is at least 1."""
    ordered = sorted(levels)
    return max(1, [*ordered, ordered[-1] + 1][min(most, len(ordered))] - 1)


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
    return f"a tensor of shape {tuple(value.shape)}" if isinstance(value, torch.Tensor) else f"{type(value).__name__}"


def real(values: torch.Tensor) -> torch.Tensor:
    """The values as float32, which can be drawn. Of a complex number it is the absolute value."""
    values = values.detach().cpu()
    if values.is_complex():
        values = values.abs()
    return values.float()


def span(values: torch.Tensor) -> tuple[float, float]:
    """The least and the largest of the finite values; 0 and 0 if there are none."""
    plain = real(values)
    finite = plain[plain.isfinite()]
    low, high = finite.aminmax() if len(finite) else (0.0, 0.0)
    return float(low), float(high)


def ranged(values: torch.Tensor) -> str:
    """``from 0 to 2.5``, and whether some are no numbers."""
    low, high = map(number, span(values))
    if bool(values.isfinite().all()):
        return f"from {low} to {high}"
    return f"from {low} to {high}, NaN or inf among them"
