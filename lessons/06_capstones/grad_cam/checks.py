from collections import OrderedDict
from contextlib import suppress

import torch
from torch import nn

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Close, Matches
from nbproof.values.evidence import TensorRecord
from course.probing import hook_counts
from course.traces import what_runs
from course.truths import as_before, other_than


def cnn(case, name, depth, inplace=False):
    """A body of convolutions, each with a ReLU behind it, and a linear layer on a tanh of what it found; and its input."""
    *parts, body, squash, flat, head = case.words(f"{name}: names", 2 * depth + 4)

    def build():
        layers = [layer for n in range(depth) for layer in (nn.Conv2d(4 if n else 2, 4, 2), nn.ReLU(inplace))]
        inside = nn.Sequential(OrderedDict(zip(parts, layers)))
        last = nn.Linear(4 * (6 - depth) * (5 - depth), 4)
        return nn.Sequential(OrderedDict(zip((body, squash, flat, head), (inside, nn.Tanh(), nn.Flatten(), last))))

    x, targets = case.tensor(f"{name}: x", 3, 2, 6, 5), torch.tensor(case.shuffled(f"{name}: targets", range(4))[:3])
    return case.build(name, build).eval(), [f"{body}.{part}" for part in parts], x, targets


class Seen:
    """What a layer returned, and the gradient with respect to it, on a net without hooks."""

    def __init__(self, net, number, x, targets):
        self.layers, self.number, self.targets, self.x = [*net[0], *net[1:]], number, targets, x
        self.output = nn.Sequential(*self.layers[: number + 1])(x).detach()
        self.gradient = self.of(lambda scores: scores.gather(1, targets[:, None]))

    def of(self, chosen):
        """The gradient, with respect to the layer's output, of what `chosen` takes from the scores."""
        output = self.output.clone().requires_grad_()
        return torch.autograd.grad(chosen(nn.Sequential(*self.layers[self.number + 1 :])(output)).sum(), output)[0]


def heat_of(gradient, output):
    """The recipe, picture by picture and channel by channel."""
    maps = torch.zeros(output.shape[0], *output.shape[2:])
    for picture in range(output.shape[0]):
        for channel in range(output.shape[1]):
            maps[picture] += gradient[picture, channel].mean() * output[picture, channel]
    return maps.clamp(min=0)


def near(heat):
    return Close(heat, rtol=1e-4, atol=1e-6)


