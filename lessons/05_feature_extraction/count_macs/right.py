# %% formula_by_class
def count_macs(model, x):
    total = 0

    def linear_hook(module, args, output):
        nonlocal total
        total += output.numel() * module.in_features

    def conv_hook(module, args, output):
        nonlocal total
        height, width = module.kernel_size
        total += output.numel() * module.in_channels // module.groups * height * width

    with ExitStack() as stack:
        for module in model.modules():
            if isinstance(module, nn.Linear):
                stack.enter_context(module.register_forward_hook(linear_hook))
            elif isinstance(module, nn.Conv2d):
                stack.enter_context(module.register_forward_hook(conv_hook))
        with torch.no_grad():
            model(x)
    return total

# %% hook_for_all_modules
def count_macs(model, x):
    counts = [0]

    def hook(module, args, output):
        if isinstance(module, nn.Linear):
            counts.append(args[0].numel() * module.out_features)
        elif isinstance(module, nn.Conv2d):
            counts.append(output[:, 0].numel() * module.weight.numel())

    with nn.modules.module.register_module_forward_hook(hook):
        model(x)
    return int(torch.tensor(counts).sum())

# %% numpy_products
import numpy as np


def count_macs(model, x):
    counts, handles = [], []

    def count(module, args, output):
        counts.append(np.prod(output.shape) * np.prod(module.weight.shape[1:]))

    try:
        for module in model.modules():
            if isinstance(module, (nn.Linear, nn.Conv2d)):
                handles.append(module.register_forward_hook(count))
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return np.sum(counts)

# %% exit_stack
def count_macs(model, x):
    total = 0

    def count(module, args, output):
        nonlocal total
        total += output.numel() * (module.weight.numel() // len(module.weight))

    with ExitStack() as stack:
        for module in model.modules():
            if isinstance(module, (nn.Linear, nn.Conv2d)):
                stack.enter_context(module.register_forward_hook(count))
        model(x)
    return total

# %% a_guest_in_eval_mode
def count_macs(model, x):
    counts = []
    modes = [(module, module.training) for module in model.modules()]

    def count(module, args, output):
        counts.append(output.numel() * module.weight[0].numel())

    with ExitStack() as stack:
        for module, training in modes:
            stack.callback(setattr, module, "training", training)
            if isinstance(module, (nn.Linear, nn.Conv2d)):
                stack.enter_context(module.register_forward_hook(count))
        model.eval()
        with torch.no_grad():
            model(x)
    return sum(counts)
