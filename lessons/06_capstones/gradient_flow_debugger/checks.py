from collections import OrderedDict
from collections.abc import Mapping

import torch
from torch import nn

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Close, Matches
from nbproof.values.evidence import TensorRecord
from course.awkward import awkward_models
from course.probing import hook_counts
from course.traces import attributes_on, what_runs
from course.truths import as_before, other_than, such_that

FUNCTIONS = {
    "sound": lambda x: x * 1,
    "zero": lambda x: x * 0,
    "log": lambda x: torch.log(x - 0.1),  # NaN at 0
    "root": lambda x: x + (x * 0).sqrt(),  # nothing to see in forward, NaN in backward
    "steep": torch.sqrt,  # an infinite slope at 0
}


def layer_of(conv, inside, outside):
    return nn.Conv2d(inside, outside, 3, padding=1) if conv else nn.Linear(inside, outside)


class Apply(nn.Module):
    """A function as a module, which does something else in evaluation mode."""

    def __init__(self, function):
        super().__init__()
        self.function = FUNCTIONS[function]

    def forward(self, x):
        return self.function(x) if self.training else self.function(x) + 1


class Block(nn.Module):
    """A layer, a ReLU, a function as a module, a function that is none, and a skip connection around them."""

    def __init__(self, names, conv, inplace, function, after):
        super().__init__()
        self.names = names
        self.after = FUNCTIONS[after]
        for name, module in zip(names, (layer_of(conv, 6, 6), nn.ReLU(inplace), Apply(function))):
            self.add_module(name, module)

    def forward(self, x):
        layer, act, apply = (getattr(self, name) for name in self.names)
        return x + self.after(apply(act(layer(x))))


class Net(nn.Module):
    """A layer and a ReLU, a block, the mean over positions, a linear layer; and one layer that is never used."""

    def __init__(self, names, conv=False, inplace=False, function="sound", after="sound", dead=(1, 2)):
        super().__init__()
        self.names, self.conv = names, conv
        stem, body, head, layer, act, spare, apply = names
        self.add_module(stem, nn.Sequential())
        self.get_submodule(stem).add_module(layer, layer_of(conv, 3, 6))
        self.get_submodule(stem).add_module(act, nn.ReLU(inplace))
        self.add_module(body, Block((layer, act, apply), conv, inplace, function, after))
        self.add_module(head, nn.Linear(6, 4))
        self.add_module(spare, nn.Linear(2, 2))
        with torch.no_grad():
            for name, count in ((stem, dead[0]), (body, dead[1])):
                planted = self.get_submodule(f"{name}.{layer}")
                planted.weight[-count:], planted.bias[-count:] = 0.0, -1.0  # never active
                planted.weight[0], planted.bias[0] = 0.0, 1.0  # always active

    def forward(self, x):
        stem, body, head = (getattr(self, name) for name in self.names[:3])
        x = body(stem(x))
        return head(x.mean((2, 3)) if self.conv else x)


def walk(net, x):
    """(name, output) of every module in the order in which they finish, without a hook."""
    stem, body, head, layer, act, _, apply = net.names
    steps = []

    def run(name, x):
        x = net.get_submodule(name)(x)
        steps.append((name, x))
        return x

    x = run(f"{stem}.{act}", run(f"{stem}.{layer}", x))
    steps.append((stem, x))
    inner = run(f"{body}.{apply}", run(f"{body}.{act}", run(f"{body}.{layer}", x)))
    x = x + net.get_submodule(body).after(inner)
    steps.append((body, x))
    steps.append(("", run(head, x.mean((2, 3)) if net.conv else x)))
    return steps


def is_bad(tensor):
    return tensor is not None and not bool(tensor.isfinite().all())


class Passes:
    """One forward and one backward pass, step by step, on a net without hooks."""

    def __init__(self, net, x, upstream):
        self.net, self.steps = net, walk(net, x)
        loss = (self.steps[-1][1] * upstream).sum()
        parameters = [(name, p) for name, p in net.named_parameters() if p.requires_grad]
        outputs = [(name, output) for name, output in self.steps if output.requires_grad]
        wanted = [tensor for _, tensor in (*parameters, *outputs)]
        found = torch.autograd.grad(loss, wanted, allow_unused=True)
        self.of_parameter = dict(zip([name for name, _ in parameters], found))
        self.of_output = list(zip([name for name, _ in outputs], found[len(parameters) :]))[::-1]

    def bad_outputs(self):
        return [name for name, output in self.steps if is_bad(output)] or [None]

    def bad_gradients(self):
        return [name for name, grad in self.of_output if is_bad(grad)] or [None]

    def dead(self, share):
        return {name: share(output.detach()) for name, output in self.steps if name.split(".")[-1] == self.net.names[4]}

    def none(self):
        return [name for name, _ in self.net.named_parameters() if self.of_parameter.get(name) is None]

    def sizes(self, size):
        return {
            name: Close(float(size(self.of_parameter[name])), rtol=1e-4, atol=1e-10)
            for name, _ in self.net.named_parameters()
            if self.of_parameter.get(name) is not None
        }


def dead_units(output):
    """By the definition: the share of the indices of dimension 1 that are 0 everywhere."""
    return sum(not output[:, unit].any() for unit in range(output.shape[1])) / output.shape[1]


