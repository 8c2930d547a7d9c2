# misconception: a fixed shape | hint: shapes_do_not_fit
def freeze_bias(net):
    net.fc.bias.register_hook(lambda grad: torch.zeros_like(grad))


def clamp_downstream(tensor):
    tensor.register_hook(lambda grad: torch.maximum(grad, torch.zeros(1, 10, 4, 4)))
