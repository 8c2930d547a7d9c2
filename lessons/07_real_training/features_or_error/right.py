# %% closures_and_finally
def features(model, layers, x):
    found, handles = {}, []

    def hook_for(name):
        def hook(module, args, output):
            found[name] = output

        return hook

    try:
        for name in layers:
            handles.append(model.get_submodule(name).register_forward_hook(hook_for(name)))
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    missing = set(layers) - set(found)
    if missing:
        raise RuntimeError(f"these hooks never ran: {sorted(missing)}")
    return found

# %% cloned_and_detached
def features(model, layers, x):
    names = {model.get_submodule(name): name for name in layers}
    found = dict.fromkeys(layers)

    def hook(module, args, output):
        found[names[module]] = output.detach().clone()

    handles = [module.register_forward_hook(hook) for module in names]
    try:
        with torch.no_grad():
            model(x)
    finally:
        [handle.remove() for handle in handles]
    silent = [name for name, output in found.items() if output is None]
    if silent:
        raise RuntimeError("no output of " + " and ".join(silent) + ": is the model compiled?")
    return found

# %% objects
class Ear:
    def __init__(self, name):
        self.name, self.heard = name, []

    def __call__(self, module, args, output):
        self.heard.append(output)


def features(model, layers, x):
    ears = [Ear(name) for name in layers]
    with ExitStack() as stack:
        for ear in ears:
            stack.enter_context(model.get_submodule(ear.name).register_forward_hook(ear))
        model(x)
        deaf = [ear.name for ear in ears if not ear.heard]
        if deaf:
            raise RuntimeError(f"heard {len(ears) - len(deaf)} of {len(ears)} layers, not {deaf}")
    return {ear.name: ear.heard[-1] for ear in ears}

# %% walks_over_the_model
def features(model, layers, x):
    found = {}
    handles = []
    for name, module in getattr(model, "_orig_mod", model).named_modules():
        if name in layers:
            def keep(module, args, output, name=name):
                found[name] = output
            handles.append(module.register_forward_hook(keep))
    try:
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    try:
        return {name: found[name] for name in layers}
    except KeyError:
        silent = ", ".join(name for name in layers if name not in found)
        raise RuntimeError("not heard: " + silent) from None