def entry(report, key):
    return report.get(key, "this entry is missing") if isinstance(report, Mapping) else report


OUTPUT, GRADIENT, DEAD, NONE, SIZE = (
    f'report["{key}"]' for key in ("bad_output", "bad_gradient", "dead", "no_gradient", "gradient_size")
)


def shares(wanted):
    return {name: Close(share, atol=1e-6) for name, share in wanted.items()}


def passes_rounded(passes):
    """The sizes, each near what it should be, and not near enough."""
    wanted = {name: float(g.abs().mean()) for name, g in passes.of_parameter.items() if g is not None}
    return such_that(lambda got: set(got) == set(wanted) and all(abs(got[name] - wanted[name]) < 1e-3 for name in got))


class SoundNet(Check):
    """On a sound net: nothing bad, each ReLU's dead units, the unused parameters, the size of each gradient."""

    blame = {"output of the net": "watcher_changes_output", "gradients of the net": "watcher_changes_gradient"}
    errors = {
        r"TypeError: 'NoneType' object is not an iterator": "not_started",
        r"TypeError: gradient_flow_debugger\(\) missing \d+ required": "gfd_runs_model",
        r"TypeError: '\w+' object does not support the context manager": "gfd_no_context",
        r"RuntimeError: generator didn't (yield|stop)": "gfd_no_context",
        r"(TypeError|AttributeError): .*'?RemovableHandle'?": "hook_replaces_output",
        r"AttributeError: 'NoneType' object has no attribute '(abs|isfinite|norm|is\w+|mean|detach|max)'": "gfd_none_grad",
        r"TypeError: .*(isfinite|isnan|isinf)\(\): argument 'input' .* not NoneType": "gfd_none_grad",
    }

    def given(self, case):
        names = case.words("names", 7)
        dead = (case.integer("stem", 1, 2), case.integer("body", 3, 4))
        net = case.build("net", Net, names, **self.options(), dead=dead)
        x = case.tensor("x", 5, 3, *((5, 4) if net.conv else ()))
        return net, x, case.tensor("upstream", 5, 4)

    def options(self):
        return {}

    def probe(self, nb, case):
        net, x, upstream = self.given(case)
        with nb.function("gradient_flow_debugger")(net) as report:
            output = net(x)
            (output * upstream).sum().backward()
        keys = ("bad_output", "bad_gradient", "dead", "no_gradient", "gradient_size")
        return {
            "output of the net": output,
            "gradients of the net": {name: p.grad for name, p in net.named_parameters()},
            **{f'report["{key}"]': entry(report, key) for key in keys},
        }

    def truth(self, case):
        passes = Passes(*self.given(case))
        return {
            "output of the net": passes.steps[-1][1],
            "gradients of the net": {name: passes.of_parameter[name] for name, _ in passes.net.named_parameters()},
            OUTPUT: None,
            GRADIENT: None,
            DEAD: shares(passes.dead(dead_units)),
            NONE: passes.none(),
            SIZE: passes.sizes(lambda grad: grad.abs().mean()),
        }

    def mistakes(self, case):
        passes = Passes(*self.given(case))
        net = passes.net
        names = [name for name, _ in net.named_parameters()]
        counts = passes.dead(lambda output: round(dead_units(output) * output.shape[1]))
        tensors = Matches(
            lambda got: None if any(isinstance(value, TensorRecord) for value in got.values()) else "no", "tensors"
        )
        return {
            "gfd_filled_elsewhere": {
                SIZE: AnyOf("this entry is missing", {}),
                DEAD: AnyOf("this entry is missing", {}),
            },
            "gfd_too_early": AnyOf({NONE: names}, {SIZE: {name: 0.0 for name in names}}),
            "gfd_no_dead": {DEAD: {}},
            "loop_variable": {DEAD: Matches(lambda got: None if list(got) == [net.names[5]] else "no", "one name")},
            "class_or_name": {DEAD: Matches(lambda got: None if list(got) == ["ReLU"] else "no", "the class")},
            "dotted_name": {DEAD: Matches(lambda got: None if list(got) == [net.names[4]] else "no", "half a name")},
            "gfd_tensors_in_report": AnyOf({SIZE: tensors}, {DEAD: tensors}),
            "gfd_zeros_for_dead": {DEAD: shares(passes.dead(lambda output: float((output == 0).float().mean())))},
            "gfd_wrong_axis": AnyOf(
                {DEAD: shares(passes.dead(lambda output: float((output == 0).flatten(1).all(1).float().mean())))},
                {DEAD: shares(passes.dead(lambda output: float((output == 0).all(-1).float().mean())))},
            ),
            "gfd_positions_for_units": {
                DEAD: shares(passes.dead(lambda output: float((output == 0).all(0).float().mean())))
            },
            "gfd_count_for_share": {DEAD: AnyOf(counts, {name: value > 0 for name, value in counts.items()})},
            "gfd_all_for_first": AnyOf({OUTPUT: []}, {GRADIENT: []}),
            "gfd_other_order": {NONE: sorted(passes.none())},
            "gfd_unreached": {NONE: []},
            "gfd_layers_for_parameters": AnyOf(
                {NONE: [net.names[5]]},
                {SIZE: Matches(lambda got: "no" if any(name in names for name in got) else None, "other names")},
            ),
            "gfd_signed_mean": {SIZE: passes.sizes(lambda grad: grad.mean())},
            "gfd_rounded": {SIZE: passes_rounded(passes)},
            "gfd_other_size": AnyOf(
                {SIZE: passes.sizes(lambda grad: grad.norm())},
                {SIZE: passes.sizes(lambda grad: grad.abs().max())},
                {SIZE: passes.sizes(lambda grad: grad.abs().sum())},
                {SIZE: passes.sizes(lambda grad: grad.std(correction=0))},
                {SIZE: passes.sizes(lambda grad: grad.pow(2).mean().sqrt())},
            ),
        }


