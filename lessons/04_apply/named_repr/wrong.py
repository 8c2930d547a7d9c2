# %% instance_repr
# misconception: repr() looks on the class, not on the object | hint: dunder_on_instance
# edits: reference
-        module.extra_repr = partial(function_repr, module)
+        module.__repr__ = partial(function_repr, module)

# %% whatever_has_a_name
# misconception: takes each module that has a name for a Function | hint: true_for_others
# breaks: If `module` is a `Function_*`
# edits: reference
-    if isinstance(module, (Function_A, Function_B, Function_C, Function_D)):
+    if hasattr(module, "name"):

# %% one_class
# misconception: reaches one class only | hint: apply_misses_some
# breaks: its repr after `add_repr(module)` shows in its parentheses what `function_repr(module)` returns
# edits: reference
-    if isinstance(module, (Function_A, Function_B, Function_C, Function_D)):
+    if isinstance(module, Function_A):

# %% every_module
# misconception: gives the text to modules that have no name | hint: not_every_module_has_it
# edits: reference
-    if isinstance(module, (Function_A, Function_B, Function_C, Function_D)):
-        module.extra_repr = partial(function_repr, module)
+    module.extra_repr = partial(function_repr, module)

# %% late_binding
# misconception: all closures of one loop share the loop variable | hint: apply_late_binding
# edits: every_module
-    module.extra_repr = partial(function_repr, module)
+    for part in module.modules():
+        if "Function" in type(part).__name__:
+            part.extra_repr = lambda: function_repr(part)

# %% layers_too
# misconception: gives a text to the layers as well | hint: other_repr_changed
# breaks: Other modules, and the classes, stay
# edits: every_module
-    module.extra_repr = partial(function_repr, module)
+    module.extra_repr = lambda: f"name={getattr(module, 'name', None)}"

# %% children_of_the_module
# misconception: gives the text to the children of the module that it is given | hint: only_the_children
# edits: every_module
-    module.extra_repr = partial(function_repr, module)
+    for child in module.children():
+        if "Function" in type(child).__name__:
+            child.extra_repr = partial(function_repr, child)

# %% never_applied
# misconception: never applies the function | hint: not_applied | canary
# breaks: Apply `add_repr` to `model`
# edits: reference
-returned_module = model.apply(add_repr)
+returned_module = model

# %% return_not_kept
# misconception: keeps something else than what apply returns | hint: wrong_return
# breaks: keep what `apply` returns in `returned_module`
# edits: reference
-returned_module = model.apply(add_repr)
+model.apply(add_repr)
+returned_module = repr(model)

# %% patches_class
# misconception: changes the class, so every object of it | hint: repr_class_patched
# breaks: and the classes, stay as they are
# edits: reference
-        module.extra_repr = partial(function_repr, module)
+        type(module).extra_repr = function_repr

# %% returns_only
# misconception: returns the text from the function given to apply | hint: apply_changes_nothing
# edits: reference
-        module.extra_repr = partial(function_repr, module)
+        return function_repr(module)

# %% self_twice
# misconception: fixes self twice | hint: repr_arguments
# edits: reference
-        module.extra_repr = partial(function_repr, module)
+        module.extra_repr = partial(partial(function_repr, module), module)

# %% text_not_method
# misconception: puts the text where a method belongs | hint: text_for_method
# edits: reference
-        module.extra_repr = partial(function_repr, module)
+        module.extra_repr = function_repr(module)

# %% unbound
# misconception: a plain function on an object gets no self | hint: unbound_function
# breaks: what `function_repr(module)` returns
# edits: reference
-        module.extra_repr = partial(function_repr, module)
+        module.extra_repr = function_repr

# %% wrong_attribute
# misconception: an attribute that repr does not ask for | hint: unread_attribute
# edits: reference
-        module.extra_repr = partial(function_repr, module)
+        module.repr = partial(function_repr, module)

# %% text_in_a_lambda
# misconception: makes the text elsewhere and empties function_repr | hint: text_made_elsewhere
# edits: reference
-    return f"name={self.name}"
+    pass
@@
-        module.extra_repr = partial(function_repr, module)
+        module.extra_repr = lambda: f"name={module.name}"

# %% text_made_at_once
# misconception: makes the text once, when add_repr runs | hint: text_made_once
# breaks: also when its `name` has changed
# edits: reference
-        module.extra_repr = partial(function_repr, module)
+        text = function_repr(module)
+        module.extra_repr = lambda: text
