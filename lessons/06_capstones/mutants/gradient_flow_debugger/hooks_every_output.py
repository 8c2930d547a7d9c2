# misconception: registers on outputs that need no gradient | hint: no_gradient_needed
@contextmanager
def gradient_flow_debugger(model):
    report = {"bad_output": None, "bad_gradient": None, "dead": {}, "no_gradient": [], "gradient_size": {}}

    def see_gradient(name, grad):
        if report["bad_gradient"] is None and not grad.isfinite().all():
            report["bad_gradient"] = name

    def see_output(name, module, args, output):
        if report["bad_output"] is None and not output.isfinite().all():
            report["bad_output"] = name
        if isinstance(module, nn.ReLU):
            silent = (output == 0).transpose(0, 1).flatten(1).all(1)
            report["dead"][name] = silent.float().mean().item()
        output.register_hook(partial(see_gradient, name))

    handles = []
    for name, module in model.named_modules():
        handles.append(module.register_forward_hook(partial(see_output, name)))
    try:
        yield report
    finally:
        for handle in handles:
            handle.remove()
    for name, p in model.named_parameters():
        if p.grad is None:
            report["no_gradient"].append(name)
        else:
            report["gradient_size"][name] = p.grad.abs().mean().item()
