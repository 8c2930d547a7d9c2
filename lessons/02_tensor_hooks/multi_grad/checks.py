import torch

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Close, Matches, is_same
from nbproof.values.describe import in_words
from course.awkward import awkward_models
from course.truths import ANYTHING, such_that


def small_net(case):
    return case.build("net", lambda: torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.Tanh(), torch.nn.Linear(3, 2)))


def run_pass(net, case, name="", factor=3.0):
    net(case.tensor(f"x{name}", 5, 4)).backward(factor * case.tensor(f"upstream{name}", 5, 2))


def gradients_of(net):
    return [parameter.grad for parameter in net.parameters() if parameter.grad is not None]


def total_norm(gradients):
    return torch.cat([gradient.flatten() for gradient in gradients]).norm()


def number(value):
    """A tensor without dimensions, or a Python number: both are fine."""
    fine = AnyOf(*(Close(one, rtol=1e-5, atol=1e-12) for one in (value.detach().float(), value.detach().double(), value.item())))
    says = f"{value.item():.6g}, as a number or a tensor without dimensions"
    return Matches(lambda got: None if is_same(got, fine) else in_words(got), says)


class OneNumberForAPass(Check):
    """One backward pass adds one number to the list: the norm of all gradients together."""

    poison = ("net", "batch", "model", "grads", "parameters", "layer", "a", "b", "c", "d")

    def probe(self, nb, case):
        net = small_net(case)
        norms = nb.function("watch_norm")(net)
        early = list(norms) if isinstance(norms, list) else type(norms).__name__
        run_pass(net, case)
        return {"the list before backward": early, "the list": norms}

    def gradients(self, case):
        net = small_net(case)
        run_pass(net, case)
        return gradients_of(net)

    def truth(self, case):
        return {"the list before backward": [], "the list": [number(total_norm(self.gradients(case)))]}

    def mistakes(self, case):
        gradients = self.gradients(case)
        total, norms = total_norm(gradients), [gradient.norm() for gradient in gradients]
        without_one = [total_norm(gradients[:i] + gradients[i + 1 :]) for i in range(len(gradients))]
        largest = max(gradient.abs().max() for gradient in gradients)
        count = len(gradients)

        def one_of(*values):
            return {"the list": AnyOf(*([number(value)] for value in values))}

        return {
            "hook_never_ran": {"the list": []},
            "shared_list": {"the list before backward": such_that(lambda got: isinstance(got, list) and len(got) > 0)},
            "returns_no_list": {"the list before backward": such_that(lambda got: isinstance(got, str))},
            "norm_watch_hook_for_each": {"the list": such_that(lambda got: len(got) == count)},
            "norm_watch_sum_of_norms": one_of(sum(norms), sum(norms) / count),
            "norm_watch_no_root": one_of(total**2),
            "norm_watch_reads_grad": one_of(*without_one),
            "norm_watch_one_parameter": one_of(*norms),
            "norm_watch_other_norm": one_of(largest, sum(gradient.abs().sum() for gradient in gradients)),
            "norm_watch_not_one_number": {
                "the list": such_that(lambda got: len(got) == 1 and isinstance(got[0], list))
            },
            "norm_watch_gradients_kept": {"the list": [AnyOf(*gradients)]},
        }

    blame = {"the list": "norm_watch_not_the_norm"}
    errors = {
        r"TypeError: object of type 'generator' has no len": "norm_watch_generator",
        r"AttributeError: '(list|tuple)' object has no attribute": "norm_watch_gets_a_list",
        r"(AttributeError: 'NoneType' object|TypeError: .*NoneType)": "norm_watch_reads_grad",
        r"RuntimeError: stack expects each tensor to be equal size": "norm_watch_not_one_number",
        r"TypeError: .*\(\) (takes|missing) ": "norm_watch_gets_a_list",
    }


