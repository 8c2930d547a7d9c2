# misconception: a generator whose clean-up is skipped by an error | hint: tool_not_after_error
@contextmanager
def OptimizerInBackward(model, make_optimizer):
    optimizers = {p: make_optimizer([p]) for p in model.parameters() if p.requires_grad}

    def hook(p):
        optimizers[p].step()
        optimizers[p].zero_grad()

    handles = [p.register_post_accumulate_grad_hook(hook) for p in optimizers]
    yield
    for handle in handles:
        handle.remove()
