class Report(dict):
    """A dict that keeps the first name it is given for a fault, and two more entries than asked for."""

    def note(self, key, name, tensor):
        if self[key] is None and bool((~torch.isfinite(tensor)).any()):
            self[key] = name


@contextmanager
def gradient_flow_debugger(model):
    report = Report(bad_output=None, bad_gradient=None, dead={}, modules=0, parameters=0)
    handles = []
    for name, module in model.named_modules():

        def hook(module, args, output, name=name):
            report.note("bad_output", name, output)
            report["modules"] += 1
            if isinstance(module, nn.ReLU):
                moved = output.detach().transpose(0, 1).flatten(1)
                report["dead"][name] = 1.0 - moved.count_nonzero(1).bool().float().mean().item()
            if output.requires_grad:
                output.register_hook(lambda grad: report.note("bad_gradient", name, grad))

        handles.append(module.register_forward_hook(hook, prepend=True))
    try:
        yield report
    finally:
        for handle in handles:
            handle.remove()
        named = dict(model.named_parameters())
        report["parameters"] = len(named)
        report["no_gradient"] = [name for name in named if named[name].grad is None]
        report["gradient_size"] = {
            name: p.grad.abs().mean().item() for name, p in named.items() if name not in report["no_gradient"]
        }
