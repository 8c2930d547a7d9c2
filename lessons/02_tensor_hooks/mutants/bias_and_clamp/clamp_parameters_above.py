# misconception: hooks what is above, by hand | hint: clamps_too_late
def freeze_bias(net):
    net.fc.bias.register_hook(lambda grad: torch.zeros_like(grad))


def clamp_downstream(tensor):
    node = tensor.grad_fn.next_functions[0][0]
    for leaf, _ in node.next_functions:
        if leaf is not None:
            leaf.variable.register_hook(lambda grad: grad.clamp(min=0))
