"""What probes are made of."""

from __future__ import annotations

from contextlib import nullcontext, suppress

import pytest
import torch
from torch import nn

from course.models import Add, Model
from course.probing import error_out_of, hook_counts, other_forward, printed_lines, tensor_hook_count
from course.truths import ANYTHING, missing_lines, other_than, such_that, undisclosed
from nbproof.display.words import ENGLISH
from nbproof.values.compare import first_difference
from nbproof.values.evidence import snapshot

ONE, TWO = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 5.0])


def test_another_forward_keeps_the_hooks_and_ends_with_its_block() -> None:
    add, seen = Add(), []
    add.register_forward_hook(lambda module, args, output: seen.append(output))
    with other_forward(add, lambda self, x1, x2: x1 * x2):
        add(ONE, TWO)
    add(ONE, TWO)
    assert [output.tolist() for output in seen] == [[3.0, 10.0], [4.0, 7.0]]
    assert "forward" not in add.__dict__


def test_a_forward_that_the_learner_put_on_the_object_comes_back() -> None:
    add = Add()
    add.forward = lambda x1, x2: x1 - x2  # type: ignore[method-assign]
    with pytest.raises(ValueError, match="mine"), other_forward(add, lambda self, x1, x2: x1 * x2):
        del add.forward  # a learner's code may clean up too much
        raise ValueError("mine")
    assert add(TWO, ONE).tolist() == [2.0, 3.0]


def test_an_error_comes_out_of_a_block_that_does_not_swallow_it() -> None:
    assert error_out_of(nullcontext(), "maple") == "maple"
    assert error_out_of(suppress(ArithmeticError), "maple") == "nothing"


def test_hooks_are_counted_by_kind_over_the_whole_model() -> None:
    net = nn.Sequential(nn.Linear(2, 2), nn.Sequential(nn.ReLU()))
    shared = net[0].weight
    handle = net[1][0].register_forward_hook(print)
    net.register_forward_pre_hook(print)
    net[0].register_full_backward_hook(print)
    net[0].register_full_backward_pre_hook(print)
    shared.register_hook(print)
    shared.register_post_accumulate_grad_hook(print)
    net.tied = net[0]  # visited once
    assert hook_counts(net) == {"forward_pre": 1, "forward": 1, "backward_pre": 1, "backward": 1, "tensor": 2}
    handle.remove()
    assert hook_counts(net)["forward"] == 0
    output = Model()(ONE, TWO)
    handle = output.register_hook(print)
    assert tensor_hook_count(output) == 1
    handle.remove()
    assert tensor_hook_count(output) == 0


def test_printed_lines_are_there_when_the_block_ends() -> None:
    with printed_lines() as lines:
        print("one\n\n  two")
        assert lines == []
    assert lines == ["one", "  two"]


SHAPES = {"conv1": (1, 8, 4, 4), "conv10": (1, 2), "fc": (5,)}


GOOD = ["conv1 (1, 8, 4, 4)", "conv10 (1, 2)", "fc (5,)"]
LINES = [
    (["conv1: torch.Size([1, 8, 4, 4])", "conv10 -> (1, 2)", "fc [5]"], None),
    (["layer fc has shape (5,)", "1x2 conv10", "conv1 1 x 8 x 4 x 4"], None),
    (["\x1b[31mconv1\x1b[0m (1, 8, 4, 4)", "conv10 (1,2)", "fc 5"], None),
    (None, "not a list of lines"),
    (GOOD[:1], "1 line"),
    ([GOOD[0], "conv1 (1, 2)", GOOD[2]], "'conv1 (1, 2)'"),
    (["conv1 (1, 8, 4)", *GOOD[1:]], "'conv1 (1, 8, 4)'"),
    ([GOOD[0], GOOD[2], GOOD[2]], "more than one line for 'fc'"),
    (["model.fc (5,)", GOOD[0], "conv10"], "'conv10'"),
]


@pytest.mark.parametrize(("lines", "wrong"), LINES)
def test_lines_in_any_order_and_notation_tell_names_and_shapes(lines: object, wrong: str | None) -> None:
    assert missing_lines(lines, SHAPES) == wrong


def test_a_line_with_every_shape_that_there_may_be_tells_none() -> None:
    shapes = {"left": (7, 41), "right": (7, 63)}
    every = " ".join(str((7, size)) for size in range(1, 100))
    assert missing_lines([f"left {every}", f"right {every}"], shapes) == repr(f"left {every}")


@pytest.mark.parametrize(
    ("got", "wanted", "right"),
    [
        ({"x": len}, {"x": ANYTHING}, True),
        (ONE, other_than(TWO), True),
        (ONE, other_than(ONE), False),
        (3, such_that(lambda got: got > 2), True),
        (1, such_that(lambda got: got > 2), False),
        ("three", such_that(lambda got: got > 2), False),
    ],
)
def test_what_is_wanted_need_not_be_one_value(got: object, wanted: object, right: bool) -> None:
    assert (first_difference(snapshot(got), wanted) is None) == right


def test_an_undisclosed_value_never_shows_in_a_message() -> None:
    assert first_difference(snapshot([22]), undisclosed([22.0], "a list of numbers")) is None
    for wrong in ([22.0, 22.0], [10.0], "text", None):
        found = first_difference(snapshot(wrong), undisclosed([7.5], "a list of numbers"))
        assert found is not None
        for reveal in (True, False):
            assert "7.5" not in ENGLISH.difference(found if reveal else found.withheld())
            assert "a list of numbers" in ENGLISH.difference(found if reveal else found.withheld())
