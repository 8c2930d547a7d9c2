# %% by_name
def freeze_bias(net):
    for name, param in net.named_parameters():
        if "fc" in name and "bias" in name:
            param.register_hook(lambda grad: torch.zeros(grad.shape))
    return net


def clamp_downstream(tensor):
    tensor.register_hook(lambda grad: torch.clamp(grad, min=0))
    tensor.register_hook(lambda grad: print("any grad < 0?", bool((grad < 0).any())))
    return tensor

# %% in_place
def freeze_bias(net):
    return net.fc.bias.register_hook(lambda grad: grad.zero_())


def clamp_downstream(tensor):
    return tensor.register_hook(lambda grad: grad.clip(0))

# %% inner_functions
def freeze_bias(net):
    def nothing(grad):
        new = grad.clone()
        new[:] = 0
        return new

    net.fc.bias.register_hook(nothing)


def clamp_downstream(tensor):
    def no_negative(grad):
        return torch.where(grad < 0, torch.zeros_like(grad), grad)

    tensor.register_hook(no_negative)

# %% node_prehook
def freeze_bias(net):
    net.fc.bias.register_hook(partial(torch.mul, other=0))


def clamp_downstream(tensor):
    number = tensor.output_nr

    def prehook(grad_outputs):
        clamped = list(grad_outputs)
        if clamped[number] is not None:
            clamped[number] = clamped[number].clamp(min=0)
        return tuple(clamped)

    tensor.grad_fn.register_prehook(prehook)

# %% post_accumulate_and_mask
def freeze_bias(net):
    def hook(parameter):
        parameter.grad = torch.zeros_like(parameter)

    net.fc.bias.register_post_accumulate_grad_hook(hook)


def clamp_downstream(tensor):
    tensor.register_hook(lambda grad: grad * (grad > 0))

# %% relu_and_product
def freeze_bias(net):
    net.get_parameter("fc.bias").register_hook(lambda grad: 0 * grad)


def clamp_downstream(tensor):
    tensor.register_hook(F.relu)
