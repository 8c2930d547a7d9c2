# misconception: returns the number 0 | hint: hook_returns_no_tensor
def freeze_bias(net):
    net.fc.bias.register_hook(lambda grad: 0)


def clamp_downstream(tensor):
    tensor.register_hook(lambda grad: grad.clamp(min=0))
