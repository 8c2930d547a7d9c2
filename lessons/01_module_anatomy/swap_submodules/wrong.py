# nothing to break: The model itself is not a ReLU
# nothing to break: one Tanh for both places and one for each are equally right

# %% always_eval
# misconception: puts the whole model into eval mode | hint: mode_lost
def swap_relu(model: nn.Module) -> nn.Module:
    for name, module in list(model.named_modules(remove_duplicate=False)):
        if isinstance(module, nn.ReLU):
            model.set_submodule(name, nn.Tanh())
    return model.eval()

# %% by_attribute_name
# misconception: replaces what is called act | hint: anatomy_by_attribute_name
def swap_relu(model: nn.Module) -> nn.Module:
    for module in model.modules():
        if hasattr(module, "act"):
            module.act = nn.Tanh()
    return model

# %% changes_forward
# misconception: changes what the ReLU computes, not what it is | hint: rebinds_name
def swap_relu(model: nn.Module) -> nn.Module:
    for module in model.modules():
        if isinstance(module, nn.ReLU):
            module.forward = torch.tanh
    return model

# %% class_name_contains
# misconception: takes every class with ReLU in its name | hint: by_class_name
# breaks: whose class only has ReLU in its name
def swap_relu(model: nn.Module) -> nn.Module:
    for name, module in list(model.named_modules(remove_duplicate=False)):
        if "ReLU" in type(module).__name__:
            model.set_submodule(name, nn.Tanh().train(module.training))
    return model

# %% class_not_object
# misconception: the class instead of an object | hint: anatomy_class_for_module
def swap_relu(model: nn.Module) -> nn.Module:
    for name, module in list(model.named_modules(remove_duplicate=False)):
        if isinstance(module, nn.ReLU):
            model.set_submodule(name, nn.Tanh)
    return model

# %% copies
# misconception: changes a copy | hint: copied_model
# breaks: It changes the model itself and returns it.
from copy import deepcopy


def swap_relu(model: nn.Module) -> nn.Module:
    model = deepcopy(model)
    for name, module in list(model.named_modules(remove_duplicate=False)):
        if isinstance(module, nn.ReLU):
            model.set_submodule(name, nn.Tanh().train(module.training))
    return model

# %% deleted_and_added
# misconception: deletes the name and adds it again | hint: anatomy_moved_to_the_end
def swap_relu(model: nn.Module) -> nn.Module:
    for parent in model.modules():
        for name, child in list(parent._modules.items()):
            if isinstance(child, nn.ReLU):
                del parent._modules[name]
                parent.add_module(name, nn.Tanh().train(child.training))
    return model

# %% does_nothing
# misconception: returns the model untouched | hint: rebinds_name
# breaks: Write `swap_relu(model)`.
def swap_relu(model: nn.Module) -> nn.Module:
    return model

# %% dotted_setattr
# misconception: setattr with a dotted name | hint: dotted_setattr
def swap_relu(model: nn.Module) -> nn.Module:
    for name, module in list(model.named_modules()):
        if isinstance(module, nn.ReLU):
            setattr(model, name, nn.Tanh().train(module.training))
    return model

# %% dotted_setattr_while_walking
# misconception: setattr with a dotted name, during the walk | hint: anatomy_changed_while_walking
def swap_relu(model: nn.Module) -> nn.Module:
    for name, module in model.named_modules():
        if isinstance(module, nn.ReLU):
            setattr(model, name, nn.Tanh())
    return model

# %% draws_new_weights
# misconception: draws new weights | hint: anatomy_changes_the_rest
# breaks: Everything else stays as it was
def swap_relu(model: nn.Module) -> nn.Module:
    for parent in model.modules():
        for name, child in list(parent._modules.items()):
            if isinstance(child, nn.ReLU):
                parent._modules[name] = nn.Tanh().train(child.training)
            if isinstance(child, nn.Linear):
                child.reset_parameters()
    return model

# %% first_level
# misconception: direct children only | hint: first_level_only
# breaks: at any depth
# edits: dotted_setattr
-    for name, module in list(model.named_modules()):
+    for name, module in list(model.named_children()):

