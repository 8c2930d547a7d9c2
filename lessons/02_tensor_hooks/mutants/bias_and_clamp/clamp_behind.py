# misconception: a hook on grad_fn: after the operation | hint: clamps_behind_the_operation
def freeze_bias(net):
    net.fc.bias.register_hook(lambda grad: torch.zeros_like(grad))


def clamp_downstream(tensor):
    def hook(grad_inputs, grad_outputs):
        return tuple(grad if grad is None else grad.clamp(min=0) for grad in grad_inputs)

    tensor.grad_fn.register_hook(hook)
