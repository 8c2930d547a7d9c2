from torch.nn.modules.module import register_module_forward_hook


@contextmanager
def gradient_flow_debugger(model):
    names = {module: name for name, module in model.named_modules()}
    report = {"bad_output": None, "bad_gradient": None, "dead": {}, "no_gradient": [], "gradient_size": {}}

    def first(key, name, tensor):
        if report[key] is None and not tensor.isfinite().all():
            report[key] = name

    def listen(module, args, output):
        if module not in names:
            return
        name = names[module]
        first("bad_output", name, output)
        if isinstance(module, nn.ReLU):
            silent = [not unit.any() for unit in output.unbind(1)]
            report["dead"][name] = sum(silent) / len(silent)
        if output.requires_grad:
            output.register_hook(partial(first, "bad_gradient", name))

    with register_module_forward_hook(listen):
        yield report
    for name, p in model.named_parameters():
        if p.grad is None:
            report["no_gradient"] += [name]
        else:
            report["gradient_size"][name] = p.grad.abs().mean().item()
