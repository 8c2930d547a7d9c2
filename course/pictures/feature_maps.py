"""Feature maps as pictures: what layers of a convolutional net made of one input."""

from __future__ import annotations

from collections.abc import Mapping

import torch

from course.pictures.canvas import BLUE, INK, ORANGE, PAPER, QUIET, Picture, in_own_style
from course.pictures.cells import span
from course.pictures.words import cut, listed, number, told

__all__ = ["draw_clobber", "draw_feature_maps"]


@in_own_style
def draw_feature_maps(features: Mapping[str, torch.Tensor], columns: int = 8, title: str | None = None) -> Picture:
    """A grid of maps, one row a layer: the first ``columns`` channels of the first sample in the batch.

    ``features`` maps a layer's name to its output, shape (N, C, H, W), any real dtype. Each row has a
    scale of its own, white at 0, red above, blue below. Raises ValueError for an empty mapping or other shapes.
    """
    if not isinstance(features, Mapping) or not features:
        raise ValueError(f"wanted a dict {{layer name: tensor of shape (N, C, H, W)}}, got {told(features)}")
    for name, value in features.items():
        if not isinstance(value, torch.Tensor) or value.dim() != 4:
            raise ValueError(f"features[{name!r}] is {told(value)}, wanted a tensor of shape (N, C, H, W)")
        if not value.numel():
            raise ValueError(f"features[{name!r}] is {told(value)}, which holds nothing")
    names = {name: cut(str(name), 26) for name in features}
    # Inches; a bold 10-point letter is about 0.1 wide.
    size, left, top = 1.0, max(1.55, 0.35 + 0.098 * max(map(len, names.values()))), 0.5 if title else 0.12
    columns = max(1, min(columns, max(value.shape[1] for value in features.values())))
    width, height = max(left + size * columns + 0.15, 6.4), top + size * len(features) + 0.34
    sizes = {name: f"{value.shape[1]} maps, {value.shape[2]} × {value.shape[3]}" for name, value in features.items()}
    words = listed(f"{name}: {size}, values {_range(features[name][0])}" for name, size in sizes.items())
    heading = title or "Feature maps"
    alt = f"{heading}. One row a layer, at most {columns} maps of each, blue below 0, white at 0, red above: {words}"
    picture = Picture(width, height, alt)
    for row, (name, value) in enumerate(features.items()):
        maps = _plain(value)
        middle = height - top - size * (row + 0.5)
        picture.write(left - 0.15, middle + 0.1, names[name], fontsize=10, fontweight="bold", ha="right")
        picture.write(left - 0.15, middle - 0.13, sizes[name], fontsize=8.5, ha="right")
        limit = _limit(maps[:columns])
        for column, one in enumerate(maps[:columns]):
            _map(picture, one, limit, (left + size * column, middle - 0.46 * size, 0.92 * size, 0.92 * size))
    if title:
        picture.write(0.15, height - 0.28, title, fontsize=11.5, fontweight="bold")
    picture.write(
        0.15,
        0.16,
        "blue −: below 0   ·   white: 0   ·   red +: above 0   ·   each row has its own scale",
        fontsize=8.5,
        color=QUIET,
    )
    return picture


@in_own_style
def draw_clobber(
    before: torch.Tensor,
    after: torch.Tensor,
    columns: int = 6,
    labels: tuple[str, str] = ("when the hook ran", "after forward"),
    title: str | None = None,
) -> Picture:
    """One feature, twice: above as it was when the hook ran, below as it is now; to the right, how the values spread.

    Both have shape (N, C, H, W). All maps share one colour scale: blue below 0, white at 0, red above.
    Raises ValueError where the shapes differ or are not 4-D.
    """
    if before.shape != after.shape or before.dim() != 4 or not before.numel():
        raise ValueError(f"wanted two tensors of one shape (N, C, H, W), got {told(before)} and {told(after)}")
    rows = [_plain(tensor) for tensor in (before, after)]
    columns = min(columns, len(rows[0]))
    limit = max(_limit(maps[:columns]) for maps in rows)
    top, size, left = (0.5 if title else 0.15), 0.95, 0.35 + 0.075 * max(map(len, labels))
    height, spread = top + 2 * size + 0.4, left + size * columns + 0.65
    changed = float((before != after).double().mean())
    words = "; ".join(f"{label}: values {_range(maps)}" for label, maps in zip(labels, rows, strict=True))
    alt = f"{title or 'A feature, twice'}. Maps above and below, with a histogram each. {words}; {changed:.0%} changed"
    picture = Picture(spread + 2.05, height, alt)
    if title:
        picture.write(0.15, height - 0.25, title, fontsize=11.5, fontweight="bold")
    low, high = span(rows[0])
    bins = torch.linspace(low, high if high > low else low + 1, 41).tolist()
    for row, (maps, label, look) in enumerate(zip(rows, labels, ((BLUE, ""), (ORANGE, "///")), strict=True)):
        bottom = height - top - size * (row + 1)
        picture.write(left - 0.12, bottom + 0.6 * size, label, fontsize=9.5, fontweight="bold", ha="right")
        picture.write(left - 0.12, bottom + 0.38 * size, f"min {number(float(maps.min()))}", fontsize=9, ha="right")
        for column in range(columns):
            _map(picture, maps[column], limit, (left + size * column, bottom + 0.04, 0.92 * size, 0.92 * size))
        axes = picture.inches(spread, bottom + 0.1, 1.9, 0.82 * size, facecolor=PAPER)
        axes.hist(
            maps[maps.isfinite()].double().numpy(),
            bins=bins,
            facecolor=look[0],
            hatch=look[1],
            edgecolor=PAPER,
            linewidth=0.3,
        )
        axes.axvline(0, color=INK, linewidth=0.8)
        axes.set_yscale("log")
        axes.set_yticks([])
        axes.tick_params(which="both", labelsize=8, colors=INK, labelbottom=row == 1, left=False)
        axes.set_ylabel("how many", fontsize=8.5, color=INK)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
    picture.write(0.15, 0.18, "blue −: below 0   ·   white: 0   ·   red +: above 0", fontsize=8.5, color=QUIET)
    return picture


def _plain(value: torch.Tensor) -> torch.Tensor:
    """The first sample's maps."""
    maps = value[0].detach().cpu()
    return (maps.abs() if maps.is_complex() else maps).float()


def _limit(maps: torch.Tensor) -> float:
    finite = maps[maps.isfinite()]
    return float(finite.abs().max()) if len(finite) and bool(finite.any()) else 1.0


def _range(maps: torch.Tensor) -> str:
    finite = maps.isfinite()
    if not finite.any():
        return "all NaN or inf"
    low, high = span(maps.detach())
    return f"from {number(low)} to {number(high)}" + ("" if finite.all() else ", NaN or inf among them")


def _map(picture: Picture, one: torch.Tensor, limit: float, box: tuple[float, float, float, float]) -> None:
    shown = one.nan_to_num(torch.nan, torch.nan, torch.nan).numpy()
    picture.shade(shown, box, cmap="RdBu_r", limits=(-limit, limit))
    # In grey, blue and red look alike: the sign says which it is.
    below, above = bool((one < 0).any()), bool((one > 0).any())
    picture.write(
        box[0] + 0.04,
        box[1] + box[3] - 0.045,
        "±" if below and above else "−" if below else "+" if above else "0",
        va="top",
        fontsize=7.5,
        bbox={"facecolor": PAPER, "edgecolor": "none", "pad": 0.8},
        zorder=3,
    )
