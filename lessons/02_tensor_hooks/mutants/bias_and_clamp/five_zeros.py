# misconception: hard-coded five zeros | hint: hook_changes_shape
def freeze_bias(net):
    net.fc.bias.register_hook(lambda grad: torch.zeros(5))


def clamp_downstream(tensor):
    tensor.register_hook(lambda grad: grad.clamp(min=0))
