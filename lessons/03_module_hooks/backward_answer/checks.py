import torch

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Matches
from nbproof.values.evidence import TensorRecord
from course.models import Model
from course.probing import hook_counts, other_forward


ANY_COUNT = Matches(lambda got: None, "any number")
SOME = Matches(lambda got: None if got else "none", "some")


def as_they_came(tensors):
    """The id of each tensor -> a copy. What is kept without a copy may be the memory of `.grad`, to which the next pass adds."""
    return {id(one): one.detach().clone() for one in tensors if isinstance(one, torch.Tensor)}


def holds_nan(got):
    """Whether the hook read one of the notebook's variables, which are NaN meanwhile."""
    found = [one for one in got if isinstance(one, TensorRecord) and one.tensor().isnan().any()]
    return None if found else "no NaN"


class GradientsAtBothEnds(Check):
    """After each backward, `answer` ends with the gradients of `x1`, `x2` and the output; no gradient was changed."""

    poison = ("x1", "x2", "output")
    blame = dict.fromkeys(("x1.grad", "x2.grad", "W.grad"), "watcher_changes_gradient")
    another = "the list of entries of another backward"
    errors = {r"ValueError: not enough values to unpack \(expected 3, got 2\)": "weight_in_grad_input"}

    def probe(self, nb, case):
        nb.list("answer").clear()
        x1, x2 = case.tensor("x1", 4, requires_grad=True), case.tensor("x2", 4, requires_grad=True)
        model = nb.module("model")
        model.W.grad = None
        model(x1, x2).backward(case.tensor("upstream", 4))
        hooks = sum(hook_counts(model).values())
        found = {"answer": list(nb.list("answer")), "hooks on model": hooks}
        for name, tensor in {"x1.grad": x1, "x2.grad": x2, "W.grad": model.W}.items():
            found[name], tensor.grad = tensor.grad, None
        model(x1, x2).backward(case.tensor("another upstream", 4))
        return {**found, self.another: nb.list("answer")[-3:]}

    def gradients(self, case, upstream):
        x1, x2 = case.tensor("x1", 4, requires_grad=True), case.tensor("x2", 4, requires_grad=True)
        free = Model()
        return torch.autograd.grad(free(x1, x2), (x1, x2, free.W), upstream)

    def truth(self, case):
        upstream, another = case.tensor("upstream", 4), case.tensor("another upstream", 4)
        g1, g2, g_w = self.gradients(case, upstream)
        return {
            "answer": [g1, g2, upstream], "x1.grad": g1, "x2.grad": g2, "W.grad": g_w, "hooks on model": ANY_COUNT,
            self.another: [*self.gradients(case, another)[:2], another],
        }

    def mistakes(self, case):
        g1, g2, upstream = self.truth(case)["answer"]
        x1, x2, W = case.tensor("x1", 4), case.tensor("x2", 4), torch.tensor([5.0])
        product = (x1 * x2).requires_grad_()
        W.requires_grad_()
        last = torch.autograd.grad(product * W, (product, W), upstream)
        g_w, output = last[1], x1 * x2 * 5
        return {
            "runs_only_once": {"answer": [g1, g2, upstream], self.another: [g1, g2, upstream]},
            "nothing_registered": {"answer": [], "hooks on model": 0},
            "stores_nothing": {"answer": [], "hooks on model": SOME},
            "grad_not_there_yet": {"answer": AnyOf([None, None, upstream], [None, None, None])},
            "reads_globals": {"answer": Matches(holds_nan, "NaN")},
            "one_side_missing": {"answer": AnyOf([g1, g2], [upstream])},
            "derivative_by_hand": {"answer": [x2 * 5, x1 * 5, upstream]},
            "chain_rule_again": {"answer": [g1 * upstream, g2 * upstream, upstream]},
            "keeps_the_tuple": {
                "answer": AnyOf(
                    [g1, g2, [upstream]], [[g1, g2], upstream], [[g1, g2], [upstream]], [[g1, g2, upstream]]
                )
            },
            "legacy_hook": {"answer": AnyOf([*last, upstream], [*last, [upstream]])},
            "forward_instead_of_backward": {"answer": AnyOf([x1, x2, output], [x1, x2, output[0]], [x1, x2, *output])},
            "module_hook_twice": {"answer": [g1, g2, upstream, g1, g2, upstream]},
            "takes_elements_apart": {"answer": AnyOf([*g1, *g2, *upstream], [g1, g2, *upstream])},
            "parameter_instead_of_module": {
                "answer": AnyOf([g1, g2, g_w], [g1, g_w, upstream], [g1, None, upstream], [g_w], [g_w, g_w, g_w], list(g_w))
            },
        }


