# misconception: max for min | hint: wrong_sign
def freeze_bias(net):
    net.fc.bias.register_hook(lambda grad: torch.zeros_like(grad))


def clamp_downstream(tensor):
    tensor.register_hook(lambda grad: grad.clamp(max=0))
