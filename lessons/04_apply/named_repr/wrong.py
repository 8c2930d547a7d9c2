# %% instance_repr
# misconception: repr() looks on the class, not on the object | hint: dunder_on_instance
# edits: closure
-    return "name=%s" % self.name
+    return f"{type(self).__name__}(name={self.name})"
@@
-        module.extra_repr = lambda: function_repr(module)
+        module.__repr__ = partial(function_repr, module)

# %% whatever_has_a_name
# misconception: takes each module that has a name for a Function | hint: true_for_others
# breaks: if it is a `Function_*`
# edits: closure
-    if "Function" in str(type(module)):
+    if hasattr(module, "name"):

# %% one_class
# misconception: reaches one class only | hint: apply_misses_some
# breaks: Make every `Function_*` of `model` show its own name
# edits: seed_partial
-    module_name = module.__class__.__name__
-    if "Function" in module_name:
+    if isinstance(module, Function_A):

# %% every_module
# misconception: gives the text to modules that have no name | hint: not_every_module_has_it
# edits: one_class
-    if isinstance(module, Function_A):
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
# breaks: other modules, and the classes, stay
# edits: every_module
-    return f"name={self.name}"
+    return f"name={getattr(self, 'name', None)}"

# %% never_applied
# misconception: never applies the function | hint: not_applied | canary
# breaks: Apply `add_repr` to `model`
# edits: one_class
-    if isinstance(module, Function_A):
+    if "Function" in type(module).__name__:
@@
-returned_module = model.apply(add_repr)
+returned_module = model

# %% patches_class
# misconception: changes the class, so every object of it | hint: repr_class_patched
# breaks: and the classes, stay as they are
# edits: every_module
-    module.extra_repr = partial(function_repr, module)
+    if "Function" in type(module).__name__:
+        type(module).extra_repr = function_repr

# %% patches_class_repr
# misconception: changes __repr__ of the class | hint: repr_class_patched
# edits: instance_repr
-        module.__repr__ = partial(function_repr, module)
+        module.__class__.__repr__ = function_repr

# %% prints
# misconception: prints the text instead of returning it | hint: repr_returns_nothing
# edits: one_class
-    return f"name={self.name}"
+    print(f"name={self.name}")
@@
-    if isinstance(module, Function_A):
+    if "Function" in type(module).__name__:

# %% literal_names
# misconception: the names of this one model, typed in | hint: repr_typed_in_names
# breaks: show its own name
# edits: prints
-    print(f"name={self.name}")
+    names = {"Function_A": "duck", "Function_B": "goose", "Function_C": "heron", "Function_D": "swan"}
+    return f"name={names[type(self).__name__]}"

# %% quoted
# misconception: the repr of the name instead of the name | hint: repr_notation
# breaks: without quotes
# edits: prints
-    print(f"name={self.name}")
+    return f"name={self.name!r}"

# %% repeats_class
# misconception: writes the class name, which Module.__repr__ writes already | hint: repeats_class
# edits: instance_repr
-        module.__repr__ = partial(function_repr, module)
+        module.extra_repr = partial(function_repr, module)

# %% return_not_kept
# misconception: keeps something else than what apply returns | hint: wrong_return
# breaks: keep what `apply` returns in `returned_module`
# edits: never_applied
-returned_module = model
+model.apply(add_repr)
+returned_module = repr(model)

# %% returns_only
# misconception: returns the text from the function given to apply | hint: apply_changes_nothing
# edits: patches_class
-        type(module).extra_repr = function_repr
+        return function_repr(module)

# %% self_twice
# misconception: fixes self twice | hint: repr_arguments
# edits: patches_class
+import types
+
 model = Model()
@@
-        type(module).extra_repr = function_repr
+        module.extra_repr = types.MethodType(partial(function_repr, module), module)

# %% spaces
# misconception: another notation | hint: repr_notation
# edits: prints
-    print(f"name={self.name}")
+    return f"name: {self.name}"

# %% text_not_method
# misconception: puts the text where a method belongs | hint: text_for_method
# edits: patches_class
-        type(module).extra_repr = function_repr
+        module.extra_repr = function_repr(module)

# %% text_in_a_lambda
# misconception: makes the text elsewhere and leaves function_repr empty | hint: text_made_elsewhere
# breaks: `function_repr(self)` returns the string
# edits: closure
-    return "name=%s" % self.name
+    pass
@@
-        module.extra_repr = lambda: function_repr(module)
+        module.extra_repr = lambda: f"name={module.name}"

# %% unbound
# misconception: a plain function on an object gets no self | hint: unbound_function
# breaks: `add_repr(module)` makes `module` show that string
# edits: patches_class
-        type(module).extra_repr = function_repr
+        module.extra_repr = function_repr

# %% wrong_attribute
# misconception: an attribute that repr does not ask for | hint: unread_attribute
# edits: patches_class
-        type(module).extra_repr = function_repr
+        module.repr = partial(function_repr, module)

# %% children_of_the_module
# misconception: gives the text to the children of the module that it is given | hint: only_the_children
# edits: every_module
-    module.extra_repr = partial(function_repr, module)
+    for child in module.children():
+        if "Function" in type(child).__name__:
+            child.extra_repr = partial(function_repr, child)

# %% braces_without_f
# misconception: forgets the f before the text | hint: braces_as_they_are
# edits: repeats_class
-    return f"{type(self).__name__}(name={self.name})"
+    return "name={self.name}"

# %% self_documenting
# misconception: f"{self.name=}" writes the expression, too | hint: repr_notation
# edits: braces_without_f
-    return "name={self.name}"
+    return f"{self.name=}"
