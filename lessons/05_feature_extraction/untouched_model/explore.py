import torch

from course.drawn import fit, nets, tensors
from nbproof.authoring.explorer import Exploration


def layers_of(net):
    return [name for name, one in net.named_modules() if name and not list(one.children())]


def modes(net):
    return {name: one.training for name, one in net.named_modules()}


class AnyNet(Exploration):
    """Inside, each hook is called, in eval mode and without gradients; afterwards all is as before, whatever the net."""

    draws = {
        "net": nets("same", "nested", "residual", "repeated", "turned", "beside", "checkpointed", "boxed", "keyword", "in_place", "norm", "frozen", "shared_layer", "part_eval", "eval", "hooked", "double"),
        "x": tensors(((1, 2), (2,))),
    }

    def probe(self, nb, case):
        net, called = case.drawn("net"), []
        hooks = {name: lambda module, args, output, name=name: called.append(name) for name in layers_of(net)}
        with nb.function("looking_at")(net, hooks):
            output = net(fit(case.drawn("x"), net))
            inside = [torch.is_grad_enabled(), any(modes(net).values())]
        before = len(called)
        net(fit(case.drawn("x"), net))
        return {"output": output, "called": called, "afterwards": len(called) - before, "inside": inside, "modes": modes(net), "gradients": torch.is_grad_enabled()}

    def truth(self, case):
        net, called = case.drawn("net"), []
        wanted = modes(net)
        for name in layers_of(net):
            one = net.get_submodule(name)
            one.forward = lambda x, name=name, forward=one.forward: (forward(x), called.append(name))[0]
        with torch.no_grad():
            output = net.eval()(fit(case.drawn("x"), net))
        return {"output": output, "called": called, "afterwards": 0, "inside": [False, False], "modes": wanted, "gradients": True}
