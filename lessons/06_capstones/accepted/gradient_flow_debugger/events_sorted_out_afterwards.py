@contextmanager
def gradient_flow_debugger(model):
    """Write everything down first, and work out the report at the end."""
    report, outputs, gradients, dead = {}, [], [], {}

    def note(name, module, args, output):
        outputs.append((name, output.isfinite().all().item()))
        if isinstance(module, nn.ReLU):
            zero = (output == 0).flatten(2).all(-1).all(0) if output.dim() > 2 else (output == 0).all(0)
            dead[name] = sum(zero.tolist()) / len(zero)
        if output.requires_grad:
            output.register_hook(lambda grad, name=name: gradients.append((name, grad.isfinite().all().item())))

    handles = []
    try:
        for name, module in model.named_modules():
            handles.append(module.register_forward_hook(partial(note, name)))
        yield report
    finally:
        [handle.remove() for handle in handles]
        report["bad_output"] = next((name for name, fine in outputs if not fine), None)
        report["bad_gradient"] = next((name for name, fine in gradients if not fine), None)
        report["dead"] = dead
        report["no_gradient"] = [name for name, p in model.named_parameters() if p.grad is None]
        report["gradient_size"] = {
            name: p.grad.abs().mean().item() for name, p in model.named_parameters() if p.grad is not None
        }
