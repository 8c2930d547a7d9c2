# nothing to break: You may stop the run as soon as you have the value.
# nothing to break: In a model that can be traced, each container runs once and puts out what its last step gives, and no function's step is called like a module.
# nothing to break: What is left after an error is not asked.
# nothing to break: Write `value_at(model, step, x)`.
# nothing to break: Choose the tool by the step:
# nothing to break: Then the model can be traced.
# nothing to break: (The models are in eval mode and catch no errors.
# nothing to break: Only models that cannot be traced carry hooks of other people.
# nothing to break: The value is one tensor, and nobody writes into `x` afterwards.

# %% alias
# misconception: keeps the output itself | hint: feat_alias
# breaks: as it was when it was computed
def value_at(model, step, x):
    if step not in dict(model.named_modules()):
        return create_feature_extractor(model, [step])(x)[step]
    found = []
    with model.get_submodule(step).register_forward_hook(lambda m, a, o: found.append(o.detach())):
        model(x)
    return found[0]


for step in ("bn1", "block.add", "flatten"):
    value = value_at(TinyResNet().eval(), step, torch.ones(1, 3, 8, 8))
    print(step, None if value is None else tuple(value.shape))

# %% all_steps_at_once
# misconception: asks the extractor for all steps, and picks one | hint: feat_alias
def value_at(model, step, x):
    if step in dict(model.named_modules()):
        found = []
        with model.get_submodule(step).register_forward_hook(lambda m, a, o: found.append(o.detach().clone())):
            model(x)
        return found[0]
    steps = get_graph_node_names(model)[1]
    return create_feature_extractor(model, steps)(x)[step]


for step in ("bn1", "block.add", "flatten"):
    value = value_at(TinyResNet().eval(), step, torch.ones(1, 3, 8, 8))
    print(step, None if value is None else tuple(value.shape))

# %% children_only
# misconception: torchvision's getter for direct children | hint: children_in_a_row
from torchvision.models._utils import IntermediateLayerGetter


def value_at(model, step, x):
    if step not in dict(model.named_modules()):
        return create_feature_extractor(model, [step])(x)[step]
    return IntermediateLayerGetter(model, {step: "value"})(x)["value"].clone()


for step in ("bn1", "block.add", "flatten"):
    value = value_at(TinyResNet().eval(), step, torch.ones(1, 3, 8, 8))
    print(step, None if value is None else tuple(value.shape))

# %% dict_returned
# misconception: returns the extractor's dict | hint: feat_dict_for_value
# breaks: returns the value of one step
# edits: alias
-        return create_feature_extractor(model, [step])(x)[step]
+        return create_feature_extractor(model, [step])(x)
@@
-    with model.get_submodule(step).register_forward_hook(lambda m, a, o: found.append(o.detach())):
+    with model.get_submodule(step).register_forward_hook(lambda m, a, o: found.append(o.detach().clone())):

# %% fx_only
# misconception: torchvision's extractor for everything | hint: feat_cannot_be_traced
# breaks: even one that cannot be traced
def value_at(model, step, x):
    return create_feature_extractor(model, [step])(x)[step]


for step in ("bn1", "block.add", "flatten"):
    value = value_at(TinyResNet().eval(), step, torch.ones(1, 3, 8, 8))
    print(step, None if value is None else tuple(value.shape))

# %% hook_on_the_input_of_the_next
# misconception: sees the sum as an input of the next layer | hint: feat_no_module_behind
def value_at(model, step, x):
    found = []
    if step == "block.add":  # what the second call of the ReLU gets
        hook = model.block.relu.register_forward_pre_hook(lambda m, args: found.append(args[0].clone()))
        index = 1
    elif step == "flatten":
        hook = model.fc.register_forward_pre_hook(lambda m, args: found.append(args[0].clone()))
        index = 0
    else:
        name, index = (step[:-2], 1) if step.endswith("_1") else (step, 0)
        hook = model.get_submodule(name).register_forward_hook(lambda m, a, o: found.append(o.clone()))
    with torch.no_grad():
        model(x)
    hook.remove()
    return found[index]


for step in ("bn1", "block.add", "flatten"):
    value = value_at(TinyResNet().eval(), step, torch.ones(1, 3, 8, 8))
    print(step, None if value is None else tuple(value.shape))

# %% hook_stays
# misconception: leaves the hook there | hint: feat_hook_left
# breaks: No hook of yours is left on the model
# edits: alias
-    with model.get_submodule(step).register_forward_hook(lambda m, a, o: found.append(o.detach())):
-        model(x)
+    model.get_submodule(step).register_forward_hook(lambda m, a, o: found.append(o.detach().clone()))
+    model(x)

