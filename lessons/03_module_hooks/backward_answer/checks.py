import torch

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Matches
from nbproof.values.evidence import TensorRecord
from course.models import Model
from course.probing import hook_counts, other_forward


ANY_COUNT = Matches(lambda got: None, "any number")
SOME = Matches(lambda got: None if got else "none", "some")


def holds_nan(got):
    """Whether the hook read one of the notebook's variables, which are NaN meanwhile."""
    found = [one for one in got if isinstance(one, TensorRecord) and one.tensor().isnan().any()]
    return None if found else "no NaN"


class GradientsAtBothEnds(Check):
    """After each backward, `answer` ends with the gradients of `x1`, `x2` and the output; no gradient was changed."""

    poison = ("x1", "x2", "output")
    blame = dict.fromkeys(("x1.grad", "x2.grad", "W.grad"), "watcher_changes_gradient")
    another = "entries of another backward"
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
            "keeps_the_tuple": {
                "answer": AnyOf(
                    [g1, g2, [upstream]], [[g1, g2], upstream], [[g1, g2], [upstream]], [[g1, g2, upstream]]
                )
            },
            "legacy_hook": {"answer": AnyOf([*last, upstream], [*last, [upstream]])},
            "forward_instead_of_backward": {"answer": AnyOf([x1, x2, output], [x1, x2, output[0]], [x1, x2, *output])},
            "module_hook_twice": {"answer": [g1, g2, upstream, g1, g2, upstream]},
            "takes_elements_apart": {"answer": AnyOf([*g1, *g2, *upstream], [g1, g2, *upstream])},
            "parameter_instead_of_module": {"answer": AnyOf([g1, g2, g_w], [g_w], [g_w, g_w, g_w], list(g_w))},
        }


class EveryPassIsKept(Check):
    """Passes with the same leaves in float64, with zeros, with inf, two equal ones, in both modes: all are kept."""

    blame = dict.fromkeys(("x1.grad", "x2.grad", "x1.grad of a pass with inf"), "watcher_changes_gradient")

    def given(self, case):
        leaves = [case.tensor(name, 4, requires_grad=True, dtype=torch.float64) for name in ("x1", "x2")]
        first, second = (case.tensor(f"upstream {number}", 4, dtype=torch.float64) for number in range(2))
        return leaves, [first, torch.zeros_like(first), second, second], first / torch.tensor([0.0, 1.0, 1.0, 1.0]).double()

    def probe(self, nb, case):
        nb.list("answer").clear()
        model, ((x1, x2), upstreams, broken) = nb.module("model"), self.given(case)
        was_training = model.training
        for training, upstream in zip((True, True, False, False), upstreams, strict=True):
            model.train(training)
            model(x1, x2).backward(upstream)
        model.train(was_training)
        found = {"answer": list(nb.list("answer")), "x1.grad": x1.grad.clone(), "x2.grad": x2.grad.clone()}
        x1.grad = None
        model(x1, x2).backward(broken)
        return {**found, "x1.grad of a pass with inf": x1.grad, "entries of a pass with inf": nb.list("answer")[len(found["answer"]) :]}

    def entries(self, x1, x2, upstream):
        return [upstream * 5 * x2, upstream * 5 * x1, upstream]

    def truth(self, case):
        leaves, upstreams, broken = self.given(case)
        x1, x2 = (leaf.detach() for leaf in leaves)
        found = [self.entries(x1, x2, upstream) for upstream in upstreams]
        return {
            "answer": [one for entries in found for one in entries],
            "x1.grad": sum(one for one, _, _ in found), "x2.grad": sum(one for _, one, _ in found),
            "entries of a pass with inf": self.entries(x1, x2, broken), "x1.grad of a pass with inf": broken * 5 * x2,
        }

    def mistakes(self, case):
        right = self.truth(case)
        entries, infinite = right["answer"], right["entries of a pass with inf"]
        (x1, x2), upstreams, _ = self.given(case)
        total, added = torch.zeros(2, 4, dtype=torch.float64), []
        for upstream in upstreams:
            both = self.entries(x1.detach(), x2.detach(), upstream)
            total = total + torch.stack(both[:2])
            added += [*total, upstream]
        return {
            "earlier_entries_lost": {"answer": entries[-3:]},
            "float64_lost": {"answer": [one.float() for one in entries]},
            "only_in_training": {"answer": entries[:6]},
            "first_layer_leaves_repetitions_out": {"answer": entries[:-3]},
            "accumulated_grad": {"answer": added},
            "value_taken_for_nothing": AnyOf(
                {**right, "answer": [one for one in entries if one.any()]},
                {**right, "entries of a pass with inf": [one.nan_to_num() for one in infinite]},
                {**right, "entries of a pass with inf": [one.nan_to_num() for one in infinite], "x1.grad of a pass with inf": infinite[0].nan_to_num()},
            ),
        }


