import torch

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf
from course.awkward import awkward_models
from course.probing import nan_as_number
from course.truths import ANYTHING, other_than, such_that
from course.traces import gradients_left, parameters_of


def half_size_net(case, name="net"):
    """Three layers with weights of one shape, in bfloat16, one of them in a container of its own."""

    def build():
        first, second, third = (torch.nn.Linear(3, 3, bias=False) for _ in range(3))
        return torch.nn.Sequential(first, torch.nn.Sequential(torch.nn.Tanh(), second), third)

    return case.build(name, build).to(torch.bfloat16)


def run_pass(net, case, name=""):
    x = case.tensor(f"x{name}", 4, 3).to(torch.bfloat16)
    net(x).backward(case.tensor(f"upstream{name}", 4, 3).to(torch.bfloat16))


def no_gradients_left(net, case):
    """Every `.grad` is None, as `gradients_left` tells it."""
    net.zero_grad()
    return gradients_left(dict(net.named_parameters()), case)


def take_gradients(net):
    """The gradients of one pass in float32; the net keeps none."""
    taken = {name: parameter.grad.float() for name, parameter in net.named_parameters() if parameter.grad is not None}
    net.zero_grad()
    return taken


class AddsUpOnePass(Check):
    """The sums are zeros first; after one pass they hold its gradients in float32, and no parameter has a `.grad`."""

    poison = ("layer", "w", "grad", "parameter")

    def probe(self, nb, case):
        net = half_size_net(case)
        sums = nb.function("accumulate_in_float32")(net)
        early = {name: value.clone() for name, value in sums.items()} if isinstance(sums, dict) else sums
        run_pass(net, case)
        return {
            "the sums before backward": early,
            "the sums": sums,
            ".grad after backward": {name: parameter.grad for name, parameter in net.named_parameters()},
            "post-accumulate hooks": sum(len(p._post_accumulate_grad_hooks or ()) for p in net.parameters()),
            "what .grad holds in the end": gradients_left(parameters_of(net), case),
        }

    def gradients(self, case):
        free = half_size_net(case)
        run_pass(free, case)
        return take_gradients(free)

    def truth(self, case):
        gradients = self.gradients(case)
        return {
            "the sums before backward": {name: torch.zeros(3, 3) for name in gradients},
            "the sums": gradients,
            ".grad after backward": dict.fromkeys(gradients),
            "post-accumulate hooks": ANYTHING,
            "what .grad holds in the end": no_gradients_left(half_size_net(case), case),
        }

    def mistakes(self, case):
        gradients = self.gradients(case)
        zeros = {name: torch.zeros(3, 3) for name in gradients}
        half = {name: gradient.to(torch.bfloat16) for name, gradient in gradients.items()}
        values = {name: parameter.float() for name, parameter in half_size_net(case).named_parameters()}
        last = list(gradients)[-1]
        one_for_all = [{**zeros, name: sum(gradients.values())} for name in (last, next(iter(gradients)))]
        kept = AnyOf(half, {name: AnyOf(half[name], None) for name in half})
        return {
            "float32_sums_shared": {"the sums before backward": such_that(lambda got: len(got) > len(gradients))},
            "returns_nothing": {"the sums before backward": None},
            "float32_sums_filled_late": {"the sums before backward": {}, "post-accumulate hooks": other_than(0)},
            "float32_sums_in_bfloat16": {"the sums before backward": {n: torch.zeros_like(g) for n, g in half.items()}},
            "float32_sums_zero_is_not_none": {
                "the sums": gradients,
                ".grad after backward": {name: torch.zeros_like(gradient) for name, gradient in half.items()},
            },
            "fan_out_loop_variable": {"the sums": AnyOf(*one_for_all)},
            "float32_sums_adds_the_parameter": {"the sums": values},
            "float32_sums_no_hook": {"the sums": zeros, "post-accumulate hooks": 0, ".grad after backward": half},
            "float32_sums_other_tensor": {"the sums": zeros, "post-accumulate hooks": other_than(0)},
            "float32_sums_keeps_grad": {"the sums": gradients, ".grad after backward": kept},
        }

    errors = {
        r"AttributeError: 'NoneType' object": "reads_grad_early",
        r"TypeError: .*NoneType": "reads_grad_early",
        r"RuntimeError: (hook .* has changed the (type|size) of value|.*hooks should return None)": "float32_sums_returned",
    }


class TwoPasses(Check):
    """A second pass is added to the first, in float32, and leaves no `.grad` either."""

    def probe(self, nb, case):
        net = half_size_net(case)
        sums = nb.function("accumulate_in_float32")(net)
        nb.function("accumulate_in_float32")(half_size_net(case, "another net"))
        for name in ("1", "2"):
            run_pass(net, case, name)
        return {"the sums": sums, ".grad after backward": {n: p.grad for n, p in net.named_parameters()}}

    def passes(self, case):
        free = half_size_net(case)
        for name in ("1", "2"):
            run_pass(free, case, name)
            yield take_gradients(free)

    def truth(self, case):
        first, second = self.passes(case)
        return {
            "the sums": {name: first[name] + second[name] for name in first},
            ".grad after backward": dict.fromkeys(first),
        }

    def mistakes(self, case):
        first, second = self.passes(case)
        rounded = {name: (first[name] + second[name]).to(torch.bfloat16).float() for name in first}
        zeros = {name: torch.zeros_like(gradient) for name, gradient in first.items()}
        return {
            "earlier_call_forgotten": {"the sums": zeros},
            "keeps_last_only": {"the sums": second},
            "runs_only_once": {"the sums": first},
            "float32_sums_rounded": {"the sums": rounded},
            "float32_sums_counts_twice": {"the sums": {name: 2 * first[name] + second[name] for name in first}},
        }