# %% hooks_on_all_modules
# misconception: looks the step up among the modules' outputs | hint: feat_fx_own_names
def value_at(model, step, x):
    found, handles = {}, []
    for name, module in model.named_modules():
        handles.append(module.register_forward_hook(lambda m, a, o, name=name: hook_into(found, name, o)))
    with torch.no_grad():
        model(x)
    for handle in handles:
        handle.remove()
    return found[step]


def hook_into(found, name, output):
    if name not in found:
        found[name] = output.detach().clone()


for step in ("bn1", "block.add", "flatten"):
    value = value_at(TinyResNet().eval(), step, torch.ones(1, 3, 8, 8))
    print(step, None if value is None else tuple(value.shape))

# %% hooks_only
# misconception: hooks for everything | hint: feat_no_module_behind
# breaks: Otherwise it is a step as `get_graph_node_names` lists them
# edits: dict_returned
-    if step not in dict(model.named_modules()):
-        return create_feature_extractor(model, [step])(x)

# %% last_call
# misconception: keeps the last call of a module | hint: feat_last_call
# breaks: it means the **first** one's
def value_at(model, step, x):
    if step not in dict(model.named_modules()):
        return create_feature_extractor(model, [step])(x)[step]
    found = {}
    with model.get_submodule(step).register_forward_hook(lambda m, a, o: found.update(value=o.detach().clone())):
        model(x)
    return found["value"]


for step in ("bn1", "block.add", "flatten"):
    value = value_at(TinyResNet().eval(), step, torch.ones(1, 3, 8, 8))
    print(step, None if value is None else tuple(value.shape))

# %% list_returned
# misconception: returns all calls | hint: feat_dict_for_value
# edits: hook_stays
-    model.get_submodule(step).register_forward_hook(lambda m, a, o: found.append(o.detach().clone()))
-    model(x)
-    return found[0]
+    with model.get_submodule(step).register_forward_hook(lambda m, a, o: found.append(o.detach().clone())):
+        model(x)
+    return found

# %% none_without_module
# misconception: gives None where there is no module | hint: feat_no_module_behind
def value_at(model, step, x):
    modules = dict(model.named_modules())
    if step not in modules:
        return None
    found = []
    with modules[step].register_forward_hook(lambda m, a, o: found.append(o.detach().clone())):
        model(x)
    return found[0]


for step in ("bn1", "block.add", "flatten"):
    value = value_at(TinyResNet().eval(), step, torch.ones(1, 3, 8, 8))
    print(step, None if value is None else tuple(value.shape))

# %% number_is_a_call
# misconception: takes every number for a call of a module | hint: feat_call_number
import re


def value_at(model, step, x):
    match = re.fullmatch(r"(.+)_(\d+)", step)
    name, number = (match[1], int(match[2])) if match else (step, 0)
    if name not in dict(model.named_modules()) and not match:
        return create_feature_extractor(model, [step])(x)[step]
    found = []
    with model.get_submodule(name).register_forward_hook(lambda m, a, o: found.append(o.detach().clone())):
        model(x)
    return found[number]


for step in ("bn1", "block.add", "flatten"):
    value = value_at(TinyResNet().eval(), step, torch.ones(1, 3, 8, 8))
    print(step, None if value is None else tuple(value.shape))

# %% plain_graph
# misconception: looks for torchvision's names in a plain graph | hint: feat_fx_own_names
# edits: all_steps_at_once
-    steps = get_graph_node_names(model)[1]
-    return create_feature_extractor(model, steps)(x)[step]
+    traced = torch.fx.symbolic_trace(model)
+    nodes = {node.name: node for node in traced.graph.nodes}
+    with traced.graph.inserting_after(nodes[step]):
+        traced.graph.output(nodes[step])
+    traced.recompile()
+    return traced(x)

# %% returns_output
# misconception: returns the model's output | hint: output_for_features
# breaks: it means this module's output
# edits: list_returned
-        model(x)
-    return found
+        return model(x)

# %% suffix_cut_off
# misconception: cuts the number of the call off | hint: feat_suffix
import re


def value_at(model, step, x):
    step = re.sub(r"_\d+$", "", step)
    if step not in dict(model.named_modules()):
        return create_feature_extractor(model, [step])(x)[step]
    found = []
    with model.get_submodule(step).register_forward_hook(lambda m, a, o: found.append(o.detach().clone())):
        model(x)
    return found[0]


for step in ("bn1", "block.add", "flatten"):
    value = value_at(TinyResNet().eval(), step, torch.ones(1, 3, 8, 8))
    print(step, None if value is None else tuple(value.shape))

# %% trains
# misconception: switches the model to training mode | hint: changes_mode
# edits: hooks_only
 def value_at(model, step, x):
+    model.train()
+    if step not in dict(model.named_modules()):
+        return create_feature_extractor(model, [step])(x)[step]

