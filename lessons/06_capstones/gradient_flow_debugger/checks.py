# %% breaks
from collections import OrderedDict
from collections.abc import Mapping
from contextlib import suppress
from functools import partial

import torch
from torch import nn

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Matches
from course.probing import error_out_of, hook_counts
from course.traces import what_runs
from course.truths import as_before, other_than

FUNCTIONS = {
    "sound": lambda x: x * 1,
    "log": lambda x: torch.log(x - 0.1),  # NaN at 0
    "root": lambda x: x + (x * 0).sqrt(),  # nothing to see in forward, NaN in backward
    "steep": torch.sqrt,  # an infinite slope at 0
    "flood": lambda x: x * torch.inf,
    "cut": lambda x: (x * 1)[:, :6],  # a view
    "drain": lambda x: x.mul_(0).sqrt(),  # in place, NaN in backward
}


class Turn(nn.Module):
    function = "sound"

    def forward(self, x):
        return FUNCTIONS[self.function](x)


class Street(nn.Sequential):
    """A layer, a ReLU, a turn, and a layer that is never used; and a function of its own at its end."""

    end = "sound"

    def forward(self, x):
        layer, act, turn, _ = self
        return FUNCTIONS[self.end](turn(act(layer(x))))


def town(case, name, depth, conv=False, **faults):
    """A net, its input, a gradient for its output, and names. A fault, such as ``turn="root"``, is in its second street."""
    names = case.words(f"{name}: names", 5 + depth)
    new = partial(nn.Conv2d, kernel_size=3, padding=1) if conv else nn.Linear

    def build():
        kinds = [(new(6 if n else 3, 6), nn.ReLU(inplace=True), Turn(), nn.Linear(2, 2)) for n in range(depth)]
        streets = [Street(OrderedDict(zip(names, layers))) for layers in kinds]
        return nn.Sequential(OrderedDict(zip(names[4:], (*streets, new(6, 2)))))

    net = case.build(name, build)
    for part in net[:depth]:
        part[0].weight.data[:2], part[0].bias.data[:2] = 0.0, torch.tensor([1.0, -1.0])  # always active, and never
    net[1][2].function, net[1].end = faults.get("turn", "sound"), faults.get("end", "sound")
    net[1].register_forward_hook(lambda module, args, output: None)  # somebody else's
    sizes = (5, 4) if conv else ()
    return net, case.tensor(f"{name}: x", 4, 3, *sizes), case.tensor(f"{name}: upstream", 4, 2, *sizes), names


def entry(report, key):
    return report.get(key, "this entry is missing") if isinstance(report, Mapping) else f"the report is {type(report).__name__}"


def gradients(net):
    """Of all parameters that have one, with a number in place of NaN."""
    return {name: p.grad.nan_to_num(7) for name, p in net.named_parameters() if p.grad is not None}


BAD = {
    "NaN": 'report["bad_output"] for a NaN', "infinity": 'report["bad_output"] for an infinity',
    "block": 'report["bad_output"] for a NaN made by a block', "sound": 'report["bad_output"] of a sound net',
    "root": 'report["bad_gradient"] for a NaN', "steep": 'report["bad_gradient"] for an infinity',
    "view": 'report["bad_gradient"] of a view that is changed in place',
}


