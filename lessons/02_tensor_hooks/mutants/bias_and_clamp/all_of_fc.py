# misconception: every parameter of fc | hint: hooks_too_much
def freeze_bias(net):
    for parameter in net.fc.parameters():
        parameter.register_hook(torch.zeros_like)


def clamp_downstream(tensor):
    tensor.register_hook(lambda grad: grad.clamp(min=0))