# %% first_name_that_ends_so
# misconception: takes the first layer whose name ends like the one asked for | hint: name_in_name
def value_at(model, step, x):
    modules = {name: module for name, module in model.named_modules() if name}
    found = [module for name, module in modules.items() if name.endswith(step) or step.endswith(name)]
    if step not in modules:
        return create_feature_extractor(model, [step])(x)[step]
    outputs = []
    with found[0].register_forward_hook(lambda module, args, output: outputs.append(output.detach().clone())):
        model(x)
    return outputs[0]

# %% remembers_values
# misconception: remembers a step's value from the first call | hint: stale_result
# breaks: It runs `model` on `x`
values = {}


def value_at(model, step, x):
    if (model, step) not in values:
        if step in dict(model.named_modules()):
            found = []
            with model.get_submodule(step).register_forward_hook(lambda m, a, o: found.append(o.detach().clone())):
                model(x)
            values[model, step] = found[0]
        else:
            values[model, step] = create_feature_extractor(model, [step])(x)[step]
    return values[model, step]


for step in ("bn1", "block.add", "flatten"):
    value = value_at(TinyResNet().eval(), step, torch.ones(1, 3, 8, 8))
    print(step, None if value is None else tuple(value.shape))

# %% calls_forward
# misconception: calls the model's forward, past the hooks on the model itself | hint: feat_forward_called
# breaks: It runs `model` on `x` and returns the value of one step
def value_at(model: nn.Module, step: str, x: torch.Tensor) -> torch.Tensor:
    modules = dict(model.named_modules())
    if step in modules:
        kept = []
        with modules[step].register_forward_hook(lambda m, a, o: kept.append(o.clone())):
            model.forward(x)
        return kept[0]
    return create_feature_extractor(model, [step])(x)[step].clone()

# %% any_attribute
# misconception: takes any attribute of that name for a module | hint: feat_attribute_for_step
# breaks: Otherwise it is a step as `get_graph_node_names` lists them
def value_at(model: nn.Module, step: str, x: torch.Tensor) -> torch.Tensor:
    from operator import attrgetter

    try:
        module = attrgetter(step)(model)
    except AttributeError:
        return create_feature_extractor(model, [step])(x)[step].clone()
    kept = []
    with module.register_forward_hook(lambda m, a, o: kept.append(o.clone())):
        model(x)
    return kept[0]

# %% traces_first_and_stays_in_training
# misconception: tries to trace first; a trace that fails leaves the model in training mode | hint: feat_left_in_training
# breaks: even one that cannot be traced
def value_at(model, step, x):
    try:
        return create_feature_extractor(model, [step])(x)[step].clone()
    except Exception:
        pass
    found = []
    with model.get_submodule(step).register_forward_hook(lambda m, a, o: found.append(o.clone())):
        model(x)
    return found[0]

# %% stops_and_leaves_the_hook
# misconception: stops by an exception, and never comes to the line that removes the hook | hint: feat_hook_left
# breaks: No hook of yours is left on the model
class Stop(Exception):
    pass


def value_at(model, step, x):
    if step not in dict(model.named_modules()):
        return create_feature_extractor(model, [step])(x)[step]
    found = []

    def hook(module, args, output):
        found.append(output.detach().clone())
        raise Stop

    handle = model.get_submodule(step).register_forward_hook(hook)
    try:
        model(x)
        handle.remove()
    except Stop:
        return found[0]

# %% clears_all_hooks
# misconception: empties the dict of hooks, other people's too | hint: removes_other_hooks
# breaks: and other people's stay
def value_at(model, step, x):
    if step not in dict(model.named_modules()):
        return create_feature_extractor(model, [step])(x)[step]
    found, module = [], model.get_submodule(step)
    module.register_forward_hook(lambda m, a, o: found.append(o.detach().clone()))
    model(x)
    module._forward_hooks.clear()
    return found[0]

# %% to_the_device_of_the_first_parameter
# misconception: asks the model's first parameter for its device | hint: feat_first_parameter
# breaks: It works for any model
def value_at(model, step, x):
    if step not in dict(model.named_modules()):
        return create_feature_extractor(model, [step])(x)[step]
    found, module = [], model.get_submodule(step)
    with module.register_forward_hook(lambda m, a, o: found.append(o.detach().clone())):
        model(x.to(next(model.parameters()).device))
    return found[0]

# %% times_one
# misconception: copies by a product with 1, which turns true and false into whole numbers | hint: feat_digits_lost
# breaks: as it was when it was computed
def value_at(model, step, x):
    if step not in dict(model.named_modules()):
        return create_feature_extractor(model, [step])(x)[step]
    found, module = [], model.get_submodule(step)
    with module.register_forward_hook(lambda m, a, o: found.append(o.detach() * 1)):
        model(x)
    return found[0]
