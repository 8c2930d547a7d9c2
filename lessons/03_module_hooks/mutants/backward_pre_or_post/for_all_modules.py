# misconception: registers hooks for all modules | hint: global_hook
from torch.nn.modules.module import register_module_full_backward_hook, register_module_full_backward_pre_hook


def stop_in_front(module):
    def hook(module, grad_input, grad_output):
        return tuple(None if grad is None else torch.zeros_like(grad) for grad in grad_input)

    return register_module_full_backward_hook(hook)


def stop_from_here(module):
    def hook(module, grad_output):
        return tuple(None if grad is None else torch.zeros_like(grad) for grad in grad_output)

    return register_module_full_backward_pre_hook(hook)
