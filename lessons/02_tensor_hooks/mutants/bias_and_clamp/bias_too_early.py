# misconception: writes .grad before backward | hint: no_hook_on_it
def freeze_bias(net):
    if net.fc.bias.grad is not None:
        net.fc.bias.grad.zero_()


def clamp_downstream(tensor):
    tensor.register_hook(lambda grad: grad.clamp(min=0))
