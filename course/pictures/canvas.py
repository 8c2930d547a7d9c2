"""What every picture of the course is drawn on: a figure that says in words what it shows.

A :class:`Picture` is a matplotlib figure with an ``alt`` text. matplotlib.pyplot does not know of it: nothing has to
be closed, no front end shows it a second time, and its memory is free with the last name for it. It has a paper of
its own, and no style that the learner sets changes it: a light one, and a dark one for the same picture on a dark page.
"""

from __future__ import annotations

import base64
import contextlib
import html
import io
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import matplotlib
import numpy
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.image import AxesImage, BboxImage
from matplotlib.patches import Rectangle
from matplotlib.transforms import Bbox, TransformedBbox

__all__ = [
    "BLUE",
    "FAINT",
    "INK",
    "MONO",
    "ORANGE",
    "PAPER",
    "QUIET",
    "RED",
    "WIRE",
    "Beside",
    "Box",
    "Picture",
    "beside",
    "empty_picture",
    "in_own_style",
    "in_the_dark",
    "own_style",
]

PAPER, INK = "#fbfaf6", "#1d2733"
QUIET, WIRE, FAINT = "#55606c", "#6b7683", "#e4e7ea"
"""Small print; lines between things; bands and grids, which nobody has to see."""

# Blue and orange are apart for every kind of colour vision. Red is never the only sign of anything: a word, a frame or
# a cross goes with it. All are dark enough to write with.
BLUE, ORANGE, RED = "#1f5fa8", "#b8500a", "#b3261e"
MONO = "DejaVu Sans Mono"

# How light a colour is on a light page and on a dark one, together: paper, 0.98 of 1, comes out as 0.1, ink as 0.94.
_DARK_AND_LIGHT = 1.08

# CSS pixels that an inch is shown with; the file has half as many again, for sharp text on any screen.
_PIXELS = 96

# Each place that shows notebooks says in its own way that its page is dark: JupyterLab and nbconvert, the site and Colab,
# VS Code; the site leaves it to the reader's system if the reader has not chosen. Where styles are taken away, the light
# picture stays.
_WHERE_DARK = (
    "<style>"
    ':is([data-jp-theme-light="false"],[data-theme="dark"],[theme="dark"],.vscode-dark) .two-looks{content:var(--dark)}'
    '@media(prefers-color-scheme:dark){[data-theme="auto"] .two-looks{content:var(--dark)}}'
    "</style>"
)

Box = tuple[float, float, float, float]
"""Left, bottom, width and height, in inches."""


