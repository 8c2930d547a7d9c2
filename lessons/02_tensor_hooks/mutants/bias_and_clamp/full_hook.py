# misconception: a full backward hook that zeroes grad_input | hint: hooks_too_much
def freeze_bias(net):
    def hook(module, grad_input, grad_output):
        return tuple(torch.zeros_like(grad) for grad in grad_input)

    net.fc.register_full_backward_hook(hook)
    net.fc.bias.register_hook(torch.zeros_like)


def clamp_downstream(tensor):
    tensor.register_hook(lambda grad: grad.clamp(min=0))