class ThroughTheModel(Check):
    """What goes around `model` does not count; a frozen `W`, each pass through one graph, and `create_graph` do; nothing is cut off."""

    blame = {
        "entries of a pass that goes around model as well": "gradient_from_elsewhere",
        "entries with a frozen W": "frozen_pass_left_out", "entries of two passes through one graph": "runs_only_once",
        "gradient of a gradient": "cut_from_its_inputs", "entries of a pass with create_graph": "create_graph_left_out",
    }

    def given(self, case):
        """x1, x2, and three tensors more."""
        leaves = [case.tensor(name, 4, requires_grad=True) for name in ("x1", "x2")]
        return [*leaves, *(case.tensor(name, 4) for name in ("upstream", "another upstream", "way around"))]

    def probe(self, nb, case):
        model, answer, found = nb.module("model"), nb.list("answer"), {}
        x1, x2, upstream, another, around = self.given(case)
        answer.clear()
        (model(x1, x2) * upstream + x1 * around).sum().backward()
        found["entries of a pass that goes around model as well"] = list(nb.list("answer"))
        answer.clear()
        model.W.requires_grad_(False)
        try:
            model(x1, x2).backward(another)
        finally:
            model.W.requires_grad_(True)
        found["entries with a frozen W"] = list(nb.list("answer"))
        answer.clear()
        output = model(x1, x2)
        output.backward(upstream, retain_graph=True)
        output.backward(another)
        found["entries of two passes through one graph"] = list(nb.list("answer"))
        answer.clear()
        slope, _ = torch.autograd.grad(model(x1, x2), (x1, x2), upstream, create_graph=True)
        found["entries of a pass with create_graph"] = list(nb.list("answer"))
        (found["gradient of a gradient"],) = torch.autograd.grad((slope * another + x2 * around).sum(), x2)
        return found

    def truth(self, case):
        x1, x2, upstream, another, around = self.given(case)
        one, two = ([5 * g * x2.detach(), 5 * g * x1.detach(), g] for g in (upstream, another))
        return {
            "entries of a pass that goes around model as well": one, "entries with a frozen W": two,
            "entries of two passes through one graph": [*one, *two],
            "gradient of a gradient": 5 * upstream * another + around, "entries of a pass with create_graph": one,
        }


check("backward_answer", GradientsAtBothEnds, EveryPassIsKept, ThroughTheModel)


# --- Hidden checks: graders run them, learners do not get them. ---
class GradientsOfAnyForward(Check):
    """The gradients come from the hook's arguments, so they are right for any forward, any shapes, any upstream."""

    poison = ("x1", "x2", "output")

    def probe(self, nb, case):
        nb.list("answer").clear()
        x1, x2 = case.tensor("hidden x1", 2, 3, requires_grad=True), case.tensor("hidden x2", 3, requires_grad=True)
        with other_forward(nb.module("model"), lambda self, x1, x2: x1**2 * x2 * self.W) as model:
            model(x1, x2).backward(case.tensor("hidden upstream", 2, 3))
        return {"answer": nb.list("answer")}

    def truth(self, case):
        x1, x2 = case.tensor("hidden x1", 2, 3, requires_grad=True), case.tensor("hidden x2", 3, requires_grad=True)
        upstream = case.tensor("hidden upstream", 2, 3)
        g1, g2 = torch.autograd.grad(x1**2 * x2 * Model().W, (x1, x2), upstream)
        return {"answer": [g1, g2, upstream]}

    def mistakes(self, case):
        x1, x2, upstream = case.tensor("hidden x1", 2, 3), case.tensor("hidden x2", 3), case.tensor("hidden upstream", 2, 3)
        return {
            "reads_globals": {"answer": Matches(holds_nan, "NaN")},
            "formula_of_visible_forward": {"answer": [upstream * x2 * 5, upstream * x1 * 5, upstream]},
        }


check("backward_answer", GradientsOfAnyForward)
