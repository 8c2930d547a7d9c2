# %% by_partial
def _add(where, grad):
    where.append(grad)


def watch_around(tensor: torch.Tensor, change) -> tuple:
    lists = {"before": [], "after": []}
    first = tensor.register_hook(partial(_add, lists["before"]))
    _ = change(tensor)
    second = tensor.register_hook(partial(_add, lists["after"]))
    return tuple(lists.values())


x = torch.tensor([1.0, -2.0, 3.0], requires_grad=True)
h = x * 2
before, after = watch_around(h, torch.relu_)
(h * 10).backward(torch.ones(3))
print("h:", h.tolist(), "  before:", before, "  after:", after)

# %% helper_twice
def watch(tensor):
    seen = []
    tensor.register_hook(lambda grad: seen.append(grad.detach().clone()))
    return seen


def watch_around(tensor, change):
    before = watch(tensor)
    change(tensor)
    return before, watch(tensor)


x = torch.tensor([1.0, -2.0, 3.0], requires_grad=True)
h = x * 2
before, after = watch_around(h, torch.relu_)
(h * 10).backward(torch.ones(3))
print("h:", h.tolist(), "  before:", before, "  after:", after)

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


x = torch.tensor([1.0, -2.0, 3.0], requires_grad=True)
h = x * 2
before, after = watch_around(h, torch.relu_)
(h * 10).backward(torch.ones(3))
print("h:", h.tolist(), "  before:", before, "  after:", after)

# %% multi_grad_hooks
def watch_around(tensor, change):
    before, after = [], []
    register = torch.autograd.graph.register_multi_grad_hook
    register([tensor], before.append, mode="any")
    change(tensor)
    register([tensor], after.append, mode="any")
    return before, after


x = torch.tensor([1.0, -2.0, 3.0], requires_grad=True)
h = x * 2
before, after = watch_around(h, torch.relu_)
(h * 10).backward(torch.ones(3))
print("h:", h.tolist(), "  before:", before, "  after:", after)

# %% node_prehooks
def watch_around(tensor, change):
    before, after = [], []
    number = tensor.output_nr
    tensor.grad_fn.register_prehook(lambda grads: before.append(grads[number]))
    change(tensor)
    tensor.grad_fn.register_prehook(lambda grads: after.append(grads[0]))
    return [before, after]


x = torch.tensor([1.0, -2.0, 3.0], requires_grad=True)
h = x * 2
before, after = watch_around(h, torch.relu_)
(h * 10).backward(torch.ones(3))
print("h:", h.tolist(), "  before:", before, "  after:", after)
