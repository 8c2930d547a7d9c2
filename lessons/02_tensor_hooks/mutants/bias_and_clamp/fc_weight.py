# misconception: the weight of fc | hint: wrong_tensor
def freeze_bias(net):
    net.fc.weight.register_hook(torch.zeros_like)


def clamp_downstream(tensor):
    tensor.register_hook(lambda grad: grad.clamp(min=0))
