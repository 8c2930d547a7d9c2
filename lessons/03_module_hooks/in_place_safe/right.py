# %% detached_copies
def output_gradients(layer):
    gradients = []

    def forward_hook(module, args, output):
        output = output.clone()
        if not output.requires_grad:
            return output
        output.register_hook(lambda grad: gradients.append(grad.detach().clone()))
        return output

    layer.register_forward_hook(forward_hook)
    return gradients

# %% hook_on_the_node
def output_gradients(layer):
    gradients = []

    def forward_hook(module, args, output):
        output = output.clone()
        if output.grad_fn is not None:
            output.grad_fn.register_prehook(lambda grad_outputs: gradients.append(grad_outputs[0]))
        return output

    layer.register_forward_hook(forward_hook)
    return gradients

# %% hands_a_copy_on
def hand_on(gradients, module, args, output):
    if output.requires_grad:
        output.register_hook(partial(list.append, gradients))
    return output.clone()


def output_gradients(layer):
    gradients = []
    layer.register_forward_hook(partial(hand_on, gradients))
    return gradients

# %% multi_grad_hook
def output_gradients(layer):
    gradients = []

    def forward_hook(module, args, output):
        output = output.clone()
        if output.requires_grad:
            torch.autograd.graph.register_multi_grad_hook((output,), lambda grads: gradients.append(grads[0]))
        return output

    layer.register_forward_hook(forward_hook)
    return gradients

# %% object
class GradientKeeper:
    def __init__(self):
        self.gradients = []

    def meet(self, module, args, output):
        if output.requires_grad:
            output.register_hook(self.keep)
            return output.clone()

    def keep(self, grad):
        self.gradients.append(grad)


def output_gradients(layer):
    keeper = GradientKeeper()
    layer.register_forward_hook(keeper.meet)
    return keeper.gradients

# %% autograd_function
class Tap(torch.autograd.Function):
    @staticmethod
    def forward(ctx, tensor, gradients):
        ctx.gradients = gradients
        return tensor.clone()

    @staticmethod
    def backward(ctx, grad):
        ctx.gradients.append(grad)
        return grad, None


def output_gradients(layer):
    gradients = []
    layer.register_forward_hook(lambda module, args, output: Tap.apply(output, gradients))
    return gradients
