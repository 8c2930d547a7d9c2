"""How a loss fell in one training run beside another, such as before and after a cure."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence

from matplotlib.lines import Line2D

from course.pictures.canvas import BLUE, INK, ORANGE, PAPER, QUIET, RED, Picture, empty_picture, in_own_style
from course.pictures.words import cut, listed, number
from nbproof.text import counted

__all__ = ["draw_curves"]

_LINES = ((ORANGE, 4.2), (BLUE, 1.5), (INK, 0.8))
"""Colour and width: where runs are alike, one is seen below the other."""


@in_own_style
def draw_curves(
    runs: Mapping[str, Sequence[float]], title: str = "Loss, step by step", most: float = math.inf
) -> Picture:
    """Draw numbers step by step, one line a run: ``runs`` maps the run's name to its losses.

    Numbers above ``most`` are drawn at ``most``; the words below the picture tell them as they are. A run that ends before
    the longest one, or has a number that is not finite, gets a cross where it ends.
    """
    if most < math.inf:
        title += f", cut off at {number(most)}"
    curves = {name: list(itertools.takewhile(math.isfinite, losses)) for name, losses in runs.items()}
    longest = max(map(len, runs.values()), default=0)
    if not longest:
        return empty_picture(title, "Nothing recorded: has the training run?")
    says = [_told(name, curve, longest) for name, curve in curves.items()]
    picture = Picture(7.6, 3.02 + 0.22 * len(says), f"{title}. Step by step: {listed(says)}")
    tall = picture.titled(title)
    axes = picture.inches(0.55, tall - 2.6, 6.85, 2.1, facecolor=PAPER)
    for at, (curve, said) in enumerate(zip(curves.values(), says, strict=True)):
        colour, width = _LINES[at % len(_LINES)]
        axes.plot(range(len(curve)), [min(one, most) for one in curve], color=colour, linewidth=width)
        if curve and len(curve) < longest:
            axes.plot(
                [len(curve) - 1], [min(curve[-1], most)], color=RED, marker="X", markersize=10, zorder=4, clip_on=False
            )
        height = 0.17 + 0.22 * (len(says) - 1 - at)
        picture.put(Line2D([0.15, 0.45], [height, height], color=colour, linewidth=width))
        picture.write(0.55, height, cut(said, 100), fontsize=8.5)
    axes.set(xlim=(0, max(longest - 1, 1)), ylim=(min(itertools.chain([0.0], *curves.values())), None))
    axes.set_xlabel("step", fontsize=8, color=INK, labelpad=1)
    axes.tick_params(labelsize=8, colors=INK, length=2, pad=2)
    axes.spines[:].set(edgecolor=QUIET, linewidth=0.7)
    return picture


def _told(name: str, curve: Sequence[float], longest: int) -> str:
    if not curve:
        return f"{name}: no finite number"
    ended = ", where it ended (cross)" if len(curve) < longest else ""
    return f"{name}: {number(curve[0])} to {number(curve[-1])} in {counted(len(curve), 'step')}{ended}"
