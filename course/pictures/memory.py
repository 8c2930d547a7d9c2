"""What takes how much memory: stacked bars with sizes that people can read."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from course.pictures.canvas import INK, PAPER, QUIET, Picture, in_own_style
from course.pictures.words import cut, listed, size_in_bytes, told

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
def draw_memory(parts: Mapping[str, Mapping[str, float]], title: str | None = None) -> Picture:
    """Draw a stacked bar for every label: ``{"plain": {"parameters": 4096, "saved tensors": 65536}, ...}``, in bytes.

    All bars have one scale, a kind keeps its colour and hatch from bar to bar, each bar's total stands at its end.
    Raises ValueError for what is no number of bytes.
    """
    bars = _checked(parts)
    kinds = list(dict.fromkeys(kind for bar in bars.values() for kind in bar))
    title = title or "Memory"
    told_bars = (
        f"{label} {size_in_bytes(sum(bar.values()))}"
        + (f" ({', '.join(f'{kind} {size_in_bytes(size)}' for kind, size in bar.items())})" if bar else "")
        for label, bar in bars.items()
    )
    alt = f"{title}. " + (listed(told_bars) if bars else "Nothing was measured.")
    lines = _legend_lines(kinds)
    left = 0.4 + 0.082 * max((len(cut(label, 40)) for label in bars), default=0)
    picture = Picture(max(7.6, left + 5.4), 0.55 + _ROW * max(1, len(bars)) + 0.3 * len(lines) + 0.15, alt)
    tall = picture.titled(title)
    room = picture.get_figwidth() - left - 1.15
    axes = picture.sheet(0, 0, picture.get_figwidth(), tall)
    if not bars:
        picture.write(0.15, tall / 2 - 0.1, "Nothing was measured.", fontsize=10)
    longest = max((sum(bar.values()) for bar in bars.values()), default=0.0) or 1.0
    for place, (label, bar) in enumerate(bars.items()):
        y = tall - 0.55 - _ROW * (place + 0.5)
        axes.text(left - 0.12, y, cut(label, 40), ha="right", va="center", fontsize=9.5, color=INK)
        axes.plot([left, left], [y - _ROW / 2, y + _ROW / 2], color=INK, linewidth=1)
        x = left
        for kind, size in bar.items():
            wide = room * size / longest
            _segment(axes, x, y, wide, kinds.index(kind), size_in_bytes(size))
            x += wide
        axes.text(x + 0.08, y, size_in_bytes(sum(bar.values())), va="center", fontsize=9.5, weight="bold", color=INK)
    for row, line in enumerate(lines):
        x, y = 0.2, 0.15 + 0.3 * (len(lines) - row - 0.5)
        for kind in line:
            _segment(axes, x, y, 0.34, kinds.index(kind), "", 0.17)
            axes.text(x + 0.42, y, cut(kind, 40), va="center", fontsize=8.5, color=INK)
            x += 0.75 + 0.075 * len(cut(kind, 40))
    return picture


def _checked(parts: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
    if not isinstance(parts, Mapping) or not all(isinstance(bar, Mapping) for bar in parts.values()):
        raise ValueError(f"wanted a dict {{label: {{kind: bytes}}}}, got {told(parts)}")
    bars = {str(label): {str(kind): size for kind, size in bar.items()} for label, bar in parts.items()}
    for label, bar in bars.items():
        for kind, size in bar.items():
            try:
                bar[kind] = float(size)
            except (TypeError, ValueError):
                raise ValueError(f"wanted a number of bytes, but {label!r}, {kind!r} is {told(size)}") from None
            if not (math.isfinite(bar[kind]) and bar[kind] >= 0):
                raise ValueError(f"wanted a number of bytes, but {label!r}, {kind!r} is {size}")
    return bars


def _segment(axes: Any, x: float, y: float, wide: float, kind: int, text: str, high: float = _BAR) -> None:
    from matplotlib.patches import Rectangle

    colour, hatch, ink = _LOOKS[kind % len(_LOOKS)]
    if wide <= 0:
        return
    corner = (x, y - high / 2)
    axes.add_patch(Rectangle(corner, wide, high, facecolor=colour, edgecolor=ink, hatch=hatch, linewidth=0))
    axes.add_patch(Rectangle(corner, wide, high, fill=False, edgecolor=INK, linewidth=0.9))
    if text and wide > 0.085 * len(text) + 0.16:
        axes.text(
            x + wide / 2,
            y,
            text,
            ha="center",
            va="center",
            fontsize=8,
            color=INK,
            bbox={"boxstyle": "round,pad=0.15", "facecolor": PAPER, "edgecolor": "none"},
        )


def _legend_lines(kinds: list[str]) -> list[list[str]]:
    lines: list[list[str]] = []
    room = 0.0
    for kind in kinds:
        wide = 0.75 + 0.075 * len(cut(kind, 40))
        if not lines or wide > room:
            lines.append([])
            room = 7.2
        lines[-1].append(kind)
        room -= wide
    return lines
