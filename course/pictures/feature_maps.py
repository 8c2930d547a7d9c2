"""Rows of small pictures: feature maps, what layers of a convolutional net made of one input; and samples of digits."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence

import torch
from matplotlib.patches import Rectangle

from course.pictures.canvas import PAPER, RED, Picture, in_own_style
from course.pictures.words import cut, listed, ranged, real, span, told

__all__ = ["draw_digits", "draw_feature_maps"]

_SIGNS = "blue −: below 0   ·   white: 0   ·   red +: above 0"
_SMALL, _LARGE, _GAP, _LINE = 0.78, 1.6, 0.14, 0.24


@in_own_style
def draw_feature_maps(
    features: Mapping[str, torch.Tensor], columns: int = 8, title: str = "Feature maps", one_scale: bool = False
) -> Picture:
    """A grid of maps, one row a layer: the first ``columns`` channels of the first sample in the batch.

    ``features`` maps a layer's name to its output, shape (N, C, H, W), any real dtype. Each row has a
    scale of its own, or all share one, white at 0, red above, blue below. Raises ValueError for other shapes.
    """
    for name, value in features.items():
        if not isinstance(value, torch.Tensor) or value.dim() != 4 or not value.numel():
            raise ValueError(
                f"features[{name!r}] is {told(value)}, wanted a tensor of shape (N, C, H, W) with elements"
            )
    maps = {str(name): real(value[0]) for name, value in features.items()}
    # Inches; a bold 10-point letter is about 0.1 wide.
    left = max(1.55, 0.35 + 0.098 * max(len(cut(name, 26)) for name in maps))
    columns = max(1, min(columns, max(map(len, maps.values()))))
    sizes = {
        name: f"{len(one[:columns])} of {len(one)} maps, {one.shape[1]} × {one.shape[2]}" for name, one in maps.items()
    }
    limits = {name: max(map(abs, span(one[:columns]))) or 1.0 for name, one in maps.items()}
    if one_scale:
        limits = dict.fromkeys(maps, max(limits.values()))
    words = listed(f"{name}: {size}, values {ranged(maps[name])}" for name, size in sizes.items())
    alt = f"{title}. One row a layer, at most {columns} maps of each, blue below 0, white at 0, red above: {words}"
    picture = Picture(max(left + columns + 0.15, 6.4), len(maps) + 0.84, alt)
    scales = "all rows share one scale" if one_scale else "each row has its own scale"
    tall = picture.titled(title, f"{_SIGNS}   ·   {scales}")
    for row, (name, size) in enumerate(sizes.items(), 1):
        bottom = tall - 0.5 - row
        picture.write(left - 0.12, bottom + 0.6, cut(name, 26), fontsize=9.5, weight="bold", ha="right")
        picture.write(left - 0.12, bottom + 0.37, size, fontsize=8.5, ha="right")
        for column, one in enumerate(maps[name][:columns]):
            _draw_map(picture, one, limits[name], left + column, bottom)
    return picture


def _draw_map(picture: Picture, values: torch.Tensor, limit: float, x: float, y: float) -> None:
    """One map, an inch across from its lower left corner on."""
    shown = values.nan_to_num(torch.nan, torch.nan, torch.nan).numpy()
    picture.shade(shown, (x, y + 0.04, 0.92, 0.92), cmap="RdBu_r", limits=(-limit, limit))
    # In grey, blue and red look alike: the sign says which it is.
    sign = _sign_of(values)
    paper = {"facecolor": PAPER, "edgecolor": "none", "pad": 0.8}
    picture.write(x + 0.04, y + 0.915, sign, va="top", fontsize=7.5, bbox=paper, zorder=3)


def _sign_of(values: torch.Tensor) -> str:
    """The sign of all values that are not 0: −, +, or ± if there are both; 0 if there are none."""
    is_below = bool((values < 0).any())
    is_above = bool((values > 0).any())
    if is_below and is_above:
        return "±"
    if is_below:
        return "−"
    return "+" if is_above else "0"


@in_own_style
def draw_digits(
    pictures: torch.Tensor, captions: Sequence[str], marked: Collection[int] = (), title: str = "Samples"
) -> Picture:
    """Draw grey pictures, (N, 1, H, W), ten a row or up to four large ones, with ``captions[n]`` below ``n``.

    A caption may hold line breaks. ``marked`` holds numbers of pictures: these get a thick red frame.
    """
    words = [" ".join(caption.split()) for caption in captions]
    for n in {*marked} & {*range(len(words))}:
        words[n] += " (marked)"
    side, letters = (_LARGE, 25) if len(pictures) <= 4 else (_SMALL, 12)
    row = side + 0.12 + _LINE * max(caption.count("\n") + 1 for caption in captions)
    wide = max(7.6, 0.15 + min(10, len(pictures)) * (side + _GAP))
    picture = Picture(wide, 0.5 + math.ceil(len(pictures) / 10) * row, f"{title}. {listed(words)}")
    tall = picture.titled(title)
    for n, (image, caption) in enumerate(zip(real(pictures[:, 0]), captions, strict=True)):
        left, top = 0.15 + n % 10 * (side + _GAP), tall - 0.5 - n // 10 * row
        picture.shade(image.numpy(), (left, top - side, side, side), cmap="gray_r")
        if n in marked:
            frame = Rectangle((left, top - side), side, side, fill=False, edgecolor=RED, linewidth=2.6, zorder=3)
            picture.put(frame)
        text = "\n".join(cut(line, letters) for line in caption.split("\n"))
        picture.write(left + side / 2, top - side - 0.08, text, fontsize=8.5, ha="center", va="top", linespacing=1.25)
    return picture
