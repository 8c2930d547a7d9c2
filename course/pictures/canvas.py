"""What every picture of the course is drawn on: a figure that says in words what it shows.

A :class:`Picture` is a matplotlib figure with an ``alt`` text. matplotlib.pyplot does not know of it: nothing has to
be closed, no front end shows it a second time, and its memory is free with the last name for it. It has a paper of
its own, so it reads the same on a light page, on a dark one and in print, whatever style the learner has set.
"""

from __future__ import annotations

import base64
import contextlib
import functools
import html
import io
import warnings
from collections.abc import Callable, Iterator
from typing import Any, ParamSpec, TypeVar

import matplotlib
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.image import BboxImage
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
    "Box",
    "Picture",
    "empty_picture",
    "in_own_style",
    "own_style",
]

PAPER, INK = "#fbfaf6", "#1d2733"
QUIET, WIRE, FAINT = "#55606c", "#6b7683", "#e4e7ea"
"""Small print; lines between things; bands and grids, which nobody has to see."""

# Blue and orange are apart for every kind of colour vision. Red is never the only sign of anything: a word, a frame or
# a cross goes with it. All are dark enough to write with.
BLUE, ORANGE, RED = "#1f5fa8", "#b8500a", "#b3261e"
MONO = "DejaVu Sans Mono"

# CSS pixels that an inch is shown with; the file has half as many again, for sharp text on any screen.
_PIXELS = 96

Box = tuple[float, float, float, float]
"""Left, bottom, width and height, in inches."""

_Given = ParamSpec("_Given")
_Made = TypeVar("_Made")


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

    def titled(self, title: str) -> float:
        """Write a title at the top; returns the picture's height in inches."""
        tall = float(self.get_figheight())
        self.write(0.15, tall - 0.25, title, fontsize=11.5, weight="bold")
        return tall

    def captioned(self, title: str, words: str) -> float:
        """Write a title above and words below, where there are any; returns the picture's height in inches."""
        tall = float(self.get_figheight())
        if title:
            self.write(0.1, tall - 0.16, title, weight="bold", family=MONO)
        if words:
            self.write(0.1, 0.16, words, fontsize=8.5)
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
    ) -> BboxImage:
        """An array of colours, or of numbers between ``limits``, as an image in a box, framed. What is NaN is crossed out."""
        if limits is not None and not bool((values == values).all()):
            self.put(Rectangle(box[:2], *box[2:], facecolor=PAPER, edgecolor=crossed, hatch="xxxx", lw=0, zorder=0))
        place = TransformedBbox(Bbox.from_bounds(*box), self.dpi_scale_trans)
        image = BboxImage(place, **{"interpolation": "nearest", "zorder": 1, **style})
        image.set_data(values)
        image.set_clim(limits)
        self.add_artist(image)
        self.put(Rectangle(box[:2], *box[2:], fill=False, edgecolor=WIRE, linewidth=0.7, zorder=2))
        return image

    def png(self, colours: int = 0, scale: float = 1.5) -> bytes:
        """The picture as a PNG file, of few colours where ``colours`` says so. What it took to draw it is given back."""
        from PIL import Image

        kept, dpi = self.canvas, self.dpi
        buffer = io.BytesIO()
        with own_style(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a name with a letter that the font lacks still makes a picture
            try:
                canvas = FigureCanvasAgg(self)
                self.dpi = scale * _PIXELS
                canvas.draw()
                pixels = canvas.buffer_rgba()
                image = Image.frombuffer("RGBA", pixels.shape[1::-1], pixels, "raw", "RGBA", 0, 1).convert("RGB")
            finally:
                self.set_canvas(kept)
                self.dpi = dpi
        if colours:
            image = image.quantize(colours, method=Image.Quantize.FASTOCTREE)
        image.save(buffer, format="png")
        return buffer.getvalue()

    def image(self, png: bytes, alt: str | None = None, style: str = "") -> str:
        """An ``<img>`` of this picture's size and words (or those of ``alt``), with the given file in it."""
        width = round(self.get_figwidth() * _PIXELS)
        data = base64.b64encode(png).decode("ascii")
        return (
            f'<img alt="{html.escape(self.alt if alt is None else alt)}" src="data:image/png;base64,{data}" '
            f'style="width:{width}px;max-width:100%;height:auto;{style}">'
        )

    def _repr_html_(self) -> str:
        return self.image(self.png())

    def _ipython_display_(self) -> None:
        # JupyterLab's and nbconvert's first choice is the HTML, which carries the alt text; export to LaTeX and
        # graded notebooks show the PNG.
        from IPython.display import display

        png = self.png()
        width, height = (round(float(inches) * _PIXELS) for inches in self.get_size_inches())
        bundle = {
            "text/html": self.image(png),
            "image/png": base64.b64encode(png).decode("ascii"),
            "text/plain": self.alt,
        }
        display(bundle, metadata={"image/png": {"alt": self.alt, "width": width, "height": height}}, raw=True)

    def __repr__(self) -> str:
        return self.alt or super().__repr__()


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


def in_own_style(draw: Callable[_Given, _Made]) -> Callable[_Given, _Made]:
    """Let a function draw under :func:`own_style`."""

    @functools.wraps(draw)
    def drawn(*args: _Given.args, **kwargs: _Given.kwargs) -> _Made:
        with own_style():
            return draw(*args, **kwargs)

    return drawn
