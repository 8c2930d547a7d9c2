# misconception: tensor hooks on the module's outputs | hint: stop_hooks_the_tensor
def stop_in_front(module):
    def hook(module, grad_input, grad_output):
        return tuple(torch.zeros_like(grad) if torch.is_tensor(grad) else grad for grad in grad_input)

    return module.register_full_backward_hook(hook)


def stop_from_here(module):
    def meet_outputs(module, args, output):
        for one in output if isinstance(output, tuple) else (output,):
            if one.requires_grad and one.grad_fn is not None:
                one.register_hook(torch.zeros_like)

    return module.register_forward_hook(meet_outputs)