class FrozenParameters(Check):
    """A frozen parameter is left out, and keeps its `.grad`; all others have their sum: in eval mode, finite or not."""

    def build(self, case):
        net = case.build(
            "net", lambda: torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.GELU(), torch.nn.Linear(3, 2))
        )
        net[0].requires_grad_(False)
        net[2].bias.requires_grad_(False)
        net[0].bias.requires_grad_(True)
        net[0].weight.grad = case.tensor("earlier gradient", 3, 4)
        return net.eval()

    def backward(self, net, case, factor=1.0):
        upstream = case.tensor("upstream", 5, 2)
        upstream[0, 0] *= factor
        net(case.tensor("x", 5, 4)).backward(upstream)

    def probe(self, nb, case):
        net = self.build(case)
        sums = nb.function("accumulate_in_float32")(net)
        self.backward(net, case)
        after_one = {name: value.clone() for name, value in sums.items()} if isinstance(sums, dict) else sums
        found = {**self.flags(net, case), "the sums": after_one, ".grad of a frozen parameter": net[0].weight.grad}
        self.backward(net, case, torch.inf)
        return {**found, self.odd: self.told(sums)}

    odd = "the sums, once a gradient is infinite (31337: NaN)"

    def told(self, sums):
        return dict(zip(sums, nan_as_number(sums.values()))) if isinstance(sums, dict) else sums

    def flags(self, net, case):
        named = dict(net.named_parameters())
        return {
            ".grad of the others": gradients_left({name: one for name, one in named.items() if one.requires_grad}, case),
            "requires_grad": {name: parameter.requires_grad for name, parameter in named.items()},
            "the parameters": {name: parameter.detach().clone() for name, parameter in named.items()},
        }

    def truth(self, case):
        free = self.build(case)
        self.backward(free, case)
        earlier, free[0].weight.grad = free[0].weight.grad, None
        sums = take_gradients(free)
        found = {"the sums": sums, ".grad of a frozen parameter": earlier, **self.flags(free, case)}
        self.backward(free, case, torch.inf)
        odd = take_gradients(free)
        return {**found, self.odd: self.told({name: sums[name] + odd[name] for name in sums})}

    def mistakes(self, case):
        right = self.truth(case)
        sums, own = right["the sums"], right["the parameters"]
        return {
            "float32_sums_in_the_parameter": {"the parameters": other_than(own)},
            "training_only": {"the sums": {name: torch.zeros_like(one) for name, one in sums.items()}},
            "float32_sums_shared": {"the sums": such_that(lambda got: any(name not in own for name in got))},
        }

    errors = {r"RuntimeError: cannot register a hook on a tensor that doesn't": "float32_sums_frozen"}
    blame = {
        **dict.fromkeys(("the sums", "requires_grad", ".grad of a frozen parameter"), "float32_sums_frozen"),
        ".grad of the others": "float32_sums_keeps_grad",
        odd: "repairs_the_gradient",
    }


KINDS = (
    "shared", "called_twice", "tied", "partly_frozen", "in_place_behind", "norm_in_eval", "mixed_modes", "none_place", "one_dim",
    "three_dim", "float64", "namedtuple", "dictionary", "look_alike", "the_layer",
)


class AnyModel(Check):
    """Any model. A parameter that two layers share has one name in `named_parameters()`, and one sum."""

    cases = 1  # of a dozen models

    def run(self, case, accumulate=lambda model: None):
        """Of each awkward model: itself after a pass, and the sums."""
        found = {}
        for says, (model, x) in awkward_models(case, *KINDS).items():
            sums, output = accumulate(model), model(x)
            output.backward(case.tensor("upstream", *output.shape, dtype=output.dtype))
            found[says] = model, sums
        return found

    def probe(self, nb, case):
        return {says: sums for says, (_, sums) in self.run(case, nb.function("accumulate_in_float32")).items()}

    def truth(self, case):
        return {says: take_gradients(model) for says, (model, _) in self.run(case).items()}

    errors = {r"(AttributeError|TypeError): .*NoneType": "float32_sums_shared_parameter"}
    blame = dict.fromkeys(("a model with tied weights", "a model with one layer under two names"), "float32_sums_shared_parameter")


check("post_accumulate", AddsUpOnePass, TwoPasses, FrozenParameters, AnyModel)


# --- Hidden checks: graders run them, learners do not get them. ---
def another_net(case):
    def layers():
        return torch.nn.Sequential(torch.nn.Linear(2, 5), torch.nn.Sigmoid(), torch.nn.Linear(5, 3))

    return case.build("hidden net", layers).to(torch.bfloat16)


class SomePasses(Check):
    """Of another model, the sums hold the gradients of some passes."""

    def probe(self, nb, case):
        net = another_net(case)
        sums = nb.function("accumulate_in_float32")(net)
        for number in range(case.integer("hidden passes", 3, 6)):
            x, upstream = case.tensor(f"hidden x{number}", 4, 2), case.tensor("hidden upstream", 4, 3)
            net(x.to(torch.bfloat16)).backward(upstream.to(torch.bfloat16))
        return {"the sums": sums}

    def truth(self, case):
        net = another_net(case)
        sums = {name: torch.zeros(parameter.shape) for name, parameter in net.named_parameters()}
        for number in range(case.integer("hidden passes", 3, 6)):
            x, upstream = case.tensor(f"hidden x{number}", 4, 2), case.tensor("hidden upstream", 4, 3)
            output = net(x.to(torch.bfloat16))
            grads = torch.autograd.grad(output, list(net.parameters()), upstream.to(torch.bfloat16))
            for total, grad in zip(sums.values(), grads):
                total += grad.float()
        return {"the sums": sums}


check("post_accumulate", SomePasses)