# %% forward_hook
# misconception: changes the output of each ReLU with a hook | hint: rebinds_name
# edits: changes_forward
-            module.forward = torch.tanh
+            module.register_forward_hook(lambda m, i, o: torch.tanh(i[0]))

# %% freezes
# misconception: freezes the parameters | hint: anatomy_changes_the_rest
# breaks: Everything else stays as it was
def swap_relu(model: nn.Module) -> nn.Module:
    for parent in model.modules():
        for name, child in list(parent._modules.items()):
            if isinstance(child, nn.ReLU):
                parent._modules[name] = nn.Tanh().train(child.training)
    for p in model.parameters():
        p.requires_grad_(False)
    return model

# %% functional_tanh
# misconception: puts a function where a module stands | hint: function_for_module
def swap_relu(model: nn.Module) -> nn.Module:
    for name, module in list(model.named_modules(remove_duplicate=False)):
        if isinstance(module, nn.ReLU):
            path, _, last = name.rpartition(".")
            setattr(model.get_submodule(path), last, torch.tanh)
    return model

# %% getattr_with_path
# misconception: looks the parent up with getattr | hint: anatomy_parent_not_found
def swap_relu(model: nn.Module) -> nn.Module:
    for name, module in list(model.named_modules(remove_duplicate=False)):
        if isinstance(module, nn.ReLU):
            parent, _, attr = name.rpartition(".")
            setattr(getattr(model, parent), attr, nn.Tanh().train(module.training))
    return model

# %% loop_variable
# misconception: gives the loop variable a new value | hint: rebinds_name
# edits: changes_forward
-            module.forward = torch.tanh
+            module = nn.Tanh().train(module.training)

# %% mode_lost
# misconception: the new modules are in training mode | hint: mode_lost
# edits: always_eval
-    return model.eval()
+    return model

# %% mode_of_the_model
# misconception: the new modules get the mode of the whole model | hint: mode_lost
# edits: class_not_object
-            model.set_submodule(name, nn.Tanh)
+            model.set_submodule(name, nn.Tanh().train(model.training))

# %% mode_of_the_parent
# misconception: the new modules get the mode of their parent | hint: mode_lost
# breaks: in the mode (training or eval) of that ReLU
def swap_relu(model: nn.Module) -> nn.Module:
    for parent in model.modules():
        for name, child in list(parent._modules.items()):
            if isinstance(child, nn.ReLU):
                parent._modules[name] = nn.Tanh().train(parent.training)
    return model

# %% one_tanh
# misconception: one Tanh for all places | hint: anatomy_one_for_all
# breaks: Each ReLU gets a Tanh of its own
def swap_relu(model: nn.Module) -> nn.Module:
    tanh = nn.Tanh()
    for name, module in list(model.named_modules(remove_duplicate=False)):
        if isinstance(module, nn.ReLU):
            model.set_submodule(name, tanh.train(module.training))
    return model

# %% recursion_by_children
# misconception: replaces by the name under which children are shown | hint: shared_place_missed
def swap_relu(model: nn.Module) -> nn.Module:
    if isinstance(model, nn.ReLU):
        return nn.Tanh().train(model.training)
    for name, child in model.named_children():
        setattr(model, name, swap_relu(child))
    return model

# %% relu_then_tanh
# misconception: puts the Tanh behind the ReLU | hint: anatomy_wrapped_not_replaced
# edits: class_not_object
-            model.set_submodule(name, nn.Tanh)
+            model.set_submodule(name, nn.Sequential(module, nn.Tanh()))

# %% returned_from_apply
# misconception: returns the new module from the function given to apply | hint: rebinds_name
def swap_relu(model: nn.Module) -> nn.Module:
    def replace(module):
        return nn.Tanh().train(module.training) if isinstance(module, nn.ReLU) else module


    return model.apply(replace)

# %% returns_in_loop
# misconception: returns after the first replacement | hint: returns_too_early
def swap_relu(model: nn.Module) -> nn.Module:
    for name, module in list(model.named_modules(remove_duplicate=False)):
        if isinstance(module, nn.ReLU):
            model.set_submodule(name, nn.Tanh().train(module.training))
            return model

# %% returns_nothing
# misconception: does not return the model | hint: returns_nothing
# breaks: returns it
# edits: returns_in_loop
-            return model

