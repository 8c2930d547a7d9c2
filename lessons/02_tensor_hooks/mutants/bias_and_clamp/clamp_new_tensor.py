# misconception: hooks a new tensor | hint: no_hook_on_it
def freeze_bias(net):
    net.fc.bias.register_hook(lambda grad: torch.zeros_like(grad))


def clamp_downstream(tensor):
    new = tensor.view_as(tensor)
    new.register_hook(lambda grad: grad.clamp(min=0))
    return new
