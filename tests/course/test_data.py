"""The pictures and digits are scikit-learn's own, read without importing it."""

from __future__ import annotations

import pytest
import torch

from course.data import digits, jittered, picture


def test_digits_are_scikit_learns() -> None:
    from sklearn.datasets import load_digits  # takes seconds, which nobody shall wait for who runs another test

    pictures, labels = digits()
    bunch = load_digits()
    assert pictures.shape == (1797, 1, 8, 8)
    assert torch.equal(pictures[:, 0] * 16, torch.from_numpy(bunch.images).float())
    assert torch.equal(labels, torch.from_numpy(bunch.target))
    assert labels.dtype == torch.int64


@pytest.mark.parametrize("name", ["flower", "china"])
def test_a_picture_is_the_middle_of_scikit_learns(name: str) -> None:
    from sklearn.datasets import load_sample_image

    whole = torch.from_numpy(load_sample_image(f"{name}.jpg").copy())
    side = min(whole.shape[:2])
    top, left = (whole.shape[0] - side) // 2, (whole.shape[1] - side) // 2
    square = whole[top : top + side, left : left + side].permute(2, 0, 1)[None].float() / 255
    assert torch.allclose(picture(name, side), square, atol=1e-6)
    small = picture(name, 24)
    assert small.shape == (1, 3, 24, 24)
    assert small.min() >= 0
    assert small.max() <= 1


def test_a_jittered_picture_is_the_same_picture_up_to_a_pixel_away() -> None:
    pictures = torch.zeros(50, 1, 5, 5)
    pictures[:, :, 2, 2] = 1.0
    moved = jittered(pictures, torch.Generator().manual_seed(1))
    assert moved.shape == pictures.shape
    places = {tuple(one[0].nonzero()[0].tolist()) for one in moved}
    assert places == {(row, column) for row in (1, 2, 3) for column in (1, 2, 3)}
    assert torch.equal(moved.sum((1, 2, 3)), torch.ones(50))