# %% sets_every_name
# misconception: sets every module again, the model included | hint: anatomy_root_has_no_parent
def swap_relu(model: nn.Module) -> nn.Module:
    for name, module in list(model.named_modules(remove_duplicate=False)):
        model.set_submodule(name, nn.Tanh() if isinstance(module, nn.ReLU) else module)
    return model

# %% shallow_copy
# misconception: changes a shallow copy | hint: copied_model
import copy


def swap_relu(model: nn.Module) -> nn.Module:
    out = copy.copy(model)
    for name, module in list(out.named_modules(remove_duplicate=False)):
        if isinstance(module, nn.ReLU):
            out.set_submodule(name, nn.Tanh().train(module.training))
    return out

# %% shared_once
# misconception: replaces a shared module at its first place only | hint: shared_place_missed
# breaks: that stands at two places is replaced at both
# edits: dotted_setattr
-            setattr(model, name, nn.Tanh().train(module.training))
+            model.set_submodule(name, nn.Tanh().train(module.training))

# %% shared_siblings
# misconception: recursion over named_children(), which skips a second name of the same object | hint: shared_place_missed
# breaks: that stands at two places is replaced at both
# edits: first_level
             setattr(model, name, nn.Tanh().train(module.training))
+        else:
+            swap_relu(module)

# %% sigmoid
# misconception: another activation | hint: anatomy_another_class
# breaks: an `nn.Tanh` stands at every place
# edits: class_not_object
-            model.set_submodule(name, nn.Tanh)
+            model.set_submodule(name, nn.Sigmoid().train(module.training))

# %% two_parts
# misconception: splits each name into two | hint: anatomy_parent_not_found
def swap_relu(model: nn.Module) -> nn.Module:
    for name, module in model.named_modules():
        if isinstance(module, nn.ReLU):
            parent, attr = name.split(".")
            setattr(getattr(model, parent), attr, nn.Tanh())
    return model

# %% class_name_begins
# misconception: takes every class whose name begins with ReLU | hint: by_class_name
# breaks: whose class only has ReLU in its name
# edits: class_name_contains
-        if "ReLU" in type(module).__name__:
+        if type(module).__name__.startswith("ReLU"):

# %% as_printed
# misconception: takes what prints as ReLU() | hint: anatomy_by_what_it_prints
# breaks: where an `nn.ReLU` stood
# edits: class_name_begins
-        if type(module).__name__.startswith("ReLU"):
+        if str(module) == "ReLU()":

# %% walks_into_none
# misconception: goes on into an empty place | hint: absent_is_none
# breaks: The model may have empty places
def swap_relu(model: nn.Module) -> nn.Module:
    if isinstance(model, nn.ReLU):
        return nn.Tanh().train(model.training)
    for name, child in list(model._modules.items()):
        setattr(model, name, swap_relu(child))
    return model

# %% zeroes_gradients
# misconception: sets the gradients back | hint: anatomy_changes_the_rest
# breaks: Everything else stays as it was
# edits: returns_nothing
+    model.zero_grad()
+    return model

# %% only_in_training_mode
# misconception: passes over what is in eval mode | hint: anatomy_some_left
# breaks: an `nn.Tanh` stands at every place
# edits: as_printed
-        if str(module) == "ReLU()":
+        if isinstance(module, nn.ReLU) and module.training:

# %% clears_empty_places
# misconception: takes empty places away | hint: anatomy_changes_the_rest
# breaks: Everything else stays as it was
def swap_relu(model: nn.Module) -> nn.Module:
    for parent in model.modules():
        for name, module in list(parent._modules.items()):
            if module is None:
                del parent._modules[name]
            elif isinstance(module, nn.ReLU):
                parent._modules[name] = nn.Tanh().train(module.training)
    return model

# %% clears_hooks
# misconception: takes hooks away | hint: anatomy_changes_the_rest
# breaks: Everything else stays as it was
def swap_relu(model: nn.Module) -> nn.Module:
    for name, module in list(model.named_modules(remove_duplicate=False)):
        module._forward_hooks.clear()
        if isinstance(module, nn.ReLU):
            model.set_submodule(name, nn.Tanh().train(module.training))
    return model

