# %% by_partial
def _add(where, grad):
    where.append(grad)


def watch_around(tensor: torch.Tensor, change) -> tuple:
    lists = {"before": [], "after": []}
    first = tensor.register_hook(partial(_add, lists["before"]))
    _ = change(tensor)
    second = tensor.register_hook(partial(_add, lists["after"]))
    return tuple(lists.values())

# %% helper_twice
def watch(tensor):
    seen = []
    tensor.register_hook(lambda grad: seen.append(grad.detach().clone()))
    return seen


def watch_around(tensor, change):
    before = watch(tensor)
    change(tensor)
    return before, watch(tensor)

# %% inner_functions
def watch_around(tensor, change):
    before = []
    after = []

    def keep_before(grad):
        before.append(grad.clone())

    def keep_after(grad):
        after.append(grad.clone())
        return grad

    tensor.register_hook(keep_before)
    change(tensor)
    tensor.register_hook(keep_after)
    return before, after

# %% multi_grad_hooks
def watch_around(tensor, change):
    before, after = [], []
    register = torch.autograd.graph.register_multi_grad_hook
    register([tensor], before.append, mode="any")
    change(tensor)
    register([tensor], after.append, mode="any")
    return before, after

# %% node_prehooks
def watch_around(tensor, change):
    before, after = [], []
    number = tensor.output_nr
    tensor.grad_fn.register_prehook(lambda grads: before.append(grads[number]))
    change(tensor)
    tensor.grad_fn.register_prehook(lambda grads: after.append(grads[0]))
    return [before, after]
