# misconception: the bias of conv | hint: wrong_tensor
def freeze_bias(net):
    net.conv.bias.register_hook(torch.zeros_like)


def clamp_downstream(tensor):
    tensor.register_hook(lambda grad: grad.clamp(min=0))
