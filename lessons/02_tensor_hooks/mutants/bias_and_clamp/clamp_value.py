# misconception: changes the value | hint: changes_the_value
def freeze_bias(net):
    net.fc.bias.register_hook(lambda grad: torch.zeros_like(grad))


def clamp_downstream(tensor):
    tensor.data.clamp_(max=0.5)
