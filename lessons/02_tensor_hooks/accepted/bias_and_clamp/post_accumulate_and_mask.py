def freeze_bias(net):
    def hook(parameter):
        parameter.grad = torch.zeros_like(parameter)

    net.fc.bias.register_post_accumulate_grad_hook(hook)


def clamp_downstream(tensor):
    tensor.register_hook(lambda grad: grad * (grad > 0))
