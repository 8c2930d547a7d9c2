from collections import OrderedDict
from contextlib import suppress

import torch
from torch import nn

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Close, Matches
from nbproof.values.evidence import TensorRecord
from course.probing import hook_counts
from course.traces import attributes_on, what_runs
from course.truths import as_before, other_than, such_that


def namesake(body, name):
    """It does nothing; its name, and those of what is in it, end like the name of a layer in the body, and none is asked for."""
    return nn.Sequential(OrderedDict({body: nn.Sequential(OrderedDict({name: nn.Identity()}))}))


class Cnn(nn.Module):
    """A body of two convolutions, then either the mean over positions or a tanh at each, then a linear layer."""

    def __init__(self, names, inplace=False, mean=False):
        super().__init__()
        self.names, self.mean = names, mean
        body, head, first, norm, act, second = names
        for name in (norm, act):
            self.add_module(name, namesake(body, name))
        self.add_module(body, nn.Sequential())
        layers = (nn.Conv2d(2, 4, 3), nn.BatchNorm2d(4), nn.ReLU(inplace), nn.Conv2d(4, 5, 2))
        for name, module in zip((first, norm, act, second), layers):
            self.get_submodule(body).add_module(name, module)
        self.add_module(head, nn.Linear(5 if mean else 30, 4))
        self.add_module(second, namesake(body, second))

    def forward(self, x):
        body, _, _, norm, act, second = (getattr(self, name, None) for name in self.names)
        return self.rest(act(body(second(norm(x)))))  # each namesake comes earlier, or later, than what is asked for

    def rest(self, x):
        return getattr(self, self.names[1])(x.mean((2, 3)) if self.mean else torch.tanh(x).flatten(1))


def scores_of(net, layer, x, from_layer=False):
    """The layer's output, and the scores; or, `from_layer`, the scores of what might be its output."""
    body, output = net.get_submodule(net.names[0]), None
    for name, module in body.named_children():
        if not from_layer:
            x = module(x)
        if name == layer.split(".")[-1]:
            output, from_layer = x, False
    return output, net.rest(x)


class Seen:
    """What the layer returned, and the gradient of a score with respect to it, on a net without hooks."""

    def __init__(self, net, layer, x, targets):
        self.net, self.layer, self.x, self.targets = net, layer, x, targets
        self.output = scores_of(net, layer, x)[0].detach()
        self.gradient = self.of(lambda scores: scores.gather(1, targets[:, None]))

    def of(self, chosen):
        """The gradient, with respect to the layer's output, of what `chosen` takes from the scores."""
        output = self.output.clone().requires_grad_()
        _, scores = scores_of(self.net, self.layer, output, from_layer=True)
        return torch.autograd.grad(chosen(scores).sum(), output)[0]


