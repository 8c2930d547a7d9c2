"""What holds for every picture: words for it, its own paper, contrast, nothing cut off, shown once, given back."""

from __future__ import annotations

import io
import re
from itertools import combinations
from pathlib import Path
from typing import Any

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgba
from matplotlib.image import AxesImage, BboxImage
from matplotlib.text import Text
from torch import nn

from course.pictures.canvas import Picture, in_the_dark, own_style
from course.pictures.module_tree import draw_module_tree
from tests import some_by_day
from tests.pictures.gallery import PICTURES, texts

ROOT = Path(__file__).parent.parent.parent
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", params=some_by_day(PICTURES, 2))
def picture(request: pytest.FixtureRequest) -> Picture:
    return PICTURES[request.param]()


@pytest.fixture(scope="module")
def look(picture: Picture) -> Look:
    """How the picture comes out, rendered once for all tests of it."""
    return Look(picture)


def luminance(colour: Any) -> float:
    """WCAG 2's relative luminance."""
    channels = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in to_rgba(colour)[:3]]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), channels, strict=True))


def contrast(one: Any, other: Any) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


class Look:
    """A rendered picture: its texts with their boxes, and what is behind them."""

    def __init__(self, picture: Picture) -> None:
        found = [text for text in picture.findobj(Text) if text.get_visible() and text.get_text().strip()]
        found = [text for text in found if text.axes is None or text.axes.axison or text in text.axes.texts]
        behind = [text for text in found if text.get_bbox_patch() is None]
        with own_style():
            drawn = FigureCanvasAgg(picture)
            for text in behind:
                text.set_visible(False)
            drawn.draw()
            for text in behind:
                text.set_visible(True)
            self.ground = np.asarray(drawn.buffer_rgba())[::-1, :, :3] / 255
            """The pixels without the texts, lowest row first."""
            self.texts = [(text, text.get_window_extent(drawn.get_renderer())) for text in found]


def test_it_has_words_fits_a_page_and_is_nothing_that_pyplot_shows_twice(picture: Picture) -> None:
    assert len(picture.alt) > 10 and picture.alt == picture.alt.strip() == repr(picture)
    assert "\n" not in picture.alt and "<" not in picture.alt.replace("<class", "")
    assert plt.get_fignums() == []
    wide, high = picture.get_size_inches()
    assert wide <= 10.0 and high <= 26.0, "wider than a notebook's page, or longer than anybody scrolls"


def test_nothing_written_is_cut_off_or_too_small(picture: Picture, look: Look) -> None:
    page = picture.bbox
    for text, box in look.texts:
        inside = box.x0 >= -1 and box.y0 >= -1 and box.x1 <= page.width + 1 and box.y1 <= page.height + 1
        assert inside, f"{text.get_text()!r} leaves the picture"
        assert text.get_fontsize() >= 5.5, f"{text.get_text()!r} is too small to read"


def test_no_text_covers_another(look: Look) -> None:
    for (one, first), (other, second) in combinations(look.texts, 2):
        wide = min(first.x1, second.x1) - max(first.x0, second.x0)
        high = min(first.y1, second.y1) - max(first.y0, second.y0)
        assert wide <= 1.5 or high <= 3.0, f"{one.get_text()!r} and {other.get_text()!r} overlap"


def test_the_dark_version_is_dark_and_as_easy_to_read_and_what_stands_for_a_value_is_alike(
    picture: Picture, look: Look
) -> None:
    from PIL import Image

    light, dark = (np.asarray(Image.open(io.BytesIO(png)).convert("RGB"), int) for png in picture.pngs(scale=1.0))
    assert light.shape == dark.shape and light[1, 1].min() > 240 and dark[1, 1].max() < 35
    shades = [picture.findobj(kind) for kind in (BboxImage, AxesImage)]
    alike = np.abs(light - dark).max(axis=2) < 24
    assert any(shades) == bool(alike.mean() > 0.02)
    for text, box in look.texts:
        part = look.ground[max(0, int(box.y0)) : int(box.y1) + 1, max(0, int(box.x0)) : int(box.x1) + 1]
        patch = text.get_bbox_patch()
        behind = patch.get_facecolor()[:3] if patch is not None else np.median(part.reshape(-1, 3), axis=0)
        ink, paper = (
            in_the_dark(np.asarray(to_rgba(one)[:3]) * 255) / 255 for one in (text.get_color(), tuple(behind))
        )
        assert contrast(text.get_color(), tuple(behind)) >= 4.5, f"{text.get_text()!r} on {behind}"
        assert contrast(ink, paper) >= 4.5, f"{text.get_text()!r} on a dark page"


