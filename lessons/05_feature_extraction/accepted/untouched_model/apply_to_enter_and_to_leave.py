@contextmanager
def looking_at(model, hooks):
    training = {}
    handles = []

    def enter(module):
        training[module] = module.training
        module.training = False

    def leave(module):
        module.training = training.pop(module, module.training)

    model.apply(enter)
    for name, hook in hooks.items():
        module = model
        for part in name.split("."):
            module = getattr(module, part)
        handles.append(module.register_forward_hook(hook, prepend=True))
    recording = torch.is_grad_enabled()
    torch.set_grad_enabled(False)
    try:
        yield
    finally:
        torch.set_grad_enabled(recording)
        model.apply(leave)
        while handles:
            handles.pop().remove()
