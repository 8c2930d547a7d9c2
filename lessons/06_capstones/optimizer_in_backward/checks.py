import weakref
from functools import partial

import torch
from torch import nn

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Matches
from nbproof.values.evidence import snapshot
from course.awkward import awkward_models
from course.probing import hook_counts
from course.traces import gradients_left, parameters_of, what_runs
from course.truths import as_before, other_than


class Tanh(nn.Tanh):
    """Twice as strong in training mode."""

    def forward(self, x):
        return super().forward(x) * (2 if self.training else 1)


def plain_net(first, second, third):
    body = nn.Sequential(nn.Linear(first, second), Tanh(), nn.Linear(second, second))
    return nn.Sequential(body, nn.Tanh(), nn.Linear(second, third))


def values(model):
    return {name: parameter.detach().clone() for name, parameter in model.named_parameters()}


def with_gradient(model):
    """The names of the parameters that have a gradient; with a note where it is all zeros."""
    found = {name: parameter.grad for name, parameter in model.named_parameters() if parameter.grad is not None}
    return [name if gradient.any() else f"{name}: zeros" for name, gradient in found.items()]


class LikePlainSGD(Check):
    """Each of three backwards in a block makes the parameters what SGD would make them, and leaves no gradient."""

    errors = {
        r"TypeError: params argument given to the optimizer should be an iterable": "optimizer_needs_list",
        r"RuntimeError: cannot register a hook on a tensor that doesn't require gradient": "optimizer_frozen",
        r"RuntimeError: Tensor post accumulate grad hooks should return None": "optimizer_hook_returns",
        r"TypeError: expected Variable, but hook returned": "optimizer_hook_returns",
        r"RuntimeError: hook '.*' has changed the size": "optimizer_hook_returns",
        r"(TypeError: .*(context manager protocol|not an iterator)|AttributeError: __e)": "tool_no_context",
        r"(TypeError|AttributeError): .*'NoneType'": "optimizer_grad_is_none",
        r"RuntimeError: .*modified by an inplace operation": "optimizer_step_too_soon",
        r"ValueError: optimizer got an empty parameter list": "optimizer_empty_list",
        r"RuntimeError: (The size of tensor a .* must match|Boolean value of Tensor)": "optimizer_compares_tensors",
    }

    def given(self, case):
        return case.build("net", plain_net, *case.shape("sizes", 3, 3, 6))

    def make(self, case):
        return partial(torch.optim.SGD, lr=case.integer("rate", 2, 5) / 100)

    def loss(self, case, model, step):
        sizes = model.get_submodule("0.0").in_features, list(model.parameters())[-1].shape[0]
        output = model(case.tensor(f"x{step}", 7, sizes[0]))
        return (output * case.tensor("upstream", 7, sizes[1])).sum()

    def probe(self, nb, case):
        model, brought = self.given(case), {}
        with nb.function("OptimizerInBackward")(model, self.make(case)):
            for step in (1, 2, 3):
                self.loss(case, model, step).backward()
                brought[f"gradients left after backward {step}"] = with_gradient(model)
                brought[f"parameters after backward {step}"] = values(model)
            left = gradients_left(parameters_of(model), case)
        return {**brought, "what .grad holds in the end": left}

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
        gradients = {f"gradients left after backward {step}": [] for step in (1, 2, 3)}
        parameters = {f"parameters after backward {step}": one for step, one in enumerate(after, 1)}
        each = {name: (gradients | parameters)[name] for pair in zip(gradients, parameters) for name in pair}
        return {**each, "what .grad holds in the end": gradients_left(parameters_of(self.given(case)), case)}

    def mistakes(self, case):
        model, make = self.given(case), self.make(case)
        names = [name for name, parameter in model.named_parameters() if parameter.requires_grad]
        before, one, two, three = self.plain(case)

        def never_freed(optimizer, model):
            optimizer.step()

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

        def formula(optimizer, model):
            for parameter in model.parameters():
                if parameter.grad is not None:
                    parameter.data -= make.keywords["lr"] * parameter.grad
            model.zero_grad()

        def shrunk(optimizer, model):
            for parameter in model.parameters():
                parameter.data -= make.keywords["lr"] * parameter.data
            model.zero_grad()

        def after(*steps):
            return {f"parameters after backward {step}": one for step, one in enumerate(steps, 1) if one is not None}

        def left(wanted, step=1):
            return {f"gradients left after backward {step}": wanted}

        def some(test):
            return left(Matches(lambda got: None if got and set(got) < set(names) and test(got) else "no", "some"))

        last = {name: one[name] if name == names[-1] else before[name] for name in names}
        first_layer = [name for name in names if name.startswith("0.0")]
        return {
            "optimizer_never_steps": {**left(names), **after(before, before, before)},
            "optimizer_too_early": {**left(names), **after(before), **left(names, 2)},
            "optimizer_freed_first": {**left([]), **after(before)},
            "optimizer_once": {**after(one, one), **left(names, 2)},
            "optimizer_zero_not_none": {**left([f"{name}: zeros" for name in names]), **after(one, two, three)},
            "optimizer_fills_grad_itself": {**left(names), **after(one, two, three)},
            "optimizer_not_freed": {**left(names), **after(*self.loop(case, never_freed)[1:])},
            "optimizer_steps_too_often": {**after(self.loop(case, step_after_step)[1])},
            "optimizer_late_binding": AnyOf({**left(names[:-1]), **after(last)}, {**left([]), **after(last)}, left(names[:-1])),
            "optimizer_module_hook": left(first_layer),
            "optimizer_misses_some": some(lambda got: True),
            "optimizer_parameter_for_gradient": after(self.loop(case, shrunk)[1]),
            "optimizer_state_lost": after(None, *self.loop(case, fresh)[2:]),
            "optimizer_own_formula": after(self.loop(case, formula)[1]),
        }


