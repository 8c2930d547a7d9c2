# %% class_of_its_own
class Keeper:
    def __init__(self, model, layers):
        self.features = {}
        self.handles = [model.get_submodule(name).register_forward_hook(self.hook(name)) for name in layers]

    def hook(self, name):
        return lambda module, args, output: self.features.__setitem__(name, torch.tensor(output.tolist(), dtype=output.dtype))

    def __enter__(self):
        return self.features

    def __exit__(self, *error):
        for handle in self.handles:
            handle.remove()


def safe_features(model, layers, x):
    with Keeper(model, layers) as features:
        model(x)
    return features


features = safe_features(TinyResNet().eval(), ["bn1", "block.bn2", "fc"], torch.ones(1, 3, 8, 8))

# %% copy_constructed
import warnings


def safe_features(model, layers, x):
    features = dict()
    layer_of = {name: model.get_submodule(name) for name in layers}

    def keep(module, args, output):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            features.update({name: torch.tensor(output) for name in layers if layer_of[name] is module})

    with ExitStack() as hooks:
        [hooks.enter_context(layer.register_forward_hook(keep)) for layer in layer_of.values()]
        model(x)
    return features


features = safe_features(TinyResNet().eval(), ["bn1", "block.bn2", "fc"], torch.ones(1, 3, 8, 8))

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


features = safe_features(TinyResNet().eval(), ["bn1", "block.bn2", "fc"], torch.ones(1, 3, 8, 8))

# %% hands_a_copy_on
@contextmanager
def recorded(model, layers, features):
    def keep(name, module, args, output):
        features[name] = output.data
        return output.clone()  # whatever is written later goes into the copy

    handles = [model.get_submodule(name).register_forward_hook(partial(keep, name)) for name in layers]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def safe_features(model, layers, x):
    features = {}
    with recorded(model, layers, features):
        model(x.clone())
    return {name: value.clone() for name, value in features.items()}


features = safe_features(TinyResNet().eval(), ["bn1", "block.bn2", "fc"], torch.ones(1, 3, 8, 8))

# %% hooks_on_every_layer
def safe_features(model: nn.Module, layers: list[str], x: torch.Tensor) -> dict[str, torch.Tensor]:
    kept: dict[str, torch.Tensor] = {}
    handles = []
    try:
        for name, module in model.named_modules():

            def hook(module, args, output, name=name):
                if name in layers:
                    kept[name] = torch.empty_like(output, requires_grad=False).copy_(output.detach())

            handles.append(module.register_forward_hook(hook, prepend=True))
        _ = model(x)
    finally:
        for handle in handles:
            handle.remove()
    return kept


features = safe_features(TinyResNet().eval(), ["bn1", "block.bn2", "fc"], torch.ones(1, 3, 8, 8))

# %% numpy_copy
def safe_features(model, layers, x):
    features = {}

    def hook_for(name):
        def hook(module, args, output):
            features[name] = torch.from_numpy(output.detach().numpy().copy())

        return hook

    hooks = [model.get_submodule(name).register_forward_hook(hook_for(name)) for name in layers]
    try:
        model(x)
    except BaseException:
        [hook.remove() for hook in hooks]
        raise
    [hook.remove() for hook in hooks]
    return features


features = safe_features(TinyResNet().eval(), ["bn1", "block.bn2", "fc"], torch.ones(1, 3, 8, 8))

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


features = safe_features(TinyResNet().eval(), ["bn1", "block.bn2", "fc"], torch.ones(1, 3, 8, 8))

# %% without_recording
def safe_features(model, layers, x):
    found, handles = {}, []

    def make_hook(name):
        def hook(module, inputs, output):
            found[name] = output.clone()

        return hook

    modules = dict(model.named_modules())
    for name in layers:
        handles.append(modules[name].register_forward_hook(make_hook(name)))
    try:
        with torch.no_grad():
            model(x)
    finally:
        for h in handles:
            h.remove()
    return found


features = safe_features(TinyResNet().eval(), ["bn1", "block.bn2", "fc"], torch.ones(1, 3, 8, 8))

# %% through_numpy
def safe_features(model, layers, x):
    found, handles = {}, []
    try:
        for name in layers:
            hook = lambda m, a, o, name=name: found.update({name: torch.from_numpy(o.detach().cpu().numpy().copy())})
            handles.append(model.get_submodule(name).register_forward_hook(hook))
        model(x)
    finally:
        while handles:
            handles.pop().remove()
    return found
