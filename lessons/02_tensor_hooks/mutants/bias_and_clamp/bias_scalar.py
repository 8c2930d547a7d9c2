# misconception: returns a scalar tensor | hint: hook_changes_shape
def freeze_bias(net):
    net.fc.bias.register_hook(lambda grad: torch.tensor(0.0))


def clamp_downstream(tensor):
    tensor.register_hook(lambda grad: grad.clamp(min=0))
