# %% accumulate_grad_nodes
class OptimizerInBackward:
    """Hooks on the nodes that fill .grad, as people wrote before there were post-accumulate hooks."""

    def __init__(self, model, make_optimizer):
        self.todo = {p: make_optimizer([p]) for p in model.parameters() if p.requires_grad}

    def __enter__(self):
        self.nodes, self.handles = [], []
        for p, optimizer in self.todo.items():
            node = p.expand_as(p).grad_fn.next_functions[0][0]
            self.nodes.append(node)  # the hook lives as long as the node
            self.handles.append(node.register_hook(partial(self.step, p, optimizer)))
        return self

    def step(self, p, optimizer, *gradients):
        optimizer.step()
        p.grad = None

    def __exit__(self, *error):
        for handle in self.handles:
            handle.remove()
        del self.nodes

# %% exit_stack
from contextlib import ExitStack


def make_hook(optimizer):
    def hook(parameter):
        optimizer.step()
        del parameter.grad

    return hook


class OptimizerInBackward(ExitStack):
    def __init__(self, model, make_optimizer):
        super().__init__()
        self.pairs = [(p, make_optimizer([p])) for _, p in model.named_parameters() if p.requires_grad]

    def __enter__(self):
        for parameter, optimizer in self.pairs:
            self.enter_context(parameter.register_post_accumulate_grad_hook(make_hook(optimizer)))
        return super().__enter__()

# %% generator_with_finally
@contextmanager
def OptimizerInBackward(model, make_optimizer):
    handles = []
    try:
        for p in model.parameters():
            if not p.requires_grad:
                continue
            optimizer = make_optimizer([p])

            def hook(param, optimizer=optimizer):
                optimizer.step()
                param.grad = None

            handles.append(p.register_post_accumulate_grad_hook(hook))
        yield handles
    finally:
        for h in handles:
            h.remove()

# %% one_optimizer_for_all
class OptimizerInBackward:
    """One optimizer skips parameters without a gradient, and at each moment only one parameter has one."""

    def __init__(self, model, make_optimizer):
        self.parameters = list(model.parameters())
        self.optimizer = make_optimizer(self.parameters)

    def __enter__(self):
        def hook(parameter):
            self.optimizer.step()
            self.optimizer.zero_grad(set_to_none=True)

        self.handles = [p.register_post_accumulate_grad_hook(hook) for p in self.parameters if p.requires_grad]
        return self

    def __exit__(self, *error):
        while self.handles:
            self.handles.pop().remove()

# %% registered_once_per_module_that_has_it
class OptimizerInBackward:
    """A shared weight gets two hooks; the second one finds no gradient any more and does nothing."""

    def __init__(self, model, make_optimizer):
        self.model, self.make_optimizer = model, make_optimizer

    def __enter__(self):
        self.handles = []
        optimizers = {}
        for module in self.model.modules():
            for name, p in module.named_parameters(recurse=False):
                if p.requires_grad:
                    optimizers.setdefault(p, self.make_optimizer([p]))
                    self.handles.append(p.register_post_accumulate_grad_hook(partial(self.update, optimizers)))
        return self

    @staticmethod
    def update(optimizers, p):
        if p.grad is not None:
            optimizers[p].step()
            p.grad = None

    def __exit__(self, *_):
        for handle in self.handles:
            handle.remove()

# %% step_hook_frees
class OptimizerInBackward:
    """The optimizer releases the gradient itself, in a hook of its own that runs after each step."""

    def __init__(self, model, make_optimizer):
        self.model = model
        self.make_optimizer = make_optimizer
        self.handles = []

    def __enter__(self):
        seen = set()
        for module in self.model.modules():
            for parameter in module.parameters(recurse=False):
                if parameter.requires_grad and parameter not in seen:
                    seen.add(parameter)
                    optimizer = self.make_optimizer([parameter])
                    optimizer.register_step_post_hook(lambda opt, args, kwargs: opt.zero_grad())
                    self.handles.append(
                        parameter.register_post_accumulate_grad_hook(lambda _, optimizer=optimizer: self.step(optimizer))
                    )
        return self

    def step(self, optimizer):
        optimizer.step()

    def __exit__(self, *error):
        for handle in self.handles:
            handle.remove()
        self.handles.clear()