class WithMomentum(LikePlainSGD):
    """The same with momentum and weight decay."""

    def make(self, case):
        return partial(torch.optim.SGD, lr=case.integer("rate", 2, 5) / 100, momentum=0.9, weight_decay=0.3)


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
    """Frozen parameters stay as they are, and a weight that two layers share takes one step."""

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
            "optimizer_unfreezes": {"parameters after backward 1": values(thawed)},
            **super().mistakes(case),
        }


class AnyModel(LikePlainSGD):
    """On models of all kinds, SGD with momentum; the second backward brings gradients of zeros."""

    def models(self, case):
        return awkward_models(
            case, "shared", "called_twice", "tied", "partly_frozen", "in_place_behind", "norm_in_eval", "mixed_modes",
            "none_place", "one_dim", "three_dim", "float64", "namedtuple", "dictionary", "look_alike", "the_layer",
        )

    def make(self, case):
        return partial(torch.optim.SGD, lr=0.05, momentum=0.9)

    def probe(self, nb, case):
        brought = {}
        for says, (model, x) in self.models(case).items():
            with nb.function("OptimizerInBackward")(model, self.make(case)):
                for factor in (1, 0):  # a gradient of zeros is a gradient: what momentum there is goes on
                    (model(x).pow(2).sum() * factor).backward()
            brought[f"parameters of {says}"] = values(model)
        return brought

    def truth(self, case, factors=(1, 0)):
        wanted = {}
        for says, (model, x) in self.models(case).items():
            optimizer = self.make(case)([parameter for parameter in model.parameters() if parameter.requires_grad])
            for factor in factors:
                (model(x).pow(2).sum() * factor).backward()
                optimizer.step()
                optimizer.zero_grad()
            wanted[f"parameters of {says}"] = values(model)
        return wanted

    def mistakes(self, case):
        tied = "parameters of a model with tied weights"
        return {"optimizer_skips_zeros": {tied: self.truth(case, factors=(1,))[tied]}}


