import torch

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf
from course.truths import ANYTHING, other_than, such_that


def half_size_net(case, name="net", depth=3):
    """Some layers with weights of one shape, in bfloat16."""
    half = torch.bfloat16
    return case.build(name, lambda: torch.nn.Sequential(*(torch.nn.Linear(3, 3, bias=False, dtype=half) for _ in range(depth))))


def run_pass(net, case, name=""):
    x = case.tensor(f"x{name}", 4, 3).to(torch.bfloat16)
    net(x).backward(case.tensor(f"upstream{name}", 4, 3).to(torch.bfloat16))


def take_gradients(net):
    """The gradients of one pass in float32; the net keeps none."""
    taken = {name: parameter.grad.float() for name, parameter in net.named_parameters() if parameter.grad is not None}
    net.zero_grad()
    return taken


class AddsUpOnePass(Check):
    """The sums are zeros, then hold the gradients of a pass; no `.grad` is left."""

    poison = ("layer", "w", "grad", "parameter")

    def probe(self, nb, case):
        net = half_size_net(case)
        sums = nb.function("accumulate_in_float32")(net)
        early = {name: value.clone() for name, value in sums.items()} if isinstance(sums, dict) else sums
        run_pass(net, case)
        return {
            "the dict of sums before backward": early,
            "the dict of sums": sums,
            ".grad after backward": {name: parameter.grad for name, parameter in net.named_parameters()},
            "post-accumulate hooks": sum(len(p._post_accumulate_grad_hooks or ()) for p in net.parameters()),
        }

    def gradients(self, case):
        free = half_size_net(case)
        run_pass(free, case)
        return take_gradients(free)

    def truth(self, case):
        gradients = self.gradients(case)
        return {
            "the dict of sums before backward": {name: torch.zeros(3, 3) for name in gradients},
            "the dict of sums": gradients,
            ".grad after backward": dict.fromkeys(gradients),
            "post-accumulate hooks": ANYTHING,
        }

    def mistakes(self, case):
        gradients = self.gradients(case)
        zeros = {name: torch.zeros(3, 3) for name in gradients}
        half = {name: gradient.to(torch.bfloat16) for name, gradient in gradients.items()}
        values = {name: parameter.float() for name, parameter in half_size_net(case).named_parameters()}
        one_for_all = [{**zeros, name: sum(gradients.values())} for name in (list(gradients)[-1], next(iter(gradients)))]
        kept = AnyOf(half, {name: AnyOf(half[name], None) for name in half})
        return {
            "returns_nothing": {"the dict of sums before backward": None},
            "no_hook_on_it": {"the dict of sums before backward": {}, "post-accumulate hooks": 0},
            "float32_sums_filled_late": {"the dict of sums before backward": {}, "post-accumulate hooks": other_than(0)},
            "float32_sums_other_keys": {"the dict of sums before backward": such_that(lambda got: got and not {*got} & {*zeros})},
            "float32_sums_in_bfloat16": {"the dict of sums before backward": {n: torch.zeros_like(g) for n, g in half.items()}},
            "float32_sums_zero_is_not_none": {
                "the dict of sums": gradients,
                ".grad after backward": {name: torch.zeros_like(gradient) for name, gradient in half.items()},
            },
            "fan_out_loop_variable": {"the dict of sums": AnyOf(*one_for_all)},
            "float32_sums_adds_the_parameter": {"the dict of sums": values},
            "float32_sums_no_hook": {"the dict of sums": zeros, "post-accumulate hooks": 0, ".grad after backward": half},
            "float32_sums_other_tensor": {"the dict of sums": zeros, "post-accumulate hooks": other_than(0)},
            "float32_sums_keeps_grad": {"the dict of sums": gradients, ".grad after backward": kept},
        }

    errors = {
        r"(AttributeError: 'NoneType' object|TypeError: .*NoneType)": "reads_grad_early",
        r"RuntimeError: (expected m1 and m2|mat1 and mat2)": "float32_sums_model_changed",
        r"RuntimeError: hook .* has changed the (type|size) of value": "float32_sums_returned",
    }


class TwoPasses(Check):
    """A second pass is added to the first, in float32."""

    def probe(self, nb, case):
        net = half_size_net(case)
        sums = nb.function("accumulate_in_float32")(net)
        nb.function("accumulate_in_float32")(half_size_net(case, "another net", 4))
        for name in "12":
            run_pass(net, case, name)
        return {"the dict of sums": sums}

    def passes(self, case):
        free = half_size_net(case)
        for name in "12":
            run_pass(free, case, name)
            yield take_gradients(free)

    def truth(self, case):
        first, second = self.passes(case)
        return {"the dict of sums": {name: first[name] + second[name] for name in first}}

    def mistakes(self, case):
        first, second = self.passes(case)
        rounded = {name: (first[name] + second[name]).to(torch.bfloat16).float() for name in first}
        return {
            "earlier_call_forgotten": {"the dict of sums": {name: torch.zeros_like(gradient) for name, gradient in first.items()}},
            "keeps_last_only": {"the dict of sums": second},
            "runs_only_once": {"the dict of sums": first},
            "float32_sums_rounded": {"the dict of sums": rounded},
        }


