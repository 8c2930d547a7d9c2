from contextlib import suppress
from functools import partial

import torch
from torch import nn

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Matches
from nbproof.values.evidence import snapshot
from course.probing import error_out_of, hook_counts
from course.traces import gradients_left, parameters_of, what_runs
from course.truths import as_before, other_than, such_that


def plain_net(first, second, third):
    body = nn.Sequential(nn.Linear(first, second), nn.Tanh(), nn.Linear(second, second))
    return nn.Sequential(body, nn.Tanh(), nn.Linear(second, third))


def values(model):
    return {name: parameter.detach().clone() for name, parameter in model.named_parameters()}


def with_gradient(model):
    """The names of the parameters that have a gradient; with a note where it is all zeros."""
    found = {name: parameter.grad for name, parameter in model.named_parameters() if parameter.grad is not None}
    return [name if gradient.any() else f"{name}: zeros" for name, gradient in found.items()]


class LikePlainSGD(Check):
    """Each backward does what a step of SGD would do, and releases each gradient at once."""

    errors = {
        r"TypeError: params argument given to the optimizer should be an iterable": "optimizer_needs_list",
        r"RuntimeError: cannot register a hook on a tensor that doesn't require gradient": "optimizer_frozen",
        r"RuntimeError: Tensor post accumulate grad hooks should return None": "optimizer_hook_returns",
        r"TypeError: expected Variable, but hook returned": "optimizer_hook_returns",
        r"(TypeError: .*(context manager protocol|not an iterator)|AttributeError: __e)": "tool_no_context",
        r"(TypeError|AttributeError): .*'NoneType'": "optimizer_grad_is_none",
        r"RuntimeError: .*modified by an inplace operation": "optimizer_step_too_soon",
    }

    def given(self, case):
        return case.build("net", plain_net, *case.shape("sizes", 3, 3, 6))

    def make(self, case):
        return partial(torch.optim.SGD, lr=case.integer("rate", 2, 5) / 100, momentum=0.9, weight_decay=0.3)

    def loss(self, case, model, step):
        sizes = model.get_submodule("0.0").in_features, list(model.parameters())[-1].shape[0]
        output = model(case.tensor(f"x{step}", 7, sizes[0]))
        return (output * case.tensor("upstream", 7, sizes[1])).sum()

    def probe(self, nb, case):
        model, brought, counts = self.given(case), {}, []
        for parameter in model.parameters():
            if parameter.requires_grad:
                parameter.register_post_accumulate_grad_hook(lambda _: counts.append(len(with_gradient(model))))
        with nb.function("OptimizerInBackward")(model, self.make(case)):
            for step in (1, 2, 3):
                self.loss(case, model, step).backward()
                brought[f"the list of gradients left after backward {step}"] = with_gradient(model)
                brought[f"parameters after backward {step}"] = values(model)
            left = gradients_left(parameters_of(model), case)
        return {**brought, "what .grad holds in the end": left, "the number of gradients in memory at a time": max(counts)}

    def loop(self, case, step_with):
        """The parameters before, and after each of three steps on a hook-free model; `step_with` gets the optimizer."""
        model = self.given(case)
        optimizer, history = self.make(case)(list(model.parameters())), [values(model)]
        for step in (1, 2, 3):
            self.loss(case, model, step).backward()
            step_with(optimizer, model)
            history.append(values(model))
        return history

    def plain(self, case):
        def step_with(optimizer, model):
            optimizer.step()
            optimizer.zero_grad()

        return self.loop(case, step_with)

    def truth(self, case):
        _, *after = self.plain(case)
        gradients = {f"the list of gradients left after backward {step}": [] for step in (1, 2, 3)}
        parameters = {f"parameters after backward {step}": one for step, one in enumerate(after, 1)}
        none = gradients_left(parameters_of(self.given(case)), case)
        return {**gradients, **parameters, "what .grad holds in the end": none, "the number of gradients in memory at a time": 1}

    def mistakes(self, case):
        model, make = self.given(case), self.make(case)
        names = [name for name, parameter in model.named_parameters() if parameter.requires_grad]
        before, one, two, three = self.plain(case)

        def step_after_step(optimizer, model):
            # The last parameter is complete first. Each further one lets all complete ones take a step.
            gradients = {parameter: parameter.grad for parameter in model.parameters()}
            optimizer.zero_grad()
            for parameter in reversed(list(model.parameters())):
                parameter.grad = gradients[parameter]
                optimizer.step()

        def fresh(optimizer, model):
            make(list(model.parameters())).step()
            model.zero_grad()

        def shrunk(optimizer, model):
            for parameter in model.parameters():
                parameter.data -= make.keywords["lr"] * parameter.data
            model.zero_grad()

        def formula(got):
            """Whether each parameter took a step along its gradient, all with one rate."""
            model = self.given(case)
            self.loss(case, model, 1).backward()
            grads = {name: p.grad for name, p in model.named_parameters() if p.grad is not None}
            rates = [((before[name] - got[name].tensor()) / grad)[grad.abs() > 1e-2] for name, grad in grads.items()]
            return 0 < torch.cat(rates).max() < 1.05 * torch.cat(rates).min()

        def after(*steps):
            return {f"parameters after backward {step}": one for step, one in enumerate(steps, 1) if one is not None}

        def left(wanted, step=1):
            return {f"the list of gradients left after backward {step}": wanted}

        def some(test):
            return left(Matches(lambda got: None if got and set(got) < set(names) and test(got) else "no", "some"))

        last = {name: one[name] if name == names[-1] else before[name] for name in names}
        return {
            "optimizer_never_steps": {**left(names), **after(before, before, before)},
            "optimizer_too_early": {**left(names), **after(before), **left(names, 2)},
            "optimizer_freed_first": {**left([]), **after(before)}, "optimizer_once": {**after(one, one), **left(names, 2)},
            "optimizer_zero_not_none": {**left([f"{name}: zeros" for name in names]), **after(one, two, three)},
            "optimizer_fills_grad_itself": {**left(names), **after(one, two, three)},
            "optimizer_not_freed": {**left(names), **after(*self.loop(case, lambda optimizer, model: optimizer.step())[1:])},
            "optimizer_steps_too_often": AnyOf(*(after(self.loop(case, steps)[1]) for steps in (step_after_step, lambda optimizer, model: (optimizer.step(), optimizer.step())))),
            "optimizer_late_binding": AnyOf({**left(names[:-1]), **after(last)}, {**left([]), **after(last)}, left(names[:-1])),
            "optimizer_module_hook": left([name for name in names if name.startswith("0.0")]), "optimizer_misses_some": some(lambda got: True),
            "optimizer_parameter_for_gradient": after(self.loop(case, shrunk)[1]),
            "optimizer_state_lost": after(None, *self.loop(case, fresh)[2:]), "optimizer_own_formula": {"parameters after backward 1": such_that(formula)},
            "optimizer_all_at_the_end": {**left([]), **after(one, two, three), "the number of gradients in memory at a time": other_than(1)},
        }


