from itertools import product

import torch
import torch.nn as nn
import torch.nn.functional as F

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Close, Matches

_LAYERS = [[[128, 64], [128]], [[128, 128], [128]], [[10, 128], [10]]]
_SHAPES = [shape for layer in _LAYERS for shape in layer]


class _OfTheNet(Check):
    """What all checks of the net have in common: the errors that only one misconception brings."""

    errors = {
        r"TypeError: (ModuleList|Sequential)\b": "anatomy_container_arguments",
        r"TypeError: (\S+ is not a Module subclass|'str' object is not callable)": "anatomy_container_arguments",
        r"NotImplementedError: Module \[ModuleList\]": "container_without_forward",
        r"RuntimeError: .*x10 and 128x10\)": "anatomy_head_among_the_others",
        r"NameError: name 'hidden'": "anatomy_read_without_self",
        r"(NameError|UnboundLocalError): ": "anatomy_name_not_there",
        r"AttributeError: module '\S+' has no attribute": "anatomy_misspelt_method",
    }


def _values(case, shape):
    """What a parameter of this shape is set to."""
    return case.tensor(f"values of shape {tuple(shape)}", *shape) / shape[-1] ** 0.5


class AllLayersRegistered(_OfTheNet):
    """PyTorch finds the parameters of all three layers, and the net computes with them."""

    blame = {"output": "anatomy_registered_not_used"}

    def probe(self, nb, case):
        net = nb.function("RepairedNet")()
        with torch.no_grad():
            for one in net.parameters():
                one.copy_(_values(case, one.shape))
        layers = [sorted((list(one.shape) for one in part.parameters(recurse=False)), key=len, reverse=True) for part in net.modules()]
        return {"the list of layers that PyTorch knows": sorted(layer for layer in layers if layer), "output": net(case.tensor("x", 3, 64))}

    def computed(self, case, behind=(F.relu, F.relu, torch.clone)):
        """What a net puts out, with these functions behind its three layers."""
        first, bias, second, _, head, last = (_values(case, shape) for shape in _SHAPES)
        x = behind[0](F.linear(case.tensor("x", 3, 64), first, bias))
        return Close(behind[2](F.linear(behind[1](F.linear(x, second, bias)), head, last)), 1e-4, 1e-4)

    def truth(self, case):
        return {"the list of layers that PyTorch knows": sorted(_LAYERS), "output": self.computed(case)}

    def mistakes(self, case):
        first, second, head = _LAYERS
        more = Matches(lambda found: None if len(found) > len(_LAYERS) else "not more", "more layers")
        weights = Matches(lambda found: None if any(sum(map(len, part)) > 3 for part in found) else "one each", "several in one")
        ways = product((F.relu, torch.clone), repeat=3)
        others = [self.computed(case, behind) for behind in ways if behind != (F.relu, F.relu, torch.clone)]
        some = [sorted(layers) for layers in ([second, head], [first, second], [first, head])]
        return {
            "python_list": {"the list of layers that PyTorch knows": [head]},
            "anatomy_layers_left_out": {"the list of layers that PyTorch knows": AnyOf(*some)},
            "anatomy_registered_not_used": {"the list of layers that PyTorch knows": more},
            "anatomy_parameters_for_layers": {"the list of layers that PyTorch knows": weights},
            "anatomy_activation_lost": {"output": AnyOf(*others)},
            "returns_nothing": {"output": None},
        }


class Remembered(_OfTheNet):
    """A new net that loads the saved file computes the same."""

    blame = {"output the next morning": "anatomy_registered_not_used"}

    def probe(self, nb, case):
        net, next_morning = nb.function("RepairedNet")(), nb.function("RepairedNet")()
        with torch.no_grad():
            for one in net.parameters():
                one.copy_(_values(case, one.shape))
        next_morning.load_state_dict(net.state_dict())
        return {"output the next morning": next_morning(case.tensor("x", 3, 64))}

    def truth(self, case):
        return {"output the next morning": AllLayersRegistered.computed(self, case)}


check("forgetful_net", AllLayersRegistered, Remembered)


# --- Hidden checks: graders run them, learners do not get them. ---
class TrainedAndLoaded(Check):
    """An optimizer trains all layers, and a new net computes with what is loaded."""

    errors = _OfTheNet.errors

    def probe(self, nb, case):
        net, another = nb.function("RepairedNet")(), nb.function("RepairedNet")()
        for one in [one for layer in nn.Module.children(net) for one in nn.Module.parameters(layer)]:
            one.data = case.tensor(f"hidden {list(one.shape)}", *one.shape) / 9
        optimizer = torch.optim.SGD(nn.Module.parameters(net), lr=case.integer("hidden lr", 1, 9) / 1000)
        rows = case.integer("hidden rows", 2, 6)
        net(case.tensor("hidden x", rows, 64)).backward(case.tensor("hidden upstream", rows, 10))
        optimizer.step()
        nn.Module.load_state_dict(another, nn.Module.state_dict(net))
        return {"output": another(case.tensor("hidden y", 2, rows, 64))}

    def truth(self, case):
        rows, rate = case.integer("hidden rows", 2, 6), case.integer("hidden lr", 1, 9) / 1000
        weights = [(case.tensor(f"hidden {shape}", *shape) / 9).requires_grad_() for shape in _SHAPES]
        for step in range(2):
            x = case.tensor("hidden y", 2, rows, 64) if step else case.tensor("hidden x", rows, 64)
            x = F.relu(F.linear(x, *weights[:2]))
            output = F.linear(F.relu(F.linear(x, *weights[2:4])), *weights[4:])
            if not step:
                gradients = torch.autograd.grad(output, weights, case.tensor("hidden upstream", rows, 10))
                weights = [one.detach() - rate * gradient for one, gradient in zip(weights, gradients)]
        return {"output": Close(output, 1e-3, 1e-3)}


check("forgetful_net", TrainedAndLoaded)