class FirstBadOutput(SoundNet):
    """A layer whose weights hold a NaN: `bad_output` is its name, not that of a layer after it."""

    def given(self, case):
        net, x, upstream = super().given(case)
        self.planted = f"{case.shuffled('where', net.names[:2])[0]}.{net.names[3]}"
        with torch.no_grad():
            net.get_submodule(self.planted).weight[0, 0] = float("nan")
        return net, x, upstream

    def probe(self, nb, case):
        return {OUTPUT: super().probe(nb, case)[OUTPUT]}

    def truth(self, case):
        return {OUTPUT: Passes(*self.given(case)).bad_outputs()[0]}

    def mistakes(self, case):
        passes = Passes(*self.given(case))
        bad = passes.bad_outputs()
        kinds = {type(module).__name__ for module in passes.net.modules()}
        known = {*passes.net.names, *kinds}
        return {
            "gfd_last_for_first": {OUTPUT: AnyOf(*bad[1:])},
            "dotted_name": {OUTPUT: bad[0].split(".")[-1]},
            "gfd_weights_for_outputs": {OUTPUT: f"{bad[0]}.weight"},
            "class_or_name": {OUTPUT: AnyOf(*sorted(kinds))},
            "gfd_all_for_first": {OUTPUT: bad},
            "shared_state": {
                OUTPUT: Matches(lambda got: None if got and not known & set(got.split(".")) else "no", "foreign")
            },
            "gfd_backward_only": {OUTPUT: None},
        }


class FirstBadGradient(SoundNet):
    """A sound forward pass, and a NaN born in backward: `bad_gradient` is the first module it reaches."""

    def options(self):
        return {"function": "root"}

    def probe(self, nb, case):
        brought = super().probe(nb, case)
        return {OUTPUT: brought[OUTPUT], GRADIENT: brought[GRADIENT]}

    def truth(self, case):
        passes = Passes(*self.given(case))
        return {OUTPUT: None, GRADIENT: passes.bad_gradients()[0]}

    def mistakes(self, case):
        passes = Passes(*self.given(case))
        bad, before = passes.bad_gradients(), passes.of_output
        names = [name for name, _ in before]
        parameters = [name for name, grad in passes.of_parameter.items() if is_bad(grad)]
        kinds = {type(module).__name__ for module in passes.net.modules()}
        owner = next(name for name in bad if f"{name}.weight" in parameters)
        return {
            "gfd_forward_only": {GRADIENT: None},
            "gfd_parameters_for_outputs": {GRADIENT: AnyOf(*parameters, owner)},
            "gfd_last_for_first": {GRADIENT: AnyOf(*bad[1:])},
            "gfd_input_side": {GRADIENT: names[names.index(bad[0]) - 1]},
            "dotted_name": {GRADIENT: bad[0].split(".")[-1]},
            "class_or_name": {GRADIENT: AnyOf(*sorted(kinds))},
            "gfd_all_for_first": {GRADIENT: bad},
        }


class Convolutions(SoundNet):
    """With convolutions and in-place ReLUs: a channel is dead if it is 0 for every sample at every position."""

    def given(self, case, inplace=True):
        names = case.words("names", 7)
        dead = (case.integer("stem", 1, 2), case.integer("body", 3, 4))
        net = case.build("net", Net, names, conv=True, inplace=inplace, dead=dead)
        return net, case.tensor("x", 3, 3, 5, 4), case.tensor("upstream", 3, 4)

    def truth(self, case):
        return {DEAD: shares(self.passes(case).dead(dead_units))}

    def probe(self, nb, case):
        return {DEAD: super().probe(nb, case)[DEAD]}

    def passes(self, case):
        return Passes(*self.given(case, inplace=False))

    def mistakes(self, case):
        passes = self.passes(case)

        def wrong(test):
            return {DEAD: shares(passes.dead(lambda output: float(test(output == 0).float().mean())))}

        return {
            "gfd_positions_for_units": wrong(lambda zero: zero.all(0)),
            "gfd_wrong_axis": AnyOf(
                wrong(lambda zero: zero.all(1)),
                wrong(lambda zero: zero.all(-1)),
                wrong(lambda zero: zero.flatten(1).all(1)),
                wrong(lambda zero: zero.flatten(2).all(2)),
                wrong(lambda zero: zero.flatten(0, -2).all(0)),
                wrong(lambda zero: zero.all(0).flatten(1).any(1)),
            ),
        }


