# %% interpreter_for_the_rest
from torchvision.models.feature_extraction import NodePathTracer


class Recorder(torch.fx.Interpreter):
    def __init__(self, module, names):
        super().__init__(module)
        self.names, self.values = names, {}

    def run_node(self, node):
        value = super().run_node(node)
        if isinstance(value, torch.Tensor):
            self.values[self.names.get(node)] = value.detach().clone()
        return value


def value_at(model, step, x):
    if step in [name for name, _ in model.named_modules()]:
        calls = []
        with model.get_submodule(step).register_forward_hook(lambda m, a, o: calls.append(o.detach().clone())):
            model(x)
        return calls[0]
    tracer = NodePathTracer()
    graph = tracer.trace(model)
    recorder = Recorder(torch.fx.GraphModule(tracer.root, graph), dict(tracer.node_to_qualname))
    recorder.run(x)
    return recorder.values[step]


for step in ("bn1", "block.add", "flatten"):
    value = value_at(TinyResNet().eval(), step, torch.ones(1, 3, 8, 8))
    print(step, None if value is None else tuple(value.shape))

# %% stops_at_the_first_call
class Found(Exception):
    pass


def value_at(model, step, x):
    modules = dict(model.named_modules())
    if step not in modules:
        with torch.no_grad():
            return create_feature_extractor(model, [step])(x)[step].clone()

    def stop(module, args, output):
        raise Found(output)

    handle = modules[step].register_forward_hook(stop)
    try:
        model(x)
    except Found as found:
        return found.args[0].detach()
    finally:
        handle.remove()


for step in ("bn1", "block.add", "flatten"):
    value = value_at(TinyResNet().eval(), step, torch.ones(1, 3, 8, 8))
    print(step, None if value is None else tuple(value.shape))

# %% tries_the_module_first
def value_at(model, step, x):
    try:
        module = model.get_submodule(step)
    except AttributeError:
        extractor = create_feature_extractor(model, return_nodes={step: "value"})
        return extractor(x)["value"].detach()
    kept = {}

    def keep(module, args, output):
        kept.setdefault("value", output.detach().clone())

    handle = module.register_forward_hook(keep)
    try:
        with torch.no_grad():
            model(x)
    finally:
        handle.remove()
    return kept["value"]


for step in ("bn1", "block.add", "flatten"):
    value = value_at(TinyResNet().eval(), step, torch.ones(1, 3, 8, 8))
    print(step, None if value is None else tuple(value.shape))

# %% tries_to_trace_first
def value_at(model, step, x):
    try:
        return create_feature_extractor(model, [step])(x)[step]
    except torch.fx.proxy.TraceError:
        model.eval()  # the failed trace has left it in training mode
    outputs = []
    handle = model.get_submodule(step).register_forward_hook(lambda m, a, o: outputs.append(o.clone()))
    model(x)
    handle.remove()
    return outputs[0]


for step in ("bn1", "block.add", "flatten"):
    value = value_at(TinyResNet().eval(), step, torch.ones(1, 3, 8, 8))
    print(step, None if value is None else tuple(value.shape))

# %% traces_a_copy
import copy


def value_at(model, step, x):
    try:
        extractor = create_feature_extractor(copy.deepcopy(model), [step])
    except torch.fx.proxy.TraceError:
        outputs = []
        with model.get_submodule(step).register_forward_hook(lambda m, a, o: outputs.append(o.clone())):
            model(x)
        return outputs[0]
    return extractor(x)[step]