def slope_of(seen):
    """The gradient of the scores of the targets with respect to the pictures."""
    picture = seen.x.clone().requires_grad_()
    scores = scores_of(seen.net, seen.layer, picture)[1].gather(1, seen.targets[:, None])
    return torch.autograd.grad(scores.sum(), picture)[0]


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
    """The heat maps of a batch, each for its picture's class; then, from another layer, that of a single picture."""

    errors = {
        r"TypeError: .*RemovableHandle": "hook_replaces_output",
        r"KeyError: '(output|gradient|activation|activations|gradients|a|g|A|G)'": "cam_never_caught",
        r"KeyError: '\w+\.\w+'": "dotted_name",
        r"AttributeError: '\w+' object has no attribute '\w+\.\w+'": "dotted_name",
        r"IndexError: list index out of range": "cam_never_caught",
        r"RuntimeError: element 0 of tensors does not require grad": "cam_no_graph",
        r"RuntimeError: cannot register a hook on a tensor that doesn't require": "cam_no_graph",
        r"RuntimeError: .*differentiated Tensor.* does not require grad": "cam_no_graph",
        r"RuntimeError: .*differentiated Tensor.* appears to not have been used": "cam_outside_the_graph",
        r"RuntimeError: Trying to backward through the graph a second time": "cam_graph_gone",
        r"RuntimeError: grad can be implicitly created only for scalar outputs": "cam_one_number",
        r"AttributeError: 'NoneType' object has no attribute '(mean|shape|sum|view)'": "cam_never_caught",
        r"TypeError: .*NoneType": "cam_never_caught",
        r"RuntimeError: The size of tensor": "cam_shape",
        r"RuntimeError: (\w+: )?mat1 and mat2 shapes cannot be multiplied": "children_in_a_row",
    }

    def net(self, case, **options):
        return case.build("net", Cnn, case.words("names", 6), **options).eval()

    def given(self, case):
        net = self.net(case)
        body, _, _, _, act, second = net.names
        x, targets = case.tensor("x", 3, 2, 6, 5), torch.tensor(case.shuffled("targets", range(4))[:3])
        return net, (f"{body}.{act}", f"{body}.{second}"), x, targets

    def probe(self, nb, case):
        net, layers, x, targets = self.given(case)
        brought = {"heat maps": nb.function("grad_cam")(net, layers[0], x.clone(), targets.clone())}
        heat = nb.function("grad_cam")(net, layers[1], x[:1] * 2, targets[1:2])
        return {**brought, "heat map of a single picture": heat}

    def truth(self, case):
        net, layers, x, targets = self.given(case)
        one, two = Seen(net, layers[0], x, targets), Seen(net, layers[1], x[:1] * 2, targets[1:2])
        return {
            "heat maps": near(heat_of(one.gradient, one.output)),
            "heat map of a single picture": near(heat_of(two.gradient, two.output)),
        }

    def mistakes(self, case):
        net, layers, x, targets = self.given(case)
        one, before = Seen(net, layers[0], x, targets), Seen(net, f"{net.names[0]}.{net.names[3]}", x, targets)
        after, two = Seen(net, layers[1], x, targets), Seen(net, layers[1], x[:1] * 2, targets[1:2])
        slope, single = slope_of(two), "heat map of a single picture"
        return {
            **flaws(one),
            "cam_namesake": AnyOf(
                {"heat maps": near(heat_of(after.gradient, after.output))},
                {"heat maps": near(heat_of(one.gradient, one.output)), single: near(heat_of(slope, two.x))},
            ),
            "cam_input_side": {"heat maps": near(heat_of(before.gradient, before.output))},
            "stale_result": {"heat map of a single picture": near(heat_of(one.gradient, one.output))},
            "cam_squeeze": {
                "heat map of a single picture": Matches(
                    lambda got: None if isinstance(got, TensorRecord) and len(got.shape) == 2 else "no", "two dimensions"
                )
            },
        }


def flaws(seen):
    """What a wrong recipe brings for `heat maps`."""
    output, gradient, targets = seen.output, seen.gradient, seen.targets
    heat = heat_of(gradient, output)
    weights = gradient.mean((2, 3), keepdim=True)
    signed = (weights * output).sum(1)
    size = output[0, 0].numel()

    def brings(*maps):
        return {"heat maps": AnyOf(*(near(one) for one in maps))}

    def by(chosen):
        return heat_of(seen.of(chosen), output)

    def own(scores):
        return scores.gather(1, targets[:, None])

    def scaled(got):
        good = isinstance(got, TensorRecord) and got.shape == heat.shape and float(got.tensor().max()) > 0
        return None if good and abs(float(got.tensor().max()) - 1.0) < 1e-3 else "not scaled"

    def of_shape(*shape):
        return Matches(lambda got: None if isinstance(got, TensorRecord) and got.shape == shape else "no", "shape")

    slope = slope_of(seen)
    height, width = heat.shape[1:]
    return {
        "returns_nothing": {"heat maps": None},
        "cam_namesake": brings(heat_of(slope, seen.x)),
        "cam_no_relu": brings(signed),
        "cam_abs": brings(signed.abs()),
        "cam_relu_too_early": brings(
            (weights.relu() * output).sum(1),
            (weights.relu() * output).sum(1).relu(),
            (weights * output).relu().sum(1),
            (gradient.relu().mean((2, 3), keepdim=True) * output).sum(1).relu(),
        ),
        "cam_softmax": brings(
            by(lambda scores: own(scores.softmax(1))),
            by(lambda scores: own(scores.log_softmax(1))),
            by(lambda scores: -own(scores.log_softmax(1))),
            by(lambda scores: -own(scores.log_softmax(1)) / len(targets)),
        ),
        "cam_all_classes": brings(by(lambda scores: scores), by(lambda scores: scores[:, targets])),
        "cam_best_class": brings(by(lambda scores: scores.amax(1))),
        "cam_one_class_for_all": brings(
            by(lambda scores: scores[:, targets[0]]), by(lambda scores: scores[0, targets])
        ),
        "cam_mean_score": brings(heat / len(targets)),
        "cam_batch_mixed": brings(
            (gradient.mean((0, 2, 3), keepdim=True) * output).sum(1).relu(),
            (gradient.mean(0, keepdim=True) * output).sum(1).relu(),
        ),
        "cam_no_mean": brings((gradient * output).sum(1).relu(), (gradient * output).mean(1).relu()),
        "cam_mean_over_channels": brings(
            (gradient.mean(1, keepdim=True) * output).sum(1).relu(),
            (gradient.mean((1, 2, 3), keepdim=True) * output).sum(1).relu(),
        ),
        "cam_sum_or_mean": brings(heat * size, heat / output.shape[1]),
        "cam_other_pooling": brings(
            (gradient.amax((2, 3), keepdim=True) * output).sum(1).relu(),
            (gradient.abs().mean((2, 3), keepdim=True) * output).sum(1).relu(),
        ),
        "cam_one_factor": brings(
            gradient.sum(1).relu(),
            gradient.mean(1).relu(),
            gradient.abs().sum(1),
            gradient.abs().mean(1),
            output.sum(1).relu(),
            output.mean(1).relu(),
            output.mean(1),
            output.sum(1),
        ),
        "cam_scaled": {"heat maps": Matches(scaled, "scaled")},
        "cam_saliency": brings(
            slope.abs().amax(1),
            slope.abs().sum(1),
            slope.abs().mean(1),
            slope.relu().sum(1),
            slope.sum(1).relu(),
            slope.amax(1),
        ),
        "cam_resized": {"heat maps": AnyOf(of_shape(3, 6, 5), of_shape(3, 1, 6, 5))},
        "cam_keeps_dimension": {"heat maps": of_shape(3, 1, height, width)},
        "cam_no_sum": {"heat maps": of_shape(*output.shape)},
        "cam_first_picture_only": {"heat maps": AnyOf(of_shape(height, width), of_shape(1, height, width))},
    }