class Picture(Figure):  # type: ignore[misc]
    """A matplotlib figure on the course's paper. ``alt`` is what it shows, in words, for those who cannot see it."""

    def __init__(self, width: float, height: float, alt: str = "", **options: Any) -> None:
        super().__init__(figsize=(width, height), facecolor=PAPER, **options)
        self.alt = alt

    def inches(self, left: float, bottom: float, width: float, height: float, **options: Any) -> Any:
        """New axes at a place measured in inches from the lower left corner."""
        wide, high = self.get_size_inches()
        return self.add_axes((left / wide, bottom / high, width / wide, height / high), **options)

    def sheet(self, left: float, bottom: float, width: float, height: float, x: float = 0.0, y: float = 0.0) -> Any:
        """Axes at such a place that are measured in inches, too, from (x, y) on, and have no frame."""
        axes = self.inches(left, bottom, width, height)
        axes.set(xlim=(x, x + width), ylim=(y, y + height))
        axes.axis("off")
        return axes

    def titled(self, title: str, below: str = "", **style: Any) -> float:
        """Write a title at the top, and small print at the bottom; returns the picture's height in inches."""
        tall = float(self.get_figheight())
        self.write(0.15, tall - 0.25, title, **{"fontsize": 11.5, "weight": "bold", **style})
        self.write(0.15, 0.17, below, fontsize=8.5, color=QUIET)
        return tall

    def write(self, x: float, y: float, text: str, **options: Any) -> Any:
        """Text at a place measured in inches from the lower left corner."""
        wide, high = self.get_size_inches()
        style = {"color": INK, "fontsize": 9, "va": "center", "clip_on": False, **options}
        return self.text(x / wide, y / high, text, **style)

    def put(self, artist: Any) -> Any:
        """Add an artist that is measured in inches from the lower left corner: much faster than axes for it."""
        artist.set_transform(self.dpi_scale_trans)
        return self.add_artist(artist)

    def key(self, columns: int, left: float = 0.1, bottom: float = 0.05, handles: Any = None) -> None:
        """What stands for what, in the lower left corner: of these artists, or of all in the axes that have a label."""
        wide, high = self.get_size_inches()
        corner = left / wide, bottom / high
        style = {
            "frameon": False,
            "fontsize": 8.5,
            "labelcolor": INK,
            "borderpad": 0.2,
            "handletextpad": 0.5,
            "handleheight": 1.0,
        }
        self.legend(handles=handles, loc="lower left", bbox_to_anchor=corner, ncols=columns, columnspacing=1.4, **style)

    def shade(
        self, values: Any, box: Box, limits: tuple[float, float] | None = None, crossed: str = INK, **style: Any
    ) -> None:
        """An array of colours, or of numbers between ``limits``, as an image in a box, framed. What is NaN is crossed out."""
        if limits is not None and not bool((values == values).all()):
            self.put(Rectangle(box[:2], *box[2:], facecolor=PAPER, edgecolor=crossed, hatch="xxxx", lw=0, zorder=0))
        place = TransformedBbox(Bbox.from_bounds(*box), self.dpi_scale_trans)
        image = BboxImage(place, **{"interpolation": "nearest", "zorder": 1, **style})
        image.set_data(values)
        image.set_clim(limits)
        self.add_artist(image)
        self.put(Rectangle(box[:2], *box[2:], fill=False, edgecolor=WIRE, linewidth=0.7, zorder=2))

    def pngs(self, colours: int = 0, scale: float = 1.5) -> tuple[bytes, bytes]:
        """The picture as a PNG file, twice: for light pages and for dark ones. Photographs and shades are alike in both.

        It has few colours where ``colours`` says so. What it took to draw it is given back.
        """
        kept, dpi = self.canvas, self.dpi
        with own_style(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a name with a letter that the font lacks still makes a picture
            try:
                canvas = FigureCanvasAgg(self)
                self.dpi = scale * _PIXELS
                canvas.draw()
                light = numpy.array(canvas.buffer_rgba())[..., :3]
                dark = in_the_dark(light)
                for box in self._shaded(canvas.get_renderer()):
                    dark[box] = light[box]
            finally:
                self.set_canvas(kept)
                self.dpi = dpi
        return _file_of(light, colours), _file_of(dark, colours or 255)  # most readers see the first one

    def _shaded(self, renderer: Any) -> Iterator[tuple[slice, slice]]:
        """Where photographs and shades are, as rows and columns of pixels: there a colour stands for a value."""
        high = round(self.bbox.height)
        for kind in (BboxImage, AxesImage):
            for artist in self.findobj(kind):
                box = (artist.axes or artist).get_window_extent(renderer)
                bottom, top = (min(max(round(high - edge), 0), high) for edge in (box.y0, box.y1))
                yield slice(top, bottom), slice(max(round(box.x0), 0), max(round(box.x1), 0))

    def image(self, style: str = "", **file: Any) -> str:
        """An ``<img>`` of this picture's size and words, of :meth:`pngs` with ``file``."""
        width = round(self.get_figwidth() * _PIXELS)
        light, dark = (f"data:image/png;base64,{base64.b64encode(png).decode('ascii')}" for png in self.pngs(**file))
        return (
            f'<img class="two-looks" alt="{html.escape(self.alt)}" src="{light}" '
            f'style="width:{width}px;max-width:100%;height:auto;{style}--dark:url({dark})">{_WHERE_DARK}'
        )

    def _ipython_display_(self) -> None:
        # JupyterLab's and nbconvert's first choice is the HTML, which carries the alt text; export to LaTeX and
        # graded notebooks show the PNG. A mere bundle would have its PNG drawn again, as matplotlib does in notebooks.
        from IPython.display import display

        png, _ = self.pngs()
        width, height = (round(float(inches) * _PIXELS) for inches in self.get_size_inches())
        bundle = {
            "text/html": self.image(),
            "image/png": base64.b64encode(png).decode("ascii"),
            "text/plain": self.alt,
        }
        display(bundle, metadata={"image/png": {"alt": self.alt, "width": width, "height": height}}, raw=True)

    def __repr__(self) -> str:
        return self.alt or super().__repr__()


@dataclass(frozen=True, repr=False)
class Beside:
    """What a notebook shows for :func:`beside`."""

    pictures: tuple[Picture, ...]

    def _repr_html_(self) -> str:
        images = "".join(f"<div>{picture.image()}</div>" for picture in self.pictures)
        # As many columns as fit; a picture shrinks a little rather than go to the next row.
        widest = max(picture.get_figwidth() * _PIXELS for picture in self.pictures)
        column = f"repeat(auto-fit,minmax(min(100%,{0.72 * widest:.0f}px),max-content))"
        return f'<div style="display:grid;gap:12px;align-items:start;grid-template-columns:{column}">{images}</div>'

    def __repr__(self) -> str:
        return "\n".join(picture.alt for picture in self.pictures)


def beside(*pictures: Picture) -> Beside:
    """Show pictures in a row, to be compared; below each other where the page is narrow."""
    return Beside(pictures)


def in_the_dark(pixels: Any) -> Any:
    """The same colours for a dark page: what was light is dark, and the other way round; blue stays blue."""
    pixels = numpy.asarray(pixels, dtype=numpy.float32)
    light = pixels @ numpy.array([0.299, 0.587, 0.114], dtype=numpy.float32)
    darker = (_DARK_AND_LIGHT * 255 - 2 * light)[..., None]
    return (pixels + darker).clip(0, 255).astype(numpy.uint8)


def _file_of(pixels: Any, colours: int) -> bytes:
    from PIL import Image

    image, buffer = Image.fromarray(numpy.ascontiguousarray(pixels)), io.BytesIO()
    if colours:
        image = image.quantize(colours, method=Image.Quantize.FASTOCTREE)
    image.save(buffer, format="png")
    return buffer.getvalue()


def empty_picture(title: str, words: str) -> Picture:
    """A picture for where there is nothing to be drawn: the words instead."""
    picture = Picture(5.6, 1.0, f"{title}. {words}")
    picture.titled(title)
    picture.write(0.15, 0.35, words, fontsize=10)
    return picture


@contextlib.contextmanager
def own_style() -> Iterator[None]:
    """matplotlib's own settings for a while, and no mathematics in texts: a name may hold a dollar sign."""
    with matplotlib.rc_context():
        kept = {key: matplotlib.rcParams[key] for key in ("interactive", "figure.max_open_warning")}
        matplotlib.rcdefaults()
        matplotlib.rcParams.update({**kept, "text.parse_math": False, "font.family": ["DejaVu Sans"]})
        yield


in_own_style = own_style()
"""As a decorator: each call of a function that draws is under :func:`own_style`."""
