# nothing to break: no wanted module is inside another
# nothing to break: Write `replace_modules(model, wanted, make)`.

# %% always_eval
# misconception: puts replacements into eval mode | hint: replaced_mode_lost
def replace_modules(model, wanted, make):
    made = {}
    for name, module in list(model.named_modules(remove_duplicate=False)):
        if wanted(module):
            made[module] = made.get(module) or make(module).eval()
            model.set_submodule(name, made[module])
    return model

# %% apply_children_made_twice
# misconception: changes while apply walks, one for each place | hint: replacement_replaced_again
def replace_modules(model, wanted, make):
    def visit(parent):
        for name, child in list(parent._modules.items()):
            if wanted(child):
                setattr(parent, name, make(child).train(child.training))

    return model.apply(visit)

# %% apply_with_memory
# misconception: a parent visited twice shows the replacement | hint: replacement_replaced_again
# breaks: What `make` returns is not searched again
# edits: apply_children_made_twice
+    made = {}
+
     def visit(parent):
@@
-                setattr(parent, name, make(child).train(child.training))
+                if child not in made:
+                    made[child] = make(child).train(child.training)
+                setattr(parent, name, made[child])

# %% copies
# misconception: works on a copy | hint: copied_model
def replace_modules(model, wanted, make):
    new_model = copy.deepcopy(model)
    for name, module in list(new_model.named_modules(remove_duplicate=False)):
        if wanted(module):
            new_model.set_submodule(name, make(module).train(module.training))
    return new_model

# %% delete_and_add
# misconception: takes the old name away and adds it at the end | hint: order_of_places_lost
def replace_modules(model, wanted, make):
    made = {}
    for parent in list(model.modules()):
        for name, child in list(parent._modules.items()):
            if child is not None and wanted(child):
                if child not in made:
                    made[child] = make(child).train(child.training)
                del parent._modules[name]
                parent.add_module(name, made[child])
    return model

# %% delete_while_walking
# misconception: changes the dict that it goes over | hint: changes_while_walking
def replace_modules(model, wanted, make):
    def visit(parent):
        for name, child in parent._modules.items():
            if wanted(child):
                del parent._modules[name]
                parent.add_module(name, make(child).train(child.training))

    return model.apply(visit)

# %% dotted_setattr
# misconception: setattr with a dotted name | hint: dotted_setattr
def replace_modules(model, wanted, make):
    for name, module in list(model.named_modules(remove_duplicate=False)):
        if name and wanted(module):
            setattr(model, name, make(module).train(module.training))
    return model

# %% first_level
# misconception: replaces direct children only | hint: first_level_only
# breaks: at every place in `model`, at any depth
def replace_modules(model, wanted, make):
    for name, child in model.named_children():
        if wanted(child):
            setattr(model, name, make(child).train(child.training))
    return model

# %% loop_variable
# misconception: rebinds the loop variable | hint: place_cannot_be_rebound
# breaks: It puts `make(module)`
def replace_modules(model, wanted, make):
    for name, module in model.named_modules():
        if wanted(module):
            module = make(module).train(module.training)
    return model

# %% made_for_each_place
# misconception: one replacement for each place | hint: one_for_each_place
# breaks: A module in several places gets **one** replacement
def replace_modules(model, wanted, make):
    for name, module in list(model.named_modules(remove_duplicate=False)):
        if wanted(module):
            model.set_submodule(name, make(module).train(module.training))
    return model

# %% make_handed_over
# misconception: puts in what makes the module, not what is made | hint: function_for_module
# edits: made_for_each_place
-            model.set_submodule(name, make(module).train(module.training))
+            parent, _, last = name.rpartition(".")
+            setattr(model.get_submodule(parent), last, make)

# %% mode_forgotten
# misconception: a new module is in training mode | hint: replaced_mode_lost | canary
# breaks: get the old module's mode
# edits: always_eval
-            made[module] = made.get(module) or make(module).eval()
+            if module not in made:
+                made[module] = make(module)

# %% mode_of_parent
# misconception: takes the mode of the parent | hint: replaced_mode_lost
# edits: mode_forgotten
-                made[module] = make(module)
+                made[module] = make(module).train(model.get_submodule(name.rpartition(".")[0]).training)

# %% mode_on_top
# misconception: sets the flag of the outermost module only | hint: mode_on_top_only
# breaks: A replacement and all modules inside it
# edits: mode_forgotten
                 made[module] = make(module)
+                made[module].training = module.training

# %% named_children
# misconception: named_children hides the second place in one parent | hint: replaced_place_missed
def replace_modules(model, wanted, make):
    made, places = {}, []
    model.apply(lambda parent: places.extend((parent, name, child) for name, child in parent.named_children()))
    for parent, name, child in places:
        if wanted(child):
            if child not in made:
                made[child] = make(child).train(child.training)
            setattr(parent, name, made[child])
    return model

# %% named_modules
# misconception: named_modules shows each object once | hint: replaced_place_missed
# edits: made_for_each_place
-    for name, module in list(model.named_modules(remove_duplicate=False)):
+    for name, module in list(model.named_modules()):

# %% parents_first
# misconception: walks into its own replacements | hint: replacement_replaced_again
def replace_modules(model, wanted, make):
    for parent in model.modules():
        for name, child in parent.named_children():
            if wanted(child):
                setattr(parent, name, make(child).train(child.training))
    return model

# %% recursion_into_new
# misconception: recurses into what it has put in | hint: replacement_replaced_again
# edits: first_level
             setattr(model, name, make(child).train(child.training))
+        replace_modules(getattr(model, name), wanted, make)

# %% returned_from_fn
# misconception: thinks that apply puts in what the function returns | hint: place_cannot_be_rebound
def replace_modules(model, wanted, make):
    return model.apply(lambda module: make(module) if wanted(module) else module)

# %% returns_nothing
# misconception: returns nothing | hint: returns_nothing
# breaks: it returns the model
def replace_modules(model, wanted, make):
    made = {}
    for name, old in list(model.named_modules(remove_duplicate=False)):
        if wanted(old):
            made[old] = made.get(old) or make(old).train(old.training)
            model.set_submodule(name, made[old])

# %% by_number
# misconception: takes every module for a Sequential | hint: place_by_number
def replace_modules(model, wanted, make):
    for index, child in enumerate(model.children()):
        if wanted(child):
            model[index] = make(child).train(child.training)
        else:
            replace_modules(child, wanted, make)
    return model

# %% getattr_of_a_path
# misconception: getattr with the dotted name of the parent | hint: dotted_getattr
# edits: named_modules
-            model.set_submodule(name, make(module).train(module.training))
+            path, _, last = name.rpartition(".")
+            parent = getattr(model, path) if path else model
+            setattr(parent, last, make(module).train(module.training))

# %% eval_if_it_was
# misconception: takes a new module for one in training mode | hint: replaced_mode_lost
# breaks: get the old module's mode
# edits: mode_forgotten
                 made[module] = make(module)
+                if not module.training:
+                    made[module].eval()
