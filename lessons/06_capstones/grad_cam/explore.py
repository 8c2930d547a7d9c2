import torch
from hypothesis import strategies as st

from course.drawn import fit, nets, picked, tensors
from nbproof.authoring.explorer import Beyond, Exploration
from nbproof.values.compare import Close

SHAPES = ((1, 2, 2, 2), (3, 1, 2, 2), (2, 3, 1, 2))


def state(net):
    return {name: [one.requires_grad, one.grad] for name, one in net.named_parameters()}


class AnyNet(Exploration):
    """The maps follow the recipe, and the net is as before, whatever the net that the layer stands in."""

    draws = {
        "net": nets(
            "same", "view", "nested", "residual", "repeated", "turned", "beside", "checkpointed", "boxed", "keyword", "in_place", "norm", "frozen", "old_grad", "shared_weight", "double", "hooked",
            whole=("nn.Sequential(nn.Sequential({}), nn.Tanh(), nn.Flatten(), nn.AdaptiveAvgPool1d(3))",),
        ),
        "number": st.integers(0, 9),
        "x": tensors(SHAPES, requires_grad=None),
        "targets": st.lists(st.integers(0, 2), min_size=3, max_size=3),
    }

    def probe(self, nb, case):
        net = case.drawn("net").eval()
        x, targets = fit(case.drawn("x"), net), torch.tensor(case.drawn("targets"))
        (layer,) = picked(net, [case.drawn("number")])
        heat = nb.function("grad_cam")(net, layer, x * 1, targets[: len(x)])
        return {"heat": heat, "afterwards": state(net), "hooks": [len(one._forward_hooks) for one in net.modules()]}

    def truth(self, case):
        net = case.drawn("net").eval()
        x, targets = fit(case.drawn("x"), net), torch.tensor(case.drawn("targets"))
        place = picked(net, [case.drawn("number")])[0]
        tried, kept = case.drawn("net").eval(), []
        tried.get_submodule(place).register_forward_hook(lambda module, args, output: kept.append((output, output._version)))
        try:
            tried(x.detach().requires_grad_().clone()).sum().backward()
        except (RuntimeError, AttributeError) as error:
            raise Beyond from error  # this net has no backward: something saved is overwritten; or this is no tensor
        if any(output._is_view() and output._version > version for output, version in kept):
            raise Beyond  # a tensor hook on a view is silent once the view is changed in place
        layer = net.get_submodule(place)
        before, hooks, forward, returned, added = state(net), [len(one._forward_hooks) for one in net.modules()], layer.forward, [], []

        def run(*args, **kwargs):
            output = forward(*args, **kwargs)
            given = [one.untyped_storage().data_ptr() for one in (*args, *kwargs.values())]
            if added or not isinstance(output, torch.Tensor) or output.dim() != 4 or output.untyped_storage().data_ptr() in given:
                raise Beyond
            returned.append(output.detach().clone())
            added.append(torch.zeros_like(output, requires_grad=True))  # its gradient is that of the output
            return output + added[0]

        layer.forward = run
        scores = net(x * 1)
        if not added:
            raise Beyond
        (gradient,) = torch.autograd.grad([scores[number, target] for number, target in enumerate(targets[: len(x)])], added)
        heat = torch.zeros(len(x), *returned[0].shape[2:], dtype=x.dtype)
        for picture in range(len(x)):
            for channel in range(returned[0].shape[1]):
                heat[picture] += gradient[picture, channel].mean() * returned[0][picture, channel]
        return {"heat": Close(heat.clamp(min=0), rtol=1e-4, atol=1e-6), "afterwards": before, "hooks": hooks}
