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


def test_a_picture_is_the_middle_of_the_photograph() -> None:
    large, small = picture(size=96), picture(size=24)
    assert small.shape == (1, 3, 24, 24) and 0 <= small.min() < small.max() <= 1
    assert torch.allclose(small, torch.nn.functional.avg_pool2d(large, 4), atol=0.1)


@pytest.mark.parametrize(
    ("version", "cuda", "cured"),
    [("0.28.0+cu130", None, True), ("0.28.0+cpu", None, False), ("0.28.0+cu130", "13.0", False)],
)
def test_only_a_cuda_build_beside_a_cpu_torch_gets_its_operators(
    version: str, cuda: str | None, cured: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec, defined = types.SimpleNamespace(origin=str(tmp_path / "__init__.py")), list[str]()
    (tmp_path / "version.py").write_text(f"__version__ = {version!r}\n")
    monkeypatch.setattr(vision.importlib.util, "find_spec", lambda name: spec)
    monkeypatch.setattr(torch.version, "cuda", cuda)
    monkeypatch.setattr(torch.library, "define", lambda name, schema: defined.append(name))
    vision.make_torchvision_importable()
    assert defined == ["torchvision::nms", "torchvision::qnms"] * cured


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
