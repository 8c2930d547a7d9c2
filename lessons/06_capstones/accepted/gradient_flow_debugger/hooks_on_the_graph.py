@contextmanager
def gradient_flow_debugger(model):
    """Listens in backward with pre-hooks on the operations that made the outputs."""
    report = {"bad_output": None, "bad_gradient": None, "dead": {}, "no_gradient": [], "gradient_size": {}}

    def before_node(name, grads):
        if report["bad_gradient"] is None and any(g is not None and not g.isfinite().all() for g in grads):
            report["bad_gradient"] = name

    def after_module(module, args, kwargs, output, name):
        if report["bad_output"] is None and not output.isfinite().all():
            report["bad_output"] = name
        if isinstance(module, nn.ReLU):
            dims = (0, *range(2, output.ndim))
            report["dead"][name] = (output.detach().abs().sum(dims) == 0).float().mean().item()
        if output.grad_fn is not None:
            output.grad_fn.register_prehook(partial(before_node, name))

    handles = [
        module.register_forward_hook(partial(after_module, name=name), with_kwargs=True)
        for name, module in model.named_modules()
    ]
    try:
        yield report
        report["no_gradient"].extend(n for n, p in model.named_parameters() if p.grad is None)
        report["gradient_size"].update(
            (n, p.grad.abs().mean().item()) for n, p in model.named_parameters() if p.grad is not None
        )
    finally:
        while handles:
            handles.pop().remove()
