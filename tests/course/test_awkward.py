"""Models that are not tidy are so in the way that their kind says, run, and follow from the case alone."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import nn

from course.awkward import KINDS, awkward_models, several_groups
from nbproof.checks.case import Case
from nbproof.course_file import the_course


def outputs(model: nn.Module, x: torch.Tensor) -> list[object]:
    """What each module gives, in the order in which they end."""
    found: list[object] = []
    for module in model.modules():
        module.register_forward_hook(lambda module, args, output: found.append(output))
    model(x)
    return found


def shared_places(model: nn.Module) -> int:
    return len(list(model.named_modules(remove_duplicate=False))) - len(list(model.modules()))


IS_SO: dict[str, Callable[[nn.Module, torch.Tensor], bool]] = {
    "shared": lambda model, x: shared_places(model) >= 2,
    "called_twice": lambda model, x: shared_places(model) == 0 and len(outputs(model, x)) > len(list(model.modules())),
    "tied": lambda model, x: (
        shared_places(model) == 0
        and len(list(model.parameters())) < len(list(model.named_parameters(remove_duplicate=False)))
    ),
    "partly_frozen": lambda model, x: (
        [one.requires_grad for one in model.parameters()] == [False] * 2 + [True] * 3 + [False]
    ),
    "in_place_behind": lambda model, x: any(isinstance(one, nn.ReLU) and one.inplace for one in model.modules()),
    "norm_in_eval": lambda model, x: (
        model.training and any(isinstance(one, nn.BatchNorm1d) and not one.training for one in model.modules())
    ),
    "mixed_modes": lambda model, x: [one.training for one in model.children()] == [True, True, False, True],
    "none_place": lambda model, x: None in model._modules.values() and None in model._parameters.values(),
    "one_dim": lambda model, x: x.dim() == 1,
    "three_dim": lambda model, x: x.dim() == 3,
    "float64": lambda model, x: {one.dtype for one in (*model.parameters(), model(x))} == {torch.float64},
    "namedtuple": lambda model, x: any(hasattr(one, "_fields") for one in outputs(model, x)),
    "dictionary": lambda model, x: any(isinstance(one, dict) for one in outputs(model, x)),
    "look_alike": lambda model, x: (
        {"fc", "fc1", "fc10", "block.fc", "my_block.fc"} <= {n for n, _ in model.named_modules()}
    ),
    "the_layer": lambda model, x: isinstance(model, nn.Linear),
}


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_is_what_it_says_and_follows_from_the_case(kind: str) -> None:
    ((model, x),), ((again, same),) = (awkward_models(Case(3), kind).values() for _ in range(2))
    assert IS_SO[kind](model, x)
    assert torch.equal(x, same)
    assert x.requires_grad is False
    with torch.no_grad():
        assert torch.equal(awkward_models(Case(3), kind)[KINDS[kind].says][0](x), again(x))
    assert model is not again


def test_each_kind_goes_backward_in_training() -> None:
    for model, x in awkward_models(Case(4), *KINDS).values():
        model(x).sum().backward()
        assert model.training
        assert any(one.grad is not None for one in model.parameters())


def test_the_contract_asks_about_each_of_them() -> None:
    kinds = the_course().awkward
    assert set(kinds["model"]) == set(kinds["net"]) == set(KINDS)
    assert kinds["optimizer"] == (several_groups.__name__,)


def test_groups_hold_each_parameter_that_trains_once_with_settings_of_their_own() -> None:
    ((model, _),) = awkward_models(Case(5), "partly_frozen").values()
    groups = several_groups(model)
    assert [id(one) for group in groups for one in group["params"]] == [
        id(one) for one in model.parameters() if one.requires_grad
    ]
    assert len({(group["lr"], group["weight_decay"]) for group in groups}) == len(groups) == 3
    torch.optim.SGD(groups, lr=1.0)
