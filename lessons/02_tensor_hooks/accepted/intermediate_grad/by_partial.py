def _store(where, grad):
    where.append(grad)
    return grad


def watch_gradient(tensor):
    where = []
    tensor.register_hook(partial(_store, where))
    return where