class AfterTheBlock(LikePlainSGD):
    """Outside of the block backward fills `.grad` and changes no parameter, also after an error; hooks of others stay; another block has an optimizer of its own."""

    blame = {
        "the error in the block": "tool_swallows_error",
        "parameters after a backward before the block": "tool_before_the_block",
        "gradients of a backward before the block": "tool_before_the_block",
        "parameters of a net whose block goes on": "tool_shared_results",
        "parameters after a block with another optimizer": "tool_shared_results",
    }

    def with_hooks_of_others(self, case):
        model = self.given(case)
        for parameter in model.parameters():
            parameter.register_hook(lambda grad: None)
            parameter.register_post_accumulate_grad_hook(lambda parameter: None)
        return model

    def join(self, model):
        """Somebody else registers a hook in the block."""
        next(model.parameters()).register_post_accumulate_grad_hook(lambda parameter: None)
        return model

    def of_net(self, model):
        return {name: None if one.grad is None else one.grad.clone() for name, one in model.named_parameters()}

    def probe(self, nb, case):
        model, other = self.with_hooks_of_others(case), case.build("another net", plain_net, 3, 4, 2)
        block = nb.function("OptimizerInBackward")(model, self.make(case))
        self.loss(case, model, 0).backward()
        before, gradients = values(model), self.of_net(model)
        model.zero_grad()
        with block:
            with nb.function("OptimizerInBackward")(other, self.make(case)):
                pass  # another net's block begins and ends
            self.loss(case, model, 1).backward()
            goes_on = values(model)
            self.join(model)
        self.loss(case, model, 2).backward()
        brought = {
            "parameters after a backward before the block": before,
            "gradients of a backward before the block": gradients,
            "parameters of a net whose block goes on": goes_on,
            "hooks after the block": hook_counts(model),
            "parameters after a backward behind the block": values(model),
            "gradients of that backward": self.of_net(model),
            "the error in the block": None,
            "what runs after the block": self.runs(case, model),
        }
        model.zero_grad()
        with nb.function("OptimizerInBackward")(model, partial(torch.optim.SGD, lr=0.5)):
            self.loss(case, model, 3).backward()
        brought["parameters after a block with another optimizer"] = values(model)
        model = self.with_hooks_of_others(case)
        try:
            with nb.function("OptimizerInBackward")(model, self.make(case)):
                self.join(model)
                raise ArithmeticError(case.words("error", 1)[0])
        except ArithmeticError as error:
            brought["the error in the block"] = str(error)
        return {
            **brought,
            "hooks after a block with an error": hook_counts(model),
            "what runs after a block with an error": self.runs(case, model),
        }

    def runs(self, case, model):
        return what_runs(model, case, lambda: self.loss(case, model, 3).backward())

    def truth(self, case):
        model, (before, after, *_) = self.given(case), self.plain(case)
        first = torch.autograd.grad(self.loss(case, model, 0), list(model.parameters()))
        model.load_state_dict(after)
        gradients, then = (torch.autograd.grad(self.loss(case, model, step), list(model.parameters())) for step in (2, 3))
        hooked = self.join(self.with_hooks_of_others(case))
        hooks, runs = hook_counts(hooked), as_before(self.runs(case, hooked))
        return {
            "parameters after a backward before the block": before,
            "gradients of a backward before the block": dict(zip(before, first)),
            "parameters of a net whose block goes on": after,
            "hooks after the block": hooks,
            "parameters after a backward behind the block": after,
            "gradients of that backward": dict(zip(after, gradients)),
            "parameters after a block with another optimizer": {name: after[name] - 0.5 * one for name, one in zip(after, then)},
            "the error in the block": case.words("error", 1)[0],
            "hooks after a block with an error": hooks,
            "what runs after the block": runs,
            "what runs after a block with an error": runs,
        }

    def mistakes(self, case):
        hooks = hook_counts(self.join(self.with_hooks_of_others(case)))

        def more(got):
            return None if any(got[kind] > count for kind, count in hooks.items()) else "no"

        def fewer(got):
            return None if any(got[kind] < count for kind, count in hooks.items()) else "no"

        return {
            "removes_other_hooks": {"hooks after the block": Matches(fewer, "fewer")},
            "tool_hooks_left": {"hooks after the block": Matches(more, "more")},
            "tool_not_after_error": {"hooks after a block with an error": Matches(more, "more")},
        }


class Unheard(torch.optim.Optimizer):
    """An optimizer with a state of its own, and a rule that is not in torch.optim."""

    def __init__(self, parameters, lr):
        super().__init__(parameters, {"lr": lr})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    total = self.state[parameter].get("total", 0) + parameter.grad
                    self.state[parameter]["total"] = total
                    parameter.sub_(group["lr"] * torch.atan(total))


class AnyOptimizer(LikePlainSGD):
    """With Adam, and with an optimizer that is not in torch.optim; the last backward brings gradients of NaN."""

    def makes(self, case):
        lr = case.integer("rate", 2, 5) / 100
        return {
            "with Adam": partial(torch.optim.Adam, lr=lr, eps=1e-3),
            "with another optimizer": lambda parameters: Unheard(parameters, lr),
        }

    def told(self, case, model):
        """The parameters, with a number that follows from the seed in the place of each NaN."""
        found = values(model)
        return {name: torch.where(one.isnan(), case.tensor(f"NaN {name}", *one.shape), one) for name, one in found.items()}

    def probe(self, nb, case):
        brought = {}
        for says, make in self.makes(case).items():
            model = self.given(case)
            with nb.function("OptimizerInBackward")(model, make):
                for step in (1, 2, 3):
                    self.loss(case, model, step).backward()
                brought[f"parameters {says}"] = values(model)
                (self.loss(case, model, 4) * float("nan")).backward()
            brought[f"parameters {says}, after NaN"] = self.told(case, model)
        return brought

    def truth(self, case):
        wanted = {}
        for says, make in self.makes(case).items():
            model = self.given(case)
            optimizer = make(list(model.parameters()))
            for step in (1, 2, 3):
                self.loss(case, model, step).backward()
                optimizer.step()
                optimizer.zero_grad()
            wanted[f"parameters {says}"] = values(model)
            (self.loss(case, model, 4) * float("nan")).backward()
            optimizer.step()
            wanted[f"parameters {says}, after NaN"] = self.told(case, model)
        return wanted

    def mistakes(self, case):
        wanted = self.truth(case)
        sgd = self.plain(case)[3]
        return {
            "optimizer_own_formula": {"parameters with Adam": sgd},
            "optimizer_skips_nan": {f"{one}{after}": wanted[one] for one in wanted if "NaN" not in one for after in ("", ", after NaN")},
        }


