"""The picture of activations over the steps of a run."""

from __future__ import annotations

import torch

from course.pictures.activations import draw_activation_histograms


def test_nearly_all_zeros_are_not_called_all() -> None:
    nearly = torch.zeros(480)
    nearly[7] = 1.0
    assert "99.79% at last" in draw_activation_histograms({"relu": [torch.ones(480), nearly]}).alt
    assert "100% at last" in draw_activation_histograms({"relu": [torch.ones(480), torch.zeros(480)]}).alt
