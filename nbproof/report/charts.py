"""The report's pictures: matplotlib, as SVG that takes the page's own ink, so they read in light, dark and print."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

__all__ = ["COLOURS", "score_chart", "status_chart"]

_INK, _QUIET = "#010203", "#040506"
"""Stand for the page's ink and quiet ink; replaced by CSS."""

COLOURS: Mapping[str, tuple[str, str]] = {
    "passed": ("#2f9e63", ""), "failed": ("#e2604c", ""), "error": ("#b3620a", "////"), "timeout": ("#8a63d2", "...."),
    "out of memory": ("#4a7fd0", "xxxx"), "killed": ("#7b4a3a", "\\\\\\\\"), "not answered": ("#9aa3ad", ""),
    "uncertain": ("#c9a227", "oo"),
}  # fmt: skip
"""How an exercise ended -> colour and hatching. Nothing is told by colour alone: hatching, order and the table say it too."""


def score_chart(scores: Sequence[float], max_score: float, median: float, title: str, prefix: str) -> str:
    """Everybody's score as a dot (40 learners at most) or in bars, with the median; inline SVG."""
    import numpy as np

    figure = _figure(3.5, 1.7)
    axes = figure.add_axes((0.08, 0.24, 0.89, 0.72))
    bins = np.linspace(0, max(max_score, 1e-9), 13)
    counts, edges = np.histogram(np.clip(scores, 0, max_score), bins=bins)
    if len(scores) <= 40:
        for count, left in zip(counts, edges, strict=False):
            middle = left + (edges[1] - edges[0]) / 2
            axes.scatter([middle] * int(count), np.arange(int(count)) + 0.5, s=26, color="#3a7bc8", linewidths=0)
    else:
        axes.bar(edges[:-1], counts, width=np.diff(edges) * 0.9, align="edge", color="#3a7bc8")
    top = max(4, int(counts.max()) * 1.12)
    axes.plot([median, median], [0, top], color="#d0570f", lw=1.6, ls=(0, (4, 2)))
    left_side = median > max_score * 0.6
    axes.text(
        median, top, f"median {median:g} " if left_side else f" median {median:g}", color=_INK, fontsize=8.5,
        ha="right" if left_side else "left", va="top",
    )  # fmt: skip
    axes.set_xlim(-0.02 * max_score, max_score * 1.02)
    axes.set_ylim(0, top)
    axes.set_xticks([0, max_score / 2, max_score])
    axes.set_xticklabels(["0", f"{max_score / 2:g}", f"{max_score:g} points"])
    axes.get_xticklabels()[-1].set_ha("right")
    _plain(axes)
    told = ", ".join(
        f"{int(count)} from {low:.3g} to {high:.3g}"
        for count, low, high in zip(counts, edges, edges[1:], strict=False)
        if count
    )
    alt = f"Scores of {len(scores)} learners in {title}, of {max_score:g} points: {told}. Median {median:g}."
    return _svg(figure, alt, prefix)


def status_chart(rows: Sequence[tuple[str, Mapping[str, int]]], title: str, prefix: str) -> str:
    """For each exercise, how it ended, as a stacked bar over all who handed in; inline SVG."""
    height = 0.27 * len(rows) + 0.5
    figure = _figure(9.6, height)
    axes = figure.add_axes((0.2, 0.02, 0.79, 1 - 0.42 / height))
    used = [status for status in COLOURS if any(counts.get(status) for _, counts in rows)]
    for place, (_, counts) in enumerate(rows):
        total, left = sum(counts.values()) or 1, 0.0
        for status in used:
            share = counts.get(status, 0) / total
            if share:
                colour, hatch = COLOURS[status]
                axes.barh(place, share, 0.74, left=left, color=colour, hatch=hatch, edgecolor="#ffffff", lw=0.6)
                if share >= 0.06:
                    axes.text(
                        left + share / 2, place, f"{counts[status]}", ha="center", va="center", fontsize=8,
                        color="#000000", bbox={"boxstyle": "round,pad=0.12", "fc": "#ffffffd0", "lw": 0},
                    )  # fmt: skip
                left += share
    axes.set_xlim(0, 1)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_yticks(range(len(rows)), [name for name, _ in rows])
    axes.set_xticks([])
    _plain(axes)
    from matplotlib.patches import Patch

    handles = [
        Patch(facecolor=COLOURS[status][0], hatch=COLOURS[status][1], edgecolor="#ffffff", lw=0.6, label=status)
        for status in used
    ]
    if handles:
        legend = figure.legend(
            handles=handles, loc="upper right", ncols=len(handles), frameon=False, fontsize=8, borderaxespad=0.2,
            handlelength=1.3, columnspacing=1.2,
        )  # fmt: skip
        for text in legend.get_texts():
            text.set_color(_INK)
    alt = f"How the exercises of {title} ended. " + " ".join(
        f"{name}: {', '.join(f'{counts[status]} {status}' for status in used if counts.get(status))}."
        for name, counts in rows
    )
    return _svg(figure, alt, prefix)


def _figure(width: float, height: float) -> Any:
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height))
    FigureCanvasSVG(figure)
    figure.patch.set_alpha(0)
    return figure


def _plain(axes: Any) -> None:
    axes.patch.set_alpha(0)
    axes.tick_params(length=0, labelsize=8.5, labelcolor=_INK)
    axes.set_yticks(axes.get_yticks() if len(axes.get_yticklabels()) and axes.get_xticks().size == 0 else [])
    for side, spine in axes.spines.items():
        spine.set_visible(side == "bottom" and axes.get_xticks().size > 0)
        spine.set_color(_QUIET)


def _svg(figure: Any, alt: str, prefix: str) -> str:
    """The figure as an inline SVG with ids of its own and the page's colours."""
    import matplotlib

    text = io.StringIO()
    settings = {"svg.fonttype": "none", "svg.hashsalt": prefix, "hatch.linewidth": 0.7, "font.family": "sans-serif"}
    with matplotlib.rc_context(settings):
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    svg = text.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'\bid="', f'id="{prefix}-', svg)
    svg = re.sub(r'(url\(|xlink:href=")#', rf"\g<1>#{prefix}-", svg)
    svg = svg.replace(_INK, "currentColor").replace(_QUIET, "var(--quiet)")
    # matplotlib names its own list of fonts; the page has one already.
    svg = re.sub(r"(font(?:-family)?: [^;\"]*?)'DejaVu Sans'[^;\"]*", r"\g<1>system-ui, 'DejaVu Sans', sans-serif", svg)
    return svg.replace("<svg ", f'<svg role="img" aria-label="{escape(alt)}" class="chart" ', 1)
