"""Which places of a picture a model looked at: the picture, the heat map, and one laid over the other."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn.functional import interpolate

from course.pictures.canvas import INK, PAPER, QUIET, WIRE, Picture, in_own_style
from course.pictures.cells import span
from course.pictures.words import number, told

__all__ = ["draw_heat"]


@in_own_style
def draw_heat(picture: torch.Tensor, heat: torch.Tensor, title: str | None = None) -> Picture:
    """Draw a picture, a heat map of any size, and the heat map over the picture, side by side.

    ``picture`` is (C, H, W) or (1, C, H, W) with C 1 or 3, from 0 to 1; other values are stretched to that range.
    ``heat`` is (h, w), with or without dimensions of size 1 before; it is scaled up to the picture's size. A ring marks
    its largest value. Raises ValueError for other shapes.
    """
    image, stretched = _image(picture)
    plain = _heat(heat)
    high, wide = image.shape[:2]
    (low, top), lost = span(plain), int(plain.isfinite().logical_not().sum())
    filled = plain.nan_to_num(nan=low, posinf=top, neginf=low)
    large = interpolate(filled[None, None], size=(high, wide), mode="bilinear", align_corners=False)[0, 0]
    large = large.clamp(low, top)
    title = title or "Where the model looked"
    row, column = divmod(int(large.argmax()), wide)
    if lost:
        words = f"{lost} of {plain.numel()} values of the heat map are NaN or inf"
    elif low == top:
        words = f"the heat map is {number(low)} everywhere"
    else:
        words = f"from {number(low)} to {number(top)}, largest at row {row}, column {column} of the picture"
    words = f"heat map {plain.shape[0]} × {plain.shape[1]}: {words.removeprefix('the heat map is ')}"
    shape = f"{high} × {wide}"
    return _drawn(
        image,
        large,
        (low, top),
        (row, column) if top > low else None,
        title,
        (f"the picture, {shape}" + (", stretched to 0 … 1" if stretched else ""), words),
    )


def _drawn(
    image: torch.Tensor,
    heat: torch.Tensor,
    limits: tuple[float, float],
    hottest: tuple[int, int] | None,
    title: str,
    words: tuple[str, str],
) -> Picture:
    high, wide = heat.shape
    side = 2.6
    scale = side / max(high, wide)
    w, h = max(wide * scale, 0.4), max(high * scale, 0.4)
    gap = max(0.2, 2.0 - w)
    alt = f"{title}. Three pictures side by side: {words[0]}; {words[1]}; the heat map laid over the picture."
    canvas = Picture(0.2 + 3 * w + 2 * gap + 0.95, h + 1.15, alt)
    canvas.write(0.2, canvas.get_figheight() - 0.25, title, fontsize=11.5, weight="bold")
    canvas.write(0.2, 0.2, words[1], fontsize=8.5, color=QUIET)
    grey = image[..., 0] if image.shape[-1] == 1 else image
    low, top = limits
    top = top if top > low else low + 1
    shown: Any = None
    for place, heading in enumerate((words[0], "heat map", "heat map over picture")):
        left = 0.2 + place * (w + gap)
        canvas.write(left, 0.45 + h + 0.14, heading, fontsize=8.5)
        axes = canvas.inches(left, 0.45, w, h, facecolor=PAPER)
        if place != 1:
            axes.imshow(grey.numpy(), cmap="gray", vmin=0, vmax=1, aspect="auto", interpolation="nearest")
        if place > 0:
            strength = ((heat - low) / (top - low)).clamp(0, 1)
            alpha = None if place == 1 else strength.mul(0.75).add(0.1).numpy()
            shown = axes.imshow(heat.numpy(), cmap="inferno", vmin=low, vmax=top, alpha=alpha, aspect="auto")
        if place > 0 and hottest is not None:
            for size, colour in ((4.5, "black"), (2.0, "white")):
                axes.plot(
                    hottest[1], hottest[0], "o", markersize=13, fillstyle="none", color=colour, markeredgewidth=size
                )
        axes.set(xlim=(-0.5, wide - 0.5), ylim=(high - 0.5, -0.5))
        axes.set_xticks([])
        axes.set_yticks([])
        for spine in axes.spines.values():
            spine.set(edgecolor=WIRE, linewidth=0.8)
    bar = canvas.inches(0.2 + 3 * w + 2 * gap + 0.15, 0.45, 0.16, h)
    canvas.colorbar(shown, cax=bar)
    ticks = [low, top] if limits[1] > low else [low]
    bar.set_yticks(ticks, labels=list(map(number, ticks)))
    bar.tick_params(labelsize=8, colors=INK, length=2)
    return canvas


def _image(picture: torch.Tensor) -> tuple[torch.Tensor, bool]:
    """The picture as (H, W, 1 or 3) from 0 to 1, and whether it had to be stretched to that."""
    if not isinstance(picture, torch.Tensor):
        raise ValueError(f"wanted a picture as a tensor, got {told(picture)}")
    plain = picture.detach().cpu().float()
    if plain.dim() == 4 and plain.shape[0] == 1:
        plain = plain[0]
    if plain.dim() == 2:
        plain = plain[None]
    if plain.dim() != 3 or plain.shape[0] not in (1, 3) or not plain.numel():
        raise ValueError(f"wanted a picture of shape (C, H, W) or (1, C, H, W) with C 1 or 3, got {told(picture)}")
    plain = plain.nan_to_num(0.0, 0.0, 0.0)
    low, high = float(plain.min()), float(plain.max())
    stretched = low < -1e-6 or high > 1 + 1e-6
    if stretched:
        plain = (plain - low) / (high - low)
    return plain.clamp(0, 1).permute(1, 2, 0), stretched


def _heat(heat: torch.Tensor) -> torch.Tensor:
    if not isinstance(heat, torch.Tensor):
        raise ValueError(f"wanted a heat map as a tensor, got {told(heat)}")
    plain = heat.detach().cpu().float()
    while plain.dim() > 2 and plain.shape[0] == 1:
        plain = plain[0]
    if plain.dim() != 2 or not plain.numel():
        raise ValueError(f"wanted a heat map of shape (h, w), got {told(heat)}")
    return plain
