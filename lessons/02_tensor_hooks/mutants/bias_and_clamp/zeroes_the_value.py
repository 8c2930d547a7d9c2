# misconception: sets the bias itself to 0 | hint: changes_parameters
def freeze_bias(net):
    net.fc.bias.data.zero_()


def clamp_downstream(tensor):
    tensor.register_hook(lambda grad: grad.clamp(min=0))
