# %% comprehension
def gradient_sizes(layer):
    sizes = []

    def hook(module, grad_input, grad_output):
        sizes.append(tuple(None if g is None else float(torch.linalg.vector_norm(g)) for g in grad_input + grad_output))

    layer.register_full_backward_hook(hook)
    return sizes

# %% list_pairs_of_tensors
def gradient_sizes(layer):
    sizes = []

    def hook(module, grad_input, grad_output):
        before = grad_input[0].norm() if grad_input[0] is not None else None
        sizes.append([before, grad_output[0].norm()])

    layer.register_full_backward_hook(hook)
    return sizes

# %% tensors_in_float64
def gradient_sizes(layer):
    sizes = []

    def norm(grad):
        return None if grad is None else torch.linalg.vector_norm(grad, dtype=torch.float64)

    def hook(module, grad_input, grad_output):
        sizes.append((norm(grad_input[0]), norm(grad_output[0])))

    layer.register_full_backward_hook(hook)
    return sizes

# %% object_with_a_list
class SizeMeter:
    def __init__(self):
        self.sizes = []

    def __call__(self, module, grad_input, grad_output):
        pair = []
        for grads in (grad_input, grad_output):
            try:
                pair.append((grads[0] ** 2).sum().sqrt().item())
            except TypeError:
                pair.append(None)
        self.sizes.append(tuple(pair))


def gradient_sizes(layer):
    meter = SizeMeter()
    layer.register_full_backward_hook(meter)
    return meter.sizes

# %% partial
def append_sizes(sizes, module, grad_input, grad_output):
    (before,), (after,) = grad_input, grad_output
    sizes.append((before.norm().item() if isinstance(before, torch.Tensor) else None, after.norm().item()))


def gradient_sizes(layer):
    sizes = []
    layer.register_full_backward_hook(partial(append_sizes, sizes))
    return sizes

# %% pre_hook_and_hook
def gradient_sizes(layer):
    sizes, arrived = [], []

    def before(module, grad_output):
        arrived.append(grad_output[0].norm().item())

    def after(module, grad_input, grad_output):
        sizes.append((None if grad_input[0] is None else grad_input[0].norm().item(), arrived.pop()))

    layer.register_full_backward_pre_hook(before)
    layer.register_full_backward_hook(after)
    return sizes
