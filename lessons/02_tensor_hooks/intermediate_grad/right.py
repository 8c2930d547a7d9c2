# %% by_partial
def _store(where, grad):
    where.append(grad.clone())
    return grad


def watch_gradient(tensor):
    where = []
    tensor.register_hook(partial(_store, where))
    return where

# %% lambda_append
def watch_gradient(tensor):
    grads = list()
    tensor.register_hook(lambda g: grads.append(g.detach().clone()))
    return grads

# %% list_subclass
class Watched(list):
    def __call__(self, grad):
        print("seen", grad.shape)
        self.append(grad.clone())


def watch_gradient(tensor):
    watched = Watched()
    watched.handle = tensor.register_hook(watched)
    return watched

# %% node_prehook
def watch_gradient(tensor):
    seen = []
    number = tensor.output_nr

    def remember(grad_outputs):
        seen.append(grad_outputs[number].clone())

    tensor.grad_fn.register_prehook(remember)
    return seen

# %% nonlocal_plus
def watch_gradient(tensor):
    seen = []

    def hook(grad):
        nonlocal seen
        seen += [grad.clone()]

    tensor.register_hook(hook)
    return seen

# %% multi_grad_hook
def watch_gradient(tensor):
    seen = []
    torch.autograd.graph.register_multi_grad_hook([tensor], lambda grads: seen.extend(grad.clone() for grad in grads))
    return seen
