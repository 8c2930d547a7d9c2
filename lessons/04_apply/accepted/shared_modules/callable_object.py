class Register:
    def __init__(self, hook):
        self.hook, self.handles, self.seen = hook, [], []

    def __call__(self, module):
        if any(module is one for one in self.seen):
            return
        self.seen.append(module)
        self.handles.append(module.register_forward_hook(self.hook))


def hook_once(model, hook):
    register = Register(hook)
    model.apply(register)
    return register.handles
