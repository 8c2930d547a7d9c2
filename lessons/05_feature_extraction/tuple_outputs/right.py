# %% copied_first_flattened_later
def copied(output):
    if isinstance(output, torch.Tensor):
        return output.detach().clone()
    if isinstance(output, dict):
        return {key: copied(part) for key, part in output.items()}
    if isinstance(output, (tuple, list)):
        return dict(enumerate(map(copied, output)))
    return None


def flat(tree, prefix):
    if isinstance(tree, dict):
        pieces = [flat(part, f"{prefix}.{key}") for key, part in tree.items()]
        return {key: value for piece in pieces for key, value in piece.items()}
    return {} if tree is None else {prefix: tree}


def every_tensor(model, layers, x):
    outputs = {}
    handles = [
        model.get_submodule(name).register_forward_hook(lambda m, a, o, name=name: outputs.update({name: copied(o)}))
        for name in layers
    ]
    try:
        model(x)
    finally:
        [handle.remove() for handle in handles]
    result = {}
    for name, output in outputs.items():
        result.update(flat(output, name))
    return result


tensors = every_tensor(nn.Sequential(nn.LSTM(4, 3)), ["0"], torch.ones(5, 2, 4)) or {}
print({place: tuple(tensor.shape) for place, tensor in tensors.items()})

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


tensors = every_tensor(nn.Sequential(nn.LSTM(4, 3)), ["0"], torch.ones(5, 2, 4)) or {}
print({place: tuple(tensor.shape) for place, tensor in tensors.items()})

# %% stack_instead_of_recursion
def every_tensor(model, layers, x):
    raw, handles = {}, []

    def open_up(name, module, args, output):
        todo = [(name, output)]
        while todo:
            place, value = todo.pop()
            if isinstance(value, torch.Tensor):
                raw[place] = value.clone().detach()
            elif isinstance(value, dict):
                todo += [(place + "." + str(key), part) for key, part in value.items()]
            elif isinstance(value, (tuple, list)):
                todo += [(place + "." + str(i), part) for i, part in enumerate(value)]

    for name in layers:
        handles.append(model.get_submodule(name).register_forward_hook(partial(open_up, name)))
    try:
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return raw


tensors = every_tensor(nn.Sequential(nn.LSTM(4, 3)), ["0"], torch.ones(5, 2, 4)) or {}
print({place: tuple(tensor.shape) for place, tensor in tensors.items()})

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


tensors = every_tensor(nn.Sequential(nn.LSTM(4, 3)), ["0"], torch.ones(5, 2, 4)) or {}
print({place: tuple(tensor.shape) for place, tensor in tensors.items()})

# %% tries_and_sees
class Opener:
    def __init__(self):
        self.tensors = {}

    def __call__(self, name, module, inputs, output):
        self.open(output, [name])

    def open(self, value, path):
        if hasattr(value, "detach"):
            self.tensors[".".join(path)] = value.detach().clone()
        elif hasattr(value, "items"):
            [self.open(part, [*path, str(key)]) for key, part in value.items()]
        elif isinstance(value, (tuple, list)):
            [self.open(part, [*path, str(i)]) for i, part in enumerate(value)]


def every_tensor(model, layers, x):
    opener, handles = Opener(), []
    modules = dict(model.named_modules())
    try:
        for name in layers:
            handles.append(modules[name].register_forward_hook(partial(opener, name)))
        model(x)
    finally:
        while handles:
            handles.pop().remove()
    return opener.tensors


tensors = every_tensor(nn.Sequential(nn.LSTM(4, 3)), ["0"], torch.ones(5, 2, 4)) or {}
print({place: tuple(tensor.shape) for place, tensor in tensors.items()})

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

# %% paths_of_pytree
from torch.utils import _pytree as pytree


def every_tensor(model, layers, x):
    found = {}

    def keep(name, module, args, output):
        for path, leaf in pytree.tree_flatten_with_path(output)[0]:
            if isinstance(leaf, torch.Tensor):
                steps = [str(getattr(key, "idx", getattr(key, "key", getattr(key, "name", None)))) for key in path]
                found[".".join([name, *steps])] = leaf.detach().clone()

    with ExitStack() as stack:
        for name in layers:
            stack.enter_context(model.get_submodule(name).register_forward_hook(partial(keep, name)))
        model(x)
    return found
