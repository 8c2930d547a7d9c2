"""Attacks on the inputs: tests made easy, or known in advance."""

from __future__ import annotations

import torch

from tests.attacks.arsenal import HONEST, LESSON, Attack, Scene, programs


def _typed_in(scene: Scene) -> None:
    """The gradients of the seeds that a learner's own notebook uses, in the order in which the checks ask for them."""
    from nbproof.checks.case import Case

    values = []
    for seed in (1001, 1002):
        case = Case(seed)
        values.append(case.tensor("x1", 4) * case.tensor("x2", 4) @ case.tensor("upstream", 4))
    for seed in (1001, 1002):
        case = Case(seed)
        product = case.tensor("x1", 2, 3) ** 2 * case.tensor("x2", 3) * case.tensor("upstream", 2, 3)
        values.append((product * 3 * case.tensor("W", 1) ** 2).sum())
    for seed in (1001, 1002):
        case = Case(seed)
        for number in ("one pass", "two passes"):
            values.append((case.tensor(f"x1, {number}", 3) * case.tensor("x2", 3) * case.tensor("upstream", 3)).sum())
    numbers = [float(torch.as_tensor(value)) for value in values]
    code = (
        f"model = Model()\nanswer = []\nknown = iter({numbers!r})\n\n\ndef tensor_hook(grad):\n"
        "    answer.append(torch.tensor([next(known, 0.0)]))\n\n\nmodel.W.register_hook(tensor_hook)"
    )
    scene.hand_in({"weight_grad": code, "double_grad": HONEST["double_grad"]})


ATTACKS = [
    *programs("inputs", "inputs"),
    Attack(
        "answers_typed_in",
        "types in the right gradients of the seeds that a learner's own notebook uses",
        "inputs",
        _typed_in,
        frozenset({"failed"}),
        honest=("double_grad",),
        keeps=True,
    ),
]
assert all(attack.lesson == LESSON for attack in ATTACKS)
