# %% generator_and_exit_stack
def tensors_in(place, value):
    if torch.is_tensor(value):
        yield place, value.detach().clone()
    elif isinstance(value, (list, tuple, dict)):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        for key, part in pairs:
            yield from tensors_in(f"{place}.{key}", part)


def every_tensor(model, layers, x):
    found = {}
    with ExitStack() as stack:
        for name in layers:

            def hook(module, args, output, name=name):
                found.update(tensors_in(name, output))

            stack.enter_context(model.get_submodule(name).register_forward_hook(hook))
        model(x)
    return found

# %% torch_pytree
from torch.utils._pytree import tree_flatten_with_path


def every_tensor(model, layers, x):
    found = {}

    def key_of(entry):
        return str(getattr(entry, "idx", getattr(entry, "key", getattr(entry, "name", ""))))

    def make_hook(name):
        def hook(module, args, output):
            for path, leaf in tree_flatten_with_path(output)[0]:
                if isinstance(leaf, torch.Tensor):
                    found[".".join([name, *map(key_of, path)])] = leaf.detach().clone()

        return hook

    handles = [model.get_submodule(name).register_forward_hook(make_hook(name)) for name in layers]
    try:
        with torch.no_grad():
            model(x)
    finally:
        for handle in handles:
            handle.remove()
    return found

# %% fields_of_a_named_tuple
def every_tensor(model, layers, x):
    found, handles = {}, []

    def put(place, output):
        if isinstance(output, torch.Tensor):
            found[place] = output.detach().clone()
        elif hasattr(output, "_asdict"):
            put(place, output._asdict())
        elif isinstance(output, dict):
            for key, part in output.items():
                put(f"{place}.{key}", part)
        elif isinstance(output, (tuple, list)):
            for index, part in enumerate(output):
                put(f"{place}.{index}", part)

    for name in layers:
        hook = lambda module, args, output, name=name: put(name, output)
        handles.append(model.get_submodule(name).register_forward_hook(hook))
    model(x)
    for handle in handles:
        handle.remove()
    return found

# %% in_eval_mode_each_put_back
def every_tensor(model, layers, x):
    found = {}

    def put(place, output):
        if isinstance(output, torch.Tensor):
            found[place] = output.clone()
        elif isinstance(output, (tuple, list, dict)):
            for key, part in output.items() if isinstance(output, dict) else enumerate(output):
                put(f"{place}.{key}", part)

    with torch.no_grad(), ExitStack() as stack:
        for module in model.modules():
            stack.callback(setattr, module, "training", module.training)
        for name in layers:
            hook = partial(lambda name, module, args, output: put(name, output), name)
            stack.enter_context(model.get_submodule(name).register_forward_hook(hook))
        model.eval()(x)
    return found
