# misconception: absolute value | hint: makes_it_positive
def freeze_bias(net):
    net.fc.bias.register_hook(lambda grad: torch.zeros_like(grad))


def clamp_downstream(tensor):
    tensor.register_hook(torch.abs)