class FirstBadPlaces(Check):
    """The first bad output and the first bad gradient (NaN or infinity) are named, in a layer or block; None where all is sound."""

    faults = {"NaN": {}, "infinity": {}, "block": {"end": "log"}, "root": {"turn": "root"}, "steep": {"end": "steep"}, "view": {"turn": "cut", "end": "drain"}, "sound": {}}
    blame = {"gradients, with 7 for NaN": "watcher_changes_gradient", "gradients before a bad output": "watcher_changes_output"}
    errors = {
        r"TypeError: 'NoneType' object is not an iterator": "not_started",
        r"RuntimeError: a (view of a )?leaf Variable that requires grad": "tool_hands_on_a_leaf",
        r"TypeError: gradient_flow_debugger\(\) missing \d+ required": "gfd_runs_model",
        r"TypeError: '\w+' object does not support the context manager": "gfd_no_context",
        r"(TypeError|AttributeError): .*'?RemovableHandle'?": "hook_replaces_output",
        r"(AttributeError: 'NoneType' object has no attribute '(abs|norm|is\w+|mean|detach|max)'|TypeError: .* not NoneType)": "gfd_none_grad",
    }

    def nets(self, case):
        made = {fault: town(case, fault, 3, **kind) for fault, kind in self.faults.items()}
        made["NaN"][0][case.integer("where", 0, 1)][0].weight.data[0, 0] = torch.nan
        made["infinity"][0][0][0].bias.data[0] = torch.inf
        made["sound"][0][-1].bias.data[:] = 3e38  # each output is finite, their sum is not
        return made

    def probe(self, nb, case):
        nets, brought = self.nets(case), {}
        for fault, (net, x, upstream, _) in nets.items():
            with nb.function("gradient_flow_debugger")(net) as report:
                (net(x) * upstream).sum().backward()
            brought[BAD[fault]] = entry(report, "bad_gradient" if "gradient" in BAD[fault] else "bad_output")
        brought |= {"gradients, with 7 for NaN": gradients(nets["root"][0]), "gradients before a bad output": gradients(nets["NaN"][0])}
        return {**brought, 'report["bad_gradient"] of a sound net': entry(report, "bad_gradient")}

    def truth(self, case):
        nets = self.nets(case)
        names = {fault: names for fault, (*_, names) in nets.items()}
        for net, x, upstream, _ in (nets["NaN"], nets["root"]):
            (net(x) * upstream).sum().backward()
        return {
            BAD["NaN"]: f"{names['NaN'][4 + case.integer('where', 0, 1)]}.{names['NaN'][0]}",
            BAD["infinity"]: f"{names['infinity'][4]}.{names['infinity'][0]}", BAD["block"]: names["block"][5],
            BAD["root"]: f"{names['root'][5]}.{names['root'][1]}", **{BAD[fault]: f"{names[fault][5]}.{names[fault][2]}" for fault in ("steep", "view")},
            BAD["sound"]: None, 'report["bad_gradient"] of a sound net': None, "gradients, with 7 for NaN": gradients(net), "gradients before a bad output": gradients(nets["NaN"][0]),
        }

    def mistakes(self, case):
        nets, right = self.nets(case), self.truth(case)
        one, field, infinity = BAD["NaN"], BAD["root"], BAD["infinity"]
        layer, act, turn, _, _, second, *_ = nets["root"][3]
        before = [right[BAD["steep"]].replace(nets["steep"][3][2], name) for name in nets["steep"][3][:2]]
        named = {fault: [name for name, _ in nets[fault][0].named_modules()] for fault in nets}
        other = {fault: {BAD[fault]: AnyOf(*(name for name in named[fault] if name != right[BAD[fault]]))} for fault in nets}
        forward = {one: right[one], field: right[field]}
        return {
            "tool_enter_returns_nothing": {one: "the report is NoneType"}, "gfd_filled_elsewhere": {one: "this entry is missing"}, "shared_state": {infinity: right[one]},
            "gfd_no_dead": {one: right[one].split(".")[0]}, "loop_variable": {one: nets["NaN"][3][-1]}, "dotted_name": AnyOf({one: nets["NaN"][3][0]}, {field: act}), "class_or_name": {one: AnyOf("Linear", "ReLU", "Turn")},
            "gfd_backward_only": {one: None, infinity: None}, "gfd_sum_overflows": {**forward, **other["sound"]}, "gfd_forward_only": {one: right[one], field: None},
            "gfd_parameters_for_outputs": {field: AnyOf(*dict(nets["root"][0].named_parameters()), f"{second}.{layer}")},
            "gfd_input_side": AnyOf({field: f"{second}.{turn}"}, {field: right[field], BAD["steep"]: AnyOf(*before)}),
            "gfd_nan_only": AnyOf({**forward, **other["infinity"]}, {**forward, **other["steep"]}, {**forward, BAD["steep"]: None}, {one: None, infinity: right[infinity]}),
            "gfd_last_for_first": AnyOf(other["NaN"], other["root"]), "gfd_leaves_only": {**forward, **other["block"]},
            "in_place_view": {**{BAD[fault]: right[BAD[fault]] for fault in nets if fault != "view"}, **other["view"]},
        }


