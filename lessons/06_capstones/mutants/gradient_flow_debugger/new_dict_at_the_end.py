# misconception: fills a new dict, which nobody holds | hint: gfd_filled_elsewhere
@contextmanager
def gradient_flow_debugger(model):
    report, bad, dead = {}, {"output": None, "gradient": None}, {}
    handles = []

    def make_hook(name):
        def backward_hook(grad):
            if bad["gradient"] is None and (torch.isnan(grad).any() or torch.isinf(grad).any()):
                bad["gradient"] = name

        def forward_hook(module, inputs, output):
            if bad["output"] is None and (torch.isnan(output).any() or torch.isinf(output).any()):
                bad["output"] = name
            if isinstance(module, nn.ReLU):
                dims = [0] + list(range(2, output.dim()))
                dead[name] = (output.detach().sum(dim=dims) == 0).float().mean().item()
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

    grads = dict(model.named_parameters())
    report = {
        "bad_output": bad["output"],
        "bad_gradient": bad["gradient"],
        "dead": dead,
        "no_gradient": [name for name, param in grads.items() if param.grad is None],
        "gradient_size": {n: param.grad.abs().mean().item() for n, param in grads.items() if param.grad is not None},
    }
