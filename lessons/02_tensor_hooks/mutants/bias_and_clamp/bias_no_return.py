# misconception: the hook returns nothing | hint: hook_returns_nothing
def freeze_bias(net):
    net.fc.bias.register_hook(lambda grad: None)


def clamp_downstream(tensor):
    tensor.register_hook(lambda grad: grad.clamp(min=0))
