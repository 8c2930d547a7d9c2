"""Feature maps as pictures: what layers of a convolutional net made of one input."""

from __future__ import annotations

from collections.abc import Mapping

import torch

from course.pictures.canvas import PAPER, QUIET, Picture, in_own_style
from course.pictures.cells import real, span
from course.pictures.words import cut, listed, number, told

__all__ = ["draw_clobber", "draw_feature_maps"]


_SIGNS = "blue −: below 0   ·   white: 0   ·   red +: above 0"


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
    counts = {name: f"{columns} of {len(one)}" if len(one) > columns else f"{len(one)}" for name, one in maps.items()}
    sizes = {name: f"{counts[name]} maps, {one.shape[1]} × {one.shape[2]}" for name, one in maps.items()}
    widest = max(_limit(one[:columns]) for one in maps.values())
    words = listed(f"{name}: {size}, values {_range(maps[name])}" for name, size in sizes.items())
    alt = f"{title}. One row a layer, at most {columns} maps of each, blue below 0, white at 0, red above: {words}"
    picture = Picture(max(left + columns + 0.15, 6.4), len(maps) + 0.84, alt)
    tall = picture.titled(title)
    for row, (name, size) in enumerate(sizes.items(), 1):
        shown = maps[name][:columns]
        _row(picture, (cut(name, 26), size), shown, widest if one_scale else _limit(shown), (left, tall - 0.5 - row))
    scales = "all rows share one scale" if one_scale else "each row has its own scale"
    picture.write(0.15, 0.16, f"{_SIGNS}   ·   {scales}", fontsize=8.5, color=QUIET)
    return picture


def draw_clobber(
    before: torch.Tensor, after: torch.Tensor, columns: int = 6, title: str = "A feature, twice"
) -> Picture:
    """One feature, twice: above as it was when the hook ran, below as it is now, on one scale. Both: (N, C, H, W)."""
    return draw_feature_maps({"when the hook ran": before, "after forward": after}, columns, title, one_scale=True)


def _limit(maps: torch.Tensor) -> float:
    return max(map(abs, span(maps))) or 1.0


def _range(maps: torch.Tensor) -> str:
    finite = maps.isfinite()
    if not finite.any():
        return "all NaN or inf"
    low, high = span(maps)
    return f"from {number(low)} to {number(high)}" + ("" if finite.all() else ", NaN or inf among them")


def _row(
    picture: Picture, words: tuple[str, str], maps: torch.Tensor, limit: float, corner: tuple[float, float]
) -> None:
    """The maps of a layer from its lower left corner on, an inch each, and two lines of words before them."""
    left, bottom = corner
    picture.write(left - 0.12, bottom + 0.6, words[0], fontsize=9.5, weight="bold", ha="right")
    picture.write(left - 0.12, bottom + 0.37, words[1], fontsize=8.5, ha="right")
    for column, one in enumerate(maps):
        x = left + column
        shown = one.nan_to_num(torch.nan, torch.nan, torch.nan).numpy()
        picture.shade(shown, (x, bottom + 0.04, 0.92, 0.92), cmap="RdBu_r", limits=(-limit, limit))
        # In grey, blue and red look alike: the sign says which it is.
        signs = {(False, False): "0", (True, False): "−", (False, True): "+", (True, True): "±"}
        sign = signs[bool((one < 0).any()), bool((one > 0).any())]
        paper = {"facecolor": PAPER, "edgecolor": "none", "pad": 0.8}
        picture.write(x + 0.04, bottom + 0.915, sign, va="top", fontsize=7.5, bbox=paper, zorder=3)
