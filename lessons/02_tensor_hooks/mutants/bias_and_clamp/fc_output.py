# misconception: the gradient of the output of fc | hint: hooks_too_much
def freeze_bias(net):
    def hook(module, args, output):
        output.register_hook(torch.zeros_like)

    net.fc.register_forward_hook(hook)


def clamp_downstream(tensor):
    tensor.register_hook(lambda grad: grad.clamp(min=0))
