"""Two or more pictures next to each other, to be compared."""

from __future__ import annotations

from dataclasses import dataclass

from course.pictures.canvas import Picture

__all__ = ["Beside", "beside"]


@dataclass(frozen=True, repr=False)
class Beside:
    """What a notebook shows for :func:`beside`: pictures in a row, below each other where the page is narrow."""

    pictures: tuple[Picture, ...]
    texts: tuple[str, ...]

    def _repr_html_(self) -> str:
        images = "".join(
            f"<div>{picture.image(alt=text)}</div>" for picture, text in zip(self.pictures, self.texts, strict=True)
        )
        # As many columns as fit; a picture shrinks a little rather than go to the next row.
        widest = max(picture.get_figwidth() * 96 for picture in self.pictures)
        column = f"repeat(auto-fit,minmax(min(100%,{0.72 * widest:.0f}px),max-content))"
        return f'<div style="display:grid;gap:12px;align-items:start;grid-template-columns:{column}">{images}</div>'

    def __repr__(self) -> str:
        return "\n".join(self.texts)


def beside(*pictures: Picture | tuple[Picture, str]) -> Beside:
    """Show pictures in one row. A pair (picture, words) puts words of your own in place of the picture's alt text."""
    pairs = [one if isinstance(one, tuple) else (one, one.alt) for one in pictures]
    return Beside(tuple(picture for picture, _ in pairs), tuple(text for _, text in pairs))
