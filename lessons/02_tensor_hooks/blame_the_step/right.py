# %% by_partial
def blame(steps, x):
    order, handles = [], []

    def note(name, grad):
        if not torch.isfinite(grad).all():
            order.append(name)

    try:
        for name, step in steps.items():
            handles.append(x.register_hook(partial(note, name)))
            x = step(x)
        x.sum().backward()
    finally:
        for handle in handles:
            handle.remove()
    for name in reversed(steps):
        if name in order:
            return name

# %% default_value
def blame(steps, x):
    guilty = None

    def hook_for(name):
        def hook(grad):
            nonlocal guilty
            bad = grad.isnan() | grad.isinf()
            if guilty is None and bad.any():
                guilty = name

        return hook

    value, handles = x, []
    for name in steps:
        handles += [value.register_hook(hook_for(name))]
        value = steps[name](value.view_as(value))
    value.sum().backward()
    [handle.remove() for handle in handles]
    return guilty

# %% walks_back
def blame(steps, x):
    values = [x]
    for step in steps.values():
        values.append(step(values[-1]))
        values[-1].retain_grad()
    x.grad = None
    values[-1].sum().backward()
    for name, value in reversed(list(zip(steps, values))):
        if not value.grad.isfinite().all():
            return name
    return None

# %% asks_autograd
def blame(steps, x):
    inputs = {}
    for name, step in steps.items():
        inputs[name] = x
        x = step(x)
    grads = torch.autograd.grad(x.sum(), list(inputs.values()))
    bad = [name for name, grad in zip(inputs, grads) if not bool(torch.isfinite(grad).all())]
    return bad[-1] if bad else None

# %% with_statement
def blame(steps, x):
    dead = []
    with contextlib.ExitStack() as hooks:
        for name, step in steps.items():
            hooks.enter_context(x.register_hook(lambda grad, name=name: dead.append(name) if not grad.isfinite().all() else None))
            x = step(x)
        x.sum().backward()
    return max(dead, key=list(steps).index, default=None)


import contextlib
