def freeze_bias(net):
    net.fc.bias.register_hook(partial(torch.mul, other=0))


def clamp_downstream(tensor):
    def prehook(grad_outputs):
        return tuple(grad if grad is None else grad.clamp(min=0) for grad in grad_outputs)

    tensor.grad_fn.register_prehook(prehook)
