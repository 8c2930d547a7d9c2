from hypothesis import strategies as st

from course.drawn import fit, tensors
from nbproof.authoring.explorer import Exploration
from nbproof.checks.case import Plan
from nbproof.values.compare import Close

LAYERS = ("nn.Linear(2, 3)", "nn.Linear(2, 1, bias=False)", "nn.Linear(2, 2, dtype=torch.float64)", "nn.Linear(2, 3).requires_grad_(False)", "nn.Linear(2, 3).eval()")


class AnyLinear(Exploration):
    """It computes the correction, merged and not, and trains these two alone, whatever the layer."""

    draws = {
        "linear": st.sampled_from(LAYERS).map(lambda text: Plan(f"import torch\nfrom torch import nn\ntorch.manual_seed(0)\n_ = {text}")),
        "rank": st.integers(1, 3),
        "x": tensors(((2,), (1, 2), (3, 2), (2, 3, 2))),
    }

    def probe(self, nb, case):
        lora, x = nb.function("LoRA")(case.drawn("linear"), case.drawn("rank")), case.drawn("x")
        x = fit(x, lora)
        first = lora(x)
        lora.A.data.fill_(0.5)
        lora.B.data.fill_(0.25)
        needs = sorted(tuple(one.shape) for one in lora.parameters() if one.requires_grad)
        return {"at first": first, "later": lora(x), "merged": lora.merged()(x), "shapes of what is trained": needs}

    def truth(self, case):
        linear, rank = case.drawn("linear"), case.drawn("rank")
        x = fit(case.drawn("x"), linear)
        later = linear(x) + x.sum(-1, keepdim=True) * 0.5 * rank * 0.25
        shapes = sorted([(rank, linear.in_features), (linear.out_features, rank)])
        return {"at first": Close(linear(x)), "later": Close(later), "merged": Close(later), "shapes of what is trained": shapes}