class OnlyLooks(FirstBadPlaces):
    """Its hooks are gone, even after an error, which comes out; those of others stay, and what `.grad` held before."""

    blame = {"output of the net": "watcher_changes_output", "gradients, added to": "cam_fills_grad", "attributes afterwards": "gfd_marks", "mode of each module afterwards": "changes_mode"}

    def given(self, case):
        net, *given, _ = town(case, "town", 2)
        net.eval()[0].train().requires_grad_(False)
        net[-1].weight.grad = case.tensor("gradient of before", 2, 6)
        return net, *given

    def probe(self, nb, case):
        watch, (net, x, upstream) = nb.function("gradient_flow_debugger"), self.given(case)
        with watch(net):
            output = net(x)
            (output * upstream).sum().backward()
        brought = {"output of the net": output, "gradients, added to": gradients(net), "hook count after the block": hook_counts(net)}
        brought |= {"the error that comes out": error_out_of(watch(net), *case.words("error", 1)), "hook count after an error": hook_counts(net)}
        brought |= {"attributes afterwards": [sorted(vars(module)) for module in net.modules()], "mode of each module afterwards": [module.training for module in net.modules()]}
        return {**brought, "what runs after an error": what_runs(net, case, lambda: net(x).sum().backward())}

    def truth(self, case):
        net, x, upstream = self.given(case)
        output, hooks = net(x), hook_counts(net)
        (output * upstream).sum().backward()
        return {
            "output of the net": output, "gradients, added to": gradients(net),
            "hook count after the block": hooks, "the error that comes out": case.words("error", 1)[0], "hook count after an error": hooks,
            "attributes afterwards": [sorted(vars(module)) for module in net.modules()], "mode of each module afterwards": [module.training for module in net.modules()],
            "what runs after an error": as_before(what_runs(net, case, lambda: net(x).sum().backward())),
        }

    def mistakes(self, case):
        hooks, more = hook_counts(self.given(case)[0]), Matches(lambda got: None if sum(got.values()) > 1 else "no", "more hooks")
        return {
            "removes_other_hooks": {"hook count after the block": {kind: 0 for kind in hooks}}, "gfd_leaves_hooks": {"hook count after the block": more},
            "gfd_no_finally": {"hook count after the block": hooks, "hook count after an error": other_than(hooks)},
            "feat_error_swallowed": {"the error that comes out": "nothing"},
        }


check("gradient_flow_debugger", FirstBadPlaces, OnlyLooks)


# --- Hidden checks: graders run them, learners do not get them. ---
class InTown(Check):
    """The report tells what is bad, and nothing else has changed."""

    def hidden_town(self, case, **fault):
        net, cars, drivers, names = town(case, "hidden town", case.integer("hidden depth", 3, 5), conv=True, **fault)
        net.eval()[0].train().requires_grad_(False)
        net[-1].weight.grad = case.tensor("hidden gradient", *net[-1].weight.shape)
        return net, cars, drivers, names

    def probe(self, nb, case):
        reports, watch = [], nb.function("gradient_flow_debugger")
        for fault in {"turn": "root"}, {"turn": "cut", "end": "drain"}, {"end": "flood"}, {}:
            net, cars, drivers, _ = self.hidden_town(case, **fault)
            with watch(net) as report:
                (net(cars) * drivers).sum().backward()
            reports.append(entry(report, "bad_output" if len(reports) > 1 else "bad_gradient"))
        with suppress(KeyError), watch(net):
            raise KeyError("closed")
        return {
            "bad gradients, bad outputs": reports, "gradients": gradients(net), "attributes": [sorted(vars(module)) for module in net.modules()],
            "what runs afterwards": what_runs(net, case, lambda: net(cars).sum().backward()),
        }

    def truth(self, case):
        net, x, drivers, (_, act, turn, _, _, second, *_) = self.hidden_town(case)
        trained = {name: p for name, p in net.named_parameters() if p.requires_grad}
        found = torch.autograd.grad((net(x) * drivers).sum(), list(trained.values()), allow_unused=True)
        grads = {name: grad for name, grad in zip(trained, found) if grad is not None}
        grads[[*grads][-2]] += net[-1].weight.grad
        return {
            "bad gradients, bad outputs": [f"{second}.{act}", f"{second}.{turn}", second, None], "gradients": grads,
            "attributes": [sorted(vars(module)) for module in net.modules()],
            "what runs afterwards": as_before(what_runs(net, case, lambda: net(x).sum().backward())),
        }


check("gradient_flow_debugger", InTown)

