from collections import OrderedDict
from collections.abc import Mapping
from contextlib import suppress
from functools import partial

import torch
from torch import nn

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Close, Matches
from nbproof.values.evidence import TensorRecord
from course.probing import error_out_of, hook_counts
from course.traces import what_runs
from course.truths import as_before, other_than

FUNCTIONS = {
    "sound": lambda x: x * 1, "zero": lambda x: x * 0,
    "log": lambda x: torch.log(x - 0.1),  # NaN at 0
    "root": lambda x: x + (x * 0).sqrt(),  # nothing to see in forward, NaN in backward
    "steep": lambda x: x.abs().sqrt(),  # an infinite slope at 0
    "flood": lambda x: x * torch.inf,
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


def town(case, name, depth, conv=False, inplace=False, **faults):
    """A net, its input, a gradient for its output, and names. A fault, such as ``turn="root"``, is in its second street."""
    names = case.words(f"{name}: names", 5 + depth)
    new = partial(nn.Conv2d, kernel_size=3, padding=1) if conv else nn.Linear

    def build():
        kinds = [(new(6 if n else 3, 6), nn.ReLU(inplace), Turn(), nn.Linear(2, 2)) for n in range(depth)]
        streets = [Street(OrderedDict(zip(names, layers))) for layers in kinds]
        return nn.Sequential(OrderedDict(zip(names[4:], (*streets, new(6, 2)))))

    net = case.build(name, build)
    for number, part in enumerate(net[:depth]):
        dead = case.integer(f"{name}: dead {number}", 1, 3)
        part[0].weight.data[-dead:], part[0].bias.data[-dead:] = 0.0, -1.0  # never active
        part[0].weight.data[0], part[0].bias.data[0] = 0.0, 1.0  # always active
    net[1][2].function, net[1].end = faults.get("turn", "sound"), faults.get("end", "sound")
    net[1].register_forward_hook(lambda module, args, output: None)  # somebody else's
    sizes = (5, 4) if conv else ()
    return net, case.tensor(f"{name}: x", 4, 3, *sizes), case.tensor(f"{name}: upstream", 4, 2, *sizes), names


class Passes:
    """One forward and one backward pass, step by step, on a net without hooks."""

    def __init__(self, net, x, upstream, names):
        self.names, self.steps = names, []
        for name, part in net.named_children():
            for child, layer in list(part.named_children())[:3]:
                x = layer(x)
                self.steps.append((f"{name}.{child}", x))
            x = FUNCTIONS[part.end](x) if isinstance(part, Street) else part(x)
            self.steps.append((name, x))
        self.steps.append(("", x))
        parameters = [(name, p) for name, p in net.named_parameters() if p.requires_grad]
        outputs = [(name, output) for name, output in self.steps if output.requires_grad]
        wanted = [tensor for _, tensor in (*parameters, *outputs)]
        found = torch.autograd.grad((x * upstream).sum(), wanted, allow_unused=True)
        of_trained = dict(zip([name for name, _ in parameters], found))
        self.grads = {name: of_trained.get(name) for name, _ in net.named_parameters()}
        self.none = [name for name, grad in self.grads.items() if grad is None]
        self.of_output = list(zip([name for name, _ in outputs], found[len(parameters) :]))[::-1]

    def bad(self, backward=False):
        return [name for name, one in (self.of_output if backward else self.steps) if one is not None and not one.isfinite().all()]

    def dead(self, share):
        return {name: Close(share(output.detach()), atol=1e-6) for name, output in self.steps if name.endswith(f".{self.names[1]}")}

    def sizes(self, size):
        return {name: Close(float(size(grad)), rtol=1e-4, atol=1e-10) for name, grad in self.grads.items() if grad is not None}


def dead_units(output):
    """By the definition: the share of the indices of dimension 1 that are 0 everywhere."""
    return sum(not output[:, unit].any() for unit in range(output.shape[1])) / output.shape[1]


def entry(report, key):
    return report.get(key, "this entry is missing") if isinstance(report, Mapping) else report


KEYS = ("bad_output", "bad_gradient", "dead", "no_gradient", "gradient_size")
OUTPUT, GRADIENT, DEAD, NONE, SIZE = (f'report["{key}"]' for key in KEYS)


class SoundNet(Check):
    """Of a net without NaN: dead channels, parameters without a gradient, and the others' sizes."""

    blame = {"output of the net": "watcher_changes_output", "gradients of the net": "watcher_changes_gradient"}
    errors = {
        r"TypeError: 'NoneType' object is not an iterator": "not_started",
        r"TypeError: gradient_flow_debugger\(\) missing \d+ required": "gfd_runs_model",
        r"TypeError: '\w+' object does not support the context manager": "gfd_no_context",
        r"(TypeError|AttributeError): .*'?RemovableHandle'?": "hook_replaces_output",
        r"AttributeError: 'NoneType' object has no attribute '(abs|isfinite|norm|is\w+|mean|detach|max)'": "gfd_none_grad",
        r"TypeError: .*(isfinite|isnan|isinf)\(\): argument 'input' .* not NoneType": "gfd_none_grad",
    }

    def given(self, case, inplace=True):
        """Pictures for a net whose first layer is frozen; the gradient of the second is 0, that of the last bias has both signs."""
        net, x, upstream, names = town(case, "town", 2, conv=True, inplace=inplace, turn="zero")
        net[0].requires_grad_(False)
        return net, x, upstream.abs() * torch.tensor([1.0, -1.0])[:, None, None], names

    def probe(self, nb, case):
        net, x, upstream, _ = self.given(case)
        with nb.function("gradient_flow_debugger")(net) as report:
            output = net(x)
            (output * upstream).sum().backward()
        return {
            "output of the net": output, "gradients of the net": {name: p.grad for name, p in net.named_parameters()},
            **{f'report["{key}"]': entry(report, key) for key in KEYS},
        }

    def truth(self, case):
        passes = Passes(*self.given(case, inplace=False))
        return {
            "output of the net": passes.steps[-1][1], "gradients of the net": passes.grads,
            OUTPUT: None, GRADIENT: None, DEAD: passes.dead(dead_units), NONE: passes.none,
            SIZE: passes.sizes(lambda grad: grad.abs().mean()),
        }

    def mistakes(self, case):
        passes = Passes(*self.given(case, inplace=False))
        act, street, last, names = passes.names[1], passes.names[4], passes.names[-1], list(passes.grads)
        zero = [name for name, grad in passes.grads.items() if grad is not None and not grad.any()]
        missing, frozen = "this entry is missing", [name for name in names if name.startswith(f"{street}.")]

        def dead(share):
            return {DEAD: passes.dead(lambda output: float(share(output == 0)))}

        def keys(wanted):
            return {DEAD: Matches(lambda got: None if list(got) == [wanted] else "no", "this name")}

        tensors = Matches(lambda got: None if any(isinstance(v, TensorRecord) for v in got.values()) else "no", "tensors")
        return {
            "gfd_filled_elsewhere": {SIZE: AnyOf(missing, {}), DEAD: AnyOf(missing, {})}, "gfd_all_for_first": AnyOf({OUTPUT: []}, {GRADIENT: []}),
            "loop_variable": keys(last), "class_or_name": keys("ReLU"), "dotted_name": keys(act),
            "gfd_tensors_in_report": AnyOf({SIZE: tensors}, {DEAD: tensors}), "gfd_zeros_for_dead": dead(lambda is_0: is_0.float().mean()),
            "gfd_positions_for_units": dead(lambda is_0: is_0.all(0).float().mean()),
            "gfd_wrong_axis": AnyOf(*(dead(lambda is_0, dim=dim: is_0.all(dim).float().mean()) for dim in (1, -1))),
            "gfd_too_early": {NONE: names}, "gfd_no_dead": {DEAD: {}}, "gfd_unused_only": {NONE: [name for name in passes.none if name not in frozen]},
            "gfd_zero_is_not_none": AnyOf({NONE: [name for name in names if name in (*passes.none, *zero)]}, {NONE: zero}),
            "gfd_unreached": AnyOf({NONE: []}, {NONE: frozen}), "gfd_signed_mean": AnyOf(*({SIZE: passes.sizes(size)} for size in (torch.mean, lambda grad: grad.mean().abs()))),
            "gfd_other_size": AnyOf(*({SIZE: passes.sizes(size)} for size in (torch.norm, torch.std, lambda grad: grad.abs().max()))),
        }


class FirstBadPlaces(SoundNet):
    """The first bad output and the first bad gradient are named: NaN or infinity, layer or block."""

    faults = {"NaN": {}, "infinity": {}, "block": {"end": "log"}, "root": {"turn": "root"}, "steep": {"end": "steep"}}

    def nets(self, case):
        """A NaN in a weight, an infinity in a bias, a NaN that a block makes itself; a NaN and an infinity born in backward."""
        made = {fault: town(case, fault, 3, **kind) for fault, kind in self.faults.items()}
        made["NaN"][0][case.integer("where", 0, 1)][0].weight.data[0, 0] = torch.nan
        made["infinity"][0][0][0].bias.data[0] = torch.inf
        return made

    def probe(self, nb, case):
        nets, brought = self.nets(case), {}
        for fault, (net, x, upstream, _) in nets.items():
            with nb.function("gradient_flow_debugger")(net) as report:
                (net(x) * upstream).sum().backward()
            key = "bad_gradient" if fault in ("root", "steep") else "bad_output"
            brought[f"{key}, {fault}"] = entry(report, key)
        grads = {name: p.grad for name, p in nets["root"][0].named_parameters() if p.grad is not None}
        return {**brought, "gradients, with another number for NaN": {name: grad.nan_to_num(7) for name, grad in grads.items()}}

    def passes(self, case):
        return {fault: Passes(*given) for fault, given in self.nets(case).items()}

    def truth(self, case):
        passes = self.passes(case)
        outputs = {f"bad_output, {fault}": passes[fault].bad()[0] for fault in ("NaN", "infinity", "block")}
        grads = {f"bad_gradient, {fault}": passes[fault].bad(backward=True)[0] for fault in ("root", "steep")}
        numbers = {name: grad for name, grad in passes["root"].grads.items() if grad is not None}
        return {**outputs, **grads, "gradients, with another number for NaN": {name: grad.nan_to_num(7) for name, grad in numbers.items()}}

    blame = {"gradients, with another number for NaN": "watcher_changes_gradient"}

    def mistakes(self, case):
        passes = self.passes(case)
        one, field = "bad_output, NaN", "bad_gradient, root"
        bad, root = passes["NaN"].bad(), passes["root"].bad(backward=True)
        before = [name for name, _ in passes["root"].of_output]
        parameters = [name for name, grad in passes["root"].grads.items() if grad is not None and grad.isnan().any()]
        infinite, steep = passes["infinity"].steps, passes["steep"].of_output
        nan = {key: next((name for name, one in found if one.isnan().any()), None) for key, found in (("bad_output, infinity", infinite), ("bad_gradient, steep", steep))}
        return {
            "shared_state": {"bad_output, infinity": bad[0]}, "gfd_last_for_first": AnyOf({one: AnyOf(*bad[1:])}, {field: AnyOf(*root[1:])}),
            "dotted_name": AnyOf({one: bad[0].split(".")[-1]}, {field: root[0].split(".")[-1]}),
            "class_or_name": {one: AnyOf("Linear", "ReLU", "Turn")}, "gfd_all_for_first": AnyOf({one: bad}, {field: root}),
            "gfd_backward_only": {one: None}, "gfd_forward_only": {one: bad[0], field: None},
            "gfd_parameters_for_outputs": {field: AnyOf(*parameters, next(n for n in root if f"{n}.weight" in parameters))},
            "gfd_nan_only": AnyOf(*({key: value} for key, value in nan.items())),
            "gfd_input_side": {field: before[before.index(root[0]) - 1]}, "gfd_leaves_only": {"bad_output, block": passes["block"].bad()[1]},
        }


class OnlyLooks(SoundNet):
    """Its hooks are gone, also after an error, which comes out; those of others stay, and what `.grad` held before."""

    def probe(self, nb, case):
        watch, (net, x, upstream, _) = nb.function("gradient_flow_debugger"), town(case, "linear", 2)
        net[-1].weight.grad = case.tensor("gradient of before", 2, 6)
        with watch(net) as report:
            (net(x) * upstream).sum().backward()
        brought = {DEAD: entry(report, "dead"), "gradient, added to": net[-1].weight.grad.clone(), "hooks after the block": hook_counts(net)}
        brought |= {"error that comes out": error_out_of(watch(net), *case.words("error", 1)), "hooks after an error": hook_counts(net)}
        return {**brought, "what runs after an error": what_runs(net, case, lambda: net(x).sum().backward())}

    def truth(self, case):
        net, x, *_ = town(case, "linear", 2)
        runs, hooks = as_before(what_runs(net, case, lambda: net(x).sum().backward())), hook_counts(net)
        passes = Passes(*town(case, "linear", 2))
        added = case.tensor("gradient of before", 2, 6) + passes.grads[f"{passes.names[-1]}.weight"]
        after = {"hooks after the block": hooks, "hooks after an error": hooks, "what runs after an error": runs}
        after["error that comes out"] = case.words("error", 1)[0]
        return {DEAD: passes.dead(dead_units), "gradient, added to": added, **after}

    def mistakes(self, case):
        hooks, more = self.truth(case)["hooks after the block"], Matches(lambda got: None if sum(got.values()) > 1 else "no", "more hooks")
        return {
            "cam_fills_grad": {"gradient, added to": self.truth(case)["gradient, added to"] - case.tensor("gradient of before", 2, 6)},
            "removes_other_hooks": {"hooks after the block": {kind: 0 for kind in hooks}}, "gfd_leaves_hooks": {"hooks after the block": more},
            "gfd_no_finally": {"hooks after the block": hooks, "hooks after an error": other_than(hooks)},
            "feat_error_swallowed": {"error that comes out": "nothing"},
        }


check("gradient_flow_debugger", SoundNet, FirstBadPlaces, OnlyLooks)


# --- Hidden checks: graders run them, learners do not get them. ---
class InTown(Check):
    """The report tells what is bad, dead, without a gradient, and how large gradients are."""

    def hidden_town(self, case, inplace=True, **fault):
        net, *given = town(case, "hidden town", case.integer("hidden depth", 3, 5), conv=True, inplace=inplace, **fault)
        net[0].requires_grad_(False)
        net[-1].weight.grad = case.tensor("hidden gradient", *net[-1].weight.shape)
        return net, *given

    def probe(self, nb, case):
        reports, watch = {}, nb.function("gradient_flow_debugger")
        for fault in ({"turn": "root"}, {"end": "flood"}, {}):
            net, cars, drivers, _ = self.hidden_town(case, **fault)
            with watch(net) as reports["".join(fault)]:
                (net(cars) * drivers).sum().backward()
        grads = {name: None if p.grad is None else p.grad.clone() for name, p in net.named_parameters()}
        with suppress(KeyError), watch(net):
            raise KeyError("closed")
        return {
            **{f'report["{key}"]': entry(reports[""], key) for key in KEYS}, "gradients": grads,
            GRADIENT: entry(reports["turn"], "bad_gradient"), "bad output, in a flood": entry(reports["end"], "bad_output"),
            "what runs afterwards": what_runs(net, case, lambda: net(cars).sum().backward()),
        }

    def truth(self, case):
        net, x, drivers, (_, act, _, _, _, second, *_, last) = self.hidden_town(case, inplace=False)
        dead, trained = {}, {name: p for name, p in net.named_parameters() if p.requires_grad}
        for name, street in list(net.named_children())[:-1]:
            silent = [not bool(channel.any()) for channel in street[1](street[0](x)).transpose(0, 1)]
            dead[f"{name}.{act}"], x = Close(sum(silent) / 6, atol=1e-6), street(x)
        found = torch.autograd.grad((net[-1](x) * drivers).sum(), list(trained.values()), allow_unused=True)
        grads = {name: dict(zip(trained, found)).get(name) for name, _ in net.named_parameters()}
        grads[f"{last}.weight"] += net[-1].weight.grad
        sizes = {name: Close(float(grad.abs().mean()), rtol=1e-4, atol=1e-6) for name, grad in grads.items() if grad is not None}
        other, cars, *_ = self.hidden_town(case)
        return {
            OUTPUT: None, DEAD: dead, NONE: [name for name in grads if name not in sizes], SIZE: sizes, "gradients": grads,
            GRADIENT: f"{second}.{act}", "bad output, in a flood": second,
            "what runs afterwards": as_before(what_runs(other, case, lambda: other(cars).sum().backward())),
        }


check("gradient_flow_debugger", InTown)
