# misconception: from 0 to 1 | hint: clamps_both_ends
def freeze_bias(net):
    net.fc.bias.register_hook(lambda grad: torch.zeros_like(grad))


def clamp_downstream(tensor):
    tensor.register_hook(lambda grad: grad.clamp(0, 1))