class Infinities(SoundNet):
    """An infinity counts as bad as well: in an output, and in a gradient."""

    def forward_net(self, case):
        net, x, upstream = super().given(case)
        with torch.no_grad():
            net.get_submodule(f"{net.names[0]}.{net.names[3]}").bias[0] = float("inf")
        return net, x, upstream

    def backward_net(self, case):
        names = case.words("names", 7)
        net = case.build("steep net", Net, names, after="steep")
        return net, case.tensor("x", 5, 3), case.tensor("upstream", 5, 4)

    def probe(self, nb, case):
        brought = {}
        for way, (net, x, upstream) in (("output", self.forward_net(case)), ("gradient", self.backward_net(case))):
            with nb.function("gradient_flow_debugger")(net) as report:
                (net(x) * upstream).sum().backward()
            brought[f'report["bad_{way}"]'] = entry(report, f"bad_{way}")
        return brought

    def truth(self, case):
        forward, backward = Passes(*self.forward_net(case)), Passes(*self.backward_net(case))
        return {OUTPUT: forward.bad_outputs()[0], GRADIENT: backward.bad_gradients()[0]}

    def mistakes(self, case):
        forward, backward = Passes(*self.forward_net(case)), Passes(*self.backward_net(case))
        return {
            "gfd_nan_only": AnyOf(
                {OUTPUT: next((name for name, output in forward.steps if output.isnan().any()), None)},
                {GRADIENT: next((name for name, grad in backward.of_output if grad.isnan().any()), None)},
            )
        }


class FrozenParts(SoundNet):
    """A frozen first layer, a layer that is not used, and a gradient that is 0: the first two have no gradient."""

    errors = {
        **SoundNet.errors,
        r"RuntimeError: a (view of a )?leaf Variable that requires grad": "gfd_forces_grad",
    }

    def given(self, case, inplace=True):
        names = case.words("names", 7)
        net = case.build("net", Net, names, inplace=inplace, function="zero")
        for parameter in net.get_submodule(names[0]).parameters():
            parameter.requires_grad_(False)
        return net, case.tensor("x", 5, 3), case.tensor("upstream", 5, 4) * 1e-3  # small gradients have digits, too

    def probe(self, nb, case):
        brought = super().probe(nb, case)
        return {NONE: brought[NONE], SIZE: brought[SIZE]}

    def truth(self, case):
        passes = Passes(*self.given(case, inplace=False))
        return {NONE: passes.none(), SIZE: passes.sizes(lambda grad: grad.abs().mean())}

    def mistakes(self, case):
        net, _, _ = self.given(case)
        zero = [f"{net.names[1]}.{net.names[3]}.{kind}" for kind in ("weight", "bias")]
        names = [name for name, _ in net.named_parameters()]
        stem, unused = [name for name in names if name.startswith(f"{net.names[0]}.")], f"{net.names[5]}."
        unused = [name for name in names if name.startswith(unused)]
        return {
            "gfd_rounded": {SIZE: passes_rounded(Passes(*self.given(case, inplace=False)))},
            "gfd_zero_is_not_none": AnyOf(
                {NONE: [name for name in names if name in (*stem, *zero, *unused)]}, {NONE: zero}
            ),
            "gfd_unreached": {NONE: stem},
            "gfd_unused_only": {NONE: unused},
        }


class TwoNets(SoundNet):
    """Used on a net with two faults and then on a sound one, it reports on each by itself."""

    def probe(self, nb, case):
        watch = nb.function("gradient_flow_debugger")
        net, x, upstream = self.broken(case)
        with watch(net) as one:
            (net(x) * upstream).sum().backward()
        net, x, upstream = self.given(case)
        with watch(net) as two:
            (net(x) * upstream).sum().backward()
        return {
            "first": {key: entry(one, key) for key in ("bad_output", "bad_gradient", "no_gradient")},
            "second": {key: entry(two, key) for key in ("bad_output", "dead", "no_gradient")},
        }

    def broken(self, case):
        """A NaN in the output of the last layer, and another one that is born in backward."""
        net = case.build("broken net", Net, case.words("names", 7), function="root")
        with torch.no_grad():
            net.get_submodule(net.names[2]).bias[0] = float("nan")
        return net, case.tensor("x", 5, 3), case.tensor("upstream", 5, 4)

    def truth(self, case):
        one, two = Passes(*self.broken(case)), Passes(*self.given(case))
        return {
            "first": {
                "bad_output": one.bad_outputs()[0],
                "bad_gradient": one.bad_gradients()[0],
                "no_gradient": one.none(),
            },
            "second": {"bad_output": None, "dead": shares(two.dead(dead_units)), "no_gradient": two.none()},
        }

    def mistakes(self, case):
        anything = Matches(lambda got: None, "anything")
        first = self.truth(case)["first"]
        return {
            "gfd_one_of_both": {"first": {**first, "bad_gradient": None}},
            "shared_state": AnyOf({"first": anything}, {"second": anything}),
        }


def leaky_net(names, count):
    """A batch norm in training mode, a leaky ReLU, and a ReLU with dead units and one that is nearly so."""
    dead = nn.Linear(5, 5)
    with torch.no_grad():
        dead.weight[-count:], dead.bias[-count:] = 0.0, -1.0
        dead.weight[:2], dead.bias[0], dead.bias[1] = 0.0, 1.0, 1e-4  # always active, one of them hardly
    layers = nn.Linear(4, 5), nn.BatchNorm1d(5), nn.LeakyReLU(), dead, nn.ReLU(), nn.Linear(5, 3)
    return nn.Sequential(OrderedDict(zip(names, layers)))