# %% one_for_each_mode
# misconception: two Tanhs for all places, one for each mode | hint: anatomy_one_for_all
# breaks: Each ReLU gets a Tanh of its own
def swap_relu(model: nn.Module) -> nn.Module:
    pool = {True: nn.Tanh(), False: nn.Tanh().eval()}
    names = {n: m.training for n, m in model.named_modules(remove_duplicate=False) if isinstance(m, nn.ReLU)}
    for name, mode in names.items():
        model.set_submodule(name, pool[mode])
    return model

# %% same_class_name
# misconception: takes every class that is called ReLU | hint: by_class_name
# breaks: whose class only has ReLU in its name
def swap_relu(model: nn.Module) -> nn.Module:
    for parent in list(model.modules()):
        for name, child in list(parent._modules.items()):
            if type(child).__name__ == "ReLU":
                parent._modules[name] = nn.Tanh().train(child.training)
    return model

# %% turns_the_relu_into_a_tanh
# misconception: gives the ReLU itself another class | hint: anatomy_changes_the_rest
# breaks: and so do other models that hold the same ReLU
# edits: changes_forward
-            module.forward = torch.tanh
+            module.__class__ = nn.Tanh

# %% remembers_each_relu
# misconception: hands out the Tanh of an earlier call again | hint: anatomy_one_for_all
# breaks: in the mode (training or eval) of that ReLU
MADE = {}


def swap_relu(model: nn.Module) -> nn.Module:
    for parent in list(model.modules()):
        for name, child in list(parent._modules.items()):
            if isinstance(child, nn.ReLU):
                parent._modules[name] = MADE.setdefault(child, nn.Tanh().train(child.training))
    return model

# %% marks_what_it_has_seen
# misconception: marks modules, and passes over marked ones | hint: anatomy_some_left
# breaks: Everything else stays as it was
def swap_relu(model: nn.Module) -> nn.Module:
    made = {}

    def visit(module):
        module.visited = True
        for name, child in list(module._modules.items()):
            if isinstance(child, nn.ReLU):
                module._modules[name] = made.setdefault(child, nn.Tanh().train(child.training))
            elif child is not None and not hasattr(child, "visited"):
                visit(child)

    visit(model)
    return model

# %% notes_on_the_model
# misconception: notes on the model that it is done | hint: anatomy_changes_the_rest
# breaks: Everything else stays as it was
def swap_relu(model: nn.Module) -> nn.Module:
    for parent in list(model.modules()):
        for name, child in list(parent._modules.items()):
            if isinstance(child, nn.ReLU):
                parent._modules[name] = nn.Tanh().train(child.training)
    model.swapped = True
    return model

# %% five_levels
# misconception: looks five levels deep | hint: anatomy_some_left
# breaks: at any depth
def swap_relu(model: nn.Module, level: int = 0) -> nn.Module:
    for name, child in list(model._modules.items()):
        if isinstance(child, nn.ReLU):
            model._modules[name] = nn.Tanh().train(child.training)
        elif child is not None and level < 4:
            swap_relu(child, level + 1)
    return model

# %% returns_the_child
# misconception: returns from the loop what the recursion returns | hint: returns_too_early
# breaks: It changes the model itself and returns it.
def swap_relu(model: nn.Module) -> nn.Module:
    for name, child in model.named_children():
        if isinstance(child, nn.ReLU):
            setattr(model, name, nn.Tanh().train(child.training))
        else:
            return swap_relu(child)
    return model

# %% sequentials_only
# misconception: looks into Sequentials only | hint: anatomy_some_left
# breaks: stands at every place, at any
def swap_relu(model: nn.Module) -> nn.Module:
    for block in model.modules():
        if isinstance(block, nn.Sequential):
            for number, part in enumerate(block):
                if isinstance(part, nn.ReLU):
                    block[number] = nn.Tanh().train(part.training)
    return model

# %% old_one_in_eval_mode
# misconception: puts the ReLU that goes into eval mode, which other models may hold | hint: anatomy_changes_the_rest
# breaks: and so do other models that hold the same ReLU
def swap_relu(model: nn.Module) -> nn.Module:
    for parent in model.modules():
        for name, child in parent._modules.items():
            if isinstance(child, nn.ReLU):
                parent._modules[name] = nn.Tanh().train(child.training)
                child.eval()
    return model
