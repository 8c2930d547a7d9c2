# nothing to break: No child has a dot in its own name

# %% alphabetical
# misconception: sorts the names | hint: anatomy_another_order
# breaks: the lists (or tuples) keep the order in which the four methods give them
def inventory(model: nn.Module) -> dict[str, object]:
    return {
        "children": sorted(n for n, _ in model.named_children()),
        "modules": sorted(n for n, _ in model.named_modules() if n),
        "leaves": sum(1 for name, module in model.named_modules() if name and not list(module.children())),
        "parameters": {name: tuple(p.shape) for name, p in model.named_parameters()},
        "buffers": [name for name, _ in model.named_buffers()],
    }

# %% branches_are_containers
# misconception: takes all but the containers for leaves | hint: anatomy_containers_for_branches
# edits: leaves_hold_themselves_only
-        "leaves": sum(1 for m in list(model.modules())[1:] if len(list(m.modules())) == 1),
+        "leaves": sum(
+            1
+            for n, m in model.named_modules()
+            if n and not isinstance(m, (nn.Sequential, nn.ModuleList, nn.ModuleDict))
+        ),

# %% buffers_from_state_dict
# misconception: takes buffers from the state_dict | hint: unsaved_buffers_missing
# breaks: all buffers, saved or not
# edits: names_filtered
-        "buffers": [name for name, _ in model.named_buffers()],
+        "buffers": [k for k in model.state_dict() if k not in dict(model.named_parameters())],

# %% children_for_modules
# misconception: lists one level only | hint: children_for_modules
# breaks: all modules in the model, at any depth
# edits: names_filtered
-        "modules": [name for name, _ in model.named_modules() if name],
+        "modules": [name for name, _ in model.named_children()],

# %% class_names
# misconception: names of classes | hint: anatomy_modules_for_names
# edits: names_filtered
-        "modules": [name for name, _ in model.named_modules() if name],
+        "modules": [type(m).__name__ for m in model.modules()],

# %% default_that_lives_on
# misconception: a default value that lives on | hint: anatomy_kept_between_calls
def inventory(model, found={"children": [], "modules": [], "leaves": 0, "parameters": {}, "buffers": []}):
    found["children"] += [n for n, _ in model.named_children()]
    found["modules"] += [n for n, _ in model.named_modules() if n]
    found["leaves"] += sum(1 for n, m in model.named_modules() if n and not list(m.children()))
    found["parameters"].update({n: tuple(p.shape) for n, p in model.named_parameters()})
    found["buffers"] += [n for n, _ in model.named_buffers()]
    return found

# %% dict_of_buffers
# misconception: a dict of buffers | hint: iterator_not_list
# edits: names_filtered
-        "buffers": [name for name, _ in model.named_buffers()],
+        "buffers": dict(model.named_buffers()),

# %% drops_the_last
# misconception: drops the last name instead of the first | hint: counts_root
# edits: names_filtered
-        "modules": [name for name, _ in model.named_modules() if name],
+        "modules": [n for n, _ in model.named_modules()][:-1],

# %% frozen_as_buffer
# misconception: takes what needs no gradient for a buffer | hint: anatomy_frozen_as_buffer
# edits: names_filtered
-        "buffers": [name for name, _ in model.named_buffers()],
+        "buffers": [n for n, v in model.state_dict(keep_vars=True).items() if not v.requires_grad],

# %% frozen_left_out
# misconception: lists only parameters that need a gradient | hint: frozen_left_out
# edits: names_filtered
-        "parameters": {name: tuple(p.shape) for name, p in model.named_parameters()},
+        "parameters": {n: tuple(p.shape) for n, p in model.named_parameters() if p.requires_grad},

