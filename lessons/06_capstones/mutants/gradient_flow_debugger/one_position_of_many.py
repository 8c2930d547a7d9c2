# misconception: asks for the batch and one of the two image dimensions | hint: gfd_wrong_axis
@contextmanager
def gradient_flow_debugger(model):
    report = {"bad_output": None, "bad_gradient": None, "dead": {}, "no_gradient": [], "gradient_size": {}}
    handles = []

    def make_hook(name):
        def backward_hook(grad):
            if report["bad_gradient"] is None and (torch.isnan(grad).any() or torch.isinf(grad).any()):
                report["bad_gradient"] = name

        def forward_hook(module, inputs, output):
            if report["bad_output"] is None and (torch.isnan(output).any() or torch.isinf(output).any()):
                report["bad_output"] = name
            if isinstance(module, nn.ReLU):
                silent = (output == 0).all(dim=0)
                while silent.dim() > 1:
                    silent = silent.any(dim=-1)
                report["dead"][name] = silent.float().mean().item()
            if output.requires_grad:
                output.register_hook(backward_hook)

        return forward_hook

    for name, module in model.named_modules():
        handles.append(module.register_forward_hook(make_hook(name)))

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
