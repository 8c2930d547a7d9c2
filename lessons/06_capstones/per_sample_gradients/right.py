# %% is_an_exit_stack
from contextlib import ExitStack


class PerSampleGradients(ExitStack):
    def __init__(self, model, reduction="mean"):
        super().__init__()
        self.model, self.reduction, self.gradients = model, reduction, {}
        self.names = {parameter: name for name, parameter in model.named_parameters()}

    def __enter__(self):
        super().__enter__()
        for layer in self.model.modules():
            if isinstance(layer, torch.nn.Linear):
                self.enter_context(layer.register_forward_hook(self._forward))
        return self

    def _forward(self, layer, args, output):
        output.register_hook(partial(self._backward, layer, args[0].detach()))

    def _backward(self, layer, inp, grad):
        if self.reduction == "mean":
            grad = grad.mul(grad.shape[0])
        for short, value in (("weight", torch.stack([torch.outer(g, a) for g, a in zip(grad, inp)])), ("bias", grad)):
            if getattr(layer, short) is not None:
                key = self.names[getattr(layer, short)]
                self.gradients[key] = self.gradients[key].add(value) if key in self.gradients else value

# %% by_vjp_of_each_sample
from torch.func import functional_call, vjp, vmap


class PerSampleGradients:
    """From the model's own input and the gradient at its output: one vector-Jacobian product for each sample."""

    def __init__(self, model, reduction="mean"):
        self.model = model
        self.reduction = reduction
        self.gradients = {}

    def __enter__(self):
        def hook(module, args, output):
            self.x = args[0].detach()
            output.register_hook(self.keep)

        self.handle = self.model.register_forward_hook(hook)
        return self

    def keep(self, grad):
        self.grad = grad * len(grad) if self.reduction == "mean" else grad

    def __exit__(self, kind, *rest):
        self.handle.remove()
        if kind is not None:
            return
        linear = {p for module in self.model.modules() if isinstance(module, nn.Linear) for p in module.parameters()}
        names = [name for name, p in self.model.named_parameters() if p in linear]
        params = {name: self.model.get_parameter(name).detach() for name in names}

        def one(x, g):
            _, pull = vjp(lambda p: functional_call(self.model, p, (x[None],))[0], params)
            return pull(g)[0]

        self.gradients.update(vmap(one)(self.x, self.grad))

# %% forward_replaced_for_a_while
class PerSampleGradients:
    """No hooks on the modules at all: their forward is another one until the block ends."""

    def __init__(self, model, reduction="mean"):
        self.model = model
        self.reduction = reduction
        self.gradients = {}
        self.layers = {}

    def __enter__(self):
        for name, layer in self.model.named_modules():
            if isinstance(layer, nn.Linear):
                self.layers[name] = layer
                layer.forward = partial(self.forward, name, layer)
        return self

    def forward(self, name, layer, x):
        y = F.linear(x, layer.weight, layer.bias)
        if y.requires_grad:
            y.register_hook(lambda g: self.collect(name, layer, x.detach(), g * len(g) if self.reduction == "mean" else g))
        return y

    def collect(self, name, layer, x, g):
        parts = {"weight": g.unsqueeze(2) * x.unsqueeze(1), "bias": g if layer.bias is not None else None}
        for key, parameter in self.model.named_parameters():
            for short, part in parts.items():
                if parameter is getattr(layer, short):
                    so_far = self.gradients.get(key)
                    self.gradients[key] = part if so_far is None else so_far + part

    def __exit__(self, *error):
        for layer in self.layers.values():
            del layer.forward

# %% generator_with_finally
from types import SimpleNamespace


@contextmanager
def PerSampleGradients(model, reduction="mean"):
    result = SimpleNamespace(gradients={})
    handles = []
    names = {parameter: name for name, parameter in model.named_parameters()}

    def forward_hook(module, args, output):
        (x,) = args

        def tensor_hook(grad):
            scale = grad.size(0) if reduction == "mean" else 1
            grads = {names[module.weight]: scale * grad[:, :, None] * x.detach()[:, None, :]}
            if module.bias is not None:
                grads[names[module.bias]] = scale * grad
            for key, value in grads.items():
                result.gradients[key] = result.gradients[key] + value if key in result.gradients else value

        output.register_hook(tensor_hook)

    try:
        for name, module in model.named_modules():
            if isinstance(module, nn.Linear):
                handles.append(module.register_forward_hook(forward_hook))
        yield result
    finally:
        for handle in handles:
            handle.remove()

# %% global_hook_removed
class PerSampleGradients:
    def __init__(self, model, reduction="mean"):
        self.layers = {module for module in model.modules() if isinstance(module, nn.Linear)}
        self.names = {parameter: name for name, parameter in model.named_parameters()}
        self.reduction = reduction
        self.gradients = {}

    def __enter__(self):
        self.handle = nn.modules.module.register_module_forward_hook(self.after_forward)
        return self

    def after_forward(self, module, args, output):
        if module in self.layers and output.requires_grad:
            output.register_hook(lambda grad: self.after_backward(module, args[0].detach(), grad))

    def after_backward(self, module, x, grad):
        factor = {"mean": x.shape[0], "sum": 1}[self.reduction]
        per_sample = {"weight": factor * (grad.unsqueeze(-1) @ x.unsqueeze(-2))}
        if module.bias is not None:
            per_sample["bias"] = factor * grad
        for short, value in per_sample.items():
            self.gradients.setdefault(self.names[getattr(module, short)], torch.zeros_like(value)).add_(value)

    def __exit__(self, *error):
        self.handle.remove()
        return None

# %% layer_called_as_if_alone
class PerSampleGradients:
    """Autograd itself, once for each sample and call: slow, but there is no formula in it."""

    def __init__(self, model, reduction="mean"):
        self.model, self.reduction = model, reduction
        self.gradients = {}

    def __enter__(self):
        self.calls = []

        def hook(module, args, output):
            call = {"module": module, "x": args[0].detach()}
            output.register_hook(lambda g: call.update(g=g))
            self.calls.append(call)

        self.handles = []
        for name, module in self.model.named_modules():
            if isinstance(module, nn.Linear):
                self.handles.append(module.register_forward_hook(hook))
        return self

    def __exit__(self, *error):
        for handle in self.handles:
            handle.remove()
        names = {parameter: name for name, parameter in self.model.named_parameters()}
        for call in self.calls:
            if "g" not in call:
                continue
            params = dict(call["module"].named_parameters())
            rows = []
            for x, g in zip(call["x"], call["g"]):
                y = F.linear(x[None], params["weight"], params.get("bias"))
                rows.append(torch.autograd.grad(y, list(params.values()), g[None]))
            for short, parts in zip(params, zip(*rows)):
                value = torch.stack(parts) * (len(rows) if self.reduction == "mean" else 1)
                key = names[params[short]]
                self.gradients[key] = self.gradients[key] + value if key in self.gradients else value
