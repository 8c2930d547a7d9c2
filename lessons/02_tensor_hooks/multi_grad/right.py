# %% get_total_norm
class NormWatcher:
    def __init__(self):
        self.norms = []

    def __call__(self, grads):
        self.norms.append(nn.utils.get_total_norm([grad for grad in grads if grad is not None]))


def watch_norm(model):
    watcher = NormWatcher()
    torch.autograd.graph.register_multi_grad_hook([p for p in model.parameters() if p.requires_grad], watcher)
    return watcher.norms

# %% norm_of_norms
from torch.autograd.graph import register_multi_grad_hook


def watch_norm(model):
    norms = []
    parameters = [parameter for _, parameter in model.named_parameters() if parameter.requires_grad]

    def hook(grads):
        each = torch.stack([g.norm() for g in grads if g is not None])
        norms.append(each.norm().item())

    handle = register_multi_grad_hook(parameters, hook)
    return norms

# %% one_long_vector
def watch_norm(model):
    norms = []

    def hook(grads):
        flat = [grad.reshape(-1) for grad in grads if grad is not None]
        norms.append(torch.linalg.vector_norm(torch.cat(flat)))

    torch.autograd.graph.register_multi_grad_hook(tuple(filter(lambda p: p.requires_grad, model.parameters())), hook)
    return norms

# %% plain_hooks_and_callback
def watch_norm(model):
    norms, squares = [], []

    def finish():
        norms.append(sum(squares) ** 0.5)
        squares.clear()

    def hook(grad):
        if not squares:
            torch.autograd.Variable._execution_engine.queue_callback(finish)
        squares.append((grad**2).sum())

    for parameter in model.parameters():
        if parameter.requires_grad:
            parameter.register_hook(hook)
    return norms

# %% zeros_for_none
def watch_norm(model):
    norms = []
    parameters = [p for p in model.parameters() if p.requires_grad]

    def hook(grads):
        filled = [torch.zeros_like(p) if g is None else g for p, g in zip(parameters, grads)]
        norms.append(torch.sqrt(sum(torch.sum(g * g) for g in filled)).detach())

    torch.autograd.graph.register_multi_grad_hook(parameters, hook)
    return norms

# %% by_hypot
import math


def watch_norm(model: nn.Module) -> list:
    norms = []

    def hook(grads):
        norms.append(math.hypot(*(torch.linalg.vector_norm(grad).item() for grad in grads if grad is not None)))

    torch.autograd.graph.register_multi_grad_hook([p for p in model.parameters() if p.requires_grad], hook)
    return norms