# %% generators
# misconception: hands out generators | hint: iterator_not_list
# breaks: list of the names of all modules
def inventory(model: nn.Module) -> dict[str, object]:
    return {
        "children": (name for name, _ in model.named_children()),
        "modules": (name for name, _ in model.named_modules() if name),
        "leaves": sum(1 for name, module in model.named_modules() if name and not list(module.children())),
        "parameters": {name: tuple(p.shape) for name, p in model.named_parameters()},
        "buffers": [name for name, _ in model.named_buffers()],
    }

# %% leaf_model
# misconception: counts the model itself where it has no children | hint: counts_root
# breaks: so a single layer has no modules and no leaves
# edits: leaves_hold_themselves_only
-        "leaves": sum(1 for m in list(model.modules())[1:] if len(list(m.modules())) == 1),
+        "leaves": sum(1 for module in model.modules() if not list(module.children())),

# %% leaves_are_modules
# misconception: counts all modules as leaves | hint: counts_branches
# breaks: have no children
# edits: leaves_hold_themselves_only
-        "leaves": sum(1 for m in list(model.modules())[1:] if len(list(m.modules())) == 1),
+        "leaves": sum(1 for name, _ in model.named_modules() if name),

# %% leaves_by_dots
# misconception: takes a dot in the name for a leaf | hint: anatomy_leaves_by_name
# edits: leaves_hold_themselves_only
-        "leaves": sum(1 for m in list(model.modules())[1:] if len(list(m.modules())) == 1),
+        "leaves": len([n for n, _ in model.named_modules() if "." in n]),

# %% leaves_have_parameters
# misconception: takes modules with parameters for leaves | hint: anatomy_leaves_with_parameters
# edits: leaves_hold_themselves_only
-        "leaves": sum(1 for m in list(model.modules())[1:] if len(list(m.modules())) == 1),
+        "leaves": sum(1 for m in model.modules() if list(m.parameters(recurse=False))),

# %% leaves_of_first_level
# misconception: counts leaves among the children only | hint: own_only
# edits: leaves_hold_themselves_only
-        "leaves": sum(1 for m in list(model.modules())[1:] if len(list(m.modules())) == 1),
+        "leaves": sum(1 for m in model.children() if not list(m.children())),

# %% level_by_level
# misconception: walks level by level | hint: anatomy_another_order
def inventory(model: nn.Module) -> dict[str, object]:
    names, level = [], [("", model)]
    while level:
        level = [(f"{p}.{k}" if p else k, c) for p, m in level for k, c in m.named_children()]
        names += [n for n, _ in level]
    return {
        "children": [n for n, _ in model.named_children()],
        "modules": names,
        "leaves": sum(1 for name, module in model.named_modules() if name and not list(module.children())),
        "parameters": {name: tuple(p.shape) for name, p in model.named_parameters()},
        "buffers": [name for name, _ in model.named_buffers()],
    }

# %% list_of_leaves
# misconception: lists the leaves | hint: anatomy_list_for_number
# breaks: an int
# edits: leaves_hold_themselves_only
-        "leaves": sum(1 for m in list(model.modules())[1:] if len(list(m.modules())) == 1),
+        "leaves": [name for name, module in model.named_modules() if name and not list(module.children())],

# %% misspelt_key
# misconception: spells a key differently | hint: anatomy_entry_missing
# breaks: with five entries
# edits: leaves_hold_themselves_only
-        "leaves": sum(1 for m in list(model.modules())[1:] if len(list(m.modules())) == 1),
+        "leafs": sum(1 for name, module in model.named_modules() if name and not list(module.children())),

# %% module_names_without_path
# misconception: names of modules without the path | hint: name_without_path
# edits: names_filtered
-        "modules": [name for name, _ in model.named_modules() if name],
+        "modules": [key for m in model.modules() for key, _ in m.named_children()],

# %% modules_for_children
# misconception: lists all levels as children | hint: modules_for_children
# breaks: the modules that stand directly in the model
# edits: names_filtered
-        "children": [name for name, _ in model.named_children()],
+        "children": [name for name, _ in model.named_modules() if name],