class AnyModel(SoundNet):
    """On models of other kinds, with gradients of a backward before: nothing bad, no gradient changed, the size of each."""

    claims = ("bad output of a model that is one layer", "a bad sample, in evaluation mode")

    def models(self, case):
        return awkward_models(
            case, "tied", "partly_frozen", "in_place_behind", "norm_in_eval", "mixed_modes", "none_place", "three_dim",
            "float64", "look_alike", "the_layer",
        ) | {"a model with a batch norm and a leaky ReLU": (self.leaky(case), case.tensor("x", 6, 4))}

    def leaky(self, case):
        return case.build("leaky", leaky_net, case.words("names", 6), case.integer("dead", 1, 2))

    def with_gradients(self, model, case):
        """The model, with gradients of a backward before."""
        for name, parameter in model.named_parameters():
            if parameter.requires_grad:
                parameter.grad = case.tensor(f"before {name}", *parameter.shape, dtype=parameter.dtype)
        return model

    def gradients(self, model, x, case):
        self.with_gradients(model, case)(x).pow(2).sum().backward()
        return {name: p.grad for name, p in model.named_parameters()}

    def probe(self, nb, case):
        brought = {}
        for says, (model, x) in self.models(case).items():
            self.with_gradients(model, case)
            with nb.function("gradient_flow_debugger")(model) as report:
                model(x).pow(2).sum().backward()
            brought[f"report on {says}"] = {
                key: entry(report, key) for key in ("bad_output", "bad_gradient", "no_gradient", "gradient_size")
            }
            brought[f"gradients in {says}"] = {name: p.grad for name, p in model.named_parameters()}
        one_layer, x = self.one_layer(case)
        with nb.function("gradient_flow_debugger")(one_layer) as itself:
            one_layer(x).sum().backward()
        part, x = self.one_bad_sample(case)
        with nb.function("gradient_flow_debugger")(part) as in_part:
            part(x).sum().backward()
        brought["a bad sample, in evaluation mode"] = [entry(in_part, "bad_output"), entry(in_part, "bad_gradient")]
        return {
            **brought,
            "dead, beside a leaky ReLU": entry(report, "dead"),
            "statistics": [*model.buffers()],
            "bad output of a model that is one layer": entry(itself, "bad_output"),
        }

    def one_bad_sample(self, case):
        ((model, x),) = awkward_models(case, "norm_in_eval").values()
        x[-1] = float("nan")
        return model.eval(), x

    def one_layer(self, case):
        (found,) = awkward_models(case, "the_layer").values()
        with torch.no_grad():
            found[0].bias[0] = float("nan")
        return found

    def truth(self, case):
        wanted = {}
        for says, (model, x) in self.models(case).items():
            grads = wanted[f"gradients in {says}"] = self.gradients(model, x, case)
            sizes = {name: float(g.abs().mean()) for name, g in grads.items() if g is not None}
            wanted[f"report on {says}"] = {
                "bad_output": None,
                "bad_gradient": None,
                "no_gradient": [name for name, g in grads.items() if g is None],
                "gradient_size": {name: Close(size, rtol=1e-4, atol=1e-8) for name, size in sizes.items()},
            }
        statistics = [buffer.clone() for buffer in model.buffers()]
        dead = shares({case.words("names", 6)[4]: dead_units(model[:5](x).detach())})
        itself = "bad output of a model that is one layer"
        wanted["a bad sample, in evaluation mode"] = ["0", None]  # the sum's gradient is 1 for all samples
        return {**wanted, "dead, beside a leaky ReLU": dead, "statistics": statistics, itself: ""}

    def mistakes(self, case):
        tied = "gradients in a model with tied weights"
        (model,) = awkward_models(case, "tied").values()
        outer = {"bad output of a model that is one layer": None}
        return {"watcher_changes_gradient": {tied: other_than(self.gradients(*model, case))}, "gfd_leaves_only": outer, **self.wrong_dead(case)} | {
            "gfd_part_only": {"a bad sample, in evaluation mode": [None, None]}
        }

    def wrong_dead(self, case):
        field, names = "dead, beside a leaky ReLU", case.words("names", 6)
        return {
            "gfd_nearly_dead": {field: shares({names[4]: (case.integer("dead", 1, 2) + 1) / 5})},
            "gfd_relu_relatives": {field: such_that(lambda got: set(got) == {names[2], names[4]})},
        }


def with_its_nan(wanted):
    """In a truth: just this gradient, with NaN where it has NaN; the usual comparison takes no NaN for right."""

    def test(got):
        same = isinstance(got, TensorRecord) and got.shape == wanted.shape and got.dtype == "float32"
        return None if same and torch.allclose(got.tensor(), wanted, 1e-4, 1e-6, equal_nan=True) else "another gradient"

    return None if wanted is None else Matches(test, "the gradient, with each NaN in its place")


