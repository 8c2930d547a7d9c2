# misconception: switches the gradient off | hint: no_grad_is_not_zero
def freeze_bias(net):
    net.fc.bias.requires_grad_(False)


def clamp_downstream(tensor):
    tensor.register_hook(lambda grad: grad.clamp(min=0))
