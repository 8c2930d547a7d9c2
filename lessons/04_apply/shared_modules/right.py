# %% mark_taken_off_again
def hook_once(model, hook):
    handles = []

    def visit(module):
        if not hasattr(module, "_met"):
            module._met = True
            handles.append(module.register_forward_hook(hook))

    model.apply(visit)
    for module in model.modules():
        del module._met
    return handles

# %% named_modules_loop
def hook_once(model: nn.Module, hook) -> list:
    handles = []
    for name, module in model.named_modules():
        handle = module.register_forward_hook(hook)
        handles.append(handle)
    return handles

# %% over_modules
def hook_once(model, hook):
    return [module.register_forward_hook(hook) for module in model.modules()]


calls = []
branches = TwoBranches()
handles = hook_once(branches, lambda module, args, output: calls.append(type(module).__name__))
branches(torch.ones(1, 3))
print(calls)

# %% own_recursion
def hook_once(model, hook, seen=None):
    seen = set() if seen is None else seen
    if model in seen:
        return []
    seen.add(model)
    handles = [model.register_forward_hook(hook)]
    for child in model.children():
        handles += hook_once(child, hook, seen)
    return handles

# %% this_hook_not_there
def hook_once(model, hook):
    handles = []

    def register(module):
        if hook not in module._forward_hooks.values():
            handles.append(module.register_forward_hook(hook))

    model.apply(register)
    return handles

# %% wrapped_hook_tuple
def hook_once(model, hook):
    def forward_hook(module, args, output):
        return hook(module, args, output)

    return tuple(module.register_forward_hook(forward_hook, prepend=True) for module in model.modules())