class SeveralPasses(Check):
    """Each backward pass adds one number, from its own gradients alone, with all its digits, however small it is."""

    passes = ("1", "2", "2")

    def probe(self, nb, case):
        net = small_net(case)
        norms = nb.function("watch_norm")(net)
        nb.function("watch_norm")(torch.nn.Linear(2, 2))  # a second model, which is not used
        for name in self.passes:
            run_pass(net, case, name, factor=1e-3)
        return {"the list": norms}

    def gradients(self, case):
        for name in self.passes:
            net = small_net(case)
            run_pass(net, case, name, factor=1e-3)
            yield gradients_of(net)

    def truth(self, case):
        return {"the list": [number(total_norm(gradients)) for gradients in self.gradients(case)]}

    def mistakes(self, case):
        first, second, _ = self.gradients(case)
        one, two = total_norm(first), total_norm(second)
        grown = [total_norm([a + b for a, b in zip(first, second)]), (one**2 + two**2).sqrt(), one + two]
        return {
            "earlier_call_forgotten": {"the list": []},
            "runs_only_once": {"the list": [number(one)]},
            "keeps_last_only": {"the list": [number(two)]},
            "norm_watch_adds_up": {"the list": AnyOf(*([number(one), number(value), ANYTHING] for value in grown))},
            "drops_an_entry": {"the list": [number(one), number(two)]},
            "norm_watch_rounded": {
                "the list": such_that(lambda got: [round(n, 9) for n in got] == [round(n, 5) for n in got] and len(got) == 3)
            },
        }


class TwoHeads(torch.nn.Module):
    """A body and two heads; a pass uses one of the heads."""

    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(3, 2)
        self.body = torch.nn.Linear(4, 3)
        self.second = torch.nn.Linear(3, 2)

    def forward(self, x, head):
        return getattr(self, head)(self.body(x).tanh())


class OneHeadAtATime(Check):
    """Parameters that a pass does not reach count for nothing, and nobody waits for them."""

    def net_after(self, case, head, watch=lambda net: None):
        """A fresh net after a pass through one head, and what watch made of the net before."""
        net = case.build("net", TwoHeads)
        watched = watch(net)
        net(case.tensor("x", 5, 4), head).backward(case.tensor("upstream", 5, 2))
        return net, watched

    def probe(self, nb, case):
        watch = nb.function("watch_norm")
        return {f"the list, {head} head used": self.net_after(case, head, watch)[1] for head in ("first", "second")}

    def truth(self, case):
        nets = {head: self.net_after(case, head)[0] for head in ("first", "second")}
        return {f"the list, {head} head used": [number(total_norm(gradients_of(net)))] for head, net in nets.items()}

    def mistakes(self, case):
        first, second = (grads[0] for grads in self.truth(case).values())
        return {
            "norm_watch_waits_for_all": {"the list, first head used": []},
            "shared_list": {"the list, first head used": AnyOf([first, second], [second])},
        }

    errors = {r"(TypeError|AttributeError): .*NoneType": "norm_watch_none"}


KINDS = (
    "shared", "called_twice", "tied", "partly_frozen", "in_place_behind", "norm_in_eval", "mixed_modes", "none_place", "one_dim",
    "three_dim", "float64", "namedtuple", "dictionary", "look_alike", "the_layer",
)


class AnyModel(Check):
    """Any model: frozen parameters count for nothing, one that two layers share counts once."""

    cases = 1  # of a dozen models

    def run(self, case, watch=lambda model: None):
        """Of each awkward model: itself after a pass, and what watch made of it before."""
        found = {}
        for says, (model, x) in awkward_models(case, *KINDS).items():
            watched, output = watch(model), model(x)
            output.backward(case.tensor("upstream", *output.shape, dtype=output.dtype))
            found[says] = model, watched
        return found

    def probe(self, nb, case):
        return {says: watched for says, (_, watched) in self.run(case, nb.function("watch_norm")).items()}

    def truth(self, case):
        return {says: [number(total_norm(gradients_of(model)))] for says, (model, _) in self.run(case).items()}

    def mistakes(self, case):
        tied = next(model for says, (model, _) in self.run(case).items() if "tied" in says)
        twice = total_norm([*gradients_of(tied), tied.encoder.weight.grad])
        return {"norm_watch_shared_twice": {"a model with tied weights": [number(twice)]}}

    blame = {"a model that is frozen in part": "norm_watch_frozen"}
    errors = {
        r"AssertionError: Expected gradient function": "norm_watch_frozen",
        r"RuntimeError: cannot register a hook on a tensor that doesn't require": "norm_watch_frozen",
    }


