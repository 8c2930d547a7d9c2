# %% both_in_one_batch
def patch_activation(model, layer, clean, corrupted, channels=None):
    half = len(clean)

    def hook(module, args, output):
        output = output.clone()
        if channels is None:
            output[half:] = output[:half]
        else:
            output[half:, channels] = output[:half, channels]
        return output

    with model.get_submodule(layer).register_forward_hook(hook, prepend=True):
        return model(torch.cat([clean, corrupted]))[half:]


torch.manual_seed(0)
clean, corrupted = torch.randn(2, 1, 3, 8, 8)
model = TinyResNet().eval()
print(model(clean), model(corrupted), patch_activation(model, "bn1", clean, corrupted), sep="\n")

# %% class_with_context
class Patch:
    def __init__(self, module, value=None, channels=None):
        self.module, self.value, self.channels = module, value, channels

    def __enter__(self):
        self.handle = self.module.register_forward_hook(self)
        return self

    def __exit__(self, *error):
        self.handle.remove()

    def __call__(self, module, args, output):
        if self.value is None:
            self.value = output.detach().clone()
            return None
        if self.channels is None:
            return self.value
        return output.index_copy(1, torch.tensor(self.channels, dtype=torch.long), self.value[:, self.channels])


def patch_activation(model, layer, clean, corrupted, channels=None):
    module = model.get_submodule(layer)
    with Patch(module) as kept:
        model(clean)
    with Patch(module, kept.value, channels):
        return model(corrupted)


torch.manual_seed(0)
clean, corrupted = torch.randn(2, 1, 3, 8, 8)
model = TinyResNet().eval()
print(model(clean), model(corrupted), patch_activation(model, "bn1", clean, corrupted), sep="\n")

# %% mask_and_where
def patch_activation(model, layer, clean, corrupted, channels=None):
    module = model.get_submodule(layer)
    kept = {}
    handle = module.register_forward_hook(lambda m, a, o: kept.update(clean=o.detach().clone()))
    with torch.no_grad():
        model(clean)
    handle.remove()

    def swap(m, a, output):
        if channels is None:
            return kept["clean"]
        mask = torch.zeros(output.shape[1], dtype=torch.bool)
        mask[channels] = True
        mask = mask.reshape(1, -1, *[1] * (output.dim() - 2))
        return torch.where(mask, kept["clean"], output)

    handle = module.register_forward_hook(swap)
    try:
        return model(corrupted).detach()
    finally:
        handle.remove()


torch.manual_seed(0)
clean, corrupted = torch.randn(2, 1, 3, 8, 8)
model = TinyResNet().eval()
print(model(clean), model(corrupted), patch_activation(model, "bn1", clean, corrupted), sep="\n")

# %% one_hook_two_runs
def patch_activation(model, layer, clean, corrupted, channels=None):
    runs = []

    def hook(module, args, output):
        runs.append(output.clone())
        if len(runs) == 1:
            return None
        first, second = runs
        numbers = range(output.shape[1]) if channels is None else channels
        for number in numbers:
            second[:, number] = first[:, number]
        return second

    handle = dict(model.named_modules())[layer].register_forward_hook(hook)
    try:
        model(clean)
        return model(corrupted)
    finally:
        handle.remove()


torch.manual_seed(0)
clean, corrupted = torch.randn(2, 1, 3, 8, 8)
model = TinyResNet().eval()
print(model(clean), model(corrupted), patch_activation(model, "bn1", clean, corrupted), sep="\n")

# %% safe_features_first
def patch_activation(model, layer, clean, corrupted, channels=None):
    module, store = model.get_submodule(layer), []
    first = module.register_forward_hook(lambda m, a, o: store.append(o.clone()))
    model(clean)
    first.remove()
    (value,) = store

    def put(m, a, o):
        patched = o * 1
        patched[:, slice(None) if channels is None else channels] = value[:, slice(None) if channels is None else channels]
        return patched

    second = module.register_forward_hook(put)
    answer = model(corrupted)
    second.remove()
    return answer


torch.manual_seed(0)
clean, corrupted = torch.randn(2, 1, 3, 8, 8)
model = TinyResNet().eval()
print(model(clean), model(corrupted), patch_activation(model, "bn1", clean, corrupted), sep="\n")

# %% chooses_by_a_mask
def patch_activation(model, layer, clean, corrupted, channels=None):
    module, kept = model.get_submodule(layer), []

    def hook(m, args, output):
        if not kept:
            kept.append(output.detach().clone())
            return None
        if channels is None:
            return kept[0]
        mask = torch.zeros(output.shape[1], dtype=torch.bool)
        for channel in channels:
            mask[channel] = True
        return torch.where(mask.reshape(-1, *[1] * (output.dim() - 2)), kept[0], output)

    handle = module.register_forward_hook(hook)
    try:
        model(clean.clone())
        return model(corrupted.clone())
    finally:
        handle.remove()

# %% each_mode_put_back
def patch_activation(model, layer, clean, corrupted, channels=None):
    modes = {module: module.training for module in model.modules()}
    module, kept = model.get_submodule(layer), []

    def patch(module, args, output):
        numbers = range(output.shape[1]) if channels is None else channels
        return torch.stack([(kept[0] if i in numbers else output)[:, i] for i in range(output.shape[1])], dim=1)

    model.eval()
    try:
        with module.register_forward_hook(lambda module, args, output: kept.append(output.clone())):
            model(clean)
        with module.register_forward_hook(patch):
            return model(corrupted)
    finally:
        for one, mode in modes.items():
            one.training = mode
