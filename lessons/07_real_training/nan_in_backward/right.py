# %% got_finite_and_made_not
def finite(grads):
    return all(bool(torch.isfinite(grad).all()) for grad in grads if grad is not None)


def nan_in_backward(model, x, loss_of):
    born = []
    with made_by(model) as names:
        loss = loss_of(model(x))

    def hook_for(node):
        operation, module = node.name(), names.get(node, "")

        def hook(grad_inputs, grad_outputs):
            if finite(grad_outputs) and not finite(grad_inputs) and not born:
                born.append((operation, module))

        return hook

    def walk(node, seen):
        if node is None or node in seen:
            return
        seen.add(node)
        node.register_hook(hook_for(node))
        for following, _ in node.next_functions:
            walk(following, seen)

    walk(loss.grad_fn, set())
    loss.backward()
    if born:
        return born[0]

# %% removes_its_hooks
def nan_in_backward(model, x, loss_of):
    with made_by(model) as names:
        loss = loss_of(model(x))
    result = None

    def look(node, made, got):
        nonlocal result
        bad = any(not grad.isfinite().all() for grad in made if grad is not None)
        if bad and result is None:
            result = [node.name(), names[node] if node in names else ""]

    nodes = [loss.grad_fn]
    for node in nodes:
        nodes += [one for one, _ in node.next_functions if one is not None and one not in nodes]
    handles = [node.register_hook(partial(look, node)) for node in nodes]
    try:
        loss.backward()
    finally:
        for handle in handles:
            handle.remove()
    return result

# %% stack_of_everything
class Hunter:
    def __init__(self, names):
        self.names, self.cases, self.known = names, [], {}

    def hang(self, node):
        if node is not None and node not in self.known:
            self.known[node] = node.register_hook(lambda made, got: self.look(node, made))
            for one, _ in node.next_functions:
                self.hang(one)

    def look(self, node, made):
        for grad in made:
            if grad is not None and (grad.isnan() | grad.isinf()).any():
                self.cases.append((type(node).__name__, self.names.get(node, "")))
                return


def nan_in_backward(model, x, loss_of):
    with made_by(model) as names:
        output = model(x)
        loss = loss_of(output)
    hunter = Hunter(names)
    hunter.hang(loss.grad_fn)
    loss.backward()
    return next(iter(hunter.cases), None)

# %% sum_is_finite
def nan_in_backward(model, x, loss_of):
    log = []
    with made_by(model) as names:
        loss = loss_of(model(x))
    waiting, done = [loss.grad_fn], []
    while waiting:
        node = waiting.pop(0)
        if node in done:
            continue
        done.append(node)
        where = node.name(), names.get(node, "")
        node.register_hook(lambda made, got, where=where: log.append((where, made)))
        waiting.extend(following for following, index in node.next_functions if following is not None)
    loss.backward()
    for where, made in log:
        if any(grad is not None and not torch.isfinite(grad.sum()) for grad in made):
            return where
    return None
