"""Feature maps, before and after; pictures beside each other; words for numbers."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
import torch
from matplotlib.image import BboxImage
from torch import nn

from course.pictures.beside import beside
from course.pictures.canvas import amount, cut, in_brief, listed, number, power_of_ten, size_in_bytes, told
from course.pictures.feature_maps import draw_clobber, draw_feature_maps
from course.pictures.module_tree import draw_module_tree
from tests.pictures.gallery import maps, texts


def test_each_layer_is_a_row_with_its_own_scale() -> None:
    picture = draw_feature_maps(maps(), columns=8, title="Features")
    images = picture.findobj(BboxImage)
    assert len(images) == 8 + 3 + 2
    limits = [image.get_clim() for image in images]
    assert len(set(limits)) == 3 and all(low == -high for low, high in limits)
    assert images[0].get_array().shape == (9, 7)
    said = texts(picture)
    assert {"Features", "conv", "12 maps, 9 × 7", "relu", "3 maps, 5 × 5", "layer4.1.conv2"} <= set(said)
    assert "conv: 12 maps, 9 × 7, values from" in picture.alt and "NaN or inf among them" in picture.alt


def test_in_a_grey_print_a_sign_tells_below_from_above_zero() -> None:
    values = torch.ones(1, 4, 2, 2)
    values[0, 1], values[0, 2], values[0, 3] = -1.0, 0.0, torch.tensor([[1.0, -1.0], [0.0, 0.0]])
    picture = draw_feature_maps({"layer": values})
    signs = [one.get_text() for one in picture.texts if one.get_bbox_patch() is not None]
    assert signs == ["+", "−", "0", "±"]


def test_a_feature_that_was_overwritten_is_drawn_twice_on_one_scale() -> None:
    before = torch.tensor([[[[-2.0, 1.0]], [[3.0, -1.0]]]])
    picture = draw_clobber(before, before.relu(), title="bn1")
    shown = picture.findobj(BboxImage)
    assert len(shown) == 4 and len({image.get_clim() for image in shown}) == 1
    assert {"bn1", "when the hook ran", "after forward", "min -2", "min 0"} <= set(texts(picture))
    assert "when the hook ran: values from -2 to 3; after forward: values from 0 to 3; 50% changed" in picture.alt


@pytest.mark.parametrize("wrong", [{}, None, {"a": torch.ones(3, 4)}, {"a": None}, {"a": torch.ones(0, 1, 2, 2)}])
def test_feature_maps_say_what_they_want(wrong: object) -> None:
    with pytest.raises(ValueError, match=r"wanted|holds nothing"):
        draw_feature_maps(wrong)  # type: ignore[arg-type]


def test_clobber_says_what_it_wants() -> None:
    with pytest.raises(ValueError, match="wanted two tensors of one shape"):
        draw_clobber(torch.ones(1, 2, 3, 3), torch.ones(1, 2, 3, 4))


class Images(HTMLParser):
    """The alt texts of a page, in order."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag == "img":
            self.found.append(str(dict(attributes)["alt"]))


def test_pictures_stand_beside_each_other_with_their_own_words_or_given_ones() -> None:
    left, right = draw_module_tree(nn.ReLU(), title="left"), draw_module_tree(nn.Tanh())
    row = beside(left, (right, 'in "other" <words>'))
    assert Images(row._repr_html_()).found == [left.alt, 'in "other" <words>']
    assert repr(row) == f'{left.alt}\nin "other" <words>'
    assert beside()._repr_html_().count("<img") == 0


def test_words() -> None:
    assert [number(one) for one in (0.0, 1.0, 0.01234, 4.5e-6, 1e9, float("nan"), float("-inf"))] == [
        "0", "1", "0.0123", "4.5e-6", "1e9", "NaN", "-inf",
    ]  # fmt: skip
    assert [power_of_ten(one) for one in (1.0, 0.01, 1e-5, 1000.0)] == ["1", "0.01", "10⁻⁵", "10³"]
    sizes = [size_in_bytes(one) for one in (0, 1023, 1536, 5e6, 3e12)]
    assert sizes == ["0 B", "1023 B", "1.5 KiB", "4.77 MiB", "2.79e+03 GiB"]
    assert (amount(1, "child", "children"), amount(2, "child", "children")) == ("1 child", "2 children")
    assert cut("layer4.1.conv2.weight", 12) == "lay…2.weight"
    assert cut("short", 12) == "short"
    assert listed("abc") == "a; b; c" and listed(map(str, range(30)), 6) == "0; 1; 2; 3; 24 more; 28; 29"
    assert told(torch.ones(2)) == "a tensor of shape (2,)" and told({}) == "an empty dict" and told(3) == "an int"
    assert in_brief(ValueError()) == "ValueError" and in_brief(KeyError("a")) == "KeyError: 'a'"
    assert in_brief(RuntimeError("one\ntwo")) == "RuntimeError: one" and len(in_brief(RuntimeError("x" * 999))) == 110