# %% names_without_path
# misconception: names without the path | hint: name_without_path
# breaks: All names are dotted names
# edits: names_filtered
-        "parameters": {name: tuple(p.shape) for name, p in model.named_parameters()},
+        "parameters": {key: tuple(p.shape) for m in model.modules() for key, p in m.named_parameters(recurse=False)},

# %% numbers_for_shapes
# misconception: sizes instead of shapes | hint: size_not_shape
# breaks: name of each parameter → its shape
# edits: names_filtered
-        "parameters": {name: tuple(p.shape) for name, p in model.named_parameters()},
+        "parameters": {name: p.numel() for name, p in model.named_parameters()},

# %% own_buffers
# misconception: buffers of the root only | hint: own_only
# edits: names_filtered
-        "buffers": [name for name, _ in model.named_buffers()],
+        "buffers": list(model._buffers),

# %% own_parameters
# misconception: parameters of the root only | hint: own_only
# edits: names_filtered
-        "parameters": {name: tuple(p.shape) for name, p in model.named_parameters()},
+        "parameters": {name: tuple(p.shape) for name, p in model.named_parameters(recurse=False)},

# %% pairs
# misconception: hands out pairs | hint: anatomy_modules_for_names
def inventory(model: nn.Module) -> dict[str, object]:
    return {
        "children": list(model.named_children()),
        "modules": list(model.named_modules()),
        "leaves": sum(1 for name, module in model.named_modules() if name and not list(module.children())),
        "parameters": {name: tuple(p.shape) for name, p in model.named_parameters()},
        "buffers": [name for name, _ in model.named_buffers()],
    }

# %% parameters_from_state_dict
# misconception: takes the parameters from the state_dict | hint: anatomy_buffers_among_parameters
# edits: names_filtered
-        "parameters": {name: tuple(p.shape) for name, p in model.named_parameters()},
+        "parameters": {name: tuple(p.shape) for name, p in model.state_dict().items()},

# %% prints
# misconception: prints instead of returning | hint: returns_nothing
# breaks: It returns a dict
def inventory(model: nn.Module) -> dict[str, object]:
    print([name for name, _ in model.named_children()])
    print([name for name, _ in model.named_modules()])

# %% private_buffers
# misconception: reads _buffers, where None may stand | hint: absent_is_none
# breaks: an empty place does not count
# edits: names_filtered
-        "buffers": [name for name, _ in model.named_buffers()],
+        "buffers": [f"{n}.{k}".lstrip(".") for n, m in model.named_modules() for k in m._buffers],

# %% private_children
# misconception: reads _modules, where None may stand | hint: absent_is_none
# edits: names_filtered
-        "children": [name for name, _ in model.named_children()],
+        "children": list(model._modules),

# %% private_leaves
# misconception: reads _modules, where None may stand | hint: absent_is_none
# edits: leaves_hold_themselves_only
-        "leaves": sum(1 for m in list(model.modules())[1:] if len(list(m.modules())) == 1),
+        "leaves": sum(1 for n, m in model.named_modules() if n and not m._modules),

# %% private_parameters
# misconception: reads _parameters, where None may stand | hint: absent_is_none
# edits: names_filtered
-        "parameters": {name: tuple(p.shape) for name, p in model.named_parameters()},
+        "parameters": {f"{n}.{k}".lstrip("."): tuple(p.shape) for n, m in model.named_modules() for k, p in m._parameters.items()},

# %% root_included
# misconception: the model is listed among its parts | hint: counts_root
# breaks: The model itself is not one of its parts
# edits: names_filtered
-        "modules": [name for name, _ in model.named_modules() if name],
+        "modules": [name for name, _ in model.named_modules()],

# %% shared_buffers_twice
# misconception: lists a shared buffer at both places | hint: counts_twice
# edits: names_filtered
-        "buffers": [name for name, _ in model.named_buffers()],
+        "buffers": [n for n, _ in model.named_buffers(remove_duplicate=False)],

