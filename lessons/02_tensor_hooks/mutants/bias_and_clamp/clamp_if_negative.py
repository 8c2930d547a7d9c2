# misconception: asks a tensor a yes-or-no question | hint: truth_of_tensor
def freeze_bias(net):
    net.fc.bias.register_hook(lambda grad: torch.zeros_like(grad))


def clamp_downstream(tensor):
    def hook(grad):
        if grad < 0:
            return grad * 0
        return grad

    tensor.register_hook(hook)