class EqualsCam(HeatMaps):
    """In front of a mean and a linear layer: A times the weights of the class, over the number of positions."""

    def given(self, case):
        net = self.net(case, mean=True)
        return (
            net,
            f"{net.names[0]}.{net.names[5]}",
            case.tensor("x", 2, 2, 6, 5),
            torch.tensor(case.shuffled("t", range(4))[:2]),
        )

    def probe(self, nb, case):
        return {"heat maps": nb.function("grad_cam")(*self.given(case))}

    def truth(self, case):
        net, layer, x, targets = self.given(case)
        with torch.no_grad():
            output, _ = scores_of(net, layer, x)
            rows = getattr(net, net.names[1]).weight[targets]
            return {"heat maps": near(torch.einsum("nk,nkhw->nhw", rows, output).relu() / output[0, 0].numel())}

    def mistakes(self, case):
        return flaws(Seen(*self.given(case)))


class OverwrittenLayer(HeatMaps):
    """A layer whose output an in-place ReLU overwrites: heat maps of what the layer itself returned."""

    def given(self, case, inplace=True):
        net = self.net(case, inplace=inplace)
        x, targets = case.tensor("x", 3, 2, 6, 5), torch.tensor(case.shuffled("targets", range(4))[:3])
        return net, f"{net.names[0]}.{net.names[3]}", x, targets

    def probe(self, nb, case):
        return {"heat maps": nb.function("grad_cam")(*self.given(case))}

    def truth(self, case):
        seen = Seen(*self.given(case, inplace=False))
        return {"heat maps": near(heat_of(seen.gradient, seen.output))}

    def mistakes(self, case):
        before = Seen(*self.given(case, inplace=False))
        net, _, x, targets = self.given(case, inplace=False)
        after = Seen(net, f"{net.names[0]}.{net.names[4]}", x, targets)
        pairs = [(before.gradient, after.output), (after.gradient, after.output), (after.gradient, before.output)]
        return {"cam_overwritten": {"heat maps": AnyOf(*(near(heat_of(*pair)) for pair in pairs))}}


