"""What lessons bring along: pictures and digits, sources that they show, and a torchvision that fits torch."""

from __future__ import annotations

import inspect
import sys
import types
from pathlib import Path

import pytest
import torch

from course import gpt, models, vision
from course.data import digits, picture
from course.models import Add, Model
from course.patient import Reader, UnitLength
from course.sources import show_source


def test_digits_are_scikit_learns() -> None:
    from sklearn.datasets import load_digits  # takes seconds, which nobody shall wait for who runs another test

    pictures, labels = digits()
    bunch = load_digits()
    assert pictures.shape == (1797, 1, 8, 8)
    assert torch.equal(pictures[:, 0] * 16, torch.from_numpy(bunch.images).float())
    assert torch.equal(labels, torch.from_numpy(bunch.target))
    assert labels.dtype == torch.int64


def test_a_picture_is_the_middle_of_scikit_learns(name: str = "flower") -> None:
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


CURED = ["torchvision::nms", "torchvision::qnms"]
BUILDS = {
    "a CUDA build beside a CPU-only torch": ("0.28.0+cu130", lambda patch: None, CURED),
    "a CPU build": ("0.28.0+cpu", lambda patch: None, []),
    "none": (None, lambda patch: None, []),
    "torch has CUDA": ("0.28.0+cu130", lambda patch: patch.setattr(torch.version, "cuda", "13.0"), []),
}


@pytest.mark.parametrize("build", BUILDS)
def test_only_a_cuda_build_beside_a_cpu_torch_gets_its_operators_and_once(
    build: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    version, change, wanted = BUILDS[build]
    spec = types.SimpleNamespace(origin=str(tmp_path / "__init__.py")) if version else None
    defined: list[str] = []
    (tmp_path / "version.py").write_text(f"__version__ = {version!r}\n")
    monkeypatch.setattr(vision.importlib.util, "find_spec", lambda name: spec)
    monkeypatch.setattr(torch.version, "cuda", None)
    monkeypatch.setattr(torch.library, "define", lambda name, schema: defined.append(name))
    change(monkeypatch)
    vision.make_torchvision_importable()
    assert defined == wanted


def test_the_cure_waits_for_the_first_import_and_is_applied_once(monkeypatch: pytest.MonkeyPatch) -> None:
    applied: list[str] = []
    monkeypatch.setattr(vision, "make_torchvision_importable", lambda: applied.append("applied"))
    monkeypatch.setattr(sys, "meta_path", [])
    vision.watch_for_torchvision()
    vision.watch_for_torchvision()
    (watcher,) = sys.meta_path
    assert watcher.find_spec("torch", None) is None
    assert applied == []
    assert watcher.find_spec("torchvision", None) is None
    assert applied == ["applied"]
    assert sys.meta_path == []


def test_in_a_terminal_the_sources_are_printed_one_after_another(capsys: pytest.CaptureFixture[str]) -> None:
    show_source(Add, Model.forward)
    add, forward = capsys.readouterr().out.split("\n\n\n")
    assert add == inspect.getsource(Add).rstrip()
    # A method is shown from the margin.
    assert forward.startswith("def forward(self")
    assert "\n    return output" in forward


def test_of_what_lessons_show_nothing_is_there_for_tools_only(capsys: pytest.CaptureFixture[str]) -> None:
    for one in [*map(models.__dict__.get, models.__all__), *map(gpt.__dict__.get, gpt.__all__), Reader, UnitLength]:
        show_source(one)
    shown = capsys.readouterr().out
    assert "__test__" not in shown and "type: ignore" not in shown and "noqa" not in shown and "fmt:" not in shown
