from contextlib import ExitStack


@contextmanager
def gradient_flow_debugger(model):
    report = {"bad_output": None, "bad_gradient": None, "dead": {}, "no_gradient": [], "gradient_size": {}}

    def bad(tensor):
        return bool(tensor.isnan().any() or tensor.isinf().any())

    def gradient_hook(name):
        def hook(grad):
            if bad(grad) and report["bad_gradient"] is None:
                report["bad_gradient"] = name

        return hook

    def forward_hook(name):
        def hook(module, args, output):
            if bad(output) and report["bad_output"] is None:
                report["bad_output"] = name
            if isinstance(module, nn.ReLU):
                per_unit = output.detach().abs().movedim(1, 0).reshape(output.shape[1], -1).amax(1)
                report["dead"][name] = (per_unit == 0).double().mean().item()
            if output.requires_grad:
                output.register_hook(gradient_hook(name))

        return hook

    with ExitStack() as stack:
        for name, module in model.named_modules():
            stack.enter_context(module.register_forward_hook(forward_hook(name)))
        yield report

    for name, p in model.named_parameters():
        if p.grad is None:
            report["no_gradient"].append(name)
        else:
            report["gradient_size"][name] = p.grad.detach().abs().mean().item()