# %% learns
from collections import OrderedDict
from collections.abc import Mapping
from functools import partial

import torch
from torch import nn

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Close, Matches
from nbproof.values.evidence import TensorRecord
from course.truths import such_that

KEYS = ("dead", "no_gradient", "gradient_size")
DEAD, NONE, SIZE = (f'report["{key}"]' for key in KEYS)
STEP_2 = "the list of step 2's entries in the report"


def town(case, name, depth, conv=True):
    """A net of streets (a layer, a ReLU, what changes nothing more, with a layer that is never used) and a layer, its input, and a gradient for its output."""
    names = case.words(f"{name}: names", 4 + depth)
    new = partial(nn.Conv2d, kernel_size=3, padding=1) if conv else nn.Linear

    def street(inside):
        layers = new(inside, 6), nn.ReLU(inplace=True), nn.LeakyReLU()
        layers[2].add_module("unused", nn.Linear(2, 2))
        return nn.Sequential(OrderedDict(zip(names, layers)))

    net = case.build(name, lambda: nn.Sequential(OrderedDict(zip(names[3:], (*(street(6 if n else 3) for n in range(depth)), new(6, 2))))))
    for number, part in enumerate(net[:depth]):
        dead = case.integer(f"{name}: dead {number}", 1, 3)
        part[0].weight.data[-dead:], part[0].bias.data[-dead:] = 0.0, -1.0  # never active
        part[0].weight.data[0], part[0].bias.data[0] = 0.0, 1.0  # always active
    net[0].requires_grad_(False)
    sizes = (5, 4) if conv else ()
    signs = torch.tensor([1.0, -1.0]).view(2, *(1 for _ in sizes))  # the gradient of the last bias has both
    return net, case.tensor(f"{name}: x", 4, 3, *sizes), case.tensor(f"{name}: upstream", 4, 2, *sizes).abs() * signs


def reported(nb, net, x, upstream):
    with nb.function("gradient_flow_debugger")(net) as report:
        (net(x) * upstream).sum().backward()
    there = [key for key in KEYS if isinstance(report, Mapping) and key in report]
    return {STEP_2: there, **{f'report["{key}"]': report[key] for key in there}}


class Passes:
    """What each ReLU returns, and the parameters' gradients, of a net without hooks."""

    def __init__(self, net, x, upstream):
        self.of_relu, trained = {}, {name: p for name, p in net.named_parameters() if p.requires_grad}
        for name, part in net.named_children():
            x = part(x)
            self.of_relu |= {f"{name}.{child}": x for child, layer in part.named_children() if isinstance(layer, nn.ReLU)}
        found = torch.autograd.grad((x * upstream).sum(), list(trained.values()), allow_unused=True)
        self.grads = {name: dict(zip(trained, found)).get(name) for name, _ in net.named_parameters()}
        self.none = [name for name, grad in self.grads.items() if grad is None]

    def dead(self, share):
        return {name: Close(float(share(output.detach())), atol=1e-6) for name, output in self.of_relu.items()}

    def sizes(self, size):
        return {name: Close(float(size(grad)), rtol=1e-4, atol=1e-10) for name, grad in self.grads.items() if grad is not None}


def dead_units(output):
    """By the definition: the share of the indices of dimension 1 that are 0 everywhere."""
    return sum(not unit.any() for unit in output.unbind(1)) / output.shape[1]