class NothingLeft(HeatMaps):
    """Hooks, `.grad` and `requires_grad` are as before the call; the hooks are after an error as well."""

    def given(self, case):
        net, layers, x, targets = super().given(case)
        net.get_submodule(net.names[0])[:3].requires_grad_(False)  # frozen in part: up to the layer that is asked for
        with torch.no_grad():
            for number, parameter in enumerate(net.parameters()):
                if number % 2 and parameter.requires_grad:
                    parameter.grad = case.tensor(f"gradient {number}", *parameter.shape)
        net.register_forward_hook(lambda module, args, output: None)
        net.get_submodule(layers[0]).register_forward_hook(lambda module, args, output: None)
        return net, layers, x, targets

    def join(self, net, layers, hook):
        """Somebody else registers a hook on the layer while the model runs, once."""

        def come(module, args):
            pre.remove()
            net.get_submodule(layers[0]).register_forward_hook(hook)

        pre = net.register_forward_pre_hook(come)

    def probe(self, nb, case):
        net, layers, x, targets = self.given(case)
        heard, news = [], case.integer("news", 1, 10**9)
        self.join(net, layers, lambda module, args, output: heard.append(news))
        brought = {
            "heat maps of a model that is frozen in part": nb.function("grad_cam")(net, layers[0], x, targets),
            "hooks after the call": hook_counts(net),
            ".grad of the parameters": {
                name: None if p.grad is None else p.grad.clone() for name, p in net.named_parameters()
            },
            "x.grad": x.grad,
            "x.requires_grad": x.requires_grad,
            "what runs after the call": self.runs(case, net, x),
            "gradients in a pass after the call": self.passed(case, net, x),
        }
        heard.clear()
        net(x + torch.zeros(x.shape, requires_grad=True))
        brought["heard by somebody's hook of the forward"] = heard[:]
        raised = None
        failing = net.register_forward_pre_hook(self.fail)
        try:
            nb.function("grad_cam")(net, layers[0], x, targets)
        except Exception:  # of whatever class, in whatever words
            raised = case.integer("an error", 1, 10**9)
        failing.remove()
        return {
            **brought,
            "hooks after an error": hook_counts(net),
            "an error comes out": raised,
            "what runs after an error": self.runs(case, net, x),
        }

    def fail(self, module, args):
        """A hook that lets the forward fail."""
        raise RuntimeError("a layer fails")

    def runs(self, case, net, x):
        leaf = torch.zeros(x.shape, requires_grad=True)  # a backward has somewhere to go, even if the model was frozen
        return what_runs(net, case, lambda: net(x + leaf).sum().backward())

    def passed(self, case, net, x):
        """Where x had kept a gradient, or the wish for one, it would show beside those of the parameters."""
        net.zero_grad()
        leaf = torch.zeros(x.shape, requires_grad=True)
        (net(x + leaf).sum() + (x * case.tensor("weight of x", *x.shape)).sum()).backward()
        found = {name: None if p.grad is None else p.grad.clone() for name, p in net.named_parameters()}
        slope = torch.zeros(x.shape) if x.grad is None else x.grad.clone()
        net.zero_grad()
        return {**found, "x": slope + case.tensor("beside x", *x.shape)}

    def truth(self, case):
        net, layers, x, targets = self.given(case)
        self.join(net, layers, lambda module, args, output: None)
        net(x)
        hooks, seen = hook_counts(net), Seen(*HeatMaps.given(self, case)[:1], layers[0], x, targets)
        runs, passed = as_before(self.runs(case, net, x)), self.passed(case, net, x)
        net, _, _, _ = self.given(case)
        grads = {name: p.grad for name, p in net.named_parameters()}
        return {
            "heat maps of a model that is frozen in part": near(heat_of(seen.gradient, seen.output)),
            "hooks after the call": hooks,
            ".grad of the parameters": grads,
            "x.grad": None,
            "x.requires_grad": False,
            "what runs after the call": runs,
            "gradients in a pass after the call": passed,
            "heard by somebody's hook of the forward": [case.integer("news", 1, 10**9)],
            "hooks after an error": hooks,
            "an error comes out": case.integer("an error", 1, 10**9),
            "what runs after an error": runs,
        }

    blame = {
        ".grad of the parameters": "cam_fills_grad",
        "x.grad": "cam_fills_grad",
        "x.requires_grad": "cam_changes_x",
        "an error comes out": "gfd_swallows_error",
    }

    def mistakes(self, case):
        def counted(test):
            return Matches(lambda got: None if test(sum(got.values())) else "no", "this count")

        hooks = self.truth(case)["hooks after the call"]
        frozen = [name for name, p in self.given(case)[0].named_parameters() if not p.requires_grad]
        return {
            "cam_unfreezes": {
                "gradients in a pass after the call": such_that(lambda got: [n for n in got if got[n] is None] != frozen)
            },
            "removes_other_hooks": AnyOf(
                {"hooks after the call": counted(lambda count: count < 3)},
                {"hooks after the call": hooks, "heard by somebody's hook of the forward": []},
            ),
            "gfd_leaves_hooks": {"hooks after the call": counted(lambda count: count > 3)},
            "gfd_no_finally": {"hooks after the call": hooks, "hooks after an error": other_than(hooks)},
        }


