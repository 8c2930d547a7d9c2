def freeze_bias(net):
    net.get_parameter("fc.bias").register_hook(lambda grad: 0 * grad)


def clamp_downstream(tensor):
    tensor.register_hook(F.relu)
