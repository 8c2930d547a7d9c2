# misconception: the hook returns nothing | hint: hook_without_effect
def freeze_bias(net):
    net.fc.bias.register_hook(lambda grad: torch.zeros_like(grad))


def clamp_downstream(tensor):
    def hook(grad):
        grad = grad.clamp(min=0)

    tensor.register_hook(hook)
