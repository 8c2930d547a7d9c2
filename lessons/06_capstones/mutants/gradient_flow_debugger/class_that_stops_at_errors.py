# misconception: __exit__ returns early after an error | hint: gfd_no_finally
class gradient_flow_debugger:
    def __init__(self, model):
        self.model = model

    def __enter__(self):
        self.report = {"bad_output": None, "bad_gradient": None, "dead": {}, "no_gradient": [], "gradient_size": {}}
        self.handles = [m.register_forward_hook(partial(self.look, n)) for n, m in self.model.named_modules()]
        return self.report

    def look(self, name, module, args, output):
        self.first("bad_output", name, output)
        if isinstance(module, nn.ReLU):
            silent = (output == 0).transpose(0, 1).flatten(1).all(1)
            self.report["dead"][name] = silent.float().mean().item()
        if output.requires_grad:
            output.register_hook(partial(self.first, "bad_gradient", name))

    def first(self, key, name, tensor):
        if self.report[key] is None and not tensor.isfinite().all():
            self.report[key] = name

    def __exit__(self, error_type, error, traceback):
        if error_type is not None:
            return False
        for handle in self.handles:
            handle.remove()
        for name, p in self.model.named_parameters():
            if p.grad is None:
                self.report["no_gradient"].append(name)
            else:
                self.report["gradient_size"][name] = p.grad.abs().mean().item()
