# %% default_arguments
def event_log(model):
    log = []
    for name, module in model.named_modules():
        module.register_forward_pre_hook(lambda m, a, name=name: log.append(("forward_pre", name)))
        module.register_forward_hook(lambda m, a, o, name=name: log.append(("forward", name)))
        module.register_full_backward_pre_hook(lambda m, go, name=name: log.append(("backward_pre", name)))
        module.register_full_backward_hook(lambda m, gi, go, name=name: log.append(("backward", name)))
    return log

# %% factory
def make_hook(log, kind, name):
    def hook(*arguments):
        log.append((kind, name))

    return hook


def event_log(model):
    log = []
    for name, module in model.named_modules():
        module.register_forward_pre_hook(make_hook(log, "forward_pre", name))
        module.register_forward_hook(make_hook(log, "forward", name))
        module.register_full_backward_pre_hook(make_hook(log, "backward_pre", name))
        module.register_full_backward_hook(make_hook(log, "backward", name))
    return log

# %% names_by_module
def event_log(model):
    log = []
    names = {module: name for name, module in model.named_modules()}

    def forward_pre(module, args):
        log.append(("forward_pre", names[module]))

    def forward(module, args, output):
        log.append(("forward", names[module]))

    def backward_pre(module, grad_output):
        log.append(("backward_pre", names[module]))

    def backward(module, grad_input, grad_output):
        log.append(("backward", names[module]))

    def register(module):
        module.register_forward_pre_hook(forward_pre)
        module.register_forward_hook(forward)
        module.register_full_backward_pre_hook(backward_pre)
        module.register_full_backward_hook(backward)

    for module in model.modules():
        register(module)
    return log

# %% own_walk_with_memory
def event_log(model):
    log, seen = [], set()

    def visit(module, name):
        if module in seen:
            return
        seen.add(module)
        for kind, register in (
            ("forward_pre", module.register_forward_pre_hook),
            ("forward", module.register_forward_hook),
            ("backward_pre", module.register_full_backward_pre_hook),
            ("backward", module.register_full_backward_hook),
        ):
            register(partial(lambda kind, name, *rest: log.append((kind, name)), kind, name))
        for child_name, child in module.named_children():
            visit(child, f"{name}.{child_name}" if name else child_name)

    visit(model, "")
    return log

# %% recorder_class
class Recorder:
    def __init__(self, log, name):
        self.log, self.name = log, name

    def attach(self, module):
        self.handles = [
            module.register_forward_pre_hook(self.forward_pre),
            module.register_forward_hook(self.forward),
            module.register_full_backward_pre_hook(self.backward_pre),
            module.register_full_backward_hook(self.backward),
        ]

    def forward_pre(self, module, args):
        self.log.append(["forward_pre", self.name])

    def forward(self, module, args, output):
        self.log.append(["forward", self.name])

    def backward_pre(self, module, grad_output):
        self.log.append(["backward_pre", self.name])

    def backward(self, module, grad_input, grad_output):
        self.log.append(["backward", self.name])


def event_log(model):
    log = []
    for name, module in model.named_modules():
        Recorder(log, name).attach(module)
    return log

# %% table_of_methods
KINDS = {
    "forward_pre": "register_forward_pre_hook",
    "forward": "register_forward_hook",
    "backward_pre": "register_full_backward_pre_hook",
    "backward": "register_full_backward_hook",
}


def event_log(model):
    log = []
    for name, module in model.named_modules():
        for kind, method in KINDS.items():
            getattr(module, method)(lambda *_, entry=(kind, name): log.append(entry))
    return log

# %% apply_with_memory
def event_log(model):
    log, done = [], set()
    names = {module: name for name, module in model.named_modules()}

    def add_hooks(module):
        if module in done:
            return
        done.add(module)
        name = names[module]
        module.register_forward_pre_hook(lambda *args: log.append(("forward_pre", name)))
        module.register_forward_hook(lambda *args: log.append(("forward", name)))
        module.register_full_backward_pre_hook(lambda *args: log.append(("backward_pre", name)))
        module.register_full_backward_hook(lambda *args: log.append(("backward", name)))

    model.apply(add_hooks)
    return log