# %% shared_leaf_twice
# misconception: counts a shared leaf at both places | hint: counts_twice
def leaves(module):
    children = list(module.children())
    return sum(leaves(child) for child in children) if children else 1


def inventory(model: nn.Module) -> dict[str, object]:
    return {
        "children": [name for name, _ in model.named_children()],
        "modules": [name for name, _ in model.named_modules() if name],
        "leaves": leaves(model),
        "parameters": {name: tuple(p.shape) for name, p in model.named_parameters()},
        "buffers": [name for name, _ in model.named_buffers()],
    }

# %% shared_parameters_twice
# misconception: lists a shared parameter at both places | hint: counts_twice
# edits: names_filtered
-        "parameters": {name: tuple(p.shape) for name, p in model.named_parameters()},
+        "parameters": {n: tuple(p.shape) for n, p in model.named_parameters(remove_duplicate=False)},

# %% shared_twice
# misconception: lists a shared module at both places | hint: counts_twice
# breaks: An object that stands at two places counts once
# edits: names_filtered
-        "modules": [name for name, _ in model.named_modules() if name],
+        "modules": [name for name, _ in model.named_modules(remove_duplicate=False) if name],

# %% tensors_for_shapes
# misconception: hands out the parameters themselves | hint: anatomy_parameters_in_another_form
# edits: names_filtered
-        "parameters": {name: tuple(p.shape) for name, p in model.named_parameters()},
+        "parameters": dict(model.named_parameters()),

# %% tied_parameter_twice
# misconception: lists a parameter of two modules in both | hint: counts_twice
def inventory(model: nn.Module) -> dict[str, object]:
    parameters = {}
    for name, module in model.named_modules():
        for key, parameter in module.named_parameters(recurse=False):
            parameters[f"{name}.{key}" if name else key] = tuple(parameter.shape)
    return {
        "children": [name for name, _ in model.named_children()],
        "modules": [name for name, _ in model.named_modules() if name],
        "leaves": sum(1 for name, module in model.named_modules() if name and not list(module.children())),
        "parameters": parameters,
        "buffers": [name for name, _ in model.named_buffers()],
    }

# %% tuple
# misconception: a tuple instead of a dict | hint: anatomy_not_a_dict
def inventory(model: nn.Module) -> dict[str, object]:
    return [n for n, _ in model.named_children()], [n for n, _ in model.named_modules() if n]

# %% two_levels
# misconception: two levels only | hint: children_for_modules
# edits: names_filtered
-        "modules": [name for name, _ in model.named_modules() if name],
+        "modules": [n for n, _ in model.named_children()]
+        + [f"{n}.{k}" for n, m in model.named_children() for k, _ in m.named_children()],

# %% typed_in
# misconception: types what TinyNet shows | hint: anatomy_notebooks_own_model
# breaks: Write `inventory(model)` for any model.
def inventory(model: nn.Module) -> dict[str, object]:
    return {
        "children": ["features", "heads"],
        "modules": ["features", "features.0"],
        "leaves": 5,
        "parameters": {"scale": (1,)},
        "buffers": [],
    }

# %% vars
# misconception: looks among the plain attributes | hint: anatomy_looks_among_attributes
# edits: names_filtered
-        "children": [name for name, _ in model.named_children()],
+        "children": [n for n, v in vars(model).items() if isinstance(v, nn.Module)],

# %% names_that_begin_alike
# misconception: takes fc10 for a part of fc1 | hint: anatomy_leaves_by_name
# breaks: how many of those `"modules"` have no children
def inventory(model: nn.Module) -> dict[str, object]:
    names = [name for name, _ in model.named_modules() if name]
    return {
        "children": [name for name, _ in model.named_children()],
        "modules": names,
        "leaves": sum(1 for one in names if not any(o != one and o.startswith(one) for o in names)),
        "parameters": {name: tuple(p.shape) for name, p in model.named_parameters()},
        "buffers": [name for name, _ in model.named_buffers()],
    }