class OnlyLooks(SoundNet):
    """NaN stays NaN; after the block, and after an error in it, its hooks are gone, those of others are not; no attribute stays."""

    cases = 1  # hooks do not depend on the weights
    blame = {
        "which gradients are finite": "watcher_changes_gradient",
        "the error comes out of the block": "gfd_swallows_error",
        "the trace of all attributes": "tool_attributes_left",
    }

    def broken(self, case):
        names = case.words("names", 7)
        net = case.build("broken net", Net, names, function="root")
        return net, case.tensor("x", 5, 3), case.tensor("upstream", 5, 4)

    def probe(self, nb, case):
        net, x, upstream = self.hooked(case)
        watch = nb.function("gradient_flow_debugger")
        with watch(net):
            (net(x) * upstream).sum().backward()
            heard, news = [], case.integer("news", 1, 10**9)
            self.join(net, lambda module, args, output: heard.append(news))
        net(x)
        brought = {"heard by a hook of the block": heard[:], "hooks after the block": hook_counts(net), "what runs after the block": self.runs(case, net, x)}
        broken, x, upstream = self.broken(case)
        with watch(broken):
            (broken(x) * upstream).sum().backward()
        brought["which gradients are finite"] = [
            bool(p.grad.isfinite().all()) for p in broken.parameters() if p.grad is not None
        ]
        brought["gradients with their NaN"] = {name: p.grad for name, p in broken.named_parameters()}
        raised = "nothing"
        try:
            with watch(net):
                net(self.given(case)[1])
                raise KeyError(case.integer("error", 10**6, 10**9))
        except KeyError as error:
            raised = error.args[0]
        return {
            **brought, "hooks after an error": hook_counts(net), "the error comes out of the block": raised,
            "what runs after an error": self.runs(case, net, self.given(case)[1]),
            "the trace of all attributes": attributes_on(net, case),
        }

    def hooked(self, case):
        net, x, upstream = self.given(case)
        net.register_forward_hook(lambda module, args, output: None)
        net.get_submodule(net.names[1]).register_forward_hook(lambda module, args, output: None)
        return net, x, upstream

    def join(self, net, hook):
        """Somebody else registers a hook in the block."""
        net.get_submodule(net.names[0]).register_forward_hook(hook)

    def runs(self, case, net, x):
        return what_runs(net, case, lambda: net(x).sum().backward())

    def truth(self, case):
        net, x, _ = self.hooked(case)
        self.join(net, lambda module, args, output: None)
        broken, runs = Passes(*self.broken(case)), as_before(self.runs(case, net, x))
        hooks = hook_counts(net)
        return {
            "heard by a hook of the block": [case.integer("news", 1, 10**9)],
            "hooks after the block": hooks,
            "what runs after the block": runs,
            "which gradients are finite": [
                bool(broken.of_parameter[name].isfinite().all())
                for name in broken.of_parameter
                if broken.of_parameter[name] is not None
            ],
            "gradients with their NaN": {
                name: with_its_nan(broken.of_parameter[name]) for name, _ in broken.net.named_parameters()
            },
            "hooks after an error": hooks,
            "the error comes out of the block": case.integer("error", 10**6, 10**9),
            "what runs after an error": runs,
            "the trace of all attributes": attributes_on(net, case),
        }

    def mistakes(self, case):
        def counted(test):
            return Matches(lambda got: None if test(sum(got.values())) else "no", "this count")

        hooks = self.truth(case)["hooks after the block"]
        return {
            "removes_other_hooks": AnyOf(
                {"hooks after the block": counted(lambda count: count < 3)},
                {"hooks after the block": hooks, "heard by a hook of the block": []},
            ),
            "gfd_leaves_hooks": {"hooks after the block": counted(lambda count: count > 3)},
            "gfd_no_finally": {"hooks after the block": hooks, "hooks after an error": other_than(hooks)},
        }


def chain(names, inplace=False, last=nn.ReLU):
    """A linear layer, a ReLU, a linear layer."""
    second = nn.ReLU(inplace) if last is nn.ReLU else last()
    return nn.Sequential(OrderedDict(zip(names, (nn.Linear(4, 6), second, nn.Linear(6, 3)))))


class Moved(nn.Sequential):
    """A linear layer, an activation, a linear layer; between the last two something of its own, which works in place.

    In its backward a NaN is born, after which the activation's output is the first to get one.
    """

    def forward(self, x):
        first, act, last = self
        x = act(first(x))
        x += 1 + (x * 0).sqrt()
        return last(x)


class Crossed(nn.Module):
    """What is defined first runs last; then something of its own, in whose backward a NaN is born."""

    def __init__(self, late, early):
        super().__init__()
        self.names = late, early
        self.add_module(late, nn.Linear(5, 3))
        self.add_module(early, nn.Linear(4, 5))

    def forward(self, x):
        late, early = (getattr(self, name) for name in self.names)
        return FUNCTIONS["root"](late(early(x)))


class BetweenModules(SoundNet):
    """A fault in what a block computes itself, after its children: the first module to finish with it is the block."""

    def options(self):
        return {"after": "log"}

    def probe(self, nb, case):
        return {OUTPUT: super().probe(nb, case)[OUTPUT]}

    def truth(self, case):
        return {OUTPUT: Passes(*self.given(case)).bad_outputs()[0]}

    def mistakes(self, case):
        bad = Passes(*self.given(case)).bad_outputs()
        return {"gfd_leaves_only": {OUTPUT: bad[1]}}


