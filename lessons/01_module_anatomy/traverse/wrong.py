# nothing to break: Write `inventory(model)` for any model.
# nothing to break: It returns a dict:

# %% alphabetical
# misconception: sorts the names | hint: anatomy_another_order
# breaks: in their order
# edits: names_filtered
-        "children": [name for name, _ in model.named_children()],
-        "modules": [name for name, _ in model.named_modules() if name],
+        "children": sorted(n for n, _ in model.named_children()),
+        "modules": sorted(n for n, _ in model.named_modules() if n),

# %% branches_are_containers
# misconception: takes all but the containers for leaves | hint: anatomy_containers_for_branches
# breaks: how many of these modules have no children
# edits: names_filtered
-        "leaves": sum(1 for name, module in model.named_modules() if name and not list(module.children())),
+        "leaves": sum(
+            1
+            for n, m in model.named_modules()
+            if n and not isinstance(m, (nn.Sequential, nn.ModuleList, nn.ModuleDict))
+        ),

# %% buffers_from_state_dict
# misconception: takes buffers from the state_dict | hint: unsaved_buffers_missing
# edits: names_filtered
-        "buffers": [name for name, _ in model.named_buffers()],
+        "buffers": [k for k in model.state_dict() if k not in dict(model.named_parameters())],

# %% children_for_modules
# misconception: lists one level only | hint: children_for_modules
# breaks: a list of the names of all modules below the model
# edits: names_filtered
-        "modules": [name for name, _ in model.named_modules() if name],
+        "modules": [name for name, _ in model.named_children()],

# %% class_names
# misconception: names of classes | hint: anatomy_modules_for_names
# edits: names_filtered
-        "children": [name for name, _ in model.named_children()],
+        "children": [type(m).__name__ for m in model.children()],

# %% frozen_left_out
# misconception: lists only parameters that need a gradient | hint: frozen_left_out
# edits: names_filtered
-        "parameters": {name: tuple(p.shape) for name, p in model.named_parameters()},
+        "parameters": {n: tuple(p.shape) for n, p in model.named_parameters() if p.requires_grad},

# %% generators
# misconception: hands out generators | hint: iterator_not_list
# edits: names_filtered
-        "children": [name for name, _ in model.named_children()],
-        "modules": [name for name, _ in model.named_modules() if name],
+        "children": (name for name, _ in model.named_children()),
+        "modules": (name for name, _ in model.named_modules() if name),

# %% leaf_itself
# misconception: counts the leaves of modules(), the model itself among them | hint: counts_root
# breaks: how many of these modules have no children
# edits: names_filtered
-        "leaves": sum(1 for name, module in model.named_modules() if name and not list(module.children())),
+        "leaves": sum(1 for module in model.modules() if not list(module.children())),

# %% leaves_are_modules
# misconception: counts all modules as leaves | hint: counts_branches
# breaks: how many of these modules have no children
# edits: names_filtered
-        "leaves": sum(1 for name, module in model.named_modules() if name and not list(module.children())),
+        "leaves": sum(1 for name, _ in model.named_modules() if name),

# %% leaves_have_parameters
# misconception: takes modules with parameters for leaves | hint: anatomy_leaves_with_parameters
# edits: names_filtered
-        "leaves": sum(1 for name, module in model.named_modules() if name and not list(module.children())),
+        "leaves": sum(1 for m in model.modules() if list(m.parameters(recurse=False))),

