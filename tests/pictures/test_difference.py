"""Yours beside wanted: what differs is what is marked, secrets stay secret, and nothing that is handed in breaks it."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from matplotlib.colors import same_color
from matplotlib.image import BboxImage
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from course.pictures.canvas import RED
from course.pictures.difference import difference_html, draw_difference
from nbproof.values.compare import AnyOf, Close, Matches
from tests.pictures.gallery import texts


def framed(picture: Any) -> int:
    """How many cells have the thick red frame."""
    cells = picture.findobj(Rectangle)
    return sum(same_color(cell.get_edgecolor(), RED) and cell.get_linewidth() > 1.5 for cell in cells)


def shades(picture: Any) -> list[Any]:
    """The shaded grids: yours, wanted, difference."""
    return list(picture.findobj(BboxImage))


def alt_of(page: str) -> str:
    """The alt text of a piece of HTML that is one image and nothing else."""
    found = re.fullmatch(r'<img class="two-looks" alt="([^"<>]*)" [^<>]*><style>[^<>]*</style>', page)
    assert found, page[:300]
    return html.unescape(found[1])


def test_small_tensors_are_written_out_and_what_differs_is_framed() -> None:
    picture = draw_difference(torch.tensor([1.0, 2.0, 3.0]), torch.tensor([1.0, 2.5, 3.0]))
    said = texts(picture)
    assert {"yours", "wanted", "difference", "1 of 3 differ", "2", "2.5", "-0.5"} <= set(said)
    assert framed(picture) == 2, "in yours and in the difference"
    assert picture.alt == ("yours (3,): 1, 2, 3. wanted (3,): 1, 2.5, 3. difference: 0, -0.5, 0. 1 of 3 differ")
    wide, high = (inches * 96 for inches in picture.get_size_inches())
    assert wide == pytest.approx(500, abs=5) and 80 <= high <= 200


def test_the_rule_is_that_of_the_comparison() -> None:
    near = torch.ones(3) + 1e-6
    assert framed(draw_difference(near, torch.ones(3))) == 0
    assert framed(draw_difference(near.double(), torch.ones(3).double())) == 6
    assert framed(draw_difference(torch.tensor([1, 2]), torch.tensor([1, 3]))) == 2
    assert framed(draw_difference(torch.tensor([1.0, 2.0]), Close(torch.tensor([1.4, 3.0]), atol=0.5))) == 2
    assert framed(draw_difference(torch.tensor([torch.nan, torch.inf]), torch.tensor([1.0, torch.inf]))) == 2
    assert difference_html(near, torch.ones(3)) == ""


ONES = torch.ones(3)
STEPS = [f"step {number}" for number in range(40)]


@pytest.mark.parametrize(
    ("got", "wanted", "words"),
    [
        (torch.tensor([1.0001, 2.0]), torch.tensor([1.0, 2.0]), {"+0.0001"}),
        (torch.tensor([True, False]), torch.tensor([True, True]), {"-1"}),
        ({"seen": {"a": 1, "b": 2}}, {"seen": {"a": 1, "c": 2}}, {"a: 1", "b: 2", "c: 2"}),
        (["a"], ["a", "b", "c"], {"the first difference is at 1: yours ends there, 2 items missing"}),
        ([], ["a"], {"the first difference is at 0: yours ends there, 1 item missing", "yours: empty"}),
        ([("enter", "fc")], [["leave", "fc"]], {"the first difference is at 0: enter  fc for leave  fc"}),
        (STEPS, [*STEPS[:25], "another", *STEPS[25:]], {"step 24", "step 25", "another"}),
        ({"answer": [ONES, ONES], "other": 1.0}, {"answer": [ONES, ONES * 3], "other": 2.0}, {"answer[1]"}),
    ],
)
def test_what_is_written(got: Any, wanted: Any, words: set[str]) -> None:
    said = set(texts(draw_difference(got, wanted)))
    assert words <= said and "step 0" not in said


def test_large_tensors_are_shaded_on_one_scale_and_the_worst_place_told() -> None:
    wanted = torch.zeros(20, 30)
    got = wanted.clone()
    got[3, 4], got[5, 6] = 1.0, -2.0
    picture = draw_difference(got, wanted)
    yours, target, difference = shades(picture)
    assert yours.get_clim() == target.get_clim() == (-2.0, 1.0)
    dark = difference.get_array()
    assert dark[5, 6] == 1.0 and 0.25 < dark[3, 4] < 1.0 and (dark > 0).sum() == 2
    assert "2 of 600 differ, most at [5, 6]: -2 for 0" in texts(picture)
    assert "2 of 600 differ, most at [5, 6]: -2 for 0" in picture.alt


def test_of_many_dimensions_the_first_slice_that_differs_is_drawn() -> None:
    got = torch.zeros(2, 3, 8, 8)
    got[1, 2, 4, 5] = torch.nan
    picture = draw_difference(got, torch.zeros(2, 3, 8, 8))
    assert "drawn: slice [1, 2] · 1 of 384 differ, most at [1, 2, 4, 5]: NaN for 0" in texts(picture)
    assert np.isnan(shades(picture)[0].get_array().filled(np.nan)).sum() == 1
    assert "NaN or inf among them" in picture.alt


# Orders


def lines(picture: Any) -> list[tuple[bool, bool]]:
    """The lines between the columns: whether slanted, whether drawn through."""
    return [
        (line.get_ydata()[0] != line.get_ydata()[1], line.get_linestyle() == "-") for line in picture.findobj(Line2D)
    ]


def test_orders_are_two_columns_with_a_line_from_each_word_to_itself() -> None:
    picture = draw_difference(["a", "b", "c"], ["a", "c", "b"])
    assert lines(picture) == [(False, False), (True, True), (True, True)]
    assert lines(draw_difference(["a", "a", "b"], ["a", "b", "a"])) == lines(picture), "of equal words each has its own"
    assert framed(picture) == 1, "the first difference"
    assert "the first difference is at 1: b for c" in texts(picture)
    assert picture.alt == "yours: a; b; c. wanted: a; c; b. the first difference is at 1: b for c"


# As HTML


ALIKE = [
    ("a", "b"),
    (torch.ones(3), torch.ones(3, 1)),
    (torch.tensor([1, 2]), torch.tensor([1.0, 2.5])),
    (["a"], ["a"]),
    (torch.tensor([7.0, 7.0]), AnyOf(torch.tensor([1.0, 5.0]), torch.tensor([7.0, 7.0]))),
]


@pytest.mark.parametrize(("got", "wanted"), ALIKE)
def test_where_a_sentence_says_as_much_there_is_no_image(got: Any, wanted: Any) -> None:
    assert difference_html(got, wanted) == ""


class Hostile:
    """Raises whatever is asked of it."""

    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError(name)

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("==")

    __hash__ = None  # type: ignore[assignment]


def nest(depth: int) -> list[Any]:
    return [nest(depth - 1)] if depth else [1]


ODD: dict[str, Callable[[], Any]] = {
    "hostile": Hostile,
    "deep": lambda: nest(50),
    "no text": lambda: ["\x00", "\ud800"],
    "large": lambda: torch.tensor([1e308, -1e308], dtype=torch.float64),
    "no rows": lambda: torch.empty(0, 3, 0),
}


@pytest.mark.parametrize("name", ODD)
def test_nothing_that_is_handed_in_raises(name: str) -> None:
    odd = ODD[name]()
    others = (torch.ones(2), [1, 2], ["a", "b"], {"a": torch.ones(2)}, None, Matches(lambda got: None, "x"), odd)
    for other in others:
        for got, wanted in ((odd, other), (other, odd)):
            page = difference_html(got, wanted)
            assert page == "" or alt_of(page)


def test_what_tells_how_to_compare_is_not_shown() -> None:
    wanted = {"a": Close(torch.ones(3)), "b": AnyOf(Close(2.0), 3.0), "c": Matches(lambda got: "no", "any name")}
    shown = " ".join(texts(draw_difference({"x": torch.ones(3), "b": 1.0}, wanted)))
    assert not [word for word in ("Close", "AnyOf", "Matches") if word in shown]
    assert all(word in shown for word in ("a: tensor (3,)", "b: 2.0", "c: any name")), shown