@pytest.mark.parametrize("name", ["timeline", "heat"])
def test_a_learners_style_reaches_neither_into_the_drawing_nor_into_the_rendering(name: str) -> None:
    torch.manual_seed(0)
    before = dict(matplotlib.rcParams)
    picture = PICTURES[name]()
    usual = picture.pngs(scale=0.5)
    assert dict(matplotlib.rcParams) == before
    own = {"text.color": "red", "lines.linewidth": 9, "savefig.bbox": "tight", "font.size": 30}
    with plt.style.context("dark_background"), matplotlib.rc_context(own):
        torch.manual_seed(0)
        assert picture.pngs(scale=0.5) == PICTURES[name]().pngs(scale=0.5) == usual


def test_the_image_carries_the_words_and_nothing_breaks_out_of_them() -> None:
    picture = Picture(2, 1, alt='<b>"quoted"</b> & more')
    html = picture.image()
    words = 'alt="&lt;b&gt;&quot;quoted&quot;&lt;/b&gt; &amp; more"'
    assert html.startswith(f'<img class="two-looks" {words} src="data:image/png;base64,')
    tags = re.findall("<[^>]*", re.sub('base64,[^)"]*', "", html))
    assert [tag.split()[0] for tag in tags] == ["<img", "<style", "</style"], (
        "nothing that stays where images are stripped"
    )
    assert "width:192px;max-width:100%" in html


def test_names_with_mathematics_or_letters_of_any_script_are_drawn_as_they_are() -> None:
    picture = draw_module_tree(nn.ModuleDict({name: nn.ReLU() for name in ("$x_1$", "層", "a$", "{}%")}))
    assert len(picture.pngs()[0]) > 1000
    assert {"$x_1$: ", "層: ", "a$: ", "{}%: "} <= set(texts(picture))


NOTEBOOK = """
import matplotlib.pyplot as plt, torch
from torch import nn
from course.pictures.canvas import beside
from course.pictures.module_tree import draw_module_tree
---
draw_module_tree(nn.Linear(3, 2), title="the last expression")
---
picture = draw_module_tree(nn.ReLU(), title="displayed")
display(picture)
plt.plot([1, 2]);
---
picture = draw_module_tree(nn.ReLU(), title="never shown")
---
beside(draw_module_tree(nn.ReLU(), title="left"), draw_module_tree(nn.ReLU(), title="right"))
"""


def test_a_number_that_is_drawn_lower_is_told_as_it_is() -> None:
    words = PICTURES["curves, cut off"]().alt
    assert "cut off at 3" in words and "0.5 to 264" in words


def test_a_notebook_shows_each_picture_once_and_with_its_words(tmp_path: Path) -> None:
    import nbclient
    import nbconvert
    import nbformat

    cells = [nbformat.v4.new_code_cell(source.strip()) for source in NOTEBOOK.split("---")]
    notebook = nbformat.v4.new_notebook(cells=cells)
    nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(ROOT)}}).execute()
    shown = [
        [set(output.data) for output in cell.outputs if output.output_type in ("display_data", "execute_result")]
        for cell in notebook.cells
    ]
    # JupyterLab and nbconvert prefer HTML; the PNG is for those that strip images from HTML, and for LaTeX.
    plot = {"image/png", "text/plain"}
    kinds = plot | {"text/html"}
    assert shown == [[], [kinds], [kinds, plot], [], [{"text/html", "text/plain"}]]
    first = notebook.cells[1].outputs[0]
    assert 'alt="the last expression: the tree, root, Linear [weight (2, 3), bias (2,)]"' in first.data["text/html"]
    assert first.metadata["image/png"]["alt"] == first.data["text/plain"]
    page, _ = nbconvert.HTMLExporter().from_notebook_node(notebook)
    for words in ("the last expression", "displayed", "left", "right"):
        assert page.count(f' alt="{words}') == 1, words
    assert page.count("<img") == 5