class HeatMaps(Check):
    """Each picture's heat map is that of its own class; another layer has other maps."""

    errors = {
        r"TypeError: .*RemovableHandle": "hook_replaces_output",
        r"KeyError: '(output|gradient|activation|activations|gradients|a|g|A|G)'": "cam_never_caught",
        r"KeyError: '\w+\.\w+'": "dotted_name",
        r"AttributeError: '\w+' object has no attribute '\w+\.\w+'": "dotted_name",
        r"IndexError: list index out of range": "cam_never_caught",
        r"IndexError: index \d+ is out of bounds for dimension 0": "cam_all_classes",
        r"RuntimeError: element 0 of tensors does not require grad": "cam_no_graph",
        r"RuntimeError: cannot register a hook on a tensor that doesn't require": "cam_no_graph",
        r"RuntimeError: .*differentiated Tensor.* does not require grad": "cam_no_graph",
        r"RuntimeError: .*differentiated Tensor.* appears to not have been used": "cam_outside_the_graph",
        r"RuntimeError: Trying to backward through the graph a second time": "cam_graph_gone",
        r"RuntimeError: grad can be implicitly created only for scalar outputs": "cam_one_number",
        r"AttributeError: 'NoneType' object has no attribute '(mean|shape|sum|view)'": "cam_never_caught",
        r"TypeError: .*NoneType": "cam_never_caught",
        r"RuntimeError: The size of tensor": "cam_shape",
        r"RuntimeError: a (view of a )?leaf Variable that requires grad is being used in an in-place": "tool_hands_on_a_leaf",
        r"RuntimeError: (\w+: )?mat1 and mat2 shapes cannot be multiplied": "children_in_a_row",
    }

    def probe(self, nb, case):
        net, layers, x, targets = cnn(case, "net", 2)
        brought = {"the tensor of heat maps": nb.function("grad_cam")(net, layers[3], x.clone(), targets.clone())}
        return {**brought, "heat map of a single picture": nb.function("grad_cam")(net, layers[1], x[:1] * 2, targets[1:2])}

    def seen(self, case):
        net, _, x, targets = cnn(case, "net", 2)
        return Seen(net, 3, x, targets), Seen(net, 1, x[:1] * 2, targets[1:2])

    def truth(self, case):
        one, two = (near(heat_of(seen.gradient, seen.output)) for seen in self.seen(case))
        return {"the tensor of heat maps": one, "heat map of a single picture": two}

    def mistakes(self, case):
        seen, seen_alone = self.seen(case)
        net, _, x, targets = cnn(case, "net", 2)
        before, output, gradient = Seen(net, 2, x, targets), seen.output, seen.gradient
        heat, weights = heat_of(gradient, output), gradient.mean((2, 3), keepdim=True)
        signed, size, (height, width) = (weights * output).sum(1), output[0, 0].numel(), output.shape[2:]

        def brings(*maps):
            return {"the tensor of heat maps": AnyOf(*(near(one) for one in maps))}

        def by(*chosen):
            return brings(*(heat_of(seen.of(one), output) for one in chosen))

        def own(scores):
            return scores.gather(1, targets[:, None])

        def scaled(got):
            good = isinstance(got, TensorRecord) and got.shape == heat.shape  # a map of zeros may have become NaN
            return None if good and abs(float(got.tensor().nan_to_num().max()) - 1.0) < 1e-3 else "not scaled"

        def of_shape(*shapes, field="the tensor of heat maps"):
            return {field: Matches(lambda got: None if isinstance(got, TensorRecord) and got.shape in shapes else "no", "shape")}

        return {
            "returns_nothing": {"the tensor of heat maps": None}, "cam_no_relu": brings(signed), "cam_abs": brings(signed.abs()),
            "cam_relu_too_early": brings(
                (weights.relu() * output).sum(1).relu(), (weights * output).relu().sum(1),
                (gradient.relu().mean((2, 3), keepdim=True) * output).sum(1).relu(),
            ),
            "cam_softmax": by(
                lambda scores: own(scores.softmax(1)), lambda scores: own(scores.log_softmax(1)),
                lambda scores: -own(scores.log_softmax(1)), lambda scores: -own(scores.log_softmax(1)) / len(targets),
            ),
            "cam_all_classes": by(lambda scores: scores, lambda scores: scores[:, targets], lambda scores: own(scores - scores.mean(1, keepdim=True))),
            "cam_best_class": by(lambda scores: scores.amax(1)),
            "cam_one_class_for_all": by(lambda scores: scores[:, targets[0]], lambda scores: scores[0, targets], lambda scores: scores[0, targets[0]]),
            "cam_mean_score": brings(heat / len(targets)),
            "cam_batch_mixed": brings((gradient.mean((0, 2, 3), keepdim=True) * output).sum(1).relu()),
            "cam_no_mean": brings((gradient * output).sum(1).relu(), (gradient * output).mean(1).relu()),
            "cam_mean_over_channels": brings((gradient.mean(1, keepdim=True) * output).sum(1).relu()),
            "cam_sum_or_mean": brings(heat * size, heat / output.shape[1], heat * size / output.shape[1]),
            "cam_other_weights": brings(*((one * output).sum(1).relu() for one in (weights.softmax(1), weights.abs(), gradient.amax((2, 3), keepdim=True)))),
            "cam_one_factor": brings(gradient.sum(1).relu(), gradient.abs().mean(1), output.sum(1), output.mean(1)),
            "cam_scaled": {"the tensor of heat maps": Matches(scaled, "scaled")},
            "cam_input_side": brings(heat_of(before.gradient, before.output)),
            "stale_result": {"heat map of a single picture": near(heat)},
            "cam_resized": of_shape((3, 6, 5), (3, 1, 6, 5)),
            "cam_keeps_dimension": AnyOf(of_shape((3, 1, height, width)), of_shape(seen_alone.output.shape[2:], field="heat map of a single picture")),
            "cam_no_sum": of_shape(output.shape), "cam_first_picture_only": of_shape((height, width), (1, height, width)),
        }