class Released(LikePlainSGD):
    """After each backward in the block nothing holds a gradient any more: its memory is free."""

    blame = {
        "gradients still in memory after backward 1": "optimizer_keeps_gradients",
        "gradients still in memory after backward 2": "optimizer_keeps_gradients",
    }

    def probe(self, nb, case):
        model, refs, brought = self.given(case), {}, {}
        gone = self.gone(case, model)

        def look(name, parameter):
            if parameter.grad is not None:
                refs[name] = weakref.ref(parameter.grad)

        for name, parameter in parameters_of(model).items():
            parameter.register_post_accumulate_grad_hook(partial(look, name))
        with nb.function("OptimizerInBackward")(model, self.make(case)):
            for step in (1, 2):
                self.loss(case, model, step).backward()
                alive = {name: refs[name]() for name in parameters_of(model)}
                brought[f"gradients still in memory after backward {step}"] = {
                    name: gone[name] if gradient is None else gradient.clone() for name, gradient in alive.items()
                }
                del alive
        return brought

    def gone(self, case, model):
        """What stands for a gradient that is gone."""
        return {name: case.tensor(f"gone {name}", *one.shape) for name, one in model.named_parameters()}

    def truth(self, case):
        gone = self.gone(case, self.given(case))
        return {f"gradients still in memory after backward {step}": gone for step in (1, 2)}

    def mistakes(self, case):
        return {}


check("optimizer_in_backward", LikePlainSGD, WithMomentum, FrozenAndShared, AfterTheBlock, AnyModel, AnyOptimizer, Released)


# --- Hidden checks: graders run them, learners do not get them. ---
class Echo(nn.Module):
    """A layer that runs several times, with a factor, and another behind it."""

    def __init__(self, width, times):
        super().__init__()
        self.inner, self.outer, self.times = nn.Linear(width, width), nn.Linear(width, 2, bias=False), times
        self.factor = nn.Parameter(torch.rand(width))

    def forward(self, x):
        for _ in range(self.times):
            x = torch.tanh(self.inner(x)) * self.factor
        return self.outer(x)


class OneGradientAtATime(Check):
    """During backward there is never more than one parameter's gradient in memory."""

    errors = LikePlainSGD.errors

    def echo(self, case):
        """A model, what makes its optimizer, and what each of its backwards begins at."""
        model = case.build("an echo", Echo, case.integer("width of the echo", 3, 5), case.integer("echoes", 2, 3))
        rate, times = case.integer("rate of the echo", 5, 9) / 100, case.integer("backwards of the echo", 3, 5)
        inputs = [case.tensor(f"echo of {number}", 6, len(model.factor)) for number in range(times)]
        upstream = [case.tensor(f"upstream of the echo of {number}", 6, 2) for number in range(times)]
        pairs = zip(inputs, upstream)
        return model, partial(torch.optim.SGD, lr=rate, momentum=0.8), [(model, *pair) for pair in pairs]

    def probe(self, nb, case):
        model, make, passes = self.echo(case)
        counts, moments, named = [], {}, parameters_of(model)

        def look(name, parameter):
            counts.append(len(with_gradient(model)))
            moments[name] = snapshot(gradients_left(named, case))

        for name, parameter in named.items():
            parameter.register_post_accumulate_grad_hook(partial(look, name))
        with nb.function("OptimizerInBackward")(model, make):
            for run, x, upstream in passes:
                run(x).backward(upstream)
        return {
            "gradients in memory at a time": max(counts),
            "parameters after the last backward": values(model),
            "what .grad holds, whenever one is complete in the last backward": moments,
        }

    def truth(self, case):
        model, make, passes = self.echo(case)
        named, optimizer = dict(model.named_parameters()), make(list(model.parameters()))
        none = gradients_left(named, case)
        for run, x, upstream in passes:
            optimizer.zero_grad()
            run(x).backward(upstream)
            optimizer.step()
        return {
            "gradients in memory at a time": 1,
            "parameters after the last backward": values(model),
            "what .grad holds, whenever one is complete in the last backward": {
                name: {**none, name: parameter.grad} for name, parameter in named.items()
            },
        }

    def mistakes(self, case):
        return {"optimizer_all_at_the_end": {"gradients in memory at a time": other_than(1)}}


check("optimizer_in_backward", OneGradientAtATime)
