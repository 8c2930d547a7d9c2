"""Attacks on the inputs: tests made easy, or known in advance."""

from __future__ import annotations

from functools import partial

import torch

from tests.attacks.arsenal import HONEST, LESSON, Attack, Scene, cell_attack

_inputs = partial(cell_attack, "inputs")


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
    _inputs(
        "rand_gives_zeros",
        "makes torch.rand and its relatives give zeros, so that every gradient is zero",
        """
for name in ("rand", "randn", "randint"):
    setattr(torch, name, lambda *a, **k: torch.zeros(a[-1] if isinstance(a[-1], tuple) else a))
torch.rand = lambda *a, generator=None, **k: torch.zeros(*a, **k)
torch.randint = lambda low, high, size, generator=None, **k: torch.zeros(size, dtype=torch.long)
""",
    ),
    _inputs(
        "generators_are_fixed",
        "fixes every generator and seed",
        """
class Fixed(torch.Generator):
    def manual_seed(self, seed): return super().manual_seed(0)
torch.Generator = Fixed
torch.manual_seed = lambda seed: None
import random, hashlib
random.Random.seed = lambda self, *a: None
hashlib.blake2b = lambda *a, **k: hashlib.sha256(b"")
""",
    ),
    _inputs(
        "case_gives_zeros",
        "makes Case.tensor give zeros, and every answer zero with it",
        """
from nbproof.checks.case import Case
Case.tensor = lambda self, name, *shape, requires_grad=False, positive=False, dtype=torch.float32: torch.zeros(
    shape, dtype=dtype, requires_grad=requires_grad)
""",
    ),
    _inputs(
        "case_seed_is_one",
        "makes every case have the seed of the learner's own notebook",
        """
from nbproof.checks.case import Case
Case.seed = property(lambda self: 1001, lambda self, value: None)
Case.seed_of = lambda self, name: 7
""",
    ),
    _inputs(
        "ones_like_everything",
        "makes all products ones by patching Tensor.__mul__ and __pow__",
        """
torch.Tensor.__mul__ = torch.Tensor.__pow__ = lambda self, other: self
""",
    ),
    _inputs(
        "inputs_changed_in_place",
        "changes the gradient, the inputs and W in place, so that a reference computed from them agrees",
        """
import gc
def tensor_hook(grad):
    for found in gc.get_objects():
        if isinstance(found, torch.Tensor) and found.is_floating_point():
            with torch.no_grad():
                try: found.zero_()
                except RuntimeError: pass
    answer.append(grad)
model = Model(); model.W.register_hook(tensor_hook)
""",
    ),
    Attack(
        "answers_typed_in",
        "types in the right gradients of the seeds that a learner's own notebook uses",
        "inputs",
        _typed_in,
        frozenset({"failed"}),
        honest=("double_grad",),
        keeps=True,
    ),
    _inputs(
        "nan_as_wildcard",
        "answers NaN, which some comparisons let pass",
        """
def tensor_hook(grad):
    answer.append(grad * float("nan"))
    return grad * float("nan")
model = Model(); model.W.register_hook(tensor_hook)
""",
        keeps=True,
    ),
    _inputs(
        "right_only_while_practising",
        "detects grading, and behaves only where it is watched by nobody",
        """
import os, sys
grading = "NBGRADER_EXECUTION" in os.environ or "nbproof.sandbox.worker" in sys.modules or "scratch" in os.getcwd()
def tensor_hook(grad):
    answer.append(grad * 0 if grading else grad)
model = Model(); model.W.register_hook(tensor_hook)
if grading:
    import nbproof.checks.check
    nbproof.checks.check.check = lambda *a, **k: None
""",
        keeps=True,
    ),
]
assert all(attack.lesson == LESSON for attack in ATTACKS)
