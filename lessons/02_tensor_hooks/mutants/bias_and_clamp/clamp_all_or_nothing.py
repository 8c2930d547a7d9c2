# misconception: drops everything | hint: all_or_nothing
def freeze_bias(net):
    net.fc.bias.register_hook(lambda grad: torch.zeros_like(grad))


def clamp_downstream(tensor):
    def hook(grad):
        if (grad < 0).any():
            return torch.zeros_like(grad)
        return grad

    tensor.register_hook(hook)