class SharedNet(nn.Module):
    """A frozen layer, then two layers with one weight, the first of them with a frozen bias."""

    def __init__(self, first, second):
        super().__init__()
        self.add_module("0", nn.Sequential(nn.Linear(first, second).requires_grad_(False)))
        self.one, self.two = nn.Linear(second, second), nn.Linear(second, second)
        self.two.weight = self.one.weight
        self.one.bias.requires_grad_(False)

    def forward(self, x):
        return self.two(torch.tanh(self.one(getattr(self, "0")(x))))


class FrozenAndShared(LikePlainSGD):
    """With Adam: frozen parameters stay, and a weight that two layers share takes one step."""

    def make(self, case):
        return partial(torch.optim.Adam, lr=case.integer("rate", 2, 5) / 100)

    def given(self, case):
        return case.build("net", SharedNet, *case.shape("sizes", 2, 3, 6))

    def mistakes(self, case):
        def twice(optimizer, model):
            optimizer.step()
            model.two.bias.grad = None
            optimizer.step()
            model.zero_grad()

        thawed = self.given(case).requires_grad_(True)
        optimizer = self.make(case)(list(thawed.parameters()))
        self.loss(case, thawed, 1).backward()
        optimizer.step()
        return {
            "optimizer_shared_twice": {"parameters after backward 1": self.loop(case, twice)[1]},
            "optimizer_unfreezes": {"parameters after backward 1": values(thawed)}, **super().mistakes(case),
        }