class Corners(SoundNet):
    """Frozen layers with a NaN, with units of 1e-9 and with gradients of before; a ReLU without dead units; -inf in front of a ReLU; numbers of 3e38; a NaN born in place; layers in crossed order, one of them frozen; a bad gradient of the model's own output; signals (N, C, L)."""

    claims = ("numbers of 3e38", "bad gradient of the model itself")

    def frozen(self, case):
        net = case.build("frozen", lambda names: Moved(OrderedDict(chain(names).named_children())), case.words("names", 3))
        first = net[0].requires_grad_(False)
        with torch.no_grad():
            dead = case.integer("dead", 1, 2)
            first.weight[-dead:], first.bias[-dead:] = 0.0, -1.0
            first.weight[:3], first.bias[0], first.bias[1], first.bias[2] = 0.0, float("nan"), 1e-9, 1e-9
        return net, case.tensor("x", 5, 4)

    def moved(self, case):
        """A SiLU keeps its input for backward, so its output may be changed in place."""
        layers = chain(case.words("names", 3), last=nn.SiLU).named_children()
        return case.build("moved", lambda: Moved(OrderedDict(layers))), case.tensor("x", 5, 4)

    def below(self, case, inplace):
        net = case.build("below", chain, case.words("names", 3), inplace)
        with torch.no_grad():
            net[0].bias[-1] = -float("inf")
        return net, case.tensor("x", 5, 4)

    def large(self, case):
        net = case.build("large", chain, case.words("names", 3), last=nn.Tanh)
        with torch.no_grad():
            net[0].weight[:2], net[0].bias[:2] = 0.0, 3e38
        return net, case.tensor("x", 5, 4)

    def before(self, case):
        net = case.build("before", chain, case.words("names", 3))
        for name, parameter in net[0].requires_grad_(False).named_parameters():
            parameter.grad = case.tensor(f"before {name}", *parameter.shape)
        with torch.no_grad():
            net[0].weight.zero_()
            net[0].bias.fill_(1.0)  # each unit is active
        return net, case.tensor("x", 5, 4)

    def signals(self, case):
        """A ReLU in front of a convolution: some channels are 0 everywhere, another one only at one position."""
        names, dead, x = case.words("names", 2), case.integer("dead", 1, 2), case.tensor("signals", 4, 5, 6, positive=True)
        x[:, -dead:] *= -1
        x[:, 0, case.integer("position", 0, 5)] *= -1
        net = case.build("signals", lambda: nn.Sequential(OrderedDict(zip(names, (nn.ReLU(), nn.Conv1d(5, 3, 2))))))
        return net, x

    def probe(self, nb, case):
        def report_on(net, x, times=1.0):
            with nb.function("gradient_flow_debugger")(net) as report:
                (net(x) * times).sum().backward()
            return report

        frozen, large = report_on(*self.frozen(case)), report_on(*self.large(case))
        net, x = self.before(case)
        before, first = report_on(net, x), case.words("names", 3)[0]
        sizes, none = entry(before, "gradient_size"), entry(before, "no_gradient")
        x, (late, early) = case.tensor("x", 5, 4), case.words("names", 2)
        crossed, frozen_last, itself = (case.build("crossed", Crossed, late, early) for _ in range(3))
        frozen_last.get_submodule(late).requires_grad_(False)
        return {
            "bad output of a frozen layer": entry(frozen, "bad_output"),
            "dead, behind a frozen layer": entry(frozen, "dead"),
            "dead, where each unit is active": entry(before, "dead"),
            "dead, in signals (N, C, L)": entry(report_on(*self.signals(case)), "dead"),
            "-inf in front of a ReLU": entry(report_on(*self.below(case, inplace=False)), "bad_output"),
            "-inf in front of a ReLU in place": entry(report_on(*self.below(case, inplace=True)), "bad_output"),
            "numbers of 3e38": entry(large, "bad_output"),
            "sizes of gradients of before": sizes if not isinstance(sizes, Mapping) else {k: v for k, v in sizes.items() if k.startswith(first)},
            "no gradient": none,
            "bad gradient, in crossed order": entry(report_on(crossed, x), "bad_gradient"),
            "bad gradient, behind a frozen layer": entry(report_on(frozen_last, x), "bad_gradient"),
            "bad gradient of the model itself": entry(report_on(itself, x, float("inf")), "bad_gradient"),
            "bad gradient, before a function in place": entry(report_on(*self.moved(case)), "bad_gradient"),
        }

    def truth(self, case):
        names = case.words("names", 3)
        net, x = self.frozen(case)
        signals = self.signals(case)[1]
        before = {f"{names[0]}.{name}": one.grad for name, one in self.before(case)[0][0].named_parameters()}
        return {
            "bad output of a frozen layer": names[0],
            "dead, behind a frozen layer": shares({names[1]: dead_units(net[1](net[0](x)).detach())}),
            "dead, where each unit is active": shares({names[1]: 0.0}),
            "dead, in signals (N, C, L)": shares({case.words("names", 2)[0]: dead_units(signals.relu())}),
            "-inf in front of a ReLU": names[0],
            "-inf in front of a ReLU in place": names[0],
            "numbers of 3e38": None,
            "sizes of gradients of before": {name: Close(float(one.abs().mean()), rtol=1e-4) for name, one in before.items()},
            "no gradient": [],
            "bad gradient, in crossed order": case.words("names", 2)[0],
            "bad gradient, behind a frozen layer": case.words("names", 2)[0],
            "bad gradient of the model itself": "",
            "bad gradient, before a function in place": names[1],
        }

    blame = {
        "bad output of a frozen layer": "gfd_part_only",
        "dead, where each unit is active": "gfd_healthy_left_out",
        "numbers of 3e38": "gfd_finite_is_bad",
        "sizes of gradients of before": "gfd_unused_only",
        "bad gradient, in crossed order": "gfd_last_for_first",
    }

    def mistakes(self, case):
        names = case.words("names", 3)
        net, x = self.frozen(case)
        output = net[1](net[0](x)).detach()
        field, below = "dead, behind a frozen layer", "-inf in front of a ReLU"
        crossed, moved = (f"bad gradient, {where}" for where in ("in crossed order", "before a function in place"))
        (late, early), itself = case.words("names", 2), "bad gradient of the model itself"
        return {
            "gfd_frozen_unheard": {crossed: late, "bad gradient, behind a frozen layer": AnyOf(early, None)},
            "gfd_own_name_is_nothing": {crossed: late, itself: AnyOf(late, early)},
            "gfd_nan_is_not_zero": {field: shares({names[1]: dead_units((output > 0).float())})},
            "gfd_nearly_dead": {field: shares({names[1]: dead_units((output.abs() > 1e-6).float() + output.isnan())})},
            "gfd_looks_late": AnyOf(
                {field: shares({names[1]: 0.0})},
                {below: names[0], f"{below} in place": None},
                {moved: names[0], crossed: case.words("names", 2)[0]},
            ),
            "gfd_positions_for_units": {"dead, in signals (N, C, L)": such_that(lambda got: list(got) == case.words("names", 2)[:1])},
            "gfd_nan_only": {below: None, "numbers of 3e38": None, "bad output of a frozen layer": names[0], crossed: case.words("names", 2)[0]},
        }


