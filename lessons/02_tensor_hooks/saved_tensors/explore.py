import torch

from course.drawn import fit, nets, tensors
from nbproof.authoring.explorer import Beyond, Exploration


def gradients(net, x, output):
    if output.requires_grad:
        output.pow(2).sum().backward()
    return {"x": x.grad, **{name: one.grad for name, one in net.named_parameters()}}


def saved_in(output):
    """The tensors that the graph behind it has saved, as each operation lists them."""
    nodes, seen = [output.grad_fn], set()
    while nodes:
        node = nodes.pop()
        if node is not None and node not in seen:
            seen.add(node)
            try:
                values = [getattr(node, name) for name in dir(node) if name.startswith("_saved_")]
            except RuntimeError as error:  # overwritten: this net has no backward
                raise Beyond from error
            if "CopySlices" in node.name():
                raise Beyond  # it does not list what it has saved
            yield from (one for one in values if isinstance(one, torch.Tensor))
            nodes += [following for following, _ in node.next_functions]


class AnyNet(Exploration):
    """The bytes are those of the storages that the graph holds, and backward works as usual, whatever the net."""

    draws = {
        "net": nets("same", "view", "nested", "residual", "repeated", "turned", "beside", "boxed", "keyword", "in_place", "norm", "frozen", "old_grad", "shared_layer", "shared_weight", "eval", "double", "bfloat16", "hooked"),
        "x": tensors(((1, 2), (3, 2), (2,)), requires_grad=None, views=True),
    }

    def probe(self, nb, case):
        net = case.drawn("net")
        x = fit(case.drawn("x").detach(), net).requires_grad_(case.drawn("x").requires_grad)
        output, number = nb.function("saved_bytes")(net, x.clone())
        return {"output": output.detach().clone(), "bytes": number, "gradients": gradients(net, x, output)}

    def truth(self, case):
        net = case.drawn("net")
        x = fit(case.drawn("x").detach(), net).requires_grad_(case.drawn("x").requires_grad)
        output = net(x.clone())
        own = {one.untyped_storage().data_ptr() for one in net.parameters()}
        storages = {one.untyped_storage().data_ptr(): one.untyped_storage().nbytes() for one in saved_in(output)}
        number = sum(size for address, size in storages.items() if address not in own)
        return {"output": output.detach().clone(), "bytes": number, "gradients": gradients(net, x, output)}
