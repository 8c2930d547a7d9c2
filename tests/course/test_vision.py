"""torchvision is made importable where, and only where, its build does not fit torch's."""

from __future__ import annotations

import sys
import types
from pathlib import Path
from typing import Any

import pytest
import torch

from course import vision


@pytest.fixture
def defined(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The operators that are defined, on a machine where torchvision has not been imported and has defined none."""
    names: list[str] = []
    monkeypatch.delitem(sys.modules, "torchvision", raising=False)
    monkeypatch.setattr(torch.version, "cuda", None)
    monkeypatch.setattr(torch, "ops", types.SimpleNamespace(torchvision=types.SimpleNamespace()))
    monkeypatch.setattr(torch.library, "define", lambda name, schema: names.append(name))
    return names


def installed(monkeypatch: pytest.MonkeyPatch, folder: Path, version: str | None) -> None:
    """As if torchvision with this version were installed; None for no torchvision."""
    spec = types.SimpleNamespace(origin=str(folder / "__init__.py"))
    monkeypatch.setattr(vision.importlib.util, "find_spec", lambda name: spec if version else None)
    (folder / "version.py").write_text(f"__version__ = {version!r}\n")


def test_a_cuda_build_beside_a_cpu_torch_gets_its_operators(
    defined: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(monkeypatch, tmp_path, "0.28.0+cu130")
    assert vision.make_torchvision_importable()
    assert defined == ["torchvision::nms", "torchvision::qnms"]


@pytest.mark.parametrize("version", ["0.28.0+cpu", "0.28.0", None])
def test_a_build_that_fits_is_left_alone(
    version: str | None, defined: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(monkeypatch, tmp_path, version)
    assert not vision.make_torchvision_importable()
    assert defined == []


@pytest.mark.parametrize("reason", ["torch has CUDA", "torchvision is imported", "the operators are defined"])
def test_nothing_is_defined_where_that_would_be_too_late_or_twice(
    reason: str, defined: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(monkeypatch, tmp_path, "0.28.0+cu130")
    changes: dict[str, Any] = {
        "torch has CUDA": lambda: monkeypatch.setattr(torch.version, "cuda", "13.0"),
        "torchvision is imported": lambda: monkeypatch.setitem(sys.modules, "torchvision", types.ModuleType("t")),
        "the operators are defined": lambda: setattr(torch.ops.torchvision, "nms", print),
    }
    changes[reason]()
    assert not vision.make_torchvision_importable()
    assert defined == []


def test_the_cure_waits_for_the_first_import_and_is_applied_once(monkeypatch: pytest.MonkeyPatch) -> None:
    applied: list[str] = []
    monkeypatch.setattr(vision, "make_torchvision_importable", lambda: applied.append("applied"))
    before = [finder for finder in sys.meta_path if not isinstance(finder, vision._Watcher)]
    monkeypatch.setattr(sys, "meta_path", list(before))
    vision.watch_for_torchvision()
    vision.watch_for_torchvision()
    (watcher,) = (finder for finder in sys.meta_path if isinstance(finder, vision._Watcher))
    assert watcher.find_spec("torch", None) is None
    assert applied == []
    assert watcher.find_spec("torchvision", None) is None
    assert applied == ["applied"]
    assert sys.meta_path == before
