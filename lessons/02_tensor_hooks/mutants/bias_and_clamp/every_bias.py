# misconception: every bias | hint: hooks_too_much
def freeze_bias(net):
    for name, parameter in net.named_parameters():
        if "bias" in name:
            parameter.register_hook(torch.zeros_like)


def clamp_downstream(tensor):
    tensor.register_hook(lambda grad: grad.clamp(min=0))
