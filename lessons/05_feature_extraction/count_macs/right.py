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


print(count_macs(TinyResNet(), torch.ones(1, 3, 8, 8)))

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


print(count_macs(TinyResNet(), torch.ones(1, 3, 8, 8)))

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


print(count_macs(TinyResNet(), torch.ones(1, 3, 8, 8)))

# %% table_of_calls
def count_macs(model: nn.Module, x: torch.Tensor) -> int:
    table = []

    def note(name, module, args, kwargs, output):
        each = module.weight.flatten(1).shape[1]
        table.append((name, output.numel(), each))

    handles = []
    for name, module in model.named_modules():
        if isinstance(module, (nn.Linear, nn.Conv2d)):
            handles.append(module.register_forward_hook(partial(note, name), with_kwargs=True))
    try:
        model(x)
    finally:
        [h.remove() for h in handles]
    return sum(numbers * each for _, numbers, each in table)


print(count_macs(TinyResNet(), torch.ones(1, 3, 8, 8)))

# %% torch_counts
from torch.utils.flop_counter import FlopCounterMode


def count_macs(model, x):
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        model(x)
    return counter.get_total_flops() // 2


print(count_macs(TinyResNet(), torch.ones(1, 3, 8, 8)))

# %% weight_times_places
import math


class Counter:
    def __init__(self):
        self.macs = 0

    def __call__(self, module, args, output):
        if type(module) is nn.Conv2d:
            batch, _, *places = output.shape
            self.macs += module.weight.numel() * batch * math.prod(places)
        elif type(module) is nn.Linear:
            self.macs += module.weight.numel() * math.prod(output.shape[:-1])


def count_macs(model, x):
    counter = Counter()
    handles = [module.register_forward_hook(counter) for module in model.modules()]
    try:
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return counter.macs


print(count_macs(TinyResNet(), torch.ones(1, 3, 8, 8)))
