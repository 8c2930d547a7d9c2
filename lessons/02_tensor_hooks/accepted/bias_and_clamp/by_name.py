def freeze_bias(net):
    for name, param in net.named_parameters():
        if "fc" in name and "bias" in name:
            param.register_hook(lambda grad: torch.zeros(grad.shape))
    return net


def clamp_downstream(tensor):
    tensor.register_hook(lambda grad: torch.clamp(grad, min=0))
    tensor.register_hook(lambda grad: print("any grad < 0?", bool((grad < 0).any())))
    return tensor