class XAsItWas(HeatMaps):
    """Pictures that require a gradient, and that have one, keep both, also after an error; no attribute stays on the model."""

    blame = {
        "gradient of x": "cam_changes_x",
        "gradient of x after an error": "cam_changes_x",
        "gradient of plain x after an error": "cam_changes_x",
        "the trace of all attributes": "cam_attribute",
        "gradients that x has": "cam_fills_grad",
    }

    def pictures(self, case, flag):
        return case.tensor("x", 3, 2, 6, 5, requires_grad=flag)

    def slope(self, case, x, name):
        """What a backward of the probe's own brings for x, and another tensor where x requires no gradient."""
        if not x.requires_grad:
            return case.tensor(f"no gradient, {name}", *x.shape)
        return torch.autograd.grad((x * case.tensor(f"weight, {name}", *x.shape)).sum(), x)[0]

    def fail(self, module, args, output):
        """A hook that lets the forward fail."""
        raise RuntimeError("a layer fails")

    def probe(self, nb, case):
        net, layers, _, targets = self.given(case)
        cam, none = nb.function("grad_cam"), "no gradient"
        x, with_grad, bare = (self.pictures(case, True) for _ in range(3))
        plain = self.pictures(case, False)
        with_grad.grad = case.tensor("old", *x.shape)
        cam(net, layers[0], x, targets)
        cam(net, layers[0], with_grad, targets)
        cam(net, layers[0], bare, targets)
        attributes = attributes_on(net, case)
        failing = net.register_forward_hook(self.fail)
        after_error = self.pictures(case, True)
        for one in (after_error, plain):
            with suppress(Exception):  # of whatever class
                cam(net, layers[0], one, targets)
        failing.remove()
        return {
            "gradient of x": self.slope(case, x, "x"),
            "gradient of x after an error": self.slope(case, after_error, "error"),
            "gradient of plain x after an error": self.slope(case, plain, "plain"),
            "gradients that x has": [
                case.tensor(none, *one.shape) if one.grad is None else one.grad.clone() for one in (with_grad, bare)
            ],
            "the trace of all attributes": attributes,
        }

    def truth(self, case):
        net, shape = self.given(case)[0], self.pictures(case, False).shape
        return {
            "gradient of x": case.tensor("weight, x", *shape),
            "gradient of x after an error": case.tensor("weight, error", *shape),
            "gradient of plain x after an error": case.tensor("no gradient, plain", *shape),
            "gradients that x has": [case.tensor("old", *shape), case.tensor("no gradient", *shape)],
            "the trace of all attributes": attributes_on(net, case),
        }

    def mistakes(self, case):
        return {}


class FrozenModel(HeatMaps):
    """The same heat maps from a model of which no parameter requires a gradient."""

    def given(self, case):
        net, layers, x, targets = super().given(case)
        return net.requires_grad_(False), layers, x, targets


check("grad_cam", HeatMaps, EqualsCam, OverwrittenLayer, NothingLeft, XAsItWas, FrozenModel)


# --- Hidden checks: graders run them, learners do not get them. ---
class Window(nn.Module):
    """A convolution, whose output is written over, and a linear layer on the mean of its squares."""

    def __init__(self, wall, pane, frame):
        super().__init__()
        self.names = (wall, pane, frame)
        self.add_module(wall, nn.Sequential(OrderedDict({pane: nn.Conv2d(1, 3, 2)})))
        self.add_module(frame, nn.Linear(3, 6))

    def forward(self, x):
        wall, _, frame = self.names
        return getattr(self, frame)(getattr(self, wall)(x).sigmoid_().pow(2).mean((2, 3)))


class ThroughTheWindow(Check):
    """The heat maps are those of steps 1 to 5, each for the class of its picture."""

    def window(self, case):
        net = case.build("a window", Window, *case.words("window", 3)).eval()
        return net, case.tensor("views", 5, 1, 6, 5), torch.tensor(case.shuffled("sights", range(6))[:5])

    def probe(self, nb, case):
        net, views, sights = self.window(case)
        return {"heat maps through a window": nb.function("grad_cam")(net, ".".join(net.names[:2]), views, sights)}

    def truth(self, case):
        net, views, sights = self.window(case)
        wall, _, frame = (net.get_submodule(name) for name in (net.names[0], *net.names[::2]))
        features = wall(views).detach().requires_grad_()
        scores = frame(torch.sigmoid(features).pow(2).mean((2, 3)))
        (gradient,) = torch.autograd.grad(scores[torch.arange(5), sights].sum(), features)
        heat = torch.einsum("nk,nkhw->nhw", gradient.mean((2, 3)), features.detach())
        return {"heat maps through a window": near(heat.relu())}


check("grad_cam", ThroughTheWindow)
