def hook_once(model: nn.Module, hook) -> list:
    handles = []
    for name, module in model.named_modules():
        handle = module.register_forward_hook(hook)
        handles.append(handle)
    return handles