class EveryPass(Check):
    """Passes add up in `.grad`, go around `model`, come in eval mode: each adds its three."""

    blame = {"the list of entries in eval mode": "only_in_training", "the list of entries of a pass that goes around model as well": "gradient_from_elsewhere"}

    def probe(self, nb, case):
        model, answer = nb.module("model"), nb.list("answer")
        x1, x2 = case.tensor("x1", 4, requires_grad=True), case.tensor("x2", 4, requires_grad=True)
        upstreams = [case.tensor(f"upstream {number}", 4) for number in range(3)]
        answer.clear()
        model(x1, x2).backward(upstreams[0])
        first = list(nb.list("answer"))
        kept = as_they_came(first)
        model(x1, x2).backward(upstreams[1])
        found = {"answer": [kept.get(id(one), one) for one in nb.list("answer")]}
        x1.grad = x2.grad = None
        nb.list("answer").clear()
        was_training = model.training
        model.eval()
        model(x1, x2).backward(upstreams[2])
        model.train(was_training)
        found["the list of entries in eval mode"] = list(nb.list("answer"))
        x1.grad = x2.grad = None
        nb.list("answer").clear()
        (model(x1, x2) * upstreams[0] + x1 * case.tensor("way around", 4)).sum().backward()
        return {**found, "the list of entries of a pass that goes around model as well": nb.list("answer")}

    def truth(self, case):
        x1, x2 = case.tensor("x1", 4), case.tensor("x2", 4)
        found = []
        for number in range(3):
            upstream = case.tensor(f"upstream {number}", 4)
            found.append([5 * upstream * x2, 5 * upstream * x1, upstream])
        return {
            "answer": found[0] + found[1], "the list of entries in eval mode": found[2],
            "the list of entries of a pass that goes around model as well": found[0],
        }

    def mistakes(self, case):
        entries = self.truth(case)["answer"]
        summed = [entries[0] + entries[3], entries[1] + entries[4], entries[5]]
        return {
            "earlier_entries_lost": {"answer": entries[3:]},
            "accumulated_grad": {"answer": entries[:3] + summed},
        }


check("backward_answer", GradientsAtBothEnds, EveryPass)


# --- Hidden checks: graders run them, learners do not get them. ---
class TwoPassesOfAnotherForward(Check):
    """The gradients of two passes through another forward, one of them in eval mode and around the model as well."""

    poison = ("x1", "x2", "output")

    def probe(self, nb, case):
        nb.list("answer").clear()
        model, gain, seen = nb.module("model"), case.tensor("hidden gain", 3), []
        x1, x2 = case.tensor("hidden x1", 2, 3, requires_grad=True), case.tensor("hidden x2", 3, requires_grad=True)
        was_training, model.W.grad = model.training, None
        with model.register_full_backward_hook(lambda module, grad_input, grad_output: seen.append(grad_input[0] * gain)):
            with other_forward(model, lambda self, x1, x2: x1**2 * x2 * self.W):
                model(x1, x2).backward(case.tensor("hidden upstream", 2, 3))
                first = list(nb.list("answer"))
                kept = as_they_came(first)
                (model.eval()(x1, x2).sum() + (x1 * gain).sum()).backward()
            model.train(was_training)
        return {
            "answer": [kept.get(id(one), one) for one in nb.list("answer")], "hook of others: grad_input[0] * gain": seen, "x1.grad * gain": x1.grad * gain,
            "W.grad": model.W.grad,
        }

    def truth(self, case):
        x1, x2 = case.tensor("hidden x1", 2, 3), case.tensor("hidden x2", 3)
        upstream, gain = case.tensor("hidden upstream", 2, 3), case.tensor("hidden gain", 3)
        ones = torch.ones(2, 3)
        (a1, a2), (b1, b2) = ((10 * g * x1 * x2, (5 * g * x1**2).sum(dim=0)) for g in (upstream, ones))
        return {
            "answer": [a1, a2, upstream, b1, b2, ones], "hook of others: grad_input[0] * gain": [a1 * gain, b1 * gain],
            "x1.grad * gain": (a1 + b1 + gain) * gain, "W.grad": ((upstream + 1) * x1**2 * x2).sum().reshape(1),
        }

    def mistakes(self, case):
        x1, x2 = case.tensor("hidden x1", 2, 3), case.tensor("hidden x2", 3)
        upstream = case.tensor("hidden upstream", 2, 3)
        first = [upstream * x2 * 5, upstream * x1 * 5, upstream]
        return {
            "reads_globals": {"answer": Matches(holds_nan, "NaN")},
            "formula_of_visible_forward": {"answer": Matches(lambda got: None if len(got) == 6 and torch.allclose(got[0].tensor(), first[0]) else "other", "the product rule")},
        }


check("backward_answer", TwoPassesOfAnotherForward)
