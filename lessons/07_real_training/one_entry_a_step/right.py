# %% flag_while_forward
@contextmanager
def recorder(model, layers):
    history = {name: [] for name in layers}
    listening = False

    def begin(module, args):
        nonlocal listening
        listening = not ModuleTracker().is_bw

    def end(module, args, output):
        nonlocal listening
        listening = False

    def hook_for(name):
        def hook(module, args, output):
            if listening:
                history[name].append(output.detach().square().mean().item())

        return hook

    handles = [model.register_forward_pre_hook(begin), model.register_forward_hook(end, always_call=True)]
    for name in layers:
        handles.append(model.get_submodule(name).register_forward_hook(hook_for(name)))
    try:
        yield history
    finally:
        for handle in handles:
            handle.remove()

# %% asks_autograd
class recorder:
    """A backward has a number; outside of one, there is none."""

    def __init__(self, model, layers):
        self.model, self.layers = model, layers

    def __enter__(self):
        self.history = {name: [] for name in self.layers}
        self.handles = [
            self.model.get_submodule(name).register_forward_hook(partial(self.look, name)) for name in self.layers
        ]
        return self.history

    def look(self, name, module, args, output):
        if torch._C._current_graph_task_id() == -1:
            with torch.no_grad():
                self.history[name].append(float((output**2).mean()))

    def __exit__(self, *error):
        for handle in self.handles:
            handle.remove()

# %% hands_over_at_the_end_of_a_call
@contextmanager
def recorder(model, layers):
    history = {name: [] for name in layers}
    names = {model.get_submodule(name): name for name in layers}
    latest = {}

    def look(module, args, output):
        latest[names[module]] = output.detach().pow(2).mean().item()

    def call_ends(module, args, output):
        for name in layers if not ModuleTracker().is_bw else []:
            history[name].append(latest[name])

    handles = [module.register_forward_hook(look) for module in names] + [model.register_forward_hook(call_ends)]
    try:
        yield history
    finally:
        for h in handles:
            h.remove()

# %% counts_calls
@contextmanager
def recorder(model, layers):
    calls, history = 0, {}

    def count(module, args):
        nonlocal calls
        calls += not ModuleTracker().is_bw

    with ExitStack() as stack:
        stack.enter_context(model.register_forward_pre_hook(count))
        for name, module in model.named_modules():
            if name in layers:
                entries = history[name] = []

                def look(module, args, output, entries=entries):
                    if len(entries) != calls:
                        entries.append(torch.mean(output.detach() * output.detach()).item())

                stack.enter_context(module.register_forward_hook(look))
        yield history
