# %% applied_to_a_copy
# misconception: applies it to another model | hint: not_applied
# edits: data_fill
-    module_name = module.__class__.__name__
-    if "Function" in module_name:
+    if hasattr(module, "W"):
@@
-returned_module = model.apply(weight_initialization)
+returned_module = Model().apply(weight_initialization)

# %% calls_it
# misconception: calls the function instead of handing it over | hint: cell_stopped
# edits: applied_to_a_copy
-returned_module = Model().apply(weight_initialization)
+returned_module = model.apply(weight_initialization(model))

# %% divides_by_itself
# misconception: what it writes depends on what was there | hint: depends_on_old_value
# breaks: all elements of `W` become 1, **whatever they were before**
# edits: data_fill
-    module_name = module.__class__.__name__
-    if "Function" in module_name:
-        module.W.data.fill_(1)
+    if hasattr(module, "W"):
+        module.W.data /= module.W.data

# %% exact_class_name
# misconception: compares the class name with a word that no class has | hint: apply_changes_nothing
# edits: data_fill
-    module_name = module.__class__.__name__
-    if "Function" in module_name:
+    if module.__class__.__name__ == "Function":

# %% frozen
# misconception: replaces the Parameter by one that cannot be trained | hint: init_not_trainable
# edits: divides_by_itself
-        module.W.data /= module.W.data
+        module.W = Parameter(torch.ones_like(module.W), requires_grad=False)

# %% frozen_in_place
# misconception: switches gradients off to write in place, and never on again | hint: init_not_trainable
# edits: divides_by_itself
-        module.W.data /= module.W.data
+        module.W.requires_grad_(False).fill_(1)

# %% global_model
# misconception: uses the notebook's model, not the module it is given | hint: apply_uses_global_model
# breaks: The check also uses other trees of `Function_*`
# edits: data_fill
-    module_name = module.__class__.__name__
-    if "Function" in module_name:
-        module.W.data.fill_(1)
+    for parameter in model.parameters():
+        parameter.data.fill_(1)

# %% in_place_while_recording
# misconception: in-place on a leaf, without no_grad | hint: leaf_in_place
# edits: divides_by_itself
-        module.W.data /= module.W.data
+        module.W.fill_(1.0)

# %% integer_parameter
# misconception: a Parameter of integers | hint: integer_parameter
# edits: divides_by_itself
-        module.W.data /= module.W.data
+        module.W = Parameter(torch.tensor([1]))

# %% never_applied
# misconception: defines the function, never applies it | hint: not_applied | canary
# breaks: Apply the function to `model`
# edits: applied_to_a_copy
-returned_module = Model().apply(weight_initialization)
+returned_module = model

# %% no_argument
# misconception: the function takes no module | hint: apply_argument
# edits: global_model
-def weight_initialization(module):
+def weight_initialization():
@@
-returned_module = model.apply(weight_initialization)
+weight_initialization()
+returned_module = model

# %% no_filter
# misconception: expects every module to have a W | hint: not_every_module_has_it
# edits: divides_by_itself
-    if hasattr(module, "W"):
-        module.W.data /= module.W.data
+    module.W.data.fill_(1)

# %% one_class_only
# misconception: reaches one class only | hint: apply_misses_some
# edits: exact_class_name
-    if module.__class__.__name__ == "Function":
+    if module.__class__.__name__ == "Function_A":

# %% one_memory_for_all
# misconception: hands one tensor to the .data of all | hint: memory_shared
# breaks: can still be trained
# edits: divides_by_itself
 model = Model()
+one = torch.ones(1)
@@
-        module.W.data /= module.W.data
+        module.W.data = one

# %% one_parameter_for_all
# misconception: stores one Parameter on all modules | hint: shared_parameter
# edits: divides_by_itself
 model = Model()
+one = Parameter(torch.ones(1))
@@
-        module.W.data /= module.W.data
+        module.W = one

# %% ones_and_identity
# misconception: initialises, and cuts W out of the computation | hint: not_in_the_output
# edits: divides_by_itself
-        module.W.data /= module.W.data
+        module.W.data.fill_(1)
+        module.forward = lambda x: x

# %% plain_tensor
# misconception: assigns a tensor to a Parameter's name | hint: tensor_for_parameter
# edits: divides_by_itself
-        module.W.data /= module.W.data
+        module.W = torch.ones(1)

# %% rebinds_name
# misconception: rebinds a local name | hint: apply_changes_nothing
# edits: divides_by_itself
-        module.W.data /= module.W.data
+        W = module.W
+        W = torch.ones(1)

# %% return_not_kept
# misconception: keeps something else than what apply returns | hint: wrong_return
# breaks: keep what `apply` returns in `returned_module`
# edits: applied_to_a_copy
-returned_module = Model().apply(weight_initialization)
+model.apply(weight_initialization)
+returned_module = weight_initialization

# %% returns_new_weight
# misconception: thinks that apply uses what the function returns | hint: apply_changes_nothing
# edits: divides_by_itself
-        module.W.data /= module.W.data
+        return Parameter(torch.ones(1))
+    return module

# %% same_output
# misconception: any equal value lets the model return its input | hint: equal_but_not_one
# edits: divides_by_itself
-        module.W.data /= module.W.data
+        module.W.data.fill_(2.7)

# %% scalar_shape
# misconception: a scalar instead of one element | hint: init_shape
# edits: divides_by_itself
-        module.W.data /= module.W.data
+        module.W = Parameter(torch.tensor(1.0))

# %% zeros
# misconception: another value | hint: another_constant
# edits: divides_by_itself
-        module.W.data /= module.W.data
+        nn.init.zeros_(module.W)

# %% children_of_the_module
# misconception: sets the W of the children of the module that it is given | hint: only_the_children
# breaks: if `module` has a parameter `W`
# edits: no_filter
-    module.W.data.fill_(1)
+    for child in module.children():
+        if hasattr(child, "W"):
+            child.W.data.fill_(1)

# %% one_number
# misconception: a new Parameter of one element for W of any shape | hint: init_shape
# breaks: a parameter `W`, of any shape
# edits: divides_by_itself
-        module.W.data /= module.W.data
+        module.W = Parameter(torch.ones(1))

# %% the_module_itself
# misconception: hands the module to nn.init, not its parameter | hint: module_for_parameter
# edits: divides_by_itself
-        module.W.data /= module.W.data
+        nn.init.ones_(module)

# %% times_0_plus_1
# misconception: 0 times the old value is 0, also for infinity and NaN | hint: depends_on_old_value
# breaks: all elements of `W` become 1, **whatever they were before**
# edits: divides_by_itself
-        module.W.data /= module.W.data
+        module.W.data = module.W.data * 0 + 1

# %% first_element
# misconception: writes into the first element | hint: init_one_element
# breaks: all elements of `W` become 1
# edits: divides_by_itself
-        module.W.data /= module.W.data
+        module.W.data[0] = 1
