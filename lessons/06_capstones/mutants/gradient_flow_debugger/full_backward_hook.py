# misconception: full backward hooks on all modules, which in-place ReLUs do not stand | hint: in_place_after_full_hook
@contextmanager
def gradient_flow_debugger(model):
    report = {"bad_output": None, "bad_gradient": None, "dead": {}, "no_gradient": [], "gradient_size": {}}

    def see_gradient(name, module, grad_input, grad_output):
        if report["bad_gradient"] is None and not grad_output[0].isfinite().all():
            report["bad_gradient"] = name

    def see_output(name, module, args, output):
        if report["bad_output"] is None and not output.isfinite().all():
            report["bad_output"] = name
        if isinstance(module, nn.ReLU):
            silent = (output == 0).transpose(0, 1).flatten(1).all(1)
            report["dead"][name] = silent.float().mean().item()

    handles = []
    for name, module in model.named_modules():
        handles.append(module.register_forward_hook(partial(see_output, name)))
        handles.append(module.register_full_backward_hook(partial(see_gradient, name)))
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