class OverwrittenLayer(HeatMaps):
    """The model is frozen, and an in-place ReLU overwrites what the layer returned."""

    def given(self, case, inplace):
        net, layers, x, targets = cnn(case, "frozen", 2, inplace)
        return net.requires_grad_(False), layers, x, targets

    def probe(self, nb, case):
        net, layers, x, targets = self.given(case, inplace=True)
        return {"the tensor of heat maps": nb.function("grad_cam")(net, layers[2], x, targets)}

    def truth(self, case):
        net, _, x, targets = self.given(case, inplace=False)
        seen = Seen(net, 2, x, targets)
        return {"the tensor of heat maps": near(heat_of(seen.gradient, seen.output))}

    def mistakes(self, case):
        net, _, x, targets = self.given(case, inplace=False)
        before, after = Seen(net, 2, x, targets), Seen(net, 3, x, targets)
        pairs = [(before.gradient, after.output), (after.gradient, after.output), (after.gradient, before.output)]
        return {"cam_overwritten": {"the tensor of heat maps": AnyOf(*(near(heat_of(*pair)) for pair in pairs))}}


MODES = "mode of each module after the call, after an error, and in training"


def fail(module, args):
    raise RuntimeError("a layer fails")


def runs_of(net, x, case, moment="afterwards"):
    """What runs, and which parameters a gradient reaches."""
    leaf = torch.zeros(x.shape, requires_grad=True)  # a backward has somewhere to go, even if the model was frozen
    return what_runs(net, case, lambda: net(x + leaf).sum().backward(), moment)


class NothingLeft(HeatMaps):
    """Hooks, each module's mode, every `.grad` and every `requires_grad` are as before, even after an error."""

    def given(self, case):
        net, layers, x, targets = cnn(case, "net", 2)
        net[0][:2].requires_grad_(False)
        net[3].bias.grad = case.tensor("gradient of before", 4)
        net[0][1].register_forward_hook(lambda module, args, output: None)  # somebody else's
        return net, layers, x, targets

    def in_training(self, net, but_not):
        """In training mode, but for one of its parts."""
        net.train()[but_not].eval()
        return net

    def modes(self, net):
        return {name: module.training for name, module in net.named_modules()}

    def probe(self, nb, case):
        net, layers, x, targets = self.given(case)
        nb.function("grad_cam")(net, layers[1], x, targets)
        modes = [self.modes(net)]
        hooks, grads = hook_counts(net), {name: None if p.grad is None else p.grad.clone() for name, p in net.named_parameters()}
        flags = {"x": x.requires_grad, **{name: p.requires_grad for name, p in net.named_parameters()}}
        failing = net[3].register_forward_pre_hook(fail)
        with suppress(Exception):  # of whatever class
            nb.function("grad_cam")(net, layers[1], x, targets)
        with suppress(Exception):
            nb.function("grad_cam")(self.in_training(net, 0), layers[1], x, targets)
        failing.remove()
        left, runs, modes = hook_counts(net), runs_of(net, x, case), [*modes, self.modes(net)]
        with suppress(Exception):  # who asks for a model in evaluation mode may do so
            nb.function("grad_cam")(self.in_training(net, 2), layers[1], x, targets)
        return {
            MODES: [*modes, self.modes(net)],
            "hook count after the call": hooks, ".grad of the parameters": grads, "x.grad": x.grad, "requires_grad": flags,
            "hook count after an error": left, "what runs after an error": runs,
            "what runs in training mode": runs_of(net, x, case, "in training"),
        }

    def truth(self, case):
        net, _, x, _ = self.given(case)
        grads = {name: None if p.grad is None else p.grad.clone() for name, p in net.named_parameters()}
        flags = {"x": False, **{name: p.requires_grad for name, p in net.named_parameters()}}
        modes = [self.modes(net), *(self.modes(self.in_training(net, part)) for part in (0, 2))]
        return {
            MODES: modes,
            "hook count after the call": hook_counts(net), ".grad of the parameters": grads, "x.grad": None, "requires_grad": flags,
            "hook count after an error": hook_counts(net), "what runs after an error": as_before(runs_of(self.in_training(net, 0), x, case)),
            "what runs in training mode": as_before(runs_of(self.in_training(net, 2), x, case, "in training")),
        }

    blame = {".grad of the parameters": "cam_fills_grad", "x.grad": "cam_fills_grad", MODES: "changes_mode"}
    claims = ("requires_grad",)

    def mistakes(self, case):
        hooks, flags = hook_counts(self.given(case)[0]), self.truth(case)["requires_grad"]
        more = Matches(lambda got: None if sum(got.values()) > 1 else "no", "more hooks")
        return {
            "cam_changes_x": {"requires_grad": {**flags, "x": True}},
            "cam_unfreezes": {"requires_grad": Matches(lambda got: None if got != flags and not got["x"] else "no", "others")},
            "removes_other_hooks": {"hook count after the call": {kind: 0 for kind in hooks}},
            "gfd_leaves_hooks": {"hook count after the call": more},
            "feat_error_skips": {"hook count after the call": hooks, "hook count after an error": other_than(hooks)},
        }


