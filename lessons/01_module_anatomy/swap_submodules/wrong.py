# nothing to break: Write `swap_relu(model)`.

# %% always_eval
# misconception: puts the whole model into eval mode | hint: mode_lost
# breaks: of the ReLU that it replaces
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
# breaks: Everything else stays as it was.
def swap_relu(model: nn.Module) -> nn.Module:
    for name, module in list(model.named_modules(remove_duplicate=False)):
        if "ReLU" in type(module).__name__:
            model.set_submodule(name, nn.Tanh().train(module.training))
    return model

# %% changes_class
# misconception: makes the ReLU itself a Tanh, also for those who hold it outside the model | hint: anatomy_changes_the_rest
# breaks: Everything else stays as it was.
# edits: changes_forward
-            module.forward = torch.tanh
+            module.__class__ = nn.Tanh

# %% class_not_object
# misconception: the class instead of an object | hint: anatomy_class_for_module
def swap_relu(model: nn.Module) -> nn.Module:
    for name, module in list(model.named_modules(remove_duplicate=False)):
        if isinstance(module, nn.ReLU):
            model.set_submodule(name, nn.Tanh)
    return model

# %% copies
# misconception: changes a copy | hint: copied_model
# breaks: returns the model
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
# misconception: returns the model untouched | hint: rebinds_name | canary
# breaks: where there is an `nn.ReLU`
def swap_relu(model: nn.Module) -> nn.Module:
    return model

# %% dotted_setattr
# misconception: setattr with a dotted name | hint: dotted_setattr
def swap_relu(model: nn.Module) -> nn.Module:
    for name, module in list(model.named_modules()):
        if isinstance(module, nn.ReLU):
            setattr(model, name, nn.Tanh().train(module.training))
    return model

# %% first_level
# misconception: direct children only | hint: first_level_only
# breaks: at any depth
# edits: dotted_setattr
-    for name, module in list(model.named_modules()):
+    for name, module in list(model.named_children()):

# %% compares_with_the_class
# misconception: compares a module with a class, which is never equal | hint: rebinds_name
# edits: class_not_object
-        if isinstance(module, nn.ReLU):
+        if module == nn.ReLU:

# %% freezes
# misconception: freezes the parameters | hint: anatomy_changes_the_rest
# breaks: Everything else stays as it was.
# edits: deleted_and_added
-                del parent._modules[name]
-                parent.add_module(name, nn.Tanh().train(child.training))
+                parent._modules[name] = nn.Tanh().train(child.training)
+    for p in model.parameters():
+        p.requires_grad_(False)

# %% functional_tanh
# misconception: puts a function where a module stands | hint: function_for_module
# edits: class_not_object
-            model.set_submodule(name, nn.Tanh)
+            path, _, last = name.rpartition(".")
+            setattr(model.get_submodule(path), last, torch.tanh)

# %% getattr_with_path
# misconception: looks the parent up with getattr | hint: anatomy_parent_not_found
# edits: class_not_object
-            model.set_submodule(name, nn.Tanh)
+            parent, _, attr = name.rpartition(".")
+            setattr(getattr(model, parent), attr, nn.Tanh().train(module.training))

# %% loop_variable
# misconception: gives the loop variable a new value | hint: rebinds_name
# edits: changes_forward
-            module.forward = torch.tanh
+            module = nn.Tanh().train(module.training)

# %% mode_lost
# misconception: the new modules are in training mode | hint: mode_lost
# breaks: of the ReLU that it replaces
# edits: always_eval
-    return model.eval()
+    return model

# %% last_part_on_the_model
# misconception: sets the last part of the name on the model itself | hint: anatomy_parent_not_found
# edits: class_not_object
-            model.set_submodule(name, nn.Tanh)
+            setattr(model, name.split(".")[-1], nn.Tanh().train(module.training))

# %% mode_of_the_parent
# misconception: the new modules get the mode of their parent | hint: mode_lost
# edits: deleted_and_added
-                del parent._modules[name]
-                parent.add_module(name, nn.Tanh().train(child.training))
+                parent._modules[name] = nn.Tanh().train(parent.training)

# %% one_tanh
# misconception: one Tanh for all places | hint: mode_lost
# breaks: of the ReLU that it replaces
def swap_relu(model: nn.Module) -> nn.Module:
    tanh = nn.Tanh()
    for name, module in list(model.named_modules(remove_duplicate=False)):
        if isinstance(module, nn.ReLU):
            model.set_submodule(name, tanh.train(module.training))
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

# %% returns_nothing
# misconception: does not return the model | hint: returns_nothing
# breaks: returns the model
def swap_relu(model: nn.Module) -> nn.Module:
    for name, module in list(model.named_modules(remove_duplicate=False)):
        if isinstance(module, nn.ReLU):
            model.set_submodule(name, nn.Tanh().train(module.training))

# %% sequentials_only
# misconception: looks into Sequentials only | hint: anatomy_some_left
# breaks: at any depth
def swap_relu(model: nn.Module) -> nn.Module:
    for block in model.modules():
        if isinstance(block, nn.Sequential):
            for number, part in enumerate(block):
                if isinstance(part, nn.ReLU):
                    block[number] = nn.Tanh().train(part.training)
    return model

# %% shared_once
# misconception: replaces a shared module at its first place only | hint: shared_place_missed
# breaks: is replaced everywhere
# edits: dotted_setattr
-            setattr(model, name, nn.Tanh().train(module.training))
+            model.set_submodule(name, nn.Tanh().train(module.training))

# %% shared_siblings
# misconception: recursion over named_children(), which skips a second name of the same object | hint: shared_place_missed
# edits: first_level
             setattr(model, name, nn.Tanh().train(module.training))
+        else:
+            swap_relu(module)

# %% sigmoid
# misconception: another activation | hint: anatomy_another_class
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

# %% walks_into_none
# misconception: goes on into an empty place | hint: absent_is_none
def swap_relu(model: nn.Module) -> nn.Module:
    if isinstance(model, nn.ReLU):
        return nn.Tanh().train(model.training)
    for name, child in list(model._modules.items()):
        setattr(model, name, swap_relu(child))
    return model

# %% as_printed
# misconception: takes what prints as ReLU() | hint: anatomy_some_left
# edits: class_name_contains
-        if "ReLU" in type(module).__name__:
+        if str(module) == "ReLU()":
