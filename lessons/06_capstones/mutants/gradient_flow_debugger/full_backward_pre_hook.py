# misconception: full backward pre-hooks on all modules, which in-place ReLUs do not stand | hint: in_place_after_full_hook
@contextmanager
def gradient_flow_debugger(model):
    report = {"bad_output": None, "bad_gradient": None, "dead": {}, "no_gradient": [], "gradient_size": {}}
    handles = []

    def make_hook(name):
        def backward_hook(module, grad_output):
            for grad in grad_output:
                if grad is not None and report["bad_gradient"] is None and not torch.isfinite(grad).all():
                    report["bad_gradient"] = name

        def forward_hook(module, inputs, output):
            if report["bad_output"] is None and (torch.isnan(output).any() or torch.isinf(output).any()):
                report["bad_output"] = name
            if isinstance(module, nn.ReLU):
                dims = [0] + list(range(2, output.dim()))
                report["dead"][name] = (output.detach().sum(dim=dims) == 0).float().mean().item()
        return forward_hook, backward_hook

    for name, module in model.named_modules():
        forward_hook, backward_hook = make_hook(name)
        handles.append(module.register_forward_hook(forward_hook))
        handles.append(module.register_full_backward_pre_hook(backward_hook))

    try:
        yield report
    finally:
        for handle in handles:
            handle.remove()

    for name, param in model.named_parameters():
        if param.grad is None:
            report["no_gradient"].append(name)
        else:
            report["gradient_size"][name] = param.grad.abs().mean().item()
