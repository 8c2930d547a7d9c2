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
