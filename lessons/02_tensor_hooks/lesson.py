# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Hooks on tensors

# %% nbgrader={"grade": false, "grade_id": "imports", "locked": true, "schema_version": 3, "solution": false, "task": false}
from functools import partial

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn import Parameter

from course.models import Model, TestNet

# %% nbgrader={"grade": false, "grade_id": "weight_grad", "locked": false, "schema_version": 3, "solution": true, "task": false}
model = Model()
answer = []


def tensor_hook(grad):
    # TODO: put the gradient into `answer`.
    ### BEGIN SOLUTION
    answer.append(grad)
    ### END SOLUTION


# TODO: register the hook on model.W.
### BEGIN SOLUTION
model.W.register_hook(tensor_hook)
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "test_weight_grad", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
from course.checking import Check, check
from course.compare import AnyOf
from course.probing import other_forward


class OneBackward(Check):
    """After one backward, `answer` holds the gradient of `model.W`."""

    poison = ("x1", "x2", "output")

    def probe(self, nb, case):
        nb.list("answer").clear()
        model = nb.module("model")
        x1, x2 = case.tensor("x1", 4, requires_grad=True), case.tensor("x2", 4, requires_grad=True)
        model(x1, x2).backward(case.tensor("upstream", 4))
        return {"answer": nb.list("answer")}

    def truth(self, case):
        W = torch.tensor([5.0], requires_grad=True)
        output = case.tensor("x1", 4) * case.tensor("x2", 4) * W
        (gradient,) = torch.autograd.grad(output, W, case.tensor("upstream", 4))
        return {"answer": AnyOf([gradient], list(gradient))}


check("weight_grad", OneBackward)

### BEGIN HIDDEN TESTS
class AnotherForward(Check):
    """The gradient is read from the hook's argument, so it is right for any forward and any W."""

    def probe(self, nb, case):
        nb.list("answer").clear()
        model = nb.module("model")
        model.W.data.copy_(case.tensor("W", 1))
        with other_forward(model, lambda self, x1, x2: x1**2 * x2 * self.W**3):
            model(case.tensor("x1", 2, 3), case.tensor("x2", 3)).backward(case.tensor("upstream", 2, 3))
        return {"answer": nb.list("answer")}

    def truth(self, case):
        W = case.tensor("W", 1, requires_grad=True)
        output = case.tensor("x1", 2, 3) ** 2 * case.tensor("x2", 3) * W**3
        (gradient,) = torch.autograd.grad(output, W, case.tensor("upstream", 2, 3))
        return {"answer": AnyOf([gradient], list(gradient))}


check("weight_grad", AnotherForward)
### END HIDDEN TESTS
