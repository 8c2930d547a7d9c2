# %% exit_stack
def safe_features(model, layers, x):
    features = {}
    with ExitStack() as stack:
        for name in layers:
            layer = model.get_submodule(name)
            stack.enter_context(
                layer.register_forward_hook(lambda m, a, o, name=name: features.update({name: o.detach().clone()}))
            )
        model(x)
    return features

# %% context_manager
@contextmanager
def recorded(model, layers, features):
    def keep(name, module, args, output):
        features[name] = output.data.clone()

    handles = []
    try:
        for name in layers:
            handles.append(model.get_submodule(name).register_forward_hook(partial(keep, name)))
        yield
    finally:
        for handle in handles:
            handle.remove()


def safe_features(model, layers, x):
    features = {}
    with recorded(model, layers, features):
        model(x)
    return features

# %% one_hook_for_all
def safe_features(model, layers, x):
    names = {model.get_submodule(name): name for name in layers}
    kept = []

    def hook(module, args, kwargs, output):
        kept.append((names[module], output.clone().detach()))

    handles = {module: module.register_forward_hook(hook, with_kwargs=True) for module in names}
    try:
        model(x)
    finally:
        while handles:
            handles.popitem()[1].remove()
    return dict(kept)

# %% without_recording
def safe_features(model, layers, x):
    found, handles = {}, []

    def make_hook(name):
        def hook(module, inputs, output):
            found[name] = output.clone()

        return hook

    modules = dict(model.named_modules())
    try:
        for name in layers:
            handles.append(modules[name].register_forward_hook(make_hook(name)))
        with torch.no_grad():
            model(x)
    finally:
        for h in handles:
            h.remove()
    return found
