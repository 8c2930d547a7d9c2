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
