# %% applied_twice
# misconception: the apply call stands in the cell twice | hint: applied_twice | canary
# breaks: One entry per visit
model = Model()
answer = []


def collect(module):
    answer.append(type(module).__name__)


model.apply(collect)
returned_module = model.apply(collect)

# %% children_only
# misconception: thinks that apply visits direct children only | hint: apply_skips_nested
model = Model()
answer = []
for child in model.children():
    answer.append(type(child).__name__)

# %% classes
# misconception: the classes themselves, not their names | hint: not_class_names
# breaks: Fill the list `answer` with the **class names** of the modules
model = Model()
answer = []
model.apply(lambda module: answer.append(type(module)))

# %% dotted_names
# misconception: attribute names instead of class names | hint: not_class_names
model = Model()
answer = ["ab.a", "ab.b", "ab", "cd.c", "cd.d", "cd", ""]

# %% every_module_of_it
# misconception: walks modules() inside the function | hint: recurses_again
# edits: reference
-    # TODO: put the class name of `module` into `answer`.
-    answer.append(module.__class__.__name__)
+    for part in module.modules():
+        answer.append(type(part).__name__)
 
 
-# TODO: make `apply` call `collect` on every module of the model.

# %% leaves_only
# misconception: collects the leaves only | hint: leaves_only
# edits: every_module_of_it
-    for part in module.modules():
-        answer.append(type(part).__name__)
+    if not list(module.children()):
+        answer.append(type(module).__name__)

# %% leaves_then_layers
# misconception: all leaves first, then all layers | hint: wrong_order
answer = ["Function_A", "Function_B", "Function_C", "Function_D", "Layer_AB", "Layer_CD", "Model"]

# %% literal_pre_order
# misconception: guesses parents first, depth first | hint: apply_pre_order
answer = ["Model", "Layer_AB", "Function_A", "Function_B", "Layer_CD", "Function_C", "Function_D"]

# %% modules_themselves
# misconception: the modules themselves | hint: not_class_names
model = Model()
answer = []
model.apply(answer.append)

# %% pre_order
# misconception: takes the order of modules() for the order of apply | hint: apply_pre_order
# breaks: in the order in which `apply` visits them
model = Model()
answer = [type(module).__name__ for module in model.modules()]

# %% printed
# misconception: prints instead of collecting | hint: nothing_collected
model = Model()
answer = []
model.apply(lambda module: print(type(module).__name__))

# %% recursion_inside
# misconception: recurses although apply does so already | hint: recurses_again
# edits: every_module_of_it
-    for part in module.modules():
-        answer.append(type(part).__name__)
+    for child in module.children():
+        child.apply(collect)
+    answer.append(type(module).__name__)

# %% return_of_apply
# misconception: takes what apply returns for the answer | hint: model_for_list
model = Model()
answer = model.apply(lambda module: type(module).__name__)

# %% reversed_modules
# misconception: takes post-order for pre-order backwards | hint: reversed_pre_order
model = Model()
answer = [type(module).__name__ for module in reversed(list(model.modules()))]

# %% model_by_hand
# misconception: adds the model by hand, which apply visits as well | hint: model_by_hand
# edits: applied_twice
-returned_module = model.apply(collect)
+collect(model)

# %% called_not_handed_over
# misconception: calls the function instead of handing it over | hint: cell_stopped
# edits: applied_twice
-model.apply(collect)
-returned_module = model.apply(collect)
+model.apply(collect(model))

# %% root_missing
# misconception: forgets that the module itself is visited too | hint: root_missing
# edits: children_only
-    answer.append(type(child).__name__)
+    child.apply(lambda module: answer.append(type(module).__name__))

# %% letters
# misconception: += with a text on a list adds its letters | hint: not_class_names
# edits: every_module_of_it
-    for part in module.modules():
-        answer.append(type(part).__name__)
+    global answer
+    answer += type(module).__name__
