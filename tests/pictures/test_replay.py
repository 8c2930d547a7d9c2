"""A replay shows what ran: step for step the hooks of a real run, and it steps without a script."""

from __future__ import annotations

import re
from typing import Any

import pytest
import torch
from bs4 import BeautifulSoup
from torch import nn

from course.models import Model
from course.pictures.replay import MAX_BOXES, replay
from tests.pictures.gallery import fifty


def small() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 2), nn.ReLU(), nn.Linear(2, 1))


def steps(page: str) -> list[str]:
    """What each step is called, as the reader sees it."""
    return [one.b.get_text() for one in BeautifulSoup(page, "html.parser").select(".s")]


def _logged(model: nn.Module, *inputs: Any) -> list[str]:
    """The same from hooks of the test's own."""
    log: list[str] = []
    for name, module in model.named_modules():
        of = f"of {name}: {type(module).__name__}".replace("of : ", "of ")
        module.register_forward_pre_hook(lambda *_, of=of: log.append(f"forward pre-hook {of}"))
        module.register_forward_hook(lambda *_, of=of: log.append(f"forward hook {of}"))
        module.register_full_backward_pre_hook(lambda *_, of=of: log.append(f"full backward pre-hook {of}"))
        module.register_full_backward_hook(lambda *_, of=of: log.append(f"full backward hook {of}"))
    for name, one in model.named_parameters():
        one.register_hook(lambda grad, name=name: log.append(f"the gradient of {name} is there"))
    model(*inputs).sum().backward()
    return log


@pytest.mark.filterwarnings("ignore:Full backward hook is firing")
@pytest.mark.parametrize("grad", [False, True])
def test_its_steps_are_those_of_a_real_run(grad: bool) -> None:
    x = torch.ones(2, 3, requires_grad=grad)
    shown = replay(small(), x)
    assert steps(shown.html) == _logged(small(), x)
    assert len(steps(shown.html)) == 20


def test_each_step_says_what_the_hook_gets_and_what_is_there() -> None:
    page = replay(Model(), torch.tensor([2.0], requires_grad=True), torch.tensor([3.0], requires_grad=True)).html
    says = [" ".join(one.get_text(" ").split()) for one in BeautifulSoup(page, "html.parser").select(".s")]
    assert "args = (tensor([2]), tensor([3])) and may return new args" in says[0]
    assert "output = tensor([30]) and may return a new output" in says[1]
    assert "grad_output = (tensor([1]),) and may return a new grad_output" in says[2]
    assert "a tensor hook on it gets grad = tensor([6]) and may return a new gradient" in says[3]
    assert "grad_input = (tensor([15]), tensor([10]))" in says[4]
    assert re.search(r'<text class="b on p4"[^>]*>\[6\]</text>', page), "W's gradient is there from step 4 on"


def test_it_has_neither_script_nor_the_address_of_anything_and_all_buttons_lead_to_a_step() -> None:
    page = BeautifulSoup(replay(small(), torch.ones(2, 3)).html, "html.parser")
    assert not page.select("script, link, [src], [href], [onclick]")
    ids = {one["id"] for one in page.select("input[type=radio]")}
    assert len(ids) == 20 and {one["for"] for one in page.select("label")} == ids
    assert [one["id"] for one in page.select("input[checked]")] == [
        min(ids, key=lambda one: int(one.rpartition("-")[2]))
    ]
    other = BeautifulSoup(replay(small(), torch.ones(2, 3)).html, "html.parser")
    assert not ids & {one["id"] for one in other.select("[id]")}, "two replays on one page"


def test_in_place_operations_frozen_and_large_models_are_told() -> None:
    in_place = replay(nn.Sequential(nn.Linear(3, 2), nn.ReLU(inplace=True)), torch.ones(1, 3))
    assert "backward seen by tensor hooks" in in_place.html and "tensor hook on the output of 0: Linear" in steps(
        in_place.html
    )
    frozen = replay(small().requires_grad_(False), torch.ones(1, 3))
    assert "no backward" in frozen.html and len(steps(frozen.html)) == 8
    large = replay(fifty(), torch.ones(2, 3))
    assert large.html.count("<rect") <= MAX_BOXES and "deeper inside are not drawn" in large.alt
