def watch_gradient(tensor):
    grads = list()
    tensor.register_hook(lambda g: grads.append(g.detach().clone()))
    return grads
