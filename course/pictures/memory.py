"""What takes how much memory: stacked bars with sizes that people can read."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import chain

from course.pictures.canvas import INK, PAPER, QUIET, Picture, empty_picture, in_own_style
from course.pictures.words import cut, listed, size_in_bytes

__all__ = ["draw_memory"]

# Fill, hatch and the hatch's colour: a grey print tells all six apart, and light follows dark.
_LOOKS = (
    ("#1f5fa8", "", PAPER),
    ("#f3c26b", "//", INK),
    ("#0b7259", "oo", PAPER),
    ("#ecd2e3", "xx", QUIET),
    ("#6b4e16", "--", PAPER),
    ("#d5dade", "\\\\", INK),
)
_ROW, _BAR = 0.52, 0.3


@in_own_style
def draw_memory(parts: Mapping[str, Mapping[str, float]], title: str = "Memory") -> Picture:
    """Draw a stacked bar for every label: ``{"plain": {"parameters": 4096, "saved tensors": 65536}, ...}``, in bytes.

    All bars have one scale, a kind keeps its colour and hatch from bar to bar, each bar's total stands at its end.
    Parameters, gradients, momentum, and what is saved for backward look the same in every picture.
    """
    bars = dict(parts)
    if not bars:
        return empty_picture(title, "Nothing was measured.")
    kinds = list(dict.fromkeys(chain.from_iterable(bars.values())))
    totals = [sum(bar.values()) for bar in bars.values()]
    alt = f"{title}. {listed(map(_in_words, bars, bars.values()))}"
    left = 0.4 + 0.082 * max(len(cut(label, 40)) for label in bars)
    wide = max(7.6, left + 5.4)
    columns = max(1, int(wide / (0.85 + 0.075 * max(len(cut(kind, 40)) for kind in ["", *kinds]))))
    foot = 0.2 + 0.25 * math.ceil(len(kinds) / columns)
    picture = Picture(wide, 0.55 + _ROW * len(bars) + foot, alt)
    picture.titled(title)
    room = wide - left - 1.15
    axes = picture.inches(left, foot, room, _ROW * len(bars), facecolor=PAPER)
    longest = max(totals) or 1.0
    axes.set(xlim=(0, longest), ylim=(len(bars) - 0.5, -0.5), xticks=[])
    axes.set_yticks(range(len(bars)), [cut(label, 40) for label in bars])
    axes.tick_params(left=False, labelsize=9.5, labelcolor=INK)
    axes.spines[["top", "right", "bottom"]].set_visible(False)
    ends = [0.0] * len(bars)
    looks = dict(
        zip(
            dict.fromkeys(["parameters", "gradients", "momentum", "saved for backward", *kinds]),
            _LOOKS * (1 + len(kinds)),
            strict=False,
        )
    )
    for kind, (colour, hatch, ink) in zip(kinds, map(looks.__getitem__, kinds), strict=True):
        sizes = [bar.get(kind, 0.0) for bar in bars.values()]
        look = {"color": colour, "hatch": hatch, "edgecolor": ink, "linewidth": 0.9, "label": cut(kind, 40)}
        drawn = axes.barh(range(len(bars)), sizes, _BAR / _ROW, ends, **look)
        words = [_if_it_fits(size_in_bytes(size), room * size / longest) for size in sizes]
        paper = {"boxstyle": "round,pad=0.15", "facecolor": PAPER, "edgecolor": "none"}
        axes.bar_label(drawn, words, label_type="center", fontsize=8, color=INK, bbox=paper)
        ends = [end + size for end, size in zip(ends, sizes, strict=True)]
    whole = axes.barh(range(len(bars)), totals, fill=False, linewidth=0)
    axes.bar_label(
        whole,
        list(map(size_in_bytes, totals)),
        padding=6,
        fontsize=9.5,
        weight="bold",
        color=INK,
        annotation_clip=False,
    )
    picture.key(columns)
    return picture


def _in_words(label: str, bar: Mapping[str, float]) -> str:
    """``plain 6 KiB (parameters 2 KiB, gradients 4 KiB)``."""
    parts = ", ".join(f"{kind} {size_in_bytes(size)}" for kind, size in bar.items())
    whole = f"{label} {size_in_bytes(sum(bar.values()))}"
    return f"{whole} ({parts})" if parts else whole


def _if_it_fits(text: str, wide: float) -> str:
    return text if wide > 0.085 * len(text) + 0.16 else ""
