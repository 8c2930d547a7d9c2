"""Which places of a picture a model looked at: the picture, the heat map, and one laid over the other."""

from __future__ import annotations

from typing import Any

import torch
from matplotlib import colormaps
from matplotlib.lines import Line2D
from torch.nn.functional import interpolate

from course.pictures.canvas import Picture, in_own_style
from course.pictures.words import ranged, span, told

__all__ = ["draw_heat"]

_SIDE, _FOOT = 2.6, 0.45


@in_own_style
def draw_heat(picture: torch.Tensor, heat: torch.Tensor, title: str = "Where the model looked") -> Picture:
    """Draw a picture, a heat map of any size, and the heat map over the picture, side by side.

    ``picture`` is (C, H, W) or (1, C, H, W) with C 1 or 3, from 0 to 1. ``heat`` is (h, w), with or without dimensions of
    size 1 before; it is scaled up to the picture's size. A ring marks its largest value. Raises ValueError for other shapes.
    """
    colours = (
        _plain(picture, "a picture of shape (C, H, W) or (1, C, H, W) with C 1 or 3", 3).nan_to_num(0.0).clamp(0, 1)
    )
    image = colours.expand(3, -1, -1).permute(1, 2, 0).numpy()
    plain = _plain(heat, "a heat map of shape (h, w)", 2)
    high, wide = image.shape[:2]
    low, top = span(plain)
    values = ranged(plain)
    plain = plain.nan_to_num(low, low, low)
    large = interpolate(plain[None, None], size=(high, wide), mode="bilinear", align_corners=False)[0, 0]
    row, column = divmod(int(large.argmax()), wide)
    words = (
        f"heat map {plain.shape[0]} × {plain.shape[1]}: {values}, largest at row {row}, column {column} of the picture"
    )
    shape = f"the picture, {high} × {wide}"
    w, h = (max(size * _SIDE / max(high, wide), 0.4) for size in (wide, high))
    pitch = max(w + 0.2, 2.0)
    alt = f"{title}. Three pictures side by side: {shape}; {words}; the heat map laid over the picture."
    canvas = Picture(0.3 + 2 * pitch + w, h + 1.15, alt)
    canvas.titled(title, words)
    strength = (large - low) / ((top - low) or 1.0)
    opaque = strength.mul(0.75).add(0.1)[..., None].numpy()
    over = image * (1 - opaque) + colormaps["inferno"](strength.numpy())[..., :3] * opaque
    boxes = [(0.15 + pitch * place, _FOOT, w, h) for place in range(3)]
    for box, heading in zip(boxes, (shape, "heat map: bright is much", "heat map over picture"), strict=True):
        canvas.write(box[0], _FOOT + h + 0.14, heading, fontsize=8.5)
    canvas.shade(image, boxes[0])
    limit = top if top > low else low + 1
    canvas.shade(large.numpy(), boxes[1], limits=(low, limit), cmap="inferno")
    canvas.shade(over, boxes[2])
    ringed = boxes[1:] if top > low else []
    for left, *_ in ringed:
        x, y = left + w * (column + 0.5) / wide, _FOOT + h * (1 - (row + 0.5) / high)
        for size, colour in ((4.5, "black"), (2.0, "white")):
            ring: dict[str, Any] = {"marker": "o", "markersize": 13, "fillstyle": "none", "markeredgewidth": size}
            canvas.put(Line2D([x], [y], color=colour, zorder=3, **ring))
    return canvas


def _plain(value: torch.Tensor, wanted: str, dimensions: int) -> torch.Tensor:
    """A tensor as float32, without dimensions of size 1 before. Raises ValueError if it has other dimensions than these."""
    plain = value.detach().cpu().float() if isinstance(value, torch.Tensor) else torch.empty(0)
    while plain.dim() > dimensions and plain.shape[0] == 1:
        plain = plain[0]
    if plain.dim() != dimensions or not plain.numel():
        raise ValueError(f"wanted {wanted}, got {told(value)}")
    return plain
