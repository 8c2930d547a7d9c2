# misconception: masks by the sign of the value | hint: hook_without_effect
def freeze_bias(net):
    net.fc.bias.register_hook(lambda grad: torch.zeros_like(grad))


def clamp_downstream(tensor):
    tensor.register_hook(lambda grad: grad * (tensor > 0))
