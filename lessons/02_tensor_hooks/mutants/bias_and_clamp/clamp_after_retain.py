# misconception: retain_grad, then edits .grad | hint: reads_grad_early
def freeze_bias(net):
    net.fc.bias.register_hook(lambda grad: torch.zeros_like(grad))


def clamp_downstream(tensor):
    tensor.retain_grad()
    tensor.register_hook(lambda grad: tensor.grad.clamp_(min=0))
