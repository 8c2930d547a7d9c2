"""A row of small grey pictures, each with a line below it: which samples stand out."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

import torch
from matplotlib.patches import Rectangle

from course.pictures.canvas import RED, Picture, in_own_style
from course.pictures.words import cut, listed

__all__ = ["draw_digits"]

_SMALL, _LARGE, _GAP, _LINE = 0.78, 1.6, 0.14, 0.24


@in_own_style
def draw_digits(
    pictures: torch.Tensor, captions: Sequence[str], marked: Collection[int] = (), title: str = "Samples"
) -> Picture:
    """Draw grey pictures, (N, H, W) or (N, 1, H, W), ten a row or up to four large ones, with ``captions[n]`` below ``n``.

    A caption may hold line breaks. Pictures whose number is in ``marked`` get a thick red frame. Raises ValueError for
    other shapes.
    """
    images = pictures.detach().cpu().float()
    if images.dim() == 4 and images.shape[1] == 1:
        images = images[:, 0]
    if images.dim() != 3:
        raise ValueError(f"pictures have shape {tuple(pictures.shape)}, wanted (N, H, W) or (N, 1, H, W)")
    words = [" ".join(caption.split()) + (" (marked)" if n in marked else "") for n, caption in enumerate(captions)]
    side = _LARGE if len(images) <= 4 else _SMALL
    row = side + 0.12 + _LINE * max(caption.count("\n") + 1 for caption in captions)
    wide = max(7.6, 0.15 + min(10, len(images)) * (side + _GAP))
    picture = Picture(wide, 0.5 + math.ceil(len(images) / 10) * row, f"{title}. {listed(words)}")
    tall = picture.titled(title)
    for n, (image, caption) in enumerate(zip(images, captions, strict=True)):
        left, top = 0.15 + n % 10 * (side + _GAP), tall - 0.5 - n // 10 * row
        picture.shade(image.numpy(), (left, top - side, side, side), cmap="gray_r")
        if n in marked:
            frame = Rectangle((left, top - side), side, side, fill=False, edgecolor=RED, linewidth=2.6, zorder=3)
            picture.put(frame)
        text = "\n".join(cut(line, 25 if side == _LARGE else 12) for line in caption.split("\n"))
        picture.write(left + side / 2, top - side - 0.08, text, fontsize=8.5, ha="center", va="top", linespacing=1.25)
    return picture