class OnlyWatches(Check):
    """Every `.grad` is the same as without the hook: what an earlier pass has left stays, and this pass is added."""

    def run(self, case, watch=lambda net: None):
        net = small_net(case)
        run_pass(net, case, "of an earlier pass")
        watch(net)
        run_pass(net, case)
        return {f"{name}.grad": parameter.grad for name, parameter in net.named_parameters()}

    def probe(self, nb, case):
        return self.run(case, nb.function("watch_norm"))

    def truth(self, case):
        return self.run(case)

    def mistakes(self, case):
        net = small_net(case)
        run_pass(net, case)
        return {"empties_grad": {f"{name}.grad": parameter.grad for name, parameter in net.named_parameters()}}

    blame = {f"{name}.grad": "changes_gradient" for name in ("0.weight", "0.bias", "2.weight", "2.bias")}


class ZeroAndTransposed(Check):
    """All gradients may be zero, some infinite or NaN, some transposed or without dimensions; the model may be in eval mode."""

    passes = (1.0, 0.0, torch.inf, torch.nan, 2.0)

    def build(self):
        net = torch.nn.Linear(3, 4)
        net.factor = torch.nn.Parameter(torch.rand(()) + 0.5)
        return net

    def run(self, case, watch=lambda net: None):
        net = case.build("net", self.build)
        watched, norms = watch(net), []
        for factor in self.passes:
            net.train(factor != self.passes[-1]).zero_grad()
            output = net.weight.t() * case.tensor("x", 3, 4) * net.factor + net.bias
            upstream = case.tensor("upstream", 3, 4)
            upstream[0, 0] *= factor
            output.backward(upstream if factor else 0 * upstream)
            norms.append(number(self.told(total_norm(gradients_of(net)))))
        return watched, norms

    def told(self, norm):
        """NaN equals nothing, not even NaN: 31337 stands for it."""
        nan = isinstance(norm, (float, torch.Tensor)) and norm != norm
        return torch.full_like(norm, 31337) if nan and isinstance(norm, torch.Tensor) else 31337.0 if nan else norm

    def probe(self, nb, case):
        norms = self.run(case, nb.function("watch_norm"))[0]
        return {"the list (31337: NaN)": [self.told(norm) for norm in norms] if isinstance(norms, list) else norms}

    def truth(self, case):
        return {"the list (31337: NaN)": self.run(case)[1]}

    def mistakes(self, case):
        right = self.run(case)[1]
        return {
            "training_only": {"the list (31337: NaN)": right[:-1]},
            "drops_an_entry": {"the list (31337: NaN)": such_that(lambda got: 0 < len(got) < len(right))},
        }

    errors = {
        r"RuntimeError: view size is not compatible": "hook_views_flat",
        r"(IndexError|TypeError): .*0-d(im)? tensor": "no_dimensions",
    }


check("multi_grad", OneNumberForAPass, SeveralPasses, OneHeadAtATime, AnyModel, OnlyWatches, ZeroAndTransposed)


# --- Hidden checks: graders run them, learners do not get them. ---
def another_net(case):
    def layers():
        return torch.nn.Sequential(torch.nn.Linear(3, 6), torch.nn.Sigmoid(), torch.nn.Linear(6, 4, bias=False))

    return case.build("hidden net", layers)


class AnotherModel(Check):
    """Of another model, each pass adds the norm of its own gradients together."""

    def probe(self, nb, case):
        net = another_net(case)
        norms = nb.function("watch_norm")(net)
        for count in range(case.integer("hidden passes", 2, 5)):
            net(case.tensor(f"hidden x{count}", 7, 3)).backward(case.tensor("hidden upstream", 7, 4))
        return {"the list": norms}

    def truth(self, case):
        net, norms = another_net(case), []
        for count in range(case.integer("hidden passes", 2, 5)):
            output = net(case.tensor(f"hidden x{count}", 7, 3))
            grads = torch.autograd.grad(output, list(net.parameters()), case.tensor("hidden upstream", 7, 4))
            norms.append(number(sum(grad.double().square().sum() for grad in grads).sqrt()))
        return {"the list": norms}


check("multi_grad", AnotherModel)