# %% level_by_level
# misconception: walks level by level | hint: anatomy_another_order
# breaks: in their order
# edits: names_filtered
+    names, level = [], [("", model)]
+    while level:
+        level = [(f"{p}.{k}" if p else k, c) for p, m in level for k, c in m.named_children()]
+        names += [n for n, _ in level]
     return {
-        "children": [name for name, _ in model.named_children()],
-        "modules": [name for name, _ in model.named_modules() if name],
+        "children": [n for n, _ in model.named_children()],
+        "modules": names,

# %% list_of_leaves
# misconception: lists the leaves | hint: anatomy_list_for_number
# edits: names_filtered
-        "leaves": sum(1 for name, module in model.named_modules() if name and not list(module.children())),
+        "leaves": [name for name, module in model.named_modules() if name and not list(module.children())],

# %% modules_for_children
# misconception: lists all levels as children | hint: modules_for_children
# breaks: of the modules directly in the model
# edits: names_filtered
-        "children": [name for name, _ in model.named_children()],
+        "children": [name for name, _ in model.named_modules() if name],

# %% names_without_path
# misconception: names without the path | hint: name_without_path
# breaks: All names are as the methods yield them
# edits: names_filtered
-        "parameters": {name: tuple(p.shape) for name, p in model.named_parameters()},
+        "parameters": {key: tuple(p.shape) for m in model.modules() for key, p in m.named_parameters(recurse=False)},

# %% numbers_for_shapes
# misconception: sizes instead of shapes | hint: size_not_shape
# breaks: a dict, name → shape
# edits: names_filtered
-        "parameters": {name: tuple(p.shape) for name, p in model.named_parameters()},
+        "parameters": {name: p.numel() for name, p in model.named_parameters()},

# %% own_parameters
# misconception: parameters of the root only | hint: own_only
# edits: names_filtered
-        "parameters": {name: tuple(p.shape) for name, p in model.named_parameters()},
+        "parameters": {name: tuple(p.shape) for name, p in model.named_parameters(recurse=False)},

# %% own_left_out
# misconception: goes through the modules below, and forgets the model's own | hint: anatomy_root_left_out
# edits: names_filtered
-        "buffers": [name for name, _ in model.named_buffers()],
+        "buffers": [f"{n}.{key}" for n, m in model.named_modules() if n for key, _ in m.named_buffers(recurse=False)],

# %% prints
# misconception: prints instead of returning | hint: returns_nothing
def inventory(model: nn.Module) -> dict[str, object]:
    print([name for name, _ in model.named_children()])
    print([name for name, _ in model.named_modules()])

# %% private_buffers
# misconception: reads _buffers, where None may stand | hint: absent_is_none
# edits: names_filtered
-        "buffers": [name for name, _ in model.named_buffers()],
+        "buffers": [f"{n}.{k}".lstrip(".") for n, m in model.named_modules() for k in m._buffers],

# %% private_children
# misconception: reads _modules, where None may stand | hint: absent_is_none
# breaks: skip empty places
# edits: names_filtered
-        "children": [name for name, _ in model.named_children()],
+        "children": list(model._modules),

# %% root_included
# misconception: the model is listed among its parts | hint: counts_root | canary
# edits: names_filtered
-        "modules": [name for name, _ in model.named_modules() if name],
+        "modules": [name for name, _ in model.named_modules()],

# %% shared_leaf_twice
# misconception: counts a shared leaf at both places | hint: counts_twice
# edits: names_filtered
+def leaves(module):
+    children = list(module.children())
+    return sum(leaves(child) for child in children) if children else 1
+
+
 def inventory(model: nn.Module) -> dict[str, object]:
@@
-        "leaves": sum(1 for name, module in model.named_modules() if name and not list(module.children())),
+        "leaves": leaves(model),

# %% shared_parameters_twice
# misconception: lists a shared parameter at both places | hint: counts_twice
# edits: names_filtered
-        "parameters": {name: tuple(p.shape) for name, p in model.named_parameters()},
+        "parameters": {n: tuple(p.shape) for n, p in model.named_parameters(remove_duplicate=False)},

# %% shared_twice
# misconception: lists a shared module at both places | hint: counts_twice
# breaks: list each object once
# edits: names_filtered
-        "modules": [name for name, _ in model.named_modules() if name],
+        "modules": [name for name, _ in model.named_modules(remove_duplicate=False) if name],

# %% typed_in
# misconception: types what TinyNet shows | hint: anatomy_notebooks_own_model
def inventory(model: nn.Module) -> dict[str, object]:
    return {
        "children": ["features", "heads"],
        "modules": ["features", "features.0"],
        "leaves": 5,
        "parameters": {"scale": (1,)},
        "buffers": [],
    }

# %% second_name_of_a_child
# misconception: lists a child under each of its names | hint: counts_twice
# breaks: list each object once
# edits: names_filtered
-        "children": [name for name, _ in model.named_children()],
+        "children": [name for name, child in model._modules.items() if child is not None],

# %% children_without_a_dot
# misconception: takes the modules without a dot in their name for the children | hint: anatomy_child_met_before
# breaks: the names of the modules directly in the model
# edits: second_name_of_a_child
-        "children": [name for name, child in model._modules.items() if child is not None],
+        "children": [name for name, _ in model.named_modules() if name and "." not in name],
