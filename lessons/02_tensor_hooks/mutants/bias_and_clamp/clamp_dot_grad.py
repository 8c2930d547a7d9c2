# misconception: a post-accumulate hook | hint: post_accumulate_on_non_leaf
def freeze_bias(net):
    net.fc.bias.register_hook(lambda grad: torch.zeros_like(grad))


def clamp_downstream(tensor):
    tensor.register_post_accumulate_grad_hook(lambda t: t.grad.clamp_(min=0))