class AnOldGrad(Check):
    """What was in `.grad` before the call is in no sum."""

    def build(self, case):
        net = half_size_net(case)
        for name, parameter in net.named_parameters():
            parameter.grad = case.tensor(f"old {name}", 3, 3).to(torch.bfloat16)
        return net

    def probe(self, nb, case):
        net = self.build(case)
        sums = nb.function("accumulate_in_float32")(net)
        run_pass(net, case)
        return {"the dict of sums": sums, ".grad after backward": {name: parameter.grad for name, parameter in net.named_parameters()}}

    def truth(self, case):
        free = half_size_net(case)
        run_pass(free, case)
        gradients = take_gradients(free)
        return {"the dict of sums": gradients, ".grad after backward": dict.fromkeys(gradients)}

    def mistakes(self, case):
        (gradients, left), added = self.truth(case).values(), self.build(case)
        old = {name: parameter.grad.float() for name, parameter in added.named_parameters()}
        run_pass(added, case)
        sums = AnyOf(take_gradients(added), {name: gradients[name] + old[name] for name in old})
        return {"float32_sums_old_grad": {"the dict of sums": sums, ".grad after backward": left}}


class FrozenParameters(Check):
    """A frozen parameter has no sum, and keeps its `.grad`; one that two layers share has one sum."""

    def build(self, case):
        net = case.build("net", lambda: torch.nn.Sequential(*(torch.nn.Linear(*sizes) for sizes in ((4, 3), (3, 3), (3, 2)))))
        net[1].bias = net[0].bias
        net[0].weight.requires_grad_(False)
        net[2].bias.requires_grad_(False)
        net[0].weight.grad = case.tensor("earlier gradient", 3, 4)
        return net

    def probe(self, nb, case):
        net = self.build(case)
        sums = nb.function("accumulate_in_float32")(net)
        net(case.tensor("x", 5, 4)).backward(case.tensor("upstream", 5, 2))
        return {"the dict of sums": sums, ".grad of the frozen weight": net[0].weight.grad}

    def truth(self, case):
        free = self.build(case)
        free(case.tensor("x", 5, 4)).backward(case.tensor("upstream", 5, 2))
        earlier, free[0].weight.grad = free[0].weight.grad, None
        return {"the dict of sums": take_gradients(free), ".grad of the frozen weight": earlier}

    def mistakes(self, case):
        return {
            "float32_sums_shared_parameter": {"the dict of sums": such_that(lambda got: "1.bias" in got and "0.weight" not in got)},
            "float32_sums_frozen_emptied": {**self.truth(case), ".grad of the frozen weight": None},
        }

    errors = {r"RuntimeError: cannot register a hook on a tensor that doesn't": "float32_sums_frozen"}
    blame = dict.fromkeys(("the dict of sums", ".grad of the frozen weight"), "float32_sums_frozen")


check("post_accumulate", AddsUpOnePass, TwoPasses, FrozenParameters, AnOldGrad)


# --- Hidden checks: graders run them, learners do not get them. ---
def another_net(case):
    """A net in bfloat16 of drawn width and depth, with one frozen bias, and its batches."""
    width, depth = case.integer("hidden width", 2, 5), case.integer("hidden depth", 2, 4)

    def layers():
        return torch.nn.Sequential(*(torch.nn.Linear(width, width, dtype=torch.bfloat16) for _ in range(depth)))

    net = case.build("hidden net", layers)
    frozen = net[case.integer("hidden place", 0, depth - 1)].bias.requires_grad_(False)
    frozen.grad = case.tensor("hidden earlier gradient", width).to(torch.bfloat16)
    batches = [case.tensor(f"hidden x{n}", 4, width).to(torch.bfloat16) for n in range(case.integer("hidden passes", 3, 6))]
    return net, frozen, batches


class SomePasses(Check):
    """Of another model, the sums hold the gradients of some passes, and `.grad` holds nothing but what was there."""

    def probe(self, nb, case):
        net, frozen, batches = another_net(case)
        sums = nb.function("accumulate_in_float32")(net)
        early = {name: one.clone() for name, one in sums.items()}
        for x in batches:
            net(x).sum().backward()
        left = [parameter.grad for parameter in net.parameters() if parameter is not frozen]
        return {"at first": early, "the dict of sums": sums, "left": left, "of the frozen one": frozen.grad}

    def truth(self, case):
        net, frozen, batches = another_net(case)
        named = {name: one for name, one in net.named_parameters() if one is not frozen}
        zeros = {name: torch.zeros(parameter.shape) for name, parameter in named.items()}
        sums = dict(zeros)
        for x in batches:
            for name, grad in zip(sums, torch.autograd.grad(net(x).sum(), list(named.values()))):
                sums[name] = sums[name] + grad.float()
        return {"at first": zeros, "the dict of sums": sums, "left": [None] * len(named), "of the frozen one": frozen.grad}


check("post_accumulate", SomePasses)
