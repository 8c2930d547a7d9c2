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

# %% hook_for_all_modules
def value_at(model, step, x):
    modules, outputs = dict(model.named_modules()), []
    if step not in modules:
        return create_feature_extractor(model, {step: "value"})(x)["value"]

    def keep(module, args, output):
        if module is modules[step]:
            outputs.append(output.clone())

    with nn.modules.module.register_module_forward_hook(keep):
        model(x)
    return outputs[0]

# %% works_on_a_copy
import copy


def value_at(model, step, x):
    twin, outputs = copy.deepcopy(model), []
    if step not in [name for name, _ in twin.named_modules()]:
        return create_feature_extractor(twin, [step])(x)[step]
    twin.get_submodule(step).register_forward_hook(lambda m, a, o: outputs.append(o.clone()))
    twin(x)
    return outputs[0]
