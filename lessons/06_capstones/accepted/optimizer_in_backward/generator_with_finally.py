@contextmanager
def OptimizerInBackward(model, make_optimizer):
    handles = []
    try:
        for p in model.parameters():
            if not p.requires_grad:
                continue
            optimizer = make_optimizer([p])

            def hook(param, optimizer=optimizer):
                optimizer.step()
                param.grad = None

            handles.append(p.register_post_accumulate_grad_hook(hook))
        yield handles
    finally:
        for h in handles:
            h.remove()
