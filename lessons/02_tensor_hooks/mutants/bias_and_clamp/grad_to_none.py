# misconception: sets .grad to None | hint: no_grad_is_not_zero
def freeze_bias(net):
    def hook(parameter):
        parameter.grad = None

    net.fc.bias.register_post_accumulate_grad_hook(hook)


def clamp_downstream(tensor):
    tensor.register_hook(lambda grad: grad.clamp(min=0))
