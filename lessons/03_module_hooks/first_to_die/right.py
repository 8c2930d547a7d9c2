# %% list_for_each_relu
def first_to_die(net, train):
    dead = {}

    def watch(name, module, args, output):
        dead.setdefault(name, []).append(bool((output == 0).all()))  # in the order in which they run

    handles = []
    for name, module in net.named_modules():
        if isinstance(module, nn.ReLU):
            handles.append(module.register_forward_hook(partial(watch, name)))
    train(net)
    for handle in handles:
        handle.remove()
    deaths = [(steps.index(True), name) for name, steps in dead.items() if True in steps]
    if not deaths:
        return None
    step, name = min(deaths, key=lambda death: death[0])
    return name, step

# %% closure_and_counter
def first_to_die(net, train):
    died = []

    def hook_for(name):
        step = 0

        def hook(module, args, output):
            nonlocal step
            if not output.any() and not died:
                died.append((name, step))
            step += 1

        return hook

    with contextlib.ExitStack() as hooks:
        for name, module in net.named_modules():
            if type(module) is nn.ReLU:
                hooks.enter_context(module.register_forward_hook(hook_for(name)))
        train(net)
    return died[0] if died else None

# %% counts_steps_on_the_net
def first_to_die(net, train):
    names = {module: name for name, module in net.named_modules() if isinstance(module, nn.ReLU)}
    steps, found = [], []

    def hook(module, args, output):
        if output.sum() == 0:
            found.append([names[module], len(steps) - 1])

    handles = [module.register_forward_hook(hook) for module in names]
    handles.append(net.register_forward_pre_hook(lambda module, args: steps.append(1)))
    try:
        train(net)
    finally:
        for handle in handles:
            handle.remove()
    if found:
        return found[0]

# %% object
class Coroner:
    def __init__(self, name, cases):
        self.name, self.cases, self.step = name, cases, -1

    def __call__(self, module, args, output):
        self.step += 1
        if torch.count_nonzero(output) == 0:
            self.cases.append((self.name, self.step))


def first_to_die(net, train):
    cases = []
    relus = [(name, module) for name, module in net.named_modules() if isinstance(module, nn.ReLU)]
    handles = [module.register_forward_hook(Coroner(name, cases)) for name, module in relus]
    train(net)
    [handle.remove() for handle in handles]
    return min(cases, key=lambda case: case[1], default=None)
