import torch
from torch.overrides import TorchFunctionMode

from course.drawn import fit, listening, nets, tensors
from nbproof.authoring.explorer import Beyond, Exploration


def step(net, x):
    output = net(x.clone())
    return output.pow(2).sum()


def gradients(net, x, loss):
    if loss.requires_grad:
        loss.backward()
    return {"x": x.grad, **{name: one.grad for name, one in net.named_parameters()}}


class Saved(TorchFunctionMode):
    """What each operation's node in the graph has saved, as the node lists it, and in which module."""

    def __init__(self, net):
        super().__init__()
        self.names, self.running, self.nodes, self.by_layer = {one: name for name, one in net.named_modules()}, [""], set(), {}
        self.known = {one.untyped_storage().data_ptr() for one in net.parameters()}

    def __torch_function__(self, function, types, args=(), kwargs=None):
        found = function(*args, **kwargs or {})
        waiting = [found.grad_fn] if isinstance(found, torch.Tensor) else []
        while waiting:
            node = waiting.pop()
            if node is not None and node not in self.nodes:
                self.nodes.add(node)
                waiting += [one for one, _ in node.next_functions]
                values = [getattr(node, name) for name in dir(node) if name.startswith("_saved_")]
                if "CopySlices" in node.name():
                    raise Beyond  # it does not list what it has saved
                for value in values:
                    if isinstance(value, torch.Tensor) and value.untyped_storage().data_ptr() not in self.known:
                        self.known.add(value.untyped_storage().data_ptr())
                        self.by_layer[self.running[-1]] = self.by_layer.get(self.running[-1], 0) + value.untyped_storage().nbytes()
        return found


class AnyNet(Exploration):
    """The bytes are those of the storages that the graph holds, where they were saved first, and backward works, whatever the net."""

    draws = {
        "net": nets("same", "view", "nested", "residual", "repeated", "turned", "beside", "boxed", "keyword", "in_place", "norm", "frozen", "old_grad", "shared_layer", "shared_weight", "eval", "double", "bfloat16", "hooked"),
        "x": tensors(((1, 2), (3, 2), (2,)), requires_grad=None, views=True),
    }

    def probe(self, nb, case):
        net = case.drawn("net")
        x = fit(case.drawn("x").detach(), net).requires_grad_(case.drawn("x").requires_grad)
        with nb.function("ActivationMemory")(net) as memory:
            loss = step(net, x)
        by_layer = {name: size for name, size in memory.by_layer.items() if size}
        return {"bytes": memory.bytes, "by_layer": by_layer, "gradients": gradients(net, x, loss), "hooks": [len(one._forward_hooks) + len(one._forward_pre_hooks) for one in net.modules()]}

    def truth(self, case):
        net = case.drawn("net")
        x = fit(case.drawn("x").detach(), net).requires_grad_(case.drawn("x").requires_grad)
        hooks, saved = [len(one._forward_hooks) for one in net.modules()], Saved(net)
        with listening(lambda module, output: saved.running.pop(), lambda module: saved.running.append(saved.names[module])), saved:
            loss = step(net, x)
        try:
            wanted = gradients(net, x, loss)
        except RuntimeError as error:
            raise Beyond from error  # something saved was overwritten: this net has no backward
        return {"bytes": sum(saved.by_layer.values()), "by_layer": saved.by_layer, "gradients": wanted, "hooks": hooks}