check("gradient_flow_debugger", SoundNet, FirstBadOutput, FirstBadGradient, Convolutions, Infinities, FrozenParts, TwoNets, AnyModel, OnlyLooks, BetweenModules, Corners)


# --- Hidden checks: graders run them, learners do not get them. ---
class Crossing(nn.Module):
    """Two layers on one input, one of them with a ReLU behind it; a third on their product; and a spare one."""

    def __init__(self, act, last, left, spare, right, dead):
        super().__init__()
        self.names, self.root = (act, last, left, right), False
        layers = nn.ReLU(), nn.Linear(7, 2), nn.Linear(3, 7), nn.Linear(2, 2), nn.Linear(3, 7, bias=False)
        for name, layer in zip((act, last, left, spare, right), layers):
            self.add_module(name, layer)
        with torch.no_grad():
            self.get_submodule(left).weight[-dead:], self.get_submodule(left).bias[-dead:] = 0.0, -1.0

    def forward(self, x):
        act, last, left, right = (getattr(self, name) for name in self.names)
        factor = right(x)
        if self.root:
            factor = factor + (factor * 0).sqrt()  # nothing to see in forward, NaN in backward
        return last(act(left(x)) * factor)


class AtACrossing(Check):
    """The report tells what is bad, dead, without a gradient, and how large gradients are."""

    def crossing(self, case, fault="none"):
        net = case.build("a crossing", Crossing, *case.words("streets", 5), case.integer("closed", 1, 5))
        _, last, left, _ = (net.get_submodule(name) for name in net.names)
        last.weight.requires_grad_(False)
        net.root = fault == "root"
        if fault == "infinity":
            left.bias.data[0] = float("inf")
        return net, case.tensor("cars", 4, 3), case.tensor("drivers", 4, 2)

    def probe(self, nb, case):
        reports = {}
        for fault in ("none", "root", "infinity"):
            net, cars, drivers = self.crossing(case, fault)
            with nb.function("gradient_flow_debugger")(net) as reports[fault]:
                (net(cars) * drivers).sum().backward()
        return {
            DEAD: entry(reports["none"], "dead"),
            NONE: entry(reports["none"], "no_gradient"),
            SIZE: entry(reports["none"], "gradient_size"),
            GRADIENT: entry(reports["root"], "bad_gradient"),
            OUTPUT: entry(reports["infinity"], "bad_output"),
        }

    def truth(self, case):
        net, cars, drivers = self.crossing(case)
        act, _, left, right = net.names
        units = net.get_submodule(left)(cars).T
        dead = sum(bool((unit <= 0).all()) for unit in units) / len(units)
        trained = {name: one for name, one in net.named_parameters() if one.requires_grad}
        found = torch.autograd.grad((net(cars) * drivers).sum(), list(trained.values()), allow_unused=True)
        sizes = {name: grad.abs().mean() for name, grad in zip(trained, found) if grad is not None}
        return {
            DEAD: {act: Close(dead, atol=1e-6)},
            NONE: [name for name, _ in net.named_parameters() if name not in sizes],
            SIZE: {name: Close(float(size), rtol=1e-4, atol=1e-6) for name, size in sizes.items()},
            GRADIENT: right,
            OUTPUT: left,
        }


check("gradient_flow_debugger", AtACrossing)
