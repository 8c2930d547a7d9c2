class Look:
    def __init__(self):
        self.stack = ExitStack()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.stack.close()


def looking_at(model, hooks):
    look = Look()
    for module in model.modules():
        look.stack.callback(module.__dict__.update, training=module.training)
    for name, hook in hooks.items():
        look.stack.callback(model.get_submodule(name).register_forward_hook(hook).remove)
    model.eval()
    look.stack.enter_context(torch.no_grad())
    return look
