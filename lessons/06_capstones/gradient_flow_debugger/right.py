# %% class_with_enter_and_exit
class gradient_flow_debugger:
    """Watch a forward and a backward pass of `model` in the block."""

    def __init__(self, model):
        self.model = model
        self.handles = []
        self.report = dict(bad_output=None, bad_gradient=None, dead={}, no_gradient=[], gradient_size={})

    def __enter__(self):
        for name, module in self.model.named_modules():
            self.handles.append(module.register_forward_hook(partial(self.on_output, name)))
        return self.report

    def __exit__(self, kind, error, traceback):
        for handle in self.handles:
            handle.remove()
        if kind is not None:
            return False
        for name, p in self.model.named_parameters():
            if p.grad is None:
                self.report["no_gradient"].append(name)
            else:
                self.report["gradient_size"][name] = float(p.grad.abs().mean())
        return False

    def on_output(self, name, module, inputs, output):
        if self.report["bad_output"] is None and not torch.isfinite(output).all():
            self.report["bad_output"] = name
        if type(module) is nn.ReLU:
            others = [d for d in range(output.dim()) if d != 1]
            alive = (output != 0).sum(dim=others) > 0
            self.report["dead"][name] = 1 - alive.sum().item() / alive.numel()
        output = output.clone()
        if output.requires_grad:
            output.register_hook(lambda grad: self.on_gradient(name, grad))
        return output

    def on_gradient(self, name, grad):
        if self.report["bad_gradient"] is None and not torch.isfinite(grad).all():
            self.report["bad_gradient"] = name

# %% events_sorted_out_afterwards
@contextmanager
def gradient_flow_debugger(model):
    """Write everything down first, and work out the report at the end."""
    report, outputs, gradients, dead = {}, [], [], {}

    def note(name, module, args, output):
        outputs.append((name, output.isfinite().all().item()))
        if isinstance(module, nn.ReLU):
            zero = (output == 0).flatten(2).all(-1).all(0) if output.dim() > 2 else (output == 0).all(0)
            dead[name] = sum(zero.tolist()) / len(zero)
        copy = output * 1
        if copy.requires_grad:
            copy.register_hook(lambda grad, name=name: gradients.append((name, grad.isfinite().all().item())))
        return copy

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

# %% hook_for_all_modules
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
        output = output.clone()
        if output.requires_grad:
            output.register_hook(partial(first, "bad_gradient", name))
        return output

    with register_module_forward_hook(listen):
        yield report
    for name, p in model.named_parameters():
        if p.grad is None:
            report["no_gradient"] += [name]
        else:
            report["gradient_size"][name] = p.grad.abs().mean().item()

# %% hooks_on_the_graph
@contextmanager
def gradient_flow_debugger(model):
    """Listens in backward with pre-hooks on the operations that made the outputs."""
    report = {"bad_output": None, "bad_gradient": None, "dead": {}, "no_gradient": [], "gradient_size": {}}

    def before_node(name, grads):
        if report["bad_gradient"] is None and any(g is not None and not g.isfinite().all() for g in grads):
            report["bad_gradient"] = name

    def after_module(module, args, kwargs, output, name):
        if report["bad_output"] is None and not output.isfinite().all():
            report["bad_output"] = name
        if isinstance(module, nn.ReLU):
            dims = (0, *range(2, output.ndim))
            report["dead"][name] = (output.detach().abs().sum(dims) == 0).float().mean().item()
        output = output.clone()
        if output.grad_fn is not None:
            output.grad_fn.register_prehook(partial(before_node, name))
        return output

    handles = [
        module.register_forward_hook(partial(after_module, name=name), with_kwargs=True)
        for name, module in model.named_modules()
    ]
    try:
        yield report
        report["no_gradient"].extend(n for n, p in model.named_parameters() if p.grad is None)
        report["gradient_size"].update(
            (n, p.grad.abs().mean().item()) for n, p in model.named_parameters() if p.grad is not None
        )
    finally:
        while handles:
            handles.pop().remove()

# %% one_report_object
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
                output = output.clone()
                output.register_hook(lambda grad: report.note("bad_gradient", name, grad))
            return output

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

# %% hands_on_a_clone
@contextmanager
def gradient_flow_debugger(model):
    report = {"bad_output": None, "bad_gradient": None, "dead": {}, "no_gradient": [], "gradient_size": {}}
    outputs, handles = [], []

    def watch(name, module, args, output):
        outputs.append((name, output))
        if output.requires_grad:
            output.retain_grad()
        return output.clone()

    def finite(tensor):
        return bool(tensor.isfinite().all())

    for name, module in model.named_modules():
        handles.append(module.register_forward_hook(partial(watch, name)))
    try:
        yield report
    finally:
        for handle in handles:
            handle.remove()
    report["bad_output"] = next((name for name, output in outputs if not finite(output)), None)
    gradients = [(name, output.grad) for name, output in reversed(outputs) if output.requires_grad]
    report["bad_gradient"] = next((name for name, grad in gradients if grad is not None and not finite(grad)), None)
    relus = {name for name, module in model.named_modules() if isinstance(module, nn.ReLU)}
    for name, output in outputs:
        if name in relus:
            silent = output.detach().transpose(0, 1).flatten(1).eq(0).all(dim=1)
            report["dead"][name] = silent.double().mean().item()
    for name, parameter in model.named_parameters():
        if parameter.grad is None:
            report["no_gradient"].append(name)
        else:
            report["gradient_size"][name] = parameter.grad.abs().mean().item()
