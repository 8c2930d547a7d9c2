"""Feature maps as pictures: what layers of a convolutional net made of one input."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["draw_clobber", "draw_feature_maps"]

_PAPER, _INK = "#fbfaf6", "#1d2733"
_BEFORE, _AFTER = "#2166ac", "#b2182b"


def draw_feature_maps(features: Mapping[str, torch.Tensor], columns: int = 8, title: str | None = None) -> Figure:
    """A grid of maps, one row a layer: the first ``columns`` channels of the first sample in the batch.

    ``features`` maps a layer's name to its output, shape (N, C, H, W), any real dtype. Each row has a
    scale of its own, white at 0, red above, blue below. Raises ValueError for an empty mapping or other shapes.
    """
    if not isinstance(features, Mapping) or not features:
        raise ValueError(f"wanted a dict {{layer name: tensor of shape (N, C, H, W)}}, got {_told(features)}")
    for name, value in features.items():
        if not isinstance(value, torch.Tensor) or value.dim() != 4:
            raise ValueError(f"features[{name!r}] is {_told(value)}, wanted a tensor of shape (N, C, H, W)")
    import matplotlib.pyplot as plt

    # Inches; a bold 11-point letter is about 0.11 wide.
    size, left, top = 1.12, max(1.75, 0.35 + 0.11 * max(map(len, features))), 0.5 if title else 0.12
    width, height = left + size * columns + 0.15, top + size * len(features) + 0.12
    figure: Figure = plt.figure(figsize=(width, height), facecolor=_PAPER)
    for row, (name, value) in enumerate(features.items()):
        maps = value[0].detach().float().cpu()
        middle = 1 - (top + size * (row + 0.5)) / height
        _label(
            figure, name, f"{len(maps)} maps, {maps.shape[1]} × {maps.shape[2]}", (left - 0.15) / width, middle, height
        )
        limit = float(maps[:columns].abs().max()) or 1.0
        for column, one in enumerate(maps[:columns]):
            box = (
                (left + size * column) / width,
                middle - 0.46 * size / height,
                0.92 * size / width,
                0.92 * size / height,
            )
            axes = figure.add_axes(box)
            axes.imshow(one, cmap="RdBu_r", vmin=-limit, vmax=limit)
            _bare(axes)
    if title:
        figure.text(0.15 / width, 1 - 0.28 / height, title, fontsize=12, fontweight="bold", color=_INK, va="center")
    plt.close(figure)  # shown once, as the cell's result, and not a second time by the notebook's backend
    return figure


def draw_clobber(
    before: torch.Tensor,
    after: torch.Tensor,
    columns: int = 6,
    labels: tuple[str, str] = ("when the hook ran", "after forward"),
    title: str | None = None,
) -> Figure:
    """One feature, twice: above as it was when the hook ran, below as it is now; to the right, how the values spread.

    Both have shape (N, C, H, W). All maps share one colour scale: blue below 0, white at 0, red above.
    Raises ValueError where the shapes differ or are not 4-D.
    """
    if before.shape != after.shape or before.dim() != 4:
        raise ValueError(f"wanted two tensors of one shape (N, C, H, W), got {_told(before)} and {_told(after)}")
    import matplotlib.pyplot as plt

    rows = [tensor[0].detach().float().cpu() for tensor in (before, after)]
    columns = min(columns, len(rows[0]))
    limit = max(float(maps[:columns].abs().max()) for maps in rows) or 1.0
    figure: Figure = plt.figure(
        figsize=(1.12 * columns + 4.6, 3.1 if title else 2.7), facecolor=_PAPER, layout="constrained"
    )
    if title:
        figure.suptitle(title, fontsize=12, fontweight="bold", color=_INK, x=0.01, ha="left")
    grid = figure.add_gridspec(2, columns + 1, width_ratios=[1.0] * columns + [2.1])
    bins = torch.linspace(float(rows[0].min()), float(rows[0].max()), 41).tolist()
    for row, (maps, label, colour) in enumerate(zip(rows, labels, (_BEFORE, _AFTER), strict=True)):
        for column in range(columns):
            axes = figure.add_subplot(grid[row, column])
            axes.imshow(maps[column], cmap="RdBu_r", vmin=-limit, vmax=limit)
            _bare(axes)
            if column == 0:
                axes.set_ylabel(
                    f"{label}\nmin {float(maps.min()):.2f}",
                    rotation=0,
                    ha="right",
                    va="center",
                    fontsize=10,
                    color=_INK,
                )
        spread = figure.add_subplot(grid[row, columns])
        spread.set_facecolor(_PAPER)
        spread.hist(maps.flatten().tolist(), bins=bins, color=colour)
        spread.axvline(0, color=_INK, linewidth=0.8)
        spread.set_yscale("log")
        spread.tick_params(labelsize=8, colors=_INK, labelbottom=row == 1)
        spread.set_ylabel("count", fontsize=8, color=_INK)
        for side in ("top", "right"):
            spread.spines[side].set_visible(False)
    plt.close(figure)
    return figure


def _label(figure: Figure, name: str, size: str, x: float, y: float, height: float) -> None:
    figure.text(x, y + 0.1 / height, name, fontsize=11, fontweight="bold", color=_INK, ha="right", va="center")
    figure.text(x, y - 0.13 / height, size, fontsize=9, color=_INK, ha="right", va="center")


def _bare(axes: Any) -> None:
    axes.set_xticks([])
    axes.set_yticks([])
    for spine in axes.spines.values():
        spine.set_edgecolor("#8a939c")
        spine.set_linewidth(0.6)


def _told(value: object) -> str:
    if isinstance(value, torch.Tensor):
        return f"a tensor of shape {tuple(value.shape)}"
    return "an empty dict" if isinstance(value, Mapping) and not value else f"a {type(value).__name__}"
