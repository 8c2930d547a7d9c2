# misconception: hooks the net of the notebook | hint: no_hook_on_it
net = TestNet()


def freeze_bias(_):
    net.fc.bias.register_hook(torch.zeros_like)


def clamp_downstream(tensor):
    tensor.register_hook(lambda grad: grad.clamp(min=0))
