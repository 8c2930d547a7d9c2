class ZeroGradient(torch.autograd.Function):
    @staticmethod
    def forward(ctx, tensor):
        return tensor.view_as(tensor)

    @staticmethod
    def backward(ctx, grad):
        return torch.zeros_like(grad)


def stop_in_front(module):
    return module.register_forward_pre_hook(lambda module, args: tuple(ZeroGradient.apply(arg) for arg in args))


def stop_from_here(module):
    def hook(module, args, output):
        if isinstance(output, tuple):
            return tuple(ZeroGradient.apply(one) for one in output)
        return ZeroGradient.apply(output)

    return module.register_forward_hook(hook)
