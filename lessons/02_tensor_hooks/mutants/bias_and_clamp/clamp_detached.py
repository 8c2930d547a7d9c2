# misconception: hooks a detached tensor | hint: no_gradient_needed
def freeze_bias(net):
    net.fc.bias.register_hook(lambda grad: torch.zeros_like(grad))


def clamp_downstream(tensor):
    tensor.detach().register_hook(lambda grad: grad.clamp(min=0))
