"""Real pictures and digits that ship inside scikit-learn: no lesson needs a network."""

from __future__ import annotations

import torch

__all__ = ["digits", "picture"]


def picture(name: str = "flower", size: int = 96) -> torch.Tensor:
    """A photograph, 'flower' or 'china': shape (1, 3, size, size), float32, values from 0 to 1."""
    from sklearn.datasets import load_sample_image

    pixels = torch.from_numpy(load_sample_image(f"{name}.jpg").copy()).permute(2, 0, 1)
    side = min(pixels.shape[1:])
    top, left = (pixels.shape[1] - side) // 2, (pixels.shape[2] - side) // 2
    square = pixels[None, :, top : top + side, left : left + side].float() / 255
    return torch.nn.functional.interpolate(square, size=(size, size), mode="bilinear", antialias=True)


def digits() -> tuple[torch.Tensor, torch.Tensor]:
    """1,797 handwritten digits: pictures (1797, 1, 8, 8), float32 from 0 to 1, and labels (1797,), int64."""
    from sklearn.datasets import load_digits

    bunch = load_digits()
    return torch.from_numpy(bunch.images).float()[:, None] / 16, torch.from_numpy(bunch.target)