class InTraining(HeatMaps):
    """In training mode there is an error, or the maps are those of eval mode, although a BatchNorm behind the layer mixes the pictures."""

    def given(self, case):
        net, layers, x, targets = cnn(case, "mixing net", 2)
        net[1] = nn.Sequential(nn.BatchNorm2d(4), net[1])
        return net, layers, x, targets

    def probe(self, nb, case):
        net, layers, x, targets = self.given(case)
        try:
            return {"heat maps in training mode": nb.function("grad_cam")(net.train(), layers[2], x, targets)}
        except Exception:  # of whatever class
            return {"heat maps in training mode": "an error"}

    def heat(self, case, training):
        net, _, x, targets = self.given(case)
        seen = Seen(net.train(training), 2, x, targets)
        return near(heat_of(seen.gradient, seen.output))

    def truth(self, case):
        return {"heat maps in training mode": AnyOf(self.heat(case, training=False), "an error")}

    def mistakes(self, case):
        return {"cam_training_mode": {"heat maps in training mode": self.heat(case, training=True)}}


check("grad_cam", HeatMaps, OverwrittenLayer, NothingLeft, InTraining)


# --- Hidden checks: graders run them, learners do not get them. ---
class FromAnyLayer(Check):
    """The heat maps are those of steps 1 to 5, and the model is as before."""

    def given(self, case, inplace=False):
        depth = case.integer("hidden depth", 2, 3)
        net, layers, views, sights = cnn(case, "hidden net", depth, inplace)
        net[0].requires_grad_(False)
        net[3].weight.grad = case.tensor("hidden gradient", *net[3].weight.shape)
        net[0].register_forward_hook(lambda module, args, output: None)
        return net, layers, 2 * case.integer("hidden layer", 0, depth - 1), views, sights

    def probe(self, nb, case):
        net, layers, number, views, sights = self.given(case, inplace=True)
        one = nb.function("grad_cam")(net, layers[number], views, sights)
        two = nb.function("grad_cam")(net, layers[number + 1], views[1:], sights[1:])
        grads = {name: None if p.grad is None else p.grad.clone() for name, p in net.named_parameters()}
        found = {"the tensor of heat maps of a convolution": one, "the tensor of heat maps of a ReLU": two, ".grad afterwards": grads, "x.grad": views.grad}
        failing = net[3].register_forward_pre_hook(fail)
        with suppress(Exception):
            nb.function("grad_cam")(net, layers[number], views, sights)
        net.train()[0].eval()
        with suppress(Exception):
            nb.function("grad_cam")(net, layers[number], views, sights)
        failing.remove()
        with suppress(Exception):
            nb.function("grad_cam")(net, layers[number], views, sights)
        return {**found, "what runs afterwards": runs_of(net, views, case)}

    def truth(self, case):
        net, _, number, views, sights = self.given(case)
        maps = []
        for at, first in ((number + 1, 0), (number + 2, 1)):
            features = net[0][:at](views[first:]).detach().requires_grad_()
            rest = net[3](torch.tanh(net[0][at:](features)).flatten(1))
            (slopes,) = torch.autograd.grad(rest[range(3 - first), sights[first:]].sum(), features)
            maps.append(near(torch.einsum("nk,nkhw->nhw", slopes.mean((2, 3)), features.detach()).relu()))
        grads = {name: None if p.grad is None else p.grad.clone() for name, p in net.named_parameters()}
        net.train()[0].eval()
        return {
            "the tensor of heat maps of a convolution": maps[0], "the tensor of heat maps of a ReLU": maps[1], ".grad afterwards": grads, "x.grad": None,
            "what runs afterwards": as_before(runs_of(net, views, case)),
        }


check("grad_cam", FromAnyLayer)
