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
