# misconception: a function that registers and returns the handles | hint: tool_no_context
def OptimizerInBackward(model, make_optimizer):
    optimizers = {p: make_optimizer([p]) for p in model.parameters() if p.requires_grad}

    def hook(p):
        optimizers[p].step()
        p.grad = None

    return [p.register_post_accumulate_grad_hook(hook) for p in optimizers]