class WhatDoesNotLearn(Check):
    """Named are dead units, with and without positions, parameters without a gradient, and the sizes of the other gradients, even 0."""

    errors = {"object is not an iterator": "not_started", r"AttributeError: 'NoneType' object has no attribute '(abs|norm|is\w+|mean|detach|max)'": "gfd_none_grad"}

    def given(self, case):
        net, x, upstream = town(case, "town", 2)
        net[1][0].weight.data[:], net[1][0].bias.data[:] = 0.0, -1.0  # in the second street nobody lives: the gradients there are 0
        return net, x, upstream

    def probe(self, nb, case):
        rows = reported(nb, *town(case, "rows", 2, conv=False))
        return {**reported(nb, *self.given(case)), f"{DEAD} of Linear layers": rows.get(DEAD)}

    def truth(self, case):
        passes, rows = Passes(*self.given(case)), Passes(*town(case, "rows", 2, conv=False))
        truth = {STEP_2: list(KEYS), DEAD: passes.dead(dead_units), NONE: passes.none, SIZE: passes.sizes(lambda grad: grad.abs().mean())}
        return {**truth, f"{DEAD} of Linear layers": rows.dead(dead_units)}

    def mistakes(self, case):
        passes = Passes(*self.given(case))
        names, modules = list(passes.grads), [name for name, _ in self.given(case)[0].named_modules()]
        frozen = [name for name, p in self.given(case)[0].named_parameters() if not p.requires_grad]
        zero = [name for name, grad in passes.grads.items() if grad is not None and not grad.any()]
        shares, other = {name: dead_units(output) for name, output in passes.of_relu.items()}, (lambda share: 6 * share, lambda share: 100 * share, lambda share: 1 - share)

        def dead(share):
            return {DEAD: passes.dead(lambda output: share(output == 0))}

        tensors = Matches(lambda got: None if any(isinstance(v, TensorRecord) for v in got.values()) else "no", "tensors")
        return {
            "gfd_filled_elsewhere": AnyOf({SIZE: {}, DEAD: {}}, {STEP_2: such_that(lambda got: len(got) < 3)}), "gfd_no_dead": {DEAD: {}},
            "gfd_tensors_in_report": AnyOf({SIZE: tensors}, {DEAD: tensors}), "gfd_dead_others": {DEAD: such_that(lambda got: set(got) > set(shares))},
            "gfd_zeros_for_dead": AnyOf(dead(lambda is_0: is_0.float().mean()), dead(lambda is_0: is_0.transpose(0, 1).flatten(1).any(1).float().mean())),
            "gfd_other_share": {DEAD: such_that(lambda got: any(all(abs(got[name] - of(shares[name])) < 1e-6 for name in shares) for of in other))},
            "gfd_positions_for_units": dead(lambda is_0: is_0.all(0).float().mean()),
            "gfd_wrong_axis": AnyOf(*(dead(lambda is_0, dim=dim: is_0.all(dim).float().mean()) for dim in (1, -1))),
            "gfd_too_early": {NONE: names}, "gfd_unused_only": {NONE: [name for name in passes.none if name not in frozen]},
            "gfd_not_names": AnyOf(*({key: such_that(lambda got, key=key: any(one not in (modules if key == DEAD else names) for one in got))} for key in (DEAD, NONE, SIZE))),
            "gfd_zero_is_not_none": AnyOf({SIZE: such_that(lambda got: set(got) == set(names))}, {NONE: [name for name in names if name in (*passes.none, *zero)]}, {NONE: zero}),
            "gfd_unreached": AnyOf({NONE: []}, {NONE: frozen}),
            "gfd_signed_mean": AnyOf(*({SIZE: passes.sizes(size)} for size in (torch.mean, lambda grad: grad.mean().abs()))),
            "gfd_other_size": AnyOf(*({SIZE: passes.sizes(size)} for size in (torch.norm, torch.std, lambda grad: grad.abs().max(), lambda grad: grad.abs().sum(), lambda grad: grad.square().mean(), lambda grad: grad.square().mean().sqrt()))),
        }


check("gradient_flow_debugger", WhatDoesNotLearn)


# --- Hidden checks: graders run them, learners do not get them. ---
class InTown(Check):
    """The report tells what is dead, what has no gradient, and how large the other gradients are."""

    def hidden_town(self, case):
        net, *given = town(case, "hidden town", case.integer("hidden depth", 3, 5))
        net[-1].weight.grad = case.tensor("hidden gradient", *net[-1].weight.shape)
        return net, *given

    def probe(self, nb, case):
        return reported(nb, *self.hidden_town(case))

    def truth(self, case):
        net, x, drivers = self.hidden_town(case)
        (net(x) * drivers).sum().backward()
        dead = {}
        for name, street in list(net.named_children())[:-1]:
            x = street(x)
            dead[f"{name}.{list(street._modules)[1]}"] = Close(sum(not channel.any() for channel in x.unbind(1)) / 6, atol=1e-6)
        sizes = {name: Close(float(p.grad.abs().mean()), rtol=1e-4, atol=1e-6) for name, p in net.named_parameters() if p.grad is not None}
        return {STEP_2: list(KEYS), DEAD: dead, NONE: [name for name, _ in net.named_parameters() if name not in sizes], SIZE: sizes}


check("gradient_flow_debugger", InTown)
