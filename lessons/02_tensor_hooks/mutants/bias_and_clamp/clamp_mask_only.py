# misconception: returns the mask as bool | hint: hook_changes_shape
def freeze_bias(net):
    net.fc.bias.register_hook(lambda grad: torch.zeros_like(grad))


def clamp_downstream(tensor):
    tensor.register_hook(lambda grad: grad > 0)