# %% tied_buffer_twice
# misconception: lists a buffer of two modules in both | hint: counts_twice
# breaks: An object that stands at two places counts once
# edits: names_filtered
-        "buffers": [name for name, _ in model.named_buffers()],
+        "buffers": [
+            f"{name}.{key}".lstrip(".") for name, m in model.named_modules() for key, _ in m.named_buffers(recurse=False)
+        ],

# %% empty_container
# misconception: takes an empty container for a branch | hint: anatomy_containers_for_branches
# breaks: how many of those `"modules"` have no children
# edits: branches_are_containers
-            for n, m in model.named_modules()
-            if n and not isinstance(m, (nn.Sequential, nn.ModuleList, nn.ModuleDict))
+            for name, module in model.named_modules()
+            if name and not list(module.children()) and not isinstance(module, (nn.Sequential, nn.ModuleList, nn.ModuleDict))

# %% second_name_of_a_child
# misconception: lists a child under each of its names | hint: counts_twice
# breaks: counts once
# edits: names_filtered
-        "children": [name for name, _ in model.named_children()],
+        "children": [name for name, child in model._modules.items() if child is not None],

# %% two_dimensions
# misconception: shapes of two dimensions at most | hint: size_not_shape
# breaks: name of each parameter → its shape
# edits: names_filtered
-        "parameters": {name: tuple(p.shape) for name, p in model.named_parameters()},
+        "parameters": {name: (p.shape[0], p.numel() // p.shape[0]) if p.dim() > 1 else tuple(p.shape) for name, p in model.named_parameters()},

# %% branch_with_parameters
# misconception: takes a branch with a parameter of its own for a leaf | hint: anatomy_leaves_with_parameters
# breaks: have no children
# edits: leaves_hold_themselves_only
-        "leaves": sum(1 for m in list(model.modules())[1:] if len(list(m.modules())) == 1),
+        "leaves": sum(1 for n, m in model.named_modules() if n and (not m._modules or list(m.parameters(recurse=False)))),

# %% puts_into_eval
# misconception: puts the model into eval mode first | hint: anatomy_changes_the_rest
# breaks: The model stays as it was.
def inventory(model: nn.Module) -> dict[str, object]:
    model.eval()
    return {
        "children": [name for name, _ in model.named_children()],
        "modules": [name for name, _ in model.named_modules() if name],
        "leaves": sum(1 for name, module in model.named_modules() if name and not list(module.children())),
        "parameters": {n: tuple(p.shape) for n, p in model.named_parameters() if n},
        "buffers": [name for name, _ in model.named_buffers()],
    }

# %% clears_empty_places
# misconception: takes empty places away first | hint: anatomy_changes_the_rest
# breaks: The model stays as it was.
# edits: names_filtered
 def inventory(model: nn.Module) -> dict[str, object]:
+    for m in model.modules():
+        for k in [k for k, v in m._modules.items() if v is None]:
+            del m._modules[k]

# %% children_without_a_dot
# misconception: takes the modules without a dot in their name for the children | hint: anatomy_children_by_name
# breaks: A child of the model is among its `"children"`
def inventory(model: nn.Module) -> dict[str, object]:
    parts = [(name, module) for name, module in model.named_modules() if module is not model]
    return {
        "children": [name for name, _ in parts if "." not in name],
        "modules": [name for name, _ in parts],
        "leaves": sum(1 for _, module in parts if not list(module.children())),
        "parameters": {name: tuple(tensor.shape) for name, tensor in model.named_parameters()},
        "buffers": [name for name, _ in model.named_buffers()],
    }

# %% leaves_without_names_below
# misconception: takes a module for a leaf if no name goes on with its own | hint: anatomy_leaves_by_name
# breaks: how many of those `"modules"` have no children
def inventory(model: nn.Module) -> dict[str, object]:
    parts = [(name, module) for name, module in model.named_modules() if module is not model]
    return {
        "children": [name for name, _ in model.named_children()],
        "modules": [name for name, _ in parts],
        "leaves": sum(not any(other.startswith(f"{name}.") for other, _ in parts) for name, _ in parts),
        "parameters": {name: tuple(tensor.shape) for name, tensor in model.named_parameters()},
        "buffers": [name for name, _ in model.named_buffers()],
    }

# %% a_number_has_a_shape
# misconception: gives a single number the shape (1,) | hint: size_not_shape
# breaks: name of each parameter → its shape
# edits: leaves_without_names_below
-        "leaves": sum(not any(other.startswith(f"{name}.") for other, _ in parts) for name, _ in parts),
-        "parameters": {name: tuple(tensor.shape) for name, tensor in model.named_parameters()},
+        "leaves": sum(1 for _, module in parts if not list(module.children())),
+        "parameters": {name: tuple(tensor.shape) or (1,) for name, tensor in model.named_parameters()},

# %% tensors_without_elements
# misconception: leaves tensors out that have no element | hint: anatomy_tensors_left_out
# breaks: name of each parameter → its shape
# breaks: all buffers, saved or not
# edits: a_number_has_a_shape
-        "parameters": {name: tuple(tensor.shape) or (1,) for name, tensor in model.named_parameters()},
-        "buffers": [name for name, _ in model.named_buffers()],
+        "parameters": {name: tuple(tensor.shape) for name, tensor in model.named_parameters() if tensor.numel()},
+        "buffers": [name for name, tensor in model.named_buffers() if tensor.numel()],

# %% remembers_its_answers
# misconception: remembers the answer for each model | hint: anatomy_kept_between_calls
# breaks: Each call says what is in the model at that moment.
from functools import lru_cache


@lru_cache(maxsize=None)
def inventory(model: nn.Module) -> dict[str, object]:
    parts = [(name, module) for name, module in model.named_modules() if module is not model]
    return {
        "children": [name for name, _ in model.named_children()],
        "modules": [name for name, _ in parts],
        "leaves": sum(1 for _, module in parts if not list(module.children())),
        "parameters": {name: tuple(tensor.shape) for name, tensor in model.named_parameters()},
        "buffers": [name for name, _ in model.named_buffers()],
    }

# %% writes_names_on_modules
# misconception: writes its name on each module | hint: anatomy_changes_the_rest
# breaks: The model stays as it was.
def inventory(model: nn.Module) -> dict[str, object]:
    parts = [(name, module) for name, module in model.named_modules() if module is not model]
    for name, module in parts:
        module.path = name
    return {
        "children": [name for name, _ in model.named_children()],
        "modules": [name for name, _ in parts],
        "leaves": sum(1 for _, module in parts if not list(module.children())),
        "parameters": {name: tuple(tensor.shape) for name, tensor in model.named_parameters()},
        "buffers": [name for name, _ in model.named_buffers()],
    }

# %% one_mode_for_all
# misconception: puts the model's own mode back, for all of it | hint: anatomy_changes_the_rest
# breaks: The model stays as it was.
# edits: a_number_has_a_shape
 def inventory(model: nn.Module) -> dict[str, object]:
+    model.train(model.training)
@@
-        "parameters": {name: tuple(tensor.shape) or (1,) for name, tensor in model.named_parameters()},
+        "parameters": {name: tuple(tensor.shape) for name, tensor in model.named_parameters()},

# %% five_levels
# misconception: looks five levels deep | hint: children_for_modules
# breaks: all modules in the model, at any depth
# edits: one_mode_for_all
-    model.train(model.training)
-    parts = [(name, module) for name, module in model.named_modules() if module is not model]
+    parts = [(name, module) for name, module in model.named_modules() if module is not model and name.count(".") < 5]

# %% any_of_the_children
# misconception: asks any() whether there are children | hint: anatomy_empty_is_false
# breaks: what holds one is no leaf
# edits: leaves_without_names_below
-        "leaves": sum(not any(other.startswith(f"{name}.") for other, _ in parts) for name, _ in parts),
+        "leaves": sum(not any(module.children()) for _, module in parts),

# %% children_that_are_true
# misconception: leaves children out that count as false | hint: anatomy_empty_is_false
# breaks: list of the names of the modules that stand directly in the model
# edits: children_without_a_dot
-        "children": [name for name, _ in parts if "." not in name],
+        "children": [name for name, child in model.named_children() if child],

# %% one_memory_one_parameter
# misconception: takes parameters on the same memory for one | hint: anatomy_memory_for_object
# breaks: An object that stands at two places counts once
def inventory(model: nn.Module) -> dict[str, object]:
    parts = [(name, module) for name, module in model.named_modules() if module is not model]
    shapes, seen = {}, set()
    for name, tensor in model.named_parameters():
        place = (tensor.data_ptr(), tensor.shape)
        if place not in seen:
            shapes[name] = tuple(tensor.shape)
        seen.add(place)
    return {
        "children": [name for name, _ in model.named_children()],
        "modules": [name for name, _ in parts],
        "leaves": sum(1 for _, module in parts if not list(module.children())),
        "parameters": shapes,
        "buffers": [name for name, _ in model.named_buffers()],
    }

# %% iterator_is_true
# misconception: asks the iterator of the children whether it is true | hint: anatomy_iterator_is_true
# breaks: how many of those `"modules"` have no children
def inventory(model: nn.Module) -> dict[str, object]:
    parts = [(name, module) for name, module in model.named_modules() if name]
    return {
        "children": [name for name, _ in model.named_children()],
        "modules": [name for name, _ in parts],
        "leaves": sum(not module.children() for _, module in parts),
        "parameters": {name: p.shape for name, p in model.named_parameters()},
        "buffers": [name for name, _ in model.named_buffers()],
    }

# %% parameters_of_their_own
# misconception: takes a module with a tensor of its own for a leaf | hint: anatomy_leaves_with_parameters
# edits: iterator_is_true
-        "leaves": sum(not module.children() for _, module in parts),
+        "leaves": sum(1 for _, module in parts if list(module.parameters(recurse=False))),

# %% empty_sequential_does_not_count
# misconception: passes over children that are empty Sequentials | hint: anatomy_empty_is_false
# breaks: what holds one is no leaf
# edits: iterator_is_true
-        "leaves": sum(not module.children() for _, module in parts),
+        "leaves": sum(
+            not [part for part in module.children() if not isinstance(part, nn.Sequential) or len(part)] for _, module in parts
+        ),

# %% empty_dict_does_not_count
# misconception: passes over children that are empty ModuleDicts | hint: anatomy_empty_is_false
# breaks: what holds one is no leaf
# edits: empty_sequential_does_not_count
-            not [part for part in module.children() if not isinstance(part, nn.Sequential) or len(part)] for _, module in parts
+            not [part for part in module.children() if not isinstance(part, nn.ModuleDict) or len(part)] for _, module in parts

# %% all_but_the_children
# misconception: takes for leaves what is no child of the model | hint: anatomy_leaves_by_name
# edits: iterator_is_true
-        "leaves": sum(not module.children() for _, module in parts),
+        "leaves": len(parts) - len(list(model.children())),

# %% length_of_a_container
# misconception: asks a container for its length, which counts empty places | hint: absent_is_none
# breaks: an empty place does not count
# edits: empty_dict_does_not_count
-            not [part for part in module.children() if not isinstance(part, nn.ModuleDict) or len(part)] for _, module in parts
+            len(module) == 0 if hasattr(module, "__len__") else not list(module.children()) for _, module in parts
