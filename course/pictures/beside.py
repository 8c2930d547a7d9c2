"""Two or more pictures next to each other, to be compared."""

from __future__ import annotations

import base64
import html
import io
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Beside", "beside"]


class Beside:
    """What a notebook shows for :func:`beside`: pictures in a row, below each other where the page is narrow."""

    def __init__(self, figures: tuple[Figure, ...], texts: tuple[str, ...]) -> None:
        self.figures = figures
        self.texts = texts

    def _repr_html_(self) -> str:
        images = []
        for figure, text in zip(self.figures, self.texts, strict=True):
            buffer = io.BytesIO()
            # Twice the pixels that are shown, for sharp text on any screen.
            figure.savefig(buffer, format="png", dpi=144, facecolor=figure.get_facecolor())
            data = base64.b64encode(buffer.getvalue()).decode("ascii")
            width = round(figure.get_figwidth() * 72)
            images.append(
                f'<img alt="{html.escape(text)}" src="data:image/png;base64,{data}" '
                f'style="width:{width}px;max-width:100%;height:auto">'
            )
        return f'<div style="display:flex;flex-wrap:wrap;gap:12px">{"".join(images)}</div>'

    def __repr__(self) -> str:
        return "\n".join(self.texts)


def beside(*pictures: tuple[Figure, str]) -> Beside:
    """Show (figure, the same in words) pairs in one row. The words are for those who cannot see the figure."""
    return Beside(tuple(figure for figure, _ in pictures), tuple(text for _, text in pictures))
