# %% hooks_for_all_modules
predicted = ["enter"]
predicted += ["relu"]
for _ in range(2):
    predicted += ["mix", "relu"]


def record_calls(model, x):
    names = {id(module): name for name, module in model.named_modules() if name}
    calls = []

    def hook(module, args, output):
        if id(module) in names:
            calls.append((names[id(module)], output.detach().clone()))

    with nn.modules.module.register_module_forward_hook(hook):
        model(x)
    return calls

# %% names_by_module
predicted = "enter relu mix relu mix relu".split()


def record_calls(model, x):
    names = {module: name for name, module in model.named_modules()}
    del names[model]
    calls, handles = [], []
    for module in names:
        handles.append(module.register_forward_hook(lambda m, a, o: calls.append([names[m], o.detach().clone()])))
    try:
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return calls

# %% without_recording_with_kwargs
predicted = ["enter", "relu", "mix", "relu", "mix", "relu"]


class Recorder:
    def __init__(self):
        self.calls = []

    def hook(self, name):
        def keep(module, args, kwargs, output):
            self.calls.append((name, output.clone()))

        return keep


@torch.no_grad()
def record_calls(model, x):
    recorder = Recorder()
    layers = list(model.named_modules())[1:]
    handles = [layer.register_forward_hook(recorder.hook(name), with_kwargs=True) for name, layer in layers]
    try:
        model(x)
        return recorder.calls
    finally:
        [handle.remove() for handle in handles]

# %% wrong_guess_kept
predicted = ["enter", "relu", "mix", "relu"]
what_ran = ["enter", "relu", "mix", "relu", "mix", "relu"]


def record_calls(model, x):
    calls = []
    with ExitStack() as stack:
        for name, module in model.named_modules():
            if name:
                hook = lambda module, args, output, name=name: calls.append((name, output.detach().clone()))
                stack.enter_context(module.register_forward_hook(hook))
        model(x)
    return calls