class AfterTheBlock(LikePlainSGD):
    """After the block backward is as usual, even after an error, which comes out; hooks of others stay."""

    errors = {r"(KeyError: Parameter|AttributeError: 'NoneType' object has no attribute 'step')": "tool_hooks_left", **LikePlainSGD.errors}

    def given(self, case):
        model = super().given(case)
        next(model.parameters()).register_post_accumulate_grad_hook(lambda parameter: None)  # somebody else's
        model[0][0].bias.requires_grad_(False)
        return model

    def probe(self, nb, case):
        model = self.given(case)
        with nb.function("OptimizerInBackward")(model, self.make(case)):
            self.loss(case, model, 1).backward()
        self.loss(case, model, 2).backward()
        brought = {
            "hook count after the block": hook_counts(model), "parameters after a backward behind the block": values(model),
            "gradients of that backward": {name: None if one.grad is None else one.grad.clone() for name, one in model.named_parameters()},
        }
        model = self.given(case)
        brought["the error that comes out"] = error_out_of(nb.function("OptimizerInBackward")(model, self.make(case)), *case.words("error", 1))
        hooks, runs = hook_counts(model), what_runs(model, case, lambda: self.loss(case, model, 3).backward())
        return {**brought, "hook count after an error": hooks, "what runs after an error": runs}

    def truth(self, case):
        model, after = self.given(case), self.plain(case)[1]
        hooks, runs = hook_counts(model), as_before(what_runs(model, case, lambda: self.loss(case, model, 3).backward()))
        model.load_state_dict(after)
        trained = {name: one for name, one in model.named_parameters() if one.requires_grad}
        gradients = torch.autograd.grad(self.loss(case, model, 2), list(trained.values()))
        return {
            "hook count after the block": hooks, "parameters after a backward behind the block": after,
            "gradients of that backward": {**dict.fromkeys(after), **dict(zip(trained, gradients))}, "hook count after an error": hooks, "what runs after an error": runs,
            "the error that comes out": case.words("error", 1)[0],
        }

    def mistakes(self, case):
        hooks = hook_counts(self.given(case))
        more = Matches(lambda got: None if sum(got.values()) > sum(hooks.values()) else "no", "more")
        fewer = Matches(lambda got: None if sum(got.values()) < sum(hooks.values()) else "no", "fewer")
        return {
            "removes_other_hooks": {"hook count after the block": fewer}, "feat_error_swallowed": {"the error that comes out": "nothing"},
            "not_as_before": {"hook count after the block": hooks, "gradients of that backward": such_that(lambda got: got["0.0.bias"] is not None)},
            "tool_hooks_left": {"hook count after the block": more}, "tool_not_after_error": {"hook count after an error": more},
        }


check("optimizer_in_backward", LikePlainSGD, FrozenAndShared, AfterTheBlock)


# --- Hidden checks: graders run them, learners do not get them. ---
class Echo(nn.Module):
    """A layer that runs several times, with a factor; some more layers, one of them frozen; and another one."""

    def __init__(self, width, times, depth, frozen):
        super().__init__()
        self.inner, self.outer, self.times = nn.Linear(width, width), nn.Linear(width, 2, bias=False), times
        self.factor = nn.Parameter(torch.rand(width))
        self.between = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))
        self.between[-1].weight = self.inner.weight
        self.between[frozen].bias.requires_grad_(False)

    def forward(self, x):
        for _ in range(self.times):
            x = torch.tanh(self.inner(x)) * self.factor
        for layer in self.between:
            x = torch.tanh(layer(x))
        return self.outer(x)


class OneGradientAtATime(Check):
    """During backward there is never more than one parameter's gradient in memory."""

    errors = LikePlainSGD.errors

    def echo(self, case):
        """A model, what makes its optimizer, and what each of its backwards begins at."""
        depth = case.integer("layers of the echo", 2, 4)
        sizes = case.integer("width of the echo", 3, 5), case.integer("echoes", 2, 3), depth, case.integer("ice", 0, depth - 1)
        model, rate = case.build("an echo", Echo, *sizes), case.integer("rate of the echo", 5, 9) / 100
        make = partial(case.shuffled("kind", [torch.optim.Adam, torch.optim.NAdam])[0], lr=rate)
        backwards = range(case.integer("backwards of the echo", 3, 5))
        return model, make, [(case.tensor(f"echo of {n}", 6, len(model.factor)), case.tensor(f"upstream {n}", 6, 2)) for n in backwards]

    def probe(self, nb, case):
        model, make, passes = self.echo(case)
        moments, named = {}, dict(model.named_parameters())

        def look(name, parameter):
            moments[name] = snapshot(gradients_left(named, case))

        for name, parameter in named.items():
            if parameter.requires_grad:
                parameter.register_post_accumulate_grad_hook(partial(look, name))
        with nb.function("OptimizerInBackward")(model, make):
            for x, upstream in passes:
                model(x).backward(upstream)
        found = {"parameters after the last backward": values(model), "what .grad holds, whenever one is complete": dict(moments)}
        with suppress(ArithmeticError), nb.function("OptimizerInBackward")(model, make):
            raise ArithmeticError("no echo")
        return {**found, "what runs afterwards": what_runs(model, case, lambda: model(passes[0][0]).sum().backward())}

    def truth(self, case):
        model, make, passes = self.echo(case)
        named = {name: one for name, one in model.named_parameters() if one.requires_grad}
        optimizer, none = make(list(named.values())), gradients_left(dict(model.named_parameters()), case)
        for x, upstream in passes:
            optimizer.zero_grad()
            model(x).backward(upstream)
            optimizer.step()
        wanted = {
            "parameters after the last backward": values(model),
            "what .grad holds, whenever one is complete": {name: {**none, name: one.grad.clone()} for name, one in named.items()},
        }
        for one in named.values():
            one.register_post_accumulate_grad_hook(lambda parameter: None)
        return {**wanted, "what runs afterwards": as_before(what_runs(model, case, lambda: model(passes[0][0]).sum().backward()))}


check("optimizer_in_backward", OneGradientAtATime)
